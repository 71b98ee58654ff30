"""SDF, the format of Gazebo, read and written."""

from cardan._algebra.lazy import imported_later as _later

with _later(globals()):
    from cardan._reach.formats.sdf import *
