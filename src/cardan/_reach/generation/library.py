"""Functions of a robot as files: a source and header of C, or a library with headers for C and C++."""

from __future__ import annotations

import functools
import importlib.util
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from inspect import Parameter, Signature
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, TypeAlias
from zlib import crc32

from cardan._algebra.arrays import repeat
from cardan._algebra.errors import (
    CardanError,
    DTypeError,
    DuplicateNameError,
    ParameterError,
    TraceError,
    UnknownNameError,
    check_one_of,
    visible,
)
from cardan._compiler.program import Program
from cardan._compiler.runtime.staging import write_whole
from cardan._compiler.targets.c import HEADERS, RESERVED, CFunction, c_function, c_header, c_source, check_name
from cardan._compiler.targets.cpp_header import CppFunction, CppJoint, Sizes, cpp_header
from cardan._dynamics.algorithms.drives import is_driven
from cardan._dynamics.call.function import Function, function
from cardan._dynamics.call.signature import check_model
from cardan._motion.simulation.solvers.solver import Solver, checked_steps
from cardan._motion.simulation.solvers.step_function import ARRAYS
from cardan._robot.model import Model

# A function, one with some of its options (`functools.partial(cardan.jacobian, frame="tool")`), or a solver's step.
One: TypeAlias = Function[..., Any] | functools.partial[Any] | Solver


@dataclass(frozen=True, slots=True)
class Generated:
    """What was written.

    Attributes:
        files: all of them.
        functions: what is in them: names, operations, stack.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     written = cardan.generate(cardan.gravity_forces, arm, f"{folder}/weight.c")
        >>> [file.name for file in written.files], written.functions[0].name
        (['weight.c', 'weight.h'], 'weight')
    """

    files: tuple[Path, ...]
    functions: tuple[CFunction, ...]

    def __str__(self) -> str:
        return "\n".join(f"{f.name}: {f.work}\n  stack, at most: {f.memory}" for f in self.functions)


def generate(
    functions: One | Iterable[One] | Mapping[str, Any],
    model: Model,
    output: str | PathLike[str],
    *,
    single: bool = False,
    workspace: Literal["stack", "argument"] = "stack",
) -> Generated:
    """Write functions of a robot as C99, for a microcontroller, say: they need libm and nothing else.

    Args:
        functions: one function, several, or several by the names they shall have. Options are given by
            `functools.partial(cardan.jacobian, frame="tool")`; a solver stands for its step (`generation.step_of`).
        model: the robot.
        output: `"arm.c"` for one function of the file's name in `arm.c` and `arm.h`; or a folder, `"arm"`, for a
            library: C in `src/`, `arm.h` and, for C++17, `arm.hpp` in `include/`.
        single: whether to compute in float instead of double.
        workspace: where values wait that long programs hand from one part to the next: on the stack, or in an array
            that the caller gives as the last argument, of a size the header says.

    Returns:
        The files and the functions in them, with their operations and their need of stack; printed, these.

    Raises:
        ParameterError, DuplicateNameError: for names that C does not take or that are given twice, a place that
            cannot be written to, or a function that needs an option.
        TraceError: for a function that has no program.

    Examples:
        >>> import tempfile
        >>> from functools import partial
        >>> laws = {"torques": cardan.inverse_dynamics, "tool": partial(cardan.jacobian, frame="tool")}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     written = cardan.generate(laws, arm, f"{folder}/arm_dynamics", single=True)
        >>> sorted(file.name for file in written.files)[:2]
        ['arm_dynamics.h', 'arm_dynamics.hpp']
        >>> print(written.functions[0].work)
        306 operations: 119 additions, 175 multiplications, 6 sin, 6 cos
    """
    check_one_of("workspace", workspace, ("stack", "argument"))
    check_model("cardan.generate", model)
    place, chosen = Path(output), _chosen(functions)
    write = _one_file if place.suffix == ".c" else _package
    _check_place(place, chosen)  # before anything is compiled, which takes time
    named = [(name, _first_line(one), program_of(name, one, model)) for name, one in chosen.items()]
    make = functools.partial(c_function, single=single, gives_workspace=workspace == "argument")
    files, made = write(place, named, make, model)
    _write(place, files)
    return Generated(tuple(files), tuple(made))


