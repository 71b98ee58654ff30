"""One robot: every quantity by cardan and by its peers, in turns, several times."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks.peers import Peer
from benchmarks.quantities import QUANTITIES, Quantity
from benchmarks.robots import STATES, Robot
from benchmarks.timing import SECONDS, Calls, Subject, reason
from cardan.cli.timing import Job
from cardan.targets.llvm.peak import peak_operations


def measure(robot: Robot, peers: list[Peer], runs: int, seconds: float = SECONDS) -> list[dict[str, Any]]:
    """Return a row for each quantity: times in seconds, operations, and what part of the peak they are.

    Args:
        robot: which.
        peers: who runs beside cardan.
        runs: how often everything is measured; the shortest times count.
        seconds: how long each figure is measured in a run.
    """
    loaded = {peer.name: _load(peer, robot) for peer in peers}
    entries = [_entry(q, robot, loaded) for q in QUANTITIES if q.ours() is not None and robot.model.nv <= q.largest]
    peak = 0.0
    for _ in range(runs):
        peak = max(peak, peak_operations())
        for _, subjects in entries:
            for subject in subjects.values():
                subject.measure(seconds)
    return [_finished(row, subjects, peak) for row, subjects in entries]


def _load(peer: Peer, robot: Robot) -> dict[str, Callable[[], Calls]] | str:
    """Return what a peer offers, or why it offers nothing."""
    try:
        return peer.load(robot)
    except Exception as error:
        return reason(error)


def _entry(quantity: Quantity, robot: Robot, loaded: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Subject]]:
    function, options = quantity.ours(), quantity.options(robot)
    subjects = {"cardan": Subject(partial(_ours, quantity, robot))}
    for name, offers in loaded.items():
        subjects[name] = Subject(partial(_theirs, offers, quantity))
    row = {"robot": robot.name, "nv": robot.model.nv, "quantity": quantity.name}
    if not subjects["cardan"].reason:
        row["operations"] = function.program(robot.model, **options).operations
    return row, subjects


def _ours(quantity: Quantity, robot: Robot) -> Calls:
    job = Job(quantity.ours(), robot.model, quantity.options(robot), STATES)
    return Calls(job.call, job.calls, job.one_thread, job.all_threads, job.states, job.compile_seconds)


def _theirs(offers: dict[str, Callable[[], Calls]] | str, quantity: Quantity) -> Calls:
    if isinstance(offers, str):
        raise NotImplementedError(offers)
    if quantity.name not in offers:
        raise NotImplementedError("not offered")
    return offers[quantity.name]()


def _finished(row: dict[str, Any], subjects: dict[str, Subject], peak: float) -> dict[str, Any]:
    row |= {name: subject.record for name, subject in subjects.items()} | {"peak_gflops": peak / 1e9}
    one = row["cardan"].get("one_thread_s")
    if one:
        row["fraction_of_peak"] = row["operations"] / one / peak
    return row
