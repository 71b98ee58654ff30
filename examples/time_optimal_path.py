"""An arm goes along a path as fast as the limits of its joints' speeds and torques allow.

python examples/time_optimal_path.py [PICTURE.png]

Needs the extra `toppra` (`pip install "cardan[toppra]"`).
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import cardan
from cardan.trajectories import Spline, time_optimal


def main(picture: str) -> None:
    """Draw the fastest motion through five postures, with the limits it touches."""
    arm = cardan.robots.arm7().model()
    through = 0.55 * arm.random_configuration(5, seed=3)  # rad
    path = Spline(arm, np.linspace(0.0, 4.0, 5), through)  # smooth, at a time of its own
    fast = time_optimal(arm, path)
    print(f"the path takes {fast.duration:.3f} s")

    # At every time some joint is at a limit of its speed or torque, and none is beyond.
    t = np.linspace(*fast.interval, 400)
    q, v, a = fast.at(t)
    tau = cardan.inverse_dynamics(arm, q, v, a)
    use = np.maximum(np.abs(v) / arm.velocity_upper, np.abs(tau) / arm.effort_upper).max(axis=-1)
    print(
        f"use of the limits: at most {100 * use.max():.1f} %, in the mean {100 * use.mean():.1f} %"
    )

    # A path followed faster than this needs more than there is.
    hurried = cardan.inverse_dynamics(arm, q, 1.1 * v, 1.1**2 * a)
    over = np.maximum(np.abs(1.1 * v) / arm.velocity_upper, np.abs(hurried) / arm.effort_upper)
    print(f"10 % faster: {100 * over.max():.1f} %")

    figure, (speeds, torques) = plt.subplots(2, sharex=True, layout="constrained")
    speeds.plot(t, v / arm.velocity_upper)
    torques.plot(t, tau / arm.effort_upper)
    speeds.set_ylabel("velocity / limit")
    torques.set(ylabel="torque / limit", xlabel="time [s]")
    figure.savefig(picture, dpi=80)


if __name__ == "__main__":
    main(sys.argv[1] if sys.argv[1:] else "time_optimal_path.png")
