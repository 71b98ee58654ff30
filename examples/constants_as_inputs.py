"""Which mass matters most to an arm's torques? Constants of the robot as inputs, with derivatives.

python examples/constants_as_inputs.py [PICTURE.png]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import cardan


def main(picture: str) -> None:
    """Draw how much each joint's torque grows with each body's mass."""
    arm = cardan.robots.arm7().model()
    q = arm.random_configuration(500, seed=0)
    v = a = np.zeros((500, arm.nv))

    # The masses are now given at every call: one compilation, any number of them, for each state.
    varied = arm.with_inputs("mass")
    masses = varied.input_values()["mass"]  # kg, (bodies,)
    by_mass = cardan.derivative(cardan.inverse_dynamics, "mass")
    slope = by_mass(varied, q, v, a, mass=masses)  # N m/kg, (500, 7, bodies)

    # A check: the torques are linear in the masses, so that a step of 1 kg is the slope.
    heavier = masses + np.eye(len(masses))[:, None]  # (bodies, 1, bodies): one heavier at a time
    change = cardan.inverse_dynamics(varied, q, v, a, mass=heavier)
    change = change - cardan.inverse_dynamics(varied, q, v, a, mass=masses)
    worst = np.abs(np.moveaxis(change, 0, -1) - slope).max()
    print(f"a step of 1 kg and the derivative differ by {worst:.1e} N m")

    size = np.sqrt(np.mean(slope**2, axis=0))  # over the postures
    names = [name for name in arm.joint_names if arm.joint(name).nv]
    figure, ax = plt.subplots(figsize=(7.5, 4.8), layout="constrained")
    shown = ax.imshow(size, cmap="viridis")
    ax.set_xticks(range(arm.nbodies), arm.body_names, rotation=40, ha="right")
    ax.set_yticks(range(arm.nv), names)
    figure.colorbar(shown, label="torque for each kilogram [N m/kg]")
    ax.set(title="500 postures at rest", xlabel="body that is heavier", ylabel="joint")
    figure.savefig(picture, dpi=80)
    joint, body = np.unravel_index(size.argmax(), size.shape)
    print(f"most: {names[joint]} feels {size[joint, body]:.2f} N m/kg of {arm.body_names[body]}")


if __name__ == "__main__":
    main(sys.argv[1] if sys.argv[1:] else "constants_as_inputs.png")
