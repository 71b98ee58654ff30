"""Where things are: in the fast path's context, and in the objects of Python and NumPy that it reads."""

from __future__ import annotations

import ctypes
from ctypes import c_char_p, c_int, c_ssize_t, c_uint, c_void_p
from typing import Any

MAX_ARRAYS, MAX_OUTPUTS, MAX_CORE, MAX_DIMS = 16, 64, 6, 32
NUMBERS = 5  # types of numbers the fast path reads: Python's float and int, NumPy's commonest
KINDS = 4  # of machine code: for float64, for float32, then for a few states of each
FIELDS = (
    "count", "results", "outputs", "parts", "array_type", "tuple_type", "gathered", "is_dict", "out_name", "nothing",
    "lead", "threads", "alone", "shared", "release", "slow", "passes",
    "finish", "few0", "few1", "patience",
    *(f"number{k}" for k in range(NUMBERS)),
    *(f"{word}{kind}" for word in ("evaluate", "heap", "spare") for kind in range(KINDS)),
    "vectorcall", "save_thread", "restore_thread", "incref", "decref", "new_array", "as_scalar", "new_object",
    "new_dict", "set_item",
    "malloc", "free", "as_double", "raised", "clear",
)  # fmt: skip
WORD = {name: k for k, name in enumerate(FIELDS)}
SPEC_WORDS = 5 + MAX_CORE
"""Of an array: numbers of core dimensions and entries, what makes large ones, from how many bytes on, name, shape."""
PLACE_WORDS = 3  # of an output: in which result it is, at which entry it begins, how many entries rows are apart
PART_WORDS = 3  # an argument, and the first and last of the entries that must not all be 0

# offsets in bytes, after the head that all objects have; `fast_path.closed_because` sees that they are right
_HEAD = object.__basicsize__
TYPE, SIZE, ITEMS = _HEAD - 8, _HEAD, tuple.__basicsize__
DATA, ND, DIMS, DESCR, FLAGS = _HEAD, _HEAD + 8, _HEAD + 16, _HEAD + 40, _HEAD + 48
METHOD, SELF = _HEAD, _HEAD + 8  # of a built-in function
BYTE_ORDER, NUMBER = _HEAD + 10, _HEAD + 12  # of a dtype
CONTIGUOUS_ALIGNED, WRITEABLE = 0x101, 0x400
TYPE_NUMBERS = {8: 12, 4: 11}

WHERE = (MAX_ARRAYS, MAX_OUTPUTS, MAX_CORE, MAX_DIMS, FIELDS, ITEMS, DATA, BYTE_ORDER, NUMBER)
"""What the fast path's text depends on, beside its own source."""


def _structure(**fields: Any) -> Any:
    return type("Structure", (ctypes.Structure,), {"_fields_": tuple(fields.items())})


# Python's own records: of a built-in function, of a member of objects, of a slot of a class, of a class
PyMethodDef = _structure(name=c_char_p, function=c_void_p, flags=c_int, doc=c_char_p)
PyMemberDef = _structure(name=c_char_p, type=c_int, offset=c_ssize_t, flags=c_int, doc=c_char_p)
PyType_Slot = _structure(number=c_int, value=c_void_p)
PyType_Spec = _structure(name=c_char_p, basicsize=c_int, itemsize=c_int, flags=c_uint, slots=c_void_p)
