"""The torques a robot needs to stand still, at a million random postures in one call.

python examples/million_states.py [PICTURE.png]
"""

import sys
import time

import matplotlib.pyplot as plt
import numpy as np

import cardan


def main(picture: str, states: int = 1_000_000) -> None:
    """Draw how often which share of each joint's torque goes into holding the arm's own weight."""
    arm = cardan.load(cardan.robots.urdf_path("arm7"))
    q = arm.random_configuration(states, seed=0)  # rad, within the limits, (states, 7)
    cardan.gravity_forces(arm, q[0])  # compiles

    start = time.perf_counter()
    tau = cardan.gravity_forces(arm, q)  # N m, (states, 7)
    elapsed = time.perf_counter() - start
    print(f"{states} states in {elapsed:.3f} s: {1e9 * elapsed / states:.0f} ns each")

    # A row of the batch is what one call for that state alone gives, to the last bit.
    row = states // 2
    same = np.array_equal(tau[row], cardan.gravity_forces(arm, q[row]))
    print(f"row {row} equals a call of its own: {same}")

    share = 100.0 * np.abs(tau[::100]) / arm.effort_upper
    figure, ax = plt.subplots(figsize=(7.0, 4.5), layout="constrained")
    names = [name for name in arm.joint_names if arm.joint(name).nv]
    percent = np.arange(101)
    ax.plot(np.percentile(share, percent, axis=0), percent, label=names)
    ax.set(xlabel="torque that holds the arm's weight is below [% of its limit]")
    ax.set(ylabel="in [% of all postures]", title=f"{states:,} postures of {arm.name}")
    ax.legend()
    ax.grid(alpha=0.3)
    figure.savefig(picture, dpi=80)


if __name__ == "__main__":
    main(sys.argv[1] if sys.argv[1:] else "million_states.png")
