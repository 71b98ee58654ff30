# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Simulation with contact
#
# A robot dog drops on its feet, is pushed, and stands on grounds of different friction: many worlds in one call.

# %%
import matplotlib.pyplot as plt
import numpy as np

import cardan

dog, _ = cardan.robots.quadruped().with_drives({"*": cardan.Drive(stiffness=60.0, damping=2.0)})  # N m/rad, N m s/rad
world = dog.world(base="floating", ground=True)
solver = cardan.solvers.Featherstone(world, dt=0.005)  # s; implicit, convex contacts
print(world)

# %% [markdown]
# Sixteen worlds, each dropped from another height. The legs begin bent, and drives hold them so.

# %%
WORLDS = 16
state, control = world.state(worlds=WORLDS), world.control(worlds=WORLDS)
state.q[:, 2] = np.linspace(0.35, 0.8, WORLDS)  # m

path = solver.rollout(state, control, steps=200)
assert not path.state.diverged.any()

plt.figure(figsize=(7, 3))
plt.plot(path.time, path.q[:, :, 2])
plt.xlabel("time [s]")
plt.ylabel("height of the trunk [m]")
plt.show()

# %% [markdown]
# Where do the feet touch, and do the forces carry the weight? A step finds them inside; together they are the rate of momentum, and the weight.

# %%
contacts = world.collide(path.state)
print("gaps of the first world [m]:", np.round(contacts.gap[0], 5))

before, after = path.state, solver.step(path.state, control)
h0, h1 = (cardan.centroidal_momentum(world.model, s.q, s.v)[:, 2] for s in (before, after))
force = (h1 - h0) / solver.dt + world.model.mass * 9.81  # N
print("force of the ground / weight:", np.round(force / (world.model.mass * 9.81), 3))
assert np.allclose(force / (world.model.mass * 9.81), 1.0, atol=0.05)

# %% [markdown]
# **Each world its own constants.** They are inputs, so other values compile nothing. A crate on a slope of 15 degrees (gravity is turned) has another friction in each world; it stays where it
# is if the coefficient is more than tan 15 = 0.27, and else slides as a textbook says.

# %%
b = cardan.WorldBuilder("slope")
b.add_body("crate", pose=cardan.SE3(translation=(0.0, 0.0, 0.1)))
b.add_shape("crate", cardan.description.Box((0.6, 0.4, 0.2)), density=300.0)  # m, kg/m^3
b.add_ground()
slope = b.finalize().with_inputs("contact_friction", "gravity")

friction, angle = np.linspace(0.05, 0.5, WORLDS), np.radians(15.0)
gravity = 9.81 * np.array([np.sin(angle), 0.0, -np.cos(angle)])  # m/s^2
constants = {
    "contact_friction": np.outer(friction, np.ones(len(slope.pairs))),
    "gravity": np.tile(gravity, (WORLDS, 1)),
}
slid = cardan.solvers.Featherstone(slope, dt=0.005).step(slope.state(WORLDS, **constants), steps=200)

textbook = np.maximum(0.0, 0.5 * 9.81 * (np.sin(angle) - friction * np.cos(angle)))  # m, after 1 s
plt.figure(figsize=(7, 3))
plt.plot(friction, slid.q[:, 0], "o", label="simulated")
plt.plot(friction, textbook, label="textbook")
plt.axvline(np.tan(angle), color="0.6")
plt.xlabel("coefficient of friction")
plt.ylabel("slid in a second [m]")
plt.legend()
plt.show()
assert np.abs(slid.q[:, 0] - textbook).max() < 0.02

# %% [markdown]
# **Derivatives through contact.** A step is a function; with the compliant law its forces are smooth. How does the trunk's height after one step depend on the targets of the twelve drives?

# %%
soft = cardan.solvers.Featherstone(world, dt=0.002, contact="compliant")


@cardan.function(shapes={"position": ("nv",)}, returns=())
def rate_of_height(model, q, v, position):
    """Return the trunk's vertical speed after a step [m/s]."""
    after = soft.function(model, q, v, 0.0, position=position)
    return cardan.frame_velocity(model, after["q"], after["v"], model.body_names[0])[2]


slope = cardan.gradient(rate_of_height, "position")(world.model, path.state.q[0], path.state.v[0], control.position[0])
print(np.round(slope[6:], 4), "m/s a rad")
assert np.abs(slope[6:]).max() > 0.0
