"""Differentiating programs: forward and reverse, each sparse and for many directions at once.

A program y = f(x) is replayed in a new graph, and beside each value its derivatives are kept by number of direction,
only those that are not structurally zero. With the local partial derivatives of every operation (`PARTIALS`),

    forward:   dz/dt_j  = sum over operands a of  (dz/da) da/dt_j          (`pushforward`)
    reverse:   dy_i/da += (dy_i/dz) (dz/da)  for each operation z on a     (`pullback`)

Sharing and folding are the graph's. Where an operation has a kink (abs, min, max, a choice), the derivative is that of
the side the value is on.

Source: Griewank and Walther, Evaluating Derivatives (2008), chapters 3, 6 and 7.
Cost: forward, up to twice the operations for each direction; reverse, up to three times for each result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from cardan import scalar
from cardan.errors import ParameterError, UnknownNameError
from cardan.program.expr import Condition, Expr, Graph
from cardan.program.ops import SPEC, Kind, Op
from cardan.program.program import Array, Program
from cardan.program.replay import replay
from cardan.program.trace import assemble

Mode = Literal["auto", "forward", "reverse"]
Derivatives = dict[int, Any]
"""Derivatives by number of direction (or of result); what is absent is 0."""

PARTIALS: dict[Op, Callable[..., tuple[Any, ...]]] = {
    # the derivative by each operand, from the operands and the result z
    Op.ADD: lambda a, b, z: (1.0, 1.0),
    Op.SUB: lambda a, b, z: (1.0, -1.0),
    Op.MUL: lambda a, b, z: (b, a),
    Op.DIV: lambda a, b, z: (1.0 / b, -(z / b)),
    Op.NEG: lambda a, z: (-1.0,),
    Op.SQRT: lambda a, z: (0.5 / z,),
    Op.SIN: lambda a, z: (scalar.cos(a),),
    Op.COS: lambda a, z: (-scalar.sin(a),),
    Op.TAN: lambda a, z: (1.0 + z * z,),
    Op.ASIN: lambda a, z: (1.0 / scalar.sqrt((1.0 - a) * (1.0 + a)),),
    Op.ACOS: lambda a, z: (-1.0 / scalar.sqrt((1.0 - a) * (1.0 + a)),),
    Op.ATAN2: lambda y, x, z: (x / (x * x + y * y), -(y / (x * x + y * y))),
    Op.EXP: lambda a, z: (z,),
    Op.LOG: lambda a, z: (1.0 / a,),
    Op.EXPM1: lambda a, z: (z + 1.0,),
    Op.LOG1P: lambda a, z: (1.0 / (1.0 + a),),
    Op.ABS: lambda a, z: (scalar.sign(a),),
    Op.SIGN: lambda a, z: (0.0,),
    Op.FLOOR: lambda a, z: (0.0,),
    Op.MIN: lambda a, b, z: (scalar.where(a <= b, 1.0, 0.0), scalar.where(a <= b, 0.0, 1.0)),
    Op.MAX: lambda a, b, z: (scalar.where(a >= b, 1.0, 0.0), scalar.where(a >= b, 0.0, 1.0)),
}
"""Local derivatives. A choice (`SELECT`) has none: it chooses among its operands' derivatives."""


def pushforward(program: Program, values: Sequence[Any], seeds: Mapping[int, Derivatives]) -> list[Derivatives]:
    """Return the derivatives of each instruction along the directions.

    Args:
        program: what to differentiate.
        values: of its instructions, from `replay`.
        seeds: the derivatives of the flattened inputs, by their position.
    """
    found: list[Derivatives] = []
    for k, (op, args, number) in enumerate(program.instructions):
        if op is Op.INPUT:
            found.append(dict(seeds.get(int(number), {})))
        elif op is Op.SELECT:
            found.append(_chosen(values[args[0]], found[args[1]], found[args[2]]))
        elif op is Op.CONST or SPEC[op].result is Kind.BOOL or not any(found[a] for a in args):
            found.append({})
        else:
            slopes = PARTIALS[op](*(values[a] for a in args), values[k])
            found.append(_combined([(slope, found[a]) for slope, a in zip(slopes, args, strict=True)]))
    return found


def pullback(program: Program, values: Sequence[Any], seeds: Mapping[int, Derivatives]) -> list[Derivatives]:
    """Return the derivatives of the results by each instruction.

    Args:
        program: what to differentiate.
        values: of its instructions, from `replay`.
        seeds: by number of an instruction, the derivatives by it that are there to begin with: 1 for a result.
    """
    active = _active(program)
    found: list[Derivatives] = [dict(seeds.get(k, {})) for k in range(len(program.instructions))]
    for k in range(len(program.instructions) - 1, -1, -1):
        op, args, _ = program.instructions[k]
        if not found[k] or not active[k] or not args:
            continue
        if op is Op.SELECT:
            condition = values[args[0]]
            _accumulate(found[args[1]], {i: scalar.where(condition, d, 0.0) for i, d in found[k].items()})
            _accumulate(found[args[2]], {i: scalar.where(condition, 0.0, d) for i, d in found[k].items()})
            continue
        slopes = PARTIALS[op](*(values[a] for a in args), values[k])
        for slope, a in zip(slopes, args, strict=True):
            if active[a] and not _is_zero(slope):
                _accumulate(found[a], {i: d * slope for i, d in found[k].items()})
    return found


def _active(program: Program) -> list[bool]:
    """Return which instructions depend on an input."""
    active: list[bool] = []
    for op, args, _ in program.instructions:
        active.append(op is Op.INPUT or any(active[a] for a in args))
    return active