# --- the functions ---


def _chosen(functions: Any) -> dict[str, One]:
    if isinstance(functions, Mapping):
        chosen = {str(name): _checked(one) for name, one in functions.items()}
    else:
        several = [functions] if isinstance(functions, (Function, functools.partial, Solver)) else functions
        chosen = {}
        for one in several if isinstance(several, Iterable) else [several]:
            name = name_of(_checked(one))
            if name in chosen:
                raise DuplicateNameError("function", name, "cardan.generate")
            chosen[name] = one
    if not chosen:
        raise ParameterError("functions to generate", got=functions, expected="one at least")
    return chosen


def _inner(one: One) -> Any:
    """Return a function or solver without the options it has been given."""
    return one.func if isinstance(one, functools.partial) else one


def _checked(one: Any) -> One:
    if isinstance(_inner(one), (Function, Solver)):
        return one
    got, expected = f"a {type(one).__name__}", "functions made by @cardan.function, functools.partial of them, solvers"
    raise DTypeError("cardan.generate", "functions", got=got, expected=expected)


def name_of(one: One) -> str:
    return "step" if isinstance(_inner(one), Solver) else _inner(one).name


def _first_line(one: One) -> str:
    inner = _inner(one)
    doc = f"A step of {inner!r}." if isinstance(inner, Solver) else inner.__doc__ or ""
    return doc.strip().split("\n")[0]


def program_of(name: str, one: One, model: Model) -> Program:
    """Return the program of a function for a model, without the optional arrays; TraceError if there is none."""
    given = dict(one.keywords) if isinstance(one, functools.partial) else {}
    inner = _inner(one)
    if isinstance(inner, Solver):
        if inner.world.model is not model and inner.world.model != model:
            raise ParameterError("model", got=model, expected="solver.world.model: the step is one of its own world")
        inner = step_of(inner)
    try:
        program = inner.program(model, **given)
    except CardanError:
        raise
    except Exception as error:  # a function of the user's may raise anything
        code = getattr(getattr(inner.made_from, "kernel", None), "__code__", None)
        where = line_in(Path(code.co_filename), error) if code else ""
        raise TraceError(f"{name} cannot be generated{where}: {type(error).__name__}: {error}") from error
    if not program.entries:
        sizes = ", ".join(map(str, program.outputs)) or "nothing"
        raise ParameterError(f"results of {name}", got=sizes, expected="one number at least, for this robot")
    return program


# --- the files ---

Named: TypeAlias = tuple[str, str, Program]  # a function's own name, what it does, and its program for the model
Files: TypeAlias = dict[Path, str]
Make: TypeAlias = Callable[[Program, str], CFunction]


def _check_place(place: Path, chosen: Mapping[str, One]) -> None:
    """Raise before anything takes time, if the place or a name in it cannot be."""
    is_file = place.suffix == ".c"
    if (place.suffix and not is_file) or place.stem in RESERVED:
        expected = "a name that ends in .c, and is no word of C before; or a folder, without an ending"
        raise ParameterError("output file", got=str(place), expected=expected)
    check_name(place.stem)
    if place.stem.lower() in HEADERS:
        expected = f"another name: a header {place.stem}.h would hide that of C"
        raise ParameterError("output", got=str(place), expected=expected)
    if is_file and len(chosen) > 1:
        hint = f"A folder holds several: {str(place.with_suffix(''))!r}."
        raise ParameterError("functions for one file", got=list(chosen), expected="one", hint=hint)
    if not is_file:
        _check_library(place.name, chosen)


def _check_library(library: str, names: Iterable[str]) -> None:
    for name in names:
        check_name(name)
    taken: dict[str, str] = {}  # names of macros are written in capitals, batches end in _batch: those may meet
    for name in names:
        for own in (name, f"{name}_batch", f"{name}_results", f"{name}_stack", f"{name}_workspace"):
            other = taken.setdefault(own.upper(), name)
            if other != name:
                raise DuplicateNameError("name", own, f"library {library!r}, of functions {other!r} and {name!r}")


