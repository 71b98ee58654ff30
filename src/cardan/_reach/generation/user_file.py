"""Functions and classes in files of users: `controllers.py:computed_torque`."""

from __future__ import annotations

import importlib.util
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any
from zlib import crc32

from cardan._algebra.errors import ParameterError, UnknownNameError
from cardan._dynamics.call.function import Function


def function_in(file: str | Path, name: str) -> Function[..., Any]:
    """Return a function that a Python file makes with `@cardan.function`. The file is run, as importing it would.

    Args:
        file: the path.
        name: of the function.

    Raises:
        ParameterError: for a file that cannot be imported, with its line, and for a name of something else.
        UnknownNameError: if it has nothing of the name.

    Examples:
        >>> import pathlib, tempfile
        >>> lines = "import cardan", "@cardan.function", "def weigh(model, q): return cardan.gravity_forces(model, q)"
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder) / "laws.py"
        ...     _ = file.write_text(chr(10).join(lines))
        ...     weigh = cardan.generation.function_in(file, "weigh")
        >>> weigh(arm, q).shape
        (7,)
    """
    module = imported(Path(file))
    found = getattr(module, name, None)
    functions = [n for n, value in vars(module).items() if isinstance(value, Function)]
    if found is None:
        raise UnknownNameError("function", name, functions, where=str(file))
    if not isinstance(found, Function):
        hint = f"Write @cardan.function above it: def {name}(model, q, v, ...)." if callable(found) else ""
        expected = "a function made by @cardan.function"
        raise ParameterError(f"{name} in {file}", got=found, expected=expected, hint=hint)
    return found


def imported(file: Path) -> ModuleType:
    """Return a file as a module, once for each content, under a name that hides no other module's.

    What is beside it can be imported by it.

    Raises:
        ParameterError: for a file that cannot be imported, with its line.
    """
    if not file.is_file():
        raise ParameterError("file to import", got=str(file), expected="a Python file that exists")
    path = file.resolve()
    name = f"cardan_{path.stem}_{crc32(str(path).encode(errors='surrogateescape') + path.read_bytes()):08x}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ParameterError("file to import", got=str(file), expected="a Python file, whose name ends in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        with _beside(path.parent):
            spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        got = f"{type(error).__name__}: {error}"
        where = line_in(path, error)
        expected = "a file that can be imported"
        raise ParameterError(f"file to import{where}", got=got, expected=expected) from error
    return module


@contextmanager
def _beside(folder: Path) -> Iterator[None]:
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))


def line_in(file: Path, error: BaseException) -> str:
    """Return ` (file:line)` of a file's own code where something went wrong."""
    if isinstance(error, SyntaxError) and error.filename:
        return f" ({error.filename}:{error.lineno})"
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if Path(f.filename) == file]
    return f" ({file}:{lines[-1]})" if lines else f" ({file})"
