"""The goals of this project's speed, each beside what was measured. A missed goal fails nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from benchmarks import quantities as quantity
from cardan import num_threads

Rows = dict[str, dict[str, Any]]  # of one robot, by quantity


class Target(NamedTuple):
    """A goal.

    Attributes:
        what: is measured.
        against: what.
        panda, talos: the goals; None where there is none.
        figure: returns the figure from the rows of a robot and its startup times, or None if it was not measured.
        unit: "x" and "%" are better large, "s" small.
    """

    what: str
    against: str
    panda: float | None
    talos: float | None
    figure: Callable[[Rows, dict[str, float]], float | None]
    unit: str = "x"

    def met(self, goal: float, found: float) -> bool:
        """Return whether a figure reaches the goal."""
        return found <= goal if self.unit == "s" else found >= goal


def found_in(row: dict[str, Any], *path: str) -> Any:
    """Return what lies behind keys, one in the other; None where one is missing."""
    here: Any = row
    for key in path:
        here = here.get(key) if isinstance(here, dict) else None
    return here


def ratio(name: str, figure: str = "batch", peer: str = "pin") -> Callable[[Rows, Any], float | None]:
    """Return a figure: the median of a peer's time over cardan's in the same rounds."""
    return lambda rows, _: found_in(rows.get(name, {}), peer, "ratios", figure, "median")


def body(name: str) -> Callable[[Rows, Any], float | None]:
    """Return a figure: percentage of the multiply-add units' bound, of a batch in the cache.

    The goals are those of a program's body; this is all of it, with reading, transposing and writing.
    """

    def figure(rows: Rows, _: Any) -> float | None:
        share = found_in(rows.get(name, {}), "bounds", "cached", "pipe")
        return None if share is None else 100 * share

    return figure


def threads(name: str) -> Callable[[Rows, Any], float | None]:
    """Return a figure: how many times faster, by the clock, a batch is on all threads."""

    def figure(rows: Rows, _: Any) -> float | None:
        one, all_ = (found_in(rows.get(name, {}), "cardan", f, "wall", "least") for f in ("batch", "threads"))
        return one / all_ if one and all_ else None

    return figure


def longest_compile(derivatives: bool) -> Callable[[Rows, Any], float | None]:
    """Return a figure: the longest time to compile, of the derivatives or of everything else."""

    def figure(rows: Rows, _: Any) -> float | None:
        chosen = [row for name, row in rows.items() if name.startswith(quantity.DERIVATIVES) == derivatives]
        return max((row["cardan"]["prepare_s"] for row in chosen if "prepare_s" in row["cardan"]), default=None)

    return figure


def startup(*names: str) -> Callable[[Any, dict[str, float]], float | None]:
    """Return a figure: the sum of times measured in a new process."""
    return lambda _, times: sum(times[n] for n in names) if set(names) <= times.keys() else None


THREADS = 0.95 * num_threads()
BATCH, CALL, FRAX = "pin; batch, result allocated", "pin; one call", "frax, one core"

TARGETS = (
    Target("inverse dynamics", BATCH, 60, 35, ratio(quantity.INVERSE)),
    Target("forward dynamics", BATCH, 60, 35, ratio(quantity.FORWARD)),
    Target("mass matrix", BATCH, 40, 12, ratio(quantity.MASS)),
    Target("mass matrix, packed", BATCH, None, 25, ratio(f"{quantity.MASS}, packed")),
    Target("kinematics, all bodies", BATCH, 15, 10, ratio(quantity.POSES)),
    Target("inverse mass matrix", BATCH, 35, 8, ratio(quantity.MASS_INVERSE)),
    Target("frame Jacobian", BATCH, 50, 20, ratio(quantity.JACOBIAN)),
    Target("inverse dynamics derivatives", BATCH, 25, 10, ratio(quantity.INVERSE_DERIVATIVES)),
    Target("... packed", BATCH, None, 16, ratio(f"{quantity.INVERSE_DERIVATIVES}, packed")),
    Target("forward dynamics derivatives", BATCH, 25, 10, ratio(quantity.FORWARD_DERIVATIVES)),
    Target("inverse dynamics", CALL, 6, 5, ratio(quantity.INVERSE, "call")),
    Target("forward dynamics derivatives", CALL, 3, 3.5, ratio(quantity.FORWARD_DERIVATIVES, "call")),
    Target("inverse dynamics, in cache", "bound of the multiply-add units", 90, 85, body(quantity.INVERSE), "%"),
    Target("forward dynamics, in cache", "bound of the multiply-add units", 90, 85, body(quantity.FORWARD), "%"),
    Target("inverse dynamics", FRAX, 50, None, ratio(quantity.INVERSE, peer="frax")),
    Target("forward dynamics", FRAX, 50, None, ratio(quantity.FORWARD, peer="frax")),
    Target(
        "all threads: inverse dynamics",
        "one thread, wall time",
        THREADS,
        THREADS,
        threads(quantity.INVERSE),
    ),
    Target(
        "all threads: forward dynamics",
        "one thread, wall time",
        THREADS,
        THREADS,
        threads(quantity.FORWARD),
    ),
    Target("compile, all but derivatives", "processor time", 0.5, 2, longest_compile(False), "s"),
    Target("compile, derivatives", "processor time", 2, 1.6, longest_compile(True), "s"),
    Target("first call, new process, cached", "processor time", 0.006, 0.01, startup("first_call_s"), "s"),
    Target("... forward dynamics derivatives", "processor time", None, 0.015, startup("first_derivatives_s"), "s"),
    Target("... import and loading included", "processor time", None, None, startup("ready_s"), "s"),
    Target("import cardan over numpy", "processor time", 0.055, None, startup("import_s"), "s"),
)


def compared(rows: list[dict[str, Any]], startups: dict[str, dict[str, float]]) -> list[dict[str, Any]]:
    """Return the targets with figures and goals for the Panda and Talos, as plain data."""
    return [
        {"what": t.what, "against": t.against, "unit": t.unit}
        | {robot: _cell(t, robot, rows, startups.get(robot, {})) for robot in ("panda", "talos")}
        for t in TARGETS
    ]


def _cell(target: Target, robot: str, rows: list[dict[str, Any]], times: dict[str, float]) -> dict[str, Any]:
    goal = getattr(target, robot)
    found = target.figure({row["quantity"]: row for row in rows if row["robot"] == robot}, times)
    met = target.met(goal, found) if goal is not None and found is not None else None
    return {"found": found, "goal": goal, "met": met}