def _is_zero(value: Any) -> bool:
    return not isinstance(value, (Expr, Condition)) and value == 0.0


def _combined(terms: Sequence[tuple[Any, Derivatives]]) -> Derivatives:
    """Return the sum of slope times derivatives."""
    total: Derivatives = {}
    for slope, derivatives in terms:
        if not _is_zero(slope):
            _accumulate(total, {j: d * slope for j, d in derivatives.items()})
    return total


def _accumulate(total: Derivatives, more: Derivatives) -> None:
    for j, d in more.items():
        total[j] = total[j] + d if j in total else d
        if _is_zero(total[j]):
            del total[j]


def _chosen(condition: Any, a: Derivatives, b: Derivatives) -> Derivatives:
    return {j: scalar.where(condition, a.get(j, 0.0), b.get(j, 0.0)) for j in sorted(a.keys() | b.keys())}


def jacobian(program: Program, wrt: str, *, mode: Mode = "auto") -> Program:
    """Return the program of the derivatives of all results by the entries of one input.

    Args:
        program: y = f(x, ...).
        wrt: name of the input x.
        mode: `"forward"`, `"reverse"`, or the one with fewer operations.

    Returns:
        A program of the same inputs; for each output y an output `dy_dx` of shape (*y, *x).

    Raises:
        UnknownNameError: if there is no such input.
        ParameterError: if there is no such mode.
    """
    if mode == "auto":
        return min((jacobian(program, wrt, mode=m) for m in ("forward", "reverse")), key=lambda p: p.operations)
    if mode not in ("forward", "reverse"):
        raise ParameterError("mode", got=mode, expected="'auto', 'forward' or 'reverse'")
    first, size = _span(program.inputs, wrt)
    graph = Graph()
    values = replay(program, graph.symbols(program.inputs))
    if mode == "forward":
        found = pushforward(program, values, {first + j: {j: 1.0} for j in range(size)})
        rows = [[found[r].get(j, 0.0) for j in range(size)] for r in program.results]
    else:
        seeds: dict[int, Derivatives] = {}
        for i, r in enumerate(program.results):
            seeds.setdefault(r, {})[i] = 1.0
        found = pullback(program, values, seeds)
        by_input = {int(i.value): found[k] for k, i in enumerate(program.instructions) if i.op is Op.INPUT}
        columns = [by_input.get(first + j, {}) for j in range(size)]
        rows = [[column.get(i, 0.0) for column in columns] for i in range(len(program.results))]
    x = next(array for array in program.inputs if array.name == wrt)
    outputs = [Array(f"d{y.name}_d{wrt}", (*y.shape, *x.shape)) for y in program.outputs]
    return assemble(f"{program.name}_d{wrt}", graph, program.inputs, outputs, [e for row in rows for e in row])


def jacobian_vector_product(program: Program, wrt: Sequence[str]) -> Program:
    """Return the program of the results' rate of change while the inputs named move.

    Returns:
        A program with an input `x_dot` more for each x in `wrt`, and for each output y an output `y_dot`.

    Raises:
        UnknownNameError: if there is no such input.
    """
    inputs, start = list(program.inputs), sum(a.size for a in program.inputs)
    graph, seeds = Graph(), {}
    for name in wrt:
        first, size = _span(program.inputs, name)
        seeds |= {first + j: {0: graph.input(start + j)} for j in range(size)}
        inputs.append(Array(f"{name}_dot", next(a.shape for a in program.inputs if a.name == name)))
        start += size
    found = pushforward(program, replay(program, graph.symbols(program.inputs)), seeds)
    outputs = [Array(f"{y.name}_dot", y.shape) for y in program.outputs]
    results = [found[r].get(0, 0.0) for r in program.results]
    return assemble(f"{program.name}_jvp", graph, tuple(inputs), outputs, results)


def vector_jacobian_product(program: Program, wrt: Sequence[str]) -> Program:
    """Return the program of the gradient, by the inputs named, of the results weighed and summed.

    Returns:
        A program with an input `y_bar` (the weights) more for each output y, and for each x in `wrt` an output `x_bar`.

    Raises:
        UnknownNameError: if there is no such input.
    """
    graph, start = Graph(), sum(a.size for a in program.inputs)
    spans = [_span(program.inputs, name) for name in wrt]
    seeds: dict[int, Derivatives] = {}
    for i, r in enumerate(program.results):
        _accumulate(seeds.setdefault(r, {}), {0: graph.input(start + i)})
    found = pullback(program, replay(program, graph.symbols(program.inputs)), seeds)
    by_input = {int(i.value): found[k] for k, i in enumerate(program.instructions) if i.op is Op.INPUT}
    inputs = (*program.inputs, *(Array(f"{y.name}_bar", y.shape) for y in program.outputs))
    shapes = {a.name: a.shape for a in program.inputs}
    outputs = [Array(f"{name}_bar", shapes[name]) for name in wrt]
    results = [by_input.get(first + j, {}).get(0, 0.0) for first, size in spans for j in range(size)]
    return assemble(f"{program.name}_vjp", graph, inputs, outputs, results)


def _span(inputs: Sequence[Array], name: str) -> tuple[int, int]:
    """Return the position of an input's first entry, and how many it has."""
    names = [a.name for a in inputs]
    if name not in names:
        raise UnknownNameError("input", name, names, where="derivative")
    k = names.index(name)
    return int(np.sum([a.size for a in inputs[:k]], dtype=int)), inputs[k].size
