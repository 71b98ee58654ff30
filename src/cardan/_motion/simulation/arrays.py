"""Arrays of many worlds: what is assigned is checked and copied; constants are values that a thing can have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cardan._algebra.errors import ParameterError, ShapeError, UnknownNameError
from cardan._dynamics.call.arguments import check_finite, numeric_array
from cardan._robot.model import Model
from cardan._robot.model.inputs import LIMITS, without_limit
from cardan._robot.model.layout import PASSIVE

DTYPES = ("float64", "float32")
NOT_NEGATIVE = (0.0, np.inf, "a number >= 0")
LARGEST = float(np.finfo(np.float32).max)
"""Of a limit that is no infinity: states may be of single precision, in which larger ones would become infinite."""
RANGES: dict[str, tuple[float, float, str]] = {
    "mass": (0.0, np.inf, "a mass >= 0 [kg]"),
    "inertial_parameters": (0.0, np.inf, "a mass >= 0 [kg] as the first of ten parameters"),
    **{name: NOT_NEGATIVE for name in PASSIVE if name != "spring_rest"},
    **dict.fromkeys(("lower", "effort_lower"), (-np.inf, LARGEST, "a number, or -inf for no limit")),
    **dict.fromkeys(("upper", "effort_upper"), (-LARGEST, np.inf, "a number, or inf for no limit")),
    "contact_friction": NOT_NEGATIVE,
    "contact_restitution": (0.0, 1.0, "a number in [0, 1]"),
    "contact_stiffness": (float(np.finfo(np.float32).tiny), np.inf, "a number > 0 [N/m]"),
    "contact_dissipation": NOT_NEGATIVE,
}
"""Smallest and largest values of constants, and how they are told: those of `Inertia`, `Connection`, `Material`."""


def checked_dtype(dtype: Any) -> np.dtype:
    try:
        kind = np.dtype(dtype)
    except TypeError:
        kind = np.dtype(object)
    if kind.name not in DTYPES:
        raise ParameterError("dtype", got=dtype, expected="'float64' or 'float32'")
    return kind


def fitting(where: str, name: str, value: Any, like: np.ndarray, infinite: bool = False) -> np.ndarray:
    """Return a value as an array of the type of another, and of its shape (worlds, ...) or that of one world.

    Raise, with `where` and `name`, for another core shape, what is no real number, NaN, and infinity unless `infinite`.
    """
    is_ready = type(value) is np.ndarray and value.dtype is like.dtype  # then no call is needed
    # cast before the check: what is too large becomes infinite
    array = value if is_ready else numeric_array(where, name, value).astype(like.dtype, copy=False)
    own, shape = array.shape, like.shape
    if own != shape and own != shape[1:] and not (array.ndim == 0 and like.ndim == 1):
        expected = f"{shape[1:]} or {shape}" if like.ndim > 1 else f"() or {shape}"
        raise ShapeError(where, name, got=own, expected=expected, hint="The first axis counts the worlds.")
    # An infinite limit says that there is no limit; NaN is wrong everywhere.
    check_finite(where, name, np.where(np.isinf(array), 0.0, array) if infinite else array)
    return array


def filled(where: str, name: str, value: Any, like: np.ndarray, *, infinite: bool = False) -> np.ndarray:
    """Return what is `fitting`, broadcast over the worlds."""
    array = fitting(where, name, value, like, infinite)
    # of one world, a tenth of the time of broadcasting
    return array.reshape(like.shape) if array.size == like.size else np.broadcast_to(array, like.shape)


def chosen_rows(worlds: Any, count: int) -> np.ndarray:
    """Return the indices of the worlds chosen by indices, each once, or a mask; of all for None."""
    try:
        rows = np.arange(count) if worlds is None else np.atleast_1d(np.arange(count)[worlds])
        if np.bincount(rows, minlength=1).max() > 1:  # as in a mask of whole numbers
            raise IndexError
    except (IndexError, TypeError, ValueError):
        raise ParameterError("worlds", got=worlds, expected=f"a mask of {count} bools, or indices, each once") from None
    return rows


class Constants(dict[str, np.ndarray]):
    """Values of a model's inputs by name, (worlds, ...): what is assigned is copied into them, so that shapes stay."""

    def __init__(self, model: Model, arrays: Mapping[str, np.ndarray]) -> None:
        self.model = model
        super().__init__(arrays)

    def __setitem__(self, name: str, value: Any) -> None:
        self.update_all({name: value})

    def update_all(self, values: Mapping[str, Any]) -> None:
        """Assign several at once: a limit may be above the old one of the other end."""
        arrays = {name: self.checked(name, value) for name, value in values.items()}
        check_limits(self.model, {**self, **arrays})
        for name, array in arrays.items():
            self[name][...] = array

    def checked(self, name: str, value: Any) -> np.ndarray:
        if name not in self:
            hint = "make it an input first: world.with_inputs(...); the number of worlds is worlds="
            raise UnknownNameError("constant", name, self, where="state.constants", hint=hint if not self else "")
        array = filled("state.constants", name, value, self[name], infinite=is_limit(self.model, name))
        check_range("state.constants", self.model, name, array)
        return array

    def copy(self) -> Constants:
        return Constants(self.model, {name: array.copy() for name, array in self.items()})

    def __reduce__(self) -> Any:
        return Constants, (self.model, dict(self))