def _one_file(place: Path, named: list[Named], make: Make, model: Model) -> tuple[Files, list[CFunction]]:
    ((name, doc, program),) = named
    function = make(program, place.stem)
    comment = "\n".join([f"{name} of {visible(model.name)}", doc, "", _layout(model), "", *_promises(function)])
    header = c_header([function], place.stem, comment)
    return {place: c_source(function, place.stem, comment), place.with_suffix(".h"): header}, [function]


def _package(place: Path, named: list[Named], make: Make, model: Model) -> tuple[Files, list[CFunction]]:
    library = place.name
    made = [make(program, f"{library}_{name}") for name, _, program in named]
    text = "\n".join([f"Functions of {visible(model.name)}", "", _layout(model)])
    sizes = f"#define {library.upper()}_NQ {model.nq}\n#define {library.upper()}_NV {model.nv}\n"
    cpp = [CppFunction(name, function) for (name, *_), function in zip(named, made, strict=True)]
    files = {
        place / "include" / f"{library}.h": c_header(made, library, text, constants=sizes),
        place / "include" / f"{library}.hpp": cpp_header(cpp, library, Sizes(model.nq, model.nv, _joints(model)), text),
    }
    for (name, doc, _), one in zip(named, made, strict=True):
        comment = "\n".join([f"{name} of {visible(model.name)}", doc, "", *_promises(one)])
        files[place / "src" / f"{one.name}.c"] = c_source(one, library, comment)
    return files, made


def _promises(function: CFunction) -> list[str]:
    return [f"Worst case, one state: {function.work}.", f"Stack, at most: {function.memory}."]


def _joints(model: Model) -> list[CppJoint]:
    rows = [
        CppJoint(name, range(iq.start, iq.stop), range(iv.start, iv.stop)) for name, (iq, iv) in model.slices.items()
    ]
    return [row for row in rows if row.q]


def _layout(model: Model) -> str:
    lines: list[str] = []
    for j in _joints(model):
        lines.append(f"{visible(j.name)}: q[{j.q.start}..{j.q.stop - 1}], v[{j.v.start}..{j.v.stop - 1}]")
        joint = model.joint(j.name)
        if joint.is_placed:  # of a cluster: they belong to several joints
            for letter, own, names in (("q", j.q, joint.coordinate_names), ("v", j.v, joint.velocity_names)):
                lines.extend(f"  {letter}[{k}]: {visible(name)}" for k, name in enumerate(names, own.start))
    return "\n".join(lines)


def _write(place: Path, files: Files) -> None:
    """Write all files or none, in folders that are made for them."""
    made: list[Path] = []
    try:
        own = {folder for file in files for folder in file.parents if folder.is_relative_to(place)}
        for folder in sorted(folder for folder in own if not folder.exists()):
            folder.mkdir()
            made.append(folder)
        texts = {p: t.encode(errors="backslashreplace") for p, t in files.items()}
        write_whole({p: lambda stream, t=t: stream.write(t) for p, t in texts.items()})
    except OSError as error:
        for folder in reversed(made):  # the innermost first: only empty folders can be removed
            folder.rmdir()
        raise ParameterError("output file", got=str(place), expected=f"a writable place ({error.strerror})") from None


# --- what is generated beside cardan's own: functions in files of users (`laws.py:weigh`), and steps of solvers ---


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

    It can import what is beside it. ParameterError for a file that cannot be imported, with its line.
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
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]  # the next call tries again
        got = f"{type(error).__name__}: {error}"
        where = line_in(path, error)
        raise ParameterError(f"file to import{where}", got=got, expected="a file that can be imported") from error
    finally:
        sys.path.remove(str(path.parent))
    return module


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
    names = ("effort", "position", "velocity") if is_driven(model) or world.kinematic else ("effort",)
    known = solver.function.interface.shapes
    inputs = {n: known[n] for n in world.contact_inputs if known.get(n, (0,)) != (0,)}
    return {name: ARRAYS[name] for name in names} | inputs
