"""What a joint must be (sizes, types, a value that stays the same), and laws of its transform and its coordinates."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from functools import partial
from typing import Any

import numpy as np

from cardan._algebra.arrays import as_argument
from cardan._algebra.errors import CardanError, ReachError
from cardan._algebra.manifolds.manifold import finite_range
from cardan._algebra.spatial import SE3, Motion
from cardan._compiler.program import Array, trace
from cardan._reach.formats import from_json, to_json
from cardan._reach.verification.check import Ledger, Skip, check
from cardan._reach.verification.samples import Samples, columns, entries, floats, rate_along, scaled, vector
from cardan._robot.joints import Joint, Limits, Reversed, first_checks, reverse
from cardan._robot.joints.first_checks import rotation_fault


@check("sizes", "nq and nv are those of the manifold, of its maps and of the names", essential=True)
def sizes(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    if fault := first_checks.manifold_fault(joint):
        ledger.fail(fault.what)
        ledger.cause = fault.cure
        return
    for fault in first_checks.size_faults(joint, samples.q[-1], samples.v[0]):
        ledger.fail(fault.what)


@check("transform", "transform(q) is a pose of finite numbers", essential=True)
def transform(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    for q in samples.q:
        ledger.now = (q, None)
        X = joint.transform(q)
        if fault := first_checks.type_fault(X):
            ledger.fail(fault.what, q)
            ledger.cause = fault.cure
            return
        numbers = entries(X)  # a number that is not finite is compared with 0, and so is wrong
        ledger.see(numbers, np.where(np.isfinite(numbers), numbers, 0.0), q, label="[R row by row, p]")
    if ledger.failed and ledger.place == samples.q[0]:
        kinds = {4: "; for a quaternion it is UnitQuaternion()", 2: "; for (cos, sin) it is UnitComplex()"}
        guard = "0 / 0 or a root of zero, to be guarded with cardan.where on both sides"
        ledger.cause = f"at the neutral configuration: {guard}, or the wrong manifold{kinds.get(joint.nq, '')}"


@check("shapes", "S has nv columns, each a Motion; the bias is a Motion; there are nv efforts", essential=True)
def shapes(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    for q, v in samples.states:
        ledger.now = (q, v)
        S, bias, efforts = list(joint.motion_subspace(q)), joint.bias(q, v), joint.efforts(q, v)
        faults = (
            first_checks.columns_fault(joint, S),
            first_checks.efforts_fault(joint, efforts),
            *map(first_checks.motion_fault, (*S, bias)),
        )
        for fault in filter(None, faults):
            ledger.fail(fault.what, q, v)
            ledger.cause = ledger.cause or fault.cure


@check("no memory", "every call with the same q gives the same result, whatever was called before", 1e-15)
def memory(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    before = _attributes(joint)
    first = [_everything(joint, q, v) for q, v in samples.states]
    # Another order: what a joint remembers shows.
    backwards = [_everything(joint, q, v) for q, v in reversed(samples.states)]
    for (q, v), a, b in zip(samples.states, first, reversed(backwards), strict=True):
        ledger.see(b, a, q, v, label="[transform, S, bias, efforts]")
    for q, v in samples.states:  # S and bias asked for at a configuration whose transform was not
        joint.transform(samples.q[0])
        S = columns(joint.motion_subspace(q)).ravel()
        ledger.see(S, columns(samples.joint.motion_subspace(q)).ravel(), q, v, label="S")
        joint.transform(q)
        ledger.see(S, columns(joint.motion_subspace(q)).ravel(), q, v, label="S after transform(neutral)")
    changed = [k for k, text in _attributes(joint).items() if before.get(k) != text]
    if changed:
        ledger.fail(f"calls change the attribute {changed[0]!r}")
    if ledger.failed:
        ledger.cause = first_checks.MEMORY


def _everything(joint: Joint, q: Any, v: Any) -> np.ndarray:
    S, bias = columns(joint.motion_subspace(q)), vector(joint.bias(q, v))
    efforts = np.array([float(e) for e in joint.efforts(q, v)])
    return np.concatenate([entries(joint.transform(q)), S.ravel(), bias, efforts])


def _attributes(joint: Joint) -> dict[str, str]:
    return {k: repr(value) for k, value in {**joint.parameters(), **getattr(joint, "__dict__", {})}.items()}


@check("value", "copies, pickles and rebuilds are equal to the joint, with an equal hash")
def value(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    ways = {"a copy": copy.deepcopy, "a pickle": lambda j: pickle.loads(pickle.dumps(j))}
    if dataclasses.is_dataclass(joint):
        ways["one built from parameters()"] = lambda j: type(j)(**j.parameters())
    for how, make in ways.items():
        try:
            other = make(joint)
        except Exception as error:  # pickling may raise anything
            ledger.fail(f"{how} raises {type(error).__name__}: {first_checks.first_line(error)}")
            ledger.cause = "define the class at the top of a module, with parameters that can be stored"
            return
        if not (other == joint and hash(other) == hash(joint)):
            ledger.fail(f"{how} is not equal to the joint, or its hash differs")
            ledger.cause = "__eq__ must compare the parameters; a frozen dataclass does, cardan.Joint does without"
            return
        for q in samples.q[:2]:
            ledger.see(entries(other.transform(q)), entries(joint.transform(q)), q, label=f"transform of {how}")


@check("serialisation", "from_json(to_json(joint)) is the joint, to the last bit")
def serialisation(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    """Write the joint as JSON, read it, compare; its class is trusted to be found where it says."""
    try:
        text = to_json(joint)
        other = from_json(text, trusted=True)
    except CardanError as error:
        ledger.fail(first_checks.first_line(error))
        ledger.cause = "make it a frozen dataclass at the top of a module, whose fields are numbers, texts, joints, ..."
        return
    if not (other == joint and to_json(other) == text):
        ledger.fail("the joint that is read is not equal to the one that was written")
        ledger.cause = "__init__ or __post_init__ changes a parameter, or the joint keeps one outside its fields"
        return
    for q, v in samples.states:
        ledger.now = (q, v)
        ledger.see(_everything(other, q, v), _everything(joint, q, v), q, v, label="[transform, S, bias, efforts]")
    if ledger.failed:
        ledger.cause = "the joint depends on something that is not among its parameters; make it a dataclass field"


@check("traced", "transform, S, bias and efforts run on symbols", essential=True)
def traced(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    q, v = Array("q", (joint.nq,)), Array("v", (joint.nv,))
    methods: dict[str, tuple[Any, list[Array]]] = {
        "transform": (lambda q: joint.transform(q).matrix().ravel().tolist(), [q]),
        "motion_subspace": (lambda q: [e for s in joint.motion_subspace(q) for e in s.scalars()], [q]),
        "bias": (lambda q, v: list(joint.bias(q, v).scalars()), [q, v]),
        "efforts": (lambda q, v: list(joint.efforts(q, v)), [q, v]),
    }
    for name, (method, inputs) in methods.items():
        try:
            trace(name, lambda *arrays, method=method: {"result": as_argument(method(*arrays))}, inputs)
        except Exception as error:  # the joint's code may raise anything
            ledger.fail(f"{name} raises {type(error).__name__}: {first_checks.first_line(error)}")
            ledger.cause = first_checks.cause_of(error)
            return


# --- laws: rigid motions, inverses, limits, rates, related joints ---

OFF = 1.3  # factor that takes a constrained configuration off its manifold


@check("rigid motion", "R^T R = 1, det R = 1", 1e-12)
def rigid(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    for q, X in zip(samples.q, samples.poses, strict=True):
        _see_rotation(X, q, ledger)
    if ledger.failed and (fault := rotation_fault([_rotation(X) for X in samples.poses], ledger.tolerance)):
        ledger.cause = f"{fault.what}; {fault.cure}"


@check("off the manifold", "transform(k q) is a rigid motion, that of normalize(k q)", 1e-12)
def off_manifold(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    """Rounding and integrators leave the manifold; the transform must come back to it."""
    moved = [tuple(OFF * e for e in q) for q in samples.q]  # off every unit circle and sphere, and on every line
    back = [floats(joint.normalize(q)) for q in moved]
    if all(np.allclose(a, b) for a, b in zip(moved, back, strict=True)):
        raise Skip("every q is on the manifold")
    for q, normal in zip(moved, back, strict=True):
        X = joint.transform(q)
        _see_rotation(X, q, ledger)
        ledger.see(entries(X), entries(joint.transform(normal)), q, label="[R row by row, p]")
    if ledger.failed:
        ledger.cause = "transform uses its coordinates as they come; divide them by their norm first"


def _see_rotation(X: SE3, q: tuple[float, ...], ledger: Ledger) -> None:
    R = _rotation(X)
    ledger.see(R.T @ R, np.eye(3), q, label="R^T R")
    ledger.see(np.linalg.det(R), 1.0, q, label="det R")


def _rotation(X: SE3) -> np.ndarray:
    return np.array([list(row) for row in X.rotation.rows()], dtype=float)


@check("inverse of transform", "transform(configuration_from_transform(X)) = X", 1e-6)
def round_trip(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    kept, off = 0, 0.0
    # Each is a search: six are enough to find a wrong inverse.
    for q, X in zip(samples.q[:6], samples.poses, strict=False):
        try:
            found = floats(joint.configuration_from_transform(X))
        except ReachError as error:
            ledger.fail(f"the configuration found has a pose {error.residual:.3g} away", q)
            ledger.cause = (
                "nearest_configuration is not the inverse of transform"
                if type(joint).nearest_configuration is not Joint.nearest_configuration
                else "the search did not find q: S may be wrong, or q far from the random configurations; "
                "give the joint its own nearest_configuration"
            )
            return
        ledger.see(entries(joint.transform(found)), entries(X), q, label="[R row by row, p]")
        gap = np.abs(np.array(joint.difference(q, found), dtype=float)).max(initial=0.0)
        kept, off = kept + (gap < 1e-6), max(off, float(gap))
    if kept < min(6, len(samples.q)):
        ledger.note = f"another q with the same pose was found at {min(6, len(samples.q)) - kept} of 6 poses"


@check("limits", "random configurations keep to the limits, lower <= limit_coordinates(q) <= upper")
def limits(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    if not joint.nv:
        raise Skip("there is nothing to limit")
    low, high = finite_range(samples.bounds.lower, samples.bounds.upper, 0.5)
    # A box of its own for each coordinate: exchanged ones are found.
    lower, upper = low + 0.1 * (high - low), low + np.linspace(0.6, 0.8, joint.nv) * (high - low)
    bounds = Limits(lower=lower.tolist(), upper=upper.tolist())
    for q in joint.random_configuration((32,), seed=samples.seed, limits=bounds):
        x = np.array(joint.manifold.limit_coordinates(floats(q)), dtype=float)
        ledger.see(x, np.clip(x, lower, upper), floats(q), label="limit coordinates")


@check("integrate and difference", "difference(q, integrate(q, v)) = v,  integrate(q, 0) = q", 1e-10)
def inverse_maps(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    for q, v in samples.states:
        step = scaled(v, 0.3)
        ledger.see(joint.difference(q, joint.integrate(q, step)), step, q, step, label="v")
        still = joint.integrate(q, (0.0,) * joint.nv)
        ledger.see(entries(joint.transform(still)), entries(joint.transform(q)), q, label="pose of integrate(q, 0)")
        ledger.see(joint.normalize(joint.integrate(q, v)), joint.integrate(q, v), q, v, label="integrate(q, v)")


@check("velocity maps", "K(q) J(q) = 1 with dq/dt = J v, v = K dq/dt", 1e-10)
def velocity_maps(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    for q, v in samples.states:
        J = np.array(joint.velocity_to_configuration_derivative_jacobian(q), dtype=float).reshape(joint.nq, joint.nv)
        K = np.array(joint.configuration_derivative_to_velocity_jacobian(q), dtype=float).reshape(joint.nv, joint.nq)
        ledger.see(K @ J, np.eye(joint.nv), q, label="K J")
        qdot = joint.velocity_to_configuration_derivative(q, v)
        ledger.see(qdot, J @ v, q, v, label="dq/dt")
        ledger.see(joint.configuration_derivative_to_velocity(q, qdot), v, q, v, label="v")


@check("rate of the coordinates", "d integrate(q, t v)/dt = J(q) v at t = 0")
def retraction(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    for q, v in samples.states:
        rate, slack = rate_along(joint, q, v, lambda moved: moved, 0.05)
        expected = floats(joint.velocity_to_configuration_derivative(q, v))
        ledger.see(expected, rate, q, v, label="J v", slack=10.0 * slack)
    if ledger.failed:
        different = "different velocities (body or parent frame)"
        ledger.cause = f"the manifold's integrate and its velocity map belong to {different}"


@check("rate of the local coordinates", "d difference(q0, q(t))/dt = that of local_coordinates(q0, q, v)", 1e-8)
def chart_rates(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    for q, v in samples.states:
        q0 = joint.integrate(q, scaled(v, -0.3))
        rate, slack = rate_along(joint, q, v, partial(joint.difference, q0), 0.05)
        ledger.see(joint.local_coordinates(q0, q, v)[1], rate, q, v, label="rate", slack=10.0 * slack)


@check("preferred coordinates", "transform(principal_value(q)) = transform(normalize(q)) = transform(q)", 1e-10)
def representatives(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    for q, X in zip(samples.q, samples.poses, strict=True):
        for name in ("principal_value", "normalize"):
            other = getattr(joint, name)(q)
            ledger.see(entries(joint.transform(other)), entries(X), q, label=f"transform({name}(q))")


@check("reversal", "X_rev = X^-1,  S_rev = -Ad(X) S,  bias_rev = -Ad(X) bias", 1e-10)
def reversal(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    for other in (Reversed(joint), reverse(joint)) if not isinstance(joint, Reversed) else (reverse(joint),):
        for (q, v), X in zip(samples.states, samples.poses, strict=True):
            Ad = np.array(X.adjoint(), dtype=float)
            ledger.see(entries(other.transform(q)), entries(X.inverse()), q, label="X_rev")
            ledger.see(columns(other.motion_subspace(q)), -Ad @ columns(joint.motion_subspace(q)), q, label="S_rev")
            there: Motion = other.bias(q, v)
            ledger.see(vector(there), -Ad @ vector(joint.bias(q, v)), q, v, label="bias_rev")
    if ledger.failed:
        ledger.cause = "the reversal of this joint is in closed form and does not belong to it"


@check("equivalent chain", "X, S and bias are those of equivalent_chain(), with the same q and v", 1e-9)
def equivalence(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    stated = getattr(joint, "equivalent_chain", None)
    if stated is None:
        raise Skip("the class has no equivalent_chain() that returns a joint, such as a Composite")
    chain = stated() if callable(stated) else stated
    if not isinstance(chain, Joint) or (chain.nq, chain.nv) != (joint.nq, joint.nv):
        ledger.fail(f"equivalent_chain() returns {chain!r}")
        ledger.cause = f"it must return a joint of nq = {joint.nq}, nv = {joint.nv}"
        return
    for q, v in samples.states:
        ledger.see(entries(joint.transform(q)), entries(chain.transform(q)), q, label="[R row by row, p]")
        ledger.see(columns(joint.motion_subspace(q)), columns(chain.motion_subspace(q)), q, label="S")
        ledger.see(vector(joint.bias(q, v)), vector(chain.bias(q, v)), q, v, label="bias")
    if ledger.failed:
        ledger.cause = "the chain has another placement, axis or order of coordinates than the joint"
