"""The fast path: a function for Python, in machine code, that reads NumPy arrays itself and calls a compiled program.

Reading and checking four arrays through NumPy's Python face takes microseconds; a small robot's dynamics take a tenth
of one. So the common case is decided here: arrays of exactly the expected type, dtype and core shape, contiguous, with
equal leading dimensions, numbers for one state, and `out=` at most. Everything else goes to a Python callable, which
converts or explains.

One fast path serves all programs; what it must know of each is in its context, an array of 64-bit words. The layout of
NumPy's and Python's own objects is looked up at import (`is_supported`), not assumed.
"""

from __future__ import annotations

import ctypes
import functools
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from cardan._algebra.lazy import later
from cardan._compiler.runtime.log import log
from cardan._compiler.runtime.memory import ALIGNED, LEAST, empty
from cardan._compiler.runtime.threads import COUNT, PART, WORTHWHILE
from cardan._compiler.targets.llvm import fast_path_layout as layout
from cardan._compiler.targets.llvm.fast_path_layout import PyMemberDef, PyMethodDef, PyType_Slot, PyType_Spec
from cardan._compiler.targets.llvm.image import once, workspace
from cardan._compiler.targets.llvm.store import image_of, load
from cardan._compiler.targets.runner import PythonCall

RELEASE = 50_000  # work from which the interpreter's lock is released (about 3 us)
_NEW_ARRAY, _AS_SCALAR = 93, 76  # in NumPy's table of C functions, fixed since 1.0

_DTYPES = {8: np.dtype(np.float64), 4: np.dtype(np.float32)}
_FASTCALL_KEYWORDS = 0x80 | 0x02
_SSIZE, _READONLY = 19, 1  # of a member of objects
_CALL, _MEMBERS = 50, 72  # numbers of slots, fixed by the stable ABI
_HAVE_VECTORCALL = 1 << 11
_TEXT = "cardan._compiler.targets.llvm.fast_path_text"
_OUT = sys.intern("out")
_NUMBERS = (float, np.float64, int, np.int64, np.float32)  # not their subclasses: truth values are no numbers


def _read(address: int, kind: Any) -> int:
    return kind.from_address(address).value or 0


@functools.cache
def is_supported() -> bool:
    """Return whether calls may go through the fast path; if not, say why, once."""
    reason = closed_because()
    if reason is not None:
        log().warning("calls go through Python, which takes tens of microseconds more: %s", reason)
    return reason is None


def closed_because() -> str | None:
    """Return why this Python and NumPy are not those the fast path is made for; None if they are."""
    if sys.implementation.name != "cpython":
        return f"{sys.implementation.name} is not CPython"
    if "free-threading" in sys.version:
        return "this Python is free-threaded"
    if sys.maxsize < 2**32:
        return "this Python has 32 bits"
    wrong = [what for what, expected, found in _layout() if expected != found]
    return f"objects are laid out otherwise in memory: {', '.join(wrong)}" if wrong else None


def _layout() -> Iterator[tuple[str, Any, Any]]:
    sample, names, swapped = np.zeros((7, 3, 5))[2:], ("one", "two", "three"), np.dtype(np.float64).newbyteorder()
    turned = sample.T  # held: what is read below must be alive
    array, dims = id(sample), _read(id(sample) + layout.DIMS, ctypes.c_void_p)
    yield "type", id(np.ndarray), _read(array + layout.TYPE, ctypes.c_void_p)
    yield "data", sample.__array_interface__["data"][0], _read(array + layout.DATA, ctypes.c_void_p)
    yield "dimensions", 3, _read(array + layout.ND, ctypes.c_int)
    yield "dtype", id(np.dtype(np.float64)), _read(array + layout.DESCR, ctypes.c_void_p)
    flags = layout.CONTIGUOUS_ALIGNED | layout.WRITEABLE
    yield "flags", flags, _read(array + layout.FLAGS, ctypes.c_int) & flags
    yield "flags of others", 0, _read(id(turned) + layout.FLAGS, ctypes.c_int) & 1
    if dims and sample.ndim == _read(array + layout.ND, ctypes.c_int):  # else there is no telling where this points
        yield "shape", [5, 3, 5], [_read(dims + 8 * k, ctypes.c_int64) for k in range(3)]
    for size, number in layout.TYPE_NUMBERS.items():
        yield "number of a dtype", number, _read(id(np.dtype(f"f{size}")) + layout.NUMBER, ctypes.c_int)
    orders = [_read(id(descr) + layout.BYTE_ORDER, ctypes.c_char) for descr in (np.dtype(np.float64), swapped)]
    yield "byte order", [b"=", swapped.byteorder.encode()], orders
    function = names.index
    yield "self of a function", id(names), _read(id(function) + layout.SELF, ctypes.c_void_p)
    record = _read(id(function) + layout.METHOD, ctypes.c_void_p)
    yield "record of a function", b"index", record and ctypes.c_char_p.from_address(record).value
    yield "length of a tuple", 3, _read(id(names) + layout.SIZE, ctypes.c_int64)
    yield "items of a tuple", id(names[0]), _read(id(names) + layout.ITEMS, ctypes.c_void_p)


