"""Steps of many bodies for a world and its states: rows of tables (`crowd`), in place of one program a world."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain, pairwise
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from cardan._compiler.runtime.memory import collection_paused
from cardan._compiler.runtime.threads import num_threads, split
from cardan._dynamics.algorithms.chains import trees_of
from cardan._dynamics.algorithms.drives import coupling
from cardan._dynamics.algorithms.tree import supports
from cardan._motion.contact.lengths import bounded
from cardan._motion.crowd.engine import Engine
from cardan._motion.crowd.kept import NOTHING, KeptImpulses
from cardan._motion.crowd.kinds import are_long
from cardan._motion.crowd.layout import Layout, Scene
from cardan._motion.maximal_steps import Closing
from cardan._motion.simulation.pairs import Rules
from cardan._motion.simulation.solvers.solver import Stepper
from cardan._motion.simulation.state import State
from cardan._motion.simulation.world import World
from cardan._robot.geometry.shapes import GROUNDS
from cardan._robot.geometry.touching import ContactForces

MOST_IDLE = 16
"""Tables that nobody steps by and that are kept all the same, where others are made."""
# The fingers of a hand that is fixed are trees of one articulation. In batches an Allegro hand that holds a box takes
# 1.9 us a step as a program, and 7 us by tables.
FEW, TREES = 4, 32
"""Articulations that may touch one another, and trees at all, from which on tables are faster than one program."""
MANY, FOR_EACH = 60, 1.6
"""Pairs from which on they are faster for few trees, too: so many, and so many for each degree of freedom.

A program looks at all pairs; of tables the factor of the mass matrix counts. Measured with robots of 14 to 107 degrees
of freedom, with 19 to 839 pairs: so each is stepped by what is faster for it.
"""

COUPLED = 5000
"""Entries of the equation of motion that pairs between articulations may add to, from which on they are faster, too.

