"""The page of a run: one HTML file that says what was measured, how, on what, and what was found."""

from __future__ import annotations

import io
from html import escape
from typing import Any

from benchmarks.emitters import EMITTERS
from benchmarks.report import Table, bounds, emitted, goals, memory, times, wall_and_processor
from benchmarks.timing import FIGURES

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 1250px; padding: 0 1em; color: #222 }
table { border-collapse: collapse; font-size: 13px; margin: 1em 0; display: block; overflow-x: auto }
td, th { border-bottom: 1px solid #ddd; padding: .25em .7em; text-align: right; white-space: nowrap }
td:first-child, th:first-child { text-align: left } th { background: #f5f5f5 } svg { max-width: 100%; height: auto }
.missed { color: #b00020 }
"""
_HOW = """
All figures are <b>processor time of one state</b> (that of all threads of the process) unless they say wall time: the
clock counts what else the machine does, and is given beside it. cardan and the peers <b>take turns</b>: in each of
{rounds} rounds everyone is measured for {milliseconds:.0f} ms, figure by figure, one after the other, another first in
each round, so a slow moment hits all alike. A figure is the <b>median</b> of the rounds, with the middle half of them
in brackets. A <b>ratio</b> is a peer's time over cardan's <em>in the same round</em>, median and middle half of
those; it takes the peer's fastest way to many states (one call each, or its own batch) against cardan's batch, and one
call against one call. float64; batches of {states} states, fewer where results would take more than 256 MB; random
configurations, the same for everyone; joints in each library's order. A peer that is missing or cannot do something
says so. Nothing here is a test: no number makes this fail.
"""
_BOUNDS = """
Two bounds no code for the same operations can beat, measured on the same core in the same rounds: the <b>multiply-add
units</b> (the instructions of the program, a multiply-add counting as one and a sine as 20, at the rate of a loop of
independent multiply-adds) and <b>stores</b> (filling a block as large as the batch's results). The percentages say what
share of cardan's time these are; what is left is reading and transposing the arguments, loads and stores of values that
wait, and the memory.
"""


def page(result: dict[str, Any], peers: list[Any]) -> str:
    """Return the page.

    Args:
        result: of a run, as `--json` keeps it.
        peers: who ran.
    """
    parts = ["<h1>cardan, measured</h1>", _machine(result, peers), "<h2>How</h2>", _how(result), _drawn(result, peers)]
    parts += ["<h2>Goals</h2>", _table(goals(result["targets"]))]
    names = [peer.name for peer in peers]
    for robot in dict.fromkeys(row["robot"] for row in result["rows"]):
        rows = [row for row in result["rows"] if row["robot"] == robot]
        parts += [f"<h2>{escape(robot)}, {rows[0]['nv']} degrees of freedom</h2>", _table(times(rows, names))]
        parts += ["<h3>Bounds</h3>", f"<p>{_BOUNDS}</p>", _table(bounds(rows))]
        parts += ["<h3>Memory of results</h3>", _table(memory(rows))]
        parts += ["<h3>Wall time over processor time</h3>", _table(wall_and_processor(rows))]
        of_this = [row for row in result["emitters"] if row["robot"] == robot]
        if of_this:
            parts += ["<h3>Code generation (processor time, new processes)</h3>", _table(emitted(of_this, EMITTERS))]
    head = (
        f"<!doctype html><html lang='en'><meta charset='utf-8'><title>cardan, measured</title><style>{_STYLE}</style>"
    )
    return f"{head}<body>{''.join(parts)}</body></html>\n"


def _machine(result: dict[str, Any], peers: list[Any]) -> str:
    where = result["environment"]
    facts = [(k, f"{v:.4g}" if isinstance(v, float) else str(v)) for k, v in where.items()]
    lines = [*facts, *((p.name, f"{p.version}: {p.how}") for p in peers)]
    lines += [(name, f"not measured: {reason}") for name, reason in result["absent"].items()]
    return "<h2>On what</h2><table>" + "".join(_row(line, "td") for line in lines) + "</table>"


def _how(result: dict[str, Any]) -> str:
    where = result["environment"]
    figures = "".join(f"<li><b>{name}</b>: {what}</li>" for name, what in FIGURES.items())
    how = _HOW.format(rounds=where["rounds"], milliseconds=1e3 * where["seconds"], states=where["states"])
    return f"<p>{how}</p><ul>{figures}</ul>"


def _drawn(result: dict[str, Any], peers: list[Any]) -> str:
    """Return the picture within the page; without matplotlib, the sentence that says so."""
    try:
        from benchmarks.plot import draw
    except ImportError as error:
        return f"<p>No picture: {escape(str(error))}</p>"
    file = io.StringIO()
    draw(result["rows"], ["cardan", *(p.name for p in peers)], file, format="svg")
    return file.getvalue()[file.getvalue().index("<svg") :]


def _table(content: Table) -> str:
    header, rows = content
    return f"<table>{_row(header, 'th')}{''.join(_row(row, 'td') for row in rows)}</table>"


def _row(cells: tuple[str, ...], tag: str) -> str:
    kind = {True: " class='missed'", False: ""}
    return "<tr>" + "".join(f"<{tag}{kind[c.endswith('missed')]}>{escape(c)}</{tag}>" for c in cells) + "</tr>"
