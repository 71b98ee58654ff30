"""Iterative LQR swings a pole up: derivatives of all steps of a motion by one compiled function.

python examples/ilqr.py [PICTURE.png]

Source: Tassa, Erez and Todorov, Synthesis and stabilization of complex behaviors (2012).
"""

import sys

import numpy as np

import cardan

MODEL, STEPS, DT = cardan.robots.cart_pole().model(), 100, 0.03  # s
START = np.array([0.0, np.pi, 0.0, 0.0])
W, W_FINAL, R = 0.1 * np.eye(4), 1e3 * np.eye(4), 0.01 * np.eye(1)


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
    """Return the best gains and changes of the forces, given the derivatives of the steps."""
    A = np.block([[by.dq[0], by.dv[0]], [by.dq[1], by.dv[1]]])
    B = np.concatenate(by.du, axis=1)
    S, s, gains, changes = W_FINAL, W_FINAL @ xs[-1], np.zeros((STEPS, 1, 4)), np.zeros((STEPS, 1))
    for k in reversed(range(STEPS)):
        Qu, Quu, Qux = R @ us[k] + B[k].T @ s, R + B[k].T @ S @ B[k], B[k].T @ S @ A[k]
        inverse = np.linalg.inv(Quu + damping * np.eye(1))
        gains[k], changes[k] = -inverse @ Qux, -inverse @ Qu
        s = W @ xs[k] + A[k].T @ s + gains[k].T @ (Quu @ changes[k] + Qu) + Qux.T @ changes[k]
        S = (
            W
            + A[k].T @ S @ A[k]
            + gains[k].T @ Quu @ gains[k]
            + gains[k].T @ Qux
            + Qux.T @ gains[k]
        )
    return gains, changes


def main(picture):
    """Swing up, draw it, and return the states, the forces and their cost."""
    linearise = cardan.derivative(step, ("q", "v", "u"), tangent=True)
    nothing = [np.zeros((STEPS, *shape)) for shape in [(4,), (1,), (1, 4), (1,)]]
    best, damping = rollout(*nothing, 0.0), 1.0
    while 1e-9 < damping < 1e6:
        xs, us, _ = best
        change = improvement(xs, us, linearise(MODEL, xs[:-1, :2], xs[:-1, 2:], us), damping)
        tried = [rollout(xs, us, *change, 0.5**k) for k in range(6)]
        found = min(tried, key=lambda motion: motion[2])
        damping *= 10.0 if found[2] > (1.0 - 1e-7) * best[2] else 0.5
        best = min(best, found, key=lambda motion: motion[2])
    print(f"cost {best[2]:.3f}, farthest from standing in the end {np.abs(best[0][-1]).max():.1e}")
    t = DT * np.arange(STEPS + 1)
    ax = cardan.plot(MODEL, best[0][:, :2], t=t, paths="pole", shown=12)
    ax.figure.savefig(picture, dpi=80)
    return best


if __name__ == "__main__":
    main(sys.argv[1] if sys.argv[1:] else "ilqr.png")
