"""MJCF, the format of MuJoCo, read and written through the package `mujoco`."""

from cardan._reach.formats.mjcf.reader import read
from cardan._reach.formats.mjcf.writer import to_mjcf as write

OPTIONS: frozenset[str] = frozenset()  # the options of `load` that mean something here alone

__all__ = ["OPTIONS", "read", "write"]
