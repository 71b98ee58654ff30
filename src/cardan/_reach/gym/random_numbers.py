"""Random numbers of many worlds at once, each from its own seed: a hash of seed, episode and place.

Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (2014), the generator SplitMix64.
"""

from __future__ import annotations

import numpy as np

_GAMMA = np.uint64(0x9E3779B97F4A7C15)  # the odd number nearest to 2^64 over the golden ratio


def uniform(seeds: np.ndarray, episodes: np.ndarray, count: int) -> np.ndarray:
    """Return numbers that are uniform in [0, 1): the same for the same seed and episode, whatever the other rows are.

    Args:
        seeds: of each row, (rows,) of uint64.
        episodes: its number, (rows,) of uint64.
        count: how many numbers a row has.

    Returns:
        (rows, count), multiples of 2^-53.
    """
    begun = mixed(mixed(seeds) + episodes)
    numbers = mixed(begun[:, None] + _GAMMA * np.arange(1, count + 1, dtype=np.uint64))
    return (numbers >> np.uint64(11)) * 2.0**-53


def mixed(z: np.ndarray) -> np.ndarray:
    """Return the bits of each number well mixed; no two numbers become one."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
