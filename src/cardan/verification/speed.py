"""What a joint costs: operations and time of transform, S and bias, as it stands and as derived from its transform."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from cardan.joints import Joint
from cardan.targets import compile_program, default_target
from cardan.verification.numerics import program, states
from cardan.verification.samples import Samples

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
    """Return what transform, S and bias cost together."""
    traced = program(joint)
    run, arrays = compile_program(traced, default_target()), states(joint, samples, BATCH)
    out = run(arrays, BATCH, np.dtype(float), 1)
    times, started = [], time.perf_counter()
    while len(times) < 3 or time.perf_counter() - started < SECONDS:
        before = time.perf_counter()
        run(arrays, BATCH, np.dtype(float), 1, out)
        times.append(time.perf_counter() - before)
    return Speed(traced.operations, program(samples.alone).operations, 1e9 * min(times) / BATCH)
