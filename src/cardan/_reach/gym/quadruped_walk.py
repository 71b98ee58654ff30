"""The quadruped that walks: forward, by where its joints are told to go."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from cardan._dynamics.algorithms.kinematics import frame_transform
from cardan._motion.simulation import Control, State
from cardan._motion.simulation.builder import drive_all
from cardan._motion.simulation.solvers import Featherstone, Solver
from cardan._reach.gym.task import NO_BOUND, Start, Task, spread
from cardan._robot import shipped as robots
from cardan._robot.model import Drive
from cardan._robot.shipped.robots import LEGS

TRUNK = "trunk"
STANCE = np.tile([0.0, 0.7, -1.4], len(LEGS))  # rad: hip, thigh and shank of each leg, feet under the thighs' joints
FOOT = 0.02  # m, radius of the feet, which alone touch the ground
STROKE = 0.5  # rad, how far from the stance an action of 1 tells a joint to go
LOW, TILTED = 0.18, 0.5  # m, and the cosine of an inclination, beyond which it has fallen
FASTEST = 1.0  # m/s that are rewarded


class QuadrupedWalk(Task):
    """The 12-joint quadruped on its four feet, its joints driven to angles, on flat ground.

    Seen: height of the trunk [m], the vertical in its axes, its twist in its axes [m/s, rad/s], the joints' angles from
    the stance and velocities [rad, rad/s]. Done: the angles the drives go to, as shares of a stroke about the stance.
    Earned: speed in x [m/s], at most 1, and a half for being up, less a little of the strokes. It ends in a fall.

    Args:
        stiffness: gains of the drives [N m/rad].
        damping: [N m s/rad].

    Examples:
        >>> cardan.gym.QuadrupedWalk().horizon > 0
        True
    """

    horizon: ClassVar[int] = 500
    numbers: ClassVar[int] = 12
    every: ClassVar[int] = 4

    def __init__(self, stiffness: float = 60.0, damping: float = 1.5) -> None:
        robot = drive_all(robots.quadruped(), Drive(stiffness, damping))
        world = robot.world("floating", ground=True, self_collision=False)
        self.solver: Solver = Featherstone(world, 0.005)
        self.model: Any = world.model
        self.actions: int = len(STANCE)
        vertical, rest = np.ones(3), np.full(6 + 2 * len(STANCE), NO_BOUND)
        self.highest: np.ndarray = np.concatenate([[NO_BOUND], vertical, rest])
        self.lowest: np.ndarray = -self.highest
        foot = frame_transform(self.model, np.concatenate([self.model.neutral()[:7], STANCE]), "front_left_foot")
        self.height: float = FOOT - float(
            foot[2, 3]
        )  # of the trunk [m], at which the feet touch the ground in the stance

    def start(self, numbers: np.ndarray) -> Start:
        q = np.tile(np.concatenate([self.model.neutral()[:7], STANCE]), (len(numbers), 1))
        q[:, 2] = self.height + 0.02  # m, so that no foot begins in the ground
        q[:, 7:] += spread(numbers, 0.05)
        return Start(q, np.zeros((len(q), self.model.nv)), np.empty((len(q), 0)))

    def command(self, control: Control, state: State, actions: np.ndarray) -> None:
        control.position[:, 6:] = STANCE + STROKE * actions

    def _rotation(self, state: State) -> np.ndarray:
        return frame_transform(self.model, state.q, TRUNK)[:, :3, :3]

    def _speed(self, state: State) -> np.ndarray:
        """Return the velocity of the trunk in x [m/s]."""
        return (self._rotation(state)[:, 0] * state.v[:, :3]).sum(axis=1)

    def observe(self, state: State, goal: np.ndarray) -> np.ndarray:
        vertical = np.clip(self._rotation(state)[:, 2], -1.0, 1.0)
        return np.concatenate([state.q[:, 2:3], vertical, state.v[:, :6], state.q[:, 7:] - STANCE, state.v[:, 6:]], 1)

    def reward(self, state: State, goal: np.ndarray, actions: np.ndarray) -> np.ndarray:
        return 0.5 + np.clip(self._speed(state), -FASTEST, FASTEST) - 0.05 * np.square(actions).mean(axis=1)

    def failed(self, state: State) -> np.ndarray:
        return (state.q[:, 2] < LOW) | (self._rotation(state)[:, 2, 2] < TILTED)

    def info(self, state: State, goal: np.ndarray) -> dict[str, Any]:
        return {"speed": self._speed(state)}
