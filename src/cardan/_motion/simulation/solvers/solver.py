"""What every solver has: a world, a step, what it supports; stepping, recording, and what went wrong."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, NoReturn, Protocol

import numpy as np

from cardan._algebra.checked_numbers import number, whole
from cardan._algebra.errors import ParameterError, UnsupportedError, check_one_of
from cardan._algebra.explained import ExplainedNames, ExplainedSettings, explained_keywords
from cardan._dynamics.algorithms.kinematics import frame_transform
from cardan._dynamics.call.function import Function
from cardan._motion.simulation.articulation import Pattern, select_names
from cardan._motion.simulation.control import Control
from cardan._motion.simulation.standing import warn_of_sunken
from cardan._motion.simulation.state import (
    FOUND,
    MOST,
    Clock,
    State,
    clock_at,
    read_clock,
    state_of,
)
from cardan._motion.simulation.world import World
from cardan._robot.geometry.touching import ContactForces
from cardan._robot.model import Model
from cardan._robot.model.user_constraints import name_of

YES = "yes"
"""What a table of support says of what is done; anything else is the reason why not."""

_DONE = ("joint", "mimic joint", "loop", "orphan joint", "drive", "damping", "friction", "limit", "spring")
SHARED = dict.fromkeys(_DONE, YES) | {
    "compliance": "give it coordinates: cardan.simulation.compliant(mechanism).world()",
    "constraint of the user": "take cardan.solvers.Featherstone",
}
"""The rows of a table of support that all solvers have: what each does, and what none does (`left_out`)."""


class Trajectory(NamedTuple):
    """What a rollout recorded, the states at its beginning and after every recorded step.

    Attributes:
        time: (T, worlds) [s].
        q: configurations [rad, m], (T, worlds, nq).
        v: velocities [rad/s, m/s], (T, worlds, nv).
        residual: of the solves of the steps, (T, worlds) [rad/s, m/s]; 0 at the beginning.
        state: the last one, with which to go on.

    Examples:
        >>> world = cardan.robots.double_pendulum().world()
        >>> motion = cardan.solvers.Featherstone(world, dt=0.001).rollout(world.state(), steps=20, every=10)
        >>> motion.time[:, 0].round(6).tolist()
        [0.0, 0.01, 0.02]
    """

    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    residual: np.ndarray
    state: State

    if not TYPE_CHECKING:
        __getattr__ = ExplainedNames.__getattr__


class Solver(ExplainedSettings):
    """Moves the worlds of a state on in time, by steps of dt [s].

    Throughout:
        state: where to begin; it is left as it is.
        control: what drives are asked for; by default no effort, and the world's targets.

    Raises:
        ParameterError: for a step that is not positive, and other invalid values.
        UnsupportedError: for a world with anything that the solver would leave out (`supports`).

    Examples:
        >>> world = cardan.robots.double_pendulum().world()
        >>> solver = cardan.solvers.Featherstone(world, dt=0.001)
        >>> state = solver.step(world.state(), steps=10)
        >>> solver.rollout(state, steps=20, every=10).q.shape
        (3, 1, 2)
        >>> kinds, forces = dict(solver.features()), solver.contact_forces(state)
    """

    supports: ClassVar[Mapping[str, str]]
    """What may be in a world: for each feature `"yes"`, or why not and what to do."""

    def __init__(self, world: World, dt: float) -> None:
        if not isinstance(world, World):
            expected = "a cardan.World: mechanism.world() or WorldBuilder.finalize()"
            raise ParameterError("world", got=world, expected=expected)
        self.world = world
        expected = "a finite number > 0 [s], and so its square"
        self.dt: float = number("dt", dt, expected, lambda x: x > 0.0 and 0.0 < x * x < math.inf)
        self._kept: dict[Any, Any] = {}
        self._check_support()

    def __setattr__(self, name: str, value: Any) -> None:
        """Set what is not set yet: what was compiled for other values would go on with them."""
        if name in vars(self):
            raise AttributeError(f"{name} of {self!r} is fixed: make another {type(self).__name__}")
        super().__setattr__(name, value)

    @abstractmethod
    def features(self) -> Iterator[tuple[str, str]]:
        """Yield what is in the world: keys of `supports`, each with the name of the thing."""

    def _check_support(self) -> None:
        for feature, what in self.features():
            if self.supports[feature] != YES:
                raise UnsupportedError(what, f"solver {type(self).__name__}", self.supports[feature])

    @cached_property
    @abstractmethod
    def function(self) -> Function[..., Any]:
        """One step as a function of the model and arrays: it can be differentiated, explained, written as C."""

    @abstractmethod
    def step(self, state: State, control: Control | None = None, *, steps: int = 1, out: State | None = None) -> State:
        """Return the state after some steps under one control; the state given is left as it is.

        Args:
            steps: how many.
            out: a state of the same worlds to write into; it may be `state`.

        Raises:
            ShapeError, ParameterError: for a state or control of other worlds, a number of steps below 1.
        """

    def contact_forces(self, state: State, control: Control | None = None) -> ContactForces:
        """Return the forces at the contacts in the step from a state.

        They are the means of the step: what contacts do to momentum in it, over its length.

        Args:
            state: where the step begins.
            control: what drives are asked for in it; see `step`.

        Returns:
            `ContactForces(force, torque, point, pair)`: shapes (worlds, C, 3), in world axes [N, N m, m], on the first
            body of each pair; candidates as those of `World.collide`, zero where nothing touches.

        Raises:
            ParameterError: for a state or control of other worlds.
            UnsupportedError: for a solver of a plug-in that does not tell.

        Examples:
            >>> stands = cardan.robots.quadruped().world("floating", ground=True)
            >>> for kind in (cardan.solvers.Featherstone, cardan.solvers.XPBD):
            ...     found = kind(stands, dt=0.002).contact_forces(stands.state())
            ...     borne = found.force[..., 2].sum(axis=-1)  # by the ground [N]
        """
        by = f"solver {type(self).__name__}"
        raise UnsupportedError("the forces at contacts", by, "cardan.solvers.Featherstone(world, dt) tells them")

    def body_contact_forces(
        self,
        state: State,
        control: Control | None = None,
        *,
        bodies: Pattern | None = None,
        expressed_in: Literal["world", "frame"] = "world",
    ) -> np.ndarray:
        """Return what all contacts together do to each body in the step from a state: sensors of contact.

        Args:
            bodies: names, in their order, or patterns of the bodies that are asked for; by default all. What patterns
                match is in the order of `model.body_names`.
            expressed_in: `"world"`, or `"frame"` for each body's own axes: as `external_forces` of all bodies are.

        Returns:
            Wrenches [force; torque] [N, N m] about each body's origin, shape (worlds, bodies, 6).

        Raises:
            UnsupportedError: for a solver that does not tell.
            UnknownNameError, ParameterError: for bodies or axes that do not exist.

        Examples:
            >>> stands = cardan.robots.quadruped().world("floating", ground=True)
            >>> solver = cardan.solvers.Featherstone(stands, dt=0.002)
            >>> solver.body_contact_forces(stands.state(worlds=3), bodies="*_foot").shape
            (3, 4, 6)
        """
        check_one_of("axes of contact forces", expressed_in, ("world", "frame"))
        model, found = self.world.model, self.contact_forces(state, control)
        names = model.body_names
        if bodies is not None:
            names = tuple(select_names("body", names, bodies, where="bodies of contact forces"))
        given: dict[str, Any] = {"frame": names, **state.model_constants}
        X = frame_transform(model, state.q, **given)
        total = np.zeros((len(state), len(names), 6), state.dtype)
        for owners, sign in zip(self._owners_of_contacts(names, found.pair), (1.0, -1.0), strict=True):
            kept = np.flatnonzero(owners >= 0)
            own, force = owners[kept], sign * found.force[:, kept]
            arm = found.point[:, kept] - X[..., :3, 3][:, own]
            wrench = np.concatenate([force, sign * found.torque[:, kept] + np.cross(arm, force)], axis=-1)
            at: Any = (slice(None), own)
            np.add.at(total, at, wrench)
        if expressed_in == "frame":  # force and torque as two columns, turned by R^T
            total = (total.reshape(*total.shape[:2], 2, 3) @ X[..., :3, :3]).reshape(total.shape)
        return total

    def _owners_of_contacts(self, names: Sequence[str], pair: np.ndarray) -> Iterator[np.ndarray]:
        """Yield the first and the second body of each contact, as their places among names, -1 of all others."""
        place = {name: k for k, name in enumerate(names)}
        for bodies in ([p.a for p in self.world.pairs], [p.b for p in self.world.pairs]):
            yield np.array([place.get(body, -1) for body in bodies], int)[pair]

    def _read_control(self, state: State, control: Control | None) -> tuple[np.ndarray, ...]:
        """Return what `control_names` names, in each world, or raise `ParameterError` for what is of other worlds."""
        self._check_state(state)
        own, v = self.world, state.v
        if control is None:
            key = len(v), v.dtype
            if key not in self._kept:  # read-only and kept, so that a loop of steps allocates nothing for it
                self._kept[key] = np.tile(own.targets.astype(v.dtype), (len(v), 1))
                self._kept[key].flags.writeable = False
            return (self._kept[key],)
        is_ours = isinstance(control, Control) and (control.world is state.world or control.world.moves_like(own))
        if not is_ours or control.dtype != v.dtype or len(control) not in (1, len(v)):
            expected = f"a control of {len(v)} worlds (or 1) {own.name!r}, {v.dtype}"
            hint = (
                "" if isinstance(control, Control) else "Steps are counted by steps=, their length is the solver's dt."
            )
            raise ParameterError("control", got=control, expected=expected, hint=hint)
        asked = control.arrays
        return asked if len(asked[0]) == len(v) else tuple(np.repeat(array, len(v), axis=0) for array in asked)

    def _check_state(self, state: Any) -> None:
        own = self.world
        known = own, self._kept.get("alike")  # to compare those of a thousand bodies takes longer than a step of theirs
        if not isinstance(state, State) or not (state.world in known or state.world.moves_like(own)):
            hint = "World.state_from(state) is the state of a world that has other bodies."
            expected = f"a state made by this solver's world, {own!r}"
            raise ParameterError("state", got=state, expected=expected, hint=hint)
        self._kept["alike"] = state.world

    @explained_keywords
    def rollout(
        self,
        state: State,
        control: Control | Callable[[int, State], Control | None] | None = None,
        *,
        steps: int,
        every: int = 1,
    ) -> Trajectory:
        """Return the states of many steps.

        Args:
            control: one for all steps, or a function of the number of the step and the state, asked before every
                recorded step.
            steps: how many in all, a multiple of `every`.
            every: how many from one recorded state to the next.

        Raises:
            ShapeError, ParameterError: as for `step`; for a number of steps that is no multiple of `every`.

        Warns:
            SunkenWarning: of links that are below the ground at the end, for they have no collision shapes.
        """
        checked_steps(steps)
        checked_steps(every, "every")
        if steps % every:
            raise ParameterError("steps", got=steps, expected=f"a multiple of every={every}")
        states, now = [state.copy()], state
        for done in range(0, steps, every):
            asked = control(done, now) if callable(control) else control
            now = self.step(now, asked, steps=every)
            states.append(now)
        time, q, v, residual = (np.stack([getattr(s, name) for s in states]) for name in ("time", "q", "v", "residual"))
        warn_of_sunken(now)
        return Trajectory(time, q, v, residual, now)

    def __getstate__(self) -> dict[str, Any]:
        """Return what it is made with; what is compiled is made again from that, where it goes."""
        made = {name: value for name, value in vars(self).items() if not isinstance(value, Function)}
        made.pop("_run", None)
        return made | {"_kept": {}}

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.world.name!r}, dt={self.dt:g} s>"


class PackedRun(Protocol):
    """Takes steps of q, v, count and what is asked for; results are side by side in one row, at `places`."""

    @property
    def places(self) -> Mapping[str, Any]: ...

    def __call__(self, *arrays: Any, out: np.ndarray | None = None) -> np.ndarray: ...


class Stepper:
    """Takes steps of one world, again and again. Made by a solver's `stepper`.

    A call takes the steps and returns nothing. They begin where `q` and `v` are, and end there: these arrays stay the
    same, so they may be held, and written into. What is asked for is read from the arrays of the control it was made
    with, at every call (`control.position = target` writes into them).

    Examples:
        >>> world = cardan.robots.double_pendulum().world()
        >>> advance = cardan.solvers.Featherstone(world, dt=0.001).stepper(world.state())
        >>> for _ in range(20):
        ...     advance()
        >>> round(advance.time, 6), advance.q.shape, advance.state.q.shape
        (0.02, (2,), (1, 2))
    """

    __slots__ = ("_clock", "_found", "_given", "_next", "_row", "_run", "_state", "_steps", "_taken")

    def __init__(self, run: PackedRun, state: State, clock: Clock, asked: Sequence[np.ndarray], steps: int) -> None:
        # The state is nobody else's.
        self._run, self._state, self._clock, self._steps, self._taken = run, state, clock, steps, 0
        own = [array[0] for array in asked]
        self._row = run(state.q[0], state.v[0], clock[2][0], *own)  # of a first step: compiled, and checked
        self._next = np.empty_like(self._row)  # results are written beside the row they are made of
        starts = [at if isinstance(at, int) else at.start for _, at in run.places.values()]
        self._found = dict(zip(run.places, np.split(self._row, starts[1:]), strict=True))
        for name in FOUND:
            self._found[name][...] = getattr(state, name)[0]
        self._found["count"][...] = clock[2]
        self._given = (self._found["q"], self._found["v"], self._found["count"].reshape(()), *own)

    def __call__(self) -> None:
        if self._taken >= MOST:  # counted anew from here on, so that numbers of steps stay exact in single precision
            dt = self._clock[0].dt
            self._clock, self._taken = clock_at(*read_clock(self._now()), self._row.dtype, dt), 0
            self._found["count"][...] = 0.0
        self._run(*self._given, out=self._next)
        self._row[...] = self._next  # where a result is an argument, too, a call would copy, but slowly
        self._taken += self._steps

    @property
    def q(self) -> np.ndarray:
        """Configuration [rad, m], shape (nq,)."""
        return self._found["q"]

    @property
    def v(self) -> np.ndarray:
        """Velocity [rad/s, m/s], shape (nv,)."""
        return self._found["v"]

    @property
    def time(self) -> float:
        """Time [s]; it stands still once the world diverged."""
        return float(read_clock(self._now())[0][0])

    @property
    def diverged(self) -> bool:
        """Whether a step found no finite result: q and v are those before it."""
        return bool(read_clock(self._now())[1][0])

    @property
    def residual(self) -> float:
        """By how much velocities are wrong at most, because the solver's search ended [rad/s, m/s]."""
        return float(self._found["residual"][0])

    @property
    def state(self) -> State:
        """The state it has come to, an array of its own for everything."""
        found = {name: self._found[name].copy().reshape(getattr(self._state, name).shape) for name in FOUND}
        return state_of(self._state.world, self._now(), found, self._state.constants.copy())

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Stepper is not copied or pickled: take its state, and make another of that")

    def _now(self) -> Clock:
        since, taken, _ = self._clock
        return since, taken + self._taken, self._found["count"].copy()


def control_names(control: Control | None) -> tuple[str, ...]:
    """Return the names of what a step takes beside the state: the targets alone without a control."""
    return ("position",) if control is None else control.names


def left_out(model: Model) -> Iterator[tuple[str, str]]:
    """Yield what few steps take or none: constraints of the user's, compliance of joints."""
    for function in model.constraints:
        yield "constraint of the user", f"constraint {name_of(function)!r}"
    for c in (*model.connections, *model.closures):
        if c.compliance is not None and any(c.compliance):
            yield "compliance", f"the compliance of joint {c.name!r}"


def checked_steps(steps: Any, what: str = "steps") -> int:
    return whole(what, steps, 1)
