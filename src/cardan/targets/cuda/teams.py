"""A program dealt to the warps of a team: each computes a share of every state's values, in steps between barriers.

Where one state has more values at a time than a thread has registers, several threads share it: the warps of a block
have the same 32 states, and different code. Instructions are banded by how much must still follow them, and what is
connected within a band (a limb, most often) goes to one warp: the one that has most of what it needs, as far as all
have about as much to do.

Source: bulk-synchronous steps are Valiant's (1990).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from cardan.program.fusing import Joined
from cardan.program.ops import LEAVES, Op

SLACK = 1.15  # how much more than its share of a band a warp may be dealt, to have what it needs with it
BANDS = (8, 16, 32, 64)  # that are tried
BARRIER = 20  # operations a barrier is reckoned to cost
HANDED = 0.5  # likewise a value that goes from warp to warp, in each of them


class Team(NamedTuple):
    """Who computes what, when.

    Attributes:
        steps: of each step, the instructions of each warp, in order.
        home: step and warp of each instruction.
    """

    steps: list[list[list[int]]]
    home: dict[int, tuple[int, int]]


def team_of(joined: Joined, warps: int) -> Team:
    """Return a program without regions, dealt to warps."""
    own = [k for k, op in enumerate(joined.ops) if op not in LEAVES]
    depth = _depths(joined, own)
    dealt = {bands: _dealt(joined, own, depth, warps, bands) for bands in BANDS}
    return min(dealt.values(), key=lambda team: _cost(joined, team))


def _cost(joined: Joined, team: Team) -> float:
    longest = sum(max(map(len, step)) for step in team.steps)
    return longest + BARRIER * len(team.steps) + HANDED * len(handed(joined, team))


def handed(joined: Joined, team: Team) -> dict[int, int]:
    """Return the values that go from warp to warp, with the step in which each is read last."""
    last: dict[int, int] = {}
    for k, (step, warp) in team.home.items():
        for a in joined.args[k]:
            if a in team.home and team.home[a][1] != warp:
                last[a] = max(last.get(a, step), step)
    return last


def _depths(joined: Joined, own: Sequence[int]) -> dict[int, int]:
    """Return how late each instruction may be: sine and cosine of one angle at once."""
    height = dict.fromkeys(own, 0)
    pairs: dict[int, list[int]] = {}
    for k in reversed(own):
        if joined.ops[k] in (Op.SIN, Op.COS):
            pairs.setdefault(joined.args[k][0], []).append(k)
    for k in reversed(own):
        for a in joined.args[k]:
            if a in height:
                height[a] = max(height[a], height[k] + 1)
        for other in pairs.get(joined.args[k][0], []) if joined.ops[k] in (Op.SIN, Op.COS) else []:
            height[other] = max(height[other], height[k])
    most = max(height.values(), default=0)
    return {k: most - h for k, h in height.items()}


def _dealt(joined: Joined, own: Sequence[int], depth: dict[int, int], warps: int, bands: int) -> Team:
    ranked = sorted(depth[k] for k in own)
    bounds = sorted({ranked[len(ranked) * n // bands] for n in range(1, bands)} if ranked else ())
    steps: list[list[list[int]]] = [[[] for _ in range(warps)] for _ in range(len(bounds) + 1)]
    home: dict[int, tuple[int, int]] = {}
    banded: list[list[int]] = [[] for _ in steps]
    for k in own:
        banded[bisect_left(bounds, depth[k])].append(k)
    for step, band in enumerate(banded):
        load, share = [0] * warps, SLACK * len(band) / warps
        for group in sorted(_connected(joined, band), key=len, reverse=True):
            near = _needed_of(joined, group, home, warps)
            room = [t for t in range(warps) if load[t] + len(group) <= share] or [load.index(min(load))]
            warp = max(room, key=lambda t: (near[t], -load[t]))
            load[warp] += len(group)
            home |= dict.fromkeys(group, (step, warp))
            steps[step][warp] += group
        for line in steps[step]:
            line.sort()
    return _without_gaps(steps)


def _without_gaps(steps: Sequence[list[list[int]]]) -> Team:
    kept = [step for step in steps if any(step)] or [list(steps[0])]
    return Team(kept, {k: (s, t) for s, step in enumerate(kept) for t, line in enumerate(step) for k in line})


def _needed_of(joined: Joined, group: Sequence[int], home: dict[int, tuple[int, int]], warps: int) -> list[int]:
    """Return how much of what a group needs each warp has."""
    found = [0] * warps
    for k in group:
        for a in joined.args[k]:
            if a in home:
                found[home[a][1]] += 1
    return found


def _connected(joined: Joined, band: Sequence[int]) -> list[list[int]]:
    """Return the instructions of a band in groups of which none needs another's."""
    leader = {k: k for k in band}

    def found(k: int) -> int:
        while leader[k] != k:
            leader[k] = leader[leader[k]]
            k = leader[k]
        return k

    angles: dict[int, int] = {}
    for k in band:
        for a in joined.args[k]:
            if a in leader:
                leader[found(a)] = found(k)
        if joined.ops[k] in (Op.SIN, Op.COS):
            leader[found(angles.setdefault(joined.args[k][0], k))] = found(k)
    groups: dict[int, list[int]] = {}
    for k in band:
        groups.setdefault(found(k), []).append(k)
    return list(groups.values())
