"""What is computed: each quantity with cardan's function for it and the robots it is asked of."""

from __future__ import annotations

from typing import NamedTuple

import cardan
from benchmarks.robots import Robot
from cardan.functions import Function


class Quantity(NamedTuple):
    """A quantity.

    Attributes:
        name: in tables, and the key under which peers offer it.
        function: cardan's name of it.
        largest: degrees of freedom up to which it is asked for; results and programs grow with their square.
    """

    name: str
    function: str
    largest: int = 1000

    def options(self, robot: Robot) -> dict[str, str]:
        """Return the options of cardan's function."""
        return {"frame": robot.frame} if self.name == JACOBIAN else {}

    def ours(self) -> Function | None:
        """Return cardan's function; None if this revision has none."""
        return getattr(cardan, self.function, None)


INVERSE = "inverse dynamics"
FORWARD = "forward dynamics"
MASS = "mass matrix"
MASS_INVERSE = "inverse mass matrix"
POSES = "kinematics, all bodies"
JACOBIAN = "frame Jacobian"
INVERSE_DERIVATIVES = "inverse dynamics derivatives"
FORWARD_DERIVATIVES = "forward dynamics derivatives"
DERIVATIVES = (INVERSE_DERIVATIVES, FORWARD_DERIVATIVES)

QUANTITIES = (
    Quantity(INVERSE, "inverse_dynamics"),
    Quantity(FORWARD, "forward_dynamics"),
    Quantity(MASS, "mass_matrix", 100),
    Quantity(MASS_INVERSE, "mass_matrix_inverse", 50),
    Quantity(POSES, "forward_kinematics"),
    Quantity(JACOBIAN, "jacobian"),
    Quantity(INVERSE_DERIVATIVES, "inverse_dynamics_derivatives", 50),
    Quantity(FORWARD_DERIVATIVES, "forward_dynamics_derivatives", 50),
)
