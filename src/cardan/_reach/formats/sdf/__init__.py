"""SDF, the format of Gazebo, read and written."""

from cardan._reach.formats.sdf.reader import read
from cardan._reach.formats.sdf.writer import to_sdf as write
from cardan._reach.formats.sdf.writer import write_sdf

OPTIONS = frozenset({"continuous", "model"})  # the options of `load` that mean something here

__all__ = ["OPTIONS", "read", "write", "write_sdf"]
