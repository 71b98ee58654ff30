"""heyoka: cardan's own programs compiled by heyoka's `cfunc`, to compare the back ends on the same operations.

Both write vector code with LLVM. Arrays go in and out with states along the last axis, as heyoka wants them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import heyoka as hy
import numpy as np

from benchmarks import quantities as quantity
from benchmarks.peers.base import Peer
from benchmarks.robots import Robot
from benchmarks.timing import Calls
from cardan import num_threads
from cardan._compiler.program import Instruction, Op, Program

SERVED = (quantity.INVERSE, quantity.FORWARD, quantity.MASS)
LARGEST = 15_000  # operations; its compile time grows faster than the program

_TABLE: dict[Op, Callable[..., Any]] = {
    Op.ADD: lambda a, b: a + b,
    Op.SUB: lambda a, b: a - b,
    Op.MUL: lambda a, b: a * b,
    Op.DIV: lambda a, b: a / b,
    Op.NEG: lambda a: -a,
    Op.SQRT: lambda a: hy.sqrt(a),
    Op.SIN: lambda a: hy.sin(a),
    Op.COS: lambda a: hy.cos(a),
    Op.TAN: lambda a: hy.tan(a),
    Op.ASIN: lambda a: hy.asin(a),
    Op.ACOS: lambda a: hy.acos(a),
    Op.ATAN2: lambda a, b: hy.atan2(a, b),
    Op.EXP: lambda a: hy.exp(a),
    Op.LOG: lambda a: hy.log(a),
    Op.LT: lambda a, b: hy.lt(a, b),
    Op.LE: lambda a, b: hy.lte(a, b),
    Op.EQ: lambda a, b: hy.eq(a, b),
    Op.SELECT: lambda c, a, b: hy.select(c, a, b),
}


def peer() -> Peer:
    """Return the peer."""
    return Heyoka()


class Heyoka:
    """heyoka's compiled functions."""

    name = "heyoka"
    version = hy.__version__
    how = "its cfunc of cardan's own program, into a given array: back ends are compared, not algorithms"

    def load(self, robot: Robot) -> dict[str, Callable[[], Calls]]:
        """See `Peer`."""
        return {q.name: partial(_ready, q, robot) for q in quantity.QUANTITIES if q.label in SERVED}


def _ready(which: quantity.Quantity, robot: Robot) -> Calls:
    function = which.ours()
    if function is None:
        raise NotImplementedError(f"cardan has no {which.function}")
    program = function.program(robot.model, **which.options(robot))
    if program.operations > LARGEST:
        raise NotImplementedError(f"left out: {program.operations} operations, above {LARGEST}")
    compiled = hy.cfunc(*expressions(program))
    columns = np.ascontiguousarray(np.hstack([robot.states[a.name] for a in program.inputs]).T)  # (entries, states)
    out = np.empty((len(program.results), columns.shape[1]))
    first = columns[:, 0].copy()
    return Calls(
        value=lambda: compiled(first),
        out=partial(_on, 1, compiled, columns, out),
        threads=partial(_on, num_threads(), compiled, columns, out),
        states=columns.shape[1],
    )


def expressions(program: Program) -> tuple[list[Any], list[Any]]:
    """Return a program as heyoka's expressions, and its variables."""
    variables = [hy.expression(f"x{k}") for k in range(sum(a.size for a in program.inputs))]
    values: list[Any] = []
    for instruction in program.instructions:
        values.append(_expression(instruction, values, variables))
    return [values[k] for k in program.results], variables


def _expression(instruction: Instruction, values: list[Any], variables: list[Any]) -> Any:
    op, args, value = instruction
    if op is Op.INPUT:
        return variables[int(value)]
    if op is Op.CONST:
        return hy.expression(value)
    if op not in _TABLE:
        raise NotImplementedError(f"it has no operation {op.value}")
    return _TABLE[op](*(values[a] for a in args))


def _on(threads: int, compiled: Any, columns: np.ndarray, out: np.ndarray) -> None:
    with _threads(threads):
        compiled(columns, outputs=out)


@contextmanager
def _threads(count: int) -> Iterator[None]:
    before = hy.get_nthreads()
    hy.set_nthreads(count)
    try:
        yield
    finally:
        hy.set_nthreads(before)
