"""Where a thread computes with some problems of a descent, side by side: rows of numbers, and programs over them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cardan._compiler.kernels import Kernel, RowProgram
from cardan._compiler.kernels.types import ArrayType
from cardan._motion.optimal.descent_kernel import SHARES, Descent, descend
from cardan._motion.optimal.motions import Motions
from cardan._motion.optimal.riccati_kernel import TOGETHER, room, zeros

BEGIN = -1  # in place of a number of iterations
OVER_KNOTS = "expansions", "gaps", "curvature"  # programs that are run on all knots at once


class Workspace:
    """Memory for so many problems of so many knots."""

    def __init__(self, motions: Motions, knots: int, problems: int, programs: dict[Any, Any]) -> None:
        self.motions, self.programs, self.is_few = motions, programs, problems <= 2
        self.kernel: Kernel = descend.fixed(**motions.numbers)
        T, N, n, m, s = knots, problems, motions.n, motions.controls, motions.numbers
        tile, vectors, size = SHARES * N, motions.vectors, motions.states
        c = self.c = Descent(knots=T, problems=N, lower=motions.bounds[0], upper=motions.bounds[1], **room(n, m))
        self.rows, rows = zeros(T + 1, N, 8 * vectors), zeros(tile, 8 * vectors)
        self.rows[..., motions.places["share "]] = 1.0
        own = {"rows": self.rows, "numbers": self.rows, "tile": rows, "tile_numbers": rows}
        own |= {"gains": zeros(T, N, s["SMALL"]), "cost_to_go": zeros(N, n + 1, 8 * s["X"])}
        own |= {
            "tried_state": zeros(T + 2, tile, size),
            "tried_control": zeros(T + 1, tile, m),
            "tried_cost": zeros(tile),
        }
        own |= {"best_state": zeros(T + 1, N, size), "best_control": zeros(T + 1, N, m), "lane": np.zeros(tile, int)}
        self._set(own | {"low": zeros(T, N, m), "high": zeros(T, N, m)})
        c.step_of_tile = self._made("steps", {"row": rows})
        c.final_of_tile = self._made("finals", {"row": rows, "state": c.state, "added": c.added})
        if motions.has_gaps:
            c.gap = self._made("gaps", self._near)
        kinds = {k: kind for k, kind in c.fields.items() if isinstance(kind, ArrayType) and not hasattr(c, k)}
        self._set(
            {name: np.zeros(kind.numpy_shape(N), kind.item.dtype) for name, kind in kinds.items()}
        )  # of each problem

    @property
    def _near(self) -> dict[str, np.ndarray]:
        flat, N = self.rows.reshape(-1, self.rows.shape[-1]), self.c.problems
        return {"row": flat[:-N], "after": flat[N:]}

    def prepare(self, tolerance: float, is_exact: bool) -> None:
        """Make what iterations need beside motions: derivatives."""
        c = self.c
        c.tolerance, c.ways = tolerance, 1 + is_exact
        if not c.expansion:
            c.expansion = self._made("expansions", self._near)
            c.last_expansion = self._made("last_expansions", {"row": self._near["after"][-c.problems :]})
        if is_exact and not c.curvature:
            c.curvature = self._made("curvature", self._near)

    def _set(self, arrays: Mapping[str, np.ndarray]) -> None:
        for name, array in arrays.items():
            setattr(self.c, name, array.reshape(self.c.fields[name].numpy_shape(-1)))

    def _made(self, name: str, given: Mapping[str, np.ndarray]) -> int:
        """Return the address of what runs a program over these arrays, and others that it is given."""
        program, few = getattr(self.motions, name), self.is_few and name not in OVER_KNOTS
        arrays = (*program.inputs, *program.outputs)
        others = {a.name: zeros(len(given["row"]), a.size) for a in arrays if a.name not in given}
        self._set(others)
        placed = {a.name: {**given, **others}[a.name].reshape(-1, a.size) for a in arrays}
        if (name, few) in self.programs:
            self.programs[name, few].place(placed)
        else:
            self.programs[name, few] = RowProgram(program, placed, 1 if few else 2**20)
        return self.programs[name, few].address

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


def workspace(motions: Motions, knots: int, problems: int) -> Workspace:
    """Return that of this thread: the last one if it fits, else one with its programs."""
    own = motions.of_thread.__dict__
    key = knots, min(problems, TOGETHER)
    if own.get("key") != key:
        own |= {"key": None, "held": None}
        own |= {"held": Workspace(motions, *key, own.setdefault("programs", {})), "key": key}
    return own["held"]
