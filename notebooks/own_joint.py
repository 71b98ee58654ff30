# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # A joint of one's own: a cam
#
# A follower rides on an eccentric disc: turning the disc lifts it. No catalogue has that joint, and it needs one method.

# %%
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np

import cardan


@dataclass(frozen=True)
class Cam(cardan.Joint):
    """A point follower on an eccentric disc. q: the disc's angle [rad]; the child slides along the parent's z."""

    radius: float = 0.05  # m
    offset: float = 0.03  # m, of the disc's axis from its centre
    manifold = cardan.manifolds.Euclidean(1)

    def transform(self, q):
        e, r = self.offset, self.radius
        lift = e * cardan.cos(q[0]) + cardan.sqrt(r**2 - (e * cardan.sin(q[0])) ** 2)
        return cardan.SE3(translation=(0.0, 0.0, lift))


# %% [markdown]
# The motion subspace S and its rate are derived from `transform`. A certificate tries more than thirty identities: differences, round trips, energies, both dynamics, derivatives, native code.

# %%
certificate = cardan.verify_joint(Cam())
print(certificate)
assert certificate.passed

# %% [markdown]
# In a mechanism it is a joint like any other. A valve of 0.2 kg on the cam, gravity, and a spring that presses it down: what torque does the camshaft need?

# %%
m = cardan.Mechanism("valve train")
m.add_body("valve", cardan.Inertia(mass=0.2, com=(0.0, 0.0, 0.0), inertia=1e-5 * np.eye(3)))
m.add_joint("cam", Cam(), parent="world", child="valve", armature=[1e-4])
valve = m.model()

angle = np.linspace(0.0, 2 * np.pi, 361)[:, None]


@cardan.function(shapes={"stiffness": ()})
def camshaft(model, q, v, a, stiffness):
    """Return the torque at the camshaft [N m], with a spring on the valve [N/m]."""
    lift = cardan.frame_transform(model, q, "valve")[2, 3]
    slope = cardan.jacobian(model, q, "valve")[2]
    return cardan.inverse_dynamics(model, q, v, a) + slope * stiffness * (lift - 0.02)


fig, (left, right) = plt.subplots(1, 2, figsize=(10, 3), layout="constrained")
left.plot(np.degrees(angle), 1e3 * cardan.frame_transform(valve, angle, "valve")[:, 2, 3])
left.set(xlabel="angle [deg]", ylabel="lift [mm]")
for rpm in (600, 3000, 6000):
    speed = np.full_like(angle, rpm * 2 * np.pi / 60)  # rad/s
    right.plot(np.degrees(angle), camshaft(valve, angle, speed, 0 * angle, 5000.0), label=f"{rpm}/min")
right.set(xlabel="angle [deg]", ylabel="torque [N m]")
right.legend()
plt.show()

# %% [markdown]
# The power of the torque is the rate of energy, for every speed: the velocity products of S(q), which hand-written joints often lack, are there.

# %%
q, v, a = angle, np.full_like(angle, 100.0), np.full_like(angle, 30.0)
power = (cardan.inverse_dynamics(valve, q, v, a) * v)[:, 0]
dt = 1e-6
moved = (q + v * dt + 0.5 * a * dt**2, v + a * dt)
before, after = (cardan.kinetic_energy(valve, *s) + cardan.potential_energy(valve, s[0]) for s in ((q, v), moved))
assert np.allclose((after - before) / dt, power, rtol=1e-3, atol=1e-2 * np.abs(power).max())
print("largest power", power.max(), "W")
