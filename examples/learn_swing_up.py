"""Learns to swing a pole up and to balance it, in NumPy alone: augmented random search.

python examples/learn_swing_up.py [PICTURE.png]

Needs the extra `gym` (`pip install "cardan[gym]"`), and about ten seconds of a core.

In each round the weights of a small network are tried with random changes added and subtracted,
each in a world of its own. Then the weights move along the changes that did best, each as far as
its two tries differ.

Source: Mania, Guy, Recht, "Simple random search of static policies is competitive for
reinforcement learning" (2018), algorithm 1, V1-t. Their policies are linear; swinging up needs the
hidden layer.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import gymnasium
import matplotlib.pyplot as plt
import numpy as np
from gymnasium.vector import VectorEnv

import cardan.gym  # noqa: F401 -- registers the environments

NAME = "cardan/CartPoleSwingUp-v0"
TYPICAL = np.array([2.4, 1.0, 1.0, 3.0, 6.0])  # observations: m, cos, sin, m/s, rad/s
SEEN, HIDDEN = len(TYPICAL), 16
WEIGHTS = (SEEN + 2) * HIDDEN + 1


def act(weights: np.ndarray, observations: np.ndarray) -> np.ndarray:
    """Return the actions of networks, (worlds, 1).

    Args:
        weights: of a network for each world, (worlds, WEIGHTS).
        observations: what each sees, (worlds, SEEN).
    """
    first, bias, last, offset = np.split(
        weights, np.cumsum([SEEN * HIDDEN, HIDDEN, HIDDEN]), axis=1
    )
    inputs = np.einsum("wi,wih->wh", observations / TYPICAL, first.reshape(-1, SEEN, HIDDEN))
    return np.tanh((np.tanh(inputs + bias) * last).sum(axis=1, keepdims=True) + offset)


def returns(envs: VectorEnv, weights: np.ndarray, seed: int | list[int]) -> np.ndarray:
    """Return what networks earn in an episode, (worlds,)."""
    observations, _ = envs.reset(seed=seed)  # pyright: ignore[reportArgumentType]
    earned, over = np.zeros(envs.num_envs), np.zeros(envs.num_envs, bool)
    while not over.all():
        observations, rewards, terminated, truncated, _ = envs.step(act(weights, observations))
        earned += np.where(over, 0.0, rewards)
        over |= terminated | truncated
    return earned


def learn(
    rounds: int = 120,
    tries: int = 128,
    best: int = 16,
    step: float = 0.3,
    noise: float = 0.5,
    seed: int = 0,
    tell: Callable[[str], None] | None = None,
) -> np.ndarray:
    """Return the weights of a network that swings the pole up, (WEIGHTS,).

    Args:
        rounds: how often the weights move.
        tries: how many changes are tried in a round, each added and subtracted.
        best: how many of them the weights move along.
        step: how far, where the returns of the best are one standard deviation apart.
        noise: standard deviation of the changes.
        seed: decides everything.
        tell: is told how it goes.
    """
    rng = np.random.default_rng(seed)
    envs = gymnasium.make_vec(NAME, num_envs=2 * tries, max_episode_steps=300, dtype="float32")
    weights = 0.1 * rng.standard_normal(WEIGHTS)
    for k in range(rounds):
        changes = rng.standard_normal((tries, WEIGHTS))
        tried = weights + noise * np.concatenate([changes, -changes])
        plus, minus = np.split(
            returns(envs, tried, [seed + k] * envs.num_envs), 2
        )  # all from the same start
        chosen = np.argsort(-np.maximum(plus, minus), kind="stable")[:best]
        deviation = np.concatenate([plus[chosen], minus[chosen]]).std()
        weights = weights + step / (best * deviation) * (plus - minus)[chosen] @ changes[chosen]
        if tell is not None:
            middle, most = np.median(plus), plus.max()
            tell(f"round {k + 1}: the middle try earns {middle:.0f} of 300, the best {most:.0f}")
    return weights


def evaluated(weights: np.ndarray, worlds: int = 64, seed: int = 10_000) -> np.ndarray:
    """Return what a network earns in whole episodes of 500 actions from other starts, (worlds,)."""
    envs = gymnasium.make_vec(NAME, num_envs=worlds, dtype="float32")
    return returns(envs, np.tile(weights, (worlds, 1)), seed)


def main(picture: str) -> None:
    """Draw what 64 poles earn before and after learning."""
    before = evaluated(0.1 * np.random.default_rng(0).standard_normal(WEIGHTS))
    after = evaluated(learn(tell=print))
    middle, least = np.median(after), after.min()
    print(f"return of 64 episodes, at most 500: middle {middle:.0f}, least {least:.0f}")
    figure, ax = plt.subplots(figsize=(6.0, 4.0), layout="constrained")
    ax.hist([before, after], bins=np.linspace(0.0, 500.0, 26), label=["before", "after learning"])
    ax.set(xlabel="return of an episode of 500 actions", ylabel="episodes of 64")
    ax.legend()
    figure.savefig(picture, dpi=80)


if __name__ == "__main__":
    main(sys.argv[1] if sys.argv[1:] else "learn_swing_up.png")
