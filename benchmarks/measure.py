"""One robot: every quantity by cardan and by its peers, in turns, round after round."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import cardan
from benchmarks.bounds import Bounds
from benchmarks.machine import peak
from benchmarks.peers import Peer
from benchmarks.quantities import QUANTITIES, Quantity
from benchmarks.robots import STATES, Robot
from benchmarks.spread import ratios
from benchmarks.timing import CALLS, FIGURES, SECONDS, Calls, Subject, reason
from cardan import num_threads
from cardan._compiler.program import Array
from cardan._dynamics.call.function import Function

LARGEST_RESULT = 2**28
"""Bytes that the results of a batch may have."""
FEW = 256
"""States of a batch whose results stay in the cache."""


class Entry:
    """A quantity of a robot, and who computes it.

    Attributes:
        row: what is known of it, as plain data.
        subjects: by name, cardan first.
        bounds: what no code could be faster than; None where cardan does not compute it.
    """

    def __init__(self, quantity: Quantity, robot: Robot, loaded: dict[str, Any]) -> None:
        self.row: dict[str, Any] = {"robot": robot.name, "nv": robot.model.nv, "quantity": quantity.label}
        self.subjects = {"cardan": Subject(partial(_ours, quantity, robot))}
        self.subjects |= {name: Subject(partial(_theirs, offers, quantity)) for name, offers in loaded.items()}
        self.bounds = None
        if not self.subjects["cardan"].reason:
            function = quantity.ours()
            assert function is not None
            program = function.program(robot.model, **quantity.options(robot))
            self.bounds = Bounds(program, _states(program))
            self.row |= {"operations": program.operations, "bytes": self.bounds.bytes, "states": _states(program)}

    def measure(self, turn: int, rate: float, seconds: float) -> None:
        """Measure everything once more: figure by figure, whoever has it one after the other, another first each time.

        Args:
            turn: number of the round.
            rate: operations a second the core can do now.
            seconds: how long each figure is measured.
        """
        subjects = list(self.subjects.values())
        first = turn % len(subjects)
        for figure in FIGURES:
            for subject in (*subjects[first:], *subjects[:first]):
                subject.measure(figure, seconds)
        if self.bounds:
            self.bounds.measure(rate)

    def finished(self) -> dict[str, Any]:
        """Return the row: times, ratios to cardan's of the same rounds, shares of the bounds."""
        ours = self.subjects["cardan"]
        row = self.row | {name: subject.record for name, subject in self.subjects.items()}
        for name, subject in self.subjects.items():
            if not subject.reason and not ours.reason and subject is not ours:
                row[name]["ratios"] = _ratios(subject, ours)
        if self.bounds and not ours.reason:
            row["bounds"] = self.bounds.shares(ours)
        return row


def _ratios(peer: Subject, ours: Subject) -> dict[str, Any]:
    """Return a peer's times over cardan's: of one call; and its best way to many states over our batch's."""
    found = {}
    if "call" in peer.times:
        found["call"] = ratios(peer.times["call"].cpu, ours.times["call"].cpu)._asdict()
    ways = [figure for figure in ("call", "batch", "out") if figure in peer.times]
    if ways:
        best = min(ways, key=lambda figure: min(peer.times[figure].cpu))
        for figure in ("batch", "out"):
            found[figure] = ratios(peer.times[best].cpu, ours.times[figure].cpu)._asdict()
    return found


def measure(robot: Robot, peers: list[Peer], rounds: int, seconds: float = SECONDS) -> list[dict[str, Any]]:
    """Return a row for each quantity.

    Args:
        robot: which.
        peers: who runs beside cardan.
        rounds: how often everything is measured.
        seconds: how long each figure is measured in a round.
    """
    loaded = {peer.name: _load(peer, robot) for peer in peers}
    asked = [q for q in QUANTITIES if q.ours() is not None and robot.model.nv <= q.largest]
    entries = [Entry(q, robot, loaded) for q in asked]
    for turn in range(rounds):
        for entry in entries:
            entry.measure(turn, peak(), seconds)
    return [entry.finished() for entry in entries]


def _load(peer: Peer, robot: Robot) -> dict[str, Callable[[], Calls]] | str:
    """Return what a peer offers, or why it offers nothing."""
    try:
        return peer.load(robot)
    except Exception as error:
        return reason(error)


def _states(program: Any) -> int:
    """Return how many states a batch has: fewer where the results would be huge."""
    return min(STATES, max(64, LARGEST_RESULT // (8 * len(program.results) + 8)))


def _ours(quantity: Quantity, robot: Robot) -> Calls:
    function, options = quantity.ours(), quantity.options(robot)
    assert function is not None
    return our_calls(function, robot, options)


def our_calls(function: Function, robot: Robot, options: dict[str, Any]) -> Calls:
    """Return what to time of a function of cardan's."""
    fast, every = (function.on(threads=n).bind(robot.model, **options) for n in (1, num_threads()))
    program = function.program(robot.model, **options)
    arrays = random_arrays(robot.model, program.inputs, _states(program))
    single, some = [a[0].copy() for a in arrays], [a[:FEW].copy() for a in arrays]
    out: dict[int, Any] = {}  # by number of states; made when it is first needed, as batches may be large

    def into(states: list[np.ndarray]) -> None:
        size = len(states[0])
        if size not in out:
            out[size] = fast(*states)
        fast(*states, out=out[size])

    return Calls(
        value=lambda: fast(*single),
        call=lambda: [fast(*single) for _ in range(CALLS)] and None,
        batch=lambda: fast(*arrays),
        out=lambda: into(arrays),
        cached=lambda: into(some),
        threads=lambda: every(*arrays),
        states=len(arrays[0]),
        few=len(some[0]),
    )


def _theirs(offers: dict[str, Callable[[], Calls]] | str, quantity: Quantity) -> Calls:
    if isinstance(offers, str):
        raise NotImplementedError(offers)
    if quantity.name not in offers:
        raise NotImplementedError("not offered")
    return offers[quantity.name]()


def random_arrays(model: cardan.Model, inputs: tuple[Array, ...], batch: int) -> list[np.ndarray]:
    """Return a batch of arguments: configurations on the manifold, and normal numbers for everything else."""
    rng = np.random.default_rng(0)
    return [
        model.random_configuration((batch,), seed=k)
        if a.name in ("q", "q0", "q1")
        else rng.normal(size=(batch, *a.shape))
        for k, a in enumerate(inputs)
    ]
