"""A program dealt to the warps of a team: each computes a share of every state's values, in steps between barriers.

Where one state has more values at a time than a thread has registers, several threads share it: the warps of a block
have the same 32 states, and different code. Instructions are banded by how much must still follow them, and what is
connected within a band (a limb, most often) goes to one warp: the one that has most of what it needs, as far as all
have about as much to do.

Source: bulk-synchronous steps are Valiant's (1990).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from cardan._compiler.program.liveness import Spans
from cardan._compiler.program.ops import LEAVES, Op
from cardan._compiler.program.passes import Joined
from cardan._compiler.program.program import Program, stretches

SLACK = 1.15  # how much more than its share of a band a warp may be dealt, to have what it needs with it
BANDS = (8, 16, 32, 64)  # that are tried
BARRIER = 20  # operations a barrier is reckoned to cost
HANDED = 0.5  # likewise a value that goes from warp to warp, in each of them


class Team(NamedTuple):
    steps: list[list[list[int]]]  # of each step, the instructions of each warp, in order
    home: dict[int, tuple[int, int]]  # step and warp of each instruction
    spans: Spans  # the first and the last step of each straight stretch of the program
    stretch: list[int]  # the number of the stretch that each step is of

    def is_near(self, a: int, step: int, warp: int) -> bool:
        """Return whether a value is in a variable of a warp in a step: computed by it, in the same stretch."""
        own_step, own_warp = self.home[a]
        return own_warp == warp and self.stretch[own_step] == self.stretch[step]


def team_of(program: Program, joined: Joined, warps: int) -> Team:
    steps: list[list[list[int]]] = []
    spans: dict[range, tuple[int, int]] = {}
    home: dict[int, tuple[int, int]] = {}
    number: list[int] = []
    for n, stretch in enumerate(stretches(program)):
        own = [k for k in stretch if joined.ops[k] not in LEAVES]
        dealt: list[list[list[int]]] = [[[] for _ in range(warps)]]  # one step at least
        if own:
            depth = _depths(joined, own)
            ways = (_dealt(joined, own, depth, warps, bands) for bands in BANDS)
            dealt = min(ways, key=lambda steps: _cost(joined, steps))
        spans[stretch] = len(steps), len(steps) + len(dealt) - 1
        for step in dealt:
            home |= {k: (len(steps), warp) for warp, line in enumerate(step) for k in line}
            steps.append(step)
        number += [n] * len(dealt)
    return Team(steps, home, spans, number)


def handed(program: Program, joined: Joined, team: Team) -> set[int]:
    """Return the values that warps look for in a place: of other warps, or of other stretches."""
    found = {
        a
        for k, (step, warp) in team.home.items()
        for a in joined.args[k]
        if a in team.home and not team.is_near(a, step, warp)
    }
    for region in program.regions:
        found |= {after for _, after in region.carried if after in team.home}
        for head, _ in region.carried:
            found |= {a for a in joined.args[head] if a in team.home}
    return found


def _cost(joined: Joined, steps: Sequence[Sequence[Sequence[int]]]) -> float:
    warp_of = {k: warp for step in steps for warp, line in enumerate(step) for k in line}
    given = {a for k, warp in warp_of.items() for a in joined.args[k] if warp_of.get(a, warp) != warp}
    return sum(max(map(len, step)) for step in steps) + BARRIER * len(steps) + HANDED * len(given)


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


def _dealt(joined: Joined, own: Sequence[int], depth: dict[int, int], warps: int, bands: int) -> list[list[list[int]]]:
    ranked = sorted(depth[k] for k in own)
    bounds = sorted({ranked[len(ranked) * n // bands] for n in range(1, bands)})
    banded: list[list[int]] = [[] for _ in range(len(bounds) + 1)]
    for k in own:
        banded[bisect_left(bounds, depth[k])].append(k)
    warp_of: dict[int, int] = {}
    return [_shared_out(joined, band, warps, warp_of) for band in banded if band]


def _shared_out(joined: Joined, band: Sequence[int], warps: int, warp_of: dict[int, int]) -> list[list[int]]:
    lines: list[list[int]] = [[] for _ in range(warps)]
    share = SLACK * len(band) / warps
    for group in sorted(_connected(joined, band), key=len, reverse=True):
        near = Counter(warp_of[a] for k in group for a in joined.args[k] if a in warp_of)
        room = [t for t, line in enumerate(lines) if len(line) + len(group) <= share]
        if not room:
            room = [min(range(warps), key=lambda t: len(lines[t]))]
        warp = max(room, key=lambda t: (near[t], -len(lines[t])))
        lines[warp] += group
        warp_of |= dict.fromkeys(group, warp)
    return [sorted(line) for line in lines]


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
