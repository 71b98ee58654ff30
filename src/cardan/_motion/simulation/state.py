"""The state of many worlds: coordinates and velocities; poses and twists of the links follow from them when read."""

from __future__ import annotations

import io
import math
import os
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from cardan._algebra.checked_numbers import whole
from cardan._algebra.errors import DescriptionError, Fault, ParameterError, ShapeError
from cardan._algebra.explained import Explained
from cardan._algebra.scalar import is_finite
from cardan._compiler.runtime.staging import write_whole
from cardan._dynamics.algorithms.health import BEYOND
from cardan._dynamics.algorithms.maximal import MaximalState
from cardan._dynamics.call.arguments import check_configuration, numeric_array
from cardan._dynamics.coordinates import conventions
from cardan._motion.crowd.kept import NAMES as IMPULSES
from cardan._motion.crowd.kept import KeptImpulses
from cardan._motion.simulation.arrays import Constants, checked_dtype, filled, fitting
from cardan._motion.simulation.links import backwards, body_poses, forwards, mass_center_twists, twists_of_mass_centers
from cardan._motion.simulation.world_contents import WorldContents
from cardan._robot.model import Model
from cardan._robot.model.annotations import Annotations

REACH = 1e-6
"""How far links may be from where they are put, relative to the size of what is written [m, rad]; see `State.poses`."""

DAMAGED = (ValueError, TypeError, AttributeError, EOFError, KeyError, OSError, NotImplementedError, MemoryError)
DAMAGED += (zipfile.BadZipFile, zlib.error)
"""What NumPy and zipfile raise for a file that is no archive of arrays, or a damaged one."""

SOON = 0.01
"""How far ahead of a world that stopped a cluster is looked at [s]: a step is hardly longer."""

FOUND = ("q", "v", "warm", "residual")
"""The arrays of a state that come from a solver as they are."""

SAVED = ("q", "v", "time", "warm", "residual", "diverged")

MOST = 2**20
"""Steps counted from one beginning: so many, and far more in one call, are exact in single precision."""


class Since(NamedTuple):
    """Where steps of length dt [s] are counted from; states that come of one another share it, and nobody writes it."""

    time: np.ndarray  # then, but for the steps before [s], shape (worlds,)
    diverged: np.ndarray  # which worlds had diverged by then, likewise
    before: np.ndarray  # how many steps of this length had been taken by then, likewise
    dt: float  # 0 before any are counted


Clock = tuple[Since, int, np.ndarray]
"""Since when steps are counted, how many were to be taken since, and how many of them were good, of the state's dtype.

A compiled step counts on from the last. A named tuple of these would take as long to make as a step's three arrays.
"""


def clock_at(time: np.ndarray, diverged: np.ndarray, dtype: np.dtype, dt: float = 0.0) -> Clock:
    """Return the clock that begins at a time [s]; the arrays become its own.

    A time of whole steps counts on from zero. So it is the same to the last bit, whoever reads or saves it between.
    """
    before = np.zeros(len(time))
    if dt:
        steps = np.rint(time / dt)
        before = steps * (steps * dt == time)
        time = time - before * dt
    return Since(time, diverged, before, dt), 0, np.zeros(len(time), dtype)


def read_clock(clock: Clock) -> tuple[np.ndarray, np.ndarray]:
    """Return time [s] and divergence of each world: arrays of their own."""
    since, taken, good = clock
    return since.time + (since.before + good) * since.dt, since.diverged | (good < taken)


