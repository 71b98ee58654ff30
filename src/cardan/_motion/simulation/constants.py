"""Constants that each world has its own of: what is assigned keeps shapes, and is a value that a thing can have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan._algebra.errors import ParameterError, UnknownNameError
from cardan._motion.simulation.arrays import filled
from cardan._robot.joints import Mimic
from cardan._robot.model.inputs import LIMITS, PASSIVE, without_limit

if TYPE_CHECKING:
    from cardan._motion.simulation.world import World

NOT_NEGATIVE = (0.0, np.inf, "a number >= 0")
MOST = float(np.finfo(np.float32).max)
RANGES: dict[str, tuple[float, float, str]] = {
    "mass": (0.0, np.inf, "a mass >= 0 [kg]"),
    "inertial_parameters": (0.0, np.inf, "a mass >= 0 [kg] as the first of ten parameters"),
    **{name: NOT_NEGATIVE for name in PASSIVE if name != "spring_rest"},
    **dict.fromkeys(("lower", "effort_lower"), (-np.inf, MOST, "a number, or -inf for no limit")),
    **dict.fromkeys(("upper", "effort_upper"), (-MOST, np.inf, "a number, or inf for no limit")),
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
        array = self.checked(name, value)
        check_limits("state.constants", self.world, {**self, name: array})
        self[name][...] = array

    def update_all(self, values: Mapping[str, Any]) -> None:
        """Assign several at once: a limit may be above the old one of the other end."""
        arrays = {name: self.checked(name, value) for name, value in values.items()}
        check_limits("state.constants", self.world, {**self, **arrays})
        for name, array in arrays.items():
            self[name][...] = array

    def checked(self, name: str, value: Any) -> np.ndarray:
        """Return a value as it can be assigned."""
        if name not in self:
            hint = "make it an input first: world.with_inputs(...)"
            raise UnknownNameError("constant", name, self, where="state.constants", hint=hint if not self else "")
        array = filled("state.constants", name, value, self[name], infinite=is_limit(self.world, name))
        check_range("state.constants", self.world, name, array)
        return array

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
    constant = _constant(world, name)
    if constant in LIMITS:
        _check_open_ends(where, world, name, array)
    if constant not in RANGES:
        return
    lower, upper, expected = RANGES[constant]
    wrong = (array < lower) | (array > upper)  # NaN is said elsewhere
    if constant == "inertial_parameters":
        wrong &= np.arange(array.shape[-1]) % 10 == 0
    if wrong.any():
        index = np.argwhere(wrong)[0].tolist()
        raise ParameterError(f"{where}: {name}{index}", got=float(array[tuple(index)]), expected=expected)


def is_limit(world: World, name: str) -> bool:
    """Return whether a constant is a limit, which may be infinite.

    Args:
        world: whose constant it is.
        name: of the constant.
    """
    return _constant(world, name) in LIMITS


def check_limits(where: str, world: World, arrays: Mapping[str, np.ndarray]) -> None:
    """Raise `ParameterError` where a smallest position or effort is above the largest one.

    Args:
        where: for the message.
        world: whose constants they are.
        arrays: all that are given for each world, by name, (worlds, ...).
    """
    ends = _ends(world, arrays)
    for low, high in (("lower", "upper"), ("effort_lower", "effort_upper")):
        if low in ends or high in ends:
            both = [ends[end] if end in ends else getattr(world.model, end) for end in (low, high)]
            least, most = np.broadcast_arrays(*both)
            wrong = np.argwhere(least > most)
            if len(wrong):
                at = tuple(wrong[0].tolist())
                got = [float(least[at]), float(most[at])]
                hint = "Where both move, begin with the end that leads, or give both to World.state."
                expected = f"{low} <= {high}"
                raise ParameterError(f"{where}: {low}, {high}{list(at)}", got=got, expected=expected, hint=hint)


def _ends(world: World, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the limits that are given for each world, (worlds, nv), by what `Model` calls them."""
    found: dict[str, np.ndarray] = {}
    for name, given in world.model.inputs.items():
        if given.constant in LIMITS and name in arrays:
            array = arrays[name]
            if given.owner is not None:
                nominal: np.ndarray = getattr(world.model, given.constant)
                full = np.array(np.broadcast_to(found.get(given.constant, nominal), (len(array), world.model.nv)))
                full[:, world.model.v_slice(given.owner)] = array
                array = full
            found[given.constant] = array
    return found


def _check_open_ends(where: str, world: World, name: str, array: np.ndarray) -> None:
    """Raise `ParameterError` for a limit of what has none: a position that is no coordinate."""
    model, given = world.model, world.model.inputs[name]
    moving = [c for c in model.connections if c.joint.nv and not isinstance(c.joint, Mimic)]
    owners = [c for c in moving if given.owner in (None, c.name)]
    for c in owners:
        first = model.v_slice(c.name).start if given.owner is None else 0
        for k in without_limit(c, given.constant):
            if not np.isinf(array[..., first + k]).all():
                got = "a finite one, of a velocity whose position is no coordinate of its own"
                hint = "give the joint limits where it is described, if it shall have any"
                expected = "infinite"
                raise ParameterError(f"{where}: {name} of joint {c.name!r}", got=got, expected=expected, hint=hint)


def _constant(world: World, name: str) -> str:
    given = world.model.inputs.get(name)
    return name if given is None else given.constant
