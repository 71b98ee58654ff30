"""Joints and their parameters as plain data and back: values of any type a joint may be made of.

A value whose type does not show is an object with one key, the name of its type: `{"Revolute": {"axis": [0, 0, 1]}}`.
Lists stand for tuples. Classes cardan ships go by plain names, others by their import path, `module:QualName`, such as
`my_robot.joints:Cam`, and so do functions that constrain a model. Nothing is imported because a file says so, unless
the caller trusts the file; and then only a class of joint, coordinate function or manifold is accepted, or a function.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import sys
from collections.abc import Callable
from functools import cached_property
from types import ModuleType
from typing import Any, NamedTuple, TypeVar

import numpy as np

from cardan._algebra import manifolds
from cardan._algebra.errors import ParameterError, close_names, did_you_mean
from cardan._algebra.manifolds import Manifold
from cardan._algebra.spatial import Vector3
from cardan._dynamics.algorithms.cluster import ClosedSet, ClusterMember
from cardan._reach.formats.json.kinds import BOUND, NUMBER, TEXT, VALUES, VECTOR, Kind, at, built, each, members
from cardan._reach.formats.json.text import MAX_DEPTH, WrongError, json_text, refuse
from cardan._robot.joints import CATALOGUE, Constant, CoordinateFunction, Joint, Linear, NaturalSpline, Polynomial
from cardan._robot.joints.catalogue.of_another import Equipped
from cardan._robot.joints.coordinate_functions import Through

# --- which class a name in a file means ---

Registered = TypeVar("Registered", bound=Callable[..., Any])
BASES = (Joint, CoordinateFunction, Manifold)
WHAT = "a class of joint, coordinate function or manifold"
CONSTRAINS = "a function that constrains a model"

_JOINTS = {kind.__name__: kind for kind in (*map(type, CATALOGUE), ClusterMember, Equipped)}
_FUNCTIONS = {kind.__name__: kind for kind in (Constant, Linear, Polynomial, NaturalSpline, Through)}
_MANIFOLDS = ("Euclidean", "UnitComplex", "UnitQuaternion", "MRP", "SE2", "SE3", "Product")
_SPACES = {f"manifolds.{name}": getattr(manifolds, name) for name in _MANIFOLDS} | {"manifolds.ClosedSet": ClosedSet}
SHIPPED: dict[str, type[Any]] = _JOINTS | _FUNCTIONS | _SPACES
"""The classes cardan ships by their names in a file."""

_NAMES = {kind: name for name, kind in SHIPPED.items()}
_registered: dict[str, Any] = {}


def register_joint(kind: Registered) -> Registered:
    """Allow every file to name this class or function; usable as a decorator.

    Args:
        kind: a joint class of your own, a coordinate function or manifold that your joints are made of, or a function
            that constrains a model (`Model.with_constraints`). In a file it is named by its import path,
            `module:QualName`. What is registered later under the same path replaces it.

    Returns:
        The same.

    Raises:
        ParameterError: if it is none of these.

    Examples:
        >>> @cardan.register_joint
        ... class Lift(cardan.Joint):
        ...     manifold = cardan.manifolds.Euclidean(1)
        ...     def transform(self, q):
        ...         return cardan.SE3(translation=(0.0, 0.0, q[0]))
    """
    if not (is_accepted(kind) or FUNCTIONS.accepts(kind)):
        expected = f"{WHAT} (the class itself), or {CONSTRAINS}, with an import path of its own"
        raise ParameterError("class to register", got=kind, expected=expected)
    _registered[import_path(kind)] = kind
    return kind


def is_accepted(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BASES)


def import_path(kind: Any) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"


def name_of(kind: Any, what: str) -> str:
    """Return the name of a class or function in a file, by which it must be found again: not one within a function."""
    if kind in _NAMES:
        return _NAMES[kind]
    path = import_path(kind)
    if _registered.get(path) is not kind and _looked_up(path) is not kind:
        expected = f"one that is found at its import path {path!r}"
        hint = "Define it at the top of a module, or register it with cardan.register_joint."
        raise ParameterError(what, got=kind, expected=expected, hint=hint)
    return path


def _looked_up(path: str) -> Any:
    """Return what a loaded module has at an import path; None if nothing. Only namespaces are read, of classes."""
    module, _, names = path.partition(":")
    found: Any = sys.modules.get(module)
    for k, name in enumerate(names.split(".")):
        if not isinstance(found, type if k else ModuleType):
            return None
        found = vars(found).get(name)
    return found


class _Sort(NamedTuple):
    """What a file may name somewhere."""

    word: str
    what: str
    accepts: Callable[[Any], bool]


def _has_own_path(f: Any) -> bool:
    """Return whether a function may be what its import path leads to: none within another, or around one, is."""
    return inspect.isfunction(f) and "<" not in f.__qualname__ and not hasattr(f, "__wrapped__")


CLASSES = _Sort("class", WHAT, is_accepted)
FUNCTIONS = _Sort("function", CONSTRAINS, _has_own_path)


def found_by(name: str, sort: _Sort, *, trusted: bool) -> Any:
    """Return what a file names, plainly or by its import path; only if trusted, a module is imported for it."""
    if name in SHIPPED or name in _registered:
        return _accepted(name, SHIPPED.get(name) or _registered[name], sort)
    module, colon, names = name.partition(":")
    if not colon:
        otherwise = "; a class of your own is named by its import path, module:QualName"
        hint = did_you_mean(close_names(name, SHIPPED)) or otherwise
        raise WrongError(f"there is no joint or value type {name[:120]!r}{hint}")
    if not trusted:
        raise WrongError(
            f"names the {sort.word} {name[:200]!r}, which is not cardan's and not registered: import it and call "
            f"cardan.register_joint({names[:100]}) before reading; or, only if you trust whoever wrote the file, pass "
            f"trusted=True, which imports the module {module[:100]!r}"
        )
    return _accepted(name, _imported(name, module, names, sort.word), sort)


def _accepted(name: str, found: Any, sort: _Sort) -> Any:
    if not sort.accepts(found):
        raise WrongError(f"{name[:200]!r} is not {sort.what}; nothing else is accepted")
    return found


def _imported(path: str, module: str, names: str, word: str) -> Any:
    if not all(part.isidentifier() for part in (*module.split("."), *names.split("."))):
        raise WrongError(f"{path[:200]!r} is no import path; expected module:QualName, such as my_robot.joints:Cam")
    try:
        importlib.import_module(module)
    except Exception as error:  # a module may raise anything
        raise WrongError(f"the module of {path!r} cannot be imported: {type(error).__name__}: {error}") from error
    found = _looked_up(path)
    if found is None:
        raise WrongError(f"the module {module!r} has no {word} {names!r}")
    return found


WRITABLE = (
    "numbers, texts, None, tuples, lists, dicts with texts as keys, NumPy arrays, vectors, poses, motions, forces, "
    "inertias, limits, models, joints, coordinate functions or manifolds"
)

# --- writing ------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class _Writer:
    """Writes values whose types a file has to name; `checking`: whether those of foreign classes are built again."""

    checking: bool = True

    def value(self, value: Any, what: str, depth: int = 0, *, plain: bool = False) -> Any:
        """Return a value as it is written; `plain`: vectors as lists, because the constructor makes vectors of them."""
        if depth > MAX_DEPTH:
            raise ParameterError(what, got=type(value), expected=f"at most {MAX_DEPTH} levels of nesting")
        if value is None or type(value) in (bool, int):
            return value
        if type(value) in (str, np.str_):
            return str(value)
        if type(value) in (float, np.float64):
            number = BOUND.write(value, what)
            return {"float": number} if isinstance(number, str) else number
        if type(value) in (tuple, list):
            entries = [self.value(e, what, depth + 1, plain=plain and type(value) is tuple) for e in value]
            return entries if type(value) is tuple else {"list": entries}
        if type(value) is dict:
            entries = value.items()
            return {"dict": {TEXT.write(k, f"{what}: key"): self.value(e, what, depth + 1) for k, e in entries}}
        if plain and type(value) is Vector3:
            return VECTOR.write(value, what)
        if isinstance(value, BASES):
            return self.object(value, what, depth)
        kind = np.generic if isinstance(value, np.generic) else type(value)
        for name, (held, form) in VALUES.items():
            if held is kind:
                return {name: form.write(value, what)}
        raise ParameterError(f"{what}, of type {type(value).__name__}", got=value, expected=WRITABLE)

    def object(self, value: Any, what: str, depth: int = 0) -> dict[str, Any]:
        kind = type(value)
        name, shipped = name_of(kind, what), kind in _NAMES
        data = {
            TEXT.write(key, what): self.value(e, _named(key, kind, what), depth + 1, plain=shipped)
            for key, e in parameters(value).items()
        }
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
        written = _Writer(checking=False).value(e, _named(key, kind, what))
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


def _value(value: Any, trusted: bool) -> Any:
    """Return a parameter. How deep it is nested, the text's limit bounds."""
    if value is None or type(value) in (bool, str, int):
        return value
    if type(value) is float:
        return NUMBER.read(value, trusted)
    if type(value) is list:
        return tuple(each(_value, value, trusted))
    if type(value) is not dict or len(value) != 1:
        refuse(value, "a value, or an object with one key, the name of its type")
    ((name, body),) = value.items()
    if name in VALUES:
        return at(name, VALUES[name][1].read, body, trusted)
    if name in ("list", "dict"):
        return at(name, _entries, body, trusted, {"list": list, "dict": dict}[name])
    return at(name, _made, found_by(name, CLASSES, trusted=trusted), body, trusted)