class State(Explained):
    """Configurations and velocities of a number of worlds, and the time in each. Made by `World.state()`.

    The arrays are the state's own: what is assigned is copied into them, and they can be written in place. Poses and
    twists are computed at each read, so that they are never out of date; assigning them writes q and v.

    Attributes:
        world: what it is a state of.
        kept_impulses: at the contacts of the last step of many bodies, with which the next one begins, and who is at
            rest; None for none.

    Examples:
        >>> state = cardan.robots.arm7().world().state(worlds=4)
        >>> state.q[:, 0] = 0.1
        >>> state.q.shape, state.poses.shape, state.newton()[1].shape, state.newton_joints()[0].shape
        ((4, 7), (4, 7, 7), (4, 7, 6), (4, 7))
        >>> state.divergences(), state.copy() == state
        ([], True)
        >>> body_q, body_qd = state.newton()
        >>> again = cardan.State.from_newton(state.world, body_q=body_q, body_qd=body_qd)
        >>> bool(np.allclose(again.q, state.q))
        True
        >>> state.save("state.npz")
        >>> cardan.State.load(state.world, "state.npz") == state
        True
    """

    __slots__ = ("_clock", "_constants", "_q", "_residual", "_shown", "_v", "_warm", "kept_impulses", "world")

    def __init__(
        self,
        world: WorldContents,
        worlds: int = 1,
        dtype: Any = "float64",
        q: Any = None,
        v: Any = None,
        constants: Any = None,
    ) -> None:
        count, kind, model = whole("number of worlds", worlds, 0), checked_dtype(dtype), world.model
        self.world: WorldContents = world
        self._q, self._v = np.empty((count, model.nq), kind), np.empty((count, model.nv), kind)
        self._warm, self._residual = np.zeros((count, model.nv), kind), np.zeros(count, kind)
        self._clock: Clock = clock_at(np.zeros(count), np.zeros(count, bool), kind)
        self._shown: tuple[np.ndarray, np.ndarray] | None = None
        self.kept_impulses: KeptImpulses | None = None
        self.q = world.initial if q is None else q  # by the setter, which checks what is given
        self.v = world.initial_velocity if v is None else v
        own = world.constants()
        spread = {name: np.array(np.broadcast_to(e, (count, *e.shape)), kind, order="C") for name, e in own.items()}
        self._constants = Constants(world.model, spread)
        self._constants.update_all(constants or {})  # together: limits are checked against one another

    @property
    def worlds(self) -> int:
        """How many worlds."""
        return len(self._q)

    @property
    def dtype(self) -> np.dtype:
        """float64 or float32."""
        return self._q.dtype

    def __len__(self) -> int:
        return len(self._q)

    @property
    def q(self) -> np.ndarray:
        """Configurations [rad, m], shape (worlds, nq)."""
        return self._q

    @q.setter
    def q(self, value: Any) -> None:
        array = filled("state", "q", value, self._q)
        check_configuration("state", "q", array, self.world.model.unit_parts)
        self._q[...] = array

    @property
    def v(self) -> np.ndarray:
        """Velocities [rad/s, m/s], shape (worlds, nv)."""
        return self._v

    @v.setter
    def v(self, value: Any) -> None:
        self._v[...] = fitting("state", "v", value, self._v)

    @property
    def time(self) -> np.ndarray:
        """Time in each world [s], shape (worlds,)."""
        return self._show()[0]

    @time.setter
    def time(self, value: Any) -> None:
        self.time[...] = fitting("state", "time", value, self.time)

    @property
    def warm(self) -> np.ndarray:
        """Accelerations of the last step, with which MuJoCo begins its next search, (worlds, nv) [rad/s^2, m/s^2]."""
        return self._warm

    @warm.setter
    def warm(self, value: Any) -> None:
        self._warm[...] = fitting("state", "warm", value, self._warm)

    @property
    def residual(self) -> np.ndarray:
        """By how much velocities are wrong at most, because a solver's search ended [rad/s, m/s], shape (worlds,).

        Of clusters, too, because a step is long beside the way to a toggle, and of loops that are open where a step
        begins: gaps over its length, but for what steps so fast leave.
        """
        return self._residual

    @residual.setter
    def residual(self, value: Any) -> None:
        self._residual[...] = fitting("state", "residual", value, self._residual)

    @property
    def diverged(self) -> np.ndarray:
        """Whether a solver found no finite result [-], shape (worlds,)."""
        return self._show()[1]  # who clears a flag lets that world go on

    @diverged.setter
    def diverged(self, value: Any) -> None:
        self.diverged[...] = np.asarray(value, dtype=bool)

    @property
    def model_constants(self) -> dict[str, np.ndarray]:
        """Those of `constants` that are inputs of the model, as its functions take them [in units of theirs]."""
        return {name: self._constants[name] for name in self.world.model.inputs}

    @property
    def constants(self) -> Constants:
        """Values of the model's inputs, arrays of shape (worlds, ...) by name; see `World.with_inputs`."""
        return self._constants

    @property
    def poses(self) -> np.ndarray:
        """Poses of `world.links`, shape (worlds, links, 7): position [m] and quaternion xyzw, in the world.

        Assigning writes q, that nearest to the present one; v stays. It is an error (`ReachError`'s kind) if the joints
        cannot bring the links there. The array is read-only: change a copy, and assign that.
        """
        return self._forwards()[0]

    @poses.setter
    def poses(self, value: Any) -> None:
        poses, twists = self._links(value, 7, "poses"), np.zeros((len(self), len(self.world.links), 6), self.dtype)
        q, _, residual = backwards(self.world.model, poses, twists, self._q, self.model_constants)
        self._check_reached("poses", residual[..., :6], np.abs(poses).max(initial=1.0))
        self._q[...] = q

    @property
    def twists(self) -> np.ndarray:
        """Twists of `world.links` [m/s, rad/s], shape (worlds, links, 6): linear, angular; each in its own axes.

        Assigning writes v. It is an error if the joints cannot move so. The array is read-only, as that of `poses`.
        """
        return self._forwards()[1]

    @twists.setter
    def twists(self, value: Any) -> None:
        twists = self._links(value, 6, "twists")
        _, v, _ = backwards(self.world.model, self.poses, twists, self._q, self.model_constants)
        reached = forwards(self.world.model, self._q, v, self.model_constants)[1]
        self._check_reached("twists", reached - twists, np.abs(twists).max(initial=1.0))
        self._v[...] = v

    def _forwards(self) -> MaximalState[np.ndarray]:
        found = forwards(self.world.model, self._q, self._v, self.model_constants)
        for array in found:
            array.setflags(write=False)  # what somebody wrote into it would be lost without a word
        return found

    def _links(self, value: Any, size: int, name: str) -> np.ndarray:
        return filled("state", name, value, np.empty((len(self), len(self.world.links), size), self.dtype))

    def _check_reached(self, name: str, residual: np.ndarray, scale: float) -> None:
        off = np.abs(residual).reshape(len(self), len(self.world.links), 6).max(axis=-1, initial=0.0)
        # Single precision has seven digits, of which the chain of joints takes a few.
        tolerance = (REACH if self.dtype == np.float64 else 1e-3) * scale
        bad = np.argwhere(~(off <= tolerance))  # so that NaN is bad, too
        if len(bad):
            row, link = bad[0]
            got = f"link {self.world.links[link]!r} of world {row}, off by {off[row, link]:.3g}"
            hint = "Write q and v, or move the root alone: view.set_root_poses."
            expected = f"{name} the joints allow (to {tolerance:.3g} [m, rad])"
            raise ParameterError(f"state: {name}", got=got, expected=expected, hint=hint)

    def newton(self) -> tuple[np.ndarray, np.ndarray]:
        """Return poses and twists as Newton has them: body_q (worlds, links, 7) [m, -], body_qd (worlds, links, 6).

        Positions and quaternions xyzw of the links' origins; velocities of their *centres of mass* [m/s], then angular
        velocities [rad/s], both in world axes.
        """
        given: dict[str, Any] = {"bodies": self.world.links, **self.model_constants}
        model = self.world.model
        return body_poses(model, self._q, **given), mass_center_twists(model, self._q, self._v, **given)

    def newton_joints(self) -> tuple[np.ndarray, np.ndarray]:
        """Return coordinates and velocities as Newton has them: joint_q (worlds, nq') [rad, m], joint_qd (worlds, nv').

        They are those of `cardan.conventions.to("newton", world.model)`: joints depth first, the velocity of a free
        joint that of its child's centre of mass [rad/s, m/s].
        """
        there = conventions.to("newton", self.world.model)
        return there.configuration(self._q), there.velocity(self._q, self._v)

    @staticmethod
    def from_newton(
        world: WorldContents,
        *,
        joint_q: Any = None,
        joint_qd: Any = None,
        body_q: Any = None,
        body_qd: Any = None,
        near: Any = None,
        dtype: Any = "float64",
    ) -> State:
        """Return the state of arrays as Newton has them: those of joints, or those of bodies.

        It is the inverse of `newton_joints` and of `newton`. Arrays of many worlds come as (worlds, ...), or one world
        after the other, as Newton's own.

        Args:
            world: what it is a state of.
            joint_q: coordinates [rad, m], joints depth first.
            joint_qd: velocities of the joints [rad/s, m/s]; 0 by default.
            body_q: instead, poses of `world.links`: positions [m] and quaternions xyzw.
            body_qd: velocities of their centres of mass, then angular velocities, in world axes [m/s, rad/s]; 0 by
                default.
            near: configurations [rad, m], (nq,) or (worlds, nq), to which those of `body_q` are nearest: poses do not
                tell whole turns; by default `world.initial`.
            dtype: float64 or float32.

        Raises:
            ParameterError: for arrays of both or of neither, or poses and velocities that the joints do not allow.
            ShapeError: for arrays that are not of whole worlds.
            UnsupportedError: for `joint_q` of a world whose model has inputs, or joints Newton does not have.

        """
        if (joint_q is None) == (body_q is None) or (joint_qd if joint_q is None else body_qd) is not None:
            given = {"joint_q": joint_q, "joint_qd": joint_qd, "body_q": body_q, "body_qd": body_qd}
            got = ", ".join(name for name, array in given.items() if array is not None) or "no array"
            expected = "joint_q, with joint_qd if they move; or body_q, with body_qd"
            raise ParameterError("State.from_newton", got=got, expected=expected)
        if joint_q is not None:
            there = conventions.to("newton", world.model)
            q = _worlds("joint_q", joint_q, (there.nq,))
            v = np.zeros((len(q), there.nv)) if joint_qd is None else _worlds("joint_qd", joint_qd, (there.nv,))
            return State(world, len(q), dtype, there.from_configuration(q), there.from_velocity(q, v))
        poses = _worlds("body_q", body_q, (len(world.links), 7))
        state = State(world, len(poses), dtype, near)
        state.poses = poses
        if body_qd is not None:
            moving = _worlds("body_qd", body_qd, (len(world.links), 6)).astype(state.dtype)
            own: dict[str, Any] = {"bodies": world.links, **state.model_constants}
            state.twists = twists_of_mass_centers(world.model, state.q, moving, **own)
        else:
            state.v = np.zeros(world.model.nv)
        return state

    def _show(self) -> tuple[np.ndarray, np.ndarray]:
        """Return time and divergence in arrays that may be held and written into, so that these count from now on."""
        if self._shown is None:
            self._shown = read_clock(self._clock)
        return self._shown

    def divergences(self) -> list[Divergence]:
        """Return where solvers found no finite result: the world, the time it stands at since, and the joint."""
        model = self.world.model
        names = [joint for joint in model.joint_names for _ in range(model.nv)[model.slices[joint][1]]]
        found = []
        for row in np.flatnonzero(self.diverged).tolist():
            bad = np.flatnonzero(~(np.abs(self._warm[row]) < BEYOND))
            found.append(Divergence(row, float(self.time[row]), names[bad[0]] if len(bad) else self._stuck(row)))
        return found

    def _stuck(self, row: int) -> str | None:
        """Return the first cluster that cannot go on for `SOON` as it moves: it is at a toggle, or open."""
        q, along = self._q[row].tolist(), (SOON * self._v[row]).tolist()
        for node in self.world.model.nodes:
            if node.joint.is_placed and not node.joint.primaries:
                end = node.joint.manifold.integrate(node.configuration(q), node.velocity(along))
                if not all(map(is_finite, end)):
                    return node.name
        return None

    def _arrays(self) -> dict[str, Any]:
        own = {name: getattr(self, name) for name in SAVED}
        return own if self.kept_impulses is None else own | self.kept_impulses.arrays()

    def copy(self) -> State:
        """Return a state that can be changed without changing this one."""
        found = {name: getattr(self, name).copy() for name in FOUND} | {"kept_impulses": self.kept_impulses}
        *_, clock = start_of(self, self._clock[0].dt)  # arrays that somebody holds are this state's alone
        return state_of(self.world, clock, found, self._constants.copy())

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> State:
        return self.copy()

    def __getitem__(self, rows: Any) -> State:
        """Return a state of some of the worlds: a copy. Rows by slice, indices or mask."""
        chosen = np.atleast_1d(np.arange(len(self))[rows])
        arrays = {name: getattr(self, name)[chosen] for name in SAVED}
        kept = {} if self.kept_impulses is None else self.kept_impulses.of_worlds(chosen).arrays()
        return _rebuilt(self.world, arrays | kept, {name: array[chosen] for name, array in self._constants.items()})

    def __reduce__(self) -> Any:
        return _rebuilt, (self.world, self._arrays(), dict(self._constants))

    def __eq__(self, other: object) -> bool:
        """Whether every array is the same to the last bit, of worlds that are made of the same."""
        if not isinstance(other, State):
            return NotImplemented
        mine, theirs = self._bits(), other._bits()
        return mine == theirs and _kind(self.world) == _kind(other.world)

    __hash__: ClassVar[None] = None  # pyright: ignore[reportIncompatibleMethodOverride] -- it can change

    def _bits(self) -> dict[str, Any]:
        arrays = self._arrays() | dict(self._constants)
        return {name: (array.dtype.str, array.shape, array.tobytes()) for name, array in arrays.items()}

    def save(self, file: str | os.PathLike[str]) -> None:
        """Write the state to a file, exact to the last bit; `State.load` reads it. The world is not written.

        If the file cannot be written (`OSError`), what was there before is untouched.

        Args:
            file: where to write.
        """
        constants = {f"constants.{name}": array for name, array in self._constants.items()}
        arrays = {**self._arrays(), **constants, "world": np.array(_kind(self.world))}
        write_whole({Path(file): lambda stream: np.savez(stream, **arrays)})

    @staticmethod
    def load(world: WorldContents, file: str | os.PathLike[str]) -> State:
        """Return the state a file holds.

        Args:
            world: what it is a state of: that it was saved of, or one made of the same.
            file: what `save` wrote. Nothing in it is executed.

        Raises:
            DescriptionError: if it holds no state of such a world.
            OSError: if it cannot be read.
        """
        where = os.fspath(file)
        content = Path(file).read_bytes()  # at once, so that an error of the disk is not taken for a damaged file
        try:
            with np.load(io.BytesIO(content), allow_pickle=False) as stored:
                arrays = {name: stored[name] for name in stored.files}
        except DAMAGED as error:
            raise DescriptionError([Fault(where, 0, f"holds no state of cardan: {error}")]) from None
        missing = [name for name in (*SAVED, "world") if name not in arrays]
        if missing:
            raise DescriptionError([Fault(where, 0, f"holds no state of cardan: {', '.join(missing)} missing")])
        if str(arrays["world"]) != _kind(world):
            message = f"holds a state of another world than {world.name!r}: bodies, joints, constants or inputs differ"
            raise DescriptionError([Fault(where, 0, message)])
        prefix = "constants."
        constants = {n.removeprefix(prefix): a for n, a in arrays.items() if n.startswith(prefix)}
        given, kept = {name: arrays[name] for name in SAVED}, {n: a for n, a in arrays.items() if n in IMPULSES}
        fresh = State(world, len(given["q"]), given["q"].dtype)
        for name, array in {**given, **constants}.items():
            like = fresh._arrays().get(name, fresh.constants.get(name))
            if like is None or (like.shape, like.dtype) != (array.shape, array.dtype):
                message = f"{name}: {array.dtype}{array.shape} is not what this world has"
                raise DescriptionError([Fault(where, 0, message)])
        return _rebuilt(world, given | kept, constants)

    def __repr__(self) -> str:
        count = int(self.diverged.sum())
        gone = f", {count} diverged" if count else ""
        return f"<State of {len(self)} worlds {self.world.name!r}, {self.dtype}{gone}>"


