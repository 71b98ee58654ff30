"""Spatial algebra: rotations, rigid transformations, motions, forces, inertias."""

from cardan._algebra.lazy import imported_later as _later

with _later(globals()):
    from cardan._algebra.spatial import *
    from cardan.spatial import rotations as rotations
