"""How exact cardan is, joint by joint: its native results and derivatives against differences in 100-digit arithmetic.

`python tests/oracles/accuracy.py` prints the tables of `docs/accuracy.md` (`--markdown`, `--json FILE`, names of joint
types for some rows, `--target numpy` for the reference target, `--routes` for the far states' derivatives by two ways).
Every joint of the catalogue is the second of three in a chain, between revolute joints, with awkward poses on both
sides, asymmetric inertias and armature (which keeps M regular where the joint is singular). The oracle (`extended.py`)
knows the joint's transform alone and starts from the same floats.

The error of a quantity is max |ours - exact| over its entries, divided by the largest exact entry at that state or at
any regular state of the same robot, whichever is larger (nothing to divide by where all of it is exactly 0).
"""

import argparse
import json
import sys
import time
from functools import cache
from pathlib import Path

import mpmath as mp
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from extended import DIGITS, JointOracle, Oracle, exact

import cardan
from cardan import joints as J
from cardan.joints import CATALOGUE, Mimic
from cardan.manifolds import MRP, SE3, Euclidean, UnitComplex, UnitQuaternion
from cardan.spatial.rotations import quaternion_xyzw_from_rotation_vector
from cardan.verification.rank import singularities
from cardan.verification.samples import Samples
from mechanisms import random_inertia, random_pose

KINDS = ("regular", "near", "singular", "special", "far")
DISTANCES = (1e-3, 1e-6, 1e-9)
FAR = 1e3
EXPLAINED = 1e-13  # above that, an error is compared with what one more rounding of all data does
GROUPS = {
    "X": ("X",),
    "S": ("S",),
    "bias": ("bias",),
    "dS/dt": ("dS/dt",),
    "tau": ("tau",),
    "dtau": ("dtau/dq", "dtau/dv", "dtau/da", "dtau/dq, wrenches"),
    "a": ("a",),
    "da": ("da/dq", "da/dv", "da/dtau"),
    "C": ("C v", "C + C'"),
    "dJ/dt": ("dJ/dt",),
    "dV, dA": ("dV/dq", "dA/dq", "dA/dv"),
    "dT, dU": ("dT/dq", "dT/dv", "dU/dq", "d2U/dq2"),
    "dh, dh'": ("dh/dq", "dh'/dq", "dh'/dv"),
    "d2tau": ("d2tau/dq2", "d2tau/dqdv", "d2tau/dq2, recursion"),
}
"""The columns of the table, and the quantities each is the worst of."""


# --- the states ---


def case_joints():
    """Every joint of the catalogue, by a name for the table."""
    found = {}
    for joint in CATALOGUE:
        name = type(joint).__name__
        if isinstance(joint, J.UnboundedRevolute):
            name, joint = f"{name} {joint.order}", replaced_axis(joint)
        elif isinstance(joint, J.Reversed):
            name = f"Reversed {type(joint.joint).__name__}"
        found[name] = Mimic(joint.joint, "first", joint.multiplier, joint.offset) if isinstance(joint, Mimic) else joint
    return found


def replaced_axis(joint):
    """Pinocchio's unbounded joint can only be made about a coordinate axis."""
    return J.UnboundedRevolute((0.0, 0.0, 1.0)) if joint.order == "cos_sin" else joint


def singular_configurations(joint, count=2):
    """Some, with multiples of pi / 2 made exact; the coordinates that do not matter are taken at random."""
    found, rng = [], np.random.default_rng(1)
    for s in singularities(joint, Samples(joint, 12))[:count]:
        q = np.array(s.q)
        turns = np.round(q / (np.pi / 2))
        if joint.nq == joint.nv:
            q = np.where(np.abs(q - turns * np.pi / 2) < 1e-6, turns * np.pi / 2, q)
            q[list(s.free)] += rng.normal(size=joint.nv)[list(s.free)]
        found.append(q)
    return found


def special_configurations(joint):
    """Where charts and formulas change: the neutral one, half a turn, where a series ends."""
    found = [np.array(joint.neutral())]
    half_turn = quaternion_xyzw_from_rotation_vector(tuple(np.pi * np.array([0.36, 0.48, 0.8])))
    manifold = joint.manifold
    if isinstance(manifold, UnitQuaternion):
        found.append(np.array(half_turn))
    elif isinstance(manifold, SE3):
        orientation = manifold.orientation.from_quaternion_xyzw(half_turn)
        found.append(np.array([0.3, -0.2, 0.5, *map(float, orientation)]))
    elif isinstance(manifold, UnitComplex):
        found.append(-np.array(joint.neutral()))
    elif isinstance(joint, J.Planar):
        found.append(np.array([0.4, -0.3, -1.0, 0.0]))
    return found


