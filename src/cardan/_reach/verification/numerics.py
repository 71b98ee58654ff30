"""The same numbers however they are computed: batches, float32, native code."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from cardan._compiler.program import Array, Program, trace
from cardan._compiler.targets import compile_program, default_target
from cardan._dynamics.algorithms.rnea import inverse_dynamics
from cardan._dynamics.functions.one_joint import evaluate_joint
from cardan._reach.verification.check import Ledger, Skip, check
from cardan._reach.verification.dynamics import cases
from cardan._reach.verification.samples import Samples
from cardan._robot.joints import Joint


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


BATCH, SECONDS = 4096, 0.05


@dataclass(frozen=True, slots=True)
class Speed:
    """Costs of one state.

    Attributes:
        operations: of the joint as it stands.
        derived_operations: of the same joint with S and bias derived.
        nanoseconds: [ns], of one state in a batch on one thread, float64.

    Examples:
        >>> cardan.verify_joint(cardan.joints.Fixed(), samples=2).speed.operations
        0
    """

    operations: int
    derived_operations: int
    nanoseconds: float


def speed(joint: Joint, samples: Samples) -> Speed:
    traced = program(joint)
    run, arrays = compile_program(traced, default_target()), states(joint, samples, BATCH)
    out = run(arrays, BATCH, np.dtype(float), 1)  # a first call, so that no page of memory is new in the timed ones
    seconds = shortest(lambda: run(arrays, BATCH, np.dtype(float), 1, out), SECONDS)
    return Speed(traced.operations, program(samples.alone).operations, 1e9 * seconds / BATCH)


def shortest(run: Callable[[], Any], seconds: float) -> float:
    """Return the shortest of the times a call takes [s], called for so many seconds and three times at least."""
    times, started = [], time.perf_counter()
    while len(times) < 3 or time.perf_counter() - started < seconds:
        before = time.perf_counter()
        run()
        times.append(time.perf_counter() - before)
    return min(times)
