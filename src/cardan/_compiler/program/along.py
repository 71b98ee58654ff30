"""The rate of a function while its arguments move, inside a trace: the function may hold symbols of that trace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from cardan._compiler.program.autodiff import pushforward
from cardan._compiler.program.expr import Condition, Expr, Graph
from cardan._compiler.program.instructions import Instructions
from cardan._compiler.program.ops import SPEC, Kind, Op
from cardan._compiler.program.program import Program


def rate_along(function: Callable[[list[Any]], Sequence[Any]], x: Sequence[Any], x_dot: Sequence[Any]) -> list[Any]:
    """Return the time derivatives of what a function of scalars returns, while x moves at x_dot.

    Args:
        function: takes as many scalars as x has and returns scalars.
        x: numbers, or symbols of one trace.
        x_dot: likewise.
    """
    graph = next((e.graph for e in (*x, *x_dot) if type(e) is Expr), None) or Graph()
    start, regions = len(graph.instructions), graph.regions
    places = [-1 - start - k for k in range(len(x))]  # of inputs that no other has, and no result will
    graph.regions = None  # what is differentiated here is written out
    try:
        results = tuple(graph.result(e) for e in function([graph.input(place) for place in places]))
    finally:
        graph.regions = regions
    program = Program("rate", (), Instructions(graph.instructions), (), results)
    own, values = dict(zip(places, x, strict=True)), []
    for k, (op, args, number) in enumerate(program.instructions):
        if op is Op.CONST or op is Op.INPUT:
            values.append(number if op is Op.CONST else own.get(int(number), Expr(graph, k)))
        elif k < start:
            values.append((Expr if SPEC[op].result is Kind.REAL else Condition)(graph, k))
        else:
            values.append(SPEC[op].evaluate(*(values[a] for a in args)))
    found = pushforward(program, values, {place: {0: e} for place, e in zip(places, x_dot, strict=True)})
    return [found[r].get(0, 0.0) for r in results]
