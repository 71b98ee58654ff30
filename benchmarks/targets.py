"""The goals of this project's speed, each beside what was measured. A missed goal fails nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
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


def ratio(name: str, peer: str, theirs: str, ours: str = "one_thread_s") -> Callable[[Rows, Any], float | None]:
    """Return a figure: a peer's time over cardan's for a quantity."""
    return lambda rows, _: quotient(rows.get(name, {}), peer, theirs, ours)


def quotient(row: dict[str, Any], peer: str, theirs: str, ours: str) -> float | None:
    """Return a peer's time over cardan's; None if one is missing."""
    one, other = row.get("cardan", {}).get(ours), row.get(peer, {}).get(theirs)
    return other / one if one and other else None


def least_ratio(peer: str, theirs: str, ours: str) -> Callable[[Rows, Any], float | None]:
    """Return a figure: the least ratio of all quantities."""
    return lambda rows, _: _least(quotient(row, peer, theirs, ours) for row in rows.values())


def _least(values: Iterable[float | None]) -> float | None:
    return min((v for v in values if v is not None), default=None)


def fraction(name: str) -> Callable[[Rows, Any], float | None]:
    """Return a figure: the percentage of the core's peak."""
    return lambda rows, _: 100 * rows[name]["fraction_of_peak"] if "fraction_of_peak" in rows.get(name, {}) else None


def longest_compile(derivatives: bool) -> Callable[[Rows, Any], float | None]:
    """Return a figure: the longest time to compile, of the derivatives or of everything else."""

    def figure(rows: Rows, _: Any) -> float | None:
        chosen = [row for name, row in rows.items() if (name in quantity.DERIVATIVES) == derivatives]
        return max((row["cardan"]["prepare_s"] for row in chosen if "prepare_s" in row["cardan"]), default=None)

    return figure


def startup(*names: str) -> Callable[[Any, dict[str, float]], float | None]:
    """Return a figure: the sum of times measured in a new process."""
    return lambda _, times: sum(times[n] for n in names) if set(names) <= times.keys() else None


THREADS = 0.9 * num_threads()
IN_BATCH, CALL = "pin, one thread", "pin"

TARGETS = (
    Target("inverse dynamics", IN_BATCH, 50, 35, ratio(quantity.INVERSE, "pin", "call_s")),
    Target("forward dynamics", IN_BATCH, 50, 35, ratio(quantity.FORWARD, "pin", "call_s")),
    Target("mass matrix", IN_BATCH, 35, 15, ratio(quantity.MASS, "pin", "call_s")),
    Target("kinematics, all bodies", IN_BATCH, 20, 15, ratio(quantity.POSES, "pin", "call_s")),
    Target("frame Jacobian", IN_BATCH, 20, 15, ratio(quantity.JACOBIAN, "pin", "call_s")),
    Target("inverse mass matrix", IN_BATCH, 12, 8, ratio(quantity.MASS_INVERSE, "pin", "call_s")),
    Target("inverse dynamics derivatives", IN_BATCH, 12, 8, ratio(quantity.INVERSE_DERIVATIVES, "pin", "call_s")),
    Target("forward dynamics derivatives", IN_BATCH, 12, 8, ratio(quantity.FORWARD_DERIVATIVES, "pin", "call_s")),
    Target("all threads: inverse dynamics", "one thread", THREADS, THREADS, lambda r, _: _threads(r, quantity.INVERSE)),
    Target("all threads: forward dynamics", "one thread", THREADS, THREADS, lambda r, _: _threads(r, quantity.FORWARD)),
    Target("all threads: the worst", "one thread", THREADS, THREADS, lambda r, _: _least(_threads(r, n) for n in r)),
    Target("one call: inverse dynamics", CALL, 3, 4, ratio(quantity.INVERSE, "pin", "call_s", "call_s")),
    Target("one call: forward dynamics", CALL, 3, 4, ratio(quantity.FORWARD, "pin", "call_s", "call_s")),
    Target("one call: the worst", CALL, 3, 4, least_ratio("pin", "call_s", "call_s")),
    Target("inverse dynamics", "frax, one core", 50, None, ratio(quantity.INVERSE, "frax", "one_thread_s")),
    Target("forward dynamics", "frax, one core", 50, None, ratio(quantity.FORWARD, "frax", "one_thread_s")),
    Target("inverse dynamics", "core's peak", 40, 40, fraction(quantity.INVERSE), "%"),
    Target("forward dynamics", "core's peak", 40, 40, fraction(quantity.FORWARD), "%"),
    Target("compile, all but derivatives", "wall time", 0.5, 2, longest_compile(False), "s"),
    Target("compile, derivatives", "wall time", 2, 10, longest_compile(True), "s"),
    Target("first call, new process, cached", "wall time", 0.006, 0.01, startup("first_call_s"), "s"),
    Target("... forward dynamics derivatives", "wall time", None, 0.015, startup("first_derivatives_s"), "s"),
    Target("import cardan over numpy", "wall time", 0.07, None, startup("import_s"), "s"),
)


def _threads(rows: Rows, name: str) -> float | None:
    row = rows.get(name, {}).get("cardan", {})
    return row["one_thread_s"] / row["all_threads_s"] if "all_threads_s" in row else None


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
