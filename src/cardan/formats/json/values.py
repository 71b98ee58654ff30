"""Joints and their parameters as plain data and back: values of any type a joint may be made of.

A value whose type does not show is an object with one key, the name of its type: `{"Revolute": {"axis": [0, 0, 1]}}`.
Lists stand for tuples.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from cardan.errors import ParameterError
from cardan.formats.json.numbers import (
    at,
    bound,
    bound_data,
    bounds_data,
    built,
    inertia,
    inertia_data,
    items,
    limits,
    limits_data,
    listed,
    matrix,
    members,
    number,
    numbers_data,
    pose,
    pose_data,
    rows_data,
    symmetric,
    text,
    text_data,
)
from cardan.formats.json.text import MAX_DEPTH, WrongError, json_text, refuse, shown
from cardan.formats.json.types import BASES, class_named, is_shipped, name_of
from cardan.joints import Joint, Limits
from cardan.spatial import SE3, Force, Inertia, Matrix3, Motion, Symmetric3, Vector3

DTYPES = ("float64", "float32", "int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8", "bool")
# --- writing ------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class Writer:
    """Writes values whose types a file has to name.

    Args:
        checking: whether instances of classes that are not cardan's are built again, to see that nothing gets lost.
    """

    checking: bool = True

    def value(self, value: Any, what: str, depth: int = 0, *, plain: bool = False) -> Any:
        """Return a parameter as it is written.

        Args:
            value: a number, text, None, array, vector, pose, ..., joint, or tuples, lists and dicts of such.
            what: whose it is, for the error.
            depth: how deep it is nested.
            plain: whether vectors are written as lists, because the constructor makes vectors of them.

        Raises:
            ParameterError: for a value of another type.
        """
        if depth > MAX_DEPTH:
            raise ParameterError(what, got=type(value), expected=f"at most {MAX_DEPTH} levels of nesting")
        if value is None or type(value) in (bool, int):
            return value
        if type(value) in (str, np.str_):
            return str(value)
        if type(value) in (float, np.float64):
            number = bound_data(value, what)
            return {"float": number} if isinstance(number, str) else number
        if type(value) is tuple:
            return [self.value(e, what, depth + 1, plain=plain) for e in value]
        if plain and type(value) is Vector3:
            return numbers_data(value, what)
        if isinstance(value, BASES):
            return self.object(value, what, depth)
        form = next((f for f in FORMS.values() if isinstance(value, f.kind)), None)
        if form is None or (type(value) is not form.kind and form.kind is not np.generic):
            expected = (
                "numbers, texts, None, tuples, lists, dicts with texts as keys, NumPy arrays, vectors, poses, motions, "
                "forces, inertias, limits, joints, coordinate functions or manifolds"
            )
            raise ParameterError(f"{what}, of type {type(value).__name__}", got=value, expected=expected)
        return {form.name: form.data(self, value, what, depth)}

    def object(self, value: Any, what: str, depth: int = 0) -> dict[str, Any]:
        """Return a joint, coordinate function or manifold as it is written: its class with its parameters.

        Raises:
            ParameterError: if its class cannot be found by name, or it cannot be built again from its parameters.
        """
        kind = type(value)
        name, shipped = name_of(kind, what), is_shipped(kind)
        data: dict[str, Any] = {}
        for key, e in parameters(value).items():
            data[text_data(key, what)] = self.value(e, _named(key, kind, what), depth + 1, plain=shipped)
        if self.checking and not shipped:
            _check_rebuilt(value, data, what)
        return {name: data}


def _named(key: Any, kind: type[Any], what: str) -> str:
    return f"{what}: parameter {key!r} of {kind.__name__}"


def parameters(value: Any) -> dict[str, Any]:
    """Return what the constructor takes: the fields of a dataclass, or else the instance's attributes."""
    if dataclasses.is_dataclass(value):
        return {f.name: getattr(value, f.name) for f in dataclasses.fields(value) if f.init}
    return dict(getattr(value, "__dict__", {}))


