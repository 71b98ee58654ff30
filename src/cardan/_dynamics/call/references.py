"""Functions in other processes: a function is pickled as where to find it, as Python's own functions are.

What no module holds (a function of a notebook, or made within another one) goes along as code where a library that can
do that is loaded (cloudpickle, which joblib, Dask and Ray bring); without one it is refused, with the reason.
"""

from __future__ import annotations

import functools
import importlib
import pickle
import sys
from collections.abc import Callable
from typing import Any

from cardan._algebra.errors import FunctionReferenceError

BY_VALUE = ("cloudpickle", "joblib.externals.cloudpickle", "ray.cloudpickle")


def resolved(module: str, name: str) -> Any:
    """Return what a module holds under a name, with dots for what is within; None if there is no such thing."""
    try:
        found: Any = sys.modules.get(module) or importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError):
        return None
    return found


def by_value(kernel: Callable[..., Any]) -> bytes | None:
    """Return a Python function as code, if a library that can do that is loaded."""
    for name in BY_VALUE:
        if name in sys.modules:
            return sys.modules[name].dumps(kernel)
    return None


def kernel_from(module: str, name: str, code: bytes | None) -> Any:
    """Return what was referred to: the function that came along, or else what the module holds.

    Raises:
        FunctionReferenceError: if neither is there.
    """
    found = _loaded(code) if code is not None else resolved(module, name)
    if found is None:
        raise FunctionReferenceError(module, name)
    return found


@functools.lru_cache(maxsize=128)
def _loaded(code: bytes) -> Any:
    return pickle.loads(code)
