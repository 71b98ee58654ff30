"""What a value is made of, as plain data: two things of equal content are the same to every function of cardan.

Content is made of numbers, texts and tuples of these, so that its digest is the same in every process and on every
machine. Containers, arrays and objects are taken apart into their class and what they hold. Classes and functions of
cardan itself count by their name: what they do is said by the package's build (`_dynamics/call/store.py`).

What others wrote cannot be known from outside: a user's class or function, a module, the symbol of a trace stands
*apart*, equal to itself alone. Content with something apart means nothing to another process, and has no digest.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import marshal
import os
import sys
import types
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from operator import attrgetter, is_
from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.scalar import is_symbol

HERE = os.path.dirname(os.path.dirname(__file__))
# Wings of cardan through which no trace goes. What they define is apart, and their files are no part of the build.
APART = frozenset({"_reach"})
PLAIN = frozenset((type(None), bool, int, float, complex, str, bytes))
CONTAINERS = (tuple, list, dict, set, frozenset)
_FLOATS = frozenset((float,))
_HEAP_TYPE = 1 << 9  # of `type.__flags__`: set for every class that is not built into a library
_CODE = (types.BuiltinFunctionType, types.ModuleType, np.ufunc, property, staticmethod)
_CODE = (*_CODE, classmethod, np.dtype)


class UnknownContentError(Exception):
    """What something is made of cannot be read: it holds itself, or its class shows nothing of what it holds."""


class Content:
    """What things are made of."""

    __slots__ = ("apart", "text")

    def __init__(self, text: str, apart: tuple[Any, ...] = ()) -> None:
        self.text: str = text  # the SHA-256 of all that can be said, as 64 hexadecimal digits
        self.apart: tuple[Any, ...] = apart  # what stands for itself, in the order it was met

    @property
    def digest(self) -> str | None:
        """What tells the things from others in every process; None if something of them stands apart."""
        return None if self.apart else self.text

    def __eq__(self, other: object) -> bool:
        if type(other) is not Content or self.text != other.text:
            return False
        return len(self.apart) == len(other.apart) and all(map(is_, self.apart, other.apart))

    def __hash__(self) -> int:
        return hash(self.text)


def content_of(*things: Any) -> Content:
    """Return what things are made of; raise `UnknownContentError` if that cannot be read."""
    reader = _Reader()
    try:
        data = marshal.dumps(reader.all(things), 2)  # version 2 shares no references
    except (RecursionError, ValueError):  # too deep for Python, or for marshal
        raise UnknownContentError("too deeply nested") from None
    return Content(hashlib.sha256(data).hexdigest(), tuple(reader.apart))


def apart(thing: Any = None) -> Content:
    """Return the content of what is itself alone; without a thing, one that is equal to no other."""
    return Content("", (object() if thing is None else thing,))


def digest(*things: Any) -> str | None:
    """Return the SHA-256 of things' content, as 64 hexadecimal digits; None if it cannot be known elsewhere."""
    try:
        return content_of(*things).digest
    except UnknownContentError:
        return None


class Parts(NamedTuple):
    """What a thing is made of."""

    met: list[Any]  # the thing itself and everything in it but plain values, as often as it is met
    apart: list[Any]  # what of it stands for itself


def parts(thing: Any) -> Parts:
    """Return what a thing is made of; raise as `content_of` does."""
    reader = _Reader()
    reader.read(thing)
    return Parts(reader.met, reader.apart)


class _Reader:
    """Takes things apart."""

    __slots__ = ("apart", "met", "within")

    def __init__(self) -> None:
        self.apart: list[Any] = []  # what stands for itself
        self.within: set[int] = set()  # containers and objects that are being taken apart, by identity
        self.met: list[Any] = []  # everything but plain values

    def read(self, thing: Any) -> Any:
        """Return the content of anything: what its class is, and what it holds."""
        kind = type(thing)
        if kind in PLAIN or (kind is tuple and _FLOATS.issuperset(map(type, thing))):
            return thing
        self.met.append(thing)
        if kind is Content:
            return (thing.text, *map(self.itself, thing.apart))
        if id(thing) in self.within:
            raise UnknownContentError(f"a {kind.__name__} that is part of itself")
        self.within.add(id(thing))
        name, held_by = _way(kind)
        held = held_by(thing)
        found = self.itself(thing) if held is None else (name or self.itself(kind), *self.all(held))
        self.within.discard(id(thing))
        return found

    def all(self, things: Iterable[Any]) -> tuple[Any, ...]:
        return tuple([e if type(e) in PLAIN else self.read(e) for e in things])

    def itself(self, thing: Any) -> Any:
        """Return what stands for a thing that is equal to itself alone: where it was met first."""
        for k, other in enumerate(self.apart):
            if other is thing:
                return ("apart", k)
        self.apart.append(thing)
        return ("apart", len(self.apart) - 1)


Held = Callable[[Any], Iterable[Any] | None]
"""What a thing holds; None where it stands for itself."""