def _check_rebuilt(value: Any, data: dict[str, Any], what: str) -> None:
    """Raise unless building a value from its parameters gives the same to the last bit."""
    kind = type(value)
    try:
        again = kind(**parameters(value))
    except Exception as error:  # its constructor may raise anything
        expected = "a class that is built from its parameters, as a frozen dataclass is"
        hint = f"Its constructor raises {type(error).__name__}: {error}"
        raise ParameterError(what, got=kind, expected=expected, hint=hint) from error
    for key, e in parameters(again).items():
        written = Writer(checking=False).value(e, _named(key, kind, what))
        if key not in data or json_text(written) != json_text(data[key]):
            expected = f"the same when {kind.__name__} is built from its own parameters"
            raise ParameterError(_named(key, kind, what), got=e, expected=expected, hint="Its constructor changes it.")
    for key, mine in getattr(value, "__dict__", {}).items():
        computed = isinstance(inspect.getattr_static(kind, key, None), cached_property)
        if not (key in data or computed or _same(mine, getattr(again, "__dict__", {}).get(key))):
            expected = "state that follows from the parameters: it is none of them and would be lost"
            raise ParameterError(f"{what}: attribute {key!r} of {kind.__name__}", got=mine, expected=expected)


def _same(a: Any, b: Any) -> bool:
    if type(a) is not type(b) or type(a).__eq__ is object.__eq__:
        return type(a) is type(b)
    try:
        return bool(np.array_equal(a, b))
    except Exception:  # what compares as it likes cannot be compared
        return False


# --- reading ------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class Reader:
    """Reads values whose types the file names.

    Args:
        trusted: whether classes that are not registered may be imported.
    """

    trusted: bool = False

    def joint(self, value: Any) -> Joint:
        """Return a joint."""
        if type(value) is not dict:
            refuse(value, 'a joint, such as {"Revolute": {"axis": [0, 0, 1]}}')
        read = self.value(value)
        if not isinstance(read, Joint):
            raise WrongError(f"got a {type(read).__name__}, expected a joint")
        return read

    def value(self, value: Any, depth: int = 0) -> Any:
        """Return a parameter."""
        if depth > MAX_DEPTH:
            raise WrongError(f"values are nested more than {MAX_DEPTH} deep")
        if value is None or type(value) in (bool, str):
            return value
        if type(value) is int:
            return value
        if type(value) is float:
            return number(value)
        if type(value) is list:
            return tuple(at(k, self.value, e, depth + 1) for k, e in enumerate(value))
        if type(value) is not dict or len(value) != 1:
            refuse(value, "a value, or an object with one key, the name of its type")
        ((name, body),) = value.items()
        if name in FORMS:
            return at(name, FORMS[name].read, body, self, depth)
        return at(name, self.made, class_named(name, trusted=self.trusted), body, depth)

    def made(self, kind: type[Any], body: Any, depth: int) -> Any:
        """Return the instance of a class with the parameters an object holds."""
        if type(body) is not dict:
            refuse(body, f"an object with the parameters of {kind.__name__}")
        given = {key: at(key, self.value, e, depth + 1) for key, e in body.items()}
        if dataclasses.is_dataclass(kind):
            fields = [f for f in dataclasses.fields(kind) if f.init]
            nothing = dataclasses.MISSING
            needed = [f.name for f in fields if f.default is nothing and f.default_factory is nothing]
            members(body, needed, [f.name for f in fields if f.name not in needed])
        return built(kind, given)


class Form(NamedTuple):
    """A type of value beside joints and what is plain in JSON: its name, how it is written and read."""

    name: str
    kind: type[Any]
    data: Callable[[Writer, Any, str, int], Any]
    read: Callable[[Any, Reader, int], Any]


def _array_data(_: Writer, value: Any, what: str, __: int) -> dict[str, Any]:
    array = np.asarray(value)
    if array.dtype.name not in DTYPES:
        raise ParameterError(what, got=array.dtype, expected=f"an array of {', '.join(DTYPES)}")
    entries = array.reshape(-1).tolist()
    values = bounds_data(entries, what) if array.dtype.kind == "f" else entries
    return {"dtype": array.dtype.name, "shape": list(array.shape), "values": values}


