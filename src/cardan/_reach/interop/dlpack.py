"""Arrays lent by DLPack: a structure of C with what they are, and a function that gives them back.

Source: github.com/dmlc/dlpack, include/dlpack/dlpack.h (DLManagedTensor, the unversioned form, which all readers take).
"""

from __future__ import annotations

import ctypes
from typing import Any

CUDA = 2
"""The kind of device, kDLCUDA."""
_FLOAT, _NAME = 2, b"dltensor"


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_kind", ctypes.c_int32),
        ("device_number", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("offset", ctypes.c_uint64),
    ]


class _Managed(ctypes.Structure):
    _fields_ = [("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


_lent: dict[int, Any] = {}  # by the structure's address: what lives until the deleter is called


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _give_back(address: int) -> None:
    _lent.pop(address, None)


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _drop(capsule: int) -> None:
    """Give back what nobody took out of its capsule."""
    if _is_valid(capsule, _NAME):
        _give_back(_pointer(capsule, _NAME))


def _of_python(name: str, result: Any, *arguments: Any) -> Any:
    """Return a function of Python's own, which other modules cannot give other types."""
    return ctypes.PYFUNCTYPE(result, *arguments)((name, ctypes.pythonapi))


_new = _of_python("PyCapsule_New", ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_is_valid = _of_python("PyCapsule_IsValid", ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)
_pointer = _of_python("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)


def capsule(array: Any) -> Any:
    """Return a DeviceArray in a capsule; it lives until who takes it calls the deleter, or the capsule is dropped."""
    layout, numbers = array.layout, ctypes.c_int64 * max(array.ndim, 1)
    shape, strides = numbers(*layout.shape), numbers(*layout.strides)
    tensor = _Tensor(
        layout.address if array.size else None,
        CUDA,
        layout.device,
        array.ndim,
        _FLOAT,
        8 * array.dtype.itemsize,
        1,
        ctypes.addressof(shape),
        ctypes.addressof(strides),
        0,
    )
    managed = _Managed(tensor, None, ctypes.cast(_give_back, ctypes.c_void_p))
    address = ctypes.addressof(managed)
    _lent[address] = managed, shape, strides, array
    return _new(address, _NAME, ctypes.cast(_drop, ctypes.c_void_p))
