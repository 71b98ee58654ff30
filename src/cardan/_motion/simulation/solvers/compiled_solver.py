"""What the solvers of this package have: one program for a step of a world, or tables where bodies are many."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from cardan._algebra.checked_numbers import positive, truth
from cardan._algebra.errors import ParameterError, UnsupportedError
from cardan._dynamics.call.compiled import Bound
from cardan._dynamics.call.function import Function
from cardan._motion.simulation.collide import check_pages, owners_of
from cardan._motion.simulation.control import Control
from cardan._motion.simulation.pairs import warn_of_many
from cardan._motion.simulation.solvers.solver import Solver, Stepper, checked_steps, control_names
from cardan._motion.simulation.solvers.step_function import Outcome, Settings, step_function
from cardan._motion.simulation.solvers.table_steps import NoRow, TableStepper, TableSteps, has_many
from cardan._motion.simulation.standing import warn_of_joints
from cardan._motion.simulation.state import Clock, State, next_state, start_of
from cardan._robot.geometry.touching import ContactForces

NUMBERS = 32
"""Of steps that are remembered, to begin at once: with and without a control."""

_NO_STEP: Any = (None,) * 5


class CompiledSolver(Solver):
    """A solver whose step is a function that cardan compiles, of what `step_function.ARRAYS` names, or goes by tables.

    Tables take the steps where bodies are many.
    """

    sleep: float | None = None
    _tables_asked: bool | None = False

    def _ask(self, tables: bool | None, sleep: float | None) -> None:
        """Note what is asked of tables; `ParameterError` for a speed to sleep at that is none."""
        self._tables_asked = None if tables is None else truth("tables", tables)
        self.sleep = None if sleep is None else positive("sleep", sleep, "m/s")

    def _check_touching(self) -> None:
        """Raise `UnsupportedError` for pairs of shapes that no page knows; warn of more than a program should have."""
        pairs = self.world.pairs
        check_pages(pairs.of_each_kind() if self.tables else pairs)
        if not self.tables:
            lacking = self._no_row() or NoRow("")
            instead = lacking.instead or "take cardan.solvers.Featherstone(tables=True)"
            warn_of_many(self.world.name, pairs, instead, lacking.what if lacking.instead else "")

    @cached_property
    def tables(self) -> bool:
        """Whether bodies are rows of tables."""
        if self._tables_asked is False:
            if self.sleep is None:
                return False
            instead = "leave out sleep=, or tables=False"
            raise UnsupportedError(f"sleep={self.sleep:g}", "a step of one program", instead)
        asked = self._tables_asked or self.sleep is not None
        lacking = self._no_row()
        if asked and lacking:
            instead = "ask for tables=False" if self.sleep is None else "leave out sleep="
            ways = [way for way in (lacking.instead, instead) if way]
            raise UnsupportedError(lacking.what, "a step of many bodies", ", or ".join(ways))
        return asked or (lacking is None and (has_many(self.world) or self._by_tables.look_at_robots()))

    def _no_row(self) -> NoRow | None:
        """Return what of the world, or of what is asked for, cannot be rows of tables; None if all can."""
        return NoRow(f"the method of {type(self).__name__}")

    @cached_property
    def _by_tables(self) -> TableSteps:
        """What takes steps by tables."""
        raise NotImplementedError

    def step(self, state: State, control: Control | None = None, *, steps: int = 1, out: State | None = None) -> State:
        """Return the state after some steps; see `Solver.step`."""
        if not isinstance(state, State):
            self._check_state(state)
        q, v, clock = start_of(state, self.dt)
        since, own, count, run, asked = self._kept.get("step", _NO_STEP)
        # What fitted at the last step fits where it led to: to look at all of it again takes as long as the step.
        is_other = clock[0] is not since or control is not own or steps is not count
        if is_other or (control is not None and control.arrays is not asked):
            count, run, asked = self._prepared(clock, state, control, steps)
        found = run(q, v, clock[2], *asked)
        return next_state(state, found, (clock[0], clock[1] + count, found["count"]), out)

    def _prepared(self, clock: Clock, state: State, control: Control | None, steps: int) -> tuple[int, Any, Any]:
        """Return how many steps, what takes them, and what that is given beside q, v and count; keep it."""
        count, asked = checked_steps(steps), self._read_control(state, control)
        if self._kept.setdefault("began", clock) is clock:  # the first step alone: it takes as long as several
            warn_of_joints(state)
        if self.tables:  # whose impulses are not those of the next state
            names = ("q", "v", "count", *control_names(control))

            def run_tables(*arrays: np.ndarray) -> dict[str, Any]:
                return self._by_tables.step(dict(zip(names, arrays, strict=True)), state.kept_impulses, count)

            return count, run_tables, asked
        run = self._run(count, control_names(control))
        if state.constants:  # which are not those of the next state
            return count, run, (*asked, *(state.constants[name] for name in self._inputs))
        self._kept["step"] = clock[0], control, count, run, asked
        return count, run, asked

    def stepper(self, state: State, control: Control | None = None, *, steps: int = 1) -> Stepper:
        """Return what takes steps of one world with nothing made anew: a third of the time of `step`, for a loop.

        The same steps, to the bit.

        Args:
            state: where to begin, of one world; it is left as it is.
            control: as for `step`; its arrays are read at every call.
            steps: how many a call takes.

        Raises:
            ParameterError: for a state of several worlds (`step` takes these), or as for `step`.

        Examples:
            >>> world = cardan.robots.double_pendulum().world()
            >>> control = world.control()
            >>> advance = cardan.solvers.Featherstone(world, dt=0.001).stepper(world.state(), control)
            >>> for k in range(100):
            ...     control.effort[0] = -2.0 * advance.v
            ...     advance()
        """
        count = checked_steps(steps)
        asked = self._read_control(state, control)
        if control is not None:
            control.hold()  # an array added later would not be among those the bound call reads
        if len(state) != 1:
            raise ParameterError("state", got=f"{len(state)} worlds", expected="one world; `step` takes several")
        names = control_names(control)
        state = state.copy()  # the stepper writes into its arrays
        if self.tables:
            return TableStepper(self._by_tables.run(names, count), state, start_of(state, self.dt)[2], asked, count)
        asked += tuple(state.constants[name] for name in self._inputs)
        run = self._bound(count, names, packed=True)
        return Stepper(run, state, start_of(state, self.dt)[2], asked, count)

    @cached_property
    @abstractmethod
    def settings(self) -> Settings:
        """What a step is made for that is given where drives go."""

    @property
    @abstractmethod
    def _outcomes(self) -> tuple[str, Outcome, Outcome, bool]:
        """A step's name, what it leaves, its forces at contacts, and whether it depends on joint coordinates alone.

        Forces are rows of force, torque and point for each candidate, in world axes, on the first body of its pair.
        """

    @cached_property
    def function(self) -> Function[..., Any]:
        """One step of model, q, v, count and, each optional, effort, position, velocity, wrenches.

        Results: q, v; warm, the accelerations; count, how many steps were good; residual. See `State`.
        """
        if self.tables:
            raise UnsupportedError("one step as a function", "a step of many bodies", "ask for tables=False")
        name, leaves, _, simplified = self._outcomes
        settings = replace(self.settings, targets=tuple(self.world.targets.tolist()))
        return step_function(name, leaves, settings, simplified)

    @cached_property
    def _step(self) -> Function[..., Any]:
        """One step that is given where drives go: worlds that differ in targets alone share its programs."""
        name, leaves, _, simplified = self._outcomes
        return step_function(name, leaves, self.settings, simplified)

    @cached_property
    def _forces(self) -> Function[..., Any]:
        _, _, forces, simplified = self._outcomes
        return step_function("contact_forces", forces, self.settings, simplified)

    def contact_forces(self, state: State, control: Control | None = None) -> ContactForces:
        """Return the forces at the contacts in the step from a state; see `Solver.contact_forces`."""
        given = dict(zip(control_names(control), self._read_control(state, control), strict=True))
        q, v, clock = start_of(state, self.dt)
        if self.tables:
            return self._by_tables.forces({"q": q, "v": v, "count": clock[2], **given}, state.kept_impulses)
        if not self.settings.pairs:
            none = np.zeros((len(state), 0, 3), state.dtype)
            return ContactForces(none, none.copy(), none.copy(), np.empty(0, int))
        if state.constants:
            given |= {name: state.constants[name] for name in self._inputs}
        found = self._forces(self.world.model, q, v, clock[2], **given)
        # they are on the first body of a pair, which moves
        return ContactForces(found["force"], found["torque"], found["point"], self._owners.copy())

    @cached_property
    def _owners(self) -> np.ndarray:
        """Which pair each candidate is of."""
        return owners_of(self.settings.pairs)

    @cached_property
    def _inputs(self) -> tuple[str, ...]:
        """What is given for each world, in the order a step takes it; of contacts only if it knows of them."""
        if self.tables:
            return ()
        interface, inputs = self._step.interface, self.world.model.inputs
        own = [name for name in interface.arguments if interface.shapes.get(name) != (0,)]  # of no pairs
        return tuple(name for name in self.world.constants() if name in own or name in inputs)

    @cached_property
    def _run(self) -> Callable[[int, tuple[str, ...]], Bound]:
        """Steps of a number and what they are given, bound; the last ones are kept: a workspace may be large."""
        return lru_cache(maxsize=NUMBERS)(self._bound)

    def _bound(self, count: int, asked: tuple[str, ...], packed: bool = False) -> Bound:
        own = [name for name in self._inputs if name not in self.world.model.inputs]
        repeated = self._step.repeated(count)
        bind = repeated.bind_packed if packed else repeated.bind
        return bind(self.world.model, *asked, *own)
