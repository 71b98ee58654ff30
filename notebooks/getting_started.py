# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Getting started
#
# A robot, its kinematics and dynamics, in batches, with derivatives. Needs `pip install "cardan[plot]"`.

# %%
import matplotlib.pyplot as plt
import numpy as np

import cardan

arm = cardan.load(cardan.robots.urdf_path("arm7"))  # a URDF that ships; yours is loaded the same way
print(arm)

# %% [markdown]
# A model holds no state. Configurations q and velocities v are arrays of yours, with any leading axes: here 0.6 s of motion, every joint along a sine.

# %%
t = np.linspace(0.0, 0.6, 201)[:, None]  # s
amplitude = np.linspace(0.3, 0.9, arm.nv)  # rad
w = 2 * np.pi
q, v, a = (amplitude * wave for wave in (np.sin(w * t), w * np.cos(w * t), -(w**2) * np.sin(w * t)))

tau = cardan.inverse_dynamics(arm, q, v, a)  # (201, 7), N m: one call for all
tool = cardan.frame_transform(arm, q, "tool")[:, :3, 3]  # (201, 3), m

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 3), layout="constrained")
left.plot(t, tau)
left.set(xlabel="time [s]", ylabel="torque [N m]")
right.plot(tool[:, 0], tool[:, 2])
right.set(xlabel="x [m]", ylabel="z [m]", aspect="equal", title="path of the tool")
plt.show()

# %% [markdown]
# **Laws hold.** Forward dynamics gives the accelerations back, and the torques' work is the energy gained.

# %%
back = cardan.forward_dynamics(arm, q, v, tau)
energy = cardan.kinetic_energy(arm, q, v) + cardan.potential_energy(arm, q)  # J
work = np.trapezoid((tau * v).sum(axis=1), t[:, 0])
print("accelerations:", np.abs(back - a).max(), "rad/s^2;  energy gained", energy[-1] - energy[0], "J, work", work, "J")
assert np.allclose(back, a) and np.isclose(energy[-1] - energy[0], work, atol=1e-3)

# %% [markdown]
# **Derivatives** are along the tangent of the configuration space, compiled like all else.

# %%
dtau = cardan.inverse_dynamics_derivatives(arm, q, v, a)
fig, axes = plt.subplots(1, 3, figsize=(9, 3), layout="constrained")
for ax, name in zip(axes, ("dq", "dv", "da"), strict=True):
    ax.imshow(np.abs(getattr(dtau, name)[50]), cmap="magma")
    ax.set_title(f"|dtau/{name}|")
plt.show()

# %% [markdown]
# **A function of your own** is plain Python, run once on symbols, then compiled for this robot. Here: how well can the tool be moved in all directions?


# %%
@cardan.function(returns=())
def manipulability(model, q):
    """Return the volume of the ellipsoid of velocities of the tool, sqrt(det(J J^T))."""
    J = cardan.jacobian(model, q, "tool")[:3]
    return np.sqrt(cardan.determinant(J @ J.T))


samples = arm.random_configuration((20000,), seed=0)
values = manipulability(arm, samples)
slope = cardan.gradient(manipulability, "q")(arm, samples[:3])
print(values.shape, slope.shape)
plt.figure(figsize=(5, 2.5))
plt.hist(values, bins=80)
plt.xlabel("manipulability [m^3]")
plt.show()
