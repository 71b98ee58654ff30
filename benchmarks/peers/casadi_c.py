"""CasADi's generated C: cardan's own program as CasADi's expressions, compiled by the system's C compiler.

Pinocchio's wheels have no `pinocchio.casadi`, so that back ends are compared, not algorithms: CasADi's C of one state,
`cc -O3 -march=native`, in a loop over the batch compiled with it. No vectors over states: that is what it shows.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from benchmarks import quantities as quantity
from benchmarks.peers.base import Peer
from benchmarks.robots import Robot
from benchmarks.timing import Calls
from cardan._compiler.program import Instruction, Op, Program

LARGEST = 15_000  # operations; the compiler takes minutes for one function of more
SERVED = (quantity.INVERSE, quantity.FORWARD, quantity.MASS)
_TABLE: dict[Op, Callable[..., Any]] = {
    Op.ADD: lambda a, b: a + b,
    Op.SUB: lambda a, b: a - b,
    Op.MUL: lambda a, b: a * b,
    Op.DIV: lambda a, b: a / b,
    Op.NEG: lambda a: -a,
    Op.SQRT: ca.sqrt,
    Op.SIN: ca.sin,
    Op.COS: ca.cos,
    Op.TAN: ca.tan,
    Op.ATAN2: ca.atan2,
    Op.EXP: ca.exp,
    Op.LOG: ca.log,
}
_LOOP = """
void batch(const double* x, double* y, long long states) {{
  long long iw[{iw} + 1]; double w[{w} + 1];
  for (long long k = 0; k < states; k++) {{
    const double* arg[{arg}] = {{x + k * {inputs}}}; double* res[{res}] = {{y + k * {outputs}}};
    evaluate(arg, res, iw, w, 0);
  }}
}}
"""


def peer() -> Peer:
    """Return the peer."""
    if _compiler() is None:
        raise ImportError("no C compiler")
    return Casadi()


class Casadi:
    """CasADi's C."""

    name = "casadi"
    version = ca.__version__
    how = "C it generates of cardan's own program, cc -O3 -march=native, a loop over states: back ends, not algorithms"

    def load(self, robot: Robot) -> dict[str, Callable[[], Calls]]:
        """See `Peer`."""
        return {q.name: partial(_ready, q, robot) for q in quantity.QUANTITIES if q.label in SERVED}


def _compiler() -> str | None:
    return os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc")


def _ready(which: quantity.Quantity, robot: Robot) -> Calls:
    function = which.ours()
    if function is None:
        raise NotImplementedError(f"cardan has no {which.function}")
    program = function.program(robot.model, **which.options(robot))
    if program.operations > LARGEST:
        raise NotImplementedError(f"left out: {program.operations} operations, above {LARGEST}")
    rows = np.ascontiguousarray(np.hstack([robot.states[a.name] for a in program.inputs]))
    out, batch = np.empty((len(rows), len(program.results))), _compiled(expressions(program))

    def run(states: int = len(rows)) -> np.ndarray:
        batch(rows.ctypes.data, out.ctypes.data, states)
        return out

    return Calls(value=lambda: run(1)[0].copy(), out=run, states=len(rows))


def expressions(program: Program) -> tuple[Any, Any]:
    """Return the variables and the results of a program, columns of CasADi's symbols."""
    variables = ca.SX.sym("x", sum(a.size for a in program.inputs))
    values: list[Any] = []
    for instruction in program.instructions:
        values.append(_expression(instruction, values, variables))
    return variables, ca.vertcat(*(values[k] for k in program.results))


def _expression(instruction: Instruction, values: list[Any], variables: Any) -> Any:
    op, args, value = instruction
    if op is Op.INPUT:
        return variables[int(value)]
    if op is Op.CONST:
        return ca.SX(value)
    if op not in _TABLE:
        raise NotImplementedError(f"not in its table: {op.value}")
    return _TABLE[op](*(values[a] for a in args))


def _compiled(form: tuple[Any, Any]) -> Any:
    variables, results = form
    function = ca.Function("evaluate", [variables], [ca.densify(results)])
    with tempfile.TemporaryDirectory() as place:
        generator = ca.CodeGenerator("evaluate.c", {"with_header": False})
        generator.add(function)
        sizes = {"arg": function.sz_arg(), "res": function.sz_res(), "iw": function.sz_iw(), "w": function.sz_w()}
        loop = _LOOP.format(inputs=variables.numel(), outputs=results.numel(), **sizes)
        source, library = Path(place, "evaluate.c"), Path(place, "evaluate.so")
        source.write_text(generator.dump() + loop)
        command = [str(_compiler()), "-O3", "-march=native", "-shared", "-fPIC", str(source), "-o", str(library), "-lm"]
        subprocess.run(command, check=True, capture_output=True)
        batch = ctypes.CDLL(str(library)).batch
    batch.argtypes, batch.restype = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_longlong], None
    return batch
