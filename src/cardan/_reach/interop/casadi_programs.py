"""Programs of a function and of its derivatives, as CasADi wants them.

From y = f(x, ...), with all arguments x and all results y as matrices, and vec(y) their entries column by column:

    F:           y
    jac_F:       d vec(y) / d vec(x)          for each y, for each x
    adj1_F:      x_bar = sum over y of (dy/dx)^T y_bar
    jac_adj1_F:  d vec(x_bar) / d vec(z)      for each x_bar, for each z of x, y, y_bar: second derivatives

Derivatives are plain, by the entries of arguments as they stand, since CasADi knows no tangents (`call/plain.py`). Of
every result the entries that can be other than 0 are written, column by column.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.arrays import symbolic
from cardan._algebra.errors import ParameterError
from cardan._compiler.program import Array, Program, autodiff
from cardan._compiler.program.expr import Graph
from cardan._compiler.program.instructions import Instructions
from cardan._compiler.program.ops import Op
from cardan._compiler.program.program import places_of
from cardan._compiler.program.replay import replay, straight
from cardan._compiler.program.trace import assemble
from cardan._compiler.runtime.memory import collection_paused
from cardan._compiler.targets.c import check_name
from cardan._compiler.targets.casadi_c import External, Pattern
from cardan._dynamics.algorithms.aba import forward_dynamics
from cardan._dynamics.algorithms.configuration import difference
from cardan._dynamics.algorithms.derivatives import inverse_dynamics_derivatives
from cardan._dynamics.algorithms.forward_derivatives import forward_dynamics_derivatives
from cardan._dynamics.algorithms.forward_second_derivatives import forward_dynamics_expansion
from cardan._dynamics.algorithms.rnea import inverse_dynamics
from cardan._dynamics.algorithms.second_derivatives import inverse_dynamics_hessian
from cardan._dynamics.call.function import Function, function
from cardan._robot.model import Model

NAME = re.compile(r"[A-Za-z]([A-Za-z0-9]|_(?!_))*")  # what CasADi takes as one


def externals(
    function: Function[..., Any],
    model: Model,
    name: str,
    optional: Sequence[str] = (),
    options: Mapping[str, Any] | None = None,
    order: int = 2,
) -> list[External]:
    """Return F, and of order 1 jac_F and adj1_F, of order 2 jac_adj1_F.

    Numbers among the options are constants of the programs; arrays that are `optional` are arguments, too.
    ParameterError is for a name that C does not take, no arguments, and arrays of more than two dimensions.
    """
    check_name(name)
    with collection_paused():
        # each as often differentiable as it is differentiated (`cardan.implicit`)
        program, *differentiable = [_program(function, model, optional, options or {}, k) for k in range(order + 1)]
        x, y = [a.name for a in program.inputs], [a.name for a in program.outputs]
        if not x:
            raise ParameterError(f"arguments of {function.name}", got=(), expected="one array at least")
        found = [
            _external(name, program, [*map(_dense, program.inputs)], [*map(_dense, program.outputs)], range(len(x)))
        ]
        if order > 0:
            found += _derivatives(name, differentiable, _known(function, model, x), model)
    return [found[0]._replace(names=_names(x, y)), *found[1:]]


def _names(x: Sequence[str], y: Sequence[str]) -> tuple[Sequence[str], Sequence[str]] | None:
    """Return the names of arguments and results, if CasADi takes them."""
    of_result = [f"{n}_next" if n in x else n for n in y]
    return (x, of_result) if all(map(NAME.fullmatch, (*x, *of_result))) else None


def _derivatives(name: str, programs: Sequence[Program], known: Known | None, model: Model) -> list[External]:
    """Return the derivatives of as many orders as there are programs: one for each order."""
    program = programs[0]
    inputs, outputs = [*map(_dense, program.inputs)], [*map(_dense, program.outputs)]
    x, own, n = [a.name for a in program.inputs], range(len(inputs)), len(inputs) + len(outputs)
    first = known.first.program(model) if known else _by_result(autodiff.jacobian(program, x), len(x))
    blocks = [Pattern(b.size, a.size) for b in outputs for a in inputs]
    found = [_external(f"jac_{name}", first, [*inputs, *map(_nothing, outputs)], blocks, own, True)]
    weights = [f"bar of {a.name}" for a in program.outputs]  # no name that an argument may have
    back = autodiff.vector_jacobian_product(program, x, weights)
    seeds, reads = [*inputs, *map(_nothing, outputs), *outputs], [*own, *range(n, n + len(outputs))]
    found.append(_external(f"adj1_{name}", back, seeds, inputs, reads))
    if len(programs) > 1:
        wrt = [*x, *weights]
        back = autodiff.vector_jacobian_product(programs[1], x, weights)
        second = known.second.program(model) if known else _by_result(autodiff.jacobian(back, wrt), len(wrt))
        # no result feels y itself: of each row of blocks, those by y are empty
        by = [(p.size, None if k in reads else ()) for k, p in enumerate([*inputs, *outputs, *outputs])]
        blocks = [Pattern(a.size, count, places) for a in inputs for count, places in by]
        found.append(_external(f"jac_adj1_{name}", second, [*seeds, *map(_nothing, inputs)], blocks, reads, True))
    return found


# --- what is known by recursions: the derivatives of forward and inverse dynamics, along tangents ---
#
# Forward and inverse dynamics do not depend on the length of a quaternion. So near q they are functions of
# x = difference(q, q1), of which recursions give the derivatives f_x and f_xx. By q1 itself, with E = dx/dq1,
#
#     dy/dq = f_x E        d2(w . y)/dq2 = E^T (w . f)_xx E + sum_k (w . f)_x,k d2x_k/dq1^2


class Known(NamedTuple):
    """Functions of the blocks of jac_F, and of those of jac_adj1_F without those by y, row by row."""

    first: Function[..., Any]
    second: Function[..., Any]


def _blocks(model: Model, q: Any, by: Sequence[Any]) -> tuple[Any, ...]:
    """Return the blocks of jac_F from derivatives along tangents."""
    return by[0] @ _of_tangent(model, q), by[1], by[2]


def _rows_of_blocks(model: Model, q: Any, weights: Any, by: Sequence[Any], second: Sequence[Any]) -> tuple[Any, ...]:
    """Return the blocks of jac_adj1_F, from the derivatives of y and the second ones of weights . y, along tangents."""
    qq, qv, vv, qx = second
    E, none = _of_tangent(model, q), np.zeros(vv.shape)
    by_q = E.T @ qq @ E + _bend(model, q, by[0].T @ weights)
    by_v = by[1].T
    return by_q, E.T @ qv, E.T @ qx, E.T @ by[0].T, qv.T @ E, vv, none, by_v, qx.T @ E, none, none, by[2].T


def _of_tangent(model: Model, q: Any) -> Any:
    """Return E: how x changes with the entries of q."""
    return np.array(model.manifold.configuration_derivative_to_velocity_jacobian(list(q)), dtype=object)


@function(shapes={"slope": ("nv",)}, returns=())
def _along(model: Model, q0: Any, q1: Any, slope: Any) -> Any:
    return slope @ difference(model, q0, q1)


def _bend(model: Model, q: Any, slope: Any) -> Any:
    """Return the second derivatives of slope . x by the entries of q; 0 but for quaternions and their like."""
    twice = straight(autodiff.jacobian(autodiff.jacobian(_along.program(model), "q1"), "q1"))
    values = replay(twice, [*q, *q, *slope])
    return symbolic((values[r] for r in twice.results), (model.nq, model.nq))


@function
def _forward_first(model: Model, q: Any, v: Any, tau: Any) -> Any:
    return _blocks(model, q, forward_dynamics_derivatives(model, q, v, tau))


@function(shapes={"weights": ("nv",)})
def _forward_second(model: Model, q: Any, v: Any, tau: Any, weights: Any) -> Any:
    found = forward_dynamics_expansion(model, q, v, tau, weights)
    return _rows_of_blocks(model, q, weights, found[1:4], found[4:])


@function
def _inverse_first(model: Model, q: Any, v: Any, a: Any) -> Any:
    return _blocks(model, q, inverse_dynamics_derivatives(model, q, v, a))


@function(shapes={"weights": ("nv",)})
def _inverse_second(model: Model, q: Any, v: Any, a: Any, weights: Any) -> Any:
    by = inverse_dynamics_derivatives(model, q, v, a)
    return _rows_of_blocks(model, q, weights, by, inverse_dynamics_hessian(model, q, v, a, weights))


KNOWN = {
    forward_dynamics.made_from: Known(_forward_first, _forward_second),
    inverse_dynamics.made_from: Known(_inverse_first, _inverse_second),
}


def _known(of: Function[..., Any], model: Model, x: Sequence[str]) -> Known | None:
    """Return what is known of a function whose arguments are the three of the dynamics and no others.

    Of clusters it is known along closed motions alone, and not by the entries of q.
    """
    of_trees = not (model.inputs or any(node.joint.is_placed for node in model.nodes))
    return KNOWN.get(of.made_from) if len(x) == 3 and of_trees else None


# --- programs of matrices ---


def _program(
    function: Function[..., Any], model: Model, optional: Sequence[str], options: Mapping[str, Any], order: int
) -> Program:
    """Return the program of a function that is differentiated so often, its numbers among the options put in."""
    names, fixed = function.interface.required(model, options, optional)
    program = function.traced(model, names, fixed, order).program
    numbers = {n: float(options[n]) for n in names if n in options}
    return _matrices(_filled(program, numbers) if numbers else program, function.name)


def _filled(program: Program, numbers: Mapping[str, float]) -> Program:
    program, graph = straight(program), Graph()
    left = tuple(a for a in program.inputs if a.name not in numbers)
    entries = graph.symbols(left)
    symbols = {a.name: entries[place] for a, place in zip(left, places_of(left), strict=True)}
    values = replay(program, [e for a in program.inputs for e in symbols.get(a.name) or [numbers[a.name]]])
    return assemble(program.name, graph, left, program.outputs, [values[r] for r in program.results])


def _matrices(program: Program, where: str) -> Program:
    """Return a program of matrices, with the entries of arguments and results column by column."""
    for a in (*program.inputs, *program.outputs):
        if len(a.shape) > 2:
            expected = "at most two dimensions, as CasADi's matrices have; return the parts of it one by one"
            raise ParameterError(f"{a.name} of {where}", got=f"shape {a.shape}", expected=expected)
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
