"""Tracing: run a function once on symbols and keep what it did as a program.

Which line of source wrote each operation is looked up for who asks alone (`Function.explain`): that is slow.
"""

from __future__ import annotations

import linecache
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

import numpy as np

from cardan._algebra.arrays import symbolic
from cardan._algebra.errors import TraceError
from cardan._compiler.program.expr import ColumnArray, Expr, Graph
from cardan._compiler.program.instructions import Instructions
from cardan._compiler.program.no_number import of_libraries
from cardan._compiler.program.ops import FREE, WRITES, Op
from cardan._compiler.program.passes import PASSES
from cardan._compiler.program.program import Array, Program, leaked, places_of


def trace(
    name: str,
    function: Callable[..., Mapping[str, np.ndarray | ColumnArray]],
    inputs: Sequence[Array],
    *,
    regions: bool = False,
    order: int = 0,
) -> Program:
    """Return the program of a function; TraceError if it branches on a symbol or returns what is not a scalar.

    It takes an array of symbols (dtype object) for each input, and returns arrays of symbols or numbers by name. With
    `regions`, `cardan.repeat` makes regions; else it writes the passes out. `order` is how often it will be
    differentiated (`cardan.implicit`).
    """
    kind = Graph if _counter.get() is None else LocatedGraph
    graph = kind(regions=regions, order=order)
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
        if isinstance(value, ColumnArray) and value.placed(sum(a.size for a in outputs)):
            outputs.append(Array(key, value.shape))
            continue
        array = value.array() if isinstance(value, ColumnArray) else np.asarray(value)
        outputs.append(Array(key, array.shape))
        numbers += _numbers(graph, name, key, array.ravel().tolist())
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
    program = replace(program, tables=tuple(graph.tables), columns=tuple(graph.columns), calls=tuple(graph.calls))
    written = program.operations + graph.shared + graph.signs + graph.folded
    history = [("written", written), ("folding", written - graph.folded)]
    history += [("signs", program.operations + graph.shared), ("sharing", program.operations)]
    for apply in PASSES:
        program = apply(program)
        history.append((apply.__name__, program.operations))
    if leaked(program) is not None:
        raise TraceError(f"{name}: a value of the body of cardan.when is used outside of it; let the body return it.")
    order = graph.order if graph.implicit else None
    return replace(program, history=tuple(history), order=order)


def _numbers(graph: Graph, name: str, key: str, entries: Sequence[Any]) -> list[int]:
    """Return the numbers of the instructions that hold results; those of a large matrix are mostly at hand, or 0."""
    zero = _result(graph, name, key, 0.0) if any(type(e) is float and not e for e in entries) else -1
    return [
        e.index
        if type(e) is Expr and e.graph is graph and not e.negative
        else zero
        if type(e) is float and not e
        else _result(graph, name, key, e)
        for e in entries
    ]


def _result(graph: Graph, name: str, key: str, entry: Any) -> int:
    try:
        return graph.result(entry)
    except TraceError as error:
        raise TraceError(f"{name}: result {key!r} holds something that is no scalar: {error}") from None


Line = tuple[str, int, str]  # file, number of the line, and the function it is in

_HERE = os.path.dirname(os.path.dirname(os.path.dirname(__file__))) + os.sep
# Operators of spatial objects and arrays are not lines of a page: the line that wrote them is.
_BENEATH = (f"{_HERE}_compiler{os.sep}", f"{_HERE}_algebra{os.sep}")

_counter: ContextVar[Counter[Line] | None] = ContextVar("cardan_lines", default=None)


class LocatedGraph(Graph):
    """A graph that remembers the line each operation was first written by."""

    __slots__ = ("lines",)

    def __init__(self, *, regions: bool = False, order: int = 0) -> None:
        super().__init__(regions=regions, order=order)
        self.lines: list[Line] = []

    def back_to(self, mark: tuple[int, int]) -> None:
        super().back_to(mark)
        del self.lines[mark[0] :]

    def add(self, op: Op, args: tuple[int, ...], value: float = 0.0) -> int:
        index = super().add(op, args, value)
        if index == len(self.lines):
            frame = sys._getframe(1)
            while frame.f_back is not None and frame.f_code.co_filename.startswith(_BENEATH):
                frame = frame.f_back
            self.lines.append((frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name))
        return index


@contextmanager
def counting_lines() -> Iterator[Counter[Line]]:
    """Count, by line, the operations that results need, of what is traced inside in this thread."""
    counter: Counter[Line] = Counter()
    token = _counter.set(counter)
    try:
        yield counter
    finally:
        _counter.reset(token)


def count_lines(graph: Graph, results: Sequence[int]) -> None:
    """Add the operations that results need to what is counted now, if anything is."""
    counter = _counter.get()
    if counter is None or not isinstance(graph, LocatedGraph):
        return
    needed, waiting = set[int](), list(results)
    puts: dict[float, list[int]] = {}
    for k, (op, _, value) in enumerate(graph.instructions):
        if op in WRITES:
            puts.setdefault(value, []).append(k)
    for number, column in enumerate(graph.columns):
        waiting += puts.pop(number, ()) if column.results else ()
    while waiting:
        k = waiting.pop()
        if k not in needed:
            op, args, value = graph.instructions[k]
            needed.add(k)
            waiting += args
            if op is Op.ENTRY:
                waiting += puts.pop(value, ())
    counter.update(graph.lines[k] for k in needed if graph.instructions[k][0] not in FREE)


def table_of_lines(counter: Counter[Line], most: int = 30) -> list[str]:
    """Return lines of text: operations, place and source, the most first; the rest together."""
    listed = counter.most_common(most)
    rows = [
        f"{count:8} {os.path.basename(file)}:{line} {name}: {linecache.getline(file, line).strip()}"
        for (file, line, name), count in listed
    ]
    rest = counter.total() - sum(count for _, count in listed)
    return rows + ([f"{rest:8} on {len(counter) - len(listed)} further lines"] if rest else [])
