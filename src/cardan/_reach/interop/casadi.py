"""Functions of a robot as functions of CasADi: compiled, with first and second derivatives, without Python.

`source` is one file of C with what CasADi looks for (`targets/casadi_c.py`). `wrap` compiles it and hands the library
to `casadi.external`. Without a compiler the same programs run as native code behind callbacks, one for each function.
"""

from __future__ import annotations

import atexit
import functools
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from cardan._algebra.checked_numbers import whole
from cardan._algebra.errors import CallbackWarning, ParameterError, TargetError
from cardan._compiler.program import Array, Program, autodiff
from cardan._compiler.program.expr import Graph, pushing
from cardan._compiler.program.instructions import Instructions
from cardan._compiler.program.ops import Op
from cardan._compiler.program.passes import with_entries
from cardan._compiler.program.program import places_of
from cardan._compiler.program.replay import replayed_results, straight, with_inputs_put
from cardan._compiler.program.trace import assemble
from cardan._compiler.runtime import disk_cache
from cardan._compiler.runtime.extras import package
from cardan._compiler.runtime.memory import collection_paused
from cardan._compiler.runtime.staging import write_whole
from cardan._compiler.targets import compile_program, default_target
from cardan._compiler.targets.c import check_name
from cardan._compiler.targets.casadi_c import External, Pattern, casadi_source
from cardan._dynamics.call.function import Function, check_function
from cardan._robot.model import Model

__all__ = ["source", "wrap"]

ENDING = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
FLAGS = ("-O2", "-fno-tree-vectorize", "-fPIC", "-shared")  # GCC would take three times as long to find nothing
ALIVE: list[Any] = []  # callbacks: CasADi's graphs do not keep them, and fail when they are gone
COMPILERS = ("cc", "gcc", "clang")


def wrap(
    function: Function[..., Any],
    model: Model,
    *optional: str,
    name: str = "",
    states: int = 1,
    order: int = 2,
    compiler: str | None = None,
    **options: Any,
) -> Any:
    """Return a function of a robot as a `casadi.Function`, with exact first and second derivatives.

    Its arguments are the function's arrays in their order, without the model, then the inputs of a model with inputs.
    Its results are the function's, one by one. A vector is a column, and several states are the columns of a matrix.

    Args:
        function: one of cardan's, or your own made by `cardan.function`.
        model: the robot.
        optional: names of optional array arguments that will be given, such as `"external_forces"`.
        name: of the function in CasADi; by default that of the function.
        states: how many in one call, such as the knots of a trajectory; matrices lie side by side. It takes less time
            than `map` of the function of one state.
        order: of the derivatives that are compiled: 0, 1 or 2. Solvers with exact Hessians need 2. Where more are asked
            for, CasADi says that derivatives cannot be calculated for `adj1_` and the name.
        compiler: the command of a C compiler that takes the options of GCC; by default that of CC, or `cc`, `gcc` or
            `clang`. Without any, or if it is `""`, the function is a callback to cardan's native code. It then says so
            by a `CallbackWarning`.
        options: values of the function's options, such as `frame="tool"`. Numbers among them are constants.

    Derivatives are by the entries of arguments as they stand, nq of a configuration. Those of `forward_dynamics` and
    `inverse_dynamics` are recursions; all others differentiate the program.
    What is compiled is kept in the disk cache. The library is in a folder that goes when the process ends, so a
    serialised function of CasADi does not outlive it; `source` is for that.

    Raises:
        MissingExtraError: without casadi.
        TargetError: if the compiler is not there, or fails; it has the compiler's first lines.
        UnknownNameError, ParameterError, DTypeError: for options, names, numbers and models that are none.

    Examples:
        >>> from cardan.interop.casadi import wrap
        >>> gravity = wrap(cardan.gravity_forces, arm, order=1)
        >>> gravity.jacobian().sparsity_out(0)  # nothing depends on the first joint, which is upright
        Sparsity(7x7,30nz)
    """
    casadi = package("casadi", "cardan.interop.casadi", "casadi")
    found = _externals(function, model, name, optional, options, states, order)
    command = _command(compiler)
    if not command:
        warnings.warn(CallbackWarning(found[0].name), stacklevel=2)
        ALIVE.append(_callback_class()({f.name: f for f in found}, found[0].name, states))
        return ALIVE[-1]
    text = casadi_source(found, states, _said(function, model))
    return casadi.external(found[0].name, str(_library(text, command)))


