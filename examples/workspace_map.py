"""Where an arm's tool gets, and how well it can be moved there.

python examples/workspace_map.py [PICTURE.png]

Source: Yoshikawa, Manipulability of robotic mechanisms (1985).
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import cardan


def main(picture: str, samples: int = 2000) -> None:
    """Draw a cloud of what is reached, in colours of manipulability, and a map over two joints."""
    arm = cardan.robots.arm7().model()
    figure = plt.figure(figsize=(12.0, 5.2), layout="constrained")
    space = figure.add_subplot(1, 2, 1, projection="3d")
    cardan.pictures.manipulability(arm, "tool", samples=samples, ax=space)
    space.set_title("where the tool gets")
    bent = np.array([0.0, 0.5, 0.0, 1.0, 0.0, 0.5, 0.0])  # rad, the other joints
    plane = figure.add_subplot(1, 2, 2)
    cardan.pictures.manipulability(arm, "tool", q=bent, joints=["joint2", "joint4"], ax=plane)
    plane.set_title("over two joints")
    figure.savefig(picture, dpi=80)

    # The measure says how a sphere of joint rates grows: its volume for the tool is w times it.
    q = arm.random_configuration(5, seed=1)
    w = cardan.pictures.yoshikawa(arm, q, "tool")
    J = cardan.jacobian(arm, q, "tool")[:, :3]
    print("sqrt(det(J J^T)):", np.round(np.sqrt(np.linalg.det(J @ np.swapaxes(J, 1, 2))), 6))
    print("yoshikawa:       ", np.round(w, 6))

    # No posture reaches beyond the length of the arm.
    tools = cardan.frame_transform(arm, arm.random_configuration(100_000, seed=2), "tool")[:, :3, 3]
    shoulder = cardan.frame_transform(arm, arm.neutral(), "upper_arm_pitch")[:3, 3]
    upright = cardan.frame_transform(arm, arm.neutral(), "tool")[:3, 3]
    reach = np.linalg.norm(tools - shoulder, axis=-1).max()
    length = np.linalg.norm(upright - shoulder)
    print(f"farthest of 100 000 postures {reach:.4f} m, stretched {length:.4f} m")


if __name__ == "__main__":
    main(sys.argv[1] if sys.argv[1:] else "workspace_map.png")
