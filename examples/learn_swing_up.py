"""Learns to swing a pole up and to balance it, in NumPy alone: augmented random search, a world for each try.

    python examples/learn_swing_up.py

Needs the extra `gym` (`pip install "cardan[gym]"`), and about half a minute.

In each round the weights of a small network are tried with random changes added and subtracted, each in a world of its
own; the weights then move along the changes that did best, each as far as its two tries differ.

Source: Mania, Guy, Recht, "Simple random search of static policies is competitive for reinforcement learning"
(2018), algorithm 2, V1-t. The network, theirs being linear, has one hidden layer.
"""

from __future__ import annotations

import gymnasium
import numpy as np

import cardan.gym  # noqa: F401 -- registers the environments

SCALE = np.array([2.4, 1.0, 1.0, 3.0, 6.0])  # typical observations: m, cos, sin, m/s, rad/s
HIDDEN = 16
WEIGHTS = (len(SCALE) + 2) * HIDDEN + 1


def act(weights: np.ndarray, observations: np.ndarray) -> np.ndarray:
    """Return the actions of networks (worlds, WEIGHTS), each on its own observations (worlds, 5): (worlds, 1)."""
    first, bias, last, offset = np.split(weights, np.cumsum([len(SCALE) * HIDDEN, HIDDEN, HIDDEN]), axis=1)
    first = first.reshape(len(weights), len(SCALE), HIDDEN)
    hidden = np.tanh(np.einsum("wi,wih->wh", observations / SCALE, first) + bias)
    return np.tanh((hidden * last).sum(axis=1, keepdims=True) + offset)


def returns(envs: gymnasium.vector.VectorEnv, weights: np.ndarray, seed: int) -> np.ndarray:
    """Return what networks earn in an episode, (worlds,), all of them from the same start."""
    observations, _ = envs.reset(seed=[seed] * envs.num_envs)
    earned, over = np.zeros(envs.num_envs), np.zeros(envs.num_envs, bool)
    while not over.all():
        observations, rewards, terminated, truncated, _ = envs.step(act(weights, observations))
        earned += np.where(over, 0.0, rewards)
        over |= terminated | truncated
    return earned


def learn(
    rounds: int = 80,
    directions: int = 128,
    best: int = 32,
    step: float = 0.1,
    noise: float = 0.1,
    seed: int = 0,
    steps=300,
    verbose: bool = False,
) -> np.ndarray:
    """Return the weights of a network that swings the pole up, (WEIGHTS,)."""
    rng = np.random.default_rng(seed)
    envs = gymnasium.make_vec(
        "cardan/CartPoleSwingUp-v0", num_envs=2 * directions, dtype="float32", max_episode_steps=steps
    )
    weights = 0.1 * rng.standard_normal(WEIGHTS)
    for k in range(rounds):
        changes = rng.standard_normal((directions, WEIGHTS))
        plus, minus = np.split(returns(envs, weights + noise * np.concatenate([changes, -changes]), seed + k), 2)
        chosen = np.argsort(-np.maximum(plus, minus), kind="stable")[:best]
        spread = np.concatenate([plus[chosen], minus[chosen]]).std()
        weights = weights + step / (best * spread) * (plus - minus)[chosen] @ changes[chosen]
        if verbose:
            print(f"round {k + 1}: the middle one earns {np.median(plus):.0f}, the best {plus.max():.0f}")
    return weights


def evaluate(weights, worlds=64):
    """Return."""
    envs = gymnasium.make_vec("cardan/CartPoleSwingUp-v0", num_envs=worlds, dtype="float32")
    observations, _ = envs.reset(seed=10_000)
    earned = np.zeros(worlds)
    W = np.broadcast_to(weights, (worlds, WEIGHTS))
    for _ in range(500):
        observations, r, *_ = envs.step(act(W, observations))
        earned += r
    return earned


if __name__ == "__main__":
    import sys, time

    t = time.time()
    kw = eval("dict(" + ",".join(sys.argv[1:]) + ")")
    w = learn(verbose=True, **kw)
    e = evaluate(w)
    print(kw, "time", time.time() - t, "return", e.min(), np.median(e), e.max())
