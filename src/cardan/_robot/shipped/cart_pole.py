"""The cart-pole: a pole balanced on a cart."""

from __future__ import annotations

from cardan._robot.description import Mechanism
from cardan._robot.joints import Limits, Prismatic, Revolute
from cardan._robot.shipped.solids import add_box, add_rod, all_positive


def cart_pole(
    cart_mass: float = 1.0, pole_mass: float = 0.1, pole_length: float = 1.0, track: float = 2.4
) -> Mechanism:
    """Return a cart on a rail along x with a pole turning about y; at q = 0 the pole stands upright.

    Args:
        cart_mass: [kg].
        pole_mass: of the homogeneous rod [kg].
        pole_length: [m].
        track: the cart moves within +-track [m].

    Raises:
        ParameterError: unless all are positive.

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
    m.add_joint("slide", Prismatic((1.0, 0.0, 0.0)), "base", "cart", limits=rail)
    m.add_joint("hinge", Revolute((0.0, 1.0, 0.0)), "cart", "pole")
    return m
