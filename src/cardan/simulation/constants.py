"""Constants that each world has its own of: what is assigned keeps shapes, and is a value that a thing can have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.errors import ParameterError, UnknownNameError
from cardan.model.inputs import PASSIVE
from cardan.simulation.arrays import filled

if TYPE_CHECKING:
    from cardan.simulation.world import World

NOT_NEGATIVE = (0.0, np.inf, "a number >= 0")
RANGES: dict[str, tuple[float, float, str]] = {
    "mass": (0.0, np.inf, "a mass >= 0 [kg]"),
    "inertial_parameters": (0.0, np.inf, "a mass >= 0 [kg] as the first of ten parameters"),
    **{name: NOT_NEGATIVE for name in PASSIVE if name != "spring_rest"},
    "contact_friction": NOT_NEGATIVE,
    "contact_restitution": (0.0, 1.0, "a number in [0, 1]"),
    "contact_stiffness": (float(np.finfo(np.float32).tiny), np.inf, "a number > 0 [N/m]"),
    "contact_dissipation": NOT_NEGATIVE,
}
"""Smallest and largest values of constants, and how they are told: those of `Inertia`, `Connection`, `Material`."""


class Constants(dict[str, np.ndarray]):
    """Arrays by name, of shapes (worlds, ...), that keep their shapes: what is assigned is copied into them.

    Args:
        world: whose constants they are.
        arrays: by name.
    """

    def __init__(self, world: World, arrays: Mapping[str, np.ndarray]) -> None:
        self.world = world
        super().__init__(arrays)

    def __setitem__(self, name: str, value: Any) -> None:
        if name not in self:
            hint = "make it an input first: world.with_inputs(...)"
            raise UnknownNameError("constant", name, self, where="state.constants", hint=hint if not self else "")
        array = filled("state.constants", name, value, self[name])
        check_range("state.constants", self.world, name, array)
        self[name][...] = array

    def copied(self) -> Constants:
        """Return the same with arrays of its own."""
        return Constants(self.world, {name: array.copy() for name, array in self.items()})

    def __reduce__(self) -> Any:
        return Constants, (self.world, dict(self))


def check_range(where: str, world: World, name: str, array: np.ndarray) -> None:
    """Raise `ParameterError` for a mass, gain or property of a surface that nothing can have.

    Args:
        where: for the message.
        world: whose constant it is.
        name: of the constant.
        array: its values, (worlds, ...).
    """
    given = world.model.inputs.get(name)
    constant = name if given is None else given.constant
    if constant not in RANGES:
        return
    lower, upper, expected = RANGES[constant]
    wrong = (array < lower) | (array > upper)  # NaN is said elsewhere
    if constant == "inertial_parameters":
        wrong &= np.arange(array.shape[-1]) % 10 == 0
    if wrong.any():
        index = np.argwhere(wrong)[0].tolist()
        raise ParameterError(f"{where}: {name}{index}", got=float(array[tuple(index)]), expected=expected)