def far_configurations(joint, rng):
    """Coordinates of a thousand radians, metres or units."""
    manifold = joint.manifold
    far = joint.random_configuration(seed=5)
    away = FAR * rng.uniform(0.5, 1.0, size=joint.nq) * rng.choice([-1.0, 1.0], size=joint.nq)
    if isinstance(manifold, Euclidean):
        return [far + away]
    if isinstance(manifold, SE3):
        keep = 6 if isinstance(manifold.orientation, MRP) else 3
        far[:keep] += away[:keep]
        return [far]
    if joint.nq > joint.nv and isinstance(joint, J.Planar):
        far[:2] += away[:2]
        return [far]
    if isinstance(joint, J.PlanarAngle):
        return [far + away]
    return []


def configurations(joint, regular=3):
    """(kind, distance to what is singular or special, q of the joint).

    A state of each kind, the first ones, if `regular` is 1.
    """
    rng = np.random.default_rng(7)
    found = [("regular", None, q) for q in joint.random_configuration((regular,), seed=3)]
    singular, special = singular_configurations(joint), special_configurations(joint)
    found += [("singular", 0.0, q) for q in singular] + [("special", 0.0, q) for q in special]
    series = [np.array([0.1, 1.2, 1.6])] if isinstance(joint, J.Cable) else []  # ends at |bend| = 2, to the 17th digit
    for around in [*singular[:1], *special, *series]:
        for distance in DISTANCES:
            u = rng.normal(size=joint.nv)
            step = distance * u / max(float(np.linalg.norm(u)), 1e-300)
            found.append(("near", distance, np.array([float(e) for e in joint.integrate(tuple(around), tuple(step))])))
    found += [("far", None, q) for q in far_configurations(joint, rng)]
    if regular == 1:
        usual = [s for s in found if s[0] != "near" or s[1] == DISTANCES[1]]
        kinds = [kind for kind, _, _ in usual]
        return [s for k, s in enumerate(usual) if kinds.index(s[0]) == k]
    return found


class Robot:
    """A chain of a revolute joint, the joint, and another revolute joint, and its states."""

    def __init__(self, name, joint, regular=3, second=3):
        rng = np.random.default_rng(abs(hash_of(name)))
        self.name, self.joint = name, joint
        chain = (J.Revolute((0.48, 0.6, 0.64)), joint, J.Revolute((0.36, -0.48, 0.8)))
        m = self.mechanism = cardan.Mechanism("chain")
        parent = "world"
        for body, one in zip(("first", "second", "third"), chain, strict=True):
            m.add_body(body, random_inertia(rng))
            rotor = () if isinstance(one, Mimic) else rng.uniform(0.02, 0.1, size=one.nv)
            P, C = random_pose(rng), random_pose(rng)
            m.add_joint(body, one, parent, body, P, C, armature=None if isinstance(one, Mimic) else rotor)
            parent = body
        self.model = m.model()
        nv, states = self.model.nv, configurations(joint, regular)
        self.kinds, self.distances = [s[0] for s in states], [s[1] for s in states]
        ends = rng.uniform(-np.pi, np.pi, size=(len(states), 2))
        self.q = np.array([self._whole(own, end) for (_, _, own), end in zip(states, ends, strict=True)])
        self.v, self.a, self.direction = rng.normal(size=(3, len(states), nv))
        mimic = isinstance(joint, Mimic)  # which reads the first joint's coordinates
        self.own_q, self.own_v = (slice(0, 1),) * 2 if mimic else (slice(1, -1),) * 2
        self.wrenches = rng.normal(size=(len(states), len(self.model.body_names), 6))
        self.tau = np.zeros((len(states), nv))
        self.twice = self._some_of_each(second)

    def _whole(self, own, end):
        if isinstance(self.joint, Mimic):
            return [float(own[0]), end[1]]
        return [end[0], *own, end[1]]

    def _some_of_each(self, count):
        """The states at which second derivatives are compared."""
        near = [i for i, d in enumerate(self.distances) if d in DISTANCES[1:2]]
        return sorted({0, *(self.kinds.index(k) for k in KINDS if k in self.kinds), *near[:1]})[: count + 2]


