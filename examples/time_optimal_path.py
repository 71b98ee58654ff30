"""An arm goes along a path as fast as the limits of its joints' speeds and torques allow.

python examples/time_optimal_path.py [PICTURE.png]

The library `toppra` plans (`pip install toppra`); the torques are cardan's.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from toppra import SplineInterpolator
from toppra.algorithm import TOPPRA
from toppra.constraint import DiscretizationType, JointTorqueConstraint, JointVelocityConstraint

import cardan


def main(picture: str) -> None:
    """Draw the fastest motion through five postures, with the limits it touches."""
    arm = cardan.robots.arm7().model()
    through = 0.55 * arm.random_configuration(5, seed=3)  # rad
    path = SplineInterpolator(np.linspace(0.0, 4.0, 5), through)
    speed = JointVelocityConstraint(np.column_stack([arm.velocity_lower, arm.velocity_upper]))
    torque = JointTorqueConstraint(
        lambda q, v, a: cardan.inverse_dynamics(arm, q, v, a),
        np.column_stack([arm.effort_lower, arm.effort_upper]),
        np.zeros(arm.nv),
        discretization_scheme=DiscretizationType.Interpolation,
    )
    grid = np.linspace(0.0, 4.0, 401)
    planner = TOPPRA([speed, torque], path, gridpoints=grid, parametrizer="ParametrizeConstAccel")
    fast = planner.compute_trajectory()
    print(f"the path takes {fast.duration:.3f} s")

    # At every time some joint is at a limit of its speed or torque, and none is beyond.
    t = np.linspace(0.0, fast.duration, 400)
    q, v, a = fast(t), fast(t, 1), fast(t, 2)
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
