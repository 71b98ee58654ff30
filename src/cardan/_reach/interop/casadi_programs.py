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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from cardan._algebra.errors import ParameterError
from cardan._compiler.program import Array, Program, autodiff
from cardan._compiler.program.expr import Graph, pushing
from cardan._compiler.program.instructions import Instructions
from cardan._compiler.program.ops import Op
from cardan._compiler.program.passes import with_entries
from cardan._compiler.program.program import places_of
from cardan._compiler.program.replay import replayed_results, straight
from cardan._compiler.program.trace import assemble
from cardan._compiler.runtime.memory import collection_paused
from cardan._compiler.targets.c import check_name
from cardan._compiler.targets.casadi_c import External, Pattern
from cardan._dynamics.call.function import Function
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
        def differentiable(order: int) -> Program:
            return _program(function, model, optional, options or {}, order)

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
