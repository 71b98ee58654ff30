"""The door: a function for Python, in machine code, that reads NumPy arrays itself and calls a compiled program.

Reading and checking four arrays through NumPy's Python face takes microseconds; a small robot's dynamics take a tenth
of one. So the common case is decided here: arrays of exactly the expected type, dtype and core shape, contiguous, with
equal leading dimensions, and `out=` at most. Everything else goes to a Python callable, which converts or explains.

One door serves all programs; what it must know of each is in its context, an array of 64-bit words. The layout of
NumPy's and Python's own objects is looked up at import (`is_supported`), not assumed.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from cardan.runtime.log import log
from cardan.targets.llvm.image import LOCK, Image, load
from cardan.targets.llvm.store import kept

MAX_ARRAYS, MAX_CORE, MAX_DIMS = 16, 6, 32
RELEASE = 50_000  # operations times states from which the interpreter's lock is released (about 3 us of work)

_FIELDS = (
    "count", "array_type", "out_name", "work", "limit", "slow", "finish",
    "descr0", "descr1", "evaluate0", "evaluate1", "heap0", "heap1", "spare0", "spare1",
    "vectorcall", "save_thread", "restore_thread", "incref", "decref", "new_array", "as_scalar", "malloc", "free",
)  # fmt: skip
WORD = {name: k for k, name in enumerate(_FIELDS)}
SPEC_WORDS = 2 + MAX_CORE  # of an array: number of core dimensions, number of entries, the dimensions

# offsets in bytes, after the head that all objects have; `closed_because` sees that they are right
_HEAD = object.__basicsize__
_TYPE, _SIZE, _ITEMS = _HEAD - 8, _HEAD, tuple.__basicsize__
_DATA, _ND, _DIMS, _DESCR, _FLAGS = _HEAD, _HEAD + 8, _HEAD + 16, _HEAD + 40, _HEAD + 48
_BYTE_ORDER, _NUMBER = _HEAD + 10, _HEAD + 12  # of a dtype
_CONTIGUOUS_ALIGNED, _WRITEABLE = 0x101, 0x400
_TYPE_NUMBERS = {8: 12, 4: 11}
_NEW_ARRAY, _AS_SCALAR = 93, 76  # in NumPy's table of C functions, fixed since 1.0

TEXT = f"""
define internal ptr @word(ptr %context, i64 %k) alwaysinline {{
  %p = getelementptr inbounds i64, ptr %context, i64 %k
  %w = load ptr, ptr %p, align 8
  ret ptr %w
}}

define internal i64 @number(ptr %context, i64 %k) alwaysinline {{
  %p = getelementptr inbounds i64, ptr %context, i64 %k
  %w = load i64, ptr %p, align 8
  ret i64 %w
}}

define internal ptr @field(ptr %object, i64 %offset) alwaysinline {{
  %p = getelementptr inbounds i8, ptr %object, i64 %offset
  %w = load ptr, ptr %p, align 8
  ret ptr %w
}}

define internal i32 @small(ptr %object, i64 %offset) alwaysinline {{
  %p = getelementptr inbounds i8, ptr %object, i64 %offset
  %w = load i32, ptr %p, align 8
  ret i32 %w
}}

; whether `n` 64-bit numbers are equal
define internal i1 @equal(ptr %a, ptr %b, i64 %n) alwaysinline {{
entry:
  br label %head
head:
  %k = phi i64 [ 0, %entry ], [ %next, %body ]
  %more = icmp slt i64 %k, %n
  br i1 %more, label %body, label %done
body:
  %x = call i64 @number(ptr %a, i64 %k)
  %y = call i64 @number(ptr %b, i64 %k)
  %next = add nuw nsw i64 %k, 1
  %same = icmp eq i64 %x, %y
  br i1 %same, label %head, label %done
done:
  %r = phi i1 [ true, %head ], [ false, %body ]
  ret i1 %r
}}