def source(
    function: Function[..., Any],
    model: Model,
    *optional: str,
    name: str = "",
    states: int = 1,
    order: int = 2,
    **options: Any,
) -> str:
    """Return the C of what `wrap` compiles: one file that needs nothing but libm, for `casadi.external` elsewhere.

    Compile it as a shared library. Programs that load functions of CasADi's interface, such as acados, take it as well.

    Args:
        function: one of cardan's, or your own made by `cardan.function`.
        model: the robot.
        optional: names of optional array arguments that will be given.
        name: of the function in C and in CasADi; by default that of the function.
        states: how many in one call, as for `wrap`.
        order: of the derivatives that are written: 0, 1 or 2.
        options: values of the function's options. Numbers among them are constants.

    Raises:
        UnknownNameError, ParameterError, DTypeError: for options, names, numbers and models that are none.

    Examples:
        >>> from cardan.interop.casadi import source
        >>> text = source(cardan.gravity_forces, arm, name="gravity", order=1)
        >>> "int jac_gravity(const double **arg, double **res" in text
        True
    """
    found = _externals(function, model, name, optional, options, states, order)
    return casadi_source(found, states, _said(function, model))


def _said(function: Function[..., Any], model: Model) -> str:
    return f"{function.name} of {model.name}, for CasADi"


# --- compiled ---


def _command(compiler: str | None) -> list[str]:
    """Return what runs the compiler; nothing if there is none, or none is wanted."""
    if compiler is not None:
        return [compiler] if compiler else []
    return shlex.split(os.environ.get("CC", "")) or [*filter(shutil.which, COMPILERS)][:1]


def _library(text: str, command: list[str]) -> Path:
    """Return a shared library made from C, in a folder of this process, from the disk cache if it was made before."""
    version = _run([*command, "--version"])
    key = hashlib.sha256("\0".join([text, version, *command, *FLAGS]).encode()).hexdigest()
    place = _folder(os.getpid()) / f"{key}{ENDING}"
    if not place.exists():
        kept = disk_cache.load(f"casadi-{key}")
        if kept is None:
            kept = _compiled(text, command)
            disk_cache.save(f"casadi-{key}", kept)
        write_whole({place: lambda stream: stream.write(kept)})
    return place


