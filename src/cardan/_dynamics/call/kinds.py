"""Arrays of other libraries: what is passed says where it is computed, and what comes back."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterable
from importlib import import_module
from typing import Any

KINDS = {
    ("torch", "Tensor"): "cardan._reach.interop.torch_wrapped",
    ("cupy", "ndarray"): "cardan._reach.interop.cupy_arrays",
    ("cardan", "DeviceArray"): "cardan._reach.interop.device_array",
}
"""By the package and class of an array, the module that takes it: `called(function, model, args, kwargs)` for a call,
and `called_bound(bound, arrays, out)` for one of a bound function, NotImplemented where it is for NumPy."""
_LOADED = ("torch", "cupy", "cardan._reach.interop.device_array")
"""Modules of which one is there if there are such arrays."""


def module_of(values: Iterable[Any]) -> Any:
    """Return the module that takes arrays of another library; None where there are none, only NumPy's."""
    if not any(name in sys.modules for name in _LOADED):
        return None
    module = next((found for value in values if (found := _module(type(value)))), None)
    return import_module(module) if module else None


@functools.lru_cache(maxsize=256)
def _module(kind: type) -> str | None:
    """Return the module that takes arrays of a class, or of one it is made from."""
    names = ((c.__module__.partition(".")[0], c.__name__) for c in kind.__mro__)
    return next((KINDS[name] for name in names if name in KINDS), None)