; 0 for float64, 1 for float32, 2 for others; NumPy has one dtype object for each, but pickled arrays have their own
define internal i64 @precision(ptr %descr, ptr %context) alwaysinline {{
  %descr0 = call ptr @word(ptr %context, i64 {WORD["descr0"]})
  %is0 = icmp eq ptr %descr, %descr0
  br i1 %is0, label %done, label %not_first
not_first:
  %descr1 = call ptr @word(ptr %context, i64 {WORD["descr1"]})
  %is1 = icmp eq ptr %descr, %descr1
  br i1 %is1, label %done, label %neither
neither:
  %number = call i32 @small(ptr %descr, i64 {_NUMBER})
  %order_at = getelementptr inbounds i8, ptr %descr, i64 {_BYTE_ORDER}
  %order = load i8, ptr %order_at, align 1
  %native = icmp eq i8 %order, {ord("=")}
  %like0 = icmp eq i32 %number, {_TYPE_NUMBERS[8]}
  %like1 = icmp eq i32 %number, {_TYPE_NUMBERS[4]}
  %single = select i1 %like1, i64 1, i64 2
  %either = select i1 %like0, i64 0, i64 %single
  %answer = select i1 %native, i64 %either, i64 2
  br label %done
done:
  %r = phi i64 [ 0, %0 ], [ 1, %not_first ], [ %answer, %neither ]
  ret i64 %r
}}

; whether an object is an array of this precision, contiguous, of shape (batch..., core...)
define internal i1 @fits(ptr %array, ptr %context, i64 %which, ptr %spec, i64 %batch, ptr %batch_dims, i32 %flags) {{
  %type = call ptr @field(ptr %array, i64 {_TYPE})
  %expected = call ptr @word(ptr %context, i64 {WORD["array_type"]})
  %is_array = icmp eq ptr %type, %expected
  br i1 %is_array, label %array_ok, label %no
array_ok:
  %own = call ptr @field(ptr %array, i64 {_DESCR})
  %its = call i64 @precision(ptr %own, ptr %context)
  %same = icmp eq i64 %its, %which
  %its_flags = call i32 @small(ptr %array, i64 {_FLAGS})
  %masked = and i32 %its_flags, %flags
  %flags_ok = icmp eq i32 %masked, %flags
  %nd = call i32 @small(ptr %array, i64 {_ND})
  %nd64 = sext i32 %nd to i64
  %core = call i64 @number(ptr %spec, i64 0)
  %wanted = add nsw i64 %batch, %core
  %nd_ok = icmp eq i64 %nd64, %wanted
  %two = and i1 %same, %flags_ok
  %three = and i1 %two, %nd_ok
  br i1 %three, label %shape, label %no
shape:
  %dims = call ptr @field(ptr %array, i64 {_DIMS})
  %leading = call i1 @equal(ptr %dims, ptr %batch_dims, i64 %batch)
  br i1 %leading, label %trailing, label %no
trailing:
  %core_dims = getelementptr inbounds i64, ptr %dims, i64 %batch
  %spec_dims = getelementptr inbounds i64, ptr %spec, i64 2
  %r = call i1 @equal(ptr %core_dims, ptr %spec_dims, i64 %core)
  ret i1 %r
no:
  ret i1 false
}}

