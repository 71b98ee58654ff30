"""What a value or a function is made of, as plain data: two of the same content do the same.

Content is made of numbers, texts and tuples of these, so that its digest is the same in every process and on every
machine. Objects are taken apart into their class and state, classes and functions into their code, with all they read:
globals, closures, defaults, attributes. What belongs to cardan, to NumPy's mathematics, or to Python itself is told by
its name. Whatever could read something else (a file, the clock, a random number, an object with state of unknown kind)
has no content: `UnknownContentError` is raised, and nobody takes such a thing for another one.

`joints/state.py` walks over objects, too, and shares what finds their attributes. It answers another question, whether
two joints of one process are equal, and so may tell code and symbols by their identity; and it copies what it walks
over.
"""

from __future__ import annotations

import builtins
import collections
import contextlib
import dataclasses
import dis
import functools
import hashlib
import inspect
import marshal
import types
from collections.abc import Callable
from enum import Enum
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

TRUSTED = ("cardan", "numpy", "math", "builtins", "operator", "functools", "itertools", "typing", "collections")
"""Modules whose functions and classes are told by their name."""
APART = ("formats", "cli", "robots", "comparison", "distributed")
"""Rooms of cardan that are not: they read files and make models, and no trace goes through them."""
READS = frozenset(
    {"open", "input", "eval", "exec", "compile", "globals", "locals", "vars", "getattr", "setattr", "__import__"}
    | {"id", "hash"}
    | {"random", "load", "loadtxt", "genfromtxt", "fromfile", "fromregex", "memmap", "DataSource"}
    | {"environ", "time", "perf_counter", "now"}
    | {"load_mechanism", "read_robot", "read_urdf", "check_urdf", "from_json", "compare", *APART}
)
"""Names through which code reads what its own text does not say."""
SKIPPED = frozenset(
    {"__dict__", "__weakref__", "__doc__", "__module__", "__annotations__", "__firstlineno__", "__static_attributes__"}
    | {"__annotations_cache__", "__signature__"}
)
"""Members of a class, and of a function, that do not say what it does."""
LOADS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")
"""Instructions that read a global."""
CONTAINERS = (tuple, list, dict, set, frozenset)
_HEAP_TYPE = 1 << 9  # of `type.__flags__`: set for every class that is not built into a library
PLAIN = frozenset((type(None), bool, int, float, complex, str, bytes))
_FLOATS = frozenset((float,))
_FIELD = type(vars(collections.namedtuple("_Field", "x"))["x"])  # of a named tuple: `_fields` says as much


class UnknownContentError(Exception):
    """Something's content cannot be known."""


class Digest(NamedTuple):
    """The digest of things' content.

    Attributes:
        text: 64 hexadecimal digits, a SHA-256; None where the content cannot be known.
        is_final: whether it stays as it is while the things do: no code was read whose globals may change.
    """

    text: str | None
    is_final: bool


def digest(*things: Any) -> str | None:
    """Return the SHA-256 of things' content, as 64 hexadecimal digits; None where it cannot be known."""
    return digested(*things).text


def digested(*things: Any) -> Digest:
    """Return the digest of things' content, and whether it may change."""
    reader = _Reader()
    try:
        data = marshal.dumps(reader.content(things), 2)  # version 2 shares no references
    except (UnknownContentError, RecursionError, ValueError):  # too deep for Python, or for marshal
        return Digest(None, not reader.saw_code)
    return Digest(hashlib.sha256(data).hexdigest(), not reader.saw_code)


