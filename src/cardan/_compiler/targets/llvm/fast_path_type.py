"""A class of objects that Python calls as it calls a function: straight into the fast path that each of them holds.

An object of a class with a `__call__` is called by way of a tuple of its arguments, and of a dictionary of the named
ones: 35 ns, and 100 with `out=`, which is as long as the fast path takes. A class with a vectorcall (PEP 590) is
called with the arguments as they lie on Python's stack. Such a class can be made by `PyType_FromSpecWithBases` alone.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any

from cardan._compiler.targets.llvm import fast_path_layout as layout
from cardan._compiler.targets.llvm.image import LOCK, Image, load
from cardan._compiler.targets.llvm.store import kept
from cardan._compiler.targets.llvm.writer import Code


class _Member(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("type", ctypes.c_int),
        ("offset", ctypes.c_ssize_t),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


class _Slot(ctypes.Structure):
    _fields_ = (("number", ctypes.c_int), ("value", ctypes.c_void_p))


class _Spec(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("basicsize", ctypes.c_int),
        ("itemsize", ctypes.c_int),
        ("flags", ctypes.c_uint),
        ("slots", ctypes.POINTER(_Slot)),
    )


_SSIZE, _READONLY = 19, 1
_CALL, _MEMBERS = 50, 72  # numbers of slots, fixed by the stable ABI
_HAVE_VECTORCALL = 1 << 11
_WITHOUT_FLAGS = 2**63 - 1  # the highest bit of the number of arguments is a flag


def held_by(kind: type, slot: str) -> Callable[[Callable[..., Any]], Any]:
    """Return what makes objects of a subclass that hold a fast path in a slot, and are called as that fast path is.

    Args:
        kind: the class; all it has is in slots.
        slot: one of them.
    """
    with LOCK:
        return _maker(kind, slot)


@functools.cache
def _maker(kind: type, slot: str) -> Callable[[Callable[..., Any]], Any]:
    subclass, code = _subclass(kind), _code(_offset(kind, slot))
    place = kind.__basicsize__
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(code))  # never freed: some objects outlive all modules

    def made(fast_path: Callable[..., Any]) -> Any:
        held = subclass.__new__(subclass)
        setattr(held, slot, fast_path)
        ctypes.c_void_p.from_address(id(held) + place).value = code.address
        return held

    return made


def _subclass(kind: type) -> Any:
    """Return a subclass with a vectorcall, whose address is behind all that its objects have otherwise."""
    call = ctypes.cast(ctypes.pythonapi.PyVectorcall_Call, ctypes.c_void_p)
    members = (_Member * 2)(_Member(b"__vectorcalloffset__", _SSIZE, kind.__basicsize__, _READONLY, None))
    slots = (_Slot * 3)(_Slot(_CALL, call), _Slot(_MEMBERS, ctypes.addressof(members)))
    name = f"{kind.__module__}.{kind.__qualname__}".encode()
    spec = _Spec(name, kind.__basicsize__ + ctypes.sizeof(ctypes.c_void_p), 0, _HAVE_VECTORCALL, slots)
    make = ctypes.pythonapi.PyType_FromSpecWithBases
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object]
    made = make(ctypes.addressof(spec), (kind,))
    made.__doc__ = kind.__doc__
    return made


def _offset(kind: type, slot: str) -> int:
    """Return where in its objects a slot is: where what is put there is seen."""
    sample, mark = object.__new__(kind), object()
    setattr(sample, slot, mark)
    words = range(0, kind.__basicsize__, 8)
    return next(k for k in words if ctypes.c_void_p.from_address(id(sample) + k).value == id(mark))


def _code(offset: int) -> Any:
    """Return the machine code that hands a call on to the fast path in a slot."""
    source = f"fast path in a slot {offset, layout.METHOD, layout.SELF}"
    return load(kept(source, lambda: _compiled(offset))[0], "call")


def _compiled(offset: int) -> Image:
    from cardan._compiler.targets.llvm.machine import compile_image

    return compile_image(call_text(offset), "call")


def call_text(offset: int) -> str:
    """Return the module: the function `call(callable, args, nargs, kwnames)`, as Python calls such objects."""
    w = Code()
    fast_path = w.load("ptr", w.at("%callable", offset), 8)
    w.unless(w.emit(f"icmp ne ptr {fast_path}, null"), "gone")
    method, bound_to = (w.load("ptr", w.at(fast_path, place), 8) for place in (layout.METHOD, layout.SELF))
    code = w.load("ptr", w.at(method, 8), 8)  # behind its name
    count = w.whole("and", "%nargs", _WITHOUT_FLAGS)
    answer = w.emit(f"tail call ptr {code}(ptr {bound_to}, ptr %args, i64 {count}, ptr %kwnames)")
    w.line(f"ret ptr {answer}")
    w.label("gone")  # the collector took the fast path: Python raises SystemError
    w.line("ret ptr null")
    head = "define ptr @call(ptr %callable, ptr %args, i64 %nargs, ptr %kwnames) nounwind {"
    return "\n".join([head, "start:", *w.lines, "}"])
