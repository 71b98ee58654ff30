"""Spatial algebra: rotations, rigid transformations, motions, forces, inertias."""

from typing import TYPE_CHECKING

from cardan._algebra.lazy import shown

if TYPE_CHECKING:
    from cardan._algebra.spatial import *
    from cardan.spatial import rotations as rotations

__getattr__, __dir__ = shown(__name__, "cardan._algebra.spatial", "rotations")