class _Reader:
    """Takes things apart.

    Attributes:
        known: what was met, by identity: its number, and itself, which keeps the identity its own. Code and users'
            objects stay known, and are taken apart once; values that are equal count as equal however they are shared.
        saw_code: whether code was read that is not told by its name.
    """

    __slots__ = ("count", "known", "saw_code")

    def __init__(self) -> None:
        self.known: dict[int, tuple[int, Any]] = {}
        self.count, self.saw_code = 0, False

    def content(self, thing: Any) -> Any:
        """Return the content of anything. An object may say itself what it is made of, by a method `__content__()`.

        Raises:
            UnknownContentError: if it cannot be known.
        """
        kind = type(thing)
        if kind in PLAIN or (kind is tuple and _FLOATS.issuperset(map(type, thing))):
            return thing
        taken_apart, is_known = _way(kind)
        if is_known is _NEVER:
            return taken_apart(self, thing)
        number = id(thing)
        if number in self.known:
            return ("known", self.known[number][0])
        self.known[number] = self.count, thing
        self.count += 1
        found = taken_apart(self, thing)
        if is_known is _WITHIN:
            del self.known[number]
        return found

    def all(self, things: Any) -> tuple[Any, ...]:
        """Return the contents of several things."""
        return tuple([e if type(e) in PLAIN else self.content(e) for e in things])


_NEVER, _WITHIN, _ALWAYS = "never", "within", "always"
"""Where a thing is known as one that was met: what cannot change is no part of itself, values may be equal."""
Way = tuple[Callable[[_Reader, Any], Any], str]


@functools.lru_cache(maxsize=1024)
def _way(kind: type) -> Way:
    """Return how instances of a class are taken apart, and where they are known as what was met."""
    if hasattr(kind, "__content__"):
        return (lambda reader, thing: (_name(kind), reader.content(thing.__content__()))), _ALWAYS
    for container in CONTAINERS:
        if issubclass(kind, container):
            return functools.partial(_container, container=container), _NEVER if issubclass(kind, tuple) and _told(
                kind
            ) else _WITHIN
    if issubclass(kind, Enum):
        return (lambda reader, thing: (reader.content(kind), thing.name)), _NEVER
    for known, way in _WAYS.items():
        if kind is known or (known is type and issubclass(kind, type)):
            return way
    if issubclass(kind, np.generic) and _is_trusted(kind):
        return _array, _NEVER
    if not is_plain(kind):
        return _refused, _NEVER  # functools.partial, say, holds what no attribute of its class shows
    names = sorted(slot.__name__ for slot in _slots(kind))
    if _is_trusted(kind) and not kind.__dictoffset__ and len(names) > 1:
        return functools.partial(_record, name=_name(kind), values=attrgetter(*names)), _NEVER
    return _object, _WITHIN if _is_trusted(kind) else _ALWAYS


def _refused(reader: _Reader, thing: Any) -> Any:
    raise UnknownContentError(thing)


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


def _container(reader: _Reader, thing: Any, container: Any) -> Any:
    """Return a built-in container, or one of a class below it: its class, its entries, its attributes."""
    kind = type(thing)
    if kind is not container and not is_plain(kind, container):
        raise UnknownContentError(thing)
    if container is dict:
        entries = [reader.all(pair) for pair in dict.items(thing)]
    else:
        entries = reader.all(container.__iter__(thing))
    entries = sorted(map(repr, entries)) if container in (set, frozenset) else entries
    own = _state(reader, thing) if _has_attributes(kind) else ()
    return (_told(kind) or reader.content(kind), tuple(entries), *own)


def _array(reader: _Reader, array: Any) -> Any:
    kind, array = type(array), np.asarray(array)
    head = (_name(kind), array.dtype.str if array.dtype.names is None else repr(array.dtype), array.shape)
    return (*head, reader.all(array.ravel().tolist()) if array.dtype.hasobject else array.tobytes())


def _record(reader: _Reader, thing: Any, name: str, values: Callable[[Any], tuple[Any, ...]]) -> Any:
    """Return an instance of a class that is told by its name and has slots alone: their values."""
    try:
        return (name, *reader.all(values(thing)))
    except AttributeError:  # one is not set
        return _object(reader, thing)


@functools.lru_cache(maxsize=1024)
def _has_attributes(kind: type) -> bool:
    return bool(kind.__dictoffset__ or _slots(kind))


def _object(reader: _Reader, thing: Any) -> Any:
    return (reader.content(type(thing)), *_state(reader, thing))