@once
def _machine_code() -> Any:
    source = f"fast path {layout.WHERE}"  # what writes it is in the name of what is kept, too
    return load(image_of(source, later(f"{_TEXT}:fast_path_text"), "fast_path"), "fast_path")


@functools.cache
def _addresses() -> dict[str, int]:
    api = ctypes.pythonapi
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    of_numpy = sys.modules["numpy._core._multiarray_umath"]
    table = api.PyCapsule_GetPointer(of_numpy._ARRAY_API, None)
    names = {
        "vectorcall": "PyObject_Vectorcall",
        "save_thread": "PyEval_SaveThread",
        "restore_thread": "PyEval_RestoreThread",
        "incref": "Py_IncRef",
        "decref": "Py_DecRef",
        "malloc": "PyMem_RawMalloc",
        "free": "PyMem_RawFree",
        "as_double": "PyFloat_AsDouble",
        "raised": "PyErr_Occurred",
        "clear": "PyErr_Clear",
        "new_object": "PyType_GenericAlloc",
        "new_dict": "PyDict_New",
        "set_item": "PyDict_SetItem",
    }
    found = {word: ctypes.cast(getattr(api, name), ctypes.c_void_p).value or 0 for word, name in names.items()}
    found["new_array"] = _read(table + 8 * _NEW_ARRAY, ctypes.c_void_p)
    found["as_scalar"] = _read(table + 8 * _AS_SCALAR, ctypes.c_void_p)
    found |= {"array_type": id(np.ndarray), "tuple_type": id(tuple), "out_name": id(_OUT), "nothing": id(None)}
    found |= {f"number{k}": id(kind) for k, kind in enumerate(_NUMBERS)}
    return found


@once
def _method(name: str) -> Any:
    record = PyMethodDef(name.encode(), _machine_code().address, _FASTCALL_KEYWORDS, None)
    # never freed: Python reads it while it frees functions, and some outlive all modules (those of daemon threads)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(record))
    return record


