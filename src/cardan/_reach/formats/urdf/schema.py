"""Which elements and attributes of URDF (1.0 to 1.2) and its extensions (docs/urdf.md) are known, and which are read.

The reader remarks on what it would silently skip otherwise.
"""

from __future__ import annotations

from cardan._reach.formats.vocabulary import Vocabulary, verdicts

VERSIONS = ("1", "1.0", "1.1", "1.2")

_SOFT = "remark: soft limits are a controller's"
_RATES = "remark: acceleration, deceleration and jerk are not limited"
_OF_A_MECHANISM = verdicts("<role> <offset>", "remark: a transmission between motor and joint is a ratio alone")
_GAZEBO = "warning: it changes the motion in Gazebo alone"
_CLOSURE = "warning: the robot is read without it; write it as <loop>"
ELEMENTS: dict[str, dict[str, str]] = {
    "robot": {
        **verdicts("name version <link> <joint> <material> <loop> <constraint> <frame> <transmission> <ros2_control>"),
        "<coupling>": "refused: put <mimic joint=... multiplier=.../> into the joint that follows",
        "<gazebo>": "read",
        "<sensor>": "remark: sensors are not read",
        "<mujoco>": "warning: what MuJoCo alone reads changes nothing here",
        **verdicts("<loop_joint> <loop_constraint>", _CLOSURE),
    },
    "gazebo": {
        "reference": "read",
        **verdicts("<mu1> <mu2>", "warning unless none: friction of Gazebo is not read; give shapes a surface"),
        **verdicts(
            "<springStiffness> <dampingFactor> <selfCollide> <self_collide> <turnGravityOff> <static> <kinematic>",
            _GAZEBO,
        ),
        "<gravity>": "warning unless true: " + _GAZEBO.partition(": ")[2],
        "<velocity_decay>": _GAZEBO,
        **verdicts("<plugin> <sensor> <material> <visual> <collision> <inertial> <axis>", "remark: it is Gazebo's"),
    },
    "link": {
        **verdicts("name <inertial> <visual> <collision>"),
        "type": "remark: links have no types",
        "<contact>": "warning: contact of Bullet's is not read",
    },
    "inertial": verdicts("<origin> <mass> <inertia>"),
    "mass": verdicts("value"),
    "inertia": verdicts("ixx ixy ixz iyy iyz izz"),
    "origin": verdicts("xyz rpy quat_xyzw"),
    "visual": verdicts("name <origin> <geometry> <material>"),
    "collision": verdicts("name <origin> <geometry> <material>") | {"<verbose>": "remark: it was never in use"},
    "geometry": verdicts("<box> <sphere> <cylinder> <capsule> <mesh>"),
    "box": verdicts("size"),
    "sphere": verdicts("radius"),
    "cylinder": verdicts("radius length"),
    "capsule": verdicts("radius length"),
    "mesh": verdicts("filename scale"),
    "material": verdicts("name <color> <texture>"),
    "color": verdicts("rgba"),
    "texture": verdicts("filename"),
    "joint": {
        **verdicts("name type <origin> <parent> <child> <axis> <limit> <dynamics> <mimic>"),
        "independent": "remark: cardan finds the free coordinates itself",
        "<safety_controller>": _SOFT,
        "<calibration>": "remark: the place of a reference switch does not move a joint",
    },
    "loop": verdicts("name type <predecessor> <successor> <axis> <limit> <dynamics>"),
    "predecessor": verdicts("link <origin>"),
    "successor": verdicts("link <origin>"),
    "constraint": {
        **verdicts("name type <parent> <parent_origin> <parent_axis> <child> <child_origin> <child_axis>"),
        **verdicts("<predecessor> <successor> <origin> <axis>", _CLOSURE),
    },
    **dict.fromkeys(("parent_origin", "child_origin"), verdicts("xyz rpy")),
    **dict.fromkeys(("parent_axis", "child_axis"), verdicts("xyz")),
    "frame": verdicts("name link xyz rpy quat_xyzw kind"),
    "parent": verdicts("link"),
    "child": verdicts("link"),
    "axis": verdicts("xyz"),
    "limit": verdicts("lower upper effort velocity") | verdicts("acceleration deceleration jerk", _RATES),
    "dynamics": verdicts("damping friction armature"),
    "mimic": verdicts("joint multiplier offset"),
    "transmission": verdicts("name type <type> <joint> <actuator> <mechanicalReduction>"),
    "transmission/joint": verdicts("name <hardwareInterface> <mechanicalReduction>") | _OF_A_MECHANISM,
    "transmission/actuator": {
        **verdicts("name <hardwareInterface> <mechanicalReduction>"),
        **_OF_A_MECHANISM,
        "<motorTorqueConstant>": "remark: currents are not modelled",
    },
    "ros2_control": {
        **verdicts("name type <joint>"),
        "<hardware>": "remark: it is the driver's",
        "<sensor>": "remark: sensors are not read",
        "<gpio>": "remark: it is the driver's",
        "<transmission>": "remark: the commands of its joints are read alone",
    },
    "ros2_control/joint": {
        **verdicts("name <command_interface>"),
        "<state_interface>": "remark: measured quantities are not read",
        "<param>": "remark: it is the driver's",
        "<limits>": "remark: the joint's own limits count",
    },
    "command_interface": verdicts("name <param>"),
    "param": verdicts("name"),
}
FOREIGN = {
    "pose": "is SDF's: write <origin xyz=... rpy=.../>",
    "inertia_matrix": "is no element of URDF: write <inertia>",
}
VOCABULARY = Vocabulary("URDF", ELEMENTS, FOREIGN)
