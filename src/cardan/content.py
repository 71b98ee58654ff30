"""What a value or a function is made of, as plain data: two of the same content do the same.

Content is made of numbers, texts and tuples of these, so that its digest is the same in every process and on every
machine. Objects are taken apart into their class and state, classes and functions into their code, with all they read:
globals, closures, defaults. What belongs to cardan, to NumPy's mathematics, or to Python itself is told by its name.
Whatever could read something else (a file, the clock, a random number, an object with state of unknown kind) has no
content: `UnknownContentError` is raised, and nobody takes such a thing for another one.
"""

from __future__ import annotations

import builtins
import dis
import functools
import hashlib
import marshal
import types
from enum import Enum
from typing import Any

import numpy as np

TRUSTED = ("cardan", "numpy", "math", "builtins", "operator", "functools", "itertools", "typing", "collections")
"""Modules whose functions and classes are told by their name."""
READS = frozenset(
    {
        "open",
        "input",
        "eval",
        "exec",
        "compile",
        "globals",
        "locals",
        "vars",
        "getattr",
        "setattr",
        "__import__",
        "id",
        "hash",
    }
    | {"random", "load", "loadtxt", "genfromtxt", "fromfile", "memmap", "environ", "time", "perf_counter", "now"}
)
"""Names through which code reads what its own text does not say."""
SKIPPED = frozenset(
    {"__dict__", "__weakref__", "__doc__", "__module__", "__annotations__", "__firstlineno__", "__static_attributes__"}
)
"""Members of a class that do not say what it does."""
_HEAP_TYPE = 1 << 9  # of `type.__flags__`: set for every class that is not built into a library
PLAIN = (type(None), bool, int, float, complex, str, bytes)


class UnknownContentError(Exception):
    """Something's content cannot be known."""


def digest(*things: Any) -> str | None:
    """Return the SHA-256 of things' content, as 64 hexadecimal digits; None where it cannot be known."""
    try:
        return hashlib.sha256(marshal.dumps(content(things), 2)).hexdigest()  # version 2 shares no references
    except (UnknownContentError, RecursionError):
        return None


def content(thing: Any) -> Any:
    """Return the content of anything.

    An object may say itself what it is made of, by a method `__content__()`.

    Raises:
        UnknownContentError: if it cannot be known.
    """
    return _content(thing, ())


def _content(thing: Any, above: tuple[int, ...]) -> Any:
    kind = type(thing)
    if kind in PLAIN:
        return thing
    if kind is tuple and all(type(e) is float for e in thing):
        return thing
    if id(thing) in above:
        return ("above", above.index(id(thing)))  # a function that calls itself
    inner = (*above, id(thing))
    if hasattr(kind, "__content__"):
        return (_name(kind), _content(thing.__content__(), inner))
    for container in (tuple, list, dict, set, frozenset):
        if isinstance(thing, container):
            return _container(thing, container, inner)
    if kind is types.MappingProxyType:
        return ("proxy", *((_content(k, inner), _content(v, inner)) for k, v in thing.items()))
    if isinstance(thing, (np.ndarray, np.generic)):
        return _array(thing, inner)
    if thing is Ellipsis:
        return ("...",)
    if isinstance(thing, Enum):
        return (_class(kind, inner), thing.name)
    if isinstance(thing, (type, types.FunctionType, types.BuiltinFunctionType, np.ufunc, types.ModuleType)):
        return _code(thing, inner)
    if isinstance(thing, types.MethodType):
        return ("method", _content(thing.__func__, inner), _content(thing.__self__, inner))
    if isinstance(thing, (property, staticmethod, classmethod)):
        parts = (thing.fget, thing.fset) if isinstance(thing, property) else (thing.__func__,)
        return (_name(kind), *(_content(p, inner) for p in parts))
    if not is_plain(kind):
        raise UnknownContentError(thing)  # functools.partial, say, holds what no attribute of its class shows
    return (_class(kind, inner), *_state(thing, inner))


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


def _container(thing: Any, container: Any, inner: tuple[int, ...]) -> Any:
    """Return a built-in container, or one of a class below it: its class, its entries, its attributes."""
    kind = type(thing)
    if not is_plain(kind, container):
        raise UnknownContentError(thing)
    if container is dict:
        entries = [(_content(k, inner), _content(v, inner)) for k, v in dict.items(thing)]
    elif all(type(e) is float for e in container.__iter__(thing)) and container in (tuple, list):
        entries = list(container.__iter__(thing))
    else:
        entries = [_content(e, inner) for e in container.__iter__(thing)]
    entries = sorted(map(repr, entries)) if container in (set, frozenset) else entries
    return (_class(kind, inner), tuple(entries), *_state(thing, inner))


