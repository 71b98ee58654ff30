"""The registry of shipped mechanisms and where their URDF files are; a new one adds a line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from cardan._algebra.errors import UnknownNameError
from cardan._robot.description import Mechanism
from cardan._robot.shipped.arm7 import arm7
from cardan._robot.shipped.humanoid import humanoid
from cardan._robot.shipped.linkages import five_bar, four_bar
from cardan._robot.shipped.pendulums import cart_pole, chain, double_pendulum
from cardan._robot.shipped.quadruped import quadruped
from cardan._robot.shipped.stewart_platform import stewart_platform

Builders = dict[str, Callable[[], Mechanism]]

ROBOTS: Builders = {build.__name__: build for build in (double_pendulum, cart_pole, chain, arm7, quadruped, humanoid)}
"""Builders by name; each has parameters with defaults, with which the URDF files are made."""

LOOPED: Builders = {build.__name__: build for build in (four_bar, five_bar, stewart_platform)}
"""Builders of mechanisms with closed loops, closed at q = 0. (URDF files cannot say all of their joints.)"""


def urdf_path(name: str) -> str:
    """Return the path of a shipped robot's URDF file.

    Args:
        name: of a robot in `cardan.robots.ROBOTS`.

    Raises:
        UnknownNameError: with suggestions, if there is no such robot.

    Examples:
        >>> cardan.load(cardan.robots.urdf_path("arm7")).nv
        7
    """
    if name not in ROBOTS:
        raise UnknownNameError("shipped robot", name, ROBOTS)
    return str(Path(__file__).parent / "urdf" / f"{name}.urdf")