def _entries(body: Any, trusted: bool, kind: type[Any]) -> Any:
    if type(body) is not kind:
        refuse(body, "an object" if kind is dict else "a list")
    if kind is list:
        return each(_value, body, trusted)
    return {k: at(k, _value, e, trusted) for k, e in body.items()}


def _made(kind: type[Any], body: Any, trusted: bool) -> Any:
    if type(body) is not dict:
        refuse(body, f"an object with the parameters of {kind.__name__}")
    given = {key: at(key, _value, e, trusted) for key, e in body.items()}
    if dataclasses.is_dataclass(kind):
        fields = [f for f in dataclasses.fields(kind) if f.init]
        nothing = dataclasses.MISSING
        needed = [f.name for f in fields if f.default is nothing and f.default_factory is nothing]
        members(body, needed, [f.name for f in fields if f.name not in needed])
    return built(kind, given)


def _joint(value: Any, trusted: bool) -> Joint:
    if type(value) is not dict:
        refuse(value, 'a joint, such as {"Revolute": {"axis": [0, 0, 1]}}')
    read = _value(value, trusted)
    if not isinstance(read, Joint):
        raise WrongError(f"got a {type(read).__name__}, expected a joint")
    return read


JOINT = Kind(lambda joint, what: _Writer().object(joint, what), _joint)
"""A joint of any class that ships, is registered, or may be imported."""


def _constraint(value: Any, trusted: bool) -> Any:
    return found_by(TEXT.read(value, trusted), FUNCTIONS, trusted=trusted)


def _constraint_name(function: Any, what: str) -> str:
    if not inspect.isfunction(function):
        raise ParameterError(what, got=function, expected="a function at the top of a module, which has an import path")
    return name_of(function, what)


CONSTRAINT = Kind(_constraint_name, _constraint)
"""A function that constrains a model, by its import path."""
