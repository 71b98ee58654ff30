"""What a descent needs of a problem: programs of a knot, compiled once, over rows of numbers.

A state is near another one by x = (difference(q_near, q), v - v_near), 2 nv numbers. Motions may have gaps: by

    c_t = x of step(q_t, v_t, u_t) near q_(t+1), v_(t+1)

a step then leads away from the next state.
"""

from __future__ import annotations

import inspect
import math
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from itertools import accumulate, chain, groupby, pairwise
from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.arrays import symbolic
from cardan._algebra.scalar import maximum, minimum
from cardan._compiler.kernels import Kernel
from cardan._compiler.program.ops import Op
from cardan._compiler.program.passes import remove_dead_code
from cardan._compiler.program.program import Array, Program, places_by_name
from cardan._compiler.program.replay import replayed_from
from cardan._dynamics.algorithms.configuration import difference, integrate
from cardan._dynamics.call.compiled import Bound
from cardan._dynamics.call.function import Function, function
from cardan._dynamics.functions.derivatives import derivative, gradient, hessian
from cardan._motion.optimal.descent_kernel import descend
from cardan._motion.optimal.problem import STATE, Problem, taken
from cardan._motion.optimal.riccati_kernel import Knots, arranged, arranged_end, sizes
from cardan._robot.model import Model

AFTER = "cardan_after_"  # names of arrays beside the user's begin like this
NEXT = AFTER + "this_v"


class Found(NamedTuple):
    """Motions of some problems, knots first, and the rest as `Solution` has it; a descent changes it in place."""

    q: np.ndarray
    v: np.ndarray
    u: np.ndarray
    K: np.ndarray
    cost: np.ndarray
    left: np.ndarray
    converged: np.ndarray
    iterations: np.ndarray
    gap: np.ndarray  # the largest entry of c


class ByName(NamedTuple):
    """A function for a problem's model, and the names of the arrays it takes."""

    function: Bound
    names: tuple[str, ...]

    @staticmethod
    def of(function: Function[..., Any], model: Model) -> ByName:
        return ByName(function.bind(model), taken(function, model))

    def at(self, rows: Any, arrays: Mapping[str, np.ndarray]) -> Any:
        """Return what it makes of some rows of arrays."""
        return self.function(*(arrays[name][rows] for name in self.names))


