# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Optimal control: iLQR swings up a cart-pole
#
# The Jacobians of the dynamics along a whole trajectory are one call: time is a batch axis. What is left is the recursion of Riccati, in NumPy.
#
# Source: Li and Todorov (2004); Tassa, Erez and Todorov (2012).

# %%
import matplotlib.pyplot as plt
import numpy as np

import cardan

model = cardan.robots.cart_pole().model()  # q: place of the cart [m], angle of the pole [rad], 0 is up
N, DT = 80, 0.03  # steps, s
start, goal = np.array([0.0, np.pi, 0.0, 0.0]), np.zeros(4)
Q, R, Q_END = np.diag([0.2, 0.2, 0.02, 0.02]), np.array([[2e-4]]), np.diag([50.0, 50.0, 10.0, 10.0])


@cardan.function(shapes={"x": (4,), "u": (1,)})
def step(model, x, u):
    """Return the state after a step; x = (q, v), u the force on the cart [N]."""
    q, v = x[:2], x[2:]
    v = v + DT * cardan.forward_dynamics(model, q, v, np.stack([u[0], 0.0 * u[0]]))
    return np.concatenate([cardan.integrate(model, q, DT * v), v])


jacobians = cardan.derivative(step, ("x", "u"))  # by both in one program
move = step.bind(model)

# %% [markdown]
# A forward pass follows the controls, with feedback about the last trajectory; a backward pass improves both.


# %%
def follow(x, u, k, K, size):
    """Return the trajectory of controls that were changed by size k, with feedback K."""
    new_x, new_u = [start], []
    for t in range(N):
        new_u.append(u[t] + size * k[t] + K[t] @ (new_x[t] - x[t]))
        new_x.append(move(new_x[t], new_u[t]))
    return np.array(new_x), np.array(new_u)


def cost(x, u):
    """Return what a trajectory costs."""
    e, end = x[:-1] - goal, x[-1] - goal
    with np.errstate(over="ignore"):  # a step that was too long costs inf, and is not taken
        return 0.5 * (np.einsum("ti,ij,tj", e, Q, e) + np.einsum("ti,ij,tj", u, R, u) + end @ Q_END @ end)


def improve(x, u, damping):
    """Return changes k (N, 1) and gains K (N, 1, 4): one Riccati recursion backwards."""
    A, B = jacobians(model, x[:-1], u)  # (N, 4, 4), (N, 4, 1): one call for all times
    k, K = np.zeros((N, 1)), np.zeros((N, 1, 4))
    Vx, Vxx = Q_END @ (x[-1] - goal), Q_END
    for t in reversed(range(N)):
        Qx, Qu = Q @ (x[t] - goal) + A[t].T @ Vx, R @ u[t] + B[t].T @ Vx
        Qxx, Quu, Qux = Q + A[t].T @ Vxx @ A[t], R + B[t].T @ Vxx @ B[t], B[t].T @ Vxx @ A[t]
        k[t] = -np.linalg.solve(Quu + damping * np.eye(1), Qu)
        K[t] = -np.linalg.solve(Quu + damping * np.eye(1), Qux)
        Vx = Qx + K[t].T @ Quu @ k[t] + K[t].T @ Qu + Qux.T @ k[t]
        Vxx = Qxx + K[t].T @ Quu @ K[t] + K[t].T @ Qux + Qux.T @ K[t]
    return k, K


# %%
u = 10.0 * np.sin(np.linspace(0.0, 6.0, N))[:, None]
x, u = follow(np.tile(start, (N + 1, 1)), u, np.zeros((N, 1)), np.zeros((N, 1, 4)), 0.0)
costs, damping = [cost(x, u)], 1e-3
for _ in range(150):
    k, K = improve(x, u, damping)
    tries = [follow(x, u, k, K, size) for size in (1.0, 0.5, 0.2, 0.05)]
    best = min(tries, key=lambda found: cost(*found))
    better = cost(*best) < costs[-1]
    damping = max(damping / 3, 1e-6) if better else damping * 5
    x, u = best if better else (x, u)
    costs.append(cost(x, u))
    if damping > 1e8 or (better and costs[-2] - costs[-1] < 1e-6 * costs[-1]):
        break
print(len(costs) - 1, "iterations, cost", costs[-1], "; ends at", np.round(x[-1], 3))
assert np.abs(x[-1] - goal).max() < 0.2

# %%
fig, (left, middle, right) = plt.subplots(1, 3, figsize=(12, 3), layout="constrained")
left.semilogy(costs)
left.set(xlabel="iteration", ylabel="cost")
middle.plot(DT * np.arange(N + 1), x[:, :2], label=["cart [m]", "pole [rad]"])
middle.legend()
right.step(DT * np.arange(N), u)
right.set(xlabel="time [s]", ylabel="force [N]")
plt.show()
