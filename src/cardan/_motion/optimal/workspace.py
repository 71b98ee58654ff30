"""Where a thread computes with some problems of a descent, side by side: rows of numbers, and programs over them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cardan._compiler.kernels import RowProgram
from cardan._compiler.kernels.types import ArrayType
from cardan._motion.optimal.descent_kernel import FEW, Descent
from cardan._motion.optimal.motions import Motions
from cardan._motion.optimal.riccati_kernel import Across, all_stages, room, sizes, zeros

BEGIN = -1  # in place of a number of iterations
LANES = 8  # problems, for which programs are compiled that compute as many at once
OVER_KNOTS = "expansions", "gaps", "curvature"  # programs that are run on all knots at once


class Workspace:
    """Memory for so many problems of so many knots."""

    def __init__(self, motions: Motions, knots: int, problems: int, programs: dict[str, RowProgram]) -> None:
        self.motions, self.programs, self.key = motions, programs, (knots, problems)
        T, N, m, size = knots, problems, motions.controls, motions.states
        lanes, vectors = FEW if N <= FEW else LANES, motions.vectors
        tile, self.across = max(lanes, N), Across()
        c = self.c = Descent(knots=T, problems=N, tries=tile, lanes=lanes, **room(motions.n, m))
        c.lower, c.upper = motions.bounds
        self.rows, rows = zeros(T + 1, N, 8 * vectors), zeros(tile, 8 * vectors)
        flat = self.rows.reshape(-1, 8 * vectors)
        self.near = {"row": flat[:-N], "after": flat[N:]}  # of all knots
        self.rows[..., motions.places["share "]] = 1.0
        own = {"rows": self.rows, "numbers": self.rows, "tile": rows, "tile_numbers": rows}
        own |= {"first": np.array([b.start for b in motions.blocks], int)}
        own |= {"behind": np.array([b.stop for b in motions.blocks], int)}
        own["weights"] = np.zeros((N, motions.n))
        own |= {"tried_state": zeros(T + 2, tile, size), "tried_control": zeros(T + 1, tile, m)}
        self._set(own | {"tried_cost": zeros(tile), "lane": np.zeros(tile, int)})
        c.step_of_tile = self._made("steps", {"row": rows})
        c.final_of_tile = self._made("finals", {"row": rows, "state": c.state, "added": c.added})
        if motions.has_gaps:
            c.gap = self._made("gaps", self.near)
        for name, kind in c.fields.items():
            if isinstance(kind, ArrayType) and not hasattr(c, name):
                setattr(c, name, np.zeros(kind.numpy_shape(N), kind.item.dtype))  # of each problem

    def prepare(self, tolerance: float, is_exact: bool) -> None:
        """Make what iterations need beside motions: derivatives, and memory for them."""
        c, n, m, s = self.c, self.motions.n, self.motions.controls, self.motions.numbers
        (T, N), size = self.key, self.motions.states
        c.tolerance, c.ways = tolerance, 1 + is_exact
        if not c.expansion:
            self._set({"gains": zeros(T, N, s["SMALL"]), "cost_to_go": zeros(N, n + 1, 8 * s["X"])})
            self._set({"best_state": zeros(T + 1, N, size), "best_control": zeros(T + 1, N, m)})
            self._set({"low": zeros(T, N, m), "high": zeros(T, N, m)})
            c.expansion = self._made("expansions", self.near)
            c.last_expansion = self._made("last_expansions", {"row": self.near["after"][-N:]})
            if N == LANES:
                self._set_across()
        if is_exact and not c.curvature:
            c.curvature = self._made("curvature", self.near)
        parts = self.motions.varying[2]
        is_same = not is_exact and bool(parts) and all(whole != "HX" for whole, _ in parts.values())
        c.step_HX = 0 if is_same else n * s["X"]

    def _set_across(self) -> None:
        """Make what a stage across computes in; each thing is of a knot, and there is room behind it."""
        n, m, c, w = self.motions.n, self.motions.controls, self.c, self.across
        s, gaps, own = sizes(n, m, 1), n * self.motions.has_gaps, self.motions.numbers
        known = own["Y"]
        rows = {
            "G": (n - known) * s["W"],
            "HU": (m + 1) * s["W"],
            "HX": n * n,
            "rows": s["L"] + gaps,
            "low": m,
            "high": m,
        }
        rows |= {"diagonal": n, "moves": 2 * own["BLOCK"] * known}
        arrays = {name: zeros(size + LANES, LANES) for name, size in rows.items()} | room(n, m, 1)
        arrays |= {name: zeros(1, LANES) for name in ("mu", "slope", "curve", "least", "last")}
        arrays["weights"] = zeros(n, LANES)
        arrays |= {"cost_to_go": zeros((n + 1) * n + LANES, LANES), "numbers": arrays["rows"]}
        for name, array in (arrays | {"first": c.first, "behind": c.behind}).items():
            setattr(w, name, array)
        w.problems, w.knots = 1, 1
        own = own | s | {"L": s["L"] + gaps, "SHARE": s["L"] - 1}
        own.pop("STATE")  # of no stage
        self.stages = all_stages.fixed(**own).across().bound(w, 0, 1)
        c.recursion = self.stages.address

    def _set(self, arrays: Mapping[str, np.ndarray]) -> None:
        for name, array in arrays.items():
            setattr(self.c, name, array.reshape(self.c.fields[name].numpy_shape(-1)))

    def _made(self, name: str, given: Mapping[str, np.ndarray]) -> int:
        """Return the address of what runs a program over these arrays, and others that it is given."""
        program, few = getattr(self.motions, name), self.c.problems <= FEW and name not in OVER_KNOTS
        sizes = {a.name: a.size for a in (*program.inputs, *program.outputs) if a.name not in given}
        others = {name: zeros(len(given["row"]), size) for name, size in sizes.items()}
        self._set(others)
        arrays = {**given, **others}
        if name == "expansions":
            program, constants, parts = self.motions.varying
            for whole, numbers in constants.items():
                arrays[whole][...] = numbers
            arrays |= {part: arrays[whole][:, place] for part, (whole, place) in parts.items()}
        if name in self.programs:
            self.programs[name].place(arrays)
        else:
            self.programs[name] = RowProgram(program, arrays, FEW if few else 2**20)
        return self.programs[name].address

    def run(self, problems: Any, arrays: Mapping[str, Any], own: Mapping[str, np.ndarray], most: int) -> int:
        """Load problems, knots first, and numbers of each, and run the kernel; return how many there are."""
        c, count = self.c, 0
        for name, array in arrays.items():
            given = array[:, problems]
            count = given.shape[1]
            self.rows[: len(array), :count, self.motions.places[name]] = given.reshape(len(array), count, -1)
        for name, array in own.items():
            getattr(c, name)[:count] = array[problems]
        c.done[count:] = 1
        self.motions.kernel(c, self.across, most)
        return count


def workspace(motions: Motions, knots: int, problems: int, together: int) -> Workspace:
    """Return that of this thread for so many problems side by side: the last one, or another one with its programs."""
    own, kind = motions.of_thread.__dict__, "few" if problems <= FEW else f"at most {together}"
    held, key = own.pop(kind, None), (knots, min(problems, together))
    if held is None or held.key != key:
        held = Workspace(motions, *key, held.programs if held else {})
    own[kind] = held
    return held
