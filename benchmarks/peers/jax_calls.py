"""A function of one state, in JAX, as what is timed: `jit` of it, and of its `vmap`.

JAX has threads of its own; for one thread, all of them are held on one core.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from benchmarks.timing import CALLS, Calls, on_one_core


def jax_calls(function: Callable[..., Any], states: list[Any]) -> Calls:
    """Return what to time.

    Args:
        function: of the arrays of one state.
        states: arrays of JAX, shapes (states, ...).
    """
    single, batch = jax.jit(function), jax.jit(jax.vmap(function))
    first = [x[0] for x in states]
    jax.block_until_ready(batch(*states))

    def call() -> None:
        for _ in range(CALLS):
            jax.block_until_ready(single(*first))

    def threads() -> None:
        jax.block_until_ready(batch(*states))

    def one_thread() -> None:
        with on_one_core():
            threads()

    value = lambda: np.array(single(*first))  # noqa: E731
    return Calls(value, call=call, batch=one_thread, threads=threads, states=len(states[0]))