def hash_of(name):
    return sum(ord(c) * (k + 1) for k, c in enumerate(name))


# --- the three answers ---


def exact_values(robot):
    """What is true at each state; fills in the efforts of forward dynamics."""
    with mp.workdps(DIGITS):
        oracle = Oracle(robot.mechanism)
        for i in range(len(robot.q)):
            robot.tau[i] = oracle.efforts(exact(robot.q[i]), exact(robot.v[i]), exact(robot.a[i])).astype(float)
            oracle.forget()
        return [values_at(robot, oracle, i) for i in range(len(robot.q))]


def nudged_values(robot, i):
    """What would be true if every number of the robot and of the state were rounded once more."""
    signs = np.random.default_rng(i)

    def nudged(x):
        return x * (1 + int(signs.choice([-1, 1])) * mp.mpf(2) ** -53)

    with mp.workdps(DIGITS):
        return values_at(robot, Oracle(robot.mechanism, nudged), i, nudged)


def values_at(robot, oracle, i, nudged=lambda x: x):
    """Every quantity at one state."""

    def of(values):
        return tuple(map(nudged, exact(values)))

    q, v, a, tau_given, u = (of(x[i]) for x in (robot.q, robot.v, robot.a, robot.tau, robot.direction))
    own_q, own_v = q[robot.own_q], v[robot.own_v]
    wrenches, alone = [of(w) for w in robot.wrenches[i]], JointOracle(robot.joint)
    values = {"X": alone.pose(own_q)[:3], "S": alone.subspace(own_q), "bias": alone.bias(own_q, own_v)}
    values["dS/dt"] = alone.subspace_rate(own_q, own_v)
    values["tau"] = tau = oracle.efforts(q, v, a)
    values["dtau/dq"] = oracle.inverse_dynamics_by_q(q, v, a)
    values["dtau/dv"] = by_v = oracle.inverse_dynamics_by_v(q, v)
    values["dtau/da"] = M = oracle.mass_matrix(q)
    values["dtau/dq, wrenches"] = oracle.inverse_dynamics_by_q(q, v, a, wrenches)
    inverse = np.array(mp.inverse(mp.matrix(M.tolist())).tolist(), dtype=object).reshape(M.shape)
    values["a"] = made = np.array(a, dtype=object) + inverse @ (np.array(tau_given, dtype=object) - tau)
    values["da/dq"] = -inverse @ oracle.inverse_dynamics_by_q(q, v, tuple(made))
    values["da/dv"], values["da/dtau"] = -inverse @ by_v, inverse
    values["C v"], values["C + C'"] = oracle.coriolis(q, v)
    values["dJ/dt"] = oracle.jacobian_rate(q, v)
    values["dV/dq"] = oracle.along_q(lambda x: oracle.velocity(x, v), q)
    values["dA/dq"] = oracle.along_q(lambda x: oracle.acceleration(x, v, a), q)
    values["dA/dv"] = oracle.along_v(lambda x: oracle.acceleration(q, x, a), v)
    values["dT/dq"] = oracle.along_q(lambda x: oracle.kinetic_energy(x, v), q)
    values["dT/dv"] = oracle.along_v(lambda x: oracle.kinetic_energy(q, x), v)
    values["dU/dq"] = oracle.along_q(oracle.potential_energy, q)
    values["d2U/dq2"] = oracle.potential_hessian(q)
    values["dh/dq"] = oracle.along_q(lambda x: oracle.momentum(x, v), q)
    values["dh'/dq"] = oracle.along_q(lambda x: oracle.momentum_rate(x, v, a), q)
    values["dh'/dv"] = oracle.along_v(lambda x: oracle.momentum_rate(q, x, a), v)
    if i in robot.twice:
        by_q, values["d2tau/dqdv"] = oracle.second_derivatives(q, v, a, u)
        values["d2tau/dq2"] = values["d2tau/dq2, recursion"] = by_q
    oracle.forget()
    return {name: np.array(value, dtype=object) for name, value in values.items()}


