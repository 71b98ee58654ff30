"""Configuration spaces: how nv velocities move nq coordinates."""

from typing import TYPE_CHECKING

from cardan._algebra.lazy import show_folder as _show

if TYPE_CHECKING:
    from cardan._algebra.manifolds import *

_show(__name__, "cardan._algebra.manifolds")
