# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Inverse kinematics
#
# Which angles put the hand there? One pose, thousands of poses, several things at once, and a task of your own.

# %%
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np

import cardan

arm = cardan.robots.arm7().model()
target = cardan.SE3.from_rpy([np.pi, 0.0, 0.3], translation=[0.45, 0.1, 0.5])  # rad, m: the hand looks down
found = cardan.inverse_kinematics(arm, frame="tool", target=target)
print(found)
print(np.round(cardan.frame_transform(arm, found.q, "tool"), 4))
assert found.converged

# %% [markdown]
# **A batch** is one call. Random configurations make targets that can be reached; the search begins elsewhere and begins again where it gets stuck.

# %%
poses = cardan.frame_transform(arm, arm.random_configuration((2000,), seed=1), "tool")  # (2000, 4, 4)
found = cardan.inverse_kinematics(arm, frame="tool", target=poses)
print(
    f"{100 * found.converged.mean():.2f} % of {len(poses)} solved, worst residual {found.residual[found.converged].max():.1e}"
)
assert found.converged.mean() > 0.99

plt.figure(figsize=(7, 2.5))
plt.hist(found.restarts, bins=np.arange(0, 12), align="left", log=True)
plt.xlabel("restarts")
plt.ylabel("targets")
plt.show()

# %% [markdown]
# **What cannot be reached** is said, and the nearest configuration that was found is given.

# %%
far = cardan.inverse_kinematics(arm, frame="tool", target=cardan.SE3(translation=[3.0, 0.0, 0.5]), restarts=5)
print("converged:", far.converged, " residual:", far.residual)
assert not far.converged

# %% [markdown]
# **A redundant arm** has a family of solutions: the same hand, the elbow elsewhere. From different beginnings the search ends in different valleys.

# %%
begun = arm.random_configuration((300,), seed=3)
family = cardan.inverse_kinematics(arm, frame="tool", target=target, q0=begun)
elbow = cardan.frame_transform(arm, family.q[family.converged], "elbow")[:, :3, 3]
fig, axes = plt.subplots(1, 2, figsize=(8, 3.5), layout="constrained")
for ax, (i, k), names in zip(axes, ((0, 1), (0, 2)), ("xy", "xz"), strict=True):
    ax.plot(elbow[:, i], elbow[:, k], ".", label="elbow")
    ax.plot(*target.matrix()[[i, k], 3], "x", label="hand")
    ax.set(xlabel=f"{names[0]} [m]", ylabel=f"{names[1]} [m]", aspect="equal")
axes[0].legend()
plt.show()

# %% [markdown]
# **Tasks** are what is asked, each with a weight: here the place of the hand, and what it looks at.

# %%
point = np.array([0.9, 0.0, 0.2])  # m
tasks = [
    cardan.tasks.FramePosition("tool", [0.4, 0.2, 0.6]),
    cardan.tasks.LookAt("tool", axis=[0, 0, 1], target=point),
]
look = cardan.inverse_kinematics(arm, tasks)
X = cardan.frame_transform(arm, look.q, "tool")
to_point = (point - X[:3, 3]) / np.linalg.norm(point - X[:3, 3])
angle = np.degrees(np.arccos(np.clip(X[:3, 2] @ to_point, -1, 1)))
print("angle between the hand's z and the point:", angle, "degrees")
assert look.converged

# %% [markdown]
# **A task of your own** is a class with an error; its Jacobian is derived. The elbow at a given height:


# %%
@dataclass(frozen=True, kw_only=True, eq=False)
class Height(cardan.tasks.Task):
    """A frame's height above the ground [m]."""

    frame: str
    target: float = 0.0

    def target_shape(self, model):
        return ()

    def error(self, model, q, target):
        return np.stack([cardan.frame_transform(model, q, self.frame)[2, 3] - target])


heights = np.linspace(0.55, 0.75, 9)  # m; a batch of targets for one of the tasks
tasks = [cardan.tasks.FramePosition("tool", [0.45, 0.1, 0.5]), Height(frame="elbow", target=heights)]
raised = cardan.inverse_kinematics(arm, tasks)
reached = cardan.frame_transform(arm, raised.q, "elbow")[:, 2, 3]
print(np.round(np.c_[heights, reached], 4), raised.converged)
assert np.allclose(reached[raised.converged], heights[raised.converged], atol=1e-5) and raised.converged.sum() >= 5
