"""A joint as a value: all it is made of, read once, whatever its class is made of.

Parameters are found where Python keeps them: in `__dict__`, in the `__slots__` of every class, in containers and
objects within these. Nothing is asked of the class itself: its `__eq__`, `__hash__`, `__getattr__`, `__copy__` and
`__getstate__` may be missing or wrong. Class attributes of users' classes count as well, and so do the numbers,
containers, objects and functions that their methods read as globals: a constant of a notebook can be changed.

Not seen: what a method reads from modules, files, clocks. What is kept for other processes must see that as well, and
is told by its content (`cardan/content.py`).
"""

from __future__ import annotations

import copy
import enum
import functools
import struct
import types
import weakref
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from cardan.content import CONTAINERS, globals_read, is_of_trusted, is_plain, members
from cardan.errors import JointError
from cardan.scalar import is_symbol

T = TypeVar("T")
ATOMS = (bool, int, complex, str, bytes, range, type(None), type(Ellipsis))
BY_IDENTITY = (type, types.ModuleType, types.BuiltinFunctionType, property, staticmethod, classmethod, enum.Enum)


class Anatomy(NamedTuple):
    """What a thing is made of.

    Attributes:
        kind: what tells it apart from things with the same parts.
        parts: what else it is made of.
        rebuilt: makes another of copied parts; None where there is nothing to copy.
        shared: what its class holds, which counts among what it is made of, but is not copied.
    """

    kind: Hashable
    parts: tuple[Any, ...] = ()
    rebuilt: Callable[[list[Any]], Any] | None = None
    shared: tuple[Any, ...] = ()


class Same:
    """A key equal to that of one thing alone, which it keeps alive."""

    __slots__ = ("thing",)

    def __init__(self, thing: Any) -> None:
        self.thing = thing

    def __eq__(self, other: object) -> bool:
        return type(other) is Same and other.thing is self.thing

    def __hash__(self) -> int:
        return id(self.thing)


# --- keys --------------------------------------------------------------------------------------------------------


def state_of(thing: Any) -> Hashable:
    """Return a key that two things share only if they are of one class and made of equal parts."""
    return _state(thing, {})


def _state(thing: Any, seen: dict[int, tuple[int, Any]]) -> Hashable:
    kind, own, _, shared = _anatomy(thing)
    parts = own + shared
    if not parts:
        return kind
    if id(thing) in seen:  # it is part of itself, or used twice
        return "seen", seen[id(thing)][0]
    seen[id(thing)] = len(seen), thing  # which keeps its identity its own
    return kind, *(_state(part, seen) for part in parts)


class _Key:
    """A joint, equal to those made of the same parts."""

    __slots__ = ("joint", "state")

    def __init__(self, joint: Any) -> None:
        self.joint, self.state = joint, state_of(joint)

    def __eq__(self, other: object) -> bool:
        return type(other) is _Key and other.state == self.state

    def __hash__(self) -> int:
        return hash(self.state)


def kept_by_state(make: Callable[[Any], T]) -> Callable[[Any], T]:
    """Make a function of a joint remember its results by what the joint is made of."""

    @functools.lru_cache(maxsize=1024)
    def remembered(key: _Key) -> T:
        return make(key.joint)

    return functools.wraps(make)(lambda joint: remembered(_Key(joint)))


def everything_in(thing: Any) -> Iterator[Any]:
    """Yield a thing and all it is made of, each once."""
    seen, stack = {}, [thing]
    while stack:
        one = stack.pop()
        if id(one) not in seen:
            seen[id(one)] = one
            yield one
            stack.extend(reversed(_anatomy(one).parts))


# --- copies ------------------------------------------------------------------------------------------------------

_UNFINISHED = object()
_frozen: dict[int, weakref.ref[Any]] = {}


def is_frozen(joint: Any) -> bool:
    """Return whether a joint is one that a mechanism keeps."""
    return id(joint) in _frozen


def frozen(joint: T) -> T:
    """Return the joint as a mechanism keeps it: with parts of its own, which nobody else can change.

    A joint of immutable parts alone is returned as it is.
    """
    if is_frozen(joint):
        return joint
    twin = copied(joint)
    number = id(twin)
    _frozen[number] = weakref.ref(twin, lambda _: _frozen.pop(number, None))
    return twin


def copied(thing: T) -> T:
    """Return a thing with parts of its own, which nobody else can change; itself, if none of its parts can change."""
    return _copied(thing, {})


def _copied(thing: Any, done: dict[int, Any]) -> Any:
    if id(thing) in done:
        if done[id(thing)] is _UNFINISHED:
            raise JointError(f"a {type(thing).__name__} among the parameters is part of itself; keep numbers instead.")
        return done[id(thing)]
    _, parts, rebuilt, _ = _anatomy(thing)
    if rebuilt is None:
        return thing
    done[id(thing)] = _UNFINISHED
    new = [_copied(part, done) for part in parts]
    same = _is_immutable(thing) and all(a is b for a, b in zip(new, parts, strict=True))
    done[id(thing)] = thing if same else rebuilt(new)
    return done[id(thing)]


def _is_immutable(thing: Any) -> bool:
    """Return whether a thing cannot change if its parts do not; of classes, only cardan's own keep that promise."""
    if isinstance(thing, np.ndarray):
        return not thing.flags.writeable and thing.base is None
    parameters = vars(type(thing)).get("__dataclass_params__")
    frozen = parameters is not None and parameters.frozen and type(thing).__module__.startswith("cardan.")
    return frozen or isinstance(thing, (tuple, frozenset))


