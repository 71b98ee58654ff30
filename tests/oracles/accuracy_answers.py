"""The answers that `accuracy.py` compares: the oracle's and cardan's; Pinocchio's are in `accuracy_pin.py`."""

from functools import cache

import mpmath as mp
import numpy as np

import cardan
from extended import DIGITS, JointOracle, Oracle, exact


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

    q, v, a, tau_given, u, w = (
        of(x[i]) for x in (robot.q, robot.v, robot.a, robot.tau, robot.direction, robot.weights)
    )
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
        values |= zip(weighed("tau", "a"), oracle.inverse_dynamics_twice(q, v, a, w), strict=True)
        values |= zip(weighed("a", "tau"), oracle.forward_dynamics_twice(q, v, tau_given, w), strict=True)
    oracle.forget()
    return {name: np.array(value, dtype=object) for name, value in values.items()}


def weighed(of, by):
    """What the second derivatives of weights . of are called."""
    return [f"d2 w.{of}/{x}" for x in ("dq2", "dqdv", "dv2", f"dqd{by}")]


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
        "twice": cardan.inverse_dynamics_hessian,
        "forward, twice": cardan.forward_dynamics_hessian,
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
    found |= zip(weighed("tau", "a"), f["twice"](model, q, v, a, robot.weights), strict=True)
    found |= zip(weighed("a", "tau"), f["forward, twice"](model, q, v, tau, robot.weights), strict=True)
    return found
