"""Makes the figure of closed mechanisms beside others: `python docs/build_agreement.py` writes docs/images/loops.svg.

It needs `pip install -e ".[plot,oracles,more-oracles]"`. For every robot of closed loops, couplings or rolling wheels it compares
accelerations, at random states, and prints what it draws:

- Pinocchio: `constraintDynamics`, with the loops as constraints and as clusters, relative to the largest acceleration.
- Points: d'Alembert's principle. Every body is six point masses of its mass, centre and inertia. Their accelerations are
  differences of places along the motion, sum m (p'' - g) dp = tau dx for all dx, relative to the sum of sizes. Of
  cardan, that asks for poses and closed configurations alone.
- Drake: its mass matrix, bias and Jacobians of the open tree, whose loops are closed by multipliers here. Its own
  constraints give way, and are for discrete steps alone.
- MuJoCo at rest, as its constraints leave out what velocities do: as stiff as it allows, and in the limit. There, an
  impedance d leaves an error in proportion to 1 - d.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
import mujoco
import numpy as np
import pinocchio as pin
from pydrake.math import RigidTransform, RollPitchYaw, RotationMatrix
from pydrake.multibody import tree as drake
from pydrake.multibody.plant import MultibodyPlant

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests" / folder) for folder in ("", "oracles", "dynamics")]

import cardan  # noqa: E402
import linkages  # noqa: E402
import test_closed_loops as with_pin  # noqa: E402
from cardan._reach.formats.mjcf.writer import to_mjcf  # noqa: E402
from test_user_constraints import car  # noqa: E402

PICTURE = ROOT / "docs" / "images" / "loops.svg"
ROBOTS = {
    "four-bar": lambda: cardan.robots.four_bar().model(),
    "five-bar": lambda: cardan.robots.five_bar().model(),
    "Watt's linkage": lambda: linkages.watt().model(),
    "Peaucellier's linkage": lambda: linkages.peaucellier().model(),
    "excavator": lambda: linkages.excavator().model(),
    "delta robot": lambda: linkages.delta().model(),
    "Stewart platform": lambda: cardan.robots.stewart_platform().model(),
    "humanoid, ankles and knees by rods": lambda: linkages.humanoid_with_rods().model(base="floating"),
    "hand with tendons": lambda: linkages.hand().model(),
    "differential wrist": lambda: linkages.wrist().model(),
    "car, Ackermann, rolling": car,
}
STATES, AWAY = 5, 0.1  # random states, and how far from where the robot is assembled [rad, m]
NEAR = 0.002  # how far joints move from one place of the differences to the next [rad, m]
IMPEDANCES = (0.999, 0.9999)  # MuJoCo takes no larger one
FIRST, SECOND = (  # differences of eighth order, by places 0, 1, 2, 3, 4 before and after
    np.array([0.0, 4 / 5, -1 / 5, 4 / 105, -1 / 280]),
    np.array([-205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560]),
)
PLACES = np.arange(-4, 5)
FIRST, SECOND = (np.concatenate([sign * own[:0:-1], own]) for sign, own in ((-1.0, FIRST), (1.0, SECOND)))


class Motion(NamedTuple):
    """A state, efforts, and what cardan says of them."""

    model: cardan.Model
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray
    a: np.ndarray


def motions(model: cardan.Model, rest: bool = False) -> list[Motion]:
    """Return random motions that keep loops closed, or such states at rest."""
    rng, found = np.random.default_rng(1), []
    start = cardan.assemble(model) if model.closures else model.neutral()
    for _ in range(STATES):
        q = cardan.integrate(model, start, AWAY * rng.normal(size=model.nv))
        q = cardan.assemble(model, q) if model.closures else q
        v, tau = rng.normal(size=(2, model.nv))
        v = np.zeros(model.nv) if rest else cardan.project_velocity(model, q, v) if model.has_loops else v
        found.append(Motion(model, q, v, tau, accelerations(model, q, v, tau)))
    return found


def accelerations(model: cardan.Model, q: Any, v: Any, tau: Any) -> np.ndarray:
    """Return what cardan says."""
    if not model.has_loops:
        return cardan.forward_dynamics(model, q, v, tau)
    return cardan.constrained_forward_dynamics(model, q, v, tau).accelerations


# --- d'Alembert, by points ---


def points(model: cardan.Model) -> tuple[np.ndarray, np.ndarray]:
    """Return six places in each body, in its axes, and the mass of each."""
    places, masses = [], []
    for name in model.body_names:
        inertia = model.body(name).inertia
        mass = float(inertia.mass) if inertia is not None else 0.0
        if mass == 0.0:
            places, masses = [*places, np.zeros((6, 3))], [*masses, 0.0]
            continue
        J = np.array(inertia.inertia_at_com.matrix().rows(), dtype=float)
        spread, axes = np.linalg.eigh(0.5 * np.trace(J) * np.eye(3) - J)  # second moments of its mass
        arms = (axes * np.sqrt(3.0 * spread.clip(0.0) / mass)).T
        places.append(np.array(inertia.com, dtype=float) + np.concatenate([arms, -arms]))
        masses.append(mass / 6.0)
    return np.array(places), np.array(masses)


def along(model: cardan.Model, q: np.ndarray, v: np.ndarray, a: np.ndarray, h: float) -> np.ndarray:
    """Return where all points are at the times of the differences, h apart, on the motion that begins with v and a."""
    t = h * PLACES[:, None]
    poses = cardan.forward_kinematics(model, cardan.integrate(model, q, t * v + 0.5 * t * t * a))
    own, _ = points(model)
    return np.einsum("tbij,bkj->tbki", poses[..., :3, :3], own) + poses[..., None, :3, 3]


def lacking(motion: Motion) -> float:
    """Return the largest effort that d'Alembert's principle lacks, relative to what acts."""
    model, q, v, tau, a = motion
    if model.closures:
        cluster = cardan.clustered(model)
        to = cardan.converter(model, cluster)
        q, v, tau = to.configuration(q), to.velocity(q, v), to.effort(q, tau)
        model, a = cluster, to.acceleration(motion.q, motion.v, a)
    back = cardan.converter(model, motion.model) if motion.model.closures else None
    out = lambda direction: direction if back is None else back.velocity(q, direction)  # noqa: E731
    directions = np.eye(model.nv)
    if model.has_loops:  # along which its wheels roll
        K = cardan.loop_jacobian(model, q)
        directions = np.linalg.svd(K)[2][cardan.loop_rank(model, q) :]
        model = model.spanning_tree()
    _, masses = points(model)
    h = min(NEAR / np.abs(motion.v).max(), (NEAR / np.abs(motion.a).max()) ** 0.5)
    moved = np.tensordot(SECOND, along(model, q, v, a, h), 1) / h**2 - np.array(model.gravity)
    lacks, acts = [], []
    for direction in directions:
        far = NEAR / (np.abs(out(direction)).max() + 1e-9)
        way = np.tensordot(FIRST, along(model, q, direction, np.zeros(model.nv), far), 1) / far
        works = masses[:, None] * (moved * way).sum(axis=-1)
        lacks.append(abs(works.sum() - tau @ direction))
        acts.append(np.abs(works).sum() + abs(tau @ direction))
    return float(max(lacks) / max(acts))


# --- other libraries ---


def beside_pinocchio(motion: Motion) -> float:
    """Return the larger difference of loops as constraints and as clusters."""
    model, q, v, tau, a = motion
    theirs = with_pin.their_accelerations(pin, model, q, v, tau)
    cluster = cardan.clustered(model)
    out, back = cardan.converter(cluster, model), cardan.converter(model, cluster)
    x, u = back.configuration(q), back.velocity(q, v)
    ours = out.acceleration(x, u, cardan.forward_dynamics(cluster, x, u, back.effort(q, tau)))
    return float(max(np.abs(a - theirs).max(), np.abs(ours - theirs).max()) / np.abs(theirs).max())


def drakes_tree(model: cardan.Model) -> tuple[MultibodyPlant, dict[str, Any]]:
    """Return Drake's plant of the open tree, and its joints by name, universal ones as two hinges."""
    plant, joints = MultibodyPlant(0.0), dict[str, Any]()
    plant.mutable_gravity_field().set_gravity_vector(np.array(model.gravity))
    bodies = {"world": plant.world_body()}
    for name in model.body_names:
        own = model.body(name).inertia
        mass = 0.0 if own is None else float(own.mass)
        if mass == 0.0:
            bodies[name] = plant.AddRigidBody(name)
            continue
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = np.array(own.inertia_at_com.matrix().rows(), dtype=float)
        inertia = drake.RotationalInertia(xx, yy, zz, xy, xz, yz)
        com = np.array(own.com, dtype=float)
        bodies[name] = plant.AddRigidBody(
            name, drake.SpatialInertia.MakeFromCentralInertia(mass=mass, p_PScm_E=com, I_SScm_E=inertia)
        )

    def frame(name: str, body: str, pose: Any) -> Any:
        return plant.AddFrame(drake.FixedOffsetFrame(name, bodies[body], RigidTransform(pose.matrix())))

    for c in model.connections:
        kind = type(c.joint).__name__
        ends = [frame(f"{c.name}_parent", c.parent, c.parent_pose), frame(f"{c.name}_child", c.child, c.child_pose)]
        if kind == "Universal":
            cross = plant.AddRigidBody(f"{c.name}_cross").body_frame()
            first = drake.RevoluteJoint(c.name, ends[0], cross, [*c.joint.axis1])
            then = drake.RevoluteJoint(f"{c.name}_2", cross, ends[1], [*c.joint.axis2])
            joints[c.name] = [plant.AddJoint(first), plant.AddJoint(then)]
        elif kind == "Fixed":
            plant.AddJoint(drake.WeldJoint(c.name, *ends, RigidTransform()))
        else:
            kinds = {"Spherical": drake.BallRpyJoint, "FreeFlyer": drake.QuaternionFloatingJoint}
            axis = [[*c.joint.axis]] if kind not in kinds else []
            make = kinds.get(kind) or getattr(drake, f"{kind}Joint")
            joints[c.name] = [plant.AddJoint(make(c.name, *ends, *axis))]
    plant.Finalize()
    return plant, joints


