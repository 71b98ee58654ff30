"""Mechanisms that ship with the package: as builders with parameters, and as URDF files."""

from cardan.robots.arm7 import arm7
from cardan.robots.cart_pole import cart_pole
from cardan.robots.chain import chain
from cardan.robots.double_pendulum import double_pendulum
from cardan.robots.humanoid import humanoid
from cardan.robots.quadruped import quadruped
from cardan.robots.registry import ROBOTS, urdf_path

__all__ = [
    "ROBOTS",
    "arm7",
    "cart_pole",
    "chain",
    "double_pendulum",
    "humanoid",
    "quadruped",
    "urdf_path",
]
