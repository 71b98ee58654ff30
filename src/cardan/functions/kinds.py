"""Arrays of other libraries: what is passed says where it is computed, and what comes back."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

KINDS = {("torch", "Tensor"): "cardan.interop.torch_wrapped"}
"""By the package and class of an array, the module whose `called(function, model, args, kwargs)` takes it."""


def caller(values: Iterable[Any]) -> Callable[..., Any] | None:
    """Return what calls a function for arrays of another library; None where there are none, only NumPy's."""
    if not any(package in sys.modules for package, _ in KINDS):
        return None
    module = next((found for value in values if (found := _module(type(value)))), None)
    return import_module(module).called if module else None


@functools.lru_cache(maxsize=256)
def _module(kind: type) -> str | None:
    """Return the module that takes arrays of a class, or of one it is made from."""
    names = ((c.__module__.partition(".")[0], c.__name__) for c in kind.__mro__)
    return next((KINDS[name] for name in names if name in KINDS), None)
