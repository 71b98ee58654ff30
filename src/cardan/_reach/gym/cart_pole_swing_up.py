"""The cart-pole, swung up: a pole that hangs from a cart is to stand on it, by a force on the cart alone."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from cardan._motion.simulation import Control, State
from cardan._motion.simulation.solvers import Featherstone, Solver
from cardan._reach.gym.task import NO_BOUND, Start, Task, spread
from cardan._robot import shipped as robots

_OF_REST = np.array([0.1, 0.1, 0.05, 0.05])  # reach of the start about hanging at rest: m, rad, m/s, rad/s


class CartPoleSwingUp(Task):
    """A pole of 1 m that hangs from a cart on a rail of +-2.4 m, with stops at its ends.

    Seen: position [m], cos and sin of the pole's angle (0 is upright), their velocities [m/s, rad/s]. Done: a force.
    Earned: at most 1 an action, for a pole that stands over the middle of the rail.

    Args:
        force: of the action 1 [N].

    Examples:
        >>> environment = cardan.gym.VectorisedWorlds(cardan.gym.CartPoleSwingUp, num_envs=4)
        >>> environment.reset(seed=0)[0].shape
        (4, 5)
    """

    horizon: ClassVar[int] = 500
    numbers: ClassVar[int] = 4
    every: ClassVar[int] = 2

    def __init__(self, force: float = 10.0) -> None:
        self.force: float = float(force)
        self.actions: int = 1
        self.highest: np.ndarray = np.array([NO_BOUND, 1.0, 1.0, NO_BOUND, NO_BOUND])
        self.lowest: np.ndarray = -self.highest
        self.solver: Solver = Featherstone(robots.cart_pole().world(), 0.01, contact=None)
        self.track: float = float(self.solver.world.limits[0, 1])

    def start(self, numbers: np.ndarray) -> Start:
        about = spread(numbers, _OF_REST)
        return Start(about[:, :2] + [0.0, np.pi], about[:, 2:], np.empty((len(numbers), 0)))

    def command(self, control: Control, state: State, actions: np.ndarray) -> None:
        control.effort[:, :1] = self.force * actions

    def observe(self, state: State, goal: np.ndarray) -> np.ndarray:
        position, angle = state.q.T
        return np.column_stack([position, np.cos(angle), np.sin(angle), state.v])

    def reward(self, state: State, goal: np.ndarray, actions: np.ndarray) -> np.ndarray:
        position, angle = state.q.T
        upright = 0.5 * (1.0 + np.cos(angle))
        centred = 1.0 - 0.5 * np.minimum(1.0, (position / self.track) ** 2)
        slow = 1.0 / (1.0 + (state.v[:, 1] / 5.0) ** 2)  # a pole that goes round and round earns little
        return upright * centred * slow
