"""Motions in time: splines on the manifold, time laws, timing along paths."""

from typing import TYPE_CHECKING

from cardan._algebra.lazy import show_folder as _show

if TYPE_CHECKING:
    from cardan._motion.trajectories import *

_show(__name__, "cardan._motion.trajectories")