@cardan.function
def joint_motion(model, q, v):
    """The second joint's own pose, S, bias and dS/dt."""
    node = next(n for n in model.nodes if n.name == "second")
    joint, own, rates = node.joint, node.configuration(q), node.velocity(v)
    X = joint.transform(own)
    pose = [[*row, p] for row, p in zip(X.rotation.rows(), X.translation, strict=True)]
    rate = joint.motion_subspace_rate(own, rates)
    return {
        "X": np.array(pose, dtype=object),
        "S": np.array([s.scalars() for s in joint.motion_subspace(own)], dtype=object).T,
        "bias": np.array(joint.bias(own, rates).scalars(), dtype=object),
        "dS/dt": np.array([s.scalars() for s in rate], dtype=object).T,
    }


@cache
def compiled(target):
    """The functions compared."""
    d, along = cardan.derivative, cardan.jacobian_vector_product
    V, A, h, rate = cardan.frame_velocity, cardan.frame_acceleration, cardan.centroidal_momentum, None
    rate = cardan.centroidal_momentum_rate
    functions = {
        "joint": joint_motion,
        "tau": cardan.inverse_dynamics,
        "by": cardan.inverse_dynamics_derivatives,
        "a": cardan.forward_dynamics,
        "forward": cardan.forward_dynamics_derivatives,
        "C": cardan.coriolis_matrix,
        "dJ/dt": cardan.jacobian_derivative,
        "dV/dq": d(V, "q"),
        "dA/dq": d(A, "q"),
        "dA/dv": d(A, "v"),
        "dT/dq": d(cardan.kinetic_energy, "q"),
        "dT/dv": d(cardan.kinetic_energy, "v"),
        "dU/dq": d(cardan.potential_energy, "q"),
        "d2U/dq2": cardan.hessian(cardan.potential_energy, "q"),
        "dh/dq": d(h, "q"),
        "dh'/dq": d(rate, "q"),
        "dh'/dv": d(rate, "v"),
        "d2tau/dq2": along(d(cardan.inverse_dynamics, "q"), "q"),
        "d2tau/dqdv": along(d(cardan.inverse_dynamics, "q"), "v"),
        "recursion": along(cardan.inverse_dynamics_derivatives, "q"),
    }
    return {name: f.on(target) for name, f in functions.items()}


def cardan_values(robot, target=None):
    """cardan's results, each for all states at once; `robot.tau` must be known."""
    f, model, q, v, a, tau = compiled(target), robot.model, robot.q, robot.v, robot.a, robot.tau
    own, body = {"expressed_in": "frame"}, "third"
    found = dict(f["joint"](model, q, v)) if robot.joint.nv else {}
    found["tau"], found["a"] = f["tau"](model, q, v, a), f["a"](model, q, v, tau)
    found["dtau/dq"], found["dtau/dv"], found["dtau/da"] = f["by"](model, q, v, a)
    found["dtau/dq, wrenches"] = f["by"](model, q, v, a, robot.wrenches).dq
    found["da/dq"], found["da/dv"], found["da/dtau"] = f["forward"](model, q, v, tau)
    C = f["C"](model, q, v)
    found["C v"], found["C + C'"] = np.einsum("nij,nj->ni", C, v), C + C.swapaxes(1, 2)
    found["dJ/dt"] = f["dJ/dt"](model, q, v, body, **own)
    found["dV/dq"] = f["dV/dq"](model, q, v, body, **own)
    for name in ("dA/dq", "dA/dv"):
        found[name] = f[name](model, q, v, a, body, **own)
    for name in ("dT/dq", "dT/dv", "dh/dq"):
        found[name] = f[name](model, q, v)
    for name in ("dU/dq", "d2U/dq2"):
        found[name] = f[name](model, q)
    for name in ("dh'/dq", "dh'/dv"):
        found[name] = f[name](model, q, v, a)
    u = robot.direction
    found["d2tau/dq2"] = f["d2tau/dq2"](model, q, v, a, direction=u)
    found["d2tau/dqdv"] = f["d2tau/dqdv"](model, q, v, a, direction=u)
    found["d2tau/dq2, recursion"] = f["recursion"](model, q, v, a, direction=u)["dq"]
    return found