def beside_drake(motion: Motion) -> float:
    """Return the difference of accelerations, of which Drake knows turns and slides of a child along its parent."""
    model, q, v, tau, a = motion
    plant, joints = drakes_tree(model)
    context = plant.CreateDefaultContext()
    V, A, T = (np.zeros(plant.num_velocities()) for _ in range(3))
    for name, own in joints.items():
        joint, x, along = model.joint(name), q[model.q_slice(name)], model.v_slice(name)
        given = [part[along].copy() for part in (v, a, tau)]
        if len(x) == len(given[0]):
            for one, e in zip(own, x, strict=True):
                one.set_angle(context, e) if hasattr(one, "set_angle") else one.set_translation(context, e)
        else:  # their turns are along the parent's axes, and so are slides
            X = joint.transform(tuple(x)).matrix()
            R = X[:3, :3]
            if joint.nv == 3:
                own[0].set_angles(context, RollPitchYaw(RotationMatrix(R)).vector())
                given = [R @ e for e in given]
            else:
                own[0].SetPose(context, RigidTransform(X))
                given[1][:3] += np.cross(given[0][3:], given[0][:3])
                given = [np.concatenate([R @ e[3:], R @ e[:3]]) for e in given]
        places = [i for one in own for i in range(one.velocity_start(), one.velocity_start() + one.num_velocities())]
        V[places], A[places], T[places] = given
    plant.SetVelocities(context, V)
    M, h = plant.CalcMassMatrix(context), plant.CalcBiasTerm(context) - plant.CalcGravityGeneralizedForces(context)
    rows = [row for closure in model.closures for row in drakes_rows(plant, context, closure, V)]
    K, k = np.array([row for row, _ in rows]), np.array([e for _, e in rows])
    free = np.linalg.solve(M, T - h)
    held = np.linalg.solve(M, K.T)
    theirs = free - held @ (np.linalg.pinv(K @ held, rcond=1e-11) @ (K @ free + k))
    return float(np.abs(A - theirs).max() / np.abs(theirs).max())


