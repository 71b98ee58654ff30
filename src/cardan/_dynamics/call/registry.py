"""What is given to the way of a call: modules that take arrays of other libraries, and those with known derivatives.

Nothing is imported here, so that registering costs nothing; `cardan/_wiring.py` fills the tables.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Iterable
from typing import Any

from cardan._algebra.lazy import plugin

OURS = frozenset({"builtins", "numpy", "cardan"})
"""Packages whose classes no other package takes: entry points are not looked for in a call with these alone."""
_HANDLERS: dict[str, str] = {}
DERIVATIVES: list[str] = []
"""Modules with derivatives of functions that stand elsewhere (`public.known`), as they import these functions."""


@functools.cache
def note_derivatives() -> None:
    """Import the modules with derivatives of functions that stand elsewhere; a function is traced after that."""
    for module in DERIVATIVES:
        importlib.import_module(module)


def register_arrays(kind: str, handler: str) -> None:
    """Let a module take the calls with arrays of another library: what is passed says where it is computed.

    Args:
        kind: the package and the name of their class: `"torch.Tensor"`.
        handler: name of the module, imported when the first such array comes. It has `called(function, model, args,
            kwargs)` for a call, and `called_bound(bound, arrays, out)` for one of a bound function, which returns
            NotImplemented if it is for NumPy. Other packages name it as an entry point of the group `cardan.arrays`.
    """
    _HANDLERS[kind] = handler
    _handler.cache_clear()


def handler_of(values: Iterable[Any]) -> Any:
    """Return the module that takes arrays of another library; None if all are for NumPy."""
    for value in values:
        handler = _handler(type(value))
        if handler is not None:
            return handler
    return None


@functools.lru_cache(maxsize=256)
def _handler(kind: type) -> Any:
    """Return the module that takes arrays of a class, or of one it is made from."""
    names = [(c.__module__.partition(".")[0], c.__name__) for c in kind.__mro__]
    for package, name in names:
        if f"{package}.{name}" in _HANDLERS:
            return importlib.import_module(_HANDLERS[f"{package}.{name}"])
    if names[0][0] in OURS:
        return None
    found = (plugin("cardan.arrays", f"{package}.{name}") for package, name in names if package not in OURS)
    return next((handler for handler in found if handler is not None), None)
