"""Random trees of the joints a URDF cannot say, built in cardan and in another library from the same numbers."""

import math

import numpy as np

from cardan import joints as J
from compare_conventions import Drake, IDynTree, MuJoCo, Newton
from mechanisms import random_mechanism

ROLL, PITCH, YAW = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
AXIS = (0.36, 0.48, 0.8)
AXIS_BY_AXIS = {  # linear and angular axes of joints that are slides and hinges in a row
    J.Revolute: lambda j: ([], [j.axis]),
    J.Prismatic: lambda j: ([j.axis], []),
    J.Universal: lambda j: ([], [j.axis1, j.axis2]),
    J.SphericalZYX: lambda j: ([], [YAW, PITCH, ROLL]),
    J.Translation: lambda j: ([ROLL, PITCH, YAW], []),
    J.Cylindrical: lambda j: ([j.axis], [j.axis]),
    J.D6: lambda j: (j.linear, j.angular),
    J.UnboundedRevolute: lambda j: ([], [j.axis]),
    J.Planar: lambda j: ([ROLL, PITCH], [YAW]),
    J.PlanarAngle: lambda j: ([j.x_axis, j.y_axis], [j.normal]),
}
IN_A_ROW = [
    J.Revolute(AXIS),
    J.Prismatic(AXIS),
    J.Universal((1, 0, 0), (0, 0.6, 0.8)),
    J.SphericalZYX(),
    J.Translation(),
    J.Cylindrical(AXIS),
    J.D6([(1, 0, 0), (0, 0, 1)], [(0, 0, 1), (1, 0, 0), (0, 1, 0)]),
    J.UnboundedRevolute(AXIS),
    J.Planar(),
    J.PlanarAngle((0.6, 0.8, 0.0), (-0.8, 0.6, 0.0)),
]
JOINTS = {
    "mujoco": [*IN_A_ROW, J.Spherical(), J.Fixed()],
    "newton": [*IN_A_ROW, J.Spherical(), J.FreeFlyer(), J.FloatingMRP(), J.Distance(0.1, 2.0), J.Fixed()],
    "drake": [
        J.Revolute(AXIS),
        J.Prismatic(AXIS),
        J.Helical((0, 0, 1), 0.2),
        J.Universal((1, 0, 0), (0, 1, 0)),
        J.Spherical(),
        J.SphericalZYX(),
        J.Planar(),
        J.PlanarAngle(),
        J.FreeFlyer(),
        J.FloatingMRP(),
        J.UnboundedRevolute(AXIS),
        J.Fixed(),
    ],
    "idyntree": [J.Revolute(AXIS), J.Prismatic(AXIS), J.Spherical(), J.Spherical()],
}


def tree(library, seed):
    return random_mechanism(seed, joints=JOINTS[library], armature=False).model(base="floating")


def inertia_numbers(body):
    """Mass, centre of mass, inertia about it."""
    own = body.inertia
    return own.mass, np.array(list(own.com)), np.array([list(row) for row in own.inertia_at_com.matrix().rows()])


def quaternion_wxyz(X):
    x, y, z, w = J.Spherical().nearest_configuration(X)
    return w, x, y, z


def words(*numbers):
    return " ".join(repr(float(e)) for part in numbers for e in np.ravel(list(part)))