def drakes_rows(plant: MultibodyPlant, context: Any, closure: Any, V: np.ndarray) -> list[tuple[np.ndarray, float]]:
    """Return rows of K and entries of k of a hinge or ball that closes a loop, by Drake's Jacobians in the world."""
    world, kind = plant.world_frame(), drake.JacobianWrtVariable.kV
    J, bias = [], []
    for body, pose in ((closure.parent, closure.parent_pose), (closure.child, closure.child_pose)):
        frame = world if body == "world" else plant.GetFrameByName(body)
        at = (frame, np.array(pose.translation, dtype=float), world, world)
        J.append(plant.CalcJacobianSpatialVelocity(context, kind, *at))
        bias.append(plant.CalcBiasSpatialAcceleration(context, kind, *at).get_coeffs())
    K, k = J[1] - J[0], bias[1] - bias[0]  # turns, then slides
    rows = [(K[i], k[i]) for i in (3, 4, 5)]
    if type(closure.joint).__name__ == "Spherical":
        return rows
    turn = world if closure.child == "world" else plant.GetFrameByName(closure.child)
    R = turn.CalcRotationMatrixInWorld(context).matrix() @ closure.child_pose.matrix()[:3, :3]
    across = np.linalg.svd(np.array([[*closure.joint.axis]]))[2][1:]
    spin = (J[1] @ V)[:3]
    for t in across @ R.T:  # fixed in the child: t (w_c - w_p) = 0 has the rate t (a_c - a_p) + (w_c x t) (w_c - w_p)
        rows.append((t @ K[:3], t @ k[:3] + np.cross(spin, t) @ (K[:3] @ V)))
    return rows


