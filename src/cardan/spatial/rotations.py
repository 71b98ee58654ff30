"""Rotations and their charts: quaternion (x, y, z, w), rotation vector, modified Rodrigues parameters, Euler angles."""

from cardan._algebra.lazy import imported_later as _later

with _later(globals()):
    from cardan._algebra.spatial.rotations import *
