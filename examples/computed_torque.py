"""Computed torque control beside plain feedback: both follow the same motion with the same gains.

python examples/computed_torque.py [PICTURE.png]

Source: Siciliano, Sciavicco, Villani, Oriolo, Robotics (2009), section 8.5.2.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import cardan

KP, KD = 100.0, 20.0  # 1/s^2, 1/s: errors decay like e^(-10 t)


@cardan.function(shapes={"q_d": ("nq",), "v_d": ("nv",), "a_d": ("nv",)})
def computed_torque(model, q, v, q_d, v_d, a_d):
    """Return the torques that give the error the dynamics of a spring and a damper."""
    a = a_d + KP * (q_d - q) + KD * (v_d - v)
    return cardan.inverse_dynamics(model, q, v, a)


@cardan.function(shapes={"q_d": ("nq",), "v_d": ("nv",), "a_d": ("nv",)})
def plain_feedback(model, q, v, q_d, v_d, a_d):
    """Return torques by the same gains, with the inertias of one bent posture, and the weight."""
    inertia = np.diag(cardan.mass_matrix(model, model.neutral() + 0.8))  # kg m^2
    return inertia * (KP * (q_d - q) + KD * (v_d - v)) + cardan.gravity_forces(model, q)


def main(picture: str) -> None:
    """Draw both errors over time."""
    arm, dt = cardan.robots.arm7().model(), 0.001
    t = np.arange(0.0, 3.0, dt)[:, None]
    w, reach = np.linspace(2.0, 4.0, arm.nv), 0.6  # rad/s, rad
    motion = reach * np.sin(w * t), reach * w * np.cos(w * t), -reach * w**2 * np.sin(w * t)

    figure, ax = plt.subplots(figsize=(7.0, 4.2), layout="constrained")
    for law in (plain_feedback, computed_torque):
        q, v, errors = np.full(arm.nq, 0.1), np.zeros(arm.nv), []
        for target in zip(*motion, strict=True):
            tau = law(arm, q, v, *target)
            v = v + dt * cardan.forward_dynamics(arm, q, v, tau)
            q = cardan.integrate(arm, q, dt * v)
            errors.append(np.abs(q - target[0]).max())
        print(f"{law.name}: largest error of the last second {np.max(errors[-1000:]):.1e} rad")
        ax.semilogy(t[:, 0], errors, label=law.name.replace("_", " "))
    ax.set(xlabel="time [s]", ylabel="largest error of a joint [rad]", title=arm.name)
    ax.legend()
    ax.grid(alpha=0.3)
    figure.savefig(picture, dpi=80)


if __name__ == "__main__":
    main(sys.argv[1] if sys.argv[1:] else "computed_torque.png")
