"""The arm that reaches: its tool is to be brought to a point and held there, by the speeds of its joints."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from cardan._dynamics.algorithms.kinematics import frame_transform
from cardan._dynamics.algorithms.rnea import gravity_forces
from cardan._motion.simulation import Control, State
from cardan._motion.simulation.builder import drive_all
from cardan._motion.simulation.solvers import Featherstone, Solver
from cardan._reach.gym.task import NO_BOUND, Start, Task, spread
from cardan._robot import shipped as robots
from cardan._robot.model import Drive

TOOL = "tool"
BEGINS = 0.3  # rad, how far from upright the joints are at first


class ArmReach(Task):
    """The 7-axis arm, its joints driven at speeds, its weight held by their motors; every goal can be reached.

    Seen: angles, velocities [rad, rad/s], the tool and from there to the goal [m], in the world. Done: the speeds of
    the joints, as shares of their limits. Earned: minus the distance from tool to goal [m] and a little of the effort.

    Args:
        damping: gains of the drives [N m s/rad].

    Examples:
        >>> environment = cardan.gym.VectorisedWorlds(cardan.gym.ArmReach, num_envs=4)
        >>> environment.reset(seed=0)[0].shape[0]
        4
    """

    horizon: ClassVar[int] = 150
    numbers: ClassVar[int] = 14
    every: ClassVar[int] = 4

    def __init__(self, damping: float = 30.0) -> None:
        world = drive_all(robots.arm7(), Drive(damping=damping)).world()
        self.solver: Solver = Featherstone(world, 0.005, contact=None)
        self.model: Any = world.model
        self.actions: int = self.model.nv
        self.highest: np.ndarray = np.full(2 * self.model.nv + 6, NO_BOUND)
        self.lowest: np.ndarray = -self.highest

    def start(self, numbers: np.ndarray) -> Start:
        first, reached = np.split(numbers, 2, axis=1)
        low, high = self.solver.world.limits.T
        q = spread(first, BEGINS)
        return Start(q, np.zeros_like(q), self._tool(low + reached * (high - low)))

    def _tool(self, q: np.ndarray) -> np.ndarray:
        """Return where the tool is [m], (..., 3)."""
        return frame_transform(self.model, q, TOOL)[..., :3, 3]

    def command(self, control: Control, state: State, actions: np.ndarray) -> None:
        control.velocity[:] = actions * self.model.velocity_upper
        control.effort[:] = gravity_forces(self.model, state.q)

    def observe(self, state: State, goal: np.ndarray) -> np.ndarray:
        tool = self._tool(state.q)
        return np.concatenate([state.q, state.v, tool, goal - tool], axis=1)

    def reward(self, state: State, goal: np.ndarray, actions: np.ndarray) -> np.ndarray:
        return -self._distance(state, goal) - 0.01 * np.square(actions).mean(axis=1)

    def _distance(self, state: State, goal: np.ndarray) -> np.ndarray:
        return np.linalg.norm(goal - self._tool(state.q), axis=1)

    def info(self, state: State, goal: np.ndarray) -> dict[str, Any]:
        return {"distance": self._distance(state, goal)}
