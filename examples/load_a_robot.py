"""Loads a robot from its URDF file, moves it, and shows the torques this takes beside their limits.

python examples/load_a_robot.py [PICTURE.png]

The file is that of a 7-axis arm that ships with cardan; put your own in its place.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import cardan


def main(picture: str) -> None:
    """Draw the torques along a motion."""
    arm = cardan.load(cardan.robots.urdf_path("arm7"))
    print(arm)

    # A smooth motion: every joint swings through a third of its range, at its own frequency.
    t = np.linspace(0.0, 4.0, 401)  # s
    middle, reach = (arm.lower + arm.upper) / 2, 0.3 * (arm.upper - arm.lower) / 2  # rad
    w = 2.0 * np.pi * np.linspace(0.2, 0.4, arm.nv)  # rad/s
    phase = w * t[:, None]
    q, v, a = (
        middle + reach * np.sin(phase),
        reach * w * np.cos(phase),
        -reach * w**2 * np.sin(phase),
    )

    # All 401 states in one call.
    tau = cardan.inverse_dynamics(arm, q, v, a)  # N m, (401, 7)

    # A law of physics: the work of the torques is the energy gained.
    energy = cardan.kinetic_energy(arm, q, v) + cardan.potential_energy(arm, q)
    work = np.trapezoid((tau * v).sum(axis=-1), t)
    print(f"energy gained {energy[-1] - energy[0]:.4f} J, work of the torques {work:.4f} J")

    figure, axes = plt.subplots(arm.nv, sharex=True, figsize=(6.0, 9.0), layout="constrained")
    for k, panel in enumerate(axes):
        panel.plot(t, tau[:, k])
        panel.axhline(arm.effort_upper[k], linestyle="--", color="tab:red")
        panel.axhline(arm.effort_lower[k], linestyle="--", color="tab:red")
        panel.set_ylabel(f"joint {k + 1}\n[N m]")
    axes[-1].set_xlabel("time [s]")
    figure.savefig(picture, dpi=80)


if __name__ == "__main__":
    main(sys.argv[1] if sys.argv[1:] else "load_a_robot.png")
