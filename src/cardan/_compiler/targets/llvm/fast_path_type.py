"""A class of objects that Python calls as it calls a function: straight into the fast path that each of them holds.

An object of a class with a `__call__` is called by way of a tuple of its arguments, and of a dictionary of the named
ones: 35 ns, and 100 with `out=`, which is as long as the fast path takes. A class with a vectorcall (PEP 590) is
called with the arguments as they lie on Python's stack. Such a class can be made by `PyType_FromSpecWithBases` alone.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from cardan._algebra.lazy import later
from cardan._compiler.targets.llvm import fast_path_layout as layout
from cardan._compiler.targets.llvm.fast_path_layout import PyMemberDef, PyType_Slot, PyType_Spec
from cardan._compiler.targets.llvm.image import once
from cardan._compiler.targets.llvm.store import image_of, load

_SSIZE, _READONLY = 19, 1
_CALL, _MEMBERS = 50, 72  # numbers of slots, fixed by the stable ABI
_HAVE_VECTORCALL = 1 << 11
_TEXT = "cardan._compiler.targets.llvm.fast_path_text:call_text"


@once
def held_by(kind: type, slot: str) -> Callable[[Callable[..., Any]], Any]:
    """Return what makes objects of a subclass that hold a fast path in a slot, and are called as that fast path is.

    All that the class has is in slots.
    """
    subclass, offset, place = _subclass(kind), _offset(kind, slot), kind.__basicsize__
    source = f"fast path in a slot {offset, layout.METHOD, layout.SELF}"
    code = load(image_of(source, lambda: later(_TEXT)(offset), "call"), "call")
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
    members = (PyMemberDef * 2)(PyMemberDef(b"__vectorcalloffset__", _SSIZE, kind.__basicsize__, _READONLY, None))
    slots = (PyType_Slot * 3)(PyType_Slot(_CALL, call), PyType_Slot(_MEMBERS, ctypes.addressof(members)))
    name = f"{kind.__module__}.{kind.__qualname__}".encode()
    size = kind.__basicsize__ + ctypes.sizeof(ctypes.c_void_p)
    spec = PyType_Spec(name, size, 0, _HAVE_VECTORCALL, ctypes.addressof(slots))
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
