"""What a joint must be (sizes, types, a value that stays the same), and laws of its transform and its coordinates."""

from __future__ import annotations

import copy
import dataclasses
import math
import pickle
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from cardan._algebra.arrays import as_argument
from cardan._algebra.errors import CardanError, ReachError
from cardan._algebra.manifolds.manifold import finite_range
from cardan._algebra.spatial import SE3, Motion
from cardan._compiler.program import Array, trace
from cardan._reach.formats import from_json, to_json
from cardan._reach.verification.check import (
    Ledger,
    Numbers,
    Samples,
    Skip,
    check,
    columns,
    entries,
    floats,
    rate_along,
    scaled,
    vector,
)
from cardan._robot.joints import Joint, Limits, Reversed, first_checks, reverse
from cardan._robot.joints.catalogue.of_another import Follower
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
    units = {i for part in joint.manifold.unit_parts() for i in range(*part)}
    if not units:
        raise Skip("every q is on the manifold")
    for q in (tuple(OFF * e if i in units else e for i, e in enumerate(q)) for q in samples.q):
        X, normal = joint.transform(q), floats(joint.normalize(q))
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
        v = samples.within(q, v)
        step = samples.within(q, scaled(v, 0.3))
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


# --- the rank of S, and the configurations where it drops ---
#
# The smallest singular value sigma = u^T S(q) w, kept with its sign, crosses zero at a singular configuration; Newton's
# method along its gradient g_j = u^T (dS/dq_j) w finds the nearest one: dq = -sigma g / |g|^2.
#
# Source: Golub and Van Loan, Matrix Computations (2013), section 2.4, for the derivative of a singular value.

RANK = 1e-9  # singular values below this, relative to the largest, are zero
STEPS, STRIDE, SMALL = 40, 0.5, 1e-7
SHOWN = 6


@dataclass(frozen=True, slots=True)
class Singularity:
    """A configuration where S loses rank.

    Attributes:
        q: the configuration.
        rank: of S there.
        free: which of the nv velocities keep it singular, to first order.
        text: all of that in words.

    Examples:
        >>> ball = cardan.joints.SphericalZYX()
        >>> cardan.verify_joint(ball, samples=2).singularities[0].rank
        2
    """

    q: Numbers
    rank: int
    free: tuple[bool, ...]
    text: str


def rank_of(S: np.ndarray) -> int:
    values = np.linalg.svd(S, compute_uv=False)
    return int((values > RANK * max(1.0, values.max(initial=0.0))).sum())


@check("rank", "rank S(q) = nv at almost every q")
def rank(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    if not joint.nv:
        raise Skip("there are no columns")
    ranks = [rank_of(columns(joint.motion_subspace(q))) for q in samples.q]
    best = max(ranks)
    own = joint.joint.nv if isinstance(joint, Follower) else joint.nv
    ledger.see(best, min(joint.nv, own), samples.q[ranks.index(best)], label="rank of S")
    if ledger.failed:
        hint = "; are these the coordinates of a quaternion? Then the manifold is UnitQuaternion()"
        ledger.cause = "some velocities do nothing, or the same as others: there are fewer degrees of freedom than nv"
        ledger.cause += hint if (joint.nq, joint.nv, best) == (4, 4, 3) else ""


def singularities(joint: Joint, samples: Samples) -> tuple[Singularity, ...]:
    """Return singular configurations near the samples, different ones, the simplest first; not all there are."""
    if not joint.nv or max(rank_of(columns(joint.motion_subspace(q))) for q in samples.q) < joint.nv:
        return ()
    found: dict[str, Singularity] = {}
    for q in samples.q:
        singular = _search(joint, q, samples)
        if singular is not None:
            known = found.setdefault(singular.text, singular)
            if sum(singular.free) > sum(known.free):
                found[singular.text] = singular
    order = sorted(found.values(), key=lambda s: (-sum(s.free), float(np.abs(s.q).max(initial=0.0))))
    return tuple(order[:SHOWN])


def _search(joint: Joint, start: Numbers, samples: Samples) -> Singularity | None:
    q, g = start, np.zeros(joint.nv)
    for _ in range(STEPS):
        u, sigma, w = _smallest(joint, q)
        if sigma < SMALL * 1e-3:  # near enough: further steps would be rounding
            break
        g = np.array([u @ _rate(joint, q, e) @ w for e in np.eye(joint.nv)])
        if g @ g < 1e-12:  # nothing changes sigma here, or it is not differentiable
            break
        step = -sigma * g / (g @ g)
        step *= min(1.0, STRIDE / np.linalg.norm(step))  # a long step leaves the range in which sigma is nearly linear
        moved = floats(joint.integrate(q, tuple(step)))
        if not samples.holds(moved):
            return None
        q = moved
    _, sigma, _ = _smallest(joint, q)
    if not sigma < SMALL:
        return None
    free = tuple(bool(_remains(joint, q, e, samples)) for e in np.eye(joint.nv))
    found = int((np.linalg.svd(columns(joint.motion_subspace(q)), compute_uv=False) > SMALL).sum())
    return Singularity(q, found, free, _named(joint, q, found, free))


def _smallest(joint: Joint, q: Numbers) -> tuple[np.ndarray, float, np.ndarray]:
    U, values, W = np.linalg.svd(columns(joint.motion_subspace(q)), full_matrices=False)
    return U[:, -1], float(values[-1]), W[-1]


def _rate(joint: Joint, q: Numbers, e: np.ndarray) -> np.ndarray:
    ends = [columns(joint.motion_subspace(joint.integrate(q, tuple(sign * 1e-5 * e)))) for sign in (1.0, -1.0)]
    return (ends[0] - ends[1]) / 2e-5


def _remains(joint: Joint, q: Numbers, e: np.ndarray, samples: Samples) -> bool:
    # Three places that no period of pi has in common.
    ahead = [floats(joint.integrate(q, tuple(t * e))) for t in (-0.4, 0.3, 0.9)]
    return all(_smallest(joint, there)[1] < 1e-5 for there in ahead if samples.holds(there))


def _named(joint: Joint, q: Numbers, found: int, free: tuple[bool, ...]) -> str:
    """Return the configuration in words; coordinates that do not matter are left open."""
    if joint.nq == joint.nv:
        fixed = [f"{n} = {angle(x)}" for n, x, f in zip(joint.coordinate_names, q, free, strict=True) if not f]
        if fixed:
            anything = [n for n, f in zip(joint.coordinate_names, free, strict=True) if f]
            rest = f", any {', '.join(anything)}" if anything else ""
            return f"rank {found} at {', '.join(fixed)}{rest}"
    return f"rank {found} at q = ({', '.join(f'{x:.4g}' for x in q)})"


def angle(x: float) -> str:
    turns = x / (0.5 * math.pi)
    k = round(turns)
    if k and abs(turns - k) < 1e-6:
        return {1: "pi/2", -1: "-pi/2", 2: "pi", -2: "-pi"}.get(k, f"{k} pi/2" if k % 2 else f"{k // 2} pi")
    return f"{x:.5g}" if abs(x) > 1e-9 else "0"
