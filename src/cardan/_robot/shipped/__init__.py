"""Mechanisms that ship with the package: as builders with parameters, and as URDF files.

A length, mass or other size that is not a positive number raises `ParameterError`.
"""

from collections.abc import Callable
from pathlib import Path

from cardan._algebra.errors import check_known
from cardan._robot.description import Mechanism
from cardan._robot.shipped.linkages import five_bar, four_bar, stewart_platform
from cardan._robot.shipped.robots import arm7, cart_pole, chain, double_pendulum, humanoid, quadruped

Builders = dict[str, Callable[[], Mechanism]]

ROBOTS: Builders = {build.__name__: build for build in (double_pendulum, cart_pole, chain, arm7, quadruped, humanoid)}
"""Builders by name, a new one a line; each has parameters with defaults, with which the URDF files are made."""

LOOPED: Builders = {build.__name__: build for build in (four_bar, five_bar, stewart_platform)}
"""Builders of mechanisms with closed loops, closed at q = 0. (URDF files cannot say all of their joints.)"""

BUILDERS: Builders = {**ROBOTS, **LOOPED}
"""All of them: `cardan.load` takes these names."""


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
    check_known("shipped robot", name, ROBOTS)
    return str(Path(__file__).parent / "urdf" / f"{name}.urdf")


__all__ = [
    "BUILDERS", "LOOPED", "ROBOTS", "arm7", "cart_pole", "chain", "double_pendulum", "five_bar", "four_bar", "humanoid",
    "quadruped", "stewart_platform", "urdf_path",
]  # fmt: skip
__dir__ = __all__.copy