def pin_joint(pin, joint):
    """The same joint in Pinocchio, or None."""

    def vector(axis):
        return np.array([float(e) for e in axis])

    def pose(X):
        return pin.SE3(X.matrix())

    if isinstance(joint, J.Composite):
        model = pin.JointModelComposite(pin_joint(pin, joint.joints[0]), pose(joint.placements[0]))
        for one, X in zip(joint.joints[1:], joint.placements[1:], strict=True):
            model.addJoint(pin_joint(pin, one), pose(X))
        return model
    if isinstance(joint, J.UnboundedRevolute):
        return pin.JointModelRUBZ() if joint == J.UnboundedRevolute((0.0, 0.0, 1.0)) else None
    makers = {
        J.Revolute: lambda: pin.JointModelRevoluteUnaligned(vector(joint.axis)),
        J.Prismatic: lambda: pin.JointModelPrismaticUnaligned(vector(joint.axis)),
        J.Helical: lambda: pin.JointModelHelicalUnaligned(vector(joint.axis), joint.pitch),
        J.Universal: lambda: pin.JointModelUniversal(vector(joint.axis1), vector(joint.axis2)),
        J.Spherical: pin.JointModelSpherical,
        J.SphericalZYX: pin.JointModelSphericalZYX,
        J.Translation: pin.JointModelTranslation,
        J.Planar: pin.JointModelPlanar,
        J.FreeFlyer: pin.JointModelFreeFlyer,
        J.Ellipsoid: lambda: pin.JointModelEllipsoid(*joint.radii),
    }
    return makers[type(joint)]() if type(joint) in makers else None


def pin_values(robot):
    """Pinocchio's results, for the same states; None where it has no such joint."""
    import pinocchio as pin

    mechanism, model = robot.mechanism, pin.Model()
    if pin_joint(pin, robot.joint) is None:
        return None
    above = cardan.SE3()
    for k, (c, body) in enumerate(zip(mechanism.joints, mechanism.bodies[-3:], strict=True)):
        index = model.addJoint(k, pin_joint(pin, c.joint), pin.SE3((above @ c.parent_pose).matrix()), c.name)
        above = c.child_pose.inverse()
        matrix = np.array([list(row) for row in body.inertia.inertia_at_com.matrix().rows()])
        inertia = pin.Inertia(body.inertia.mass, np.array(list(body.inertia.com)), matrix)
        model.appendBodyToJoint(index, inertia, pin.SE3(above.matrix()))
    frame = model.addFrame(pin.Frame("tool", 3, 0, pin.SE3(above.matrix()), pin.FrameType.OP_FRAME))
    model.armature = np.concatenate([c.armature for c in mechanism.joints])
    data, nv = model.createData(), model.nv
    parts = [_pin_state(pin, model, data, frame, robot, i) for i in range(len(robot.q))]
    assert nv == robot.model.nv
    return {name: np.array([part[name] for part in parts]) for name in parts[0]}


def _pin_state(pin, model, data, frame, robot, i):
    q, v, a, tau = robot.q[i], robot.v[i], robot.a[i], robot.tau[i]
    joint = model.joints[2]
    jdata = joint.createData()
    joint.calc(jdata, q, v)
    found = {"X": jdata.M.homogeneous[:3], "S": np.array(jdata.S).reshape(6, joint.nv), "bias": jdata.c.vector}
    found["tau"], found["a"] = pin.rnea(model, data, q, v, a).copy(), pin.aba(model, data, q, v, tau).copy()
    dq, dv, da = (np.array(x) for x in pin.computeRNEADerivatives(model, data, q, v, a))
    found |= {"dtau/dq": dq, "dtau/dv": dv, "dtau/da": np.triu(da) + np.triu(da, 1).T}
    dq, dv, dtau = (np.array(x) for x in pin.computeABADerivatives(model, data, q, v, tau))
    found |= {"da/dq": dq, "da/dv": dv, "da/dtau": np.triu(dtau) + np.triu(dtau, 1).T}
    C = np.array(pin.computeCoriolisMatrix(model, data, q, v))
    found |= {"C v": C @ v, "C + C'": C + C.T}
    pin.computeJointJacobiansTimeVariation(model, data, q, v)
    pin.updateFramePlacements(model, data)
    found["dJ/dt"] = np.array(pin.getFrameJacobianTimeVariation(model, data, frame, pin.LOCAL))
    pin.computeForwardKinematicsDerivatives(model, data, q, v, a)
    dq, _ = pin.getFrameVelocityDerivatives(model, data, frame, pin.LOCAL)
    found["dV/dq"] = np.array(dq)
    _, dq, dv, _ = pin.getFrameAccelerationDerivatives(model, data, frame, pin.LOCAL)
    found |= {"dA/dq": np.array(dq), "dA/dv": np.array(dv)}
    dh, dq, dv, _ = pin.computeCentroidalDynamicsDerivatives(model, data, q, v, a)
    return found | {"dh/dq": np.array(dh), "dh'/dq": np.array(dq), "dh'/dv": np.array(dv)}


