"""Joints that close loops and have forces of their own: the loop is cut through a body, and not at the joint.

A joint that closes a loop has no coordinates, so nothing says where a drive shall go, a stop ends or a spring rests.
Its child is cut into two halves of the same inertia, one at the joint and one at the rest; a `Fixed` joint between
them closes the loop. So the joint is one of the tree like any other, with its coordinates, and the motion is the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from cardan._algebra.errors import MechanismError, ParameterError
from cardan._algebra.spatial import Inertia
from cardan._dynamics.algorithms.kinematics import Kinematics
from cardan._robot.description import Mechanism
from cardan._robot.description.rooting import rooted
from cardan._robot.joints import Fixed
from cardan._robot.model import Model
from cardan._robot.records import WORLD, Body, Connection


def cut_bodies(mechanism: Mechanism, closing: Sequence[str] = ()) -> Mechanism:
    """Return a mechanism in which joints with forces of their own close no loops: their bodies do, cut in two.

    The half that a joint `j` holds of a body `b` is named `b_at_j`, the `Fixed` joint between both halves `j_weld`.
    Shapes and frames stay on `b`. A world does this by itself. Other joints that close loops are as they were.

    Args:
        mechanism: with loops.
        closing: names of joints that would close the loops they are part of, as for `Mechanism.model`.

    Raises:
        MechanismError: where neither body of such a joint has an inertia that could be cut.
        DuplicateNameError: if a name is in use.
        ParameterError: for something that is no mechanism.

    Examples:
        >>> bars = cardan.robots.four_bar()
        >>> name = bars.model().closures[0].name
        >>> driven = bars.replace_joint(name, cardan.joints.Revolute((0, 1, 0)), damping=[0.1]).mechanism
        >>> driven.model().nv, cardan.simulation.cut_bodies(driven).model().nv
        (3, 4)
    """
    if not isinstance(mechanism, Mechanism):
        raise ParameterError("mechanism", got=mechanism, expected="a cardan.Mechanism")
    parts = mechanism._parts()
    _, closures = rooted(tuple(b.name for b in parts.bodies), parts.joints, [], Fixed(), closing)
    bodies, joints = list(parts.bodies), list(parts.joints)
    apart = list(parts.annotations.disabled_contacts)
    for c in filter(_has_forces, closures):
        heavy = {b.name: b.inertia for b in bodies if b.inertia is not None and b.inertia.mass}
        side = next((end for end in ("child", "parent") if getattr(c, end) in heavy), None)
        if side is None:
            message = f"joint {c.name!r} has forces and closes a loop between bodies without inertia, expected one"
            raise MechanismError(f"{message} that can be cut; let another joint of the loop close it (closing=[...]).")
        whole = getattr(c, side)
        half = Inertia.from_parameters([0.5 * e for e in heavy[whole].parameters()])
        bodies = [replace(b, inertia=half) if b.name == whole else b for b in bodies]
        bodies.append(Body(f"{whole}_at_{c.name}", half))
        joints[joints.index(c)] = replace(c, **{side: bodies[-1].name})
        joints.append(Connection(f"{c.name}_weld", Fixed(), whole, bodies[-1].name))
        apart += [] if WORLD in (c.parent, c.child) else [(c.parent, c.child)]
    if len(bodies) == len(parts.bodies):
        return mechanism
    annotations = replace(parts.annotations, disabled_contacts=tuple(dict.fromkeys(apart)))
    return mechanism._made_of(parts._replace(bodies=tuple(bodies), joints=tuple(joints), annotations=annotations))


def still_closing(mechanism: Mechanism, closing: Sequence[str]) -> list[str]:
    """Return those of some joints that close their loops in a mechanism of cut bodies as well."""
    joints = {c.name for c in mechanism.joints}
    return [name for name in closing if f"{name}_weld" not in joints]


def closed_at(model: Model, q: Sequence[float]) -> np.ndarray:
    """Return a configuration in which joints of bodies that were cut are where the other half is; read-only."""
    names = {c.name: c.name.removesuffix("_weld") for c in model.closures}
    cut = [weld for weld in model.closures if weld.child.endswith(f"_at_{names[weld.name]}")]
    found = np.array(q, dtype=float)
    if cut:
        there = Kinematics(model, q)
        for weld in cut:
            name = names[weld.name]
            c = model.connection(name)
            ends = ((weld.parent if body == weld.child else body) for body in (c.parent, c.child))
            X, Y = (there.pose(body) @ pose for body, pose in zip(ends, (c.parent_pose, c.child_pose), strict=True))
            found[model.q_slice(name)] = np.array(c.joint.nearest_configuration(X.inverse() @ Y), dtype=float)
    found.setflags(write=False)
    return found


def _has_forces(c: Connection) -> bool:
    resists = (c.damping, c.friction, c.armature, c.drive_stiffness, c.drive_damping, c.spring_stiffness)
    ends = (*(c.limits.lower or ()), *(c.limits.upper or ()))
    return c.joint.has_efforts or any(any(own or ()) for own in resists) or bool(np.isfinite(ends).any())
