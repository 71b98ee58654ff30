"""The five-bar linkage: a planar parallel robot, two arms that hold one tip."""

from __future__ import annotations

from cardan._robot.description import Mechanism
from cardan._robot.shipped.linkage import add_bar, direction, hinge, meeting_point, place
from cardan._robot.shipped.solids import all_positive


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
        elbow = meeting_point("the bars of a five-bar linkage", *ends[0], *ends[1])
        first, second = direction(pivot, elbow), direction(elbow, tip)
        add_bar(m, f"{side}_upper", density * upper, upper)
        add_bar(m, f"{side}_lower", density * lower, lower)
        hinge(m, f"{side}_joint", "base", f"{side}_upper", place(*pivot, first))
        hinge(m, f"{side}_elbow", f"{side}_upper", f"{side}_lower", place(upper, 0.0, second - first))
        turns[side] = second
    bend = turns["right"] - turns["left"]
    hinge(m, "tip_joint", "left_lower", "right_lower", place(lower, 0.0, bend), place(lower, 0.0))
    m.add_frame("tip", "left_lower", place(lower, 0.0))
    return m