@functools.lru_cache(maxsize=1024)
def _way(kind: type) -> tuple[str | None, Held]:
    """Return the name of a class, None where it stands apart, and what gives what its instances hold."""
    name = _known_name(kind)
    if hasattr(kind, "__content__"):
        return _name(kind), lambda thing: (thing.__content__(),)
    if kind in _HELD:
        return _name(kind), _HELD[kind]
    if issubclass(kind, Enum):
        return name, lambda thing: (thing.name,) if name else None
    container = next((c for c in CONTAINERS if issubclass(kind, c)), None)
    if container is not None and is_plain(kind, container):
        return name, _entries(kind, container)
    if issubclass(kind, np.generic) and kind is not np.object_:
        return _name(kind), _of_array
    if issubclass(kind, type):
        return "class", lambda thing: (_known_name(thing),) if _known_name(thing) else None
    if issubclass(kind, _CODE):
        return None, lambda thing: None
    if not is_plain(kind):
        return None, _of_foreign
    if dataclasses.is_dataclass(kind) and name:
        fields = [f.name for f in dataclasses.fields(kind) if f.compare]
        return name, attrgetter(*fields) if len(fields) > 1 else lambda thing: [getattr(thing, n) for n in fields]
    return name, lambda thing: None if is_symbol(thing) else _pairs(attributes(thing))


@functools.cache
def is_plain(kind: type, container: Any = object) -> bool:
    """Return whether instances of a class hold nothing but attributes, and what a container does.

    Python then makes them in the container's own way; a class written in C would refuse that.
    """
    try:
        container.__new__(kind)
    except TypeError:
        return False
    return all(base in (container, object) or base.__flags__ & _HEAP_TYPE for base in kind.__mro__)


def _entries(kind: type, container: Any) -> Held:
    """Return what gives the entries of a container and, of a class that may have them, its attributes."""
    entries: Any = dict.items if container is dict else container.__iter__
    if container in (set, frozenset):
        entries = lambda thing: sorted(container.__iter__(thing), key=lambda e: repr(_Reader().read(e)))  # noqa: E731
    if kind.__dictoffset__ or _slots(kind):
        return lambda thing: (*entries(thing), _pairs(attributes(thing)))
    return entries


def _pairs(mapping: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(sorted(mapping.items()))


def _of_array(thing: Any) -> tuple[Any, ...]:
    array = np.asarray(thing)
    return repr(array.dtype), array.shape, array.ravel().tolist() if array.dtype.hasobject else array.tobytes()


def _of_foreign(thing: Any) -> None:
    """Let an instance of a class written in C stand for itself, if it is another library's symbol."""
    if not is_symbol(thing):
        raise UnknownContentError(f"a {type(thing).__name__}")


def _of_function(function: types.FunctionType) -> tuple[Any, ...] | None:
    """Return the place of a function of cardan's own in the package, and the values it was made with."""
    module = own_module(function.__module__ or "")
    if module is None or function.__globals__ is not vars(module):
        return None
    made_with = function.__defaults__, function.__kwdefaults__, *(c.cell_contents for c in function.__closure__ or ())
    return (module.__name__, marshal.dumps(function.__code__, 2), *made_with)


_HELD: dict[Any, Held] = {
    np.ndarray: _of_array,
    range: lambda thing: (repr(thing),),
    type(Ellipsis): lambda _: (),
    types.MappingProxyType: lambda thing: thing.items(),
    types.SimpleNamespace: lambda thing: _pairs(vars(thing)),
    types.MethodType: lambda thing: (thing.__func__, thing.__self__),
    functools.partial: lambda thing: (thing.func, thing.args, thing.keywords),
    types.FunctionType: _of_function,
}
"""What things of exactly these classes hold."""


def attributes(thing: Any) -> dict[str, Any]:
    """Return what an instance holds by name: in its `__dict__` and in the slots of every class."""
    found: dict[str, Any] = {}
    for slot in _slots(type(thing)):
        with contextlib.suppress(AttributeError):  # not set
            found[slot.__name__] = slot.__get__(thing)
    if type(thing).__dictoffset__:
        found |= object.__getattribute__(thing, "__dict__")
    return found


@functools.lru_cache(maxsize=1024)
def _slots(kind: type) -> tuple[Any, ...]:
    found = (member for base in kind.__mro__ for member in vars(base).values())
    return tuple(member for member in found if isinstance(member, types.MemberDescriptorType))


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


@functools.lru_cache(maxsize=1024)
def own_module(name: str) -> types.ModuleType | None:
    """Return a module of cardan that was loaded from the package's own files; None for another, or one of `APART`."""
    module = sys.modules.get(name)
    package, *wing = name.split(".", 2)[:2]
    own = package == "cardan" and not APART.intersection(wing)
    return module if own and (getattr(module, "__file__", None) or "").startswith(HERE + os.sep) else None


@functools.lru_cache(maxsize=1024)
def _known_name(kind: type) -> str | None:
    """Return the name of a class that is built in, or what a module of cardan has under its name; None of another."""
    if kind in CONTAINERS or kind in PLAIN:
        return _name(kind)
    found: Any = own_module(kind.__module__)
    for part in kind.__qualname__.split("."):
        found = getattr(found, part, None)
    return _name(kind) if found is kind else None
