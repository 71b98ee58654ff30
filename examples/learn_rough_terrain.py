"""Learns to walk on rough terrain with a height scan, in NumPy alone: augmented random search.

python examples/learn_rough_terrain.py [PICTURE.png]

Needs the extra `gym` (`pip install "cardan[gym]"`), and about a minute of two cores.

The policy is a matrix. It sees what `cardan/QuadrupedRough-v0` shows, the heights of the ground
about the trunk among it. It feels the forces on its feet, and has a clock of 2.5 strides a second.
It is tried on one terrain and judged on another, with bumps of up to 6 cm under legs of 40 cm. The
same seed gives the same policy, bit for bit, whatever the number of threads.

Source: Mania, Guy, Recht, "Simple random search of static policies is competitive for
reinforcement learning" (2018), algorithm 2, V2-t.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from hashlib import sha256
from typing import NamedTuple

import gymnasium
import matplotlib.pyplot as plt
import numpy as np

import cardan.gym

NAME = "cardan/QuadrupedRough-v0"
ACTIONS, STRIDES, PERIOD = 300, 2.5, 0.02  # of an episode; a second; s of an action
STEP, NOISE, TRIES, BEST = 0.03, 0.05, 128, 24


def walkers(worlds: int, seed: int) -> cardan.gym.VectorisedWorlds:
    """Return quadrupeds on one terrain."""
    options = {"terrain_seed": seed, "max_episode_steps": ACTIONS, "dtype": "float32"}
    return gymnasium.make_vec(NAME, num_envs=worlds, **options)


class Episode(NamedTuple):
    """What one episode of many worlds gave, a row each, and all that was seen."""

    earned: np.ndarray  # (worlds,)
    distance: np.ndarray  # in x of the trunk [m], (worlds,)
    fell: np.ndarray  # (worlds,)
    seen: np.ndarray  # (samples, n)


def feel(envs: cardan.gym.VectorisedWorlds, actions: np.ndarray) -> np.ndarray:
    """Return the forces on the feet as an action begins, in parts of the weight, (worlds, 12)."""
    solver, control = envs.task.solver, envs.task.solver.world.control(envs.num_envs, "float32")
    envs.task.command(control, envs.state, actions)
    forces = solver.body_contact_forces(envs.state, control, bodies="*_foot")[..., :3]
    return forces.reshape(envs.num_envs, -1) / (9.81 * solver.world.model.mass)


def played(
    envs: cardan.gym.VectorisedWorlds, policy: np.ndarray, scale: np.ndarray, seeds: int | list[int]
) -> Episode:
    """Return an episode of policies (worlds, n, 12); scale: mean and deviation (2, n) of inputs."""
    observations, _ = envs.reset(seed=seeds)
    earned, distance, seen = np.zeros(envs.num_envs), np.zeros(envs.num_envs), []
    over, fell = np.zeros(envs.num_envs, bool), np.zeros(envs.num_envs, bool)
    actions = np.zeros((envs.num_envs, 12))
    for k in range(ACTIONS):
        phase = 2.0 * np.pi * STRIDES * PERIOD * k
        clock = np.tile([np.sin(phase), np.cos(phase)], (envs.num_envs, 1))
        inputs = np.concatenate([observations, feel(envs, actions), clock], axis=1)
        seen.append(inputs[~over][::16])
        actions = np.clip(
            np.matmul(((inputs - scale[0]) / scale[1])[:, None], policy)[:, 0], -1.0, 1.0
        )
        observations, rewards, terminated, _, infos = envs.step(actions)
        earned += np.where(over, 0.0, rewards)
        distance += np.where(over, 0.0, infos["speed"] * PERIOD)
        fell |= terminated & ~over
        over |= terminated
    return Episode(earned, distance, fell, np.concatenate(seen))


def learn(
    rounds: int = 60, seed: int = 0, tell: Callable[[str], None] | None = None
) -> tuple[np.ndarray, np.ndarray, list[float]]:
    """Return a policy, the scale of its inputs, and what the middle try earned in each round."""
    rng, envs = np.random.default_rng(seed), walkers(2 * TRIES, seed=1)
    n = len(envs.task.highest) + 12 + 2  # with the forces and the clock
    policy, scale, samples, curve = np.zeros((n, 12)), np.stack([np.zeros(n), np.ones(n)]), [], []
    for k in range(rounds):
        changes = rng.standard_normal((TRIES, n, 12))
        tried = policy + NOISE * np.concatenate([changes, -changes])
        episode = played(envs, tried, scale, [seed + k] * envs.num_envs)
        plus, minus = np.split(episode.earned, 2)
        chosen = np.argsort(-np.maximum(plus, minus), kind="stable")[:BEST]
        deviation = np.concatenate([plus[chosen], minus[chosen]]).std()
        along = np.tensordot((plus - minus)[chosen], changes[chosen], 1)
        policy = policy + STEP / (BEST * deviation) * along
        samples = [*samples[-9:], episode.seen]  # of the last ten rounds
        every = np.concatenate(samples)
        scale = np.stack([every.mean(axis=0), every.std(axis=0) + 1e-3])
        curve.append(float(np.median(episode.earned)))
        if tell is not None and k % 10 == 9:
            tell(f"round {k + 1}: the middle try earns {curve[-1]:.0f} of 450")
    return policy, scale, curve


def main(picture: str) -> None:
    """Draw what was earned while learning, and say how far the policy walks on another terrain."""
    begun = time.perf_counter()
    policy, scale, curve = learn(tell=print)
    taken = time.perf_counter() - begun
    envs = walkers(64, seed=2)
    episode = played(envs, np.tile(policy, (64, 1, 1)), scale, 1000)
    way = f"{np.median(episode.distance):.1f} m in {ACTIONS * PERIOD:.0f} s"
    print(f"learned in {taken:.0f} s; on another terrain: {way}, {episode.fell.sum()} of 64 fell")
    print(f"SHA-256 of the policy: {sha256(policy.tobytes()).hexdigest()}")
    figure, ax = plt.subplots(figsize=(6.0, 4.0), layout="constrained")
    samples = 2e-6 * TRIES * ACTIONS * np.arange(1, len(curve) + 1)
    ax.plot(samples, curve, label=f"middle of {2 * TRIES} tries")
    ax.axhline(0.5 * ACTIONS, color="grey", linestyle=":", label="standing still")
    ax.set(
        xlabel="actions tried [millions]", ylabel="return of an episode of 300 actions", title=way
    )
    ax.fill_between(samples, 0.0, curve, alpha=0.2)
    ax.legend()
    figure.savefig(picture, dpi=80)


if __name__ == "__main__":
    main(sys.argv[1] if sys.argv[1:] else "learn_rough_terrain.png")
