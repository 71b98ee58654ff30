"""Spatial algebra: rotations, rigid transformations, motions, forces, inertias."""

from typing import TYPE_CHECKING

from cardan._algebra.lazy import show_folder as _show

if TYPE_CHECKING:
    from cardan._algebra.spatial import *
    from cardan.spatial import rotations as rotations

_show(__name__, "cardan._algebra.spatial", "rotations")
