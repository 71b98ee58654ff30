"""The Stewart platform: a plate on six legs that change their length."""

from __future__ import annotations

import math

from cardan._algebra.scalar import atan2, cos, sin
from cardan._algebra.spatial import SE3, Inertia, Matrix3, Vector3
from cardan._algebra.spatial.rotations import matrix_from_zyx
from cardan._robot.description import Cylinder, Mechanism, Shape
from cardan._robot.joints import Prismatic, Spherical, Universal
from cardan._robot.shipped.solids import add_rod, all_positive, at

LEGS = 6


def stewart_platform(
    base_radius: float = 0.6,
    platform_radius: float = 0.35,
    height: float = 0.7,
    platform_mass: float = 10.0,
    leg_mass: float = 1.0,
) -> Mechanism:
    """Return a hexapod: six legs of a universal joint, a slide and a ball joint; at q = 0 closed, the plate level.

    Leg k has the bodies `cylinder{k}` and `piston{k}` and the joints `universal{k}`, `slide{k}` and `ball{k}`. The ball
    joints of legs 2 to 6 close five loops, which leave six freedoms of 21.

    Args:
        base_radius: of the circle of the universal joints [m].
        platform_radius: of the circle of the ball joints [m].
        height: of the plate at q = 0 [m].
        platform_mass: of the plate, a disc [kg].
        leg_mass: of a leg, shared equally by its two rods [kg].

    Examples:
        >>> len(cardan.robots.stewart_platform().model().closures)
        5
    """
    all_positive(
        "a Stewart platform",
        base_radius=base_radius,
        platform_radius=platform_radius,
        height=height,
        platform_mass=platform_mass,
        leg_mass=leg_mass,
    )
    m = Mechanism("stewart_platform")
    m.add_body("base")
    _add_plate(m, platform_mass, platform_radius)
    for k in range(LEGS):
        side = 1.0 if k % 2 else -1.0
        middle = 2.0 * math.pi / 3.0 * ((k + 1) // 2)  # legs pair up at the plate
        foot = _on_circle(base_radius, middle - side * (math.pi / 3.0 - 0.2))
        head = _on_circle(platform_radius, middle - side * 0.2)
        _add_leg(m, k + 1, foot, head, height, leg_mass)
    return m


def _on_circle(radius: float, angle: float) -> Vector3:
    return Vector3(radius * cos(angle), radius * sin(angle), 0.0)


def _add_plate(m: Mechanism, mass: float, radius: float) -> None:
    thickness = 0.02
    across = mass * (3.0 * radius * radius + thickness * thickness) / 12.0
    m.add_body("platform", Inertia(mass, (0.0, 0.0, 0.0), Matrix3.diagonal(across, across, 0.5 * mass * radius**2)))
    m.add_shape(Shape("platform", "visual", Cylinder(radius, thickness)))


def _add_leg(m: Mechanism, k: int, foot: Vector3, head: Vector3, height: float, mass: float) -> None:
    """Add a leg: z of its frames points from foot to head at q = 0."""
    x, y, z = head + Vector3(0.0, 0.0, height) - foot
    length = math.sqrt(x * x + y * y + z * z)
    upright = matrix_from_zyx((atan2(y, x), atan2(math.sqrt(x * x + y * y), z), 0.0))
    rod = 0.6 * length
    add_rod(m, f"cylinder{k}", mass / 2, rod, 0.03, centre=(0.0, 0.0, rod / 2))
    add_rod(m, f"piston{k}", mass / 2, rod, 0.02, centre=(0.0, 0.0, -rod / 2))
    m.add_joint(f"universal{k}", Universal(), "base", f"cylinder{k}", parent_pose=SE3(upright, foot))
    m.add_joint(f"slide{k}", Prismatic((0.0, 0.0, 1.0)), f"cylinder{k}", f"piston{k}", parent_pose=at(0, 0, length))
    m.add_joint(f"ball{k}", Spherical(), f"piston{k}", "platform", child_pose=SE3(upright, head))
