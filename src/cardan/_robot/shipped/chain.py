"""The n-link chain: rods joined by hinges, their axes alternating between y and x."""

from __future__ import annotations

from cardan._algebra.checked_numbers import whole
from cardan._robot.description import Mechanism
from cardan._robot.joints import Revolute
from cardan._robot.shipped.solids import add_rod, all_positive, at


def chain(n: int = 6, mass: float = 0.5, length: float = 0.3, radius: float = 0.02) -> Mechanism:
    """Return n equal homogeneous rods, each hinged to the end of the one before; at q = 0 they hang straight down.

    Args:
        n: number of rods and of joints.
        mass: of each rod [kg].
        length: of each rod [m].
        radius: of each rod [m].

    Raises:
        ParameterError: unless n is a positive integer and the others are positive.

    Examples:
        >>> cardan.robots.chain(5).model().nv
        5
    """
    whole("number of links of a chain", n, 1)
    all_positive("a chain's links", mass=mass, length=length, radius=radius)
    m = Mechanism(f"chain{n}")
    m.add_body("base")
    for k in range(1, n + 1):
        add_rod(m, f"link{k}", mass, length, radius, centre=(0.0, 0.0, -length / 2))
        axis = (0.0, 1.0, 0.0) if k % 2 else (1.0, 0.0, 0.0)
        parent, offset = ("base", 0.0) if k == 1 else (f"link{k - 1}", -length)
        m.add_joint(f"joint{k}", Revolute(axis), parent, f"link{k}", parent_pose=at(0, 0, offset))
    return m