def state_of(world: WorldContents, clock: Clock, found: Mapping[str, Any], constants: Constants) -> State:
    """Return the state that holds these very arrays, unchecked; of `found` those that `FOUND` names, and impulses."""
    # A step of one world waits for this: lines of one assignment take half the time of one line of all.
    state = object.__new__(State)
    state.world = world
    state.kept_impulses = found.get("kept_impulses")
    state._clock = clock
    state._shown = None
    state._constants = constants
    state._q = found["q"]
    state._v = found["v"]
    state._warm = found["warm"]
    state._residual = found["residual"]
    return state


def coordinates_of(name: str, model: Model, q: Any) -> tuple[Any, dict[str, np.ndarray]]:
    """Return configurations of a model and its inputs, of a state of its worlds, or of q with the model's own inputs.

    Args:
        name: of the function that is given them.
        model: whose coordinates they are.
        q: configurations [rad, m], shape (..., nq), or a `State`.

    Raises:
        ParameterError: for a state of worlds of another model.
    """
    if not isinstance(q, State):
        return q, model.input_values() if model.inputs else {}
    if q.world.model is not model and q.world.model != model:
        raise ParameterError(f"state of {name}", got=q, expected=f"one of worlds of {model!r}")
    return q.q, q.model_constants


def start_of(state: State, dt: float) -> tuple[np.ndarray, np.ndarray, Clock]:
    """Return where steps of a length [s] begin: q and v themselves, and what counts steps from here on.

    That goes on as long as steps are of one length and nobody has written the time.
    """
    clock, shown = state._clock, state._shown
    is_written = shown and [a.tobytes() for a in shown] != [a.tobytes() for a in read_clock(clock)]
    if is_written or clock[0].dt != dt or clock[1] >= MOST:
        time, diverged = state._show()
        clock = clock_at(time.copy(), diverged.copy(), state.dtype, dt)
    return state._q, state._v, clock


