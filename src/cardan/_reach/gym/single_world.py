"""One world as an environment of Gymnasium: the vectorised one, with one row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode

from cardan._reach.gym.task import Task
from cardan._reach.gym.vectorised import VectorisedWorlds


class SingleWorld(gymnasium.Env):
    """A task in one world: world 0 of `VectorisedWorlds` with the same seed, bit for bit.

    Args:
        task: one, or what makes one.
        options: `dtype`, and arguments of what makes the task; see `VectorisedWorlds`.

    Examples:
        >>> environment = cardan.gym.SingleWorld(cardan.gym.CartPoleSwingUp)
        >>> environment.reset(seed=0)[0].shape
        (5,)
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012

    def __init__(self, task: Task | Callable[..., Task], **options: Any) -> None:
        self.worlds = VectorisedWorlds(task, 1, autoreset_mode=AutoresetMode.DISABLED, **options)
        self.observation_space = self.worlds.single_observation_space
        self.action_space = self.worlds.single_action_space

    @property
    def state(self) -> Any:
        """The state of the one world."""
        return self.worlds.state

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin an episode and return the observation and info."""
        super().reset(seed=seed)
        observations, infos = self.worlds.reset(seed=seed)
        return observations[0], _first(infos)

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Take an action and return observation, reward, terminated, truncated and info."""
        seen, rewards, terminated, truncated, infos = self.worlds.step(np.asarray(action)[None])
        return seen[0], float(rewards[0]), bool(terminated[0]), bool(truncated[0]), _first(infos)


def _first(infos: dict[str, Any]) -> dict[str, Any]:
    return {name: values[0].item() for name, values in infos.items() if not name.startswith("_")}
