"""Functions of a robot as functions of CasADi: compiled, with first and second derivatives, without Python.

`source` is one file of C with what CasADi looks for (`targets/casadi_c.py`). `wrap` compiles it and hands the library
to `casadi.external`. Without a compiler the same programs run as native code behind callbacks, one for each function.
"""

from __future__ import annotations

import atexit
import functools
import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cardan._algebra.checked_numbers import whole
from cardan._algebra.errors import CallbackWarning, ParameterError, TargetError
from cardan._compiler.runtime import disk_cache
from cardan._compiler.runtime.extras import package
from cardan._compiler.runtime.staging import write_whole
from cardan._compiler.targets import compile_program, default_target
from cardan._compiler.targets.casadi_c import External, Pattern, casadi_source
from cardan._dynamics.call.function import Function
from cardan._reach.interop.casadi_programs import NAME, externals
from cardan._reach.interop.wrapper import check_function
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
    found = _functions(function, model, name, optional, options, states, order)
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
    found = _functions(function, model, name, optional, options, states, order)
    return casadi_source(found, states, _said(function, model))


def _functions(
    function: Function[..., Any],
    model: Model,
    name: str,
    optional: Sequence[str],
    options: dict[str, Any],
    states: int,
    order: int,
) -> list[External]:
    check_function(function)
    whole("number of states", states, 1)
    if order not in (0, 1, 2):
        raise ParameterError("order of derivatives", got=order, expected="0, 1 or 2")
    name = name or function.name
    if not NAME.fullmatch(name) or name in ("null", "jac", "hess"):
        expected = "a letter, then letters, digits and single underscores; not null, jac or hess"
        raise ParameterError("name of a function of CasADi", got=name, expected=expected, hint='Choose one: name="F".')
    return externals(function, model, name, optional, options, order)


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
