"""A Stewart platform follows a motion of its plate: the lengths and forces of its six legs.

python examples/stewart_platform.py [PICTURE.png]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import cardan


def main(picture: str) -> None:
    """Rock the plate once around, and draw the legs' lengths and forces beside the platform."""
    robot = cardan.robots.stewart_platform()
    model = robot.model()
    slides = [f"slide{k}" for k in range(1, 7)]
    at = [model.v_slice(name).start for name in slides]

    # Drive the legs slowly, assembling each configuration near the one before.
    t = np.linspace(0.0, 2.0 * np.pi, 61)  # s
    lengths = 0.06 * np.sin(t[:, None] + np.pi / 3.0 * np.arange(6))  # m, from those at rest
    q, near = [], model.neutral()
    for row in lengths:
        for name, length in zip(slides, row, strict=True):
            near[model.q_slice(name)] = length
        near = cardan.assemble(model, near, fixed=slides)
        q.append(near.copy())
    q = np.array(q)
    free = cardan.mobility(model, q[20])
    gap = np.abs(cardan.loop_residual(model, q)).max()
    print(f"{model.nv} coordinates, {free} freedoms; largest gap {gap:.0e}")

    # Forces along the legs that hold the plate still, by virtual work: for every motion n that
    # keeps the loops closed, K n = 0, what the legs do is what gravity takes, n . f = n . g.
    n = np.linalg.svd(cardan.loop_jacobian(model, q))[2][:, -free:]  # (states, 6, 21)
    g = cardan.gravity_forces(model, q)
    forces = np.linalg.solve(n[:, :, at], n @ g[..., None])[..., 0]  # N

    # In equilibrium no small motion of the legs gains energy: f . dl = d(potential energy).
    gained = np.diff(cardan.potential_energy(model, q))
    work = (0.5 * (forces[1:] + forces[:-1]) * np.diff(lengths, axis=0)).sum(axis=-1)
    print(f"work of the legs and energy differ by {np.abs(work - gained).max():.1e} J in a step")

    figure = plt.figure(figsize=(11.0, 5.0), layout="constrained")
    cardan.plot(model, q[:50], figure.add_subplot(1, 2, 1, projection="3d"), t=t[:50], shown=3)
    right = figure.add_subplot(1, 2, 2)
    right.plot(t, forces, label=[f"leg {k}" for k in range(1, 7)])
    right.set(xlabel="time [s]", ylabel="force of a leg [N]")
    right.legend()
    right.grid(alpha=0.3)
    figure.savefig(picture, dpi=80)


if __name__ == "__main__":
    main(sys.argv[1] if sys.argv[1:] else "stewart_platform.png")