# --- anatomy -----------------------------------------------------------------------------------------------------


def _anatomy(thing: Any) -> Anatomy:
    kind = type(thing)
    if kind is float:
        return Anatomy((float, thing.hex()))  # tells -0.0 from 0.0
    if isinstance(thing, tuple) and all(type(e) is float for e in thing) and not members(thing):
        return Anatomy((kind, struct.pack(f"{len(thing)}d", *thing)))
    if kind in ATOMS:
        return Anatomy((kind, repr(thing) if kind is complex else thing))
    if isinstance(thing, BY_IDENTITY) or is_symbol(thing):
        return Anatomy(Same(thing))
    if isinstance(thing, np.generic) and kind is not np.object_:
        return Anatomy((kind, thing.dtype.str, thing.tobytes()))
    if kind is np.ndarray:
        return _array(cast("np.ndarray", thing))
    if kind is types.FunctionType:
        return _function(cast("types.FunctionType", thing))
    container = next((c for c in CONTAINERS if isinstance(thing, c)), None)
    if container is not None:
        return _container(thing, container)
    return _object(thing) if is_plain(kind) else _reduced(thing)


def _array(array: np.ndarray) -> Anatomy:
    if not array.dtype.hasobject:
        content = (np.ndarray, array.dtype.str, array.shape, array.tobytes())
        return Anatomy(content, (), lambda _: _read_only(array.copy()))

    def rebuilt(parts: list[Any]) -> np.ndarray:
        twin = np.empty(len(parts), dtype=object)
        twin[:] = parts
        return _read_only(twin.reshape(array.shape))

    return Anatomy((np.ndarray, array.shape), tuple(array.ravel().tolist()), rebuilt)


def _read_only(array: np.ndarray) -> np.ndarray:
    array.setflags(write=False)
    return array


def _function(function: types.FunctionType) -> Anatomy:
    """Return a function as its code, the values it was made with, and the globals it reads; it is not copied."""
    made_with = (*map(_content, function.__closure__ or ()), function.__defaults__, function.__kwdefaults__)
    read = [function.__globals__.get(name) for name in globals_read(function.__code__)]
    fixed = (Same(thing) for thing in read if not _may_change(thing))
    kind = (types.FunctionType, function.__code__, Same(function.__globals__), *fixed)
    return Anatomy(kind, (*made_with, function.__dict__, *filter(_may_change, read)))


def _may_change(thing: Any) -> bool:
    """Return whether a global is the user's data or code, told by what is in it; all else is told by which it is."""
    if isinstance(thing, types.FunctionType):
        return not is_of_trusted(thing.__globals__.get("__name__"))
    data = (*ATOMS, *CONTAINERS, float, np.ndarray, np.generic)
    return isinstance(thing, data) or (is_plain(type(thing)) and not is_of_trusted(type(thing).__module__))


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not filled yet
        return None


def _container(thing: Any, container: Any) -> Anatomy:
    """Return a built-in container, or one of a derived class: its entries, then its attributes."""
    pairs = container is dict
    entries = [e for pair in dict.items(thing) for e in pair] if pairs else list(container.__iter__(thing))
    own = members(thing)

    def rebuilt(parts: list[Any]) -> Any:
        new = parts[: len(entries)]
        content = dict(zip(new[::2], new[1::2], strict=True)) if pairs else new
        twin = container.__new__(type(thing), content)
        if container in (list, dict, set):
            container.__init__(twin, content)
        return _given(twin, own, parts[len(entries) :])

    return Anatomy((type(thing), len(entries), *own), (*entries, *own.values()), rebuilt)


def _object(thing: Any) -> Anatomy:
    """Return an instance of a class written in Python: its attributes, under those of its class."""
    own = members(thing)
    shared = tuple(_held_by_class(type(thing)))
    kind = (type(thing), *own)
    return Anatomy(kind, tuple(own.values()), lambda parts: _given(object.__new__(type(thing)), own, parts), shared)


def _reduced(thing: Any) -> Anatomy:
    """Return an instance of any other class as pickle takes it; one it cannot take is itself."""
    try:
        how = thing.__reduce_ex__(4)
    except Exception:  # each class refuses in its own way
        how = ""
    if isinstance(how, str):
        return Anatomy(Same(thing))
    parts = tuple(list(part) if isinstance(part, Iterator) else part for part in how)
    return Anatomy((type(thing), "reduced"), parts, lambda _: copy.deepcopy(thing))


def _given(twin: Any, names: Iterable[Any], values: Iterable[Any]) -> Any:
    """Return an instance with its attributes set, past any `__setattr__`."""
    for name, value in zip(names, values, strict=True):
        if isinstance(name, str):
            object.__getattribute__(twin, "__dict__")[name] = value
        else:
            name.__set__(twin, value)
    return twin


def _held_by_class(kind: type) -> Iterator[Any]:
    """Yield what users' classes hold by name, methods included: it can be exchanged, too."""
    for base in kind.__mro__:
        if base.__module__.partition(".")[0] not in ("cardan", "builtins", "abc", "typing"):
            for name, value in vars(base).items():
                if not name.startswith("__") and not isinstance(value, types.MemberDescriptorType):
                    yield name
                    yield from _functions_of(value)


def _functions_of(member: Any) -> tuple[Any, ...]:
    """Return a member of a class, or the functions of a descriptor that is made of some."""
    if isinstance(member, property):
        return member.fget, member.fset
    return (member.__func__,) if isinstance(member, (staticmethod, classmethod)) else (member,)
