"""What a value is made of, as plain data: two things of equal content are the same to every function of cardan.

Content is made of numbers, texts and tuples of these, so that its digest is the same in every process and on every
machine. Containers, arrays and objects are taken apart into their class and what they hold. Classes and functions of
cardan itself count by their name: what they do is said by the package's build (`functions/store.py`).

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

from cardan.scalar import is_symbol

HERE = os.path.dirname(__file__)
APART = frozenset(
    {"cli", "gym", "formats", "viewer", "pictures", "distributed", "comparison", "generation", "robots"}
    | {"verification", "interop"}
)
"""Rooms of cardan through which no trace goes. What they define is apart, and their files are no part of the build."""
PLAIN = frozenset((type(None), bool, int, float, complex, str, bytes))
CONTAINERS = (tuple, list, dict, set, frozenset)
_FLOATS = frozenset((float,))
_HEAP_TYPE = 1 << 9  # of `type.__flags__`: set for every class that is not built into a library
_CODE = (types.BuiltinFunctionType, types.ModuleType, np.ufunc, property, staticmethod)
_CODE = (*_CODE, classmethod, np.dtype)


class UnknownContentError(Exception):
    """What something is made of cannot be read: it holds itself, or its class shows nothing of what it holds."""


class Content:
    """What things are made of.

    Attributes:
        text: the SHA-256 of all that can be said, as 64 hexadecimal digits.
        apart: what stands for itself, in the order it was met.
    """

    __slots__ = ("apart", "text")

    def __init__(self, text: str, apart: tuple[Any, ...] = ()) -> None:
        self.text, self.apart = text, apart

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
    """Return what things are made of.

    Raises:
        UnknownContentError: if that cannot be read.
    """
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
    """What a thing is made of.

    Attributes:
        met: the thing itself and everything in it but plain values, as often as it is met.
        apart: what of it stands for itself.
    """

    met: list[Any]
    apart: list[Any]


def parts(thing: Any) -> Parts:
    """Return what a thing is made of.

    Raises:
        UnknownContentError: as for `content_of`.
    """
    reader = _Reader()
    reader.read(thing)
    return Parts(reader.met, reader.apart)


class _Reader:
    """Takes things apart.

    Attributes:
        apart: what stands for itself.
        within: containers and objects that are being taken apart, by identity.
        met: everything but plain values.
    """

    __slots__ = ("apart", "met", "within")

    def __init__(self) -> None:
        self.apart: list[Any] = []
        self.within: set[int] = set()
        self.met: list[Any] = []

    def read(self, thing: Any) -> Any:
        """Return the content of anything. An object may say itself what it is made of, by a method `__content__()`."""
        kind = type(thing)
        if kind in PLAIN or (kind is tuple and _FLOATS.issuperset(map(type, thing))):
            return thing
        self.met.append(thing)
        if id(thing) in self.within:
            raise UnknownContentError(f"a {kind.__name__} that is part of itself")
        self.within.add(id(thing))
        found = _way(kind)(self, thing)
        self.within.discard(id(thing))
        return found

    def all(self, things: Iterable[Any]) -> tuple[Any, ...]:
        """Return the contents of several things."""
        return tuple([e if type(e) in PLAIN else self.read(e) for e in things])

    def itself(self, thing: Any) -> Any:
        """Return what stands for a thing that is equal to itself alone: where it was met first."""
        for k, other in enumerate(self.apart):
            if other is thing:
                return ("apart", k)
        self.apart.append(thing)
        return ("apart", len(self.apart) - 1)

    def named(self, mapping: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the contents of what has names, whatever their order."""
        return tuple([(name, self.read(mapping[name])) for name in sorted(mapping)])


Way = Callable[[_Reader, Any], Any]


@functools.lru_cache(maxsize=1024)
def _way(kind: type) -> Way:
    """Return how instances of a class are taken apart."""
    if hasattr(kind, "__content__"):
        return lambda reader, thing: (_name(kind), reader.read(thing.__content__()))
    known = next((way for base, way in _WAYS.items() if kind is base), None)
    container = next((c for c in CONTAINERS if issubclass(kind, c)), None)
    if known is not None:
        return known
    if issubclass(kind, Enum):
        return lambda reader, thing: (_class(reader, kind), thing.name) if _is_own(kind) else reader.itself(thing)
    if container is not None and is_plain(kind, container):
        return _sequence(kind) if _is_value(kind) else functools.partial(_container, container=container)
    if issubclass(kind, np.generic) and kind is not np.object_:
        return _array
    if issubclass(kind, type):
        return _class
    if issubclass(kind, _CODE):
        return _Reader.itself
    if not is_plain(kind):
        return _foreign
    return _record(kind) if dataclasses.is_dataclass(kind) and _is_own(kind) else _object


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


