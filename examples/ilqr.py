"""Iterative LQR swings a pole up: `cardan.optimal` finds the motion and its feedback.

python examples/ilqr.py [PICTURE.png]
"""

import sys

import numpy as np

import cardan

MODEL, STEPS, DT = cardan.robots.cart_pole().model(), 100, 0.03  # s
START, STILL = np.array([0.0, np.pi]), np.zeros(2)


@cardan.function(shapes={"u": (1,)})
def step(model, q, v, u):
    """Return the state after a step under a force on the cart."""
    v_next = v + DT * cardan.forward_dynamics(model, q, v, [u[0], 0.0])
    return cardan.integrate(model, q, DT * v_next), v_next


@cardan.function(shapes={"u": (1,)}, returns=())
def cost(model, q, v, u):
    """Return what a step costs."""
    return 0.05 * (q @ q + v @ v) + 0.005 * u[0] * u[0]


@cardan.function(returns=())
def final_cost(model, q, v):
    """Return what the last state costs: the pole shall stand where it began, at rest."""
    return 500.0 * (q @ q + v @ v)


def main(picture):
    """Swing up, draw it, and return the states, the forces and their cost."""
    problem = cardan.optimal.Problem(MODEL, step, cost, final_cost)
    found = cardan.optimal.solve(problem, START, STILL, np.zeros((STEPS, 1)))
    states = np.concatenate([found.q, found.v], axis=-1)
    print(f"cost {found.cost:.3f} after {found.iterations} iterations")

    q, v = (
        START + [0.2, 0.2],
        STILL,
    )  # m, rad: it begins elsewhere, and the gains bring it to the motion
    for k in range(STEPS):
        x = np.concatenate([cardan.difference(MODEL, found.q[k], q), v - found.v[k]])
        q, v = step(MODEL, q, v, found.u[k] + found.K[k] @ x)
    off = np.abs(np.concatenate([q, v])).max()
    print(f"in the end off by {np.abs(states[-1]).max():.1e}, from another start by {off:.1e}")

    t = DT * np.arange(STEPS + 1)
    ax = cardan.plot(MODEL, found.q, t=t, paths="pole", shown=12)
    ax.figure.savefig(picture, dpi=80)
    return states, found.u, found.cost


if __name__ == "__main__":
    main(sys.argv[1] if sys.argv[1:] else "ilqr.png")
