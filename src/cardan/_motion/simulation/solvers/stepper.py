"""Steps of one world for a loop in Python: arrays that are there already, and one call of machine code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

import numpy as np

from cardan._dynamics.call.compiled import Bound
from cardan._motion.simulation.state import FOUND, MOST, Clock, State, state_of


class Stepper:
    """Takes steps of one world, again and again; made by a solver's `stepper`.

    A call takes the steps and returns nothing. They begin where `q` and `v` are, and end there: these arrays stay the
    same, so they may be held, and written into. What is asked for is read from the arrays of the control it was made
    with, at every call (`control.position = target` writes into them).

    Args:
        run: the compiled steps, packed: of q, v, count, and what is asked for.
        state: where to begin, of one world; nobody else's.
        clock: what counts its steps.
        asked: what is asked for in each world [N m, N; rad, m; and their rates].
        steps: how many a call takes.

    Examples:
        >>> world = cardan.robots.double_pendulum().world()
        >>> advance = cardan.solvers.Featherstone(world, dt=0.001).stepper(world.state())
        >>> for _ in range(20):
        ...     advance()
        >>> round(advance.time, 6), advance.q.shape, advance.state.q.shape
        (0.02, (2,), (1, 2))
    """

    __slots__ = ("_clock", "_found", "_given", "_next", "_row", "_run", "_state", "_steps", "_taken")

    def __init__(self, run: Bound, state: State, clock: Clock, asked: Sequence[np.ndarray], steps: int) -> None:
        self._run, self._state, self._clock, self._steps, self._taken = run, state, clock, steps, 0
        own = [array[0] for array in asked]
        self._row = run(state.q[0], state.v[0], clock.good[0], *own)  # of a first step: compiled, and checked
        self._next = np.empty_like(self._row)
        starts = [at if isinstance(at, int) else at.start for _, at in run.places.values()]
        self._found = dict(zip(run.places, np.split(self._row, starts[1:]), strict=True))
        for name in FOUND:
            self._found[name][...] = getattr(state, name)[0]
        self._found["count"][...] = clock.good
        self._given = (self._found["q"], self._found["v"], self._found["count"].reshape(()), *own)

    def __call__(self) -> None:
        """Take the steps."""
        if self._taken >= MOST:
            self._begin_clock()
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
        return float(self._now().time[0])

    @property
    def diverged(self) -> bool:
        """Whether a step found no finite result: q and v are those before it."""
        return bool(self._now().diverged[0])

    @property
    def residual(self) -> float:
        """By how much velocities are wrong at most, because the solver's search ended [rad/s, m/s]."""
        return float(self._found["residual"][0])

    @property
    def state(self) -> State:
        """The state it has come to, an array of its own for everything."""
        found = [self._found[name].copy().reshape(getattr(self._state, name).shape) for name in FOUND]
        return state_of(self._state.world, self._now(), found, self._state.constants.copy())

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Stepper is not copied or pickled: take its state, and make another of that")

    def _begin_clock(self) -> None:
        """Count anew from here on, so that numbers of steps stay exact in single precision."""
        now = self._now()
        self._clock, self._taken = Clock.at(now.time, now.diverged, self._row.dtype, now.dt), 0
        self._found["count"][...] = 0.0

    def _now(self) -> Clock:
        start, lost, dt, taken, _ = self._clock
        return Clock(start, lost, dt, taken + self._taken, self._found["count"].copy())
