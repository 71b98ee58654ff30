"""Finds the postures for a thousand poses of an arm's tool in one call, and follows a path.

python examples/inverse_kinematics.py [PICTURE.png]
"""

import sys
import time

import matplotlib.pyplot as plt
import numpy as np

import cardan


def main(picture: str, targets: int = 1000) -> None:
    """Draw an arm along a path of its tool, and how exactly a thousand random targets are met."""
    arm = cardan.robots.arm7().model()

    # Targets that can be reached: where random postures have the tool.
    there = cardan.frame_transform(arm, arm.random_configuration(targets, seed=0), "tool")
    cardan.inverse_kinematics(arm, frame="tool", target=there[0])  # compiles
    start = time.perf_counter()
    found = cardan.inverse_kinematics(arm, frame="tool", target=there)
    print(f"{found}, {1e6 * (time.perf_counter() - start) / targets:.0f} us each")

    # The check: from the poses of the tool back to the targets.
    e = cardan.pose_error(cardan.frame_transform(arm, found.q, "tool"), there)  # (targets, 6)
    print(
        f"largest distance {np.abs(e[:, :3]).max():.1e} m, angle {np.abs(e[:, 3:]).max():.1e} rad"
    )

    # Along a path each posture is looked for near the one before, so that the arm does not jump.
    q = np.array([0.2, 0.5, 0.0, 1.4, 0.0, 0.5, 0.0])
    first = cardan.frame_transform(arm, q, "tool")
    postures, angle = [], np.linspace(0.0, 2.0 * np.pi, 60)
    for phi in angle:
        X = first.copy()
        X[:3, 3] += 0.15 * np.array([0.0, np.sin(phi), np.cos(phi) - 1.0])  # a circle, m
        step = cardan.inverse_kinematics(arm, frame="tool", target=X, q0=q, restarts=0)
        q = step.q
        postures.append(q)
    print(
        f"largest step of a joint along the path {np.abs(np.diff(postures, axis=0)).max():.3f} rad"
    )

    figure = plt.figure(figsize=(11.0, 4.8), layout="constrained")
    space = figure.add_subplot(1, 2, 1, projection="3d")
    cardan.plot(arm, postures, space, t=angle, paths="tool", shown=4)
    right = figure.add_subplot(1, 2, 2)
    right.hist(np.log10(np.maximum(found.residual, 1e-17)), bins=40)
    right.axvline(-6.0, color="tab:red", ls="--", label="tolerance")
    right.set(xlabel="log10 of the largest error [m, rad]", ylabel=f"of {targets} targets")
    right.legend()
    figure.savefig(picture, dpi=80)


if __name__ == "__main__":
    main(sys.argv[1] if sys.argv[1:] else "inverse_kinematics.png")
