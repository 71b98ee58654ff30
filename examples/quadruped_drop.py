"""A quadruped falls on its feet, by two laws of contact: the ground carries its weight in the end.

python examples/quadruped_drop.py [PICTURE.png]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import cardan
from cardan.solvers import Featherstone


def main(picture: str) -> None:
    """Draw the height of the trunk by each law, and the quadruped as it falls."""
    dog = cardan.robots.quadruped().with_drives({"*": cardan.Drive(100.0, 3.0)}).mechanism
    world = dog.world(
        base="floating", ground=True
    )  # N m/rad and N m s/rad; the drives hold bent legs

    figure = plt.figure(figsize=(11.0, 4.6), layout="constrained")
    right = figure.add_subplot(1, 2, 2)
    for name, solver, every in (
        ("convex contacts, steps of 5 ms", Featherstone(world, 0.005), 1),
        ("compliant contacts, steps of 1 ms", Featherstone(world, 0.001, contact="compliant"), 5),
    ):
        state = world.state()
        state.q[:, 2] = 0.55  # m
        found = solver.rollout(state, steps=160 * every, every=every)  # 0.8 s
        right.plot(found.time[:, 0], found.q[:, 0, 2], label=name)
        speed = np.abs(found.v[-1]).max()
        print(f"{name}: the trunk rests at {found.q[-1, 0, 2]:.4f} m, largest speed {speed:.1e}")
        if every == 1:
            shown = found

    # In rest the feet carry the weight: what the base would need is what contacts give.
    model = world.model
    support = cardan.gravity_forces(model, shown.q[-1, 0])[2]
    print(f"force the ground must give {support:.2f} N, weight {9.81 * model.mass:.2f} N")

    left = figure.add_subplot(1, 2, 1, projection="3d")
    cardan.plot(model, shown.q[:, 0], left, t=shown.time[:, 0], shown=3)
    right.set(xlabel="time [s]", ylabel="height of the trunk [m]")
    right.legend(fontsize="small")
    right.grid(alpha=0.3)
    figure.savefig(picture, dpi=80)


if __name__ == "__main__":
    main(sys.argv[1] if sys.argv[1:] else "quadruped_drop.png")
