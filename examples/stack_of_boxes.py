"""A stack of boxes on a slope stands or slides, as Coulomb's law says.

python examples/stack_of_boxes.py [PICTURE.png]

Seven worlds in one batch: each has its own gravity, turned by 0 to 30 degrees.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import cardan
from cardan.description import Box

FRICTION = 0.35


def main(picture: str) -> None:
    """Draw how far the boxes slide at each slope, and the stack on the steepest slope."""
    b = cardan.WorldBuilder("stack")
    for k in range(3):
        side = 0.20 - 0.04 * k  # m
        height = sum(0.20 - 0.04 * j for j in range(k)) + side / 2
        b.add_body(f"box{k}", pose=cardan.SE3(translation=[0.0, 0.0, height]))
        material = cardan.Material(friction=FRICTION)
        b.add_shape(f"box{k}", Box((side, side, side)), density=500.0, material=material)
    b.add_ground(cardan.Material(friction=FRICTION))
    world = b.finalize().with_inputs("gravity")

    slope = np.deg2rad([0.0, 10.0, 15.0, 18.0, 22.0, 26.0, 30.0])
    gravity = 9.81 * np.stack([np.sin(slope), 0.0 * slope, -np.cos(slope)], axis=-1)
    state = world.state(worlds=len(slope), gravity=gravity)
    solver = cardan.solvers.Featherstone(world, 0.005)
    found = solver.rollout(state, steps=100, every=2)  # 0.5 s

    slid = found.q[-1, :, 0] - found.q[0, :, 0]  # of the lowest box
    coulomb = 9.81 * np.maximum(0.0, np.sin(slope) - FRICTION * np.cos(slope)) * 0.5**2 / 2
    for angle, far, law in zip(np.rad2deg(slope), slid, coulomb, strict=True):
        print(
            f"{angle:4.1f} deg: slid by {100 * far:6.2f} cm, by Coulomb's law {100 * law:6.2f} cm"
        )

    figure = plt.figure(figsize=(11.0, 4.6), layout="constrained")
    left = figure.add_subplot(1, 2, 1, projection="3d")
    cardan.plot(world.model, found.q[:, -1], left, t=found.time[:, -1], shown=3)
    right = figure.add_subplot(1, 2, 2)
    right.plot(found.time, 100 * (found.q[:, :, 0] - found.q[0, :, 0]))
    right.legend([f"{angle:.0f} degrees" for angle in np.rad2deg(slope)])
    right.set(xlabel="time [s]", ylabel="way of the lowest box [cm]", title=f"friction {FRICTION}")
    right.grid(alpha=0.3)
    figure.savefig(picture, dpi=80)


if __name__ == "__main__":
    main(sys.argv[1] if sys.argv[1:] else "stack_of_boxes.png")
