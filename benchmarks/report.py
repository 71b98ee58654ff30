"""Tables of what was found, as rows of text: for the terminal, and for the page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from benchmarks.targets import found_in
from cardan._reach.cli.options import table

LONGEST_REASON = 28
Table = tuple[tuple[str, ...], list[tuple[str, ...]]]  # header and rows


def robot_table(rows: list[dict[str, Any]], peers: list[str]) -> str:
    """Return the times of one robot; beside each peer, how many times cardan's its time is."""
    return table(*times(rows, peers))


def times(rows: list[dict[str, Any]], peers: list[str]) -> Table:
    """Return cardan's times of a state, processor time, and the peers' ratios to them."""
    header = ("quantity", "operations", "compile", "batch", "into out=", "in cache", "all threads (wall)", "one call")
    return (*header, *(f"{p}: batch | call" for p in peers)), [_times(row, peers) for row in rows]


def _times(row: dict[str, Any], peers: list[str]) -> tuple[str, ...]:
    ours = row["cardan"]
    if "reason" in ours:
        return (row["quantity"], "-", _short(ours["reason"]), "-", "-", "-", "-", "-", *(_peer(row, p) for p in peers))
    figures = [_spread(found_in(ours, f, "cpu")) for f in ("batch", "out", "cached")]
    figures += [_spread(found_in(ours, "threads", "wall")), _spread(found_in(ours, "call", "cpu"))]
    known = (row["quantity"], str(row["operations"]), duration(ours["prepare_s"]))
    return (*known, *figures, *(_peer(row, p) for p in peers))


def _peer(row: dict[str, Any], peer: str) -> str:
    if "ratios" not in row[peer]:
        return _short(row[peer].get("reason", "-"))
    found = row[peer]["ratios"]
    return " | ".join(_factor(found[f]) if f in found else "-" for f in ("batch", "call"))


def wall_and_processor(rows: list[dict[str, Any]]) -> Table:
    """Return how long the clock ran beside processor time: the more, the more this machine did other work."""
    header = ("quantity", "one call: wall / processor", "batch: wall / processor", "into out=: wall / processor")
    lines = []
    for row in _served(rows):
        both = [[found_in(row["cardan"], f, k, "median") for k in ("wall", "cpu")] for f in ("call", "batch", "out")]
        lines.append((row["quantity"], *(f"{a / b:.2f}" if a and b else "-" for a, b in both)))
    return header, lines


def bounds(rows: list[dict[str, Any]]) -> Table:
    """Return what share of its time a batch takes at least, for its multiply-adds and for writing its results."""
    header = ("quantity", "bytes a state", "multiply-add bound", "store bound", "batch", "into out=", "in cache")
    return header, [(row["quantity"], *_shares(row)) for row in _served(rows) if "bounds" in row]


def _shares(row: dict[str, Any]) -> Iterator[str]:
    found = row["bounds"]
    yield from (str(row["bytes"]), duration(found["pipe_s"]), duration(found["store_s"]))
    for figure in ("batch", "out", "cached"):
        shares = found.get(figure, {})
        yield ", ".join(f"{100 * share:.0f} % {kind}" for kind, share in shares.items()) or "-"


def memory(rows: list[dict[str, Any]]) -> Table:
    """Return what allocating the result costs: the default call beside `out=`."""
    header = ("quantity", "MB of results", "batch", "into out=", "batch / out=")
    lines = []
    for row in _served(rows):
        batch, out = (found_in(row["cardan"], f, "cpu") for f in ("batch", "out"))
        if batch and out:
            size = f"{row['bytes'] * row['states'] / 1e6:.1f}"
            lines.append(
                (row["quantity"], size, _spread(batch), _spread(out), f"{batch['median'] / out['median']:.2f}")
            )
    return header, lines


def emitted(rows: list[dict[str, Any]], emitters: Iterable[str]) -> Table:
    """Return what each emitter of machine code costs and gives."""
    chosen = [e for e in emitters if any(e in row for row in rows)]
    header = ("quantity", *(f"{e}: {what}" for e in chosen for what in ("trace", "code", "size", "a state")))
    return header, [(row["quantity"], *(cell for e in chosen for cell in _emitted(row[e]))) for row in rows]


def _emitted(found: dict[str, Any]) -> tuple[str, ...]:
    if "reason" in found:
        return (_short(found["reason"]), "-", "-", "-")
    size = "-" if found["bytes"] is None else f"{found['bytes'] / 1024:.0f} kB"
    return duration(found["trace_s"]), duration(found["code_s"]), size, duration(found["state_s"])


def _served(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for row in rows if "reason" not in row["cardan"]]


def _spread(spread: dict[str, float] | None) -> str:
    """Return a median and the middle half about it: 34.2 ns (33.9-35.0)."""
    if spread is None:
        return "-"
    middle, unit = duration(spread["median"]).split()
    scale = _scale(spread["median"])
    return f"{middle} {unit} ({spread['low'] * scale:.3g}-{spread['high'] * scale:.3g})"


def _factor(spread: dict[str, float]) -> str:
    return f"{spread['median']:.3g}x ({spread['low']:.3g}-{spread['high']:.3g})"


def _short(reason: str) -> str:
    return reason if len(reason) <= LONGEST_REASON else reason[: LONGEST_REASON - 3] + "..."


_UNITS = (("ns", 1e9), ("us", 1e6), ("ms", 1e3), ("s", 1.0))


def _scale(seconds: float) -> float:
    return next((scale for _, scale in _UNITS if seconds * scale < 999.5), 1.0)


def duration(seconds: float) -> str:
    """Return a time with three digits and a fitting unit."""
    scale = _scale(seconds)
    return f"{seconds * scale:.3g} {next(unit for unit, s in _UNITS if s == scale)}"


def target_table(targets: list[dict[str, Any]]) -> str:
    """Return the targets, each figure beside its goal; `missed` marks what does not reach it."""
    return table(*goals(targets))


def goals(targets: list[dict[str, Any]]) -> Table:
    """Return the goals, each beside what was found."""
    rows = [(t["what"], t["against"], *(_goal_cell(t[r], t["unit"]) for r in ("panda", "talos"))) for t in targets]
    return ("goal", "against", "panda: found (goal)", "talos: found (goal)"), rows


def _goal_cell(cell: dict[str, Any], unit: str) -> str:
    if cell["goal"] is None:
        return "" if cell["found"] is None else _figure(cell["found"], unit)
    found = "not measured" if cell["found"] is None else _figure(cell["found"], unit)
    return f"{found} ({_figure(cell['goal'], unit)})" + ("  missed" if cell["met"] is False else "")


def _figure(value: float, unit: str) -> str:
    return duration(value) if unit == "s" else f"{value:.3g}{' %' if unit == '%' else unit}"
