"""What is generated beside cardan's own functions: those in files of users (`laws.py:weigh`), and solvers' steps."""

from __future__ import annotations

import importlib.util
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from inspect import Parameter, Signature
from pathlib import Path
from types import ModuleType
from typing import Any
from zlib import crc32

from cardan._algebra.arrays import repeat
from cardan._algebra.errors import ParameterError, UnknownNameError
from cardan._dynamics.call.function import Function, function
from cardan._motion.simulation.solvers.solver import ARRAYS, CompiledSolver, Solver, checked_steps
from cardan._robot.model import Model


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
    # By content: an edited file is a new module.
    name = f"cardan_{path.stem}_{crc32(str(path).encode(errors='surrogateescape') + path.read_bytes()):08x}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ParameterError("file to import", got=str(file), expected="a Python file, whose name ends in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # before it runs: pickles and dataclasses look their module up
    try:
        with _beside(path.parent):
            spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]  # the next call tries again
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


def step_of(solver: Solver, steps: int = 1) -> Function[..., Any]:
    """Return some steps of a solver as one function, to be generated: `step(model, q, v, effort)`.

    A world with drives, or with joints whose motion is prescribed, takes their targets, too:
    `step(model, q, v, effort, position, velocity)`; one with properties of contacts as inputs (`World.with_inputs`)
    takes these.

    Args:
        solver: what moves the world; its world's model is the one to generate for.
        steps: how many, one after the other, under one control; a loop in the code.

    Returns:
        A function with the results `q_next` and `v_next`, `good`, how many of the steps had a result that is a state
        (where one has none, the state stays as it is), and `residual`, of the last solve.

    Raises:
        ParameterError: for a number of steps below 1.
        UnsupportedError: for a solver whose step is not cardan's own, such as MuJoCo.

    Examples:
        >>> world = cardan.robots.double_pendulum().world()
        >>> step = cardan.generation.step_of(cardan.solvers.Featherstone(world, dt=0.001), steps=10)
        >>> sorted(step(world.model, world.initial, np.zeros(2), np.zeros(2)))
        ['good', 'q_next', 'residual', 'v_next']
    """
    inner, count = solver.function, checked_steps(steps)
    # A step of the solver is several of its function.
    count *= solver.substeps if isinstance(solver, CompiledSolver) else 1
    shapes = _shapes(solver)

    def step(model: Model, q: Any, v: Any, *by_position: Any, **by_name: Any) -> dict[str, Any]:
        arrays = dict(zip(shapes, by_position, strict=False)) | by_name

        def once(q: Any, v: Any, good: Any, _: Any) -> tuple[Any, ...]:
            found = inner(model, q, v, good, **arrays)
            return found["q"], found["v"], found["count"], found["residual"]

        q, v, good, residual = repeat(count, once, q, v, 0.0, 0.0)
        return {"q_next": q, "v_next": v, "good": good, "residual": residual}

    by_name = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in ("model", "q", "v", *shapes)]
    step.__signature__ = Signature(by_name)
    return function(shapes=shapes)(step)


def _shapes(solver: Solver) -> dict[str, Any]:
    model, world = solver.world.model, solver.world
    gains = (*model.passive("drive_stiffness"), *model.passive("drive_damping"))
    names = ("effort", "position", "velocity") if any(gains) or world.kinematic else ("effort",)
    known = solver.function.interface.shapes
    return {name: ARRAYS[name] for name in names} | {
        n: known[n] for n in world.contact_inputs if known.get(n, (0,)) != (0,)
    }
