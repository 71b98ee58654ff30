"""An arm whose motors carry its own weight stays; with a load nobody told it of, it sinks.

python examples/gravity_compensation.py [PICTURE.png]
"""

import sys

import numpy as np

import cardan


def main(picture: str) -> None:
    """Draw an arm that sinks under 0 to 200 g: a world for each load, all in one batch."""
    robot = cardan.robots.arm7()
    arm = robot.model()
    q = np.array([0.0, 0.9, 0.0, 1.2, 0.0, 0.6, 0.0])  # rad

    # The mass of each body is an argument of the world's programs: one compilation, any load.
    rubbing = robot.with_drives({"*": cardan.Drive(damping=4.0)}).mechanism  # N m s/rad
    world = rubbing.world().with_inputs("mass")
    masses = np.tile([body.inertia.mass for body in arm.bodies], (5, 1))
    masses[:, arm.body_names.index("tool")] += np.linspace(0.0, 0.2, 5)  # kg in the hand
    state = world.state(worlds=5, q=q, mass=masses)
    solver = cardan.solvers.Featherstone(world, 0.002)
    control = world.control(worlds=5)

    def carry(step, state):
        """Return the torques that hold the arm as its description has it."""
        control.effort[:] = cardan.gravity_forces(arm, state.q)  # N m
        return control

    found = solver.rollout(state, carry, steps=1500, every=10)  # 3 s

    sunk = cardan.frame_transform(arm, found.q, "tool")[..., 2, 3]  # m, (times, worlds)
    for load, height in zip(np.linspace(0.0, 0.2, 5), sunk[-1] - sunk[0], strict=True):
        print(f"load {load:.2f} kg: the tool moves by {100 * height:+.2f} cm in 3 s")

    ax = cardan.plot(arm, found.q[:, 4], t=found.time[:, 4], paths="tool", shown=7)
    ax.set_title("sinking under 200 g that the controller does not know of")
    ax.figure.savefig(picture, dpi=80)


if __name__ == "__main__":
    main(sys.argv[1] if sys.argv[1:] else "gravity_compensation.png")
