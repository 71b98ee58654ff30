"""A humanoid reaches low and high, both feet on the ground and its centre of mass above them.

python examples/whole_body_ik.py [PICTURE.png]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import cardan
from cardan import tasks


def main(picture: str) -> None:
    """Draw the humanoid at three heights of its hands."""
    robot = cardan.robots.humanoid().model(base="floating")
    stand = robot.neutral()
    stand[robot.q_slice("left_shank_joint")] = stand[robot.q_slice("right_shank_joint")] = 0.1
    feet = {
        foot: cardan.frame_transform(robot, stand, foot) for foot in ("left_foot", "right_foot")
    }
    middle = np.mean([X[:2, 3] for X in feet.values()], axis=0)

    # Three problems in one batch: hands at three heights.
    z = np.array([-0.35, 0.1, 0.55])  # m, from the pelvis as it stands
    hands = {}
    for side, y in (("left", 0.2), ("right", -0.2)):
        hands[f"{side}_hand"] = np.stack([0.35 + 0 * z, y + 0 * z, z], axis=-1)
    asked = [
        *(tasks.FramePose(foot, X) for foot, X in feet.items()),
        *(tasks.FramePosition(hand, p) for hand, p in hands.items()),
        tasks.CenterOfMass([*middle, 0.0], weight=(1.0, 1.0, 0.0)),  # x and y alone
    ]
    found = cardan.inverse_kinematics(robot, asked, q0=stand)  # a solution near it
    print(found)

    for k, height in enumerate(z):
        q = found.q[k]
        slip = max(
            np.abs(cardan.pose_error(cardan.frame_transform(robot, q, foot), X)).max()
            for foot, X in feet.items()
        )
        off = np.linalg.norm(cardan.center_of_mass(robot, q)[:2] - middle)
        print(f"hands at {height:+.2f} m: feet off by {slip:.0e}, centre of mass by {off:.0e} m")

    figure = plt.figure(figsize=(12.0, 4.8), layout="constrained")
    for k, height in enumerate(z):
        ax = figure.add_subplot(1, 3, k + 1, projection="3d")
        cardan.plot(robot, found.q[k], ax, frames=["left_hand", "right_hand"])
        ax.set_title(f"hands at {height:+.2f} m")
        ax.view_init(elev=10.0, azim=-40.0)
    figure.savefig(picture, dpi=80)


if __name__ == "__main__":
    main(sys.argv[1] if sys.argv[1:] else "whole_body_ik.png")