def _compiled(text: str, command: list[str]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        file, library = Path(folder, "functions.c"), Path(folder, f"functions{ENDING}")
        file.write_text(text, encoding="ascii", errors="backslashreplace")
        _run([*command, *FLAGS, "-o", str(library), str(file), "-lm"])
        return library.read_bytes()


@functools.cache
def _folder(process: int) -> Path:
    """Return the folder of a process for its libraries; a forked one has its own."""
    folder = tempfile.mkdtemp(prefix="cardan-casadi-")
    atexit.register(lambda: os.getpid() == process and shutil.rmtree(folder, ignore_errors=True))
    return Path(folder)


def _run(line: list[str]) -> str:
    """Return what the compiler says; TargetError if it cannot be run, or fails."""
    hint = 'compiler="" makes a callback instead.'
    try:
        found = subprocess.run(line, capture_output=True, text=True, check=False)
    except OSError as error:
        raise TargetError(f"C compiler {line[0]!r} cannot be run ({error.strerror}). {hint}") from None
    if found.returncode:
        said = "\n".join(found.stderr.splitlines()[:4])
        raise TargetError(f"C compiler {line[0]!r} failed with status {found.returncode}. {hint}\n{said}")
    return found.stdout


# --- without a compiler: native code, called back ---


def _sparsity(casadi: Any, pattern: Pattern) -> Any:
    rows, columns = zip(*pattern.all_places(), strict=True) if pattern.size else ((), ())
    return casadi.Sparsity.triplet(pattern.rows, pattern.columns, rows, columns)


@functools.cache
def _callback_class() -> Any:
    casadi = package("casadi", "cardan.interop.casadi", "casadi")

    class Evaluated(casadi.Callback):
        def __init__(self, found: Mapping[str, External], name: str, states: int) -> None:
            casadi.Callback.__init__(self)
            function = found[name]
            self.found, self.function, self.states, self.kept = found, function, states, {}
            self.patterns = [[_sparsity(casadi, p) for p in side] for side in function.patterns(states)]
            self.run = compile_program(function.program, default_target()) if function.writes else None
            self.construct(name, {})

        def get_n_in(self) -> int:
            return len(self.patterns[0])

        def get_n_out(self) -> int:
            return len(self.patterns[1])

        def get_sparsity_in(self, k: int) -> Any:
            return self.patterns[0][k]

        def get_sparsity_out(self, k: int) -> Any:
            return self.patterns[1][k]

        def get_name_in(self, k: int) -> str:
            return self.function.names[0][k] if self.function.names else f"i{k}"

        def get_name_out(self, k: int) -> str:
            return self.function.names[1][k] if self.function.names else f"o{k}"

        def eval(self, given: Sequence[Any]) -> list[Any]:
            values = [np.zeros(p.nnz()) for p in self.patterns[1]]
            if self.run is not None:
                arrays = [np.array(given[k].nonzeros()).reshape(self.states, -1) for k in self.function.reads]
                results = [values[k].reshape(self.states, -1) for k in self.function.writes]
                self.run.write(arrays, results, self.states, np.dtype(float))
            return [casadi.DM(p, v) for p, v in zip(self.patterns[1], values, strict=True)]

        def has_jac_sparsity(self, result: int, argument: int) -> bool:
            return self.has_jacobian()

        def get_jac_sparsity(self, result: int, argument: int, _: bool) -> Any:
            return self.derivative("jac").patterns[1][result * len(self.patterns[0]) + argument]

        def derivative(self, way: str) -> Any:
            name = f"{way}_{self.function.name}"
            if name not in self.kept:
                self.kept[name] = Evaluated(self.found, name, self.states)
            return self.kept[name]

        def has_jacobian(self) -> bool:
            return f"jac_{self.function.name}" in self.found

        def get_jacobian(self, *_: Any) -> Any:
            return self.derivative("jac")

        def has_reverse(self, count: int) -> bool:
            return count == 1 and f"adj1_{self.function.name}" in self.found

        def get_reverse(self, count: int, name: str, inputs: Sequence[str], outputs: Sequence[str], _: Any) -> Any:
            """Return what pulls so many directions back, side by side: one, or as many as a `map` asks for."""
            one, results = self.derivative("adj1"), len(self.patterns[1])
            if count == 1:
                return one
            given, seeds = one.patterns[0][:-results], one.patterns[0][-results:]
            x = [casadi.MX.sym("x", pattern) for pattern in given]
            all_seeds = [casadi.MX.sym("seed", casadi.repmat(pattern, 1, count)) for pattern in seeds]
            split = zip(*(casadi.horzsplit_n(s, count) for s in all_seeds), strict=True)
            each = zip(*(one.call([*x, *own]) for own in split), strict=True)
            found = [casadi.horzcat(*columns) for columns in each]
            return casadi.Function(name, [*x, *all_seeds], found, inputs, outputs)

    return Evaluated


# --- programs of a function and of its derivatives, as CasADi wants them ---
#
# From y = f(x, ...), with all arguments x and all results y as matrices, and vec(y) their entries column by column:
#
#     F:           y
#     jac_F:       d vec(y) / d vec(x)          for each y, for each x
#     adj1_F:      x_bar = sum over y of (dy/dx)^T y_bar
#     jac_adj1_F:  d vec(x_bar) / d vec(z)      for each x_bar, for each z of x, y, y_bar: second derivatives
#
# Derivatives are plain, by the entries of arguments as they stand, since CasADi knows no tangents (`call/plain.py`). Of
# every result the entries that can be other than 0 are written, column by column.

NAME = re.compile(r"[A-Za-z]([A-Za-z0-9]|_(?!_))*")  # what CasADi takes as one


def _externals(
    function: Function[..., Any],
    model: Model,
    name: str,
    optional: Sequence[str],
    options: Mapping[str, Any],
    states: int,
    order: int,
) -> list[External]:
    """Return F, and of order 1 jac_F and adj1_F, of order 2 jac_adj1_F.

    Numbers among the options are constants of the programs; arrays that are `optional` are arguments, too.
    ParameterError is for a name that C or CasADi does not take, no arguments, and arrays of more than two dimensions.
    """
    check_function("function to wrap", function)
    whole("number of states", states, 1)
    if order not in (0, 1, 2):
        raise ParameterError("order of derivatives", got=order, expected="0, 1 or 2")
    name = name or function.name
    if not NAME.fullmatch(name) or name in ("null", "jac", "hess"):
        expected = "a letter, then letters, digits and single underscores; not null, jac or hess"
        raise ParameterError("name of a function of CasADi", got=name, expected=expected, hint='Choose one: name="F".')
    check_name(name)
    with collection_paused():
        # each as often differentiable as it is differentiated (`cardan.implicit`)
        def differentiable(order: int) -> Program:
            return _program(function, model, optional, options, order)

        program = differentiable(0)
        x, y = [a.name for a in program.inputs], [a.name for a in program.outputs]
        if not x:
            raise ParameterError(f"arguments of {function.name}", got=(), expected="one array at least")
        found = [
            _external(name, program, [*map(_dense, program.inputs)], [*map(_dense, program.outputs)], range(len(x)))
        ]
        # of clusters calls are known along closed motions alone, and not by the entries of q
        of_trees = not any(node.joint.is_placed for node in model.nodes)
        many = of_trees and sum(a.size for a in program.inputs) >= model.nv
        if order > 0:
            found += _derivatives(name, differentiable, order, many)
    return [found[0]._replace(names=_names(x, y)), *found[1:]]


def _names(x: Sequence[str], y: Sequence[str]) -> tuple[Sequence[str], Sequence[str]] | None:
    """Return the names of arguments and results, if CasADi takes them."""
    of_result = [f"{n}_next" if n in x else n for n in y]
    return (x, of_result) if all(map(NAME.fullmatch, (*x, *of_result))) else None


def _derivatives(name: str, differentiable: Callable[[int], Program], order: int, many: bool) -> list[External]:
    """Return the derivatives up to an order; `many` says that calls keep what is known of them in Jacobians."""
    program = differentiable(1)
    inputs, outputs = [*map(_dense, program.inputs)], [*map(_dense, program.outputs)]
    x, own, n = [a.name for a in program.inputs], range(len(inputs)), len(inputs) + len(outputs)
    with pushing(many and min(a.size for a in program.inputs) <= program.entries):
        first = _by_result(autodiff.jacobian(differentiable(1), x), len(x))
    blocks = [Pattern(b.size, a.size) for b in outputs for a in inputs]
    found = [_external(f"jac_{name}", first, [*inputs, *map(_nothing, outputs)], blocks, own, True)]
    weights = [f"bar of {a.name}" for a in program.outputs]  # no name that an argument may have
    back = autodiff.vector_jacobian_product(program, x, weights)
    seeds, reads = [*inputs, *map(_nothing, outputs), *outputs], [*own, *range(n, n + len(outputs))]
    found.append(_external(f"adj1_{name}", back, seeds, inputs, reads))
    if order > 1:
        wrt = [*x, *weights]
        with pushing(many):
            back = autodiff.vector_jacobian_product(differentiable(2), x, weights)
        second = _by_result(autodiff.jacobian(back, wrt), len(wrt))
        # no result feels y itself: of each row of blocks, those by y are empty
        by = [(p.size, None if k in reads else ()) for k, p in enumerate([*inputs, *outputs, *outputs])]
        blocks = [Pattern(a.size, count, places) for a in inputs for count, places in by]
        found.append(_external(f"jac_adj1_{name}", second, [*seeds, *map(_nothing, inputs)], blocks, reads, True))
    return found


# --- programs of matrices ---


def _program(
    function: Function[..., Any], model: Model, optional: Sequence[str], options: Mapping[str, Any], order: int
) -> Program:
    """Return the program of a function that is differentiated so often, its numbers among the options put in."""
    names, fixed = function.interface.required(model, options, optional)
    program = function.traced(model, names, fixed, order).program
    numbers = {n: float(options[n]) for n in names if n in options}
    return _matrices(_filled(program, numbers) if numbers else with_entries(program), function.name)


def _filled(program: Program, numbers: Mapping[str, float]) -> Program:
    program, graph = straight(program), Graph()
    left = tuple(a for a in program.inputs if a.name not in numbers)
    entries = graph.symbols(left)
    symbols = {a.name: entries[place] for a, place in zip(left, places_of(left), strict=True)}
    given = [e for a in program.inputs for e in symbols.get(a.name) or [numbers[a.name]]]
    return assemble(program.name, graph, left, program.outputs, replayed_results(program, given))


def _matrices(program: Program, where: str) -> Program:
    """Return a program of matrices, with the entries of arguments and results column by column."""
    for a in (*program.inputs, *program.outputs):
        if len(a.shape) > 2:
            expected = "at most two dimensions, as CasADi's matrices have; return the parts of it one by one"
            raise ParameterError(f"{a.name} of {where}", got=f"shape {a.shape}", expected=expected)
    if any(column.start is not None for column in program.columns):  # which lie in rows
        program = with_inputs_put(program)
    order = [
        at for a, place in zip(program.inputs, places_of(program.inputs), strict=True) for at in _order(a, place.start)
    ]
    place = {float(old): float(new) for new, old in enumerate(order)}
    moved = [i._replace(value=place[i.value]) if i.op is Op.INPUT else i for i in program.instructions]
    results = [
        at for a, p in zip(program.outputs, places_of(program.outputs), strict=True) for at in _order(a, p.start)
    ]
    # from here on an array of two dimensions is its transpose, row by row
    turned = [tuple(a._replace(shape=a.shape[::-1]) for a in side) for side in (program.inputs, program.outputs)]
    return replace(
        program,
        instructions=Instructions(moved),
        inputs=turned[0],
        outputs=turned[1],
        results=tuple(program.results[k] for k in results),
    )


def _order(a: Array, start: int) -> list[int]:
    """Return the places of an array's entries, column by column."""
    if len(a.shape) < 2:
        return list(range(start, start + a.size))
    rows, columns = a.shape
    return [start + i * columns + j for j in range(columns) for i in range(rows)]


def _dense(a: Array) -> Pattern:
    """Return the pattern of an array whose shape is turned."""
    columns, rows = a.shape if len(a.shape) == 2 else (1, a.size)
    return Pattern(rows, columns)


def _nothing(pattern: Pattern) -> Pattern:
    return Pattern(pattern.rows, pattern.columns, ())


def _by_result(program: Program, arguments: int) -> Program:
    """Return the program of derivatives in CasADi's order, by results; it is by arguments."""
    count = len(program.outputs) // arguments
    order = [x * count + y for y in range(count) for x in range(arguments)]
    places = places_of(program.outputs)
    results = [r for k in order for r in program.results[places[k]]]
    return replace(program, outputs=tuple(program.outputs[k] for k in order), results=tuple(results))


def _external(
    name: str,
    program: Program,
    inputs: list[Pattern],
    outputs: list[Pattern],
    reads: Sequence[int],
    is_derivative: bool = False,
) -> External:
    """Return a function whose program writes entries alone; outputs without any are left out of it."""
    found, arrays, results = list(outputs), [], []
    written = iter(zip(program.outputs, places_of(program.outputs), strict=True))
    for k, pattern in enumerate(outputs):
        if not pattern.size and pattern.places is not None:
            continue
        _, place = next(written)
        own = program.results[place]
        if is_derivative:
            found[k], own = _sparse(program, pattern, own)
        if own:
            arrays.append((k, Array(f"y{k}", (len(own),))))
            results += own
    renamed = tuple(Array(f"x{k}", (a.size,)) for k, a in zip(reads, program.inputs, strict=True))
    program = replace(program, name=name, inputs=renamed, outputs=tuple(a for _, a in arrays), results=tuple(results))
    return External(name, inputs, found, program, list(reads), [k for k, _ in arrays], is_derivative)


def _sparse(program: Program, pattern: Pattern, results: Sequence[int]) -> tuple[Pattern, list[int]]:
    """Return where a derivative, given row by row, has entries, and these, column by column."""
    rows, columns = pattern.rows, pattern.columns
    places = []
    for j in range(columns):
        for i in range(rows):
            entry = program.instructions[results[i * columns + j]]
            if entry.op is not Op.CONST or entry.value != 0.0:
                places.append((i, j))
    return Pattern(rows, columns, tuple(places)), [results[i * columns + j] for i, j in places]
