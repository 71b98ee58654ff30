"""Iterative LQR (Tassa, Erez, Todorov 2012) swings a pole up: derivatives of a motion by one compiled function."""

import sys

import matplotlib.pyplot as plt
import numpy as np

import cardan

MODEL, STEPS, DT = cardan.robots.cart_pole().model(), 100, 0.03  # s
START, W, W_FINAL, R = np.array([0.0, np.pi, 0.0, 0.0]), 0.1 * np.eye(4), 1e3 * np.eye(4), 0.01 * np.eye(1)


@cardan.function(shapes={"u": (1,)})
def step(model, q, v, u):
    """Return the state after a step under a force on the cart."""
    v_next = v + DT * cardan.forward_dynamics(model, q, v, [u[0], 0.0])
    return cardan.integrate(model, q, DT * v_next), v_next


def rollout(xs, us, gains, changes, share):
    """Return the motion near another one, its forces, and what it costs."""
    states, forces, cost = [START], [], 0.0
    for k, x in zip(range(STEPS), states):  # noqa: B905 -- the states grow
        forces.append(u := us[k] + share * changes[k] + gains[k] @ (x - xs[k]))
        states.append(np.concatenate(step(MODEL, x[:2], x[2:], u)))
        cost += 0.5 * (x @ W @ x + u @ R @ u)
    return np.array(states), np.array(forces), cost + 0.5 * states[-1] @ W_FINAL @ states[-1]


def improvement(xs, us, by, damping):
    """Return gains and changes of the forces: the best for the motion with these derivatives of its steps."""
    A, B = np.block([[by.dq[0], by.dv[0]], [by.dq[1], by.dv[1]]]), np.concatenate(by.du, axis=1)
    S, s, gains, changes = W_FINAL, W_FINAL @ xs[-1], np.zeros((STEPS, 1, 4)), np.zeros((STEPS, 1))
    for k in reversed(range(STEPS)):
        Qu, Quu, Qux = R @ us[k] + B[k].T @ s, R + B[k].T @ S @ B[k], B[k].T @ S @ A[k]
        gains[k], changes[k] = -(inverse := np.linalg.inv(Quu + damping * np.eye(1))) @ Qux, -inverse @ Qu
        s = W @ xs[k] + A[k].T @ s + gains[k].T @ (Quu @ changes[k] + Qu) + Qux.T @ changes[k]
        S = W + A[k].T @ S @ A[k] + gains[k].T @ Quu @ gains[k] + gains[k].T @ Qux + Qux.T @ gains[k]
    return gains, changes


def main(picture):
    """Swing up, draw it, and return the states, the forces and their cost."""
    linearise = cardan.derivative(step, ("q", "v", "u"), tangent=True)
    best, damping = rollout(*(np.zeros((STEPS, *shape)) for shape in [(4,), (1,), (1, 4), (1,)]), 0.0), 1.0
    while 1e-9 < damping < 1e6:
        xs, us, _ = best
        change = improvement(xs, us, linearise(MODEL, xs[:-1, :2], xs[:-1, 2:], us), damping)
        found = min((rollout(xs, us, *change, 0.5**k) for k in range(6)), key=lambda motion: motion[2])
        damping *= 10.0 if found[2] > (1.0 - 1e-7) * best[2] else 0.5
        best = min(best, found, key=lambda motion: motion[2])
    plt.figure(num="cart [m], pole [rad]").gca().plot(DT * np.arange(STEPS + 1), best[0][:, :2])
    plt.savefig(picture)
    return best


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "ilqr.png")
