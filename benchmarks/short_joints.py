"""Joints by their transform alone beside the closed forms: operations and time. `python -m benchmarks.short_joints`.

Operations are those of {X, S, bias} of every joint in the catalogue. Times are of one state in a batch of 4096 on one
thread, for a chain of three ellipsoid joints: as it ships, by its transform alone, and both reversed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import cardan
from cardan._reach.cli.bench import shortest
from cardan._reach.verification.dynamics import program
from cardan.joints import CATALOGUE, Ellipsoid, Joint, Reversed

BATCH = 4096


class Short(Joint):
    """Another joint, by its transform alone."""

    def __init__(self, joint: Joint) -> None:
        self.joint, self.manifold = joint, joint.manifold

    def transform(self, q: Any) -> Any:
        """Return that of the other joint."""
        return self.joint.transform(q)


def operations(joint: Joint) -> int:
    """Return what transform, motion subspace and bias take together."""
    return program(joint).operations


def chain(joint: Joint) -> cardan.Model:
    """Return three bodies on three of the joint."""
    m = cardan.Mechanism("chain")
    above = "world"
    for k in range(3):
        m.add_body(f"body{k}", cardan.Inertia(1.0, (0.1, 0.0, 0.2), np.diag([0.1, 0.2, 0.15])))
        m.add_joint(f"joint{k}", joint, above, f"body{k}", parent_pose=cardan.SE3(translation=(0.0, 0.1, 0.3)))
        above = f"body{k}"
    return m.model()


def nanoseconds(function: cardan.Function, model: cardan.Model) -> float:
    """Return the time of one state, the shortest of several batches."""
    rng = np.random.default_rng(0)
    q, (v, a) = model.random_configuration((BATCH,), seed=0), rng.normal(size=(2, BATCH, model.nv))
    fast = function.on(threads=1).bind(model)
    return 1e9 * shortest(lambda: fast(q, v, a), 0.3) / BATCH


def main() -> None:
    """Print the tables."""
    print("| joint | closed forms | by the transform alone | ratio |\n|---|---|---|---|")
    for joint in CATALOGUE:
        if joint.nv:
            full, short = operations(joint), operations(Short(joint))
            ratio = f"{short / full:.2f}" if full else "-"
            print(f"| {type(joint).__name__} | {full} | {short} | {ratio} |")
    functions = (
        cardan.inverse_dynamics,
        cardan.forward_dynamics,
        cardan.inverse_dynamics_derivatives,
        cardan.forward_dynamics_derivatives,
    )
    print("\n| chain of three | " + " | ".join(f.name for f in functions) + " |\n|---" + "|---" * len(functions) + "|")
    full = Ellipsoid((0.5, 0.7, 1.1))
    kinds = {
        "Ellipsoid": full,
        "Ellipsoid by its transform": Short(full),
        "Reversed(Ellipsoid)": Reversed(full),
        "Reversed(by its transform)": Reversed(Short(full)),
        "both by their transforms": Short(Reversed(Short(full))),
    }
    for name, joint in kinds.items():
        model = chain(joint)
        cells = [f"{nanoseconds(f, model):.0f} ns, {f.program(model).operations} op." for f in functions]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