class MuJoCoTree(MuJoCo):
    def __init__(self, ours):
        import mujoco

        self.mujoco = mujoco
        self.model = mujoco.MjModel.from_xml_string(
            f"<mujoco><worldbody>{self._children(ours, 'world')}</worldbody></mujoco>"
        )
        self.data = mujoco.MjData(self.model)

    def _children(self, ours, parent):
        return "".join(self._body_text(ours, c) for c in ours.connections if c.parent == parent)

    def _body_text(self, ours, c):
        mass, com, inertia = inertia_numbers(ours.body(c.child))
        upper = inertia[(0, 1, 2, 0, 0, 1), (0, 1, 2, 1, 2, 2)]
        X = c.parent_pose @ c.child_pose.inverse()
        own = f'<inertial pos="{words(com)}" mass="{mass!r}" fullinertia="{words(upper)}"/>'
        place = f'name="{c.child}" pos="{words(X.translation)}" quat="{words(quaternion_wxyz(X))}"'
        return f"<body {place}>{own}{self._joints(c)}{self._children(ours, c.child)}</body>"

    def _joints(self, c):
        if isinstance(c.joint, J.Fixed):
            return ""
        if isinstance(c.joint, J.FreeFlyer):
            return "<freejoint/>"
        at = f'pos="{words(c.child_pose.translation)}"'
        if isinstance(c.joint, J.Spherical):
            return f'<joint type="ball" {at}/>'
        linear, angular = AXIS_BY_AXIS[type(c.joint)](c.joint)
        kinds = [("slide", a) for a in linear] + [("hinge", a) for a in angular]
        R = c.child_pose.rotation
        return "".join(f'<joint type="{kind}" {at} axis="{words(R @ a)}"/>' for kind, a in kinds)


class NewtonTree(Newton):
    def __init__(self, ours):
        import newton
        import warp

        warp.config.quiet = True
        self.newton, self.warp = newton, warp
        builder, index, joints = newton.ModelBuilder(), {"world": -1}, []
        for body in ours.bodies:
            mass, com, inertia = inertia_numbers(body)
            options = {"mass": mass, "com": warp.vec3(*com), "inertia": warp.mat33(*inertia.ravel())}
            index[body.name] = builder.add_link(label=body.name, **options)
        for c in depth_first(ours):
            joints.append(self._add(builder, c, index))
        builder.add_articulation(joints)
        self.bodies = [b.name for b in ours.bodies]
        self.model = builder.finalize(device="cpu")
        self.state = self.model.state()

    def _transform(self, X):
        w, x, y, z = quaternion_wxyz(X)
        return self.warp.transform(self.warp.vec3(*map(float, X.translation)), self.warp.quat(x, y, z, w))

    def _add(self, builder, c, index):
        poses = {"parent_xform": self._transform(c.parent_pose), "child_xform": self._transform(c.child_pose)}
        bodies = {"parent": index[c.parent], "child": index[c.child]}
        if isinstance(c.joint, J.Fixed):
            return builder.add_joint_fixed(**bodies, **poses)
        if isinstance(c.joint, J.Distance):
            return builder.add_joint_distance(**bodies, **poses)
        if isinstance(c.joint, (J.FreeFlyer, J.FloatingMRP)):
            return builder.add_joint_free(**bodies, **poses)
        if isinstance(c.joint, J.Spherical):
            return builder.add_joint_ball(**bodies, **poses)
        axes = AXIS_BY_AXIS[type(c.joint)](c.joint)
        linear, angular = ([builder.JointDofConfig(axis=self.warp.vec3(*map(float, a))) for a in part] for part in axes)
        return builder.add_joint_d6(**bodies, **poses, linear_axes=linear, angular_axes=angular)


class DrakeTree(Drake):
    def __init__(self, ours):
        from pydrake.math import RigidTransform
        from pydrake.multibody import plant, tree

        self.tree, self.instance = tree, tree.default_model_instance()
        self.plant = plant.MultibodyPlant(0.0)
        bodies = {"world": self.plant.world_body()}
        for body in ours.bodies:
            mass, com, inertia = inertia_numbers(body)
            unit = tree.UnitInertia(*(inertia[(0, 1, 2, 0, 0, 1), (0, 1, 2, 1, 2, 2)] / mass))
            unit = unit.ShiftFromCenterOfMass(-com)
            bodies[body.name] = self.plant.AddRigidBody(body.name, tree.SpatialInertia(mass, com, unit))
        for c in ours.connections:
            frames = []
            for side, body, X in (("F", c.parent, c.parent_pose), ("M", c.child, c.child_pose)):
                pose = RigidTransform(np.array(X.matrix(), dtype=float))
                frame = tree.FixedOffsetFrame(c.name + side, bodies[body].body_frame(), pose)
                frames.append(self.plant.AddFrame(frame))
            self.plant.AddJoint(self._joint(c, *frames))
        self.plant.Finalize()
        self.context = self.plant.CreateDefaultContext()

    def _joint(self, c, F, M):
        t, j = self.tree, c.joint
        if isinstance(j, (J.Revolute, J.UnboundedRevolute)):
            return t.RevoluteJoint(c.name, F, M, np.array(list(j.axis)))
        if isinstance(j, J.Prismatic):
            return t.PrismaticJoint(c.name, F, M, np.array(list(j.axis)))
        if isinstance(j, J.Helical):
            return t.ScrewJoint(c.name, F, M, 2.0 * math.pi * j.pitch, 0.0)
        if isinstance(j, J.Fixed):
            from pydrake.math import RigidTransform

            return t.WeldJoint(c.name, F, M, RigidTransform())
        kinds = {J.Universal: t.UniversalJoint, J.Planar: t.PlanarJoint, J.PlanarAngle: t.PlanarJoint}
        kinds |= {J.Spherical: t.BallRpyJoint, J.SphericalZYX: t.BallRpyJoint}
        return kinds.get(type(j), t.QuaternionFloatingJoint)(c.name, F, M)


