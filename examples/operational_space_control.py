"""The tool of an arm follows a circle by forces: Khatib's operational space control.

python examples/operational_space_control.py [PICTURE.png]

Source: Khatib, A unified approach for motion and force control (1987), equations 14 and 51.
"""

import sys

import numpy as np

import cardan

KP, KD = 400.0, 40.0  # 1/s^2, 1/s


@cardan.function(shapes={"p_d": (3,), "v_d": (3,), "a_d": (3,)})
def operational_space(model, q, v, p_d, v_d, a_d):
    """Return the torques that move the tool as told, and let the rest of the arm come to rest."""
    J = cardan.jacobian(model, q, "tool", expressed_in="world")[:3]
    p = cardan.frame_transform(model, q, "tool")[:3, 3]
    drift = cardan.jacobian_derivative(model, q, v, "tool", expressed_in="world")[:3] @ v
    M, h = cardan.mass_matrix(model, q), cardan.bias_forces(model, q, v)
    felt = cardan.inverse(J @ cardan.solve(M, J.T, positive_definite=True))  # kg, (3, 3)
    force = felt @ (a_d + KP * (p_d - p) + KD * (v_d - J @ v) - drift)  # N
    rest = M @ (-10.0 * v)
    unseen = rest - J.T @ (
        felt @ (J @ (-10.0 * v))
    )  # the part of it that no point of the tool feels
    return J.T @ force + unseen + h


def main(picture: str) -> None:
    """Draw the arm along the circle."""
    arm, dt, radius, w = cardan.robots.arm7().model(), 0.002, 0.12, 3.0  # s, m, rad/s
    q, v = np.array([0.3, 0.6, 0.0, 1.4, 0.0, 0.6, 0.0]), np.zeros(7)
    centre = cardan.frame_transform(arm, q, "tool")[:3, 3]
    times, states, errors = np.arange(0.0, 2.5, dt), [], []
    for t in times:
        y, z = np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0])
        p_d = centre + radius * (np.sin(w * t) * y + (np.cos(w * t) - 1) * z)
        v_d = radius * w * (np.cos(w * t) * y - np.sin(w * t) * z)
        a_d = radius * w**2 * (-np.sin(w * t) * y - np.cos(w * t) * z)
        tau = operational_space(arm, q, v, p_d, v_d, a_d)
        v = v + dt * cardan.forward_dynamics(arm, q, v, tau)
        q = cardan.integrate(arm, q, dt * v)
        states.append(q)
        errors.append(np.linalg.norm(cardan.frame_transform(arm, q, "tool")[:3, 3] - p_d))
    print(f"largest distance from the circle in the last second: {1e3 * max(errors[-500:]):.2f} mm")
    cardan.plot(arm, states, t=times, paths="tool", shown=1).figure.savefig(picture, dpi=80)


if __name__ == "__main__":
    main(sys.argv[1] if sys.argv[1:] else "operational_space_control.png")
