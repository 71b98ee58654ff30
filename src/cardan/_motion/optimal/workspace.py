"""Where a thread computes with some problems of a descent, side by side: rows of numbers, and programs over them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cardan._compiler.kernels import Kernel, RowProgram
from cardan._motion.optimal.descent_kernel import SHARES, Descent, descend
from cardan._motion.optimal.motions import Motions
from cardan._motion.optimal.riccati_kernel import TOGETHER, room, zeros

BEGIN = -1  # in place of a number of iterations


class Workspace:
    """Memory for so many problems of so many knots."""

    def __init__(self, motions: Motions, knots: int, problems: int, is_exact: bool, programs: dict[Any, Any]) -> None:
        self.motions, self.programs = motions, programs
        self.kernel: Kernel = descend.fixed(**motions.numbers, IS_EXACT=is_exact)
        T, N, n, m, s = knots, problems, motions.n, motions.controls, motions.numbers
        tile, L, size = SHARES * N, motions.vectors, motions.states
        c = self.c = Descent(knots=T, problems=N, lower=motions.bounds[0], upper=motions.bounds[1], **room(n, m))
        self.rows = zeros(T + 1, N, 8 * L)
        self.rows[..., motions.places["share "]] = 1.0
        self._vectors(rows=self.rows, tile=zeros(tile, 8 * L), gains=zeros(T, N, s["SMALL"]))
        self._vectors(G=zeros(T * N, 8 * n * s["W"]), HU=zeros(T * N, 8 * (m + 1) * s["W"]))
        self._vectors(HX=zeros(T * N, 8 * n * s["X"]), end=zeros(N, 8 * (n + 1) * s["X"]))
        self._vectors(cost_to_go=zeros(N, 8 * (n + 1) * s["X"]))
        if is_exact:
            self._vectors(curved_HU=np.zeros_like(c.HU), curved_HX=np.zeros_like(c.HX))
        c.numbers, c.tile_numbers = c.rows.reshape(-1), c.tile.reshape(-1)
        places = {"gaps": T * N * n, "costates": T * N * n * is_exact, "x": max(n, N), "x_next": n, "small": m}
        places |= {"tile_state": tile * size, "tile_next": tile * size, "tile_control": tile * m, "tile_cost": tile}
        places |= {"tried_cost": tile, "tried_state": (T + 2) * tile * size, "tried_control": (T + 1) * tile * m}
        places |= {"best_state": (T + 1) * N * size, "best_control": (T + 1) * N * m}
        places |= dict.fromkeys(("low", "high"), T * N * m)
        own = "mu", "slope", "curve", "least", "best_cost", "best_apart", "cost", "apart", "widest", "damping", "nu"
        places |= dict.fromkeys((*own, "left", "scale", "unsound"), N)
        for name, count in places.items():
            setattr(c, name, np.zeros(count))
        flags = "is_sound", "was_sound", "is_calm", "is_taken", "was_taken", "is_better"
        for name in (*flags, "last", "done", "converged", "iterations"):
            setattr(c, name, np.zeros(N, dtype=np.int64))
        c.lane = np.zeros(tile, dtype=np.int64)
        self._place(is_exact)

    def _vectors(self, **arrays: np.ndarray) -> None:
        for name, array in arrays.items():
            setattr(self.c, name, array.reshape(-1, 8))

    def _place(self, is_exact: bool) -> None:
        """Say where programs find their arrays."""
        motions, c, T, N = self.motions, self.c, self.c.knots, self.c.problems
        rows, few = self.rows.reshape((T + 1) * N, -1), N <= 2
        near = {"row": rows[:-N], "after": rows[N:], "G": c.G, "HU": c.HU, "HX": c.HX, "end": c.end}
        near |= {"curved_HU": c.curved_HU, "curved_HX": c.curved_HX, "costates": c.costates} if is_exact else {}
        near |= {"gaps": c.gaps}
        tile = {"row": c.tile, "state": c.tile_state, "state_next": c.tile_next, "control": c.tile_control}
        tile |= {"cost": c.tile_cost}
        c.expansion = self._made("expansions", near)
        c.last_expansion = self._made("last_expansions", near | {"row": rows[-N:]}, few)
        c.step_of_tile, c.final_of_tile = (self._made(name, tile, few) for name in ("steps", "finals"))
        if motions.has_gaps:
            c.gap = self._made("gaps", near)
        if is_exact:
            c.curvature = self._made("curvature", near)

    def _made(self, name: str, arrays: Mapping[str, np.ndarray], few: bool = False) -> int:
        """Return the address of what runs a program over these arrays, made before if there is one."""
        program = getattr(self.motions, name)
        sizes = {a.name: a.size for a in (*program.inputs, *program.outputs)}
        given = {name: arrays[name].reshape(-1, size) for name, size in sizes.items()}
        key = name, few
        if key in self.programs:
            self.programs[key].place(given)
        else:
            self.programs[key] = RowProgram(program, given, 1 if few else 2**20)
        return self.programs[key].address

    def run(self, problems: np.ndarray, arrays: Mapping[str, Any], own: Mapping[str, np.ndarray], most: int) -> int:
        """Load problems, knots first, and numbers of each, and run the kernel; return how many there are."""
        count, places, c = len(problems), self.motions.places, self.c
        for name, array in arrays.items():
            flat = array[:, problems].reshape(len(array), count, -1)
            self.rows[: len(array), :count, places[name]] = flat
        for name, array in own.items():
            getattr(c, name)[:count] = array[problems]
        c.done[count:] = 1
        self.kernel(c, most)
        return count


def workspace(motions: Motions, knots: int, problems: int, is_exact: bool = False) -> Workspace:
    """Return that of this thread: the last one if it fits, else one with its programs."""
    own = motions.of_thread.__dict__
    key = knots, min(problems, TOGETHER), is_exact
    if own.get("key") != key:
        own |= {"key": None, "held": None}
        own |= {"held": Workspace(motions, *key, own.setdefault("programs", {})), "key": key}
    return own["held"]