@functools.cache
def _name(kind: Any) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _array(array: Any, inner: tuple[int, ...]) -> Any:
    array = np.asarray(array)
    if array.dtype.hasobject:
        return ("array", array.shape, *(_content(e, inner) for e in array.ravel().tolist()))
    return ("array", array.dtype.str, array.shape, array.tobytes())


def _state(thing: Any, inner: tuple[int, ...]) -> list[Any]:
    """Return the attributes of an object: those in its dictionary and in the slots of its classes."""
    named = {slot: getattr(thing, slot) for slot in _slots(type(thing)) if hasattr(thing, slot)}
    if hasattr(thing, "__dict__"):
        named |= thing.__dict__
    return [(name, _content(named[name], inner)) for name in sorted(named)]


@functools.cache
def _slots(kind: type) -> tuple[str, ...]:
    """Return the names of a class's slots, private ones as they are mangled."""
    found = []
    for owner in kind.__mro__:
        slots = owner.__dict__.get("__slots__", ())
        for slot in (slots,) if isinstance(slots, str) else slots:
            mangled = slot.startswith("__") and not slot.endswith("__")
            found.append(f"_{owner.__name__.lstrip('_')}{slot}" if mangled else slot)
    return tuple(slot for slot in found if slot not in ("__dict__", "__weakref__"))


def is_trusted(module: str | None) -> bool:
    """Return whether what a module holds is told by its name."""
    return module is not None and module.partition(".")[0] in TRUSTED


def _class(kind: type, inner: tuple[int, ...]) -> Any:
    """Return a class as its name, and its code where it is not told by that."""
    if is_trusted(kind.__module__):
        return _name(kind)
    if id(kind) in inner:
        return ("above", inner.index(id(kind)))
    if type(kind).__module__ not in ("builtins", "abc", "enum"):
        raise UnknownContentError(kind)
    inner = (*inner, id(kind))
    own = [
        (name, _content(member, inner))
        for name, member in sorted(vars(kind).items())
        if name not in SKIPPED
        and not name.startswith(("_abc_", "__dataclass", "__annotate"))
        and not isinstance(member, (types.MemberDescriptorType, types.GetSetDescriptorType))
    ]
    return (_name(kind), *(_class(base, inner) for base in kind.__bases__), *own)


def _code(thing: Any, inner: tuple[int, ...]) -> Any:
    if isinstance(thing, types.ModuleType):
        if is_trusted(thing.__name__) and "random" not in thing.__name__:
            return ("module", thing.__name__)
        raise UnknownContentError(thing)
    if isinstance(thing, type):
        return _class(thing, inner)
    module = getattr(thing, "__module__", None) or ("numpy" if isinstance(thing, np.ufunc) else None)
    name = getattr(thing, "__qualname__", thing.__name__)
    if name in READS and module in ("builtins", "numpy"):
        raise UnknownContentError(thing)
    if is_trusted(module) and "<" not in name:
        return ("function", module, name)
    if not isinstance(thing, types.FunctionType):
        raise UnknownContentError(thing)
    closure = [cell.cell_contents for cell in thing.__closure__ or ()]
    own = {name: value for name, value in vars(thing).items() if name != "__wrapped__"}
    defaults = (thing.__defaults__, thing.__kwdefaults__, tuple(closure), own)
    return ("function", _text(thing.__code__), _globals(thing, inner), _content(defaults, inner))


def _text(code: types.CodeType) -> Any:
    """Return a code object without where it stands: instructions, names, constants."""
    constants = tuple(
        _text(c) if isinstance(c, types.CodeType) else c if type(c) in PLAIN else _content(c, ())
        for c in code.co_consts
    )
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    return (
        code.co_name,
        counts,
        code.co_code,
        constants,
        code.co_names,
        code.co_varnames,
        code.co_freevars,
        code.co_cellvars,
    )


def _globals(function: types.FunctionType, inner: tuple[int, ...]) -> Any:
    """Return the content of the globals a function reads, its inner functions included."""
    found: dict[str, Any] = {}
    for code in all_code(function.__code__):
        if READS & set(code.co_names):
            raise UnknownContentError(function)
        for instruction in dis.get_instructions(code):
            if instruction.opname == "IMPORT_NAME" and not is_trusted(instruction.argval):
                raise UnknownContentError(function)
            if instruction.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
                raise UnknownContentError(function)
            if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                found[instruction.argval] = None
    missing = object()
    for name in found:
        value = function.__globals__.get(name, getattr(builtins, name, missing))
        found[name] = ("missing",) if value is missing else _content(value, inner)
    return tuple(sorted(found.items()))


def all_code(code: types.CodeType) -> list[types.CodeType]:
    """Return a code object and those of the functions within."""
    inner = [c for constant in code.co_consts if isinstance(constant, types.CodeType) for c in all_code(constant)]
    return [code, *inner]
