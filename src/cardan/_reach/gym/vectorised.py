"""Many worlds as one environment of Gymnasium: a batch of actions is one call of the solver."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import index
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from cardan._algebra.checked_numbers import whole
from cardan._algebra.errors import ParameterError, ShapeError
from cardan._motion.simulation import Control, State
from cardan._motion.simulation.state import SAVED
from cardan._reach.gym.rendering import Camera
from cardan._reach.gym.tasks import Task

Results = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]


class VectorisedWorlds(VectorEnv):
    """A task in many worlds.

    World k of a reset with seed s begins as world 0 does with seed s + k, and each of its later episodes follows from
    that seed and the episode's number alone: results are the same, bit for bit, for any number of threads and for any
    split of the worlds over environments.

    A world that the solver cannot move on (an action that is not a number) ends its episode, earns 0 for it, and is
    flagged by `info["diverged"]`; the others go on.

    Args:
        task: one, or what makes one.
        num_envs: how many worlds.
        max_episode_steps: actions in an episode, after which it is truncated; None for no end.
        dtype: of the simulation and the observations: "float64" or "float32".
        autoreset_mode: when a world begins its next episode after one has ended: `"NextStep"` (the next action is
            taken for naught), `"SameStep"` (`info["final_obs"]` holds the last of the old one) or `"Disabled"`.
        render_mode: None, or `"rgb_array"`: `render` draws each world (extra `plot`).
        options: arguments of what makes the task.

    Examples:
        >>> environment = cardan.gym.VectorisedWorlds(cardan.gym.CartPoleSwingUp, num_envs=4)
        >>> observations, infos = environment.reset(seed=0)
        >>> environment.step(np.zeros((4, 1)))[1].shape
        (4,)
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012
    modes: ClassVar[tuple[str, ...]] = tuple(mode.value for mode in AutoresetMode)

    def __init__(
        self,
        task: Task | Callable[..., Task],
        num_envs: int = 1,
        *,
        max_episode_steps: int | None = None,
        dtype: str = "float64",
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        if render_mode not in (None, "rgb_array"):
            raise ParameterError("render_mode", got=render_mode, expected='"rgb_array" or None')
        self.render_mode = render_mode
        self.task: Task = task if isinstance(task, Task) else task(**options)
        try:
            self.autoreset_mode: AutoresetMode = AutoresetMode(autoreset_mode)
        except ValueError:
            expected = " or ".join(self.modes)
            raise ParameterError("autoreset_mode", got=autoreset_mode, expected=expected) from None
        self.metadata = {**type(self).metadata, "autoreset_mode": self.autoreset_mode}
        self.metadata["render_fps"] = round(1.0 / (self.task.every * self.task.solver.dt))
        self.num_envs = whole("num_envs", num_envs, 1)
        self.max_episode_steps = None if max_episode_steps is None else whole("max_episode_steps", max_episode_steps, 1)
        world = self.task.solver.world
        self._camera = Camera(world.model)
        self.state: State = world.state(num_envs, dtype)
        self._control: Control = world.control(num_envs, dtype)
        kind = self.state.dtype.type
        bounds = self.task.lowest.astype(kind), self.task.highest.astype(kind)
        self.single_observation_space: spaces.Space[Any] = spaces.Box(*bounds, dtype=kind)
        self.single_action_space: spaces.Space[Any] = spaces.Box(-1.0, 1.0, (self.task.actions,), kind)
        self.observation_space: spaces.Space[Any] = batch_space(self.single_observation_space, num_envs)
        self.action_space: spaces.Space[Any] = batch_space(self.single_action_space, num_envs)
        # What each world's episode is begun with: its seed, and the number of the next one, 0 at a reset with a seed.
        self._seeds: np.ndarray | None = None
        self._episodes = np.zeros(num_envs, np.uint64)
        self._elapsed = np.zeros(num_envs, int)
        self._ended = np.zeros(num_envs, bool)
        self._goal = np.empty((num_envs, 0))

    # --- the interface of Gymnasium ---

    def reset(
        self, *, seed: int | Sequence[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin new episodes and return the observations and infos.

        Args:
            seed: of world 0; that of world k is k more. Or one for each world. Without one, worlds go on to the next
                episode of their seeds.
            options: `"reset_mask"`, shape (worlds,) of bool: the worlds to reset; by default all.
        """
        given = None if seed is None else _seeds_of(seed, self.num_envs)
        super().reset(seed=None if given is None else given[0])
        mask = (options or {}).get("reset_mask")
        rows = np.ones(self.num_envs, bool) if mask is None else np.asarray(mask)
        if rows.dtype != bool or rows.shape != (self.num_envs,):
            raise ParameterError("reset_mask", got=mask, expected=f"an array of bool of shape ({self.num_envs},)")
        if given is not None or self._seeds is None:
            seeds = _seeds_of(int(self.np_random.integers(2**62)), self.num_envs) if given is None else given
            before = np.zeros(self.num_envs, np.uint64) if self._seeds is None else self._seeds
            self._seeds = np.where(rows, np.array(seeds, np.uint64), before)
            self._episodes[rows] = 0
        self._begin(rows)
        return self._observations(), self._infos()

    def step(self, actions: Any) -> Results:
        """Take an action in every world and return observations, rewards, terminations, truncations and infos."""
        taken = self._checked(actions)
        again = self._ended.copy()
        self.task.command(self._control, self.state, taken)
        self.task.solver.step(self.state, self._control, steps=self.task.every, out=self.state)
        rewards = np.where(self.state.diverged, 0.0, self.task.reward(self.state, self._goal, taken))
        self._elapsed += 1
        terminated = self.state.diverged | self.task.failed(self.state)
        late = self._elapsed >= (np.inf if self.max_episode_steps is None else self.max_episode_steps)
        if again.any():  # NEXT_STEP: for these the action is for naught
            self._begin(again)
            rewards[again], terminated[again], late[again] = 0.0, False, False
        self._ended = terminated | late
        return self._results(rewards.astype(float), terminated, late)

    def render(self) -> tuple[np.ndarray, ...]:
        """Return a picture of each world, (480, 480, 3) of uint8, the robot in the middle.

        Raises:
            ParameterError: for environments that were made without `render_mode="rgb_array"`.
            MissingExtraError: without matplotlib.
        """
        if self.render_mode is None:
            expected = 'an environment made with render_mode="rgb_array"'
            raise ParameterError("render", got="one made without render_mode", expected=expected)
        return tuple(self._camera.picture(q) for q in self.state.q)

    # --- episodes ---

    def _begin(self, rows: np.ndarray) -> None:
        assert self._seeds is not None
        numbers = uniform(self._seeds[rows], self._episodes[rows], self.task.numbers)
        start = self.task.start(numbers)
        # Not world.state, which looks how deep shapes begin: on terrain that took most of the time of a step.
        fresh = State(self.task.solver.world, len(numbers), self.state.dtype, start.q, start.v)
        for name in SAVED:
            getattr(self.state, name)[rows] = getattr(fresh, name)
        if self.state.kept_impulses is not None:
            self.state.kept_impulses = self.state.kept_impulses.without(rows)
        if self._goal.shape[1:] != start.goal.shape[1:]:
            self._goal = np.zeros((self.num_envs, *start.goal.shape[1:]))
        self._goal[rows] = start.goal
        self._elapsed[rows], self._ended[rows] = 0, False
        self._episodes[rows] += np.uint64(1)

    # --- steps ---

    def _checked(self, actions: Any) -> np.ndarray:
        if self._seeds is None:
            raise ParameterError("step", got="a step before the first reset", expected="reset() first")
        if self.autoreset_mode == AutoresetMode.DISABLED and self._ended.any():
            got = f"episodes that ended in worlds {np.flatnonzero(self._ended)[:6].tolist()}"
            raise ParameterError("step", got=got, expected='reset() first, or reset(options={"reset_mask": ...})')
        array = np.asarray(actions, self.state.dtype)
        if array.shape != self.action_space.shape:
            raise ShapeError("step", "actions", got=array.shape, expected=str(self.action_space.shape))
        return np.clip(array, -1.0, 1.0)

    def _results(self, rewards: np.ndarray, terminated: np.ndarray, truncated: np.ndarray) -> Results:
        """Return what a step has led to; with SAME_STEP, what it led to in worlds that begin again is in the infos."""
        seen, infos = self._observations(), self._infos()
        if self.autoreset_mode == AutoresetMode.SAME_STEP and self._ended.any():
            ended = self._ended.copy()
            final = {name: array.copy() for name, array in infos.items()}
            last = {"final_obs": seen, "_final_obs": ended, "final_info": final, "_final_info": ended}
            self._begin(ended)
            seen, infos = self._observations(), {**self._infos(), **last}
        return seen, rewards, terminated, truncated, infos

    def _observations(self) -> np.ndarray:
        return self.task.observe(self.state, self._goal).astype(self.state.dtype, copy=False)

    def _infos(self) -> dict[str, Any]:
        """Return infos as Gymnasium has them: an array a name, and, after `_`, in which worlds it says something."""
        infos = {"diverged": self.state.diverged.copy(), **self.task.info(self.state, self._goal)}
        return infos | {f"_{name}": np.ones(self.num_envs, bool) for name in infos}


# --- random numbers of many worlds at once, each from its own seed: a hash of seed, episode and place ---
# Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (2014), the generator SplitMix64.

_GAMMA = np.uint64(0x9E3779B97F4A7C15)  # the odd number nearest to 2^64 over the golden ratio


def uniform(seeds: np.ndarray, episodes: np.ndarray, count: int) -> np.ndarray:
    """Return numbers that are uniform in [0, 1), multiples of 2^-53, shape (rows, count).

    They are the same for the same seed and episode, (rows,) of uint64 each, whatever the other rows are.
    """
    begun = mixed(mixed(seeds) + episodes)
    numbers = mixed(begun[:, None] + _GAMMA * np.arange(1, count + 1, dtype=np.uint64))
    return (numbers >> np.uint64(11)) * 2.0**-53


def mixed(z: np.ndarray) -> np.ndarray:
    """Return the bits of each number well mixed; no two numbers become one."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


# --- one world: the vectorised environment with one row ---


class SingleWorld(gymnasium.Env):
    """A task in one world: world 0 of `VectorisedWorlds` with the same seed, bit for bit.

    Args:
        task: one, or what makes one.
        render_mode: None, or `"rgb_array"`, as for `VectorisedWorlds`.
        options: `dtype`, and arguments of what makes the task; see `VectorisedWorlds`.

    Examples:
        >>> environment = cardan.gym.SingleWorld(cardan.gym.CartPoleSwingUp)
        >>> environment.reset(seed=0)[0].shape
        (5,)
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"]}  # noqa: RUF012

    def __init__(self, task: Task | Callable[..., Task], *, render_mode: str | None = None, **options: Any) -> None:
        disabled = AutoresetMode.DISABLED
        self.worlds: VectorisedWorlds = VectorisedWorlds(
            task, 1, autoreset_mode=disabled, render_mode=render_mode, **options
        )
        self.render_mode = render_mode
        self.metadata = {**type(self).metadata, "render_fps": self.worlds.metadata["render_fps"]}
        self.observation_space: spaces.Space[Any] = self.worlds.single_observation_space
        self.action_space: spaces.Space[Any] = self.worlds.single_action_space

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

    def render(self) -> np.ndarray:
        """Return a picture, as `VectorisedWorlds.render`."""
        return self.worlds.render()[0]


def _first(infos: dict[str, Any]) -> dict[str, Any]:
    return {name: values[0].item() for name, values in infos.items() if not name.startswith("_")}


def _seeds_of(seed: Any, count: int) -> list[int]:
    """Return the seed of each world from that of the first, or from those of all."""
    try:
        seeds = [index(seed) + k for k in range(count)] if np.ndim(seed) == 0 else [index(s) for s in seed]
    except TypeError:
        seeds = []
    if len(seeds) != count or not all(0 <= s < 2**64 for s in seeds):
        raise ParameterError("seed", got=seed, expected=f"a whole number in [0, 2^64), or {count} of them")
    return seeds
