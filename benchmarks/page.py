"""The page of a run: one file that says what was measured, how, on what, and what was found; HTML, or Markdown."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from html import escape
from typing import Any

from benchmarks.emitters import EMITTERS
from benchmarks.report import Table, bounds, emitted, goals, memory, times, wall_and_processor
from benchmarks.timing import FIGURES

_HEAD = "<!doctype html><html lang='en'><meta charset='utf-8'><title>cardan, measured</title>"
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 1250px; padding: 0 1em; color: #222 }
table { border-collapse: collapse; font-size: 13px; margin: 1em 0; display: block; overflow-x: auto }
td, th { border-bottom: 1px solid #ddd; padding: .25em .7em; text-align: right; white-space: nowrap }
td:first-child, th:first-child { text-align: left } th { background: #f5f5f5 } svg { max-width: 100%; height: auto }
.missed { color: #b00020 }
"""
_INTRO = """
After this page you know what one run of <code>python -m benchmarks --page FILE</code> found, and on what machine. The
command made this page.
"""
_HOW = """
All figures are <b>processor time of one state</b>, of all threads of the process, unless they say wall time. The clock
counts what else the machine does, and is given beside it. cardan and the peers <b>take turns</b>. In each of {rounds}
rounds everyone is measured for {milliseconds:.0f} ms, figure by figure, another first in each round. So a slow moment
hits all alike. A figure is the <b>median</b> of the rounds, with their middle half in brackets. A <b>ratio</b> is a
peer's time over cardan's <em>in the same round</em>. A batch of cardan's stands against the peer's fastest way to many
states, and one call against one call. Numbers are float64. Batches have {states} states, or fewer if results would
take more than 256 MB. Configurations are random, and the same for everyone. A peer that is missing or cannot do
something says so. Nothing here is a test: no number makes this fail.
"""
_BOUNDS = """
No code for the same operations can beat two bounds. Both are measured on the same core in the same rounds. The
<b>multiply-add units</b> take the multiplications of the program, each alone or part of a multiply-add. A sine has 10.
Their rate is that of a loop of independent multiply-adds. <b>Stores</b> fill a block as large as the batch's results.
The percentages say what share of cardan's time these are. What is left is reading and transposing arguments, values
that wait in memory, and the memory itself.
"""
Block = tuple[str, Any]  # ("h2", text), ("p", HTML), ("table", Table), ("svg", text)


def page(result: dict[str, Any], peers: list[Any], markdown: bool = False) -> str:
    """Return the page.

    Args:
        result: of a run, as `--json` keeps it.
        peers: who ran.
        markdown: whether it is Markdown, without the picture, or HTML with it.
    """
    blocks = _blocks(result, peers)
    if markdown:
        return "\n\n".join(_as_markdown(kind, content) for kind, content in blocks if kind != "svg") + "\n"
    html = "".join(_as_html(kind, content) for kind, content in blocks)
    return f"{_HEAD}<style>{_STYLE}</style><body>{html}</body></html>\n"


def _blocks(result: dict[str, Any], peers: list[Any]) -> Iterator[Block]:
    """Yield what stands on the page, in order."""
    yield from (("h1", "cardan, measured"), ("p", _INTRO), ("h2", "On what"), ("table", _machine(result, peers)))
    yield from (("h2", "How"), ("p", _how(result)), ("table", (("figure", "is"), list(FIGURES.items()))))
    yield from (_drawn(result, peers), ("h2", "Goals"), ("table", goals(result["targets"])))
    yield from (("h2", "Bounds"), ("p", _BOUNDS))
    for robot in dict.fromkeys(row["robot"] for row in result["rows"]):
        rows, emitters = ([row for row in result[part] if row["robot"] == robot] for part in ("rows", "emitters"))
        yield from _robot(robot, rows, emitters, [peer.name for peer in peers])


def _robot(name: str, rows: list[dict[str, Any]], emitters: list[dict[str, Any]], peers: list[str]) -> Iterator[Block]:
    yield from (("h2", f"{name}, {rows[0]['nv']} degrees of freedom"), ("table", times(rows, peers)))
    yield from (("h3", "Shares of the bounds"), ("table", bounds(rows)))
    yield from (("h3", "Memory of results"), ("table", memory(rows)))
    yield from (("h3", "Wall time over processor time"), ("table", wall_and_processor(rows)))
    if emitters:
        yield from (("h3", "Code generation, in new processes"), ("table", emitted(emitters, EMITTERS)))


def _machine(result: dict[str, Any], peers: list[Any]) -> Table:
    facts = {k: f"{v:.4g}" if isinstance(v, float) else str(v) for k, v in result["environment"].items()}
    facts |= {p.name: f"{p.version}: {p.how}" for p in peers}
    facts |= {name: f"not measured: {reason}" for name, reason in result["absent"].items()}
    return ("", ""), list(facts.items())


def _how(result: dict[str, Any]) -> str:
    where = result["environment"]
    return _HOW.format(rounds=where["rounds"], milliseconds=1e3 * where["seconds"], states=where["states"])


def _drawn(result: dict[str, Any], peers: list[Any]) -> Block:
    """Return the picture; without matplotlib, the sentence that says so."""
    try:
        from benchmarks.plot import draw
    except ImportError as error:
        return "p", f"No picture: {escape(str(error))}"
    file = io.StringIO()
    draw(result["rows"], ["cardan", *(p.name for p in peers)], file, format="svg")
    return "svg", file.getvalue()[file.getvalue().index("<svg") :]


def _as_html(kind: str, content: Any) -> str:
    if kind == "svg":
        return content
    if kind == "table":
        header, rows = content
        return f"<table>{_row(header, 'th')}{''.join(_row(row, 'td') for row in rows)}</table>"
    return f"<{kind}>{content if kind == 'p' else escape(content)}</{kind}>"


def _row(cells: tuple[str, ...], tag: str) -> str:
    kind = {True: " class='missed'", False: ""}
    return "<tr>" + "".join(f"<{tag}{kind[c.endswith('missed')]}>{escape(c)}</{tag}>" for c in cells) + "</tr>"


def _as_markdown(kind: str, content: Any) -> str:
    if kind == "table":
        header, rows = content
        lines = (header, ["---"] * len(header), *rows)
        return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
    if kind == "p":
        return re.sub("</?code>", "`", re.sub("</?(b|em)>", "*", content)).strip()
    return "#" * int(kind[1:]) + " " + content