class Motions:
    """Programs of a problem's motions; `has_gaps` says whether they may have any."""

    def __init__(self, problem: Problem, has_gaps: bool = False) -> None:
        self.has_gaps = has_gaps
        # not the problem itself, which shall end when nobody has it
        self.model, self.step = problem.model, problem.step
        self.cost, self.final_cost = problem.cost, problem.final_cost
        self.control, self.controls, self.bounds = problem.control, problem.controls, problem.bounds
        self.n, self.states = 2 * self.model.nv, self.model.nq + self.model.nv
        self.of_thread = threading.local()
        arrays = shapes_of(self.model, self.step, self.cost, self.final_cost)
        self.parameters = {name: core for name, core in arrays.items() if name not in self._own}

    @property
    def _own(self) -> dict[str, tuple[int, ...]]:
        return {"q": (self.model.nq,), "v": (self.model.nv,), self.control: (self.controls,)}

    @property
    def is_bounded(self) -> bool:
        return bool(np.isfinite(self.bounds).any())

    @cached_property
    def work(self) -> int:
        """Of a knot in an iteration."""
        return self.expansions.operations + 2 * self.steps.operations + (self.n + self.controls) ** 3

    # --- rows of numbers ---

    @cached_property
    def places(self) -> dict[str, slice]:
        """Where each array is in a row: those without a user's name have one that none can have."""
        s = sizes(self.n, self.controls)
        lengths = {"K ": s["SMALL"], "k ": self.controls} | {name: size for name, (size,) in self._own.items()}
        lengths |= {"share ": 1, "gap ": self.n * self.has_gaps}
        lengths |= {name: math.prod(core) for name, core in self.parameters.items()}
        return {
            n: slice(*ends) for n, ends in zip(lengths, pairwise(accumulate(lengths.values(), initial=0)), strict=True)
        }

    @cached_property
    def vectors(self) -> int:
        """Of eight numbers, in a row."""
        return -(-max(place.stop for place in self.places.values()) // 8)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """What a kernel of this problem has compiled in."""
        own = {"L": self.vectors, "STATE": self.states, "SHARE": self.places["share "].start}
        own |= {"Y": len(self.blocks), "BLOCK": max(map(len, self.blocks), default=1)}
        own["SINGLE"] = max((j + 1 for j, block in enumerate(self.blocks) if block != range(j, j + 1)), default=0)
        return sizes(self.n, self.controls) | own | {"HAS_GAPS": self.has_gaps, "IS_BOUNDED": self.is_bounded}

    @cached_property
    def kernel(self) -> Kernel:
        return descend.fixed(**self.numbers)

    def _read(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arrays in a row, by name, and the next state if there is the next row."""
        row, cores = given["row"], self._own | self.parameters
        arrays = {name: row[self.places[name]].reshape(core) for name, core in cores.items()}
        arrays = {name: a if cores[name] else a[()] for name, a in arrays.items()}
        after = STATE if "after" in given else ()
        return arrays | {AFTER + name: given["after"][self.places[name]] for name in after}

    def _program(self, kernel: Callable[..., Any], *others: str, **shapes: Any) -> Program:
        """Return a program of a row, of others beside it, and of more arrays."""
        rows = dict.fromkeys(("row", *others), (8 * self.vectors,))
        return named(kernel, rows | shapes).program(self.model)

    # --- expansions ---

    @cached_property
    def _next(self) -> Function[..., Any]:
        """The next state, near what it is to be."""

        def next_state(model: Model, given: Mapping[str, Any]) -> Any:
            q, v = called(self.step, model, given)
            return difference(model, given[AFTER + "q"], q), v - given[AFTER + "v"]

        after = {AFTER + name: self._own[name] for name in STATE}
        return named(next_state, shapes_of(self.model, self.step) | after)

    @cached_property
    def _next_q(self) -> Function[..., Any] | None:
        """The next q by q and the next v, if the step has it by these: it is semi-implicit. Else None.

        Its program says so: with the next v in the place of what computes that, the next q is by no v and no control.
        """
        model, step = self.model, self.step
        program = step.traced(model, *step.interface.required(model, {}), 1).program
        if program.regions or program.columns:
            return None
        places, constant = program.results[model.nq :], {*program.instructions.places(Op.CONST)}

        def next_q(model: Model, given: Mapping[str, Any]) -> Any:
            entries = [e for a in program.inputs for e in np.ravel(given[a.name])]
            known = {k: x for k, x in zip(places, given[NEXT], strict=True) if k not in constant}
            return symbolic(replayed_from(program, entries, known)[: model.nq], (model.nq,))

        found = named(next_q, shapes_of(model, step) | {NEXT: (model.nv,)}, returns=("nq",))
        cut = found.program(model)
        used = {int(cut.instructions[k].value) for k in cut.instructions.places(Op.INPUT)}
        inputs = places_by_name(cut.inputs)
        others = (inputs[name] for name in ("v", self.control))
        return None if any(place.start <= k < place.stop for place in others for k in used) else found

    @cached_property
    def _moves(self) -> Function[..., Any] | None:
        """How q and the next v move the next q, if the step is semi-implicit."""
        next_q, names = self._next_q, ("q", NEXT)
        if next_q is None or not self.has_gaps:
            return next_q and derivative(next_q, names, tangent=True)

        def near(model: Model, given: Mapping[str, Any]) -> Any:
            return difference(model, given[AFTER + "q"], called(next_q, model, given))

        return derivative(named(near, shapes_of(self.model, next_q) | {AFTER + "q": self._own["q"]}), names)

    @cached_property
    def blocks(self) -> list[range]:
        """Of each j, the entries of the next q's tangent that entry j of q's or of the next v moves; else empty."""
        if self._moves is None:
            return []
        program, nv = self._moves.program(self.model), self.model.nv
        zero = {k for k in program.instructions.places(Op.CONST) if program.instructions[k].value == 0.0}
        by_q, by_v = np.reshape([k not in zero for k in program.results], (2, nv, nv))
        rows = [np.flatnonzero(column) if column.any() else np.array([j]) for j, column in enumerate((by_q | by_v).T)]
        return [range(k.min(), k.max() + 1) for k in rows]

    def _moved(self, model: Model, given: Mapping[str, Any]) -> dict[str, Any]:
        """Phi and Psi by the names of `Stages`."""
        if self._moves is None:
            return {}
        found, alone = symbols(2, self.numbers["BLOCK"], model.nv), self.numbers["SINGLE"]
        parts = called(self._moves, model, {**given, NEXT: called(self.step, model, given)[1]})
        for matrix, part in enumerate(parts):
            for j, block in enumerate(self.blocks):
                found[matrix, : len(block), j] = part[block.start : block.stop, j]
        diagonal = symbols(8 * self.numbers["X"])
        diagonal[alone : model.nv] = found[0, 0, alone:]
        return {"moves": found, "diagonal": diagonal}

    def _rates(self, model: Model, given: Mapping[str, Any], first: int = 0) -> Knots:
        """Dynamics to first and costs to second order, from arrays by name; with first = 1, rows of v alone."""
        names, n = (*STATE, self.control), self.n
        rates = derivative(self._next, names) if self.has_gaps else derivative(self.step, names, tangent=(0,))
        by, g = called(rates, model, given), np.concatenate(called(gradient(self.cost, names), model, given))
        H = _blocks(called(hessian(self.cost, names), model, given))
        A, B = _blocks([[by[j][i] for j in range(2)] for i in range(first, 2)]), np.concatenate(by[2][first:])
        return Knots(A, B, H[:n, :n], H[n:, :n], H[n:, n:], g[:n], g[n:])

    def _last_rates(self, model: Model, given: Mapping[str, Any]) -> tuple[Any, Any]:
        slope, curve = gradient(self.final_cost, STATE), hessian(self.final_cost, STATE)
        return _blocks(called(curve, model, given)), np.concatenate(called(slope, model, given))

    @cached_property
    def expansion(self) -> ByName:
        return ByName.of(named(self._rates, shapes_of(self.model, self.step, self.cost)), self.model)

    @cached_property
    def last_expansion(self) -> ByName:
        return ByName.of(named(self._last_rates, shapes_of(self.model, self.final_cost)), self.model)

    @cached_property
    def expansions(self) -> Program:
        def expansion(model: Model, given: Mapping[str, Any]) -> dict[str, Any]:
            arrays = self._read(given)
            return arranged(self._rates(model, arrays, bool(self.blocks)), symbols) | self._moved(model, arrays)

        return self._program(expansion, *("after",) * self.has_gaps)

    @cached_property
    def varying(self) -> tuple[Program, dict[str, np.ndarray], dict[str, tuple[str, slice]]]:
        """The expansions but for vectors that are the same at all knots, as most of a cost's are.

        With it stand all numbers of each array, 0 for those that vary; and of each output the array it is a part of.
        """
        program, constants, results = self.expansions, dict[str, np.ndarray](), list[int]()
        if program.columns:
            return program, constants, {}
        known, parts, behind = {*program.instructions.places(Op.CONST)}, dict[str, tuple[str, slice]](), 0
        for a in program.outputs:
            own, behind = program.results[behind : behind + a.size], behind + a.size
            constants[a.name] = np.array([program.instructions[k].value if k in known else 0.0 for k in own])
            first = 0
            for is_known, group in groupby((own[k : k + 8] for k in range(0, a.size, 8)), known.issuperset):
                entries = [*chain.from_iterable(group)]
                if not is_known:
                    parts[f"{a.name} {first}"] = a.name, slice(first, first + len(entries))
                    results += entries
                first += len(entries)
        outputs = tuple(Array(name, (place.stop - place.start,)) for name, (_, place) in parts.items())
        return remove_dead_code(replace(program, outputs=outputs, results=tuple(results))), constants, parts

    @cached_property
    def last_expansions(self) -> Program:
        def last_expansion(model: Model, given: Mapping[str, Any]) -> Any:
            return {"end": arranged_end(*self._last_rates(model, self._read(given)), symbols)}

        return self._program(last_expansion)

    @cached_property
    def curvature(self) -> Program:
        """The second derivatives of costates . x of the next state, near what it is."""
        n, m, names = self.n, self.controls, (*STATE, self.control)
        shapes = shapes_of(self.model, self._next) | {AFTER + "costates": (n,)}

        def next_along(model: Model, given: Mapping[str, Any]) -> Any:
            return given[AFTER + "costates"] @ np.concatenate(called(self._next, model, given))

        weighed = hessian(named(next_along, shapes), names)

        def curvature(model: Model, given: Mapping[str, Any]) -> dict[str, Any]:
            H = _blocks(called(weighed, model, self._read(given) | {AFTER + "costates": given["costates"]}))
            found = arranged(Knots(0.0, np.zeros((n, m)), H[:n, :n], H[n:, :n], H[n:, n:], 0.0, 0.0), symbols)
            return {"curved_HU": found["HU"], "curved_HX": found["HX"]}

        return self._program(curvature, "after", costates=(n,))

    # --- motions ---

    @cached_property
    def gaps(self) -> Program:
        def gap(model: Model, given: Mapping[str, Any]) -> dict[str, Any]:
            return {"gaps": np.concatenate(called(self._next, model, self._read(given)))}

        return self._program(gap, "after")

    @cached_property
    def steps(self) -> Program:
        """One step near a motion, with feedback."""
        places, m = self.places, self.controls

        def step_near(model: Model, given: Mapping[str, Any]) -> dict[str, Any]:
            row, near = given["row"], self._read(given)
            q, v = given["state"][: model.nq], given["state"][model.nq :]
            x = np.concatenate([difference(model, near["q"], q), v - near["v"]])
            K, share = row[places["K "]].reshape(m, -1)[:, : self.n], row[places["share "].start]
            u = near[self.control] + share * row[places["k "]] + K @ x
            if self.is_bounded:
                u = minimum(maximum(u, self.bounds[0]), self.bounds[1])
            arrays = {**near, "q": q, "v": v, self.control: u}
            q, v = called(self.step, model, arrays)
            if self.has_gaps:
                left = (share - 1.0) * row[places["gap "]]
                q, v = integrate(model, q, left[: model.nv]), v + left[model.nv :]
            return {"state_next": np.concatenate([q, v]), "control": u, "added": called(self.cost, model, arrays)}

        return self._program(step_near, state=(self.states,))

    @cached_property
    def finals(self) -> Program:
        def final(model: Model, given: Mapping[str, Any]) -> dict[str, Any]:
            arrays = self._read(given) | {"q": given["state"][: model.nq], "v": given["state"][model.nq :]}
            return {"added": called(self.final_cost, model, arrays)}

        return self._program(final, state=(self.states,))


def named(kernel: Callable[..., Any], shapes: Mapping[str, Any], **options: Any) -> Function[..., Any]:
    """Return a function of the arrays of these names and shapes, which the kernel is given in a mapping."""
    by_position = [inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD) for n in ("model", *shapes)]

    def by_names(model: Model, *args: Any, **by_name: Any) -> Any:
        return kernel(model, dict(zip(shapes, args, strict=False)) | by_name)

    by_names.__name__ = kernel.__name__
    by_names.__signature__ = inspect.Signature(by_position)  # pyright: ignore[reportFunctionMemberAccess]
    # q and v are what every function knows: derivatives by q go along its tangent
    return function(shapes={n: shape for n, shape in shapes.items() if n not in STATE}, **options)(by_names)


def shapes_of(model: Model, *of: Function[..., Any]) -> dict[str, tuple[int, ...]]:
    """Return the arrays that functions take, and their shapes: q and v first."""
    return {name: f.interface.cores(model)[name] for f in of for name in taken(f, model)}


def called(of: Function[..., Any], model: Model, given: Mapping[str, Any]) -> Any:
    """Return what a function makes of those arrays that it takes."""
    return of(model, **{name: given[name] for name in taken(of, model)})


def total(of_knots: np.ndarray) -> np.ndarray:
    """Return the sum over the knots, in their order: `sum` has another for one problem than for two."""
    return np.add.accumulate(of_knots, axis=0)[-1]


def symbols(*shape: int) -> np.ndarray:
    """Return an array of symbols that are 0."""
    return np.zeros(shape, dtype=object)


def _blocks(rows: Iterable[Iterable[Any]]) -> np.ndarray:
    return np.concatenate([np.concatenate([*row], axis=1) for row in rows])
