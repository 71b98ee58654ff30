"""The four-bar linkage: crank, coupler and rocker on a base, one closed loop."""

from __future__ import annotations

from cardan._algebra.scalar import cos, sin
from cardan._robot.description import Mechanism
from cardan._robot.shipped.linkage import add_bar, direction, hinge, meeting_point, place
from cardan._robot.shipped.solids import all_positive


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
    c = meeting_point("coupler and rocker of a four-bar linkage", b, coupler, d, rocker)
    turn_coupler, turn_rocker = direction(b, c), direction(d, c)
    m = Mechanism("four_bar")
    m.add_body("base")
    for name, length in {"crank": crank, "coupler": coupler, "rocker": rocker}.items():
        add_bar(m, name, density * length, length)
    hinge(m, "crank_joint", "base", "crank", place(0.0, 0.0, angle))
    hinge(m, "coupler_joint", "crank", "coupler", place(crank, 0.0, turn_coupler - angle))
    hinge(m, "rocker_joint", "base", "rocker", place(ground, 0.0, turn_rocker))
    hinge(m, "closing_joint", "coupler", "rocker", place(coupler, 0.0, turn_rocker - turn_coupler), place(rocker, 0.0))
    return m