# --- values ------------------------------------------------------------------------------------------------------


def _is_value(kind: type) -> bool:
    """Return whether this is a tuple or list of cardan's own or Python's, without attributes: most of a model is."""
    known = kind in CONTAINERS or _is_own(kind)
    return known and issubclass(kind, (tuple, list)) and not kind.__dictoffset__ and not _slots(kind)


def _sequence(kind: type) -> Way:
    name = _name(kind)

    def entries(reader: _Reader, thing: Any) -> Any:
        if _FLOATS.issuperset(map(type, thing)):
            return (name, *thing)
        return (name, *reader.all(thing))

    return entries


def _container(reader: _Reader, thing: Any, container: Any) -> Any:
    """Return a built-in container, or one of a class below it: its class, its entries, its attributes."""
    if container is dict:
        entries: Any = tuple([reader.all(pair) for pair in dict.items(thing)])
    else:
        entries = reader.all(container.__iter__(thing))
    if container in (set, frozenset):
        entries = tuple(sorted(map(repr, entries)))
    return (_class(reader, type(thing)), entries, *reader.named(attributes(thing)))


def _array(reader: _Reader, thing: Any) -> Any:
    array = np.asarray(thing)
    entries = reader.all(array.ravel().tolist()) if array.dtype.hasobject else array.tobytes()
    return (type(thing).__name__, repr(array.dtype), array.shape, entries)


def _record(kind: type) -> Way:
    """Return how a record of cardan is taken apart: into its fields."""
    names = [f.name for f in dataclasses.fields(kind) if f.compare]
    name, values = _name(kind), attrgetter(*names) if len(names) > 1 else None
    if values is None:
        return lambda reader, thing: (name, *(reader.read(getattr(thing, n)) for n in names))
    return lambda reader, thing: (name, *reader.all(values(thing)))


def _object(reader: _Reader, thing: Any) -> Any:
    """Return an instance of a class written in Python: its class and its attributes."""
    if is_symbol(thing):
        return reader.itself(thing)
    return (_class(reader, type(thing)), *reader.named(attributes(thing)))


def _foreign(reader: _Reader, thing: Any) -> Any:
    """Return an instance of a class that is not written in Python, if it is a symbol of another library."""
    if is_symbol(thing):
        return reader.itself(thing)
    raise UnknownContentError(f"a {type(thing).__name__}")


def _content(reader: _Reader, content: Content) -> Any:
    return (content.text, *map(reader.itself, content.apart))


_WAYS: dict[Any, Way] = {
    Content: _content,
    np.ndarray: _array,
    range: lambda reader, thing: (repr(thing),),
    type(Ellipsis): lambda reader, thing: (repr(thing),),
    types.MappingProxyType: lambda reader, thing: ("proxy", *map(reader.all, thing.items())),
    types.SimpleNamespace: lambda reader, thing: ("namespace", *reader.named(vars(thing))),
    types.MethodType: lambda reader, thing: ("method", *reader.all((thing.__func__, thing.__self__))),
    functools.partial: lambda reader, thing: ("partial", *reader.all((thing.func, thing.args, thing.keywords))),
    types.FunctionType: lambda reader, thing: _function(reader, thing),
}
"""How things of exactly these classes are taken apart."""


# --- attributes --------------------------------------------------------------------------------------------------


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


# --- code --------------------------------------------------------------------------------------------------------


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


@functools.lru_cache(maxsize=1024)
def own_module(name: str) -> types.ModuleType | None:
    """Return a module of cardan that was loaded from the package's own files; None if it is none, or of `APART`."""
    module = sys.modules.get(name)
    package, *room = name.split(".", 2)[:2]
    own = package == "cardan" and not APART.intersection(room)
    return module if own and (getattr(module, "__file__", None) or "").startswith(HERE + os.sep) else None


@functools.lru_cache(maxsize=1024)
def _is_own(kind: type) -> bool:
    """Return whether a class is what a module of cardan has under its name."""
    found: Any = own_module(kind.__module__)
    for part in kind.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is kind


def _class(reader: _Reader, kind: type) -> Any:
    """Return a class: its name, if it is cardan's own or built in."""
    built_in = kind in CONTAINERS or kind in PLAIN
    return _name(kind) if built_in or _is_own(kind) else reader.itself(kind)


def _function(reader: _Reader, function: types.FunctionType) -> Any:
    """Return a function of cardan's own: its place in the package, and the values it was made with."""
    module = own_module(function.__module__ or "")
    if module is None or function.__globals__ is not vars(module):
        return reader.itself(function)
    made_with = function.__defaults__, function.__kwdefaults__, *(c.cell_contents for c in function.__closure__ or ())
    return ("function", module.__name__, function.__code__, *reader.all(made_with))
