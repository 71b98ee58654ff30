"""Planar linkages in the xz plane: bars turning about -y, so that positive angles lead from x to z."""

from __future__ import annotations

import math

from cardan._algebra.errors import ParameterError
from cardan._algebra.scalar import atan2
from cardan._algebra.spatial import SE3
from cardan._algebra.spatial.rotations import rotation_about_axis
from cardan._robot.description import Mechanism
from cardan._robot.joints import Revolute
from cardan._robot.shipped.solids import add_rod

Point = tuple[float, float]
AXIS = (0.0, -1.0, 0.0)


def meeting_point(what: str, a: Point, to_a: float, b: Point, to_b: float) -> Point:
    """Return the point at given distances from a and b, on the left of the way from a to b.

    Raises:
        ParameterError: if there is none.
    """
    d = math.dist(a, b)
    if not abs(to_a - to_b) < d < to_a + to_b:
        expected = f"lengths that reach {d:.6g} m and leave the bars an angle"
        raise ParameterError(f"lengths of {what}", got=(to_a, to_b), expected=expected)
    along = (d * d + to_a * to_a - to_b * to_b) / (2.0 * d)
    aside = math.sqrt(to_a * to_a - along * along)
    ux, uz = (b[0] - a[0]) / d, (b[1] - a[1]) / d
    return a[0] + along * ux - aside * uz, a[1] + along * uz + aside * ux


def direction(a: Point, b: Point) -> float:
    """Return the angle of the way from a to b, from x to z [rad]."""
    return atan2(b[1] - a[1], b[0] - a[0])


def place(x: float, z: float, angle: float = 0.0) -> SE3:
    """Return a pose in the plane."""
    return SE3(rotation_about_axis(AXIS, angle), (x, 0.0, z))


def add_bar(m: Mechanism, name: str, mass: float, length: float) -> None:
    """Add a homogeneous bar that lies along x of its body frame, from the origin to (length, 0, 0)."""
    add_rod(m, name, mass, length, 0.01, along="x", centre=(length / 2, 0.0, 0.0))


def hinge(m: Mechanism, name: str, parent: str, child: str, parent_pose: SE3, child_pose: SE3 | None = None) -> None:
    """Add a hinge of the linkage."""
    m.add_joint(name, Revolute(AXIS), parent, child, parent_pose=parent_pose, child_pose=child_pose)