# --- the errors ---


def errors(robot, true, found):
    """{quantity: [error at each state, None where it was not compared]}."""
    table = {}
    for name, values in found.items():
        known = [t.get(name) for t in true]
        sizes = [None if t is None else largest(t) for t in known]
        usual = max((s for s, kind in zip(sizes, robot.kinds, strict=True) if kind == "regular" and s), default=0.0)
        table[name] = [
            None if t is None or ours is None else largest(exact_difference(ours, t)) / scale(max(size, usual))
            for ours, t, size in zip(values, known, sizes, strict=True)
        ]
    return table


def scale(size):
    """What an error is divided by; what is only the oracle's own error (1e-24) is 0."""
    return size if size > 1e-15 else 1.0


def exact_difference(ours, true):
    if ours.shape != true.shape:
        raise ValueError(f"shapes {ours.shape} and {true.shape}")
    with mp.workdps(DIGITS):
        flat = [mp.mpf(x) - y for x, y in zip(ours.ravel(), true.ravel(), strict=True)]
    return np.array(flat, dtype=object)


def largest(array):
    flat = [abs(float(e)) for e in np.ravel(array)]
    return float("nan") if any(x != x for x in flat) else max(flat, default=0.0)


def measured(name, joint, target=None, with_pin=True, regular=3, second=3, explained=True):
    """The errors of one joint's robot, as plain data."""
    robot = Robot(name, joint, regular, second)
    true = exact_values(robot)
    result = {"joint": name, "kinds": robot.kinds, "distances": robot.distances}
    result["condition"] = [float(np.linalg.cond(t["dtau/da"].astype(float))) for t in true]
    result["cardan"] = errors(robot, true, cardan_values(robot, target))
    theirs = pin_values(robot) if with_pin else None
    result["pin"] = errors(robot, true, theirs) if theirs else None
    if explained:
        result["nudged"] = errors(robot, true, nudged_where(robot, true, result["cardan"]))
    return result


def nudged_where(robot, true, found):
    """The values of `nudged_values` at the states where an error is worth an explanation."""
    states = range(len(true))
    asked = {i for i in states if any(e[i] is not None and not e[i] <= EXPLAINED for e in found.values())}
    values = {i: nudged_values(robot, i) for i in asked}
    return {name: [values[i].get(name) if i in asked else None for i in states] for name in found}


# --- the table ---


def worst(result, library, group, kinds):
    """The largest error of a group of quantities at states of some kinds, with quantity, kind and distance."""
    found = None
    for name in GROUPS[group]:
        for error, kind, distance in zip(
            (result[library] or {}).get(name, ()), result["kinds"], result["distances"], strict=False
        ):
            if error is not None and kind in kinds and (found is None or not error <= found[0]):
                found = error, name, kind, distance
    return found


def cell(found):
    return "" if found is None else "0" if found[0] < 1e-40 else f"{found[0]:.0e}"  # the oracle's own error


def by_joint(results, kinds):
    """Rows: each joint, with Pinocchio's beneath where it has the joint."""
    rows = [["joint", *GROUPS]]
    for result in results:
        rows.append([result["joint"], *(cell(worst(result, "cardan", g, kinds)) for g in GROUPS)])
        if result["pin"]:
            rows.append(["... in pin", *(cell(worst(result, "pin", g, kinds)) for g in GROUPS)])
    return rows


def by_kind(results, library):
    """Rows: each kind of state, and the largest condition number of M there; entries: the worst of all joints."""
    rows = [["states", "cond M", *GROUPS]]
    for kind in KINDS:
        chosen = [r for r in results if kind in r["kinds"] and r[library]]
        if not chosen:
            continue
        condition = max(c for r in chosen for c, k in zip(r["condition"], r["kinds"], strict=True) if k == kind)
        cells = [
            max((worst(r, library, g, (kind,)) for r in chosen), key=lambda f: f[0] if f else -1.0) for g in GROUPS
        ]
        rows.append([kind, f"{condition:.0e}", *map(cell, cells)])
    return rows