def _state(reader: _Reader, thing: Any) -> list[Any]:
    named = attributes(thing)
    return [(name, reader.content(named[name])) for name in sorted(named)]


# --- attributes --------------------------------------------------------------------------------------------------


def members(thing: Any) -> dict[Any, Any]:
    """Return what an instance holds, by the name in its `__dict__` or by the descriptor of its slot."""
    found: dict[Any, Any] = {}
    for slot in _slots(type(thing)):
        with contextlib.suppress(AttributeError):  # not set
            found[slot] = slot.__get__(thing)
    with contextlib.suppress(AttributeError):
        found |= object.__getattribute__(thing, "__dict__")
    return found


def attributes(thing: Any) -> dict[str, Any]:
    """Return what an instance holds by name: in its `__dict__` and in the slots of every class."""
    return {name if isinstance(name, str) else name.__name__: value for name, value in members(thing).items()}


@functools.lru_cache(maxsize=1024)
def _slots(kind: type) -> tuple[Any, ...]:
    found = (member for base in kind.__mro__ for member in vars(base).values())
    return tuple(member for member in found if isinstance(member, types.MemberDescriptorType))


# --- code --------------------------------------------------------------------------------------------------------


def _name(kind: Any) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def is_of_trusted(module: str | None) -> bool:
    """Return whether what a module defines is told by its name."""
    if module is None or "random" in module:
        return False
    package, *room = module.split(".", 2)[:2]
    return package in TRUSTED and not (package == "cardan" and room and room[0] in APART)


def _is_trusted(kind: type) -> bool:
    """Return whether a class is told by its name."""
    if kind.__module__ == "builtins":  # or made by `exec` in a namespace without a name, which says the same
        return not kind.__flags__ & _HEAP_TYPE
    return is_of_trusted(kind.__module__) and "<" not in kind.__qualname__


@functools.lru_cache(maxsize=1024)
def _told(kind: type) -> str | None:
    """Return the name of a class that is told by it."""
    return _name(kind) if _is_trusted(kind) else None


def _class(reader: _Reader, kind: type) -> Any:
    """Return a class as its name, and its code where it is not told by that."""
    if _is_trusted(kind):
        return _name(kind)
    if type(kind).__module__ not in ("builtins", "abc", "enum"):
        raise UnknownContentError(kind)
    reader.saw_code = True
    own = [(n, reader.content(member)) for n, member in sorted(vars(kind).items()) if _says_something(kind, n, member)]
    fields = [(f.name, f.repr, f.compare) for f in vars(kind).get("__dataclass_fields__", {}).values()]
    return (_name(kind), reader.all(kind.__bases__), tuple(own), tuple(fields))


def _says_something(kind: type, name: str, member: Any) -> bool:
    """Return whether a member of a class says what it does, beside the others."""
    if name in SKIPPED or name.startswith(("_abc_", "__dataclass", "__annotate")):
        return False
    if name in ("__hash__", "__repr__", "__replace__") and "__dataclass_fields__" in vars(kind) and callable(member):
        code = getattr(inspect.unwrap(member), "__code__", None)
        made = "<string>", dataclasses.__file__  # of the fields, or the one function for all that have some
        return code is None or code.co_filename not in made
    return not isinstance(member, (types.MemberDescriptorType, types.GetSetDescriptorType, _FIELD))


def _module(reader: _Reader, module: types.ModuleType) -> Any:
    if not is_of_trusted(module.__name__):
        raise UnknownContentError(module)
    return ("module", module.__name__)


def _builtin(reader: _Reader, function: types.BuiltinFunctionType) -> Any:
    """Return a function written in C: one of a module, or a class's own (`tuple.__new__`)."""
    owner, name = function.__self__, function.__name__
    module = owner.__module__ if isinstance(owner, type) else function.__module__
    if name in READS or not is_of_trusted(module) or not isinstance(owner, (type, types.ModuleType)):
        raise UnknownContentError(function)
    return ("function", module, function.__qualname__)


