"""What is computed: each quantity with cardan's function for it and the robots it is asked of."""

from __future__ import annotations

from inspect import signature
from typing import Any, NamedTuple

import cardan
from benchmarks.robots import Robot
from cardan._dynamics.call.function import Function


class Quantity(NamedTuple):
    """A quantity.

    Attributes:
        name: the key under which peers offer it.
        function: cardan's name of it.
        largest: degrees of freedom up to which it is asked for; results and programs grow with their square.
        packed: whether cardan leaves out entries that are always 0 or known by symmetry; peers have all.
    """

    name: str
    function: str
    largest: int = 1000
    packed: bool = False

    @property
    def label(self) -> str:
        """In tables."""
        return f"{self.name}, packed" if self.packed else self.name

    def options(self, robot: Robot) -> dict[str, Any]:
        """Return the options of cardan's function."""
        return ({"frame": robot.frame} if self.name == JACOBIAN else {}) | ({"packed": True} if self.packed else {})

    def ours(self) -> Function | None:
        """Return cardan's function; None if this revision has none, or none that packs."""
        function = getattr(cardan, self.function, None)
        lacks = self.packed and function is not None and "packed" not in signature(function).parameters
        return None if lacks else function


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
    Quantity(MASS, "mass_matrix", 100, packed=True),
    Quantity(MASS_INVERSE, "mass_matrix_inverse", 50),
    Quantity(POSES, "forward_kinematics"),
    Quantity(JACOBIAN, "jacobian"),
    Quantity(INVERSE_DERIVATIVES, "inverse_dynamics_derivatives", 50),
    Quantity(INVERSE_DERIVATIVES, "inverse_dynamics_derivatives", 50, packed=True),
    Quantity(FORWARD_DERIVATIVES, "forward_dynamics_derivatives", 50),
)
