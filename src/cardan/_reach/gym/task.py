"""What a task is: a world, how an episode begins, what is seen, done and rewarded. The one abstract page."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np

from cardan._motion.simulation import Control, State
from cardan._motion.simulation.solvers import Solver


class Start(NamedTuple):
    """How episodes begin, a row each.

    Attributes:
        q: configurations [rad, m], (rows, nq).
        v: velocities [rad/s, m/s], (rows, nv).
        goal: [by task] what the episodes ask for, (rows, any); of no column where it is always the same.

    Examples:
        >>> start = cardan.gym.CartPoleSwingUp().start(np.full((4, cardan.gym.CartPoleSwingUp.numbers), 0.5))
        >>> start.q.shape
        (4, 2)
    """

    q: np.ndarray
    v: np.ndarray
    goal: np.ndarray


class Task(ABC):
    """A task in many worlds: pure functions of arrays whose first axis counts the worlds.

    Every world is by itself: row k of a result depends on row k of the arguments alone. That makes results the same
    for any split of the worlds.

    Throughout:
        numbers: uniform in [0, 1), shape (rows, `numbers`).
        control: what to write into.
        state: of all worlds.
        actions: shape (worlds, `actions`) [-].
        goal: what the episodes ask for, shape (worlds, any) [by task], as `Start.goal`.

    Examples:
        >>> task = cardan.gym.CartPoleSwingUp()
        >>> world = task.solver.world
        >>> state, control, actions = world.state(4), world.control(4), np.zeros((4, task.actions))
        >>> goal = task.start(np.full((4, task.numbers), 0.5)).goal
        >>> task.command(control, state, actions)
        >>> task.observe(state, goal).shape, task.reward(state, goal, actions).shape
        ((4, 5), (4,))
        >>> task.failed(state).shape, task.info(state, goal)
        ((4,), {})
    """

    horizon: ClassVar[int]
    """How many actions an episode has, unless it is told otherwise."""
    numbers: ClassVar[int]
    """How many random numbers an episode's start is made of."""
    every: ClassVar[int]
    """How many steps of the solver one action lasts."""
    actions: int
    """How many numbers an action has, each in [-1, 1]."""
    lowest: np.ndarray
    """The smallest observation, shape (n,)."""
    highest: np.ndarray
    """The largest observation, shape (n,)."""
    solver: Solver
    """What moves the worlds."""

    @abstractmethod
    def start(self, numbers: np.ndarray) -> Start:
        """Return how episodes begin, of numbers that are uniform in [0, 1), shape (rows, `numbers`)."""

    @abstractmethod
    def command(self, control: Control, state: State, actions: np.ndarray) -> None:
        """Write actions (worlds, `actions`) into the control; those of [-1, 1] arrive here, or NaN."""

    @abstractmethod
    def observe(self, state: State, goal: np.ndarray) -> np.ndarray:
        """Return what is seen, (worlds, n) [by task]: a new array."""

    @abstractmethod
    def reward(self, state: State, goal: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """Return what is earned by actions that led to a state, (worlds,) [-]."""

    def failed(self, state: State) -> np.ndarray:
        """Return in which worlds the episode has come to a bad end, (worlds,) [-]: by default in none."""
        return np.zeros(len(state), bool)

    def info(self, state: State, goal: np.ndarray) -> dict[str, Any]:
        """Return more about the state, arrays (worlds, ...) by name: by default nothing."""
        return {}


def spread(numbers: np.ndarray, reach: Any) -> np.ndarray:
    """Return numbers that are uniform in [0, 1) as such in [-reach, reach)."""
    return (2.0 * numbers - 1.0) * reach


NO_BOUND = np.inf  # the bound of what no law of nature bounds: a velocity, a position beyond a stop that gives way