def check_range(where: str, model: Model, name: str, array: np.ndarray) -> None:
    """Raise `ParameterError` for a mass, gain or property of a surface that nothing can have: values (worlds, ...)."""
    constant = _constant(model, name)
    if constant in LIMITS:
        _check_open_ends(where, model, name, array)
    if constant not in RANGES:
        return
    lower, upper, expected = RANGES[constant]
    wrong = (array < lower) | (array > upper)  # NaN is said elsewhere
    if constant == "inertial_parameters":
        wrong &= np.arange(array.shape[-1]) % 10 == 0  # the other nine of each body may be negative
    if wrong.any():
        index = np.argwhere(wrong)[0].tolist()
        raise ParameterError(f"{where}: {name}{index}", got=float(array[tuple(index)]), expected=expected)


def is_limit(model: Model, name: str) -> bool:
    """Return whether a constant is a limit, which may be infinite."""
    return _constant(model, name) in LIMITS


def check_limits(model: Model, arrays: Mapping[str, np.ndarray]) -> None:
    """Raise `ParameterError` where a smallest position or effort is above the largest one: arrays (worlds, ...)."""
    ends = given_limits(model, arrays)
    for low, high in (("lower", "upper"), ("effort_lower", "effort_upper")):
        if low in ends or high in ends:
            both = [ends[end] if end in ends else getattr(model, end) for end in (low, high)]
            least, most = np.broadcast_arrays(*both)
            wrong = np.argwhere(least > most)
            if len(wrong):
                at = tuple(wrong[0].tolist())
                got = [float(least[at]), float(most[at])]
                hint = "Where both move, begin with the end that leads, or give both to World.state."
                expected = f"{low} <= {high}"
                raise ParameterError(f"state.constants: {low}, {high}{list(at)}", got=got, expected=expected, hint=hint)


def given_limits(model: Model, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the limits that are given for each world, (worlds, nv), by what `Model` calls them."""
    found: dict[str, np.ndarray] = {}
    for name, given in model.inputs.items():
        if given.constant in LIMITS and name in arrays:
            array = arrays[name]
            if given.owner is not None:
                nominal: np.ndarray = getattr(model, given.constant)
                full = np.array(np.broadcast_to(found.get(given.constant, nominal), (len(array), model.nv)))
                full[:, model.slices[given.owner][1]] = array
                array = full
            found[given.constant] = array
    return found


def _check_open_ends(where: str, model: Model, name: str, array: np.ndarray) -> None:
    """Raise `ParameterError` for a limit of what has none: a position that is no coordinate."""
    given = model.inputs[name]
    moving = [c for c in model.connections if c.joint.nv and not c.joint.primaries]
    for c in (c for c in moving if given.owner in (None, c.name)):
        first = model.slices[c.name][1].start if given.owner is None else 0
        for k in without_limit(c, given.constant):
            if not np.isinf(array[..., first + k]).all():
                got = "a finite one, of a velocity whose position is no coordinate of its own"
                hint = "give the joint limits where it is described, if it shall have any"
                raise ParameterError(f"{where}: {name} of joint {c.name!r}", got=got, expected="infinite", hint=hint)


def _constant(model: Model, name: str) -> str:
    given = model.inputs.get(name)
    return name if given is None else given.constant
