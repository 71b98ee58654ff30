"""Packages whose names are fetched when they are first used (PEP 562), so that importing one costs what is used.

Such a package lists its names in `__all__`, imports them under `TYPE_CHECKING` for type checkers and editors, and says
here which module each comes from; `tests/test_public_names.py` holds the three together.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any

from cardan.words import UnknownAttributeError


def fetcher(package: str, homes: Mapping[str, str], modules: str = "") -> Callable[[str], Any]:
    """Return the `__getattr__` of a package.

    Args:
        package: its name, `__name__`.
        homes: names, separated by spaces, by the module they come from, relative to it: `{".load": "load save"}`.
        modules: names of modules of the package that are attributes themselves.
    """
    module_of = {name: home for home, names in homes.items() for name in names.split()}

    def fetch(name: str) -> Any:
        if name in module_of:
            value = getattr(importlib.import_module(module_of[name], package), name)
        elif name in modules.split():
            value = importlib.import_module(f".{name}", package)
        else:
            raise UnknownAttributeError(package, name)
        setattr(sys.modules[package], name, value)  # found at once from now on
        return value

    return fetch