define ptr @door(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) nounwind {{
entry:
  %pointers = alloca [{MAX_ARRAYS} x ptr], align 8
  %dims = alloca [{MAX_DIMS} x i64], align 8
  %one = alloca ptr, align 8
  %c = call ptr @field(ptr %self, i64 {_DATA})
  %count = call i64 @number(ptr %c, i64 {WORD["count"]})
  %specs = getelementptr inbounds i64, ptr %c, i64 {len(_FIELDS)}
  %finish = call ptr @word(ptr %c, i64 {WORD["finish"]})
  %enough = icmp eq i64 %nargs, %count
  br i1 %enough, label %keywords, label %slow
keywords:
  %plain = icmp eq ptr %kwnames, null
  br i1 %plain, label %first, label %named
named:
  %names = call i64 @number(ptr %kwnames, i64 {_SIZE // 8})
  %single = icmp eq i64 %names, 1
  %returns_one = icmp eq ptr %finish, null
  %maybe_out = and i1 %single, %returns_one
  br i1 %maybe_out, label %name, label %slow
name:
  %keyword = call ptr @field(ptr %kwnames, i64 {_ITEMS})
  %out_name = call ptr @word(ptr %c, i64 {WORD["out_name"]})
  %is_out = icmp eq ptr %keyword, %out_name
  br i1 %is_out, label %given, label %slow
given:
  %given_out = call ptr @word(ptr %args, i64 %nargs)
  br label %first

first:                                            ; the first array says dtype and leading dimensions
  %out_argument = phi ptr [ null, %keywords ], [ %given_out, %given ]
  %a0 = load ptr, ptr %args, align 8
  %type0 = call ptr @field(ptr %a0, i64 {_TYPE})
  %array_type = call ptr @word(ptr %c, i64 {WORD["array_type"]})
  %is_array = icmp eq ptr %type0, %array_type
  br i1 %is_array, label %dtype, label %slow
dtype:
  %descr = call ptr @field(ptr %a0, i64 {_DESCR})
  %which = call i64 @precision(ptr %descr, ptr %c)
  %known = icmp ult i64 %which, 2
  br i1 %known, label %precision, label %slow
precision:
  %double = icmp eq i64 %which, 0
  %itemsize = select i1 %double, i64 8, i64 4
  %k_evaluate = add nuw nsw i64 %which, {WORD["evaluate0"]}
  %evaluate = call ptr @word(ptr %c, i64 %k_evaluate)
  %ready = icmp ne ptr %evaluate, null
  %nd0 = call i32 @small(ptr %a0, i64 {_ND})
  %nd0_64 = sext i32 %nd0 to i64
  %specs0 = getelementptr inbounds i64, ptr %specs, i64 {SPEC_WORDS}
  %core0 = call i64 @number(ptr %specs0, i64 0)
  %batch = sub nsw i64 %nd0_64, %core0
  %not_less = icmp sge i64 %batch, 0
  %fine = and i1 %ready, %not_less
  %batch_dims = call ptr @field(ptr %a0, i64 {_DIMS})
  br i1 %fine, label %rows_head, label %slow

rows_head:
  %j = phi i64 [ 0, %precision ], [ %j_next, %rows_body ]
  %rows = phi i64 [ 1, %precision ], [ %rows_next, %rows_body ]
  %j_more = icmp slt i64 %j, %batch
  br i1 %j_more, label %rows_body, label %rows_done
rows_body:
  %extent = call i64 @number(ptr %batch_dims, i64 %j)
  %rows_next = mul nsw i64 %rows, %extent
  %j_next = add nuw nsw i64 %j, 1
  br label %rows_head
rows_done:
  %per_row = call i64 @number(ptr %c, i64 {WORD["work"]})
  %limit = call i64 @number(ptr %c, i64 {WORD["limit"]})
  %work = mul i64 %rows, %per_row
  %some = icmp sgt i64 %rows, 0
  %few = icmp slt i64 %work, %limit
  %here = and i1 %some, %few
  br i1 %here, label %arrays_head, label %slow

arrays_head:
  %k = phi i64 [ 0, %rows_done ], [ %k_next, %arrays_ok ]
  %k_more = icmp slt i64 %k, %count
  br i1 %k_more, label %arrays_body, label %output
arrays_body:
  %a = call ptr @word(ptr %args, i64 %k)
  %k_next = add nuw nsw i64 %k, 1
  %spec_at = mul nuw nsw i64 %k_next, {SPEC_WORDS}
  %spec = getelementptr inbounds i64, ptr %specs, i64 %spec_at
  %ok = call i1 @fits(ptr %a, ptr %c, i64 %which, ptr %spec, i64 %batch, ptr %batch_dims, i32 {_CONTIGUOUS_ALIGNED})
  br i1 %ok, label %arrays_ok, label %slow
arrays_ok:
  %data = call ptr @field(ptr %a, i64 {_DATA})
  %at = getelementptr inbounds ptr, ptr %pointers, i64 %k
  store ptr %data, ptr %at, align 8
  br label %arrays_head

output:
  %no_out = icmp eq ptr %out_argument, null
  br i1 %no_out, label %allocate, label %check_out
check_out:
  %flags = add i32 {_CONTIGUOUS_ALIGNED}, {_WRITEABLE}
  %out_ok = call i1 @fits(ptr %out_argument, ptr %c, i64 %which, ptr %specs, i64 %batch, ptr %batch_dims, i32 %flags)
  br i1 %out_ok, label %apart, label %slow
apart:                                            ; an output that shares memory with an input goes the slow way
  %out_first = call ptr @field(ptr %out_argument, i64 {_DATA})
  %out_start = ptrtoint ptr %out_first to i64
  %out_entries = call i64 @number(ptr %specs, i64 1)
  %out_row = mul i64 %out_entries, %itemsize
  %out_bytes = mul i64 %out_row, %rows
  %out_end = add i64 %out_start, %out_bytes
  br label %apart_head
apart_head:
  %m = phi i64 [ 0, %apart ], [ %m_next, %apart_body ]
  %m_more = icmp slt i64 %m, %count
  br i1 %m_more, label %apart_body, label %use_out
apart_body:
  %m_at = getelementptr inbounds ptr, ptr %pointers, i64 %m
  %in_first = load ptr, ptr %m_at, align 8
  %in_start = ptrtoint ptr %in_first to i64
  %m_next = add nuw nsw i64 %m, 1
  %m_spec_at = mul nuw nsw i64 %m_next, {SPEC_WORDS}
  %m_spec = getelementptr inbounds i64, ptr %specs, i64 %m_spec_at
  %in_entries = call i64 @number(ptr %m_spec, i64 1)
  %in_row = mul i64 %in_entries, %itemsize
  %in_bytes = mul i64 %in_row, %rows
  %in_end = add i64 %in_start, %in_bytes
  %before = icmp uge i64 %in_start, %out_end
  %after = icmp uge i64 %out_start, %in_end
  %is_apart = or i1 %before, %after
  br i1 %is_apart, label %apart_head, label %slow
use_out:
  %incref = call ptr @word(ptr %c, i64 {WORD["incref"]})
  call void %incref(ptr %out_argument)
  br label %work_space

allocate:
  %out_core = call i64 @number(ptr %specs, i64 0)
  %out_nd = add nuw nsw i64 %batch, %out_core
  %nd_fits = icmp sle i64 %out_nd, {MAX_DIMS}
  br i1 %nd_fits, label %dims_head, label %slow
dims_head:
  %d = phi i64 [ 0, %allocate ], [ %d_next, %dims_body ]
  %d_more = icmp slt i64 %d, %out_nd
  br i1 %d_more, label %dims_body, label %new
dims_body:
  %d_core = sub nsw i64 %d, %batch
  %d_spec = add nsw i64 %d_core, 2
  %is_core = icmp sge i64 %d_core, 0
  %source = select i1 %is_core, ptr %specs, ptr %batch_dims
  %index = select i1 %is_core, i64 %d_spec, i64 %d
  %d_value = call i64 @number(ptr %source, i64 %index)
  %d_at = getelementptr inbounds i64, ptr %dims, i64 %d
  store i64 %d_value, ptr %d_at, align 8
  %d_next = add nuw nsw i64 %d, 1
  br label %dims_head
new:
  %new_array = call ptr @word(ptr %c, i64 {WORD["new_array"]})
  %out_nd32 = trunc i64 %out_nd to i32
  %number = select i1 %double, i32 {_TYPE_NUMBERS[8]}, i32 {_TYPE_NUMBERS[4]}
  %made = call ptr %new_array(ptr %array_type, i32 %out_nd32, ptr %dims, i32 %number,
                              ptr null, ptr null, i32 0, i32 0, ptr null)
  %failed = icmp eq ptr %made, null
  br i1 %failed, label %raise, label %work_space

work_space:                                       ; one is kept; another thread that comes meanwhile makes its own
  %out = phi ptr [ %out_argument, %use_out ], [ %made, %new ]
  %k_heap = add nuw nsw i64 %which, {WORD["heap0"]}
  %heap_bytes = call i64 @number(ptr %c, i64 %k_heap)
  %k_spare = add nuw nsw i64 %which, {WORD["spare0"]}
  %spare_at = getelementptr inbounds i64, ptr %c, i64 %k_spare
  %needs_none = icmp eq i64 %heap_bytes, 0
  br i1 %needs_none, label %run, label %take
take:
  %spare = atomicrmw xchg ptr %spare_at, ptr null acquire
  %none_left = icmp eq ptr %spare, null
  br i1 %none_left, label %make, label %run
make:
  %malloc = call ptr @word(ptr %c, i64 {WORD["malloc"]})
  %with_margin = add i64 %heap_bytes, 64
  %raw = call ptr %malloc(i64 %with_margin)
  %no_memory = icmp eq ptr %raw, null
  br i1 %no_memory, label %give_up, label %made_own
made_own:
  %raw_number = ptrtoint ptr %raw to i64
  %raised = add i64 %raw_number, 63
  %aligned = and i64 %raised, -64
  %own = inttoptr i64 %aligned to ptr
  br label %run

run:
  %heap = phi ptr [ null, %work_space ], [ %spare, %take ], [ %own, %made_own ]
  %to_free = phi ptr [ null, %work_space ], [ null, %take ], [ %raw, %made_own ]
  %to_keep = phi ptr [ null, %work_space ], [ %spare, %take ], [ null, %made_own ]
  %target = call ptr @field(ptr %out, i64 {_DATA})
  %long = icmp sgt i64 %work, {RELEASE}
  br i1 %long, label %released, label %held
released:
  %save = call ptr @word(ptr %c, i64 {WORD["save_thread"]})
  %restore = call ptr @word(ptr %c, i64 {WORD["restore_thread"]})
  %state = call ptr %save()
  call void %evaluate(ptr %pointers, ptr %target, i64 %rows, ptr %heap)
  call void %restore(ptr %state)
  br label %evaluated
held:
  call void %evaluate(ptr %pointers, ptr %target, i64 %rows, ptr %heap)
  br label %evaluated
evaluated:
  %keeps = icmp ne ptr %to_keep, null
  br i1 %keeps, label %keep, label %frees
keep:
  store atomic ptr %to_keep, ptr %spare_at release, align 8
  br label %deliver
frees:
  %has_own = icmp ne ptr %to_free, null
  br i1 %has_own, label %release_own, label %deliver
release_own:
  %free = call ptr @word(ptr %c, i64 {WORD["free"]})
  call void %free(ptr %to_free)
  br label %deliver
deliver:
  %one_result = icmp eq ptr %finish, null
  br i1 %one_result, label %return, label %several
return:
  %final_nd = call i32 @small(ptr %out, i64 {_ND})
  %is_number = icmp eq i32 %final_nd, 0
  %converts = and i1 %is_number, %no_out
  br i1 %converts, label %as_scalar, label %as_array
as_scalar:
  %scalar_of = call ptr @word(ptr %c, i64 {WORD["as_scalar"]})
  %scalar = call ptr %scalar_of(ptr %out)
  ret ptr %scalar
as_array:
  ret ptr %out
several:
  store ptr %out, ptr %one, align 8
  %vectorcall1 = call ptr @word(ptr %c, i64 {WORD["vectorcall"]})
  %results = call ptr %vectorcall1(ptr %finish, ptr %one, i64 1, ptr null)
  %decref1 = call ptr @word(ptr %c, i64 {WORD["decref"]})
  call void %decref1(ptr %out)
  ret ptr %results

give_up:                                          ; hand the whole call on
  %decref2 = call ptr @word(ptr %c, i64 {WORD["decref"]})
  call void %decref2(ptr %out)
  br label %slow
slow:
  %callable = call ptr @word(ptr %c, i64 {WORD["slow"]})
  %vectorcall2 = call ptr @word(ptr %c, i64 {WORD["vectorcall"]})
  %answer = call ptr %vectorcall2(ptr %callable, ptr %args, i64 %nargs, ptr %kwnames)
  ret ptr %answer
raise:
  ret ptr null
}}
"""


class _Method(ctypes.Structure):
    """Python's own record of a built-in function."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


_FASTCALL_KEYWORDS = 0x80 | 0x02
_OUT = sys.intern("out")


def _read(address: int, kind: Any) -> int:
    return kind.from_address(address).value or 0


@functools.cache
def is_supported() -> bool:
    """Return whether calls may go through the door; if not, say why, once."""
    reason = closed_because()
    if reason is not None:
        log().warning("calls go through Python, which takes tens of microseconds more: %s", reason)
    return reason is None


def closed_because() -> str | None:
    """Return why this Python and NumPy are not those the door is made for; None if they are."""
    if sys.implementation.name != "cpython":
        return f"{sys.implementation.name} is not CPython"
    if "free-threading" in sys.version:
        return "this Python is free-threaded"
    if sys.maxsize < 2**32:
        return "this Python has 32 bits"
    wrong = [what for what, expected, found in _layout() if expected != found]
    return f"objects are laid out otherwise in memory: {', '.join(wrong)}" if wrong else None


def _layout() -> Iterator[tuple[str, Any, Any]]:
    """Yield what the door reads from memory: what it is, what is so, and what is found there."""
    sample, names, swapped = np.zeros((7, 3, 5))[2:], ("one", "two", "three"), np.dtype(np.float64).newbyteorder()
    array, dims = id(sample), _read(id(sample) + _DIMS, ctypes.c_void_p)
    yield "type", id(np.ndarray), _read(array + _TYPE, ctypes.c_void_p)
    yield "data", sample.__array_interface__["data"][0], _read(array + _DATA, ctypes.c_void_p)
    yield "dimensions", 3, _read(array + _ND, ctypes.c_int)
    yield "dtype", id(np.dtype(np.float64)), _read(array + _DESCR, ctypes.c_void_p)
    flags = _CONTIGUOUS_ALIGNED | _WRITEABLE
    yield "flags", flags, _read(array + _FLAGS, ctypes.c_int) & flags
    yield "flags of others", 0, _read(id(sample.T) + _FLAGS, ctypes.c_int) & 1
    if dims and sample.ndim == _read(array + _ND, ctypes.c_int):  # else there is no telling where this points
        yield "shape", [5, 3, 5], [_read(dims + 8 * k, ctypes.c_int64) for k in range(3)]
    for size, number in _TYPE_NUMBERS.items():
        yield "number of a dtype", number, _read(id(np.dtype(f"f{size}")) + _NUMBER, ctypes.c_int)
    orders = [_read(id(descr) + _BYTE_ORDER, ctypes.c_char) for descr in (np.dtype(np.float64), swapped)]
    yield "byte order", [b"=", swapped.byteorder.encode()], orders
    yield "length of a tuple", 3, _read(id(names) + _SIZE, ctypes.c_int64)
    yield "items of a tuple", id(names[0]), _read(id(names) + _ITEMS, ctypes.c_void_p)


def _machine_code() -> Any:
    """Return the door's machine code; the same one for good, as every door runs in it."""
    with LOCK:
        return _loaded_code()


@functools.cache
def _loaded_code() -> Any:
    return load(kept(TEXT, _compiled)[0], "door")


def _compiled() -> Image:
    from cardan.targets.llvm.machine import compile_image

    return compile_image(TEXT, "door")


@functools.cache
def _addresses() -> dict[str, int]:
    """Return the addresses of what the door calls."""
    api = ctypes.pythonapi
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    table = api.PyCapsule_GetPointer(np._core._multiarray_umath._ARRAY_API, None)  # pyright: ignore[reportAttributeAccessIssue]
    names = {
        "vectorcall": "PyObject_Vectorcall",
        "save_thread": "PyEval_SaveThread",
        "restore_thread": "PyEval_RestoreThread",
        "incref": "Py_IncRef",
        "decref": "Py_DecRef",
        "malloc": "PyMem_RawMalloc",
        "free": "PyMem_RawFree",
    }
    found = {word: ctypes.cast(getattr(api, name), ctypes.c_void_p).value or 0 for word, name in names.items()}
    found["new_array"] = _read(table + 8 * _NEW_ARRAY, ctypes.c_void_p)
    found["as_scalar"] = _read(table + 8 * _AS_SCALAR, ctypes.c_void_p)
    found |= {"array_type": id(np.ndarray), "out_name": id(_OUT)}
    return found | {"descr0": id(np.dtype(np.float64)), "descr1": id(np.dtype(np.float32))}


def _method(name: str) -> _Method:
    """Return what Python's function objects of a name refer to."""
    with LOCK:  # two threads in a bare functools.cache make two
        return _new_method(name)


@functools.cache
def _new_method(name: str) -> _Method:
    record = _Method(name.encode(), _machine_code().address, _FASTCALL_KEYWORDS, None)
    # never freed: Python reads it while it frees functions, and some outlive all modules (those of daemon threads)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(record))
    return record


class Door:
    """The door to one program.

    Args:
        name: of the function Python sees.
        arrays: core shapes of the arguments.
        output: core shape of the array the program writes.
        work: operations a state.
        limit: work from which a call is left to `slow`, which may split it over threads.
        slow: takes the arguments the door does not; gets them as they came.
        finish: turns the array into what is returned; None to return it itself.
    """

    def __init__(
        self,
        name: str,
        arrays: Sequence[tuple[int, ...]],
        output: tuple[int, ...],
        *,
        work: int,
        limit: int,
        slow: Callable[..., Any],
        finish: Callable[[np.ndarray], Any] | None = None,
    ) -> None:
        shapes = [output, *arrays]
        self.context = np.zeros(len(_FIELDS) + SPEC_WORDS * len(shapes), dtype=np.int64)
        words = {**_addresses(), "count": len(arrays), "work": work, "limit": limit, "slow": id(slow)}
        words["finish"] = 0 if finish is None else id(finish)
        for word, value in words.items():
            self.context[WORD[word]] = value
        for k, shape in enumerate(shapes):
            start = len(_FIELDS) + SPEC_WORDS * k
            self.context[start : start + 2 + len(shape)] = (len(shape), int(np.prod(shape)), *shape)
        self._kept: list[Any] = [self, slow, finish, _machine_code(), _OUT]
        make = ctypes.pythonapi.PyCFunction_NewEx
        make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.py_object]
        self.function: Callable[..., Any] = make(ctypes.addressof(_method(name)), self.context, self._kept)

    def open(self, dtype: np.dtype, code: Any) -> None:
        """Let states of a dtype in, to machine code that is ready."""
        which = 0 if dtype.itemsize == 8 else 1
        if self.context[WORD["evaluate0"] + which]:
            return
        self._kept.append(code)
        if code.heap:
            space = np.empty(code.heap + 64, dtype=np.uint8)
            self._kept.append(space)
            self.context[WORD["spare0"] + which] = space.__array_interface__["data"][0] + 63 & ~63
            self.context[WORD["heap0"] + which] = code.heap
        self.context[WORD["evaluate0"] + which] = code.address  # last: from here on it is used


def serves(arrays: Sequence[tuple[int, ...]], output: tuple[int, ...]) -> bool:
    """Return whether a door can be made for these core shapes."""
    fits = all(len(shape) <= MAX_CORE for shape in (*arrays, output))
    return is_supported() and 1 <= len(arrays) <= MAX_ARRAYS and fits
