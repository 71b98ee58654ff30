"""Mechanisms that ship with the package: as builders with parameters, and as URDF files.

A length, mass or other size that is not a positive number raises `ParameterError`.
"""

from cardan._algebra.lazy import imported_later as _later

with _later(globals()):
    from cardan._robot.shipped import *
