"""Mechanisms that ship with the package: as builders with parameters, and as URDF files."""

from cardan._robot.shipped.arm7 import arm7
from cardan._robot.shipped.cart_pole import cart_pole
from cardan._robot.shipped.chain import chain
from cardan._robot.shipped.double_pendulum import double_pendulum
from cardan._robot.shipped.five_bar import five_bar
from cardan._robot.shipped.four_bar import four_bar
from cardan._robot.shipped.humanoid import humanoid
from cardan._robot.shipped.quadruped import quadruped
from cardan._robot.shipped.registry import LOOPED, ROBOTS, urdf_path
from cardan._robot.shipped.stewart_platform import stewart_platform

__all__ = [
    "LOOPED",
    "ROBOTS",
    "arm7",
    "cart_pole",
    "chain",
    "double_pendulum",
    "five_bar",
    "four_bar",
    "humanoid",
    "quadruped",
    "stewart_platform",
    "urdf_path",
]
__dir__ = __all__.copy
