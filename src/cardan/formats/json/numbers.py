"""Numbers, vectors, poses, inertias, limits as plain data (`..._data`) and back, where the place says the type.

Poses are rotation matrices, as they are held: a quaternion would be made of one and turned into one, which rounds.
For the same reason an inertia is the ten numbers it is held as, about the origin.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any, TypeVar

import numpy as np

from cardan.errors import CardanError, ParameterError
from cardan.formats.json.text import WrongError, refuse, shown
from cardan.formats.report import nearest
from cardan.joints import Limits
from cardan.spatial import SE3, Inertia, Matrix3, Symmetric3, Vector3

T = TypeVar("T")
BOUNDS = ("lower", "upper", "velocity", "effort", "velocity_lower", "effort_lower")
_WORDS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}

_UNTURNED, _UNMOVED = repr([list(row) for row in Matrix3.identity()]), repr(tuple(Vector3.zero()))

# --- writing ------------------------------------------------------------------------------------------------------


def text_data(value: Any, what: str) -> str:
    """Return a text as it is written."""
    if not isinstance(value, str):
        raise ParameterError(what, got=value, expected="a text")
    return str(value)


def number_data(value: Any, what: str) -> float:
    """Return a finite number as it is written."""
    number = bound_data(value, what)
    if isinstance(number, str):
        raise ParameterError(what, got=value, expected="a finite number")
    return number


def bound_data(value: Any, what: str) -> float | str:
    """Return a number as it is written; JSON has no infinite ones, which are texts."""
    if not isinstance(value, Real) or isinstance(value, (bool, np.bool_)):
        raise ParameterError(what, got=value, expected="a number")
    number = float(value)
    return number if math.isfinite(number) else repr(number)


def numbers_data(values: Any, what: str) -> list[float]:
    """Return finite numbers as they are written."""
    return [number_data(e, what) for e in values]


def bounds_data(values: Any, what: str) -> list[float | str]:
    """Return numbers, infinite ones among them, as they are written."""
    return [bound_data(e, what) for e in values]


def rows_data(matrix: Any, what: str) -> list[list[float]]:
    """Return a matrix of finite numbers by rows."""
    return [numbers_data(row, what) for row in matrix.rows()]


def pose_data(pose: SE3, what: str) -> dict[str, Any]:
    """Return a pose as it is written: rotation and translation, each left out where it is none."""
    rows, translation = rows_data(pose.rotation, what), numbers_data(pose.translation, what)
    data: dict[str, Any] = {}
    if repr(rows) != _UNTURNED:
        data["rotation"] = rows
    if repr(tuple(translation)) != _UNMOVED:
        data["translation"] = translation
    return data


def inertia_data(inertia: Inertia, what: str) -> dict[str, Any]:
    """Return an inertia as it is written: the ten numbers it is held as."""
    return {
        "mass": number_data(inertia.mass, what),
        "first_moment": numbers_data(inertia.first_moment, what),
        "inertia_at_origin": rows_data(inertia.inertia_at_origin.matrix(), what),
    }


def limits_data(limits: Limits, what: str) -> dict[str, Any]:
    """Return limits as they are written; bounds that are None are left out."""
    return {k: bounds_data(getattr(limits, k), what) for k in BOUNDS if getattr(limits, k) is not None}


# --- reading ------------------------------------------------------------------------------------------------------


def at(key: str | int, read: Callable[..., T], *arguments: Any, **options: Any) -> T:
    """Read the part at a key of a list or object; what is wrong with it gets the key into its path."""
    try:
        return read(*arguments, **options)
    except WrongError as wrong:
        wrong.path.insert(0, key)
        raise


def members(value: Any, required: Sequence[str], optional: Sequence[str] = ()) -> dict[str, Any]:
    """Return an object that has the required keys and no others than these and the optional ones."""
    if type(value) is not dict:
        refuse(value, f"an object with the keys {', '.join(map(repr, (*required, *optional)))}")
    for key in value:
        if key not in required and key not in optional:
            known = (*required, *optional)
            hint = nearest(key, known) or f"; the keys here are {', '.join(map(repr, known))}"
            raise WrongError(f"there is no key {shown(key)} here{hint}", key)
    for key in required:
        if key not in value:
            raise WrongError(f"the key {key!r} is missing")
    return value


def items(value: Any, expected: str = "a list") -> list[Any]:
    """Return a list."""
    return value if type(value) is list else refuse(value, expected)


def text(value: Any) -> str:
    """Return a text."""
    return value if type(value) is str else refuse(value, "a text in quotes")


def number(value: Any, expected: str = "a finite number") -> float:
    """Return a finite number."""
    if type(value) is float and math.isfinite(value):
        return value
    if type(value) is int:
        try:
            return float(value)
        except OverflowError:
            raise WrongError(f"{shown(value)} is too large for a number") from None
    return refuse(value, expected)


def bound(value: Any) -> float:
    """Return a number that may be infinite."""
    if type(value) is str and value in _WORDS:
        return _WORDS[value]
    return number(value, 'a number, "inf" or "-inf"')


def listed(value: Any, read: Callable[[Any], T], count: int | None = None, of: str = "numbers") -> tuple[T, ...]:
    """Return a list of so many numbers."""
    expected = f"a list of {of}" if count is None else f"a list of {count} {of}"
    entries = items(value, expected)
    if count is not None and len(entries) != count:
        refuse(value, expected)
    return tuple(at(k, read, e) for k, e in enumerate(entries))


def numbers(value: Any, count: int | None = None) -> tuple[float, ...]:
    """Return a list of finite numbers."""
    return listed(value, number, count)


def bounds(value: Any) -> tuple[float, ...]:
    """Return a list of numbers that may be infinite."""
    return listed(value, bound)


def vector(value: Any) -> Vector3:
    """Return three finite numbers as a vector."""
    return Vector3(*numbers(value, 3))


def matrix(value: Any) -> Matrix3:
    """Return three rows of three finite numbers as a matrix."""
    return Matrix3(listed(value, vector, 3, "rows"))


def symmetric(value: Any) -> Symmetric3:
    """Return three rows of a symmetric matrix."""
    m = matrix(value)
    if m != m.T:
        raise WrongError("the matrix is not symmetric: entries across the diagonal must be the same number")
    return Symmetric3.of(m)


def pose(value: Any) -> SE3:
    """Return a pose."""
    given = members(value, (), ("rotation", "translation"))
    R = at("rotation", matrix, given["rotation"]) if "rotation" in given else None
    p = at("translation", vector, given["translation"]) if "translation" in given else None
    return SE3(R, p)


def inertia(value: Any) -> Inertia:
    """Return an inertia."""
    given = members(value, ("mass", "first_moment", "inertia_at_origin"))
    return Inertia.from_origin(
        at("mass", number, given["mass"]),
        at("first_moment", vector, given["first_moment"]),
        at("inertia_at_origin", symmetric, given["inertia_at_origin"]),
    )


def limits(value: Any) -> Limits:
    """Return limits."""
    given = members(value, (), BOUNDS)
    return built(Limits, {key: at(key, bounds, e) for key, e in given.items()})


def built(kind: Callable[..., T], arguments: Mapping[str, Any]) -> T:
    """Return what a constructor makes of keyword arguments; whatever it raises is wrong with the file."""
    try:
        return kind(**arguments)
    except Exception as error:  # a constructor may raise anything
        reason = str(error) if isinstance(error, CardanError) else f"{type(error).__name__}: {error}"
        raise WrongError(reason) from error
