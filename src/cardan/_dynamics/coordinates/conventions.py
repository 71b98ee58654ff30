"""Other libraries' conventions, one function each, and converters to them: `cardan.conventions.to("mujoco", model)`.

None of the libraries is imported. Isaac Lab's and RigidBodyDynamics.jl's conventions are taken from their documentation
alone; all others are compared with the library itself (`tests/oracles`).
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from cardan._algebra.errors import check_known
from cardan._algebra.spatial import REPRESENTATIONS, Representation
from cardan._dynamics.call.signature import check_model
from cardan._dynamics.coordinates.chart import Chart, Circle, Free, Quaternion, Rule, ball, circle, form_of, plane, same
from cardan._dynamics.coordinates.peer_converter import (
    AXIS_BY_AXIS,
    FREE,
    ONE_AXIS,
    PLANAR,
    Convention,
    PeerConverter,
    WrenchForm,
    at_right_angles,
    centre_of_mass,
    each,
    in_a_row,
    kind_of,
)
from cardan._robot import joints as J
from cardan._robot.model import WORLD, Connection, Model

__all__ = ["PEERS", "to"]

Charts = dict[type[J.Joint], Rule]


# --- in which order a library numbers the joints of one tree; fixed joints are passed through ---


def document(model: Model) -> list[str]:
    """Return the joints as the model has them: a floating base, then document order."""
    return [c.name for c in model.connections]


def depth_first(model: Model, by_name: bool = False) -> list[str]:
    """Return each joint before its children, branch after branch, siblings in document order, or sorted by name."""
    return [c.name for c, _ in walk(model, by_name)]


def walk(model: Model, by_name: bool = False) -> Iterator[tuple[Connection, int]]:
    """Yield the joints depth first, each with the number of those between it and the world."""
    children = _children(model, by_name)
    stack = [(c, 0) for c in reversed(children[WORLD])]
    while stack:
        c, depth = stack.pop()
        yield c, depth
        stack += [(child, depth + 1) for child in reversed(children[c.child])]


def breadth_first(model: Model) -> list[str]:
    """Return the joints level by level, those of one level in the order of their parents, then document order."""
    children, level, found = _children(model), [WORLD], []
    while level:
        joints = [c for body in level for c in children[body]]
        found += [c.name for c in joints]
        level = [c.child for c in joints]
    return found


def _children(model: Model, by_name: bool = False) -> dict[str, list[Connection]]:
    children: dict[str, list[Connection]] = {body: [] for body in (WORLD, *model.body_names)}
    for c in sorted(model.connections, key=lambda c: c.name) if by_name else model.connections:
        children[c.parent].append(c)
    return children


# --- the libraries ---


def drake() -> Convention:
    """Drake: quaternions (w, x, y, z) before positions, angular velocity before linear, both in the parent's axes.

    Velocities of a floating, ball or planar joint are those of the child's frame M in the parent's frame F, along F's
    axes at M's origin. A ball joint is three angles. Joints are numbered depth first, siblings in document order.
    Spatial forces on bodies: [moment; force] about the body's origin, world axes (`ExternallyAppliedSpatialForce` with
    p_BoBq_B = 0).

    Source: Drake documentation of QuaternionFloatingJoint, BallRpyJoint, PlanarJoint, UniversalJoint, ScrewJoint and
    multibody spatial vectors.
    """
    charts: Charts = {
        **each((*ONE_AXIS, J.Helical)),
        J.Universal: at_right_angles,
        J.UnboundedRevolute: circle("angle"),
        **each((J.Spherical, J.SphericalZYX), ball("rpy", "parent")),
        **each(PLANAR, plane("angle", "parent")),
        **each(FREE, Free("wxyz", "mixed", "mixed", reverse=True, outer="parent")),
    }
    joints = "revolute, prismatic, screw, universal (axes at right angles), ball (roll, pitch, yaw), planar, floating"
    wrench = WrenchForm("origin", "mixed", moment_first=True)
    return Convention("Drake", charts, joints, depth_first, wrench)


def idyntree(representation: Representation = "mixed") -> Convention:
    """iDynTree: the base's pose and twist, the twist in one of three representations; then the joints.

    q' = (base position, base quaternion (w, x, y, z), joint positions), what `setRobotState` takes apart into a
    transform and the joints' vector. Joints are numbered as the model was loaded: its URDF reader keeps them in a hash
    table, so their order is no property of the file. Load with a list of joints (`loadReducedModelFromFile`), or give
    `order=` here.

    Source: iDynTree documentation, KinDynComputations and FrameVelocityRepresentation; FACTS, section 6.

    Args:
        representation: that of the base velocity: `"mixed"` (its default), `"body"` or `"inertial"`.
    """
    check_known("choice of representation", representation, REPRESENTATIONS)
    charts: Charts = {
        **each(ONE_AXIS),
        J.UnboundedRevolute: circle("cos_sin"),
        J.Spherical: ball("wxyz", of_body=True),
        **each(FREE, Free("wxyz", representation, representation, of_base=True)),
    }
    joints = "revolute, RevoluteSO2, prismatic, spherical, and the free base"
    return Convention("iDynTree", charts, joints, document, WrenchForm("origin", representation))


def isaac(quaternion: Quaternion = "xyzw", velocity_of: str = "com", merged_bodies: bool = False) -> Convention:
    """Isaac Lab and Isaac Sim (PhysX): root pose and velocity in the world, then joints breadth first.

    q' = (`root_link_pos_w`, `root_link_quat_w`, `joint_pos`), v' = (`root_com_lin_vel_w`, `root_com_ang_vel_w`,
    `joint_vel`): the position is that of the root link's origin, the velocity that of its centre of mass, as in PhysX
    (its Jacobians are of centres of mass, too). Matrices here are along this v'. Along what the first six rows of
    PhysX's own mass matrix are, its documentation does not say. Quaternions are (x, y, z, w) from Isaac Lab 3.0 on, as
    in PhysX and Isaac Gym, and (w, x, y, z) in Isaac Lab 2 and Isaac Sim's own interface.

    Source: Isaac Lab documentation, `ArticulationData` and "Migrating to 3.0"; isaac-sim/IsaacLab issue 37 (breadth
    first) and issue 942 (centre of mass). Not compared with the library, which needs its own machine.

    Args:
        quaternion: `"xyzw"` (Isaac Lab 3, PhysX, Isaac Gym) or `"wxyz"` (Isaac Lab 1 and 2, Isaac Sim).
        velocity_of: `"com"` (`root_com_vel_w`, PhysX) or `"link"` (`root_link_vel_w`).
        merged_bodies: whether the importer merged bodies joined by fixed joints (`merge_fixed_joints`), so that they
            have one centre of mass.
    """
    check_known("choice of quaternion", quaternion, ("xyzw", "wxyz"))
    check_known("choice of velocity_of", velocity_of, ("com", "link"))
    point = centre_of_mass(merged_bodies) if velocity_of == "com" else None
    charts: Charts = {
        **each(ONE_AXIS),
        J.UnboundedRevolute: circle("angle"),
        **each(FREE, Free(quaternion, "mixed", "mixed", of_base=True, point=point)),
    }
    joints = "revolute, prismatic, and the free root"
    return Convention("Isaac Lab", charts, joints, breadth_first, WrenchForm("com", "body"))


def mujoco() -> Convention:
    """MuJoCo: quaternions (w, x, y, z); a free joint's linear velocity in world axes, its angular in the body's.

    Joints act on bodies, whose own axes turn a ball's quaternion and velocity. Several hinges and slides in one body
    are any joint with an axis for each coordinate. Forces on bodies (`xfrc_applied`): at the centre of mass, world
    axes.

    Source: MuJoCo documentation, "Computation: floating objects" and "Modeling: body, joint"; mjData.
    """
    charts: Charts = {
        **each(AXIS_BY_AXIS),
        J.Composite: in_a_row(lambda joint: kind_of(joint) in AXIS_BY_AXIS),
        J.UnboundedRevolute: circle("angle"),
        J.Spherical: ball("wxyz", of_body=True),
        **each(PLANAR, plane("angle", "parent")),
        **each(FREE, Free("wxyz", "mixed", "body", of_base=True)),
    }
    joints = "free (of a body in the world), ball, hinge, slide, and hinges and slides in a row"
    return Convention("MuJoCo", charts, joints, depth_first, WrenchForm("com", "mixed"))


def newton(merged_bodies: bool = False) -> Convention:
    """Newton: quaternions (x, y, z, w); a free joint's velocity is that of the child's centre of mass, in anchor axes.

    A ball's angular velocity is in the axes of the parent's anchor, too. A free joint's `joint_qd` is along those axes,
    its `joint_f` a wrench in world axes (newton issue 3308), so their product is power only if the two agree. The
    converter gives `joint_f` as Newton takes it. Mass matrix and accelerations are along `joint_qd`. Forces on bodies
    (`body_f`): at the centre of mass, world axes.

    Source: Newton documentation, "Conventions" and "Articulations"; FACTS, section 9.

    Args:
        merged_bodies: whether bodies joined by fixed joints are one there (`collapse_fixed_joints=True`), with one
            centre of mass.
    """
    free = Free("xyzw", "mixed", "mixed", point=centre_of_mass(merged_bodies), effort_in_world=True, outer="parent")
    charts: Charts = {
        **each(AXIS_BY_AXIS),
        J.Universal: at_right_angles,
        J.UnboundedRevolute: circle("angle"),
        J.Spherical: ball("xyzw", "parent"),
        **each(PLANAR, plane("angle", "parent")),
        **each((*FREE, J.Distance), free),
    }
    joints = "free, distance, ball, revolute, prismatic, and D6 (up to three linear, then three angular axes)"
    return Convention("Newton", charts, joints, depth_first, WrenchForm("com", "mixed"))


def pinocchio(continuous: Circle = "cos_sin") -> Convention:
    """Pinocchio: the conventions of this library, but for the order of joints and unlimited angles.

    Its URDF reader goes depth first and takes siblings by their joints' names; a `continuous` joint is (cos, sin). A
    mimic joint has coordinates of its own unless the reader is told `mimic=True` (here `mimics=False`). External
    forces: in the joint's frame, at its origin, one for each joint, so rows of bodies on one joint are to be added.

    Source: Pinocchio documentation, "Joints" and "Conventions"; FACTS, sections 1 and 2.

    Args:
        continuous: how a revolute joint without limits is written: `"cos_sin"` (as its URDF reader makes them, type
            JointModelRUBX and its like) or `"angle"` (JointModelRX).
    """
    check_known("choice of continuous", continuous, ("cos_sin", "angle"))
    alike = (J.Prismatic, J.Helical, J.Universal, J.Spherical, J.SphericalZYX, J.Translation, J.Planar, J.FreeFlyer)
    alike = (*alike, J.Ellipsoid)

    def hinge(model: Model, c: Connection) -> Chart | None:
        unlimited = all(math.isinf(e) for e in (*(c.limits.lower or ()), *(c.limits.upper or ())))
        return circle(continuous if unlimited else "angle")(model, c)

    def is_part(joint: J.Joint) -> bool:
        kind = kind_of(joint)
        return kind in (*alike, J.Revolute) or (kind is J.UnboundedRevolute and form_of(joint.manifold) == "cos_sin")

    charts: Charts = {
        **each(alike, same),
        J.Revolute: hinge,
        J.UnboundedRevolute: circle("cos_sin"),
        J.PlanarAngle: plane("cos_sin", "child"),
        J.FloatingMRP: Free("xyzw"),
        J.Composite: in_a_row(is_part),
    }
    joints = "revolute, unbounded revolute, prismatic, helical, universal, spherical, spherical ZYX, translation, "
    joints += "planar, free flyer, ellipsoid, and composites of these"
    order = functools.partial(depth_first, by_name=True)
    return Convention("Pinocchio", charts, joints, order, WrenchForm("joint"))


def rigidbodydynamics() -> Convention:
    """RigidBodyDynamics.jl: quaternions (w, x, y, z) before positions, angular parts before linear ones, body axes.

    Joints are numbered breadth first, siblings in document order; q and v are those of `configuration(state)` and
    `velocity(state)`. A mimic joint is an ordinary one there. A wrench is angular first in whatever frame it names:
    here in the body's.

    Source: RigidBodyDynamics.jl, joint types, `SpanningTree` and `parse_urdf`; FACTS, section 5.
    """
    charts: Charts = {
        **each(ONE_AXIS),
        J.UnboundedRevolute: circle("sin_cos"),
        J.Spherical: ball("wxyz"),
        **each(PLANAR, plane("angle", "child")),
        **each(FREE, Free("wxyz", reverse=True)),
        J.FloatingMRP: Free("mrp", reverse=True),
    }
    joints = "Revolute, SinCosRevolute, Prismatic, Planar, QuaternionSpherical, QuaternionFloating, SPQuatFloating"
    wrench = WrenchForm("origin", "body", moment_first=True)
    return Convention("RigidBodyDynamics.jl", charts, joints, breadth_first, wrench)


PEERS: dict[str, Callable[..., Convention]] = {
    convention.__name__: convention
    for convention in (drake, idyntree, isaac, mujoco, newton, pinocchio, rigidbodydynamics)
}
"""The libraries by name; a new one is a function above and its name here."""


def to(
    peer: str, model: Model, *, order: Sequence[str] | None = None, mimics: bool | None = None, **options: Any
) -> PeerConverter:
    """Return the converter between a model's vectors and those of another library for the same robot.

    Args:
        peer: name of the library: one of `PEERS`.
        model: the robot.
        order: names of the joints with coordinates, as they are numbered there. By default the library's rule for the
            tree: see docs/conventions.md.
        mimics: whether mimic joints have coordinates of their own there; by default what the library's reader does.
        options: the library's own, such as `representation="body"` for iDynTree.

    Raises:
        DTypeError: if the model is no model.
        UnknownNameError: for a library or option that does not exist.
        MechanismError: if the library has no such joint; the message names it.
        ParameterError: if `order` does not name every joint with coordinates once.

    Examples:
        >>> there = cardan.conventions.to("mujoco", arm)
        >>> there.configuration(q).shape
        (7,)
    """
    check_known("library", peer, PEERS, "cardan.conventions")
    known = inspect.signature(PEERS[peer]).parameters
    for name in options:
        check_known("option", name, known, f"the conventions of {peer!r}")
    check_model("conventions.to", model)
    return _made(PEERS[peer], model, None if order is None else tuple(order), mimics, tuple(options.items()))


def _made(
    peer: Callable[..., Convention], model: Model, order: Sequence[str] | None, mimics: bool | None, options: Any
) -> PeerConverter:
    convention = peer(**dict(options))
    mimics = convention.mimics if mimics is None else mimics
    return PeerConverter(model, convention, order, mimics, (_made, (peer, model, order, mimics, options)))


def __dir__() -> list[str]:
    return [*__all__]