def _ufunc(reader: _Reader, function: np.ufunc) -> Any:
    if getattr(np, function.__name__, None) is not function:  # one of np.frompyfunc, say
        raise UnknownContentError(function)
    return ("function", "numpy", function.__name__)


def _function(reader: _Reader, function: types.FunctionType) -> Any:
    """Return a function as its name, if it is where that says, or its code with all that reads.

    The name is that of its code: the function's own may be another's (`functools.wraps`).
    """
    code, module = function.__code__, function.__globals__.get("__name__")
    if is_of_trusted(module) and "<" not in code.co_qualname:
        if code.co_name in READS:
            raise UnknownContentError(function)
        return ("function", module, code.co_qualname, code.co_firstlineno)
    reader.saw_code = True
    own = {name: value for name, value in function.__dict__.items() if name not in SKIPPED}
    values = (function.__defaults__, function.__kwdefaults__, own)
    cells = [_cell(reader, cell) for cell in function.__closure__ or ()]
    return ("function", _text(reader, code), _globals(reader, function), reader.all(values), tuple(cells))


def _cell(reader: _Reader, cell: types.CellType) -> Any:
    try:
        value = cell.cell_contents
    except ValueError:
        return ("empty",)
    return ("cell", reader.content(value))


def _text(reader: _Reader, code: types.CodeType) -> Any:
    """Return a code object without where it stands: instructions, names, constants."""
    constants = tuple(_text(reader, c) if isinstance(c, types.CodeType) else reader.content(c) for c in code.co_consts)
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    names = (code.co_name, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    return (counts, code.co_code, code.co_exceptiontable, constants, *names)


def _globals(reader: _Reader, function: types.FunctionType) -> Any:
    """Return the content of the globals a function reads, its inner functions included."""
    for code in all_code(function.__code__):
        if READS & set(code.co_names):
            raise UnknownContentError(function)
        for instruction in dis.get_instructions(code):
            if instruction.opname == "IMPORT_NAME" and not is_of_trusted(instruction.argval):
                raise UnknownContentError(function)
            if instruction.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
                raise UnknownContentError(function)
    missing, found = object(), []
    for name in globals_read(function.__code__):
        value = function.__globals__.get(name, getattr(builtins, name, missing))
        found.append((name, "missing") if value is missing else (name, "is", reader.content(value)))
    return tuple(found)


@functools.lru_cache(maxsize=1024)
def globals_read(code: types.CodeType) -> tuple[str, ...]:
    """Return the names of the globals that code and the functions within read."""
    instructions = (i for part in all_code(code) for i in dis.get_instructions(part))
    return tuple(sorted({i.argval for i in instructions if i.opname in LOADS}))


def all_code(code: types.CodeType) -> list[types.CodeType]:
    """Return a code object and those of the functions within."""
    inner = [c for constant in code.co_consts if isinstance(constant, types.CodeType) for c in all_code(constant)]
    return [code, *inner]


def _parts(*names: str) -> Way:
    """Return how things are taken apart of which a few attributes say everything."""
    return (lambda reader, thing: (_name(type(thing)), *reader.all(getattr(thing, n) for n in names))), _NEVER


_BY_NAME: Way = (lambda reader, thing: (repr(thing),)), _NEVER
_WAYS: dict[type, Way] = {
    types.MappingProxyType: ((lambda reader, thing: ("proxy", *map(reader.all, thing.items()))), _WITHIN),
    np.ndarray: (_array, _WITHIN),
    type(Ellipsis): _BY_NAME,
    type(NotImplemented): _BY_NAME,
    type: (_class, _ALWAYS),
    types.FunctionType: (_function, _ALWAYS),
    types.BuiltinFunctionType: (_builtin, _NEVER),
    np.ufunc: (_ufunc, _NEVER),
    types.ModuleType: (_module, _NEVER),
    types.MethodType: _parts("__func__", "__self__"),
    property: _parts("fget", "fset"),
    staticmethod: _parts("__func__"),
    classmethod: _parts("__func__"),
}
"""How things of these classes are taken apart."""
