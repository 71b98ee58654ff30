"""Mechanisms that ship with the package: as builders with parameters, and as URDF files."""

from cardan.robots.arm7 import arm7
from cardan.robots.cart_pole import cart_pole
from cardan.robots.chain import chain
from cardan.robots.double_pendulum import double_pendulum
from cardan.robots.five_bar import five_bar
from cardan.robots.four_bar import four_bar
from cardan.robots.humanoid import humanoid
from cardan.robots.quadruped import quadruped
from cardan.robots.registry import LOOPED, ROBOTS, urdf_path
from cardan.robots.stewart_platform import stewart_platform

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
