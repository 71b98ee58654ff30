"""The double pendulum: two rods swinging in the xz plane."""

from __future__ import annotations

from cardan._robot.description import Mechanism
from cardan._robot.joints import Revolute
from cardan._robot.shipped.solids import add_rod, all_positive, at


def double_pendulum(
    mass1: float = 1.0, length1: float = 0.5, mass2: float = 0.8, length2: float = 0.4, radius: float = 0.02
) -> Mechanism:
    """Return two homogeneous rods hanging from a base, both turning about y; at q = 0 they hang straight down.

    Args:
        mass1: of the upper rod [kg].
        length1: of the upper rod, from joint to joint [m].
        mass2: of the lower rod [kg].
        length2: of the lower rod [m].
        radius: of both rods [m].

    Raises:
        ParameterError: unless all are positive.

    Examples:
        >>> cardan.robots.double_pendulum().model().nv
        2
    """
    all_positive("a double pendulum", mass1=mass1, length1=length1, mass2=mass2, length2=length2, radius=radius)
    m = Mechanism("double_pendulum")
    m.add_body("base")
    add_rod(m, "upper", mass1, length1, radius, centre=(0.0, 0.0, -length1 / 2))
    add_rod(m, "lower", mass2, length2, radius, centre=(0.0, 0.0, -length2 / 2))
    m.add_joint("shoulder", Revolute((0.0, 1.0, 0.0)), "base", "upper")
    m.add_joint("elbow", Revolute((0.0, 1.0, 0.0)), "upper", "lower", parent_pose=at(0, 0, -length1))
    return m