class IDynTreeTree(IDynTree):
    def __init__(self, ours, representation="mixed"):
        import idyntree.swig as idt

        self.idt, self.floating = idt, True
        self.model = idt.Model()
        for body in ours.bodies:
            mass, com, inertia = inertia_numbers(body)
            matrix = idt.RotationalInertia()
            for i in range(3):
                for k in range(3):
                    matrix.setVal(i, k, float(inertia[i, k]))
            about = idt.SpatialInertia()
            about.fromRotationalInertiaWrtCenterOfMass(mass, idt.Position(*com), matrix)
            link = idt.Link()
            link.setInertia(about)
            self.model.addLink(body.name, link)
        self.n = self.npos = 0
        for c in ours.connections[1:]:
            joint = self._joint(c)
            self.model.addJoint(c.parent, c.child, c.name, joint)
        self.model.setDefaultBaseLink(self.model.getLinkIndex("body"))
        self.n = self.model.getNrOfDOFs()
        self.dynamics = idt.KinDynComputations()
        assert self.dynamics.loadRobotModel(self.model)
        kind = {"mixed": idt.MIXED_REPRESENTATION, "body": idt.BODY_FIXED_REPRESENTATION}
        kind["inertial"] = idt.INERTIAL_FIXED_REPRESENTATION
        self.dynamics.setFrameVelocityRepresentation(kind[representation])
        self.joint_names = ["root"] + [self.model.getJointName(k) for k in range(self.model.getNrOfJoints())]

    def _transform(self, X):
        R = [float(e) for row in X.rotation.rows() for e in row]
        return self.idt.Transform(self.idt.Rotation(*R), self.idt.Position(*map(float, X.translation)))

    def _joint(self, c):
        idt, joint = self.idt, c.joint
        rest = self._transform(c.parent_pose @ c.child_pose.inverse())
        parent, child = self.model.getLinkIndex(c.parent), self.model.getLinkIndex(c.child)
        if isinstance(joint, J.Spherical):
            made = idt.SphericalJoint()
            made.setAttachedLinks(parent, child)
            made.setRestTransform(rest)
            made.setJointCenter(parent, idt.Position(*map(float, c.parent_pose.translation)))
            made.setJointCenter(child, idt.Position(*map(float, c.child_pose.translation)))
            return made
        made = idt.RevoluteJoint() if isinstance(joint, J.Revolute) else idt.PrismaticJoint()
        made.setAttachedLinks(parent, child)
        made.setRestTransform(rest)
        direction = c.child_pose.rotation @ joint.axis
        axis = idt.Axis(idt.Direction(*map(float, direction)), idt.Position(*map(float, c.child_pose.translation)))
        made.setAxis(axis, child, parent)
        return made


def depth_first(model):
    from cardan._dynamics.coordinates import conventions

    return [model.connection(name) for name in conventions.depth_first(model)]


TREES = {"mujoco": MuJoCoTree, "newton": NewtonTree, "drake": DrakeTree, "idyntree": IDynTreeTree}
