"""What is printed: a table for each robot, then the targets."""

from __future__ import annotations

from typing import Any

from benchmarks.targets import quotient
from cardan.cli.options import table

LONGEST_REASON = 28


def robot_table(rows: list[dict[str, Any]], peers: list[str]) -> str:
    """Return the times of one robot; beside a peer's time of a state, how many times cardan's it is."""
    header = ("quantity", "operations", "compile", "one thread", "all threads", "of peak", "one call")
    return table((*header, *(f"{p} ({BEST[p][1]})" for p in peers)), [_line(row, peers) for row in rows])


BEST = {
    "pin": ("call_s", "call"),
    "mujoco": ("call_s", "call"),
    "frax": ("one_thread_s", "batch, one core"),
    "heyoka": ("one_thread_s", "batch, one thread"),
}
"""Which of a peer's times stands in the table; the file of --json has all of them."""


def _line(row: dict[str, Any], peers: list[str]) -> tuple[str, ...]:
    ours = row["cardan"]
    theirs = tuple(_peer_cell(row, p) for p in peers)
    if "one_thread_s" not in ours:
        return (row["quantity"], "-", _short(ours.get("reason", "")), "-", "-", "-", "-", *theirs)
    return (
        row["quantity"],
        str(row["operations"]),
        f"{ours['prepare_s']:.2f} s",
        duration(ours["one_thread_s"]),
        duration(ours["all_threads_s"]),
        f"{100 * row['fraction_of_peak']:.0f} %",
        duration(ours["call_s"]),
        *theirs,
    )


def _peer_cell(row: dict[str, Any], peer: str) -> str:
    key = BEST[peer][0]
    if key not in row[peer]:
        return _short(row[peer].get("reason", "-"))
    factor = quotient(row, peer, key, "one_thread_s")
    return duration(row[peer][key]) + (f"  {factor:.3g}x" if factor else "")


def _short(reason: str) -> str:
    return reason if len(reason) <= LONGEST_REASON else reason[: LONGEST_REASON - 3] + "..."


def duration(seconds: float) -> str:
    """Return a time with three digits and a fitting unit."""
    for unit, scale in (("ns", 1e9), ("us", 1e6), ("ms", 1e3)):
        if seconds * scale < 1000:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds:.3g} s"


def target_table(targets: list[dict[str, Any]]) -> str:
    """Return the targets, each figure beside its goal; `missed` marks what does not reach it."""
    rows = [(t["what"], t["against"], *(_goal_cell(t[r], t["unit"]) for r in ("panda", "talos"))) for t in targets]
    return table(("target", "against", "panda: found (goal)", "talos: found (goal)"), rows)


def _goal_cell(cell: dict[str, Any], unit: str) -> str:
    if cell["goal"] is None:
        return "" if cell["found"] is None else _figure(cell["found"], unit)
    found = "not measured" if cell["found"] is None else _figure(cell["found"], unit)
    return f"{found} ({_figure(cell['goal'], unit)})" + ("  missed" if cell["met"] is False else "")


def _figure(value: float, unit: str) -> str:
    return duration(value) if unit == "s" else f"{value:.3g}{' %' if unit == '%' else unit}"
