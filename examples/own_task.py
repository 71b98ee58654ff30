"""A task of one's own for inverse kinematics: points of an arm stay outside of a pillar.

python examples/own_task.py [PICTURE.png]

A task is one small class with an `error`; its derivative is made from it.
"""

import sys
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np

import cardan
from cardan import tasks

CENTRE, RADIUS = np.array([0.38, 0.2]), 0.14  # m: a pillar along z


@dataclass(frozen=True, eq=False)
class OutsidePillar(tasks.Task):
    """Origins of some frames are to be `RADIUS` or more from a vertical line [m]."""

    frames: tuple[str, ...] = ()

    def error(self, model, q, target):
        """Return how deep each point is inside, 0 outside."""
        points = [cardan.frame_transform(model, q, frame)[:2, 3] for frame in self.frames]
        return np.stack([np.maximum(RADIUS - cardan.norm(p - CENTRE), 0.0) for p in points])


def main(picture: str) -> None:
    """Draw the arm that reaches behind the pillar, with and without the task."""
    arm = cardan.robots.arm7().model()
    reach = tasks.FramePosition("tool", [0.6, 0.3, 0.5])  # m, behind the pillar
    links = ("elbow", "forearm_roll", "wrist_pitch", "wrist_roll", "tool")
    ways = {"without": [reach], "with": [reach, OutsidePillar(links)]}

    figure = plt.figure(figsize=(11.0, 5.0), layout="constrained")
    for k, (name, asked) in enumerate(ways.items()):
        found = cardan.inverse_kinematics(arm, asked, q0=np.full(7, 0.3))
        X = cardan.frame_transform(arm, found.q, list(links))
        nearest = np.linalg.norm(X[:, :2, 3] - CENTRE, axis=-1).min()
        missed = np.linalg.norm(X[-1, :3, 3] - [0.6, 0.3, 0.5])
        print(f"{name}: {100 * nearest:.2f} cm from the axis; the tool misses by {missed:.0e} m")
        ax = cardan.plot(arm, found.q, figure.add_subplot(1, 2, k + 1, projection="3d"))
        phi, z = np.meshgrid(np.linspace(0.0, 2 * np.pi, 25), np.linspace(0.0, 1.2, 2))
        x, y = CENTRE[0] + RADIUS * np.cos(phi), CENTRE[1] + RADIUS * np.sin(phi)
        ax.plot_surface(x, y, z, color="tab:red", alpha=0.3)
        ax.set_title(f"{name} the task")
        ax.view_init(elev=35.0, azim=-30.0)
    figure.savefig(picture, dpi=80)


if __name__ == "__main__":
    main(sys.argv[1] if sys.argv[1:] else "own_task.png")
