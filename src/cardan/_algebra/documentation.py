"""The documentation of a family of functions: what all of them share comes from one table, not from forty copies."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any


def document(function: Callable[..., Any], path: str, arguments: Mapping[str, str], example: tuple[str, str]) -> None:
    """Write a function's arguments, and an example, into its documentation, so far a summary.

    The path is that of the module it is called by; the example the arguments of a call, and how its result is shown.
    """
    said = "".join(f"    {name}: {arguments[name]}.\n" for name in inspect.signature(function).parameters)
    shown = f"    >>> {path}.{function.__name__}({example[0]})\n    {example[1]}\n"
    function.__doc__ = f"{inspect.cleandoc(function.__doc__ or '')}\n\nArgs:\n{said}\nExamples:\n{shown}"
