"""Which line of source each operation of a trace was written by: slow, and only for who asks (`Function.explain`)."""

from __future__ import annotations

import linecache
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from cardan._compiler.program.expr import Graph
from cardan._compiler.program.ops import LEAVES, Op

Line = tuple[str, int, str]
"""File, number of the line, and the function it is in."""

_HERE = os.path.dirname(os.path.dirname(os.path.dirname(__file__))) + os.sep
# Operators of spatial objects and arrays are not lines of a page: the line that wrote them is.
_BENEATH = (f"{_HERE}_compiler{os.sep}", f"{_HERE}_algebra{os.sep}")

_counter: ContextVar[Counter[Line] | None] = ContextVar("cardan_lines", default=None)


class LocatedGraph(Graph):
    """A graph that remembers the line each operation was first written by."""

    __slots__ = ("lines",)

    def __init__(self, *, regions: bool = False) -> None:
        super().__init__(regions=regions)
        self.lines: list[Line] = []

    def add(self, op: Op, args: tuple[int, ...], value: float = 0.0) -> int:
        index = super().add(op, args, value)
        if index == len(self.lines):
            self.lines.append(_line())
        return index


def _line() -> Line:
    frame = sys._getframe(2)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_BENEATH):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name


@contextmanager
def counting_lines() -> Iterator[Counter[Line]]:
    """Count, by line, the operations that results need, of what is traced inside in this thread."""
    counter: Counter[Line] = Counter()
    token = _counter.set(counter)
    try:
        yield counter
    finally:
        _counter.reset(token)


def new_graph(*, regions: bool) -> Graph:
    """Return the graph a trace writes in: one that knows lines if they are counted now."""
    return Graph(regions=regions) if _counter.get() is None else LocatedGraph(regions=regions)


def count_lines(graph: Graph, results: Sequence[int]) -> None:
    """Add the operations that results need to what is counted now, if anything is."""
    counter = _counter.get()
    if counter is None or not isinstance(graph, LocatedGraph):
        return
    needed, waiting = set[int](), list(results)
    while waiting:
        k = waiting.pop()
        if k not in needed:
            needed.add(k)
            waiting += graph.instructions[k][1]
    counter.update(graph.lines[k] for k in needed if graph.instructions[k][0] not in LEAVES)


def table_of_lines(counter: Counter[Line], most: int = 30) -> list[str]:
    """Return lines of text: operations, place and source, the most first; the rest together."""
    listed = counter.most_common(most)
    rows = [
        f"{count:8} {os.path.basename(file)}:{line} {name}: {linecache.getline(file, line).strip()}"
        for (file, line, name), count in listed
    ]
    rest = counter.total() - sum(count for _, count in listed)
    return rows + ([f"{rest:8} on {len(counter) - len(listed)} further lines"] if rest else [])