def next_state(state: State, found: Mapping[str, Any], clock: Clock, out: State | None) -> State:
    """Return the state after steps from a state, which left what was found: see `state_of`.

    They are written into `out`, if it is given: a state of as many such worlds, which may be that where they began.
    """
    if out is None:
        constants = state._constants.copy() if state._constants else state._constants
        return state_of(state.world, clock, found, constants)
    is_like = isinstance(out, State) and out.world.moves_like(state.world) and out.dtype == state.dtype
    if not is_like or out._q.shape != state._q.shape:
        expected = f"a state of {len(state)} worlds {state.world.name!r}, {state.dtype}"
        raise ParameterError("out", got=out, expected=expected)
    for name, array in state._constants.items():
        out._constants[name][...] = array
    for name in FOUND:
        getattr(out, name)[...] = found[name]
    out.kept_impulses = found.get("kept_impulses")
    out._clock = clock
    if out._shown is not None:  # arrays of time that somebody holds go on with the clock
        out.time[...], out.diverged[...] = read_clock(clock)
    return out


class Divergence(NamedTuple):
    """A world that a solver could not move on: its row, the time it stands at [s], the joint.

    That is the first one without a finite acceleration, or whose cluster cannot go on; None if it is not known.
    """

    world: int
    time: float
    joint: str | None