def _array(value: Any, _: Reader, __: int) -> Any:
    given = members(value, ("dtype", "shape", "values"))
    dtype = at("dtype", text, given["dtype"])
    if dtype not in DTYPES:
        raise WrongError(f"got {shown(dtype)}, expected one of {', '.join(DTYPES)}", "dtype")
    shape = at("shape", listed, given["shape"], _size)
    entry = bound if dtype.startswith("float") else _flag if dtype == "bool" else _whole
    values = at("values", listed, given["values"], entry, math.prod(shape))
    try:
        return np.array(values, dtype=dtype).reshape(shape)
    except (OverflowError, ValueError) as error:
        raise WrongError(str(error), "values") from None


def _scalar(value: Any, reader: Reader, depth: int) -> Any:
    return _array(value, reader, depth)[()]


def _whole(value: Any) -> int:
    return value if type(value) is int else refuse(value, "a whole number")


def _size(value: Any) -> int:
    return value if type(value) is int and value >= 0 else refuse(value, "a size, 0 or more")


def _flag(value: Any) -> bool:
    return value if type(value) is bool else refuse(value, "true or false")


def _list_data(writer: Writer, value: list[Any], what: str, depth: int) -> list[Any]:
    return [writer.value(e, what, depth + 1) for e in value]


def _list(value: Any, reader: Reader, depth: int) -> list[Any]:
    return [at(k, reader.value, e, depth + 1) for k, e in enumerate(items(value))]


def _dict_data(writer: Writer, value: dict[Any, Any], what: str, depth: int) -> dict[str, Any]:
    return {text_data(k, f"{what}: key"): writer.value(e, what, depth + 1) for k, e in value.items()}


def _dict(value: Any, reader: Reader, depth: int) -> dict[str, Any]:
    if type(value) is not dict:
        refuse(value, "an object")
    return {k: at(k, reader.value, e, depth + 1) for k, e in value.items()}


def _pair_data(_: Writer, value: Any, what: str, __: int) -> dict[str, Any]:
    return {"linear": bounds_data(value[0], what), "angular": bounds_data(value[1], what)}


def _pair(kind: Callable[[Any, Any], Any]) -> Callable[[Any, Reader, int], Any]:
    def read(value: Any, _: Reader, __: int) -> Any:
        given = members(value, ("linear", "angular"))
        return kind(*(Vector3(*at(k, listed, given[k], bound, 3)) for k in ("linear", "angular")))

    return read


FORMS: dict[str, Form] = {
    form.name: form
    for form in (
        Form("float", float, lambda _, v, w, __: bound_data(v, w), lambda v, *_: bound(v)),
        Form("Vector3", Vector3, lambda _, v, w, __: bounds_data(v, w), lambda v, *_: Vector3(*listed(v, bound, 3))),
        Form("Matrix3", Matrix3, lambda _, v, w, __: rows_data(v, w), lambda v, *_: matrix(v)),
        Form("Symmetric3", Symmetric3, lambda _, v, w, __: rows_data(v.matrix(), w), lambda v, *_: symmetric(v)),
        Form("SE3", SE3, lambda _, v, w, __: pose_data(v, w), lambda v, *_: pose(v)),
        Form("Motion", Motion, _pair_data, _pair(Motion)),
        Form("Force", Force, _pair_data, _pair(Force)),
        Form("Inertia", Inertia, lambda _, v, w, __: inertia_data(v, w), lambda v, *_: inertia(v)),
        Form("Limits", Limits, lambda _, v, w, __: limits_data(v, w), lambda v, *_: limits(v)),
        Form("list", list, _list_data, _list),
        Form("dict", dict, _dict_data, _dict),
        Form("array", np.ndarray, _array_data, _array),
        Form("scalar", np.generic, _array_data, _scalar),
    )
}
"""The types of values by their names in a file."""
