"""256 arms reach for 256 goals in one environment of Gymnasium, by a policy of three lines.

python examples/vector_environment.py [PICTURE.png]

Needs the extra `gym` (`pip install "cardan[gym]"`).
"""

import sys

import gymnasium
import matplotlib.pyplot as plt
import numpy as np

import cardan
import cardan.gym

NAME = "cardan/ArmReach-v0"


def main(picture: str, worlds: int = 256) -> None:
    """Draw how the distances to the goals shrink, and one arm on its way."""
    envs = gymnasium.make_vec(NAME, num_envs=worlds)
    model = envs.unwrapped.task.model
    seen, _ = envs.reset(seed=0)
    distances, poses = [], []
    for _ in range(120):
        q, to_goal = seen[:, :7], seen[:, -3:]  # rad, m
        poses.append(q[0])
        distances.append(np.linalg.norm(to_goal, axis=-1))
        # The policy: the joints turn so that the tool goes straight to the goal.
        J = cardan.jacobian(model, q, "tool", expressed_in="world")[:, :3]
        JT = np.swapaxes(J, 1, 2)
        v = JT @ np.linalg.solve(J @ JT + 0.01 * np.eye(3), 4.0 * to_goal[..., None])
        actions = np.clip(v[..., 0] / model.velocity_upper, -1.0, 1.0)
        seen, rewards, _, _, _ = envs.step(actions.astype(np.float32))
    distances = np.array(distances)
    reached = (distances[-1] < 0.02).mean()
    print(f"{100 * reached:.0f} % of {worlds} arms are within 2 cm of their goal at the end")
    print(f"mean reward of the last action: {rewards.mean():.3f}")

    figure = plt.figure(figsize=(11.0, 4.6), layout="constrained")
    cardan.plot(model, poses, figure.add_subplot(1, 2, 1, projection="3d"), paths="tool", shown=4)
    right = figure.add_subplot(1, 2, 2)
    for percent in (10, 50, 90, 99):
        line = np.percentile(distances, percent, axis=1)
        right.semilogy(line, label=f"{percent} % of the arms are nearer")
    right.set(xlabel="actions", ylabel="distance to the goal [m]")
    right.legend()
    right.grid(alpha=0.3)
    figure.savefig(picture, dpi=80)


if __name__ == "__main__":
    main(sys.argv[1] if sys.argv[1:] else "vector_environment.png")
