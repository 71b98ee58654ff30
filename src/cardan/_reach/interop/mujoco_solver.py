"""MuJoCo itself, the real one, over the worlds of a state: `mujoco.batch` steps them, both conversions are compiled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, partial
from threading import Lock
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from cardan._algebra.checked_numbers import truth
from cardan._algebra.errors import UnknownNameError, UnsupportedError
from cardan._algebra.manifolds import SE2, UnitComplex
from cardan._compiler.runtime.threads import num_threads
from cardan._dynamics.algorithms.health import BEYOND
from cardan._dynamics.call.function import Function
from cardan._dynamics.coordinates import conventions
from cardan._motion.contact.touching import ContactPair
from cardan._motion.simulation.control import Control
from cardan._motion.simulation.links import wrench_efforts
from cardan._motion.simulation.solvers.solver import SHARED, YES, Solver, checked_steps, control_names, left_out
from cardan._motion.simulation.state import State, next_state, start_of
from cardan._motion.simulation.world import World
from cardan._reach.interop.mujoco_joints import step_names
from cardan._reach.interop.mujoco_package import mujoco, mujoco_batch
from cardan._reach.interop.mujoco_spec import to_mjspec
from cardan._robot.geometry.shapes import Ellipsoid, HeightField, Sphere
from cardan._robot.geometry.touching import ContactForces
from cardan._robot.joints import Distance
from cardan._robot.model import Model

# --- forces at the contacts of MuJoCo's worlds, in cardan's convention ---
#
# MuJoCo tells the force of a contact in the contact's frame, whose first axis points from its first geom to its second:
# as it acts on the second. A pair has one place if one shape is a sphere or an ellipsoid, else `MANY`. If it has more
# contacts, the last place has the sum of the rest, at its own point, so that no force or moment is lost.
#
# Source: MuJoCo documentation, `mj_contactForce`; "Computation: contact".


MANY = 8  # points a pair may have at most, the deepest first; as many as two boxes have there


def places_of(pairs: Sequence[Any]) -> np.ndarray:
    """Return the index of its pair for each place that contacts of pairs have, shape (C,)."""
    return np.repeat(np.arange(len(pairs)), [_count(pair) for pair in pairs]).astype(int)


def _count(pair: Any) -> int:
    shapes = pair.shape_a, pair.shape_b
    is_one = any(isinstance(s, (Sphere, Ellipsoid)) for s in shapes)
    return 1 if is_one and not any(isinstance(s, HeightField) for s in shapes) else MANY


class ContactReader:
    """Reads the forces of a world's contacts out of MuJoCo's data; `ends`: the geoms' names of each of its pairs."""

    def __init__(self, mj: Any, model: Any, pairs: Sequence[ContactPair], ends: Sequence[tuple[str, str]]) -> None:
        self._mj, self._model = mj, model
        self.pair = places_of(pairs)
        self._first = np.searchsorted(self.pair, np.arange(len(pairs)))
        self._count = np.bincount(self.pair, minlength=len(pairs))
        ids = [(model.geom(a).id, model.geom(b).id) for a, b in ends]
        self._pair_of = {frozenset(both): (k, both[0]) for k, both in enumerate(ids)}

    def empty(self, worlds: int, dtype: Any) -> ContactForces:
        force, torque, point = (np.zeros((worlds, len(self.pair), 3), dtype) for _ in range(3))
        return ContactForces(force, torque, point, self.pair.copy())

    def read(self, data: Any, found: ContactForces, row: int) -> None:
        """Write the forces of one world, whose data is that of `mj_forward`, the deepest contacts of a pair first."""
        used, wrench = np.zeros(len(self._count), dtype=int), np.zeros(6)
        for k in np.argsort(data.contact.dist, kind="stable"):
            contact = data.contact[int(k)]
            number, first = self._pair_of[frozenset(contact.geom.tolist())]
            self._mj.mj_contactForce(self._model, data, int(k), wrench)
            sign = -1.0 if contact.geom[0] == first else 1.0  # on the pair's first shape
            axes = contact.frame.reshape(3, 3)
            force, torque = sign * wrench[:3] @ axes, sign * wrench[3:] @ axes
            slot = self._first[number] + min(used[number], self._count[number] - 1)
            if used[number] < self._count[number]:
                found.point[row, slot] = contact.pos
            found.force[row, slot] += force
            found.torque[row, slot] += torque + np.cross(contact.pos - found.point[row, slot], force)
            used[number] += 1


