"""A four-bar linkage: the curve a point of it draws, and the torque its crank needs.

python examples/four_bar_coupler_curve.py [PICTURE.png]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import cardan


def main(picture: str) -> None:
    """Turn the crank once at a constant rate; draw the linkage with its curve, and the torque."""
    mechanism = cardan.robots.four_bar(crank=0.15, ground=0.4, coupler=0.4, rocker=0.3)
    mechanism.add_frame("pen", "coupler", cardan.SE3(translation=[0.25, 0.0, 0.15]))
    bars = mechanism.model()

    # Each configuration is found near the one before: the linkage does not change its branch.
    crank = np.linspace(0.0, 2.0 * np.pi, 121)
    q = [cardan.assemble(bars, [0.0, 0.0, 0.0], fixed=["crank_joint"])]
    for angle in crank[1:]:
        q.append(cardan.assemble(bars, [angle, *q[-1][1:]], fixed=["crank_joint"]))
    q = np.array(q)
    print(f"largest gap of the loop: {np.abs(cardan.loop_residual(bars, q)).max():.1e} m")

    # At 5 rad/s: velocities that keep the loop closed, then accelerations with K a + bias = 0.
    rate = 5.0  # rad/s
    v = cardan.project_velocity(bars, q, rate * np.tile([1.0, 0.0, 0.0], (121, 1)), ["crank_joint"])
    K, bias = cardan.loop_jacobian(bars, q), cardan.loop_bias(bars, q, v)
    rest = np.linalg.pinv(K[..., 1:]) @ -bias[..., None]  # the crank itself does not accelerate
    a = np.concatenate([np.zeros((121, 1)), rest[..., 0]], axis=-1)
    drive = cardan.constrained_inverse_dynamics(bars, q, v, a, actuated=["crank_joint"])
    torque = drive.efforts[:, 0]
    print(f"work of the crank over a turn: {np.trapezoid(torque, crank):.1e} J")

    figure = plt.figure(figsize=(11.0, 4.5), layout="constrained")
    left = figure.add_subplot(1, 2, 1, projection="3d")
    cardan.plot(bars, q, left, t=crank / rate, paths="pen", shown=6)
    left.view_init(elev=8.0, azim=-85.0)
    left.set_yticks([])
    right = figure.add_subplot(1, 2, 2)
    right.plot(np.rad2deg(crank), torque)
    right.set(xlabel="crank [deg]", ylabel="torque [N m]", title=f"at {rate:g} rad/s")
    right.grid(alpha=0.3)
    figure.savefig(picture, dpi=80)


if __name__ == "__main__":
    main(sys.argv[1] if sys.argv[1:] else "four_bar_coupler_curve.png")