class FastPath:
    """The fast path to one program, for core shapes of its arguments and of the arrays that are made.

    `places` has of each output of the program the result it is in, the entry where it begins there, and how many
    entries rows are apart. Up to `few` states, of float64 and of float32, have code of their own. `patience` says, of
    each kind of code that is not there, how many states code of the other kind serves for now. See `work_of` for the
    work of a state, `Outline` for passes.
    """

    def __init__(
        self,
        call: PythonCall,
        arrays: Sequence[tuple[int, ...]],
        results: Sequence[tuple[int, ...]],
        places: Sequence[tuple[int, int, int]],
        *,
        work: int,
        few: Sequence[int],
        patience: np.ndarray,
        passes: int,
    ) -> None:
        slow, parts, gathered, finish = call.slow, call.parts, call.gathered, call.finish
        lead = next((k for k, shape in enumerate(arrays) if shape), 0)
        makers = [functools.partial(_lent, len(arrays[lead]), shape) for shape in results]
        counter = COUNT if call.threads is None else ctypes.c_int64(call.threads)
        words = {**_addresses(), "count": len(arrays), "results": len(results), "outputs": len(places)}
        words |= {"parts": len(parts), "lead": lead, "slow": id(slow), "passes": passes}
        words["threads"] = ctypes.addressof(counter)
        work = max(work, 1)  # the most states of a call on one thread, and on several, and from how many it unlocks
        words |= {"alone": max(PART // work, 1), "shared": max((WORTHWHILE - 1) // work, 1), "release": RELEASE // work}
        names = gathered if isinstance(gathered, tuple) else ()
        words |= {"gathered": id(gathered) if isinstance(gathered, type) else 0, "is_dict": len(names)}
        words |= {"finish": id(finish) if finish else 0, "few0": few[0], "few1": few[1]}
        words["patience"] = patience.__array_interface__["data"][0]
        keys = [id(name) for name in names] or [0] * len(results)
        specs = [_spec(s, id(maker), key) for s, maker, key in zip(results, makers, keys, strict=True)]
        specs += [_spec(shape) for shape in arrays]
        rows = [[words.get(word, 0) for word in layout.FIELDS], *specs, *places, *parts]
        self.context = np.array([number for row in rows for number in row], dtype=np.int64)
        self._kept: list[Any] = [self, slow, gathered, finish, makers, counter, patience, _machine_code(), _OUT]
        make = ctypes.pythonapi.PyCFunction_NewEx
        make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.py_object]
        self.function: Callable[..., Any] = make(ctypes.addressof(_method(call.name)), self.context, self._kept)

    def open(self, which: int, code: Any) -> None:
        """Let states in to machine code that is ready; `which` is its number (`CodeKind.number`)."""
        if self.context[layout.WORD["evaluate0"] + which]:
            return
        self._kept.append(code)
        if code.heap:
            space, start = workspace(code.heap)
            self._kept.append(space)
            self.context[layout.WORD["spare0"] + which] = start
            self.context[layout.WORD["heap0"] + which] = code.heap
        self.context[layout.WORD["evaluate0"] + which] = code.address  # last: from here on it is used


def _spec(shape: tuple[int, ...], maker: int = 0, name: int = 0) -> list[int]:
    """Return what a fast path knows of an array.

    Where a row is a multiple of half a line of the cache, rows lie on lines, and writing them takes up to half the time
    if the first one does; of others, which lie across lines anyway, only very large ones are not new memory.
    """
    entries = math.prod(shape)
    large = ALIGNED if entries % 4 == 0 else LEAST
    return [len(shape), entries, maker, large, name, *shape, *[0] * (layout.MAX_CORE - len(shape))]


def _lent(core: int, shape: tuple[int, ...], first: np.ndarray) -> np.ndarray:
    return empty(first.shape[: first.ndim - core] + shape, _DTYPES[first.itemsize])


def serves(arrays: Sequence[tuple[int, ...]], results: Sequence[tuple[int, ...]], outputs: int) -> bool:
    """Return whether a fast path can be made for these core shapes, and so many outputs."""
    fits = all(len(shape) <= layout.MAX_CORE for shape in (*arrays, *results))
    return is_supported() and fits and 1 <= len(arrays) <= layout.MAX_ARRAYS and 1 <= outputs <= layout.MAX_OUTPUTS


# --- objects that are called as a fast path ---


@once
def held_by(kind: type, slot: str) -> Callable[[Callable[..., Any]], Any]:
    """Return what makes objects of a subclass that hold a fast path in a slot, and are called as that fast path is.

    All that the class has is in slots. An object of a class with a `__call__` is called by way of a tuple of its
    arguments, and of a dictionary of the named ones: 35 ns, and 100 with `out=`, which is as long as the fast path
    takes. A class with a vectorcall (PEP 590) is called with the arguments as they lie on Python's stack. Such a class
    can be made by `PyType_FromSpecWithBases` alone.
    """
    subclass, offset, place = _subclass(kind), _offset(kind, slot), kind.__basicsize__
    source = f"fast path in a slot {offset, layout.METHOD, layout.SELF}"
    code = load(image_of(source, lambda: later(f"{_TEXT}:call_text")(offset), "call"), "call")
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