def beside_mujoco(motion: Motion) -> tuple[float, float]:
    """Return the differences as stiff as MuJoCo allows, and in the limit."""
    model, q, v, tau, a = motion
    theirs = mujoco.MjModel.from_xml_string(to_mjcf(model))
    theirs.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_LIMIT
    theirs.opt.solver, theirs.opt.tolerance, theirs.opt.iterations = mujoco.mjtSolver.mjSOL_NEWTON, 0.0, 1000
    data, to, found = mujoco.MjData(theirs), cardan.conventions.to("mujoco", model), []
    for impedance in IMPEDANCES:
        theirs.eq_solimp[:, :2] = impedance
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = to.configuration(q), 0.0, to.effort(q, tau)
        mujoco.mj_forward(theirs, data)
        found.append(data.qacc.copy())
    softer, stiffer = found
    limit = (10.0 * stiffer - softer) / 9.0
    ours = to.acceleration(q, v, a)
    return tuple(float(np.abs(ours - other).max() / np.abs(ours).max()) for other in (stiffer, limit))


# --- the figure ---

KINDS = {  # of the marks, in the order of `differences`
    "Pinocchio, loops as constraints and as clusters": ("o", "#c23b22"),
    "Drake, its tree with loops closed here": ("D", "#6a4c93"),
    "d'Alembert, of points": ("s", "#5f6b7a"),
    "MuJoCo at rest, as stiff as it allows": ("v", "#e0a17a"),
    "MuJoCo at rest, in the limit": ("^", "#3b7a57"),
}


def differences(name: str) -> list[float | None]:
    """Return the largest difference of all states for each kind; None where the other library has no such robot."""
    model = ROBOTS[name]()
    moving = motions(model)
    analysis = max(map(lacking, moving))
    beside = beside_pinocchio, beside_drake
    theirs = [max(map(compare, moving)) if model.closures else None for compare in beside]
    soft: tuple[float | None, ...] = (None, None)
    if model.closures:
        soft = tuple(map(max, zip(*map(beside_mujoco, motions(model, rest=True)), strict=True)))
    return [*theirs, analysis, *soft]


def draw(rows: dict[str, list[float | None]]) -> None:
    """Write the picture."""
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    mpl.rcParams["svg.hashsalt"] = "loops"  # the same file from the same numbers
    figure, axes = plt.subplots(figsize=(8.5, 4.6), layout="constrained")
    for k, (label, (mark, colour)) in enumerate(KINDS.items()):
        known = [(row[k], i) for i, row in enumerate(rows.values()) if row[k] is not None]
        axes.plot(*zip(*known, strict=True), mark, color=colour, label=label)
    axes.set(xscale="log", xlabel="largest relative difference of accelerations, or of efforts", xlim=(1e-16, 1e-1))
    axes.set_yticks(range(len(rows)), list(rows))
    axes.invert_yaxis()
    axes.grid(alpha=0.3)
    figure.legend(loc="outside upper center", ncols=2, frameon=False)
    figure.savefig(PICTURE, metadata={"Date": None})


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # of what files do not say
    found = {}
    for name in ROBOTS:
        found[name] = differences(name)
        print(f"| {name} |", " | ".join("" if e is None else f"{e:.0e}" for e in found[name]), "|", flush=True)
    draw(found)
