"""Mechanisms that ship with the package: as builders with parameters, and as URDF files.

A length, mass or other size that is not a positive number raises `ParameterError`.
"""

from cardan._robot.shipped.arm7 import arm7
from cardan._robot.shipped.humanoid import humanoid
from cardan._robot.shipped.linkages import five_bar, four_bar
from cardan._robot.shipped.pendulums import cart_pole, chain, double_pendulum
from cardan._robot.shipped.quadruped import quadruped
from cardan._robot.shipped.registry import LOOPED, ROBOTS, urdf_path
from cardan._robot.shipped.stewart_platform import stewart_platform

__all__ = [
    "LOOPED", "ROBOTS", "arm7", "cart_pole", "chain", "double_pendulum", "five_bar", "four_bar", "humanoid",
    "quadruped", "stewart_platform", "urdf_path",
]  # fmt: skip
__dir__ = __all__.copy