def above(results, limit, library="cardan"):
    """(error, by rounding the data, joint, quantity, kind, distance, condition of M), the largest error first."""
    found = []
    for r in results:
        for name, values in r[library].items():
            data = (r[key] for key in ("kinds", "distances", "condition"))
            states = zip(values, r["nudged"].get(name, [None] * len(values)), *data, strict=True)
            found += [(e, n, r["joint"], name, *rest) for e, n, *rest in states if e is not None and not e <= limit]
    return sorted(found, key=lambda f: -f[0])


def text(rows, markdown=False):
    if markdown:
        lines = [" | ".join(row) for row in rows]
        lines.insert(1, " | ".join(["---"] * len(rows[0])))
        return "\n".join(f"| {line} |" for line in lines)
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return "\n".join("  ".join(e.ljust(w) for e, w in zip(row, widths, strict=True)).rstrip() for row in rows)


def report(results, markdown=False):
    """All tables, as text."""
    usual = tuple(k for k in KINDS if k != "far")
    parts = [("each joint, all states but the far ones", by_joint(results, usual))]
    parts += [("each joint, far states", by_joint([r for r in results if "far" in r["kinds"]], ("far",)))]
    parts += [("cardan, the worst of all joints", by_kind(results, "cardan"))]
    if any(r["pin"] for r in results):
        parts += [("Pinocchio, the worst of all its joints", by_kind(results, "pin"))]
    mark = "### " if markdown else ""
    return "\n\n".join(f"{mark}{title}\n\n{text(rows, markdown)}" for title, rows in parts)


FARTHEST = ("Planar", "FreeFlyer", "FloatingMRP", "D6", "PlanarAngle", "OpenSimCustom", "Cable")


def routes(names, cases):
    """Rows: at a far state, the errors of the recursion, of the differentiated program, and of rounding the data."""
    d, rows = cardan.derivative, []
    for name in names:
        robot = Robot(name, cases[name], regular=1, second=0)
        true, model = exact_values(robot), robot.model
        tau, a = (model, robot.q, robot.v, robot.a), (model, robot.q, robot.v, robot.tau)
        program = {f"dtau/d{x}": d(cardan.inverse_dynamics, x)(*tau) for x in "qv"}
        program |= {f"da/d{x}": d(cardan.forward_dynamics, x)(*a) for x in "qv"}
        i = robot.kinds.index("far")
        nudged = nudged_values(robot, i)
        data = {what: [nudged[what] if k == i else None for k in range(len(true))] for what in program}
        every = [errors(robot, true, values) for values in (cardan_values(robot), program, data)]
        rows += [[name, what, *(f"{table[what][i]:.0e}" for table in every)] for what in program]
    return rows


def has_pin():
    try:
        import pinocchio  # noqa: F401
    except ImportError:
        return False
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("joints", nargs="*", help="names of rows; all by default")
    parser.add_argument("--markdown", action="store_true", help="tables for the documentation")
    parser.add_argument("--json", metavar="FILE", help="write every error found")
    parser.add_argument("--target", help="where cardan computes: llvm or numpy; by default native code")
    parser.add_argument("--routes", action="store_true", help="the far states' derivatives by another way, instead")
    parser.add_argument("--above", type=float, default=1e-12, help="list single errors above this (default: 1e-12)")
    args = parser.parse_args()
    cases = case_joints()
    for name in args.joints:
        if name not in cases:
            parser.error(f"no joint {name!r}; there are: {', '.join(cases)}")
    if args.routes:
        print(
            text([["joint", "derivative", "recursion", "program", "rounding"], *routes(args.joints or FARTHEST, cases)])
        )
        return
    results, started = [], time.perf_counter()
    for name in args.joints or cases:
        results.append(measured(name, cases[name], args.target, has_pin()))
        print(f"{name}: {time.perf_counter() - started:.0f} s", file=sys.stderr, flush=True)
    print(report(results, args.markdown))
    print(f"\nabove {args.above:.0e}: error, that of rounding all data once more; condition number of M")
    for error, data, joint, name, kind, distance, condition in above(results, args.above):
        where = kind if distance is None else f"{kind} {distance}"
        print(f"  {error:.1e}  {data:.1e}  {condition:.0e}  {joint}: {name}, {where}")
    if args.json:
        Path(args.json).write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