USE = "cardan.solvers.MuJoCo"
INTEGRATORS = {"implicitfast": "IMPLICITFAST", "implicit": "IMPLICIT", "euler": "EULER", "rk4": "RK4"}
KEPT = 3  # batches a solver keeps, of different numbers of worlds or threads
CONES = ("elliptic", "pyramidal")
SOLVERS = ("newton", "cg", "pgs")
OWN_LAW = "mujoco"


class DriveActuator(NamedTuple):
    """An actuator there, and the degree of freedom it drives."""

    v: int  # its index in v
    stiffness: float
    damping: float
    qpos: int  # where its coordinate is in qpos, if that is an angle which here is a point on the circle; else -1


class MuJoCo(Solver):
    """MuJoCo's own steps, constraints and contacts, of the same world: `cardan.interop.to_mjspec` hands it over.

    Loops, mimic joints, position limits and contacts are soft there, as its documentation says. Every world that does
    not come out of a call with finite numbers stays as it was before the call, and is flagged; MuJoCo itself writes a
    warning about it. Residuals are not known, and 0.

    Args:
        world: what moves.
        dt: length of a step [s].
        integrator: `"implicitfast"`, `"implicit"`, `"euler"` or `"rk4"`.
        cone: friction cones: `"elliptic"` or `"pyramidal"`.
        constraints: how it solves for constraint forces: `"newton"`, `"cg"` or `"pgs"`.
        iterations: of that at most; None for MuJoCo's default.
        contact: `"mujoco"`, its own law, or None: nothing touches.
        limits: whether joints stop at their position limits.

    Attributes:
        model: the compiled `mujoco.MjModel`.

    Raises:
        MissingExtraError: without the extra `mujoco`.
        UnsupportedError: for a world with anything MuJoCo would leave out.

    Examples:
        >>> world = cardan.robots.double_pendulum().world()
        >>> state = cardan.solvers.MuJoCo(world, dt=0.001).step(world.state())

    Source: MuJoCo documentation, "Computation".
    """

    supports: ClassVar[Mapping[str, str]] = {
        **SHARED,
        "joint it lacks": "Cable, ConstantVelocity, Ellipsoid, Helical, OpenSimCustom, Spline, VariableScrew, and "
        "Composite and Reversed joints that are no hinges and slides in a row: use cardan.solvers.Featherstone",
        "contact": YES,
        "distance": "use cardan.solvers.Featherstone",
        "kinematic joint": "give it a drive with a large damping, or use cardan.solvers.Featherstone",
        "input": "its constants are compiled in: use cardan.solvers.Featherstone, or model.with_values(...)",
    }

    def __init__(
        self,
        world: World,
        dt: float,
        *,
        integrator: Literal["implicitfast", "implicit", "euler", "rk4"] = "implicitfast",
        cone: Literal["elliptic", "pyramidal"] = "elliptic",
        constraints: Literal["newton", "cg", "pgs"] = "newton",
        iterations: int | None = None,
        contact: Literal["mujoco"] | None = "mujoco",
        limits: bool = True,
    ) -> None:
        for what, value, known in (
            ("integrator", integrator, INTEGRATORS),
            ("cone", cone, CONES),
            ("constraints", constraints, SOLVERS),
            ("contact", contact, (OWN_LAW, None)),
        ):
            if value not in known:
                hint = "laws of contact are those of cardan.solvers.Featherstone" if what == "contact" else ""
                raise UnknownNameError(what, value, map(str, known), where="solver MuJoCo", hint=hint)
        self.contact = contact
        self.limits: bool = truth("limits", limits)
        super().__init__(world, dt)
        solved = {"integrator": integrator, "cone": cone, "constraints": constraints, "iterations": iterations}
        self._options = {**solved, "contact": contact, "limits": self.limits}
        spec = self._spec(integrator, cone, constraints, iterations)
        self._ends = [(pair.geomname1, pair.geomname2) for pair in spec.pairs]
        self.model: Any = self._compiled(spec)
        self._to = conventions.to("mujoco", world.model)
        self._servos = [_servo(self.model, world.model, self.model.actuator(k)) for k in range(self.model.nu)]
        self._free = np.setdiff1d(np.arange(world.model.nv), [servo.v for servo in self._servos])
        self._batches: dict[tuple[int, int], Any] = {}
        self._lock = Lock()

    def __reduce__(self) -> Any:
        return partial(MuJoCo, **self._options), (self.world, self.dt)

    def _spec(self, integrator: str, cone: str, constraints: str, iterations: int | None) -> Any:
        mj = mujoco(USE)
        try:
            touching = self.world if self.contact else self.world.with_contacts([])
            spec = to_mjspec(touching, shapes="touching")
        except UnsupportedError as error:
            instead = f"{error.instead}, or use cardan.solvers.Featherstone"
            raise UnsupportedError(error.what, "solver MuJoCo", instead) from None
        option = spec.option
        option.timestep = self.dt
        option.integrator = getattr(mj.mjtIntegrator, f"mjINT_{INTEGRATORS[integrator]}")
        option.cone = getattr(mj.mjtCone, f"mjCONE_{cone.upper()}")
        option.solver = getattr(mj.mjtSolver, f"mjSOL_{constraints.upper()}")
        option.disableflags |= mj.mjtDisableBit.mjDSBL_AUTORESET
        if not self.limits:
            option.disableflags |= mj.mjtDisableBit.mjDSBL_LIMIT
        if iterations is not None:
            option.iterations = checked_steps(iterations, "iterations")
        return spec

    def _compiled(self, spec: Any) -> Any:
        try:
            return spec.compile()
        except ValueError as error:  # such as a mesh it does not read
            what = f"world {self.world.name!r}: {' '.join(str(error).split())}"
            raise UnsupportedError(what, "solver MuJoCo", "mend that, or use cardan.solvers.Featherstone") from None

    def features(self) -> Iterator[tuple[str, str]]:
        model = self.world.model
        for name in (*model.inputs, *self.world.contact_inputs):
            yield "input", f"the input {name!r}"
        for joint in self.world.kinematic:
            yield "kinematic joint", f"joint {joint!r}, which moves as it is told"
        for c in (*model.connections, *model.closures):
            if isinstance(c.joint, Distance):
                yield "distance", f"joint {c.name!r}, a Distance"
        yield from left_out(model)

    @cached_property
    def function(self) -> Function[..., Any]:
        """There is none: MuJoCo's code cannot be differentiated or written as C here."""
        what, instead = "a request for its step as a function", "use cardan.solvers.Featherstone"
        raise UnsupportedError(what, "solver MuJoCo", instead)

    def step(self, state: State, control: Control | None = None, *, steps: int = 1, out: State | None = None) -> State:
        count = checked_steps(steps)
        asked = self._targets(state, control)
        q, v, warm = (np.array(x, dtype=np.float64) for x in (state.q, state.v, state.warm))
        good = np.zeros(len(state))
        # One step at a time, where what is asked for is another force or target there after every step.
        wrapped = any(servo.qpos >= 0 and servo.stiffness for servo in self._servos)
        at_once = 1 if wrapped or "wrenches" in asked or asked["effort"][:, self._free].any() else count
        with self._lock:  # a batch is of one thread at a time
            for _ in range(count // at_once if len(state) else 0):
                q, v, warm, sound = self._stepped(q, v, warm, asked, at_once)
                good[sound] += at_once
        _, _, (since, taken, before) = start_of(state, self.dt)
        found = {"q": q, "v": v, "warm": warm, "residual": np.zeros(len(state))}
        found = {name: np.ascontiguousarray(array, state.dtype) for name, array in found.items()}
        return next_state(state, found, (since, taken + count, before + good.astype(state.dtype)), out)

    def contact_forces(self, state: State, control: Control | None = None) -> ContactForces:
        """Return the forces at the contacts in the step from a state; see `Solver.contact_forces`.

        Candidates of a pair are the deepest contacts. In a world that MuJoCo cannot take, all are NaN.
        """
        asked = self._targets(state, control)
        q, v = (np.array(x, dtype=np.float64) for x in (state.q, state.v))
        qpos, qvel = self._to.configuration(q), self._to.velocity(q, v)
        ctrl, forces = self._controls(asked, qpos), self._forces(asked, q)
        found, can = self._contacts.empty(len(state), state.dtype), _sound(qpos, qvel, ctrl, forces)
        data = mujoco(USE).MjData(self.model)
        for row in range(len(state)):
            if can[row]:
                data.qpos, data.qvel, data.ctrl, data.qfrc_applied = qpos[row], qvel[row], ctrl[row], forces[row]
                _begin(data.qacc_warmstart, state.warm[row])
                mujoco(USE).mj_forward(self.model, data)
                self._contacts.read(data, found, row)
        for array in found[:3]:
            array[~can] = np.nan
        return found

    @cached_property
    def _contacts(self) -> ContactReader:
        return ContactReader(mujoco(USE), self.model, self.world.pairs if self.contact else (), self._ends)

    def _targets(self, state: State, control: Control | None) -> dict[str, np.ndarray]:
        """Return efforts and targets as float64, shape (worlds, nv), and the wrenches on bodies, if any act."""
        arrays = self._read_control(state, control)  # first: it refuses what is no control
        given = dict(zip(control_names(control), arrays, strict=True))
        if control is None:
            given |= dict.fromkeys(("effort", "velocity"), np.zeros_like(given["position"]))
        asked = {name: array.astype(np.float64) for name, array in given.items()}
        if "wrenches" in asked and not asked["wrenches"].any():
            del asked["wrenches"]
        return asked

    def _stepped(
        self, q: np.ndarray, v: np.ndarray, warm: np.ndarray, asked: Mapping[str, np.ndarray], count: int
    ) -> tuple[np.ndarray, ...]:
        """Return q, v and warm after steps, those of before in worlds that do not come to good, and which do."""
        batch = self._batch(len(q))
        qpos, qvel = self._to.configuration(q), self._to.velocity(q, v)
        ctrl, forces = self._controls(asked, qpos), self._forces(asked, q)
        can = _sound(qpos, qvel, ctrl, forces)
        for name, value in (("qpos", qpos), ("qvel", qvel), ("ctrl", ctrl), ("qfrc_applied", forces)):
            batch.bind(name)[...] = np.where(can[:, None], value, 0.0)
        _begin(batch.bind("qacc_warmstart"), warm)
        failed = _run(batch, np.flatnonzero(can), count)
        qpos, qvel = batch.bind("qpos"), batch.bind("qvel")
        q_new, v_new = self._to.from_configuration(qpos), self._to.from_velocity(qpos, qvel)
        sound = can & _sound(q_new, v_new)
        sound[failed] = False
        chosen = sound[:, None]
        warm_new = batch.bind("qacc_warmstart")
        warm = np.where(chosen, warm_new, warm) if warm_new.shape == warm.shape else warm
        return np.where(chosen, q_new, q), np.where(chosen, v_new, v), warm, sound

    def _controls(self, asked: Mapping[str, np.ndarray], qpos: np.ndarray) -> np.ndarray:
        """Return what the actuators are given: targets, with the efforts that their gains make of them."""
        ctrl = np.zeros((len(qpos), len(self._servos)))
        for k, servo in enumerate(self._servos):
            effort, target, rate = (asked[name][:, servo.v] for name in ("effort", "position", "velocity"))
            if servo.stiffness:
                if servo.qpos >= 0:  # of the angles that say the same, the one nearest to where it is
                    angle, turn = qpos[:, servo.qpos], 2.0 * np.pi
                    target = angle + (np.remainder(target - angle + np.pi, turn) - np.pi)
                ctrl[:, k] = target + (servo.damping * rate + effort) / servo.stiffness
            else:
                ctrl[:, k] = rate + effort / servo.damping
        return ctrl

    def _forces(self, asked: Mapping[str, np.ndarray], q: np.ndarray) -> np.ndarray:
        """Return the efforts of joints without drives, within their limits, and of wrenches on the bodies, along
        MuJoCo's velocities.
        """  # noqa: D205
        effort, pushed = np.zeros_like(asked["effort"]), "wrenches" in asked
        if not pushed and not asked["effort"][:, self._free].any():
            return np.zeros((len(q), self._to.nv))
        model = self.world.model
        effort[:, self._free] = np.clip(asked["effort"], model.effort_lower, model.effort_upper)[:, self._free]
        return self._to.effort(q, effort + wrench_efforts(model, q, asked["wrenches"]) if pushed else effort)

    def _batch(self, worlds: int) -> Any:
        """Return the batch of so many worlds; the last few are kept, with all their threads."""
        key = worlds, num_threads()
        if key not in self._batches:
            for old in list(self._batches)[: 1 - KEPT]:
                del self._batches[old]
            self._batches[key] = mujoco_batch(USE).Batch(self.model, nsim=worlds, nthread=num_threads())
        return self._batches[key]


def _servo(there: Any, model: Model, actuator: Any) -> DriveActuator:
    joint, k = _driven(model, actuator.name)
    c = model.connection(joint)
    space = c.joint.manifold
    is_angle = isinstance(space, UnitComplex) or (isinstance(space, SE2) and k == 2 and space.nq == 4)
    qpos = int(there.jnt_qposadr[there.actuator_trnid[actuator.id, 0]]) if is_angle else -1
    return DriveActuator(model.v_slice(joint).start + k, c.drive_stiffness[k], c.drive_damping[k], qpos)


def _driven(model: Model, name: str) -> tuple[str, int]:
    """Return which joint an actuator drives, and which of its coordinates."""
    if name in model.slices:
        return name, 0
    for c in model.connections:
        steps = step_names(c.name, c.joint.nv)
        if name in steps:
            return c.name, steps.index(name)
    joint, _, index = name.rpartition(":")  # one of the three servos of a ball
    return joint, int(index)


def _sound(*parts: np.ndarray) -> np.ndarray:
    """Return for each row whether its numbers are finite, and the sum of their sizes below `BEYOND`."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.abs(np.concatenate(parts, axis=-1)).sum(axis=-1) < BEYOND


def _begin(array: np.ndarray, warm: np.ndarray) -> None:
    """Begin constraint solves with the last accelerations, or with 0 where there are none of that number."""
    array[...] = np.where(np.abs(warm) < BEYOND, warm, 0.0) if array.shape == warm.shape else 0.0


def _run(batch: Any, rows: np.ndarray, count: int) -> np.ndarray:
    """Take steps in some worlds, and return those in which MuJoCo raised an error."""
    if not len(rows):
        return rows
    try:
        batch.step(ids=None if len(rows) == batch.nsim else rows, nstep=count)
    except mujoco_batch(USE).SimulationError:
        return np.flatnonzero(batch.status)
    return rows[:0]
