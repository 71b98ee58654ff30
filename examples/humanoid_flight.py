"""A humanoid in free flight swings arms and legs: its angular momentum stays, so its trunk turns.

python examples/humanoid_flight.py [PICTURE.png]

Source: Orin, Goswami and Lee, Centroidal dynamics of a humanoid robot (2013).
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import cardan


@cardan.function(shapes={"momentum": (6,), "joints": (30,)})
def moving(model, q, momentum, joints):
    """Return velocities (nv,) with the base's such that the momentum is as given."""
    A = cardan.centroidal_momentum_matrix(model, q)  # momentum = A v
    base = cardan.solve(A[:, :6], momentum - A[:, 6:] @ joints)
    return np.concatenate([base, joints])


def main(picture: str, dt: float = 0.002) -> None:
    """Draw the humanoid along its flight, and how its trunk turns."""
    model = cardan.robots.humanoid().model(base="floating")
    limbs = [f"{side}_{j}_joint" for side in ("left", "right") for j in ("shoulder_pitch", "thigh")]
    swing = np.zeros(model.nv)  # rad/s
    swing[[model.v_slice(name).start for name in limbs]] = -8.0

    def velocity(t, q):
        """Return the velocity at a time: the limbs swing, the momentum is that of a jump."""
        jump = model.mass * np.array([1.0, 0.0, 3.0 - 9.81 * t, 0.0, 0.0, 0.0])  # kg m/s
        return moving(model, q, jump, swing[6:] * np.cos(8.0 * t))

    t, q, states = np.arange(0.0, 0.6, dt), model.neutral(), []
    for now in t:
        v = velocity(now, q)
        states.append((q, v))
        half = cardan.integrate(model, q, dt / 2 * v)  # the midpoint rule
        q = cardan.integrate(model, q, dt * velocity(now + dt / 2, half))
    q, v = map(np.array, zip(*states, strict=True))
    com = cardan.center_of_mass(model, q)
    parabola = com[0] + t[:, None] * [1.0, 0.0, 3.0] - 9.81 / 2 * t[:, None] ** 2 * [0, 0, 1]
    print(f"the mass centre is on its parabola to {np.abs(com - parabola).max():.1e} m")
    push = cardan.inverse_dynamics(model, q, v, np.gradient(v, dt, axis=0))[2:-2, :6]
    print(f"nothing holds it: {np.abs(push).max():.1e} N; it weighs {9.81 * model.mass:.0f} N")

    figure = plt.figure(figsize=(11.0, 4.8), layout="constrained")
    cardan.plot(model, q, figure.add_subplot(1, 2, 1, projection="3d"), t=t, shown=4)
    right = figure.add_subplot(1, 2, 2)
    right.plot(t, np.rad2deg(q[:, model.q_slice(limbs[0])]), label="arms and legs on it")
    right.plot(t, np.rad2deg(2.0 * np.arctan2(q[:, 4], q[:, 6])), label="trunk")  # y, w
    right.set(xlabel="time [s]", ylabel="angle about y [deg]")
    right.legend()
    figure.savefig(picture, dpi=80)


if __name__ == "__main__":
    main(sys.argv[1] if sys.argv[1:] else "humanoid_flight.png")
