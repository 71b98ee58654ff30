"""What a joint costs: operations and time of transform, S and bias, as it stands and as derived from its transform."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from cardan._compiler.targets import compile_program, default_target
from cardan._reach.verification.numerics import program, states
from cardan._reach.verification.samples import Samples
from cardan._robot.joints import Joint

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
