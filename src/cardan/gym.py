"""Environments of Gymnasium, with many worlds in one step; importing this registers them (extra `gym`)."""

from cardan._reach.gym import *
from cardan._reach.gym import __all__ as __all__


def __dir__() -> list[str]:
    return [*__all__]
