"""The laws of dynamics in a small robot: a body, the joint, a second body, a hinge, a third body; two kinds of base.

And the same numbers however they are computed: batches, float32, native code.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from cardan._algebra.spatial import SE3, Inertia, Motion, exp_se3
from cardan._compiler.program import Array, Program, trace
from cardan._compiler.targets import compile_program, default_target
from cardan._dynamics.algorithms import crba as composite
from cardan._dynamics.algorithms import energy
from cardan._dynamics.algorithms.aba import forward_dynamics
from cardan._dynamics.algorithms.cluster import ClusterMember
from cardan._dynamics.algorithms.configuration import integrate
from cardan._dynamics.algorithms.coriolis import coriolis_matrix
from cardan._dynamics.algorithms.derivatives import inverse_dynamics_derivatives
from cardan._dynamics.algorithms.rnea import inverse_dynamics
from cardan._dynamics.functions.one_joint import evaluate_joint
from cardan._reach.verification import motion
from cardan._reach.verification.check import Ledger, Samples, Skip, check, derivative
from cardan._robot.description import Mechanism
from cardan._robot.joints import Joint, Limits, Revolute
from cardan._robot.model import Model

TARGET = "numpy"  # the reference; native code is compared with it elsewhere
BASES = ("fixed", "floating")
STATES = 4

rnea, aba = inverse_dynamics.on(TARGET), forward_dynamics.on(TARGET)
crba, coriolis = composite.mass_matrix.on(TARGET), coriolis_matrix.on(TARGET)
kinetic, potential = energy.kinetic_energy.on(TARGET), energy.potential_energy.on(TARGET)
move = integrate  # in native code: it closes loops in passes, which take NumPy long
derivatives = inverse_dynamics_derivatives.on(TARGET)


@lru_cache(maxsize=4)  # each check asks for the same two robots
def robot(joint: Joint, base: str, bounds: Limits) -> Model:
    """Return a robot in which the joint moves bodies of asymmetric inertias, within bounds."""
    m = Mechanism(f"{type(joint).__name__} on a {base} base")
    for k, name in enumerate(("trunk", "link", "tool")):
        m.add_body(name, _inertia(k))
    if base == "fixed":
        m.add_joint("ground", Revolute((0.6, 0.0, 0.8)), "world", "trunk", _pose(0), _pose(1))
    for k, primary in enumerate(joint.primaries):  # joints it follows must be there, and it has no limits of its own
        m.add_body(f"lead{k}", _inertia(3 + k))
        # of the same coordinates: that within, or one of the same cluster
        follower: Any = joint
        lead = follower.joint if follower.copying(follower.joint) else replace(follower, by=())
        m.add_joint(primary, lead, "trunk", f"lead{k}", _pose(2), _pose(3))
    own: dict[str, Any] = {} if joint.primaries else {"limits": bounds}
    m.add_joint("joint", joint, "trunk", "link", _pose(4), _pose(5), **own)
    for k, other in enumerate(joint.others(*joint.primaries or ("joint",)) if isinstance(joint, ClusterMember) else ()):
        m.add_body(f"other{k}", _inertia(9 + k))  # alone a joint need not feel all velocities of its cluster
        m.add_joint(f"other{k}", other, "trunk", f"other{k}", _pose(8), _pose(9))
    m.add_joint("hinge", Revolute((0.0, 0.6, 0.8)), "link", "tool", _pose(6), _pose(7))
    return m.model(base=base)


def _pose(k: int) -> SE3:
    rng = np.random.default_rng([k, 7])
    return exp_se3(Motion(0.3 * rng.normal(size=3), rng.normal(size=3)))


def _inertia(k: int) -> Inertia:
    """Return an inertia that a real density could have, of three different principal moments about tilted axes."""
    rng = np.random.default_rng([k, 8])
    # Their pairwise sums obey the triangle inequality, as moments of inertia must.
    second = 0.02 * rng.uniform(0.2, 1.0, size=3)
    axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    moments = axes @ np.diag(second.sum() - second) @ axes.T
    return Inertia(float(rng.uniform(0.5, 2.0)), 0.2 * rng.normal(size=3), 0.5 * (moments + moments.T))


Case = tuple[Model, np.ndarray, np.ndarray, np.ndarray]


def cases(joint: Joint, samples: Samples) -> Iterator[Case]:
    """Yield, for each kind of base, the robot with a batch of states."""
    for base in BASES:
        model = robot(joint, base, samples.bounds)
        rng = np.random.default_rng([samples.seed, 3])
        q = model.random_configuration((STATES,), seed=samples.seed)
        yield model, q, rng.normal(size=(STATES, model.nv)), rng.normal(size=(STATES, model.nv))


def _see(ledger: Ledger, got: Any, expected: Any, case: Case, label: str, slack: float = 0.0) -> None:
    model, q, v, _ = case
    for k in range(STATES):
        ledger.see(got[k], expected[k], q[k], v[k], label=f"{label} ({model.name.split(' on ')[1]})", slack=slack)


def _blame(joint: Joint, samples: Samples) -> str:
    """Return who is to blame: the joint, if its kinematics are wrong, or cardan."""
    wrong = [c.name for c in (motion.subspace, motion.bias) if c(joint, samples).failed]
    if wrong:
        return f"see {' and '.join(wrong)}"
    return "not in the joint, whose kinematics hold: a defect of cardan; please report it, with this joint"


@check("kinetic energy", "T = v^T M v / 2")
def kinetic_energy(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    for case in cases(joint, samples):
        model, q, v, _ = case
        half = 0.5 * np.einsum("bi,bij,bj->b", v, crba(model, q), v)
        _see(ledger, kinetic(model, q, v), half, case, "T")


@check("mass matrix", "M e_j = RNEA(q, 0, e_j) - RNEA(q, 0, 0),  M symmetric and positive", 1e-9)
def mass_matrix(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    for case in cases(joint, samples):
        model, q, v, _ = case
        M, zero = crba(model, q), np.zeros_like(v)
        rest = rnea(model, q, zero, zero)
        columns = [rnea(model, q, zero, zero + e) - rest for e in np.eye(model.nv)]
        _see(ledger, M, np.stack(columns, axis=-1), case, "M")
        smallest = np.linalg.eigvalsh(M)[:, 0]
        _see(ledger, np.minimum(smallest, 0.0), np.zeros(STATES), case, "least eigenvalue of M")
        if (smallest < 1e-12).any():
            ledger.fail(f"the least eigenvalue of M is {smallest.min():.3g}", q[smallest.argmin()])
            ledger.cause = "columns of S depend on one another"


@check("forward after inverse dynamics", "ABA(q, v, RNEA(q, v, a)) = a", 1e-8)
def forward_inverse(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    for case in cases(joint, samples):
        model, q, v, a = case
        tau = rnea(model, q, v, a)
        # Rounding of tau comes back in a.
        _see(ledger, aba(model, q, v, tau), a, case, "a", slack=1e-11 * float(np.abs(tau).max()))


@check("passivity", "dM/dt - 2 C is skew-symmetric", 1e-8)
def passivity(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    for case in cases(joint, samples):
        model, q, v, _ = case
        rate, slack = derivative(lambda t, c=case: crba(c[0], move(c[0], c[1], t * c[2])), 0.02)
        N = rate - 2.0 * coriolis(model, q, v)
        # Differences know the rate to about this, relative to its largest entry.
        size = 1e-8 * float(np.abs(rate).max())
        _see(ledger, N, -np.swapaxes(N, -1, -2), case, "N", slack=10.0 * slack + size)
    if ledger.failed:
        ledger.cause = _blame(joint, samples)


@check("power balance", "tau . v = d(T + U)/dt", 1e-8)
def power(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    for case in cases(joint, samples):
        model, q, v, a = case

        def energy(t: float, case: Case = case) -> np.ndarray:
            model, q, v, a = case
            moved, faster = move(model, q, t * v), v + t * a
            return kinetic(model, moved, faster) + potential(model, moved)

        rate, slack = derivative(energy, 0.02)
        done = np.einsum("bi,bi->b", rnea(model, q, v, a), v)
        _see(ledger, done, rate, case, "tau . v", slack=10.0 * slack)
    if ledger.failed:
        ledger.cause = _blame(joint, samples)


@check("derivatives", "d RNEA/dq, by the recursion, = differences along integrate(q, t e_j)", 1e-7)
def dynamics_derivatives(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    for case in cases(joint, samples):
        model, q, v, a = case
        direction = np.random.default_rng([samples.seed, 4]).normal(size=v.shape)
        found = derivatives(model, q, v, a)
        dq, dv = (np.einsum("bij,bj->bi", matrix, direction) for matrix in (found.dq, found.dv))
        for got, shift, label in ((dq, (1.0, 0.0), "dtau/dq d"), (dv, (0.0, 1.0), "dtau/dv d")):
            rate, slack = derivative(
                lambda t, c=case, s=shift, d=direction: rnea(
                    c[0], move(c[0], c[1], s[0] * t * d), c[2] + s[1] * t * d, c[3]
                ),
                0.02,
            )
            _see(ledger, got, rate, case, label, slack=10.0 * slack + 1e-8 * float(np.abs(rate).max()))
    if ledger.failed:
        ledger.cause = _blame(joint, samples)


def program(joint: Joint) -> Program:
    """Return the program of transform, S and bias together, as they stand in the joint."""

    def everything(q: Any, v: Any) -> dict[str, np.ndarray]:
        X, S, bias = joint.transform(q), joint.motion_subspace(q), joint.bias(q, v)
        flat = [*X.rotation.entries(), *X.translation, *(e for s in (*S, bias) for e in s.scalars())]
        return {"pose_subspace_bias": np.array(flat, dtype=object)}

    return trace(type(joint).__name__, everything, [Array("q", (joint.nq,)), Array("v", (joint.nv,))])


def states(joint: Joint, samples: Samples, count: int) -> list[np.ndarray]:
    q = samples.random(count)
    v = np.random.default_rng(samples.seed).normal(size=(count, joint.nv))
    return [np.ascontiguousarray(x, dtype=float) for x in (q, v)]


QUANTITIES = ("transform", "motion_subspace", "bias")


def _evaluated(joint: Joint, name: str, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    return evaluate_joint(joint, name, *((q, v) if name == "bias" else (q,)))


@check("batches", "a batch gives what its states give one by one", 1e-13)
def batches(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    q, v = (np.array(x).reshape(len(x), -1) for x in (samples.q, samples.v))
    for name in QUANTITIES:
        together = _evaluated(joint, name, q, v)
        for k in range(len(q)):
            ledger.see(together[k], _evaluated(joint, name, q[k], v[k]), q[k], v[k], label=name)


@check("float32", "float32 gives nearly what float64 gives", 2e-5)
def single_precision(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    q, v = (x.astype(np.float32) for x in states(joint, samples, samples.count))
    for name in QUANTITIES:
        rough, fine = _evaluated(joint, name, q, v), _evaluated(joint, name, q.astype(float), v.astype(float))
        for k in range(len(q)):
            ledger.see(rough[k], fine[k], q[k], v[k], label=name)
    if ledger.failed:
        ledger.cause = "numbers beyond 1e38 or below 1e-38 in between, or a difference of nearly equal ones"


@check("native code", "the compiled program gives what the reference gives", 1e-13)
def native(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    if default_target() == "numpy":  # it would be compared with itself
        raise Skip("there is no native target on this machine, or CARDAN_TARGET=numpy")
    traced, (q, v) = program(joint), states(joint, samples, 64)
    got, expected = (compile_program(traced, t)([q, v], 64, np.dtype(float)) for t in (default_target(), "numpy"))
    for k in range(64):
        ledger.see(got[k], expected[k], q[k], v[k], label="[R, p, S, bias]")
    for model, q, v, a in cases(joint, samples):
        mine, reference = (inverse_dynamics.on(t)(model, q, v, a) for t in (default_target(), "numpy"))
        for k in range(len(q)):
            ledger.see(mine[k], reference[k], q[k], v[k], label="tau")


@dataclass(frozen=True, slots=True)
class Cost:
    """Operations of one state.

    Attributes:
        operations: of the joint as it stands.
        derived_operations: of the same joint with S and bias derived.

    Examples:
        >>> cardan.verify_joint(cardan.joints.Fixed(), samples=2).cost.operations
        0
    """

    operations: int
    derived_operations: int


def cost(joint: Joint, samples: Samples) -> Cost:
    return Cost(program(joint).operations, program(samples.alone).operations)
