"""What a task is, and those that ship: a quadruped walks, an arm reaches, a cart-pole swings up."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from cardan._algebra.checked_numbers import whole
from cardan._dynamics.algorithms.kinematics import frame_transform
from cardan._dynamics.algorithms.rnea import gravity_forces
from cardan._motion.simulation import Control, State, raycast
from cardan._motion.simulation.builder import drive_all
from cardan._motion.simulation.solvers import Featherstone, Solver
from cardan._robot import shipped as robots
from cardan._robot.description import HeightField, Shape
from cardan._robot.model import WORLD, Drive
from cardan._robot.shipped.robots import LEGS


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

TRUNK = "trunk"
STANCE = np.tile([0.0, 0.7, -1.4], len(LEGS))  # rad: hip, thigh and shank of each leg, feet under the thighs' joints
FOOT = 0.02  # m, radius of the feet
STROKE = 0.5  # rad, how far from the stance an action of 1 tells a joint to go
LOW, TILTED = 0.18, 0.5  # m, and the cosine of an inclination, beyond which it has fallen
FASTEST = 1.0  # m/s that are rewarded
ABOVE = 2.0  # m above the trunk, from where a scan looks down: no terrain it stands on is higher
SCAN = tuple((x, y) for x in (0.0, 0.2, 0.4) for y in (-0.15, 0.15))  # m from the trunk: between the feet, and ahead
BUMPS, CELL, CELLS = 0.06, 0.1, 160  # m, m and their number along a side of random terrain


def bumps(seed: int) -> Shape:
    """Return random terrain about the origin of the world, each height the mean over nine cells."""
    n = CELLS
    h = np.random.default_rng(whole("terrain_seed", seed, 0)).uniform(size=(n + 2, n + 2))
    h = np.mean([h[i : i + n, j : j + n] for i in range(3) for j in range(3)], axis=0)
    h = BUMPS * (h - h.min()) / np.ptp(h)
    return Shape(WORLD, "collision", HeightField(h, size=(n * CELL, n * CELL), thickness=0.2))


class QuadrupedWalk(Task):
    """The 12-joint quadruped on its four feet, its joints driven to angles, on flat ground or on terrain.

    Seen: height of the trunk [m], the vertical in its axes, its twist in its axes [m/s, rad/s], the joints' angles from
    the stance and velocities [rad, rad/s]; if asked for, a height scan [m]. Done: the angles the drives go to, as
    shares of a stroke about the stance. Earned: speed in x [m/s], at most 1, and a half for being up, less a little of
    the strokes. It ends in a fall.

    Args:
        stiffness: gains of the drives [N m/rad].
        damping: [N m s/rad].
        terrain: collision shapes of `"world"` beside the flat ground; the feet begin near its origin.
        terrain_seed: of random bumps up to 6 cm high, on 16 m by 16 m, in which feet may begin 2 cm deep; by default
            there are none.
        scan: places at which the trunk's height above the terrain is seen [m], x and y from the trunk, turning with its
            heading: shape (n, 2); none by default.

    Examples:
        >>> cardan.gym.QuadrupedWalk().horizon > 0
        True
        >>> cardan.gym.QuadrupedWalk(scan=[(0.3, 0.0), (0.6, 0.0)]).highest.shape
        (36,)
    """

    horizon: ClassVar[int] = 500
    numbers: ClassVar[int] = 12
    every: ClassVar[int] = 4

    def __init__(
        self,
        stiffness: float = 60.0,
        damping: float = 1.5,
        *,
        terrain: Sequence[Shape] = (),
        terrain_seed: int | None = None,
        scan: Any = (),
    ) -> None:
        robot = drive_all(robots.quadruped(), Drive(stiffness, damping))
        for shape in (*terrain, *([] if terrain_seed is None else [bumps(terrain_seed)])):
            robot.add_shape(shape)
        places = np.array(scan, float).reshape(-1, 2)
        self.scan: np.ndarray = np.column_stack([places, np.full(len(places), ABOVE)])
        # Feet alone touch, which takes less time: a fall ends the episode.
        world = robot.world("floating", ground=True).with_contacts("*_foot")
        self.solver: Solver = Featherstone(world, 0.005)
        self.model: Any = world.model
        self.actions: int = len(STANCE)
        vertical, rest = np.ones(3), np.full(6 + 2 * len(STANCE) + len(places), NO_BOUND)
        self.highest: np.ndarray = np.concatenate([[NO_BOUND], vertical, rest])
        self.lowest: np.ndarray = -self.highest
        foot = frame_transform(self.model, np.concatenate([self.model.neutral()[:7], STANCE]), "front_left_foot")
        # Of the trunk [m], at which the feet touch the ground in the stance.
        self.height: float = FOOT - float(foot[2, 3])

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
        own = [state.q[:, 2:3], vertical, state.v[:, :6], state.q[:, 7:] - STANCE, state.v[:, 6:]]
        return np.concatenate([*own, self._heights(state)], axis=1)

    def _heights(self, state: State) -> np.ndarray:
        """Return the height of the trunk above the terrain at the places of the scan [m]."""
        o, d = self.scan.astype(state.dtype), np.array([0.0, 0.0, -1.0], state.dtype)
        return raycast(self.solver.world, state, o, d, body=TRUNK, yaw_only=True, bodies=WORLD).distance - ABOVE

    def reward(self, state: State, goal: np.ndarray, actions: np.ndarray) -> np.ndarray:
        return 0.5 + np.clip(self._speed(state), -FASTEST, FASTEST) - 0.05 * np.square(actions).mean(axis=1)

    def failed(self, state: State) -> np.ndarray:
        return (state.q[:, 2] < LOW) | (self._rotation(state)[:, 2, 2] < TILTED)

    def info(self, state: State, goal: np.ndarray) -> dict[str, Any]:
        return {"speed": self._speed(state)}


# --- the arm: its tool is to be brought to a point and held there, by the speeds of its joints ---

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


# --- the cart-pole: a pole that hangs from a cart is to stand on it, by a force on the cart alone ---

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
