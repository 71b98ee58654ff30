"""Mechanisms with loops: two planar linkages, and the Stewart platform, a plate on six legs that change their length.

The linkages lie in the xz plane. Their bars turn about -y, so that positive angles lead from x to z. The four-bar
linkage is crank, coupler and rocker on a base. The five-bar linkage is a parallel robot: two arms that hold one tip.
"""

from __future__ import annotations

import math

from cardan._algebra.errors import ParameterError
from cardan._algebra.scalar import atan2, cos, sin
from cardan._algebra.spatial import SE3, Vector3
from cardan._algebra.spatial.rotations import matrix_from_zyx, rotation_about_axis
from cardan._robot.description import Cylinder, Mechanism
from cardan._robot.joints import Prismatic, Revolute, Spherical, Universal
from cardan._robot.shipped.robots import add_solid, all_positive, at

Point = tuple[float, float]
AXIS = (0.0, -1.0, 0.0)


def four_bar(
    ground: float = 0.4,
    crank: float = 0.15,
    coupler: float = 0.4,
    rocker: float = 0.3,
    angle: float = 1.0,
    density: float = 2.0,
) -> Mechanism:
    """Return a planar four-bar linkage in the xz plane, its two pivots on the base along x; at q = 0 it is closed.

    `crank_joint` and `rocker_joint` stand on the base, `coupler_joint` joins crank and coupler, `closing_joint` coupler
    and rocker. With the crank the shortest bar, and crank and the longest no longer than the others, the crank turns
    all around.

    Args:
        ground: distance of the pivots [m].
        crank: length [m].
        coupler: length [m].
        rocker: length [m].
        angle: of the crank at q = 0, from x to z [rad].
        density: of all bars [kg/m].

    Raises:
        ParameterError: unless all are positive (the angle may be any) and the loop closes.

    Examples:
        >>> linkage = cardan.robots.four_bar().model()
        >>> int(cardan.mobility(linkage, cardan.assemble(linkage)))
        1
    """
    all_positive("a four-bar linkage", ground=ground, crank=crank, coupler=coupler, rocker=rocker, density=density)
    b = (crank * cos(angle), crank * sin(angle))
    d = (ground, 0.0)
    c = _meeting_point("coupler and rocker of a four-bar linkage", b, coupler, d, rocker)
    turn_coupler, turn_rocker = _direction(b, c), _direction(d, c)
    m = Mechanism("four_bar")
    m.add_body("base")
    for name, length in {"crank": crank, "coupler": coupler, "rocker": rocker}.items():
        _add_bar(m, name, density * length, length)
    _hinge(m, "crank_joint", "base", "crank", _place(0.0, 0.0, angle))
    _hinge(m, "coupler_joint", "crank", "coupler", _place(crank, 0.0, turn_coupler - angle))
    _hinge(m, "rocker_joint", "base", "rocker", _place(ground, 0.0, turn_rocker))
    end = _place(coupler, 0.0, turn_rocker - turn_coupler)
    _hinge(m, "closing_joint", "coupler", "rocker", end, _place(rocker, 0.0))
    return m


def five_bar(
    ground: float = 0.2, upper: float = 0.25, lower: float = 0.35, depth: float = 0.45, density: float = 1.0
) -> Mechanism:
    """Return a planar five-bar linkage in the xz plane that hangs from its base; at q = 0 it is closed, the tip below.

    The arms are driven by `left_joint` and `right_joint`, elbows outwards: two freedoms. `tip_joint` closes the loop;
    the frame `tip` is on the lower left bar.

    Args:
        ground: distance of the two pivots [m].
        upper: length of the driven bars [m].
        lower: length of the bars that meet at the tip [m].
        depth: of the tip below the pivots at q = 0 [m].
        density: of all bars [kg/m].

    Raises:
        ParameterError: unless all are positive and the bars reach the tip.

    Examples:
        >>> linkage = cardan.robots.five_bar().model()
        >>> int(cardan.mobility(linkage, cardan.assemble(linkage)))
        2
    """
    all_positive("a five-bar linkage", ground=ground, upper=upper, lower=lower, depth=depth, density=density)
    tip = (0.0, -depth)
    m = Mechanism("five_bar")
    m.add_body("base")
    turns = {}
    for side, sign in (("left", -1.0), ("right", 1.0)):
        pivot = (sign * ground / 2, 0.0)
        ends = ((tip, lower), (pivot, upper)) if sign < 0 else ((pivot, upper), (tip, lower))
        elbow = _meeting_point("the bars of a five-bar linkage", *ends[0], *ends[1])
        first, second = _direction(pivot, elbow), _direction(elbow, tip)
        _add_bar(m, f"{side}_upper", density * upper, upper)
        _add_bar(m, f"{side}_lower", density * lower, lower)
        _hinge(m, f"{side}_joint", "base", f"{side}_upper", _place(*pivot, first))
        _hinge(m, f"{side}_elbow", f"{side}_upper", f"{side}_lower", _place(upper, 0.0, second - first))
        turns[side] = second
    bend = turns["right"] - turns["left"]
    _hinge(m, "tip_joint", "left_lower", "right_lower", _place(lower, 0.0, bend), _place(lower, 0.0))
    m.add_frame("tip", "left_lower", _place(lower, 0.0))
    return m


