# ruff: noqa: E501 -- lines of XML
"""A file of MJCF with a bit of everything, to be broken."""

EVERYTHING = """<mujoco model="rich">
  <compiler angle="degree" meshdir="meshes" autolimits="true" eulerseq="xyz"/>
  <option gravity="0 0 -9.8" timestep="0.002"><flag contact="enable"/></option>
  <default><joint damping="0.1" armature="0.01"/><geom friction="1 0.1 0.01" condim="4"/><default class="leg"><geom rgba="1 0 0 1" density="500"/></default></default>
  <asset>
    <texture name="t" type="2d" builtin="checker" width="16" height="16"/>
    <texture name="f" type="2d" file="wood.png"/>
    <material name="m" texture="t" rgba="0.2 0.3 0.4 1"/>
    <mesh name="tet" vertex="0 0 0 1 0 0 0 1 0 0 0 1" scale="0.1 0.1 0.1"/>
    <mesh name="missing" file="a.stl"/>
    <mesh name="ball" builtin="sphere" params="2" scale="0.1 0.1 0.1"/>
    <hfield name="h" nrow="3" ncol="3" size="1 1 1 0.1"/>
  </asset>
  <worldbody>
    <light pos="0 0 3"/>
    <geom name="floor" type="plane" size="1 1 0.1" material="m"/>
    <geom type="hfield" hfield="h"/>
    <camera name="cam" pos="1 0 1" mode="targetbody" target="base"/>
    <body name="base" pos="0 0 1" euler="10 20 30" gravcomp="0.5">
      <freejoint name="root"/>
      <inertial pos="0 0 0.01" mass="2" diaginertia="0.1 0.2 0.25"/>
      <geom name="trunk" type="box" size="0.2 0.1 0.05" contype="2" conaffinity="1"/>
      <geom type="mesh" mesh="missing" contype="0" conaffinity="0"/>
      <site name="imu" pos="0 0 0.05"/>
      <body name="thigh" pos="0.2 0 0" childclass="leg">
        <joint name="hip_x" axis="1 0 0" range="-30 30" stiffness="2" springref="5"/>
        <joint name="hip_y" axis="0 1 0" ref="10" range="-90 90"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.03"/>
        <geom type="mesh" mesh="tet"/>
        <body name="shin" pos="0 0 -0.3">
          <joint name="knee" type="hinge" axis="0 1 0" actuatorfrcrange="-5 5"/>
          <geom type="cylinder" size="0.02 0.15" pos="0 0 -0.15"/>
          <frame pos="0 0 -0.3" euler="0 0 45"><site name="foot"/><geom type="ellipsoid" size="0.02 0.03 0.04"/></frame>
        </body>
      </body>
      <replicate count="3" euler="0 0 120" sep="-"><body name="arm" pos="0.3 0 0"><joint name="slide" type="slide" axis="1 0 0"/><geom size="0.05"/></body></replicate>
    </body>
    <body name="pend" pos="2 0 1"><joint name="ball" type="ball" range="0 90"/><geom size="0.1" pos="0 0 -0.3" mass="1"/>
      <body name="tip" pos="0 0 -0.5"><joint name="a" axis="1 0 0"/><joint name="b" axis="0 1 0"/><joint name="c" axis="0 0 1"/><geom size="0.04" pos="0.1 0 0"/></body></body>
  </worldbody>
  <contact><exclude body1="base" body2="thigh"/><pair geom1="floor" geom2="trunk"/></contact>
  <tendon><fixed name="coupler" stiffness="1"><joint joint="knee" coef="1"/><joint joint="hip_x" coef="-1"/></fixed><spatial name="rope"><site site="imu"/><site site="foot"/></spatial></tendon>
  <equality><connect name="pin" body1="tip" body2="shin" anchor="0 0 0" active="false"/><weld body1="pend" body2="tip" active="true"/><joint joint1="slide-1" joint2="slide-2" polycoef="0.1 2 0 0 0"/></equality>
  <actuator><motor name="m1" joint="knee" gear="20" ctrlrange="-1 1"/><position joint="hip_x" kp="30" kv="1" forcerange="-20 20"/><velocity joint="slide-0" kv="2"/><muscle joint="a"/><general tendon="coupler" gainprm="3" biastype="affine" biasprm="0 -3 -1"/><cylinder joint="b" area="0.1"/><damper joint="c" kv="1" ctrlrange="0 1"/><intvelocity joint="slide-1" kp="3" actrange="-1 1"/><motor site="foot" gear="1 0 0 0 0 0"/></actuator>
  <sensor><accelerometer site="imu"/><jointpos joint="knee"/></sensor>
  <keyframe><key name="home" qpos="0 0 1 1 0 0 0 0 0 0 0 0 0 1 0 0 0 0 0 0"/></keyframe>
</mujoco>
"""