Of a pair so many as the square of the degrees of freedom that move its shapes. A program has all of them in each step,
tables those of what meets. Measured with 28 worlds of two to six things: below it a program is as fast for one world,
and faster in batches; above it tables are, and the first step is made in 3 s.
"""


class NoRow(NamedTuple):
    """What cannot be rows of tables, and what is to be done that all can; nothing, if there is no way."""

    what: str
    instead: str = ""


def what_is_no_row(world: World) -> NoRow | None:
    """Return what of a world cannot be rows of tables; None if all can."""
    model = world.model
    if not (model.nv and world.pairs.rules.solids):
        return NoRow("a world in which nothing moves, or nothing has a shape")
    if world.constants():
        given = ", ".join(world.constants())
        return NoRow(f"what is given for each world ({given})", "make it part of the description, with one value")
    if model.has_loops:
        return NoRow(
            f"the constraint {model.constraint_names[0]!r}", 'make clusters of loops, finalize(loops="clusters")'
        )
    for c, *_ in bounded(model):
        return NoRow(f"the bounds of joint {c.name!r}", "leave them out")
    for name in coupling(model, limits=True):
        what = f"the drive, dry friction or limits of joint {name!r}, which follows several velocities"
        return NoRow(what, "give them to the joints that it follows")
    rules = world.pairs.rules
    surfaces = [s.shape.surface for s in rules.solids], [own.material for own in rules.surfaces.values()]
    if any(material and material.anisotropy != 1.0 for material in chain(*surfaces)):
        return NoRow("friction of two coefficients", "give surfaces one")
    return None


def has_many(world: World) -> bool:
    """Return whether a world has a tree so long, or so many articulations or pairs, that tables are faster."""
    pairs = world.pairs
    solid = {s.shape.body for s in pairs.rules.solids if s.root >= 0}
    touching = sum(not solid.isdisjoint(a.bodies) for a in world.articulations.values())
    trees = sum(node.parent < 0 for node in world.model.nodes)
    if touching >= FEW or trees >= TREES or len(pairs) > max(MANY, FOR_EACH * world.model.nv):
        return True
    if any(are_long(nodes) for nodes in trees_of(world.model)):
        return True
    return _coupled(world, pairs.rules) > COUPLED


def _coupled(world: World, rules: Rules) -> int:
    """Return how many entries of the equation of motion pairs between articulations add to."""
    model, owner = world.model, {body: name for name, a in world.articulations.items() for body in a.bodies}
    freedoms = [sum(model.nodes[i].joint.nv for i in supports(model, solid.node)) for solid in rules.solids]
    owners = [owner.get(solid.shape.body) if solid.root >= 0 else None for solid in rules.solids]
    between = ((i, j) for i, j in rules if owners[i] != owners[j] and None not in (owners[i], owners[j]))
    return sum((freedoms[i] + freedoms[j]) ** 2 for i, j in between)


class TableSteps:
    """Takes steps of a world, some worlds on each thread; `closing` and `options` are as `Scene` and `Engine` have."""

    def __init__(self, world: World, dt: float, closing: Closing | None = None, **options: Any) -> None:
        self.world, self.dt, self.closing, self.options = world, dt, closing, options
        pairs, shapes = world.pairs, [solid.shape for solid in world.pairs.rules.solids]
        self.scene = Scene(world.model, shapes, pairs.rules, pairs.stiffness, world.kinematic, pairs.pair, closing)
        self._idle: dict[tuple[int, int, bool], list[Engine]] = {}  # nobody steps by them now

    def look_at_robots(self) -> bool:
        """Return whether a robot has pairs that it is known not to touch for many steps (`crowd/itself.py`)."""
        have_ends = [not isinstance(solid.shape.geometry, GROUNDS) for solid in self.world.pairs.rules.solids]
        if not any(have_ends[i] and have_ends[j] for i, j in self.world.pairs.rules):
            return False
        return any(kind.hinges for kind in Layout(self.scene, 1).kinds)

    def __reduce__(self) -> Any:
        return partial(TableSteps, **self.options), (self.world, self.dt, self.closing)

    def _engine(self, key: tuple[int, int, bool], given: Mapping[str, np.ndarray], kept: KeptImpulses | None) -> Engine:
        """Return what steps worlds, loaded; it is nobody else's until it is back in the list of its key."""
        idle = self._idle[key] = self._idle.pop(key, [])  # the last one in it is the last one used
        try:
            engine = idle.pop()
        except IndexError:  # a new one, or those there are step for other threads
            engine = self._made(*key[1:])
        for name, own in engine.given.items():
            own[...] = given[name].ravel() if name in given else 0.0
        engine.c.single = int(given["q"].dtype == np.float32)
        engine.recall(kept)
        return engine

    def _made(self, worlds: int, pushed: bool) -> Engine:
        with collection_paused():
            return Engine(self.scene, self.dt, worlds, pushed=pushed, **self.options)

    def step(self, given: Mapping[str, np.ndarray], kept: KeptImpulses | None, steps: int) -> dict[str, Any]:
        """Return what comes of steps from arrays of a state and a control, each of all worlds; of impulses, too."""
        W = len(given["q"])
        count = min(num_threads(), W)
        if count == 1:
            return self._step_part(0, given, kept, steps)
        found = {name: np.empty_like(given[of]) for name, of in (("q", "q"), ("v", "v"), ("warm", "v"))}
        found |= {name: np.empty(W, given["q"].dtype) for name in ("residual", "count")}
        if not W:
            return {**found, "kept_impulses": NOTHING if kept is None else kept}
        ends = [W * k // count for k in range(count + 1)]
        memories: list[KeptImpulses] = [NOTHING] * count

        def run(start: int, stop: int) -> None:
            for k in range(start, stop):
                own = slice(ends[k], ends[k + 1])
                memory = None if kept is None else kept.of_worlds(np.arange(W)[own])
                part = self._step_part(k, {name: a[own] for name, a in given.items()}, memory, steps)
                memories[k] = part.pop("kept_impulses").moved(ends[k])
                for name, array in part.items():
                    found[name][own] = array

        split(count, 1 << 40, 1, count, run)
        return {**found, "kept_impulses": KeptImpulses.together(memories)}

    def run(self, asked: tuple[str, ...], steps: int) -> TableRun:
        """Return what a stepper of one world runs."""
        return TableRun(self._made(1, "wrenches" in asked), ("q", "v", "count", *asked), steps)

    def _step_part(self, part: int, given: Mapping[str, Any], kept: KeptImpulses | None, steps: int) -> dict[str, Any]:
        """Return what comes of steps of the part of a batch with a number."""
        key = part, len(given["q"]), "wrenches" in given
        engine = self._engine(key, given, kept)
        engine.step(steps)
        dtype = given["q"].dtype
        found = {name: array.astype(dtype) for name, array in engine.results.items()}
        found |= {"kept_impulses": engine.kept()}
        self._put_back(key, engine)  # not after an error
        return found

    def _put_back(self, key: tuple[int, int, bool], engine: Engine) -> None:
        """Keep what stepped for the next call, and let go what was not used for longest; several threads do so."""
        self._idle.setdefault(key, []).append(engine)
        kept = list(self._idle.values())
        for _ in range(sum(map(len, kept)) - MOST_IDLE):
            del next(filter(None, kept), [])[:1]

    def forces(self, given: Mapping[str, np.ndarray], kept: KeptImpulses | None) -> ContactForces:
        """Return the forces at the contacts in the step that follows: of those that touch in any world."""
        W, dtype = len(given["q"]), given["q"].dtype
        if not W:
            none = np.zeros((0, 0, 3), dtype)
            return ContactForces(none, none.copy(), none.copy(), np.zeros(0, int))
        key = 0, W, "wrenches" in given
        engine = self._engine(key, given, kept)
        engine.step(1, joined=True)
        (shapes, features, *found), each = engine.touching(), engine.c.shapes
        self._put_back(key, engine)  # not after an error
        world, shapes, features = shapes // each, shapes % each, features.tolist()
        own = self.world.pairs.rules.numbers(np.sort(shapes, axis=1)).tolist()
        columns = sorted(set(zip(own, features, strict=True)))
        column = {key: n for n, key in enumerate(columns)}
        at = world[:, 0], np.array([column[key] for key in zip(own, features, strict=True)], dtype=int)
        force, torque, point = (np.zeros((W, len(columns), 3), dtype) for _ in range(3))
        force[at], torque[at], point[at] = found
        return ContactForces(force, torque, point, np.array([pair for pair, _ in columns], dtype=int))


class TableRun:
    """Takes steps of one world again and again; impulses go from one call to the next."""

    def __init__(self, engine: Engine, names: Sequence[str], steps: int) -> None:
        self.engine, self._steps, self._lock = engine, steps, Lock()
        self._given = [engine.given[name] for name in names]
        ends = np.cumsum([array.size for array in engine.results.values()]).tolist()
        places = (slice(*at) for at in pairwise([0, *ends]))
        self.places: Mapping[str, Any] = {name: (..., at) for name, at in zip(engine.results, places, strict=True)}

    def __call__(self, *arrays: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Return results side by side in one row."""
        with self._lock:  # tables that two threads write into would be worse than wrong
            for own, array in zip(self._given, arrays, strict=True):
                own[...] = array.ravel()
            self.engine.c.single = int(arrays[0].dtype == np.float32)
            self.engine.step(self._steps)
            out = np.empty(len(self.engine.row), arrays[0].dtype) if out is None else out
            out[...] = self.engine.row
        return out


class TableStepper(Stepper):
    """See `Stepper`; its steps go by tables."""

    __slots__ = ()
    _run: TableRun

    def __init__(self, run: TableRun, state: State, clock: Any, asked: Sequence[np.ndarray], steps: int) -> None:
        super().__init__(run, state, clock, asked, steps)
        run.engine.recall(state.kept_impulses)

    @property
    def state(self) -> State:
        """See `Stepper.state`."""
        found = super().state
        found.kept_impulses = self._run.engine.kept()
        return found
