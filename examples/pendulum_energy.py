"""How well integrators keep the energy of a double pendulum that tumbles without friction.

python examples/pendulum_energy.py [PICTURE.png]

Source: Hairer, Lubich and Wanner, Geometric numerical integration (2006), chapter I.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import cardan
from cardan.solvers import Featherstone, Variational


def main(picture: str, seconds: float = 10.0, dt: float = 0.005) -> None:
    """Draw the error of the energy over time, and where the pendulum goes."""
    robot = cardan.robots.double_pendulum()
    model, world = robot.model(), robot.world()
    free = {"limits": False, "contact": None}
    solvers = {
        "semi-implicit Euler": Featherstone(world, dt, integrator="semi_implicit", **free),
        "midpoint": Featherstone(world, dt, integrator="midpoint", **free),
        "Runge-Kutta 4": Featherstone(world, dt, integrator="rk4", **free),
        "variational": Variational(world, dt),
    }
    figure = plt.figure(figsize=(11.0, 4.4), layout="constrained")
    right = figure.add_subplot(1, 2, 2)
    for name, solver in solvers.items():
        start = world.state(q=[2.0, 1.0])  # rad
        found = solver.rollout(start, steps=int(seconds / dt), every=4)
        q, v = found.q[:, 0], found.v[:, 0]
        energy = cardan.kinetic_energy(model, q, v) + cardan.potential_energy(model, q)
        error = np.abs(energy - energy[0])
        right.semilogy(found.time[1:, 0], np.maximum(error[1:], 1e-16), lw=0.8, label=name)
        drift = np.polyfit(found.time[:, 0], energy, 1)[0]
        print(f"{name}: largest error {error.max():.1e} J, trend {drift:+.1e} J/s")

    left = figure.add_subplot(1, 2, 1, projection="3d")
    tip = model.body_names[-1]
    cardan.plot(model, q[:100], left, t=found.time[:100, 0], paths=tip, shown=6)
    left.view_init(elev=5.0, azim=-85.0)
    right.set(
        xlabel="time [s]", ylabel="error of the energy [J]", title=f"steps of {1e3 * dt:g} ms"
    )
    right.legend(fontsize="small")
    right.grid(alpha=0.3)
    figure.savefig(picture, dpi=80)


if __name__ == "__main__":
    main(sys.argv[1] if sys.argv[1:] else "pendulum_energy.png")
