"""Pendulums: two rods, a cart-pole, and a chain of any number of rods."""

from __future__ import annotations

from cardan._algebra.checked_numbers import whole
from cardan._robot.description import Mechanism
from cardan._robot.joints import Limits, Prismatic, Revolute
from cardan._robot.shipped.solids import add_box, add_rod, all_positive, at

_X, _Y = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)


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

    Examples:
        >>> cardan.robots.double_pendulum().model().nv
        2
    """
    all_positive("a double pendulum", mass1=mass1, length1=length1, mass2=mass2, length2=length2, radius=radius)
    m = Mechanism("double_pendulum")
    m.add_body("base")
    add_rod(m, "upper", mass1, length1, radius, centre=(0.0, 0.0, -length1 / 2))
    add_rod(m, "lower", mass2, length2, radius, centre=(0.0, 0.0, -length2 / 2))
    m.add_joint("shoulder", Revolute(_Y), "base", "upper")
    m.add_joint("elbow", Revolute(_Y), "upper", "lower", parent_pose=at(0, 0, -length1))
    return m


def cart_pole(
    cart_mass: float = 1.0, pole_mass: float = 0.1, pole_length: float = 1.0, track: float = 2.4
) -> Mechanism:
    """Return a cart on a rail along x with a pole turning about y; at q = 0 the pole stands upright.

    Args:
        cart_mass: [kg].
        pole_mass: of the homogeneous rod [kg].
        pole_length: [m].
        track: the cart moves within +-track [m].

    Examples:
        >>> cardan.robots.cart_pole().model().nv
        2
    """
    all_positive("a cart-pole", cart_mass=cart_mass, pole_mass=pole_mass, pole_length=pole_length, track=track)
    m = Mechanism("cart_pole")
    m.add_body("base")
    add_box(m, "cart", cart_mass, (0.3, 0.2, 0.1))
    add_rod(m, "pole", pole_mass, pole_length, 0.02, centre=(0.0, 0.0, pole_length / 2))
    rail = Limits(lower=[-track], upper=[track], velocity=[10.0], effort=[100.0])
    m.add_joint("slide", Prismatic(_X), "base", "cart", limits=rail)
    m.add_joint("hinge", Revolute(_Y), "cart", "pole")
    return m


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
        axis = _Y if k % 2 else _X
        parent, offset = ("base", 0.0) if k == 1 else (f"link{k - 1}", -length)
        m.add_joint(f"joint{k}", Revolute(axis), parent, f"link{k}", parent_pose=at(0, 0, offset))
    return m
