# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Identification: what does the arm weigh?
#
# Joint torques are measured along a motion, with noise. Inverse dynamics is linear in ten numbers for each body: tau = Y(q, v, a) p.

# %%
import matplotlib.pyplot as plt
import numpy as np

import cardan

arm = cardan.robots.arm7().model()
truth = arm.inertial_parameters()  # (90,): mass, mass times centre of mass, inertia about the origin
rng = np.random.default_rng(0)


def motion(samples, seed, period=10.0, harmonics=5):
    """Return q, v, a along sums of sines, (samples, nv) each."""
    rng = np.random.default_rng(seed)
    t = np.linspace(0.0, period, samples, endpoint=False)[:, None]
    w = 2 * np.pi / period * np.arange(1, harmonics + 1)
    A, B = rng.normal(size=(2, arm.nv, harmonics)) / np.arange(1, harmonics + 1)
    s, c = np.sin(w * t), np.cos(w * t)
    return s @ A.T + c @ B.T, (c * w) @ A.T - (s * w) @ B.T, -(s * w**2) @ A.T - (c * w**2) @ B.T


q, v, a = motion(1000, seed=1)
noise = 0.05  # N m
measured = cardan.inverse_dynamics(arm, q, v, a) + noise * rng.normal(size=v.shape)

# %% [markdown]
# Not every parameter shows in the torques. The rank of Y says how many combinations do: the **base parameters**.

# %%
Y = cardan.torque_regressor(arm, q, v, a).reshape(-1, truth.size)
_, sizes, rows = np.linalg.svd(Y, full_matrices=False)
count = int((sizes > 1e-9 * sizes[0]).sum())
base = rows[:count]
print(count, "of", truth.size)
plt.figure(figsize=(7, 2.5))
plt.semilogy(sizes, ".")
plt.axvline(count - 0.5, color="0.6")
plt.ylabel("singular values of Y")
plt.show()

# %% [markdown]
# A guess from CAD that is off by up to half is corrected where the data speak, and kept where they do not.

# %%
guess = truth * rng.uniform(0.5, 1.5, size=truth.size)
found = guess + np.linalg.lstsq(Y, measured.ravel() - Y @ guess, rcond=1e-9)[0]
error = base @ (found - truth) / (noise / sizes[:count])  # in standard deviations of what the noise explains
print("worst base parameter:", np.abs(error).max(), "standard deviations")
assert np.abs(error).max() < 4.5

# %% [markdown]
# What counts is whether another motion is predicted.

# %%
test = motion(400, seed=2)
torques = [cardan.inverse_dynamics(arm.with_values(inertial_parameters=p), *test) for p in (truth, guess, found)]
fig, axes = plt.subplots(1, 2, figsize=(10, 3), layout="constrained")
axes[0].plot(torques[1] - torques[0])
axes[0].set(title="the guess misses by", ylabel="torque [N m]")
axes[1].plot(torques[2] - torques[0])
axes[1].set(title="the identified robot misses by")
plt.show()
assert np.abs(torques[2] - torques[0]).max() < 2 * noise

# %% [markdown]
# **Not only masses.** Any constant can be an input with derivatives: here the mass and centre of mass of a payload in the hand, by Gauss and Newton, from 50 samples.

# %%
carried = arm.with_inputs(tool_mass=("tool", "mass"), tool_com=("tool", "com"))
payload = {"tool_mass": 1.7, "tool_com": np.array([0.02, -0.03, 0.11])}  # kg, m
few = [x[::20] for x in (q, v, a)]
seen = cardan.inverse_dynamics(carried, *few, **payload) + noise * rng.normal(size=few[1].shape)

by_mass, by_com = (cardan.derivative(cardan.inverse_dynamics, name) for name in ("tool_mass", "tool_com"))
x = np.array([0.5, 0.0, 0.0, 0.05])
for _ in range(5):
    now = {"tool_mass": x[0], "tool_com": x[1:]}
    J = np.concatenate([by_mass(carried, *few, **now)[..., None], by_com(carried, *few, **now)], axis=-1)
    miss = seen - cardan.inverse_dynamics(carried, *few, **now)
    x = x + np.linalg.lstsq(J.reshape(-1, 4), miss.ravel(), rcond=None)[0]
print("payload:", x[0], "kg at", x[1:], "m")
assert abs(x[0] - 1.7) < 0.02 and np.abs(x[1:] - payload["tool_com"]).max() < 5e-3
