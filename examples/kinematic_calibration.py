"""Calibrates an arm: finds where its joints really are from measured positions of its tool.

python examples/kinematic_calibration.py [PICTURE.png]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import cardan

NOISE = 1e-5  # m, of a measurement


@cardan.function
def tool(model, q):
    """Return where the tool is [m]."""
    return cardan.frame_transform(model, q, "tool")[:3, 3]


def main(picture: str, samples: int = 200) -> None:
    """Draw the error of the tool after each step of Gauss and Newton."""
    arm, rng = cardan.robots.arm7().model(), np.random.default_rng(0)
    open_arm = arm.with_inputs("parent_pose")
    drawing = open_arm.input_values()["parent_pose"]  # (joints, 4, 4), as on the drawing
    off = 0.003 * rng.normal(size=(len(drawing), 6))  # 3 mm, 3 mrad
    built = drawing @ np.array(cardan.SE3.exp(off))

    q = arm.random_configuration(samples, seed=1)
    measured = tool(open_arm, q, parent_pose=built) + NOISE * rng.normal(size=(samples, 3))
    slope = cardan.derivative(tool, "parent_pose")  # by six small motions of each joint

    found, errors = drawing, []
    for _ in range(5):
        e = tool(open_arm, q, parent_pose=found) - measured
        errors.append(np.linalg.norm(e, axis=-1))
        J = slope(open_arm, q, parent_pose=found).reshape(3 * samples, -1)
        step = np.linalg.lstsq(J, -e.ravel(), rcond=1e-6)[0]  # what cannot be seen stays
        found = found @ np.array(cardan.SE3.exp(step.reshape(-1, 6)))
        print(f"mean distance from what was measured: {1e3 * errors[-1].mean():.4f} mm")

    q = arm.random_configuration(500, seed=2)
    miss = tool(open_arm, q, parent_pose=found) - tool(open_arm, q, parent_pose=built)
    print(f"elsewhere, in the end: {1e3 * np.linalg.norm(miss, axis=-1).max():.4f} mm at worst")

    figure, ax = plt.subplots(figsize=(6.0, 4.0), layout="constrained")
    ax.boxplot([1e3 * e for e in errors], positions=range(5), showfliers=False)
    ax.set(yscale="log", xlabel="steps of Gauss and Newton", ylabel="error of the tool [mm]")
    ax.axhline(1e3 * NOISE, ls="--", color="tab:red")  # the noise
    figure.savefig(picture, dpi=80)


if __name__ == "__main__":
    main(sys.argv[1] if sys.argv[1:] else "kinematic_calibration.png")
