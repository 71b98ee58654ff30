"""Direct collocation swings a pole up with the least effort: SciPy on compiled derivatives.

python examples/direct_collocation.py [PICTURE.png]

Source: Kelly, An introduction to trajectory optimization (2017).
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize

import cardan

MODEL, POINTS, TIME = cardan.robots.cart_pole(pole_mass=0.3).model(), 25, 2.0  # s
DT = TIME / (POINTS - 1)
START, GOAL = np.array([0.0, np.pi, 0.0, 0.0]), np.array([1.0, 0.0, 0.0, 0.0])


@cardan.function(shapes={"x": (4,), "u": (1,)})
def rate(model, x, u):
    """Return the rate of the state x = (q, v) under a force on the cart."""
    return np.concatenate([x[2:], cardan.forward_dynamics(model, x[:2], x[2:], [u[0], 0.0])])


slope = cardan.derivative(rate, ("x", "u"))


def unpacked(z):
    """Return states, (POINTS, 4), and forces, (POINTS, 1)."""
    return np.split(z.reshape(POINTS, 5), [4], axis=1)


def defects(z):
    """Return by how much the steps miss the trapezoidal rule, and the ends start and goal."""
    x, u = unpacked(z)
    f = rate(MODEL, x, u)  # of all points at once
    missed = np.diff(x, axis=0) - 0.5 * DT * (f[1:] + f[:-1])
    return np.concatenate([missed.ravel(), x[0] - START, x[-1] - GOAL])


def defects_derivative(z):
    """Return the derivative of `defects`: two blocks a step, from one call."""
    by, K = slope(MODEL, *unpacked(z)), np.arange(POINTS - 1)
    point = -0.5 * DT * np.concatenate([by.dx, by.du], axis=2)
    J, unit = np.zeros((POINTS - 1, 4, POINTS, 5)), np.eye(4, 5)
    J[K, :, K], J[K, :, K + 1] = point[:-1] - unit, point[1:] + unit
    ends = np.zeros((2, 4, POINTS, 5))
    ends[0, :, 0] = ends[1, :, -1] = unit
    return np.concatenate([J, ends]).reshape(-1, POINTS * 5)


def main(picture):
    """Swing up, draw it, and return what the optimiser found."""
    guess = np.hstack([np.linspace(START, GOAL, POINTS), np.zeros((POINTS, 1))]).ravel()
    effort = np.tile([0.0, 0.0, 0.0, 0.0, DT], POINTS)
    steps = {"type": "eq", "fun": defects, "jac": defects_derivative}
    bounds = [(-2.0, 2.0), *[(None, None)] * 3, (-20.0, 20.0)] * POINTS
    cost = lambda z: (z @ (effort * z), 2.0 * effort * z)  # noqa: E731 -- and its gradient
    found = minimize(cost, guess, jac=True, bounds=bounds, constraints=steps)
    print(f"effort {found.fun:.2f} N^2 s; steps missed by {np.abs(defects(found.x)).max():.1e}")
    x, u = unpacked(found.x)
    t = DT * np.arange(POINTS)
    figure, axes = plt.subplots(3, sharex=True, layout="constrained")
    names = "position [m], angle [rad]", "velocity [m/s, rad/s]", "force [N]"
    for panel, name, y in zip(axes, names, (x[:, :2], x[:, 2:], u), strict=True):
        panel.plot(t, y)
        panel.set_ylabel(name)
    figure.savefig(picture, dpi=100)
    return found


if __name__ == "__main__":
    main(sys.argv[1] if sys.argv[1:] else "direct_collocation.png")