def _meeting_point(what: str, a: Point, to_a: float, b: Point, to_b: float) -> Point:
    """Return the point at given distances from a and b, on the left of the way from a to b, or raise."""
    d = math.dist(a, b)
    if not abs(to_a - to_b) < d < to_a + to_b:
        expected = f"lengths that reach {d:.6g} m and leave the bars an angle"
        raise ParameterError(f"lengths of {what}", got=(to_a, to_b), expected=expected)
    # The cosine theorem: how far along the way from a to b the point is, and how far aside.
    along = (d * d + to_a * to_a - to_b * to_b) / (2.0 * d)
    aside = math.sqrt(to_a * to_a - along * along)
    ux, uz = (b[0] - a[0]) / d, (b[1] - a[1]) / d
    return a[0] + along * ux - aside * uz, a[1] + along * uz + aside * ux


def _direction(a: Point, b: Point) -> float:
    """Return the angle of the way from a to b, from x to z [rad]."""
    return atan2(b[1] - a[1], b[0] - a[0])


def _place(x: float, z: float, angle: float = 0.0) -> SE3:
    return SE3(rotation_about_axis(AXIS, angle), (x, 0.0, z))


def _add_bar(m: Mechanism, name: str, mass: float, length: float) -> None:
    """Add a homogeneous bar that lies along x of its body frame, from the origin to (length, 0, 0)."""
    add_solid(m, name, mass, Cylinder(0.01, length), along="x", centre=(length / 2, 0.0, 0.0))


def _hinge(m: Mechanism, name: str, parent: str, child: str, parent_pose: SE3, child_pose: SE3 | None = None) -> None:
    m.add_joint(name, Revolute(AXIS), parent, child, parent_pose=parent_pose, child_pose=child_pose)


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
    add_solid(m, "platform", platform_mass, Cylinder(platform_radius, 0.02))
    for k in range(6):
        side = 1.0 if k % 2 else -1.0
        middle = 2.0 * math.pi / 3.0 * ((k + 1) // 2)  # legs pair up at the plate
        foot = _on_circle(base_radius, middle - side * (math.pi / 3.0 - 0.2))
        head = _on_circle(platform_radius, middle - side * 0.2)
        _add_leg(m, k + 1, foot, head, height, leg_mass)
    return m


def _on_circle(radius: float, angle: float) -> Vector3:
    return Vector3(radius * cos(angle), radius * sin(angle), 0.0)


def _add_leg(m: Mechanism, k: int, foot: Vector3, head: Vector3, height: float, mass: float) -> None:
    """Add a leg: z of its frames points from foot to head at q = 0."""
    x, y, z = head + Vector3(0.0, 0.0, height) - foot
    length = math.sqrt(x * x + y * y + z * z)
    upright = matrix_from_zyx((atan2(y, x), atan2(math.sqrt(x * x + y * y), z), 0.0))
    rod = 0.6 * length
    add_solid(m, f"cylinder{k}", mass / 2, Cylinder(0.03, rod), centre=(0.0, 0.0, rod / 2))
    add_solid(m, f"piston{k}", mass / 2, Cylinder(0.02, rod), centre=(0.0, 0.0, -rod / 2))
    m.add_joint(f"universal{k}", Universal(), "base", f"cylinder{k}", parent_pose=SE3(upright, foot))
    m.add_joint(f"slide{k}", Prismatic((0.0, 0.0, 1.0)), f"cylinder{k}", f"piston{k}", parent_pose=at(0, 0, length))
    m.add_joint(f"ball{k}", Spherical(), f"piston{k}", "platform", child_pose=SE3(upright, head))