def _worlds(name: str, value: Any, core: tuple[int, ...]) -> np.ndarray:
    """Return an array of one world after the other with an axis for the worlds."""
    array = numeric_array("State.from_newton", name, value)
    size = math.prod(core)
    if array.shape[array.ndim - len(core) + 1 :] != core[1:] or size == 0 or array.size % size:
        expected = f"(worlds, {', '.join(map(str, core))}), or so many worlds one after the other"
        raise ShapeError("State.from_newton", name, got=array.shape, expected=expected)
    return array.reshape(-1, *core)


def _rebuilt(world: WorldContents, arrays: Mapping[str, Any], constants: Mapping[str, Any]) -> State:
    clock = clock_at(arrays["time"].copy(), arrays["diverged"].copy(), arrays["q"].dtype)
    found = {**arrays, "kept_impulses": KeptImpulses.of_arrays(arrays)}
    return state_of(world, clock, found, Constants(world.model, constants))


def _kind(world: WorldContents) -> str:
    """Return what a world's coordinates belong to, as text: its model's digest but for annotations, or its looks."""
    # Colours and named configurations do not change what a coordinate means.
    bare = replace(world.model, annotations=Annotations())
    return bare.digest or repr((world.name, world.model.joint_names, world.model.nq, world.model.nv))
