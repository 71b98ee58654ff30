"""How accurately a law of contact is solved."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Settings:
    """How accurately a law of contact is solved; all of it is fixed when a step is traced.

    Args:
        iterations: passes of a solver, each as dear as a step without contact, or sweeps of a projected one.
        search: how often forces are evaluated again on the way to a pass's result, to stop where it is best.
    """

    iterations: int = 4
    search: int = 3
