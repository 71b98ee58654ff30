"""What things are made of in a file, as one table: each kind of value with how it is written and how it is read.

Poses are rotation matrices, as they are held: a quaternion would be made of one and turned into one, which rounds.
For the same reason an inertia is the ten numbers it is held as, about the origin. What equals its default to the last
bit is not written: an identity, no limit, no friction, no name of a shape.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any, NamedTuple, TypeVar

import numpy as np

from cardan._algebra.errors import CardanError, ParameterError, close_names, did_you_mean
from cardan._algebra.spatial import SE3, Force, Inertia, Matrix3, Motion, Symmetric3, Vector3
from cardan._reach.formats.json.text import WrongError, refuse, shown
from cardan._robot.joints import Limits

T = TypeVar("T")
BOUNDS = ("lower", "upper", "velocity", "effort", "velocity_lower", "effort_lower")
_WORDS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


class Kind(NamedTuple):
    """A kind of value: `write(value, whose it is)` returns plain data, `read(data, trusted)` the value."""

    write: Callable[[Any, str], Any]
    read: Callable[[Any, bool], Any]


def at(key: str | int, read: Callable[..., T], *arguments: Any) -> T:
    """Read the part at a key of a list or object; what is wrong with it gets the key into its path."""
    try:
        return read(*arguments)
    except WrongError as wrong:
        wrong.path.insert(0, key)
        raise


def each(read: Callable[[Any, bool], T], values: Sequence[Any], trusted: bool) -> list[T]:
    """Read each entry of a list, as `at` reads one: most of a file are numbers in lists."""
    made: list[T] = []
    try:
        for value in values:
            made.append(read(value, trusted))
    except WrongError as wrong:
        wrong.path.insert(0, len(made))
        raise
    return made


def members(value: Any, required: Sequence[str], optional: Sequence[str] = ()) -> dict[str, Any]:
    """Return an object that has the required keys and no others than these and the optional ones."""
    known = (*required, *optional)
    if type(value) is not dict:
        refuse(value, f"an object with the keys {', '.join(map(repr, known))}")
    for key in value:
        if key not in known:
            hint = did_you_mean(close_names(key, known)) or f"; the keys here are {', '.join(map(repr, known))}"
            raise WrongError(f"there is no key {shown(key)} here{hint}", key)
    for key in required:
        if key not in value:
            raise WrongError(f"the key {key!r} is missing")
    return value


def built(make: Callable[..., T], arguments: Mapping[str, Any]) -> T:
    """Return what a constructor makes of keyword arguments; whatever it raises is wrong with the file."""
    try:
        return make(**arguments)
    except Exception as error:  # a constructor may raise anything
        kind = "" if isinstance(error, CardanError) else f"{type(error).__name__}: "
        raise WrongError(f"{kind}{error}") from error


# --- texts and numbers --------------------------------------------------------------------------------------------


def _text_data(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise ParameterError(what, got=value, expected="a text")
    return str(value)


def _bound_data(value: Any, what: str) -> float | str:
    """Return a number; JSON has no infinite ones, which are texts."""
    if not isinstance(value, Real) or isinstance(value, (bool, np.bool_)):
        raise ParameterError(what, got=value, expected="a number")
    number = float(value)
    return number if math.isfinite(number) else repr(number)


def _number_data(value: Any, what: str) -> float:
    number = _bound_data(value, what)
    if isinstance(number, str):
        raise ParameterError(what, got=value, expected="a finite number")
    return number


def _number(value: Any, expected: str = "a finite number") -> float:
    if type(value) is float and math.isfinite(value):
        return value
    if type(value) is int:
        try:
            return float(value)
        except OverflowError:
            raise WrongError(f"{shown(value)} is too large for a number") from None
    return refuse(value, expected)


def _bound(value: Any) -> float:
    known = _WORDS.get(value) if type(value) is str else None
    return _number(value, 'a number, "inf" or "-inf"') if known is None else known


def one(kind: type, expected: str) -> Callable[[Any, bool], Any]:
    return lambda value, _: value if type(value) is kind else refuse(value, expected)


TEXT = Kind(_text_data, one(str, "a text in quotes"))
FLAG = one(bool, "true or false")
NUMBER = Kind(_number_data, lambda value, _: _number(value))
WHOLE = Kind(lambda value, _: int(value), one(int, "a whole number"))
BOUND = Kind(_bound_data, lambda value, _: _bound(value))


def listed(kind: Kind, count: int | None = None, of: str = "numbers", make: Callable[[Any], Any] = tuple) -> Kind:
    """Return the kind of a list of values of one kind, of which something is made."""
    expected = f"a list of {of}" if count is None else f"a list of {count} {of}"

    def read(value: Any, trusted: bool) -> Any:
        if type(value) is not list or count not in (None, len(value)):
            refuse(value, expected)
        return make(each(kind.read, value, trusted))

    return Kind(lambda values, what: [kind.write(e, what) for e in values], read)


NUMBERS, LIMIT = listed(NUMBER), listed(BOUND)
VECTOR = listed(NUMBER, 3, make=lambda e: Vector3(*e))
ROWS = listed(VECTOR, 3, "rows", Matrix3)
MATRIX = Kind(lambda m, what: ROWS.write(m.rows(), what), ROWS.read)


def _symmetric(value: Any, trusted: bool) -> Symmetric3:
    m = MATRIX.read(value, trusted)
    if m != m.T:
        raise WrongError("the matrix is not symmetric: entries across the diagonal must be the same number")
    return Symmetric3.of(m)


SYMMETRIC = Kind(lambda m, what: MATRIX.write(m.matrix(), what), _symmetric)


# --- records ------------------------------------------------------------------------------------------------------


class Field(NamedTuple):
    """A part of a record: its key, its kind, whether it may be left out, and what is written if not the attribute.

    An optional part is left out where it is None, an empty text, or a record of which nothing is written.
    """

    key: str
    kind: Any
    optional: bool = False
    get: Callable[[Any], Any] | None = None


class Record:
    """The kind of a thing with named parts; `make` is called with those a file has, as keywords."""

    def __init__(self, make: Callable[..., Any], *fields: Field) -> None:
        self.make, self.fields = make, fields

    def write(self, thing: Any, what: str) -> dict[str, Any]:
        """Return the parts that are not as they are by default."""
        data: dict[str, Any] = {}
        for key, kind, optional, get in self.fields:
            value = getattr(thing, key) if get is None else get(thing)
            if optional and value is None:
                continue
            written = kind.write(value, what if what.startswith(key) else f"{key} of {what}")
            if not optional or (written != "" and written != {}):
                data[key] = written
        return data

    def keywords(self, value: Any, trusted: bool) -> dict[str, Any]:
        required, optional = ([f.key for f in self.fields if f.optional is may_lack] for may_lack in (False, True))
        given = members(value, required, optional)
        return {f.key: at(f.key, f.kind.read, given[f.key], trusted) for f in self.fields if f.key in given}

    def read(self, value: Any, trusted: bool) -> Any:
        return built(self.make, self.keywords(value, trusted))


_UNTURNED, _UNMOVED = repr(tuple(Matrix3.identity())), repr(tuple(Vector3.zero()))


def _unless(values: Any, default: str) -> Any:
    """Return numbers, or None where they are the default to the last bit (-0.0 is not 0.0)."""
    return None if repr(tuple(values)) == default else values


POSE = Record(
    SE3,
    Field("rotation", MATRIX, True, lambda X: _unless(X.rotation, _UNTURNED)),
    Field("translation", VECTOR, True, lambda X: _unless(X.translation, _UNMOVED)),
)
INERTIA = Record(
    lambda mass, first_moment, inertia_at_origin: Inertia.from_origin(mass, first_moment, inertia_at_origin),
    Field("mass", NUMBER),
    Field("first_moment", VECTOR),
    Field("inertia_at_origin", SYMMETRIC),
)
LIMITS = Record(Limits, *(Field(key, LIMIT, True) for key in BOUNDS))

# --- values whose type a file has to name -------------------------------------------------------------------------

DTYPES = ("float64", "float32", "int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8", "bool")


def _array_data(value: Any, what: str) -> dict[str, Any]:
    array = np.asarray(value)
    if array.dtype.name not in DTYPES:
        raise ParameterError(what, got=array.dtype, expected=f"an array of {', '.join(DTYPES)}")
    entries = array.reshape(-1).tolist()
    values = LIMIT.write(entries, what) if array.dtype.kind == "f" else entries
    return {"dtype": array.dtype.name, "shape": list(array.shape), "values": values}


def _array(value: Any, trusted: bool) -> Any:
    given = members(value, ("dtype", "shape", "values"))
    dtype = at("dtype", TEXT.read, given["dtype"], trusted)
    if dtype not in DTYPES:
        raise WrongError(f"got {shown(dtype)}, expected one of {', '.join(DTYPES)}", "dtype")
    size = Kind(_number_data, lambda e, _: e if type(e) is int and e >= 0 else refuse(e, "a size, 0 or more"))
    shape = at("shape", listed(size).read, given["shape"], trusted)
    whole = one(bool, "true or false") if dtype == "bool" else one(int, "a whole number")
    entry = BOUND if dtype.startswith("float") else Kind(_number_data, whole)
    values = at("values", listed(entry, math.prod(shape)).read, given["values"], trusted)
    try:
        return np.array(values, dtype=dtype).reshape(shape)
    except (OverflowError, ValueError) as error:
        raise WrongError(str(error), "values") from None


_BOUNDS3 = listed(BOUND, 3, make=lambda e: Vector3(*e))
_PAIR = (Field("linear", _BOUNDS3), Field("angular", _BOUNDS3))
VALUES: dict[str, tuple[type[Any], Any]] = {
    "float": (float, BOUND),
    "Vector3": (Vector3, _BOUNDS3),
    "Matrix3": (Matrix3, MATRIX),
    "Symmetric3": (Symmetric3, SYMMETRIC),
    "SE3": (SE3, POSE),
    "Motion": (Motion, Record(Motion, *_PAIR)),
    "Force": (Force, Record(Force, *_PAIR)),
    "Inertia": (Inertia, INERTIA),
    "Limits": (Limits, LIMITS),
    "array": (np.ndarray, Kind(_array_data, _array)),
    "scalar": (np.generic, Kind(_array_data, lambda value, trusted: _array(value, trusted)[()])),
}
"""The types of values, beside joints and what is plain in JSON, by their names in a file."""
