"""Packages that are extras: imported when they are used, and not before."""

from __future__ import annotations

import importlib
import re
from typing import Any

from cardan._algebra.errors import MissingExtraError, TargetError


def package(name: str, capability: str, extra: str, lowest: tuple[int, ...] = ()) -> Any:
    """Return a module of an extra, for a capability that needs it, of the `lowest` version that will do or a later one.

    MissingExtraError says that it is not installed, and which command installs it; TargetError, that it is too old.
    """
    try:
        module = importlib.import_module(name)
    except ImportError:
        raise MissingExtraError(capability, extra) from None
    if lowest and tuple(int(n) for n in re.findall(r"\d+", module.__version__)[: len(lowest)]) < lowest:
        least = ".".join(map(str, lowest))
        raise TargetError(
            f"{capability} needs {name} {least}, this is {module.__version__}: pip install --upgrade {name}"
        )
    return module


def jax_package() -> Any:
    """Return the module `jax`, an extra; errors as `package`.

    0.6.2 is the first version with all that is used: foreign functions may be spread over devices.
    """
    return package("jax", "cardan.interop.jax", "jax", (0, 6, 2))
