"""Tracing: run a function once on symbols and keep what it did as a program."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cardan._algebra.arrays import symbolic
from cardan._algebra.errors import TraceError
from cardan._compiler.program.expr import Graph
from cardan._compiler.program.instructions import Instructions
from cardan._compiler.program.located import count_lines, new_graph
from cardan._compiler.program.no_number import of_libraries
from cardan._compiler.program.passes import PASSES
from cardan._compiler.program.program import Array, Program, leaked, places_of


def trace(
    name: str, function: Callable[..., Mapping[str, np.ndarray]], inputs: Sequence[Array], *, regions: bool = False
) -> Program:
    """Return the program of a function.

    Args:
        name: of the program.
        function: takes an array of symbols (dtype object) for each input, returns arrays of symbols or numbers by name.
        inputs: names and shapes of the arguments.
        regions: whether `cardan.repeat` makes regions; else it writes the passes out.

    Raises:
        TraceError: if the function branches on a symbol or returns something that is not a scalar.
    """
    graph = new_graph(regions=regions)
    entries, places = graph.symbols(inputs), places_of(inputs)
    symbols = [symbolic(entries[place], a.shape) for a, place in zip(inputs, places, strict=True)]
    try:
        results = function(*symbols)
    except (TypeError, ValueError) as error:
        explained = of_libraries(error)
        if explained is None:
            raise
        raise explained from error
    outputs, numbers = [], []
    for key, value in results.items():
        array = np.asarray(value)
        outputs.append(Array(key, array.shape))
        numbers += [_result(graph, name, key, entry) for entry in array.ravel().tolist()]
    count_lines(graph, numbers)
    return _program(name, graph, inputs, outputs, numbers)


def assemble(name: str, graph: Graph, inputs: Sequence[Array], outputs: Sequence[Array], results: Any) -> Program:
    """Return the program of a graph; results are the outputs' flattened entries, symbols of the graph or numbers."""
    return _program(name, graph, inputs, outputs, [graph.result(entry) for entry in results])


def _program(
    name: str, graph: Graph, inputs: Sequence[Array], outputs: Sequence[Array], results: Sequence[int]
) -> Program:
    outer_first = reversed(graph.regions or ())  # of two that are equally long the outer one was closed later
    regions = tuple(sorted(outer_first, key=lambda region: (region.start, -region.stop)))
    program = Program(name, tuple(inputs), Instructions(graph.instructions), tuple(outputs), tuple(results), regions)
    found = leaked(program)
    if found is not None:
        raise TraceError(f"{name}: a value of the body of cardan.when is used outside of it; let the body return it.")
    written = program.operations + graph.shared + graph.signs + graph.folded
    history = [("written", written), ("folding", written - graph.folded)]
    history += [("signs", program.operations + graph.shared), ("sharing", program.operations)]
    for apply in PASSES:
        program = apply(program)
        history.append((apply.__name__, program.operations))
    return replace(program, history=tuple(history))


def _result(graph: Graph, name: str, key: str, entry: Any) -> int:
    try:
        return graph.result(entry)
    except TraceError as error:
        raise TraceError(f"{name}: result {key!r} holds something that is no scalar: {error}") from None
