"""URDF, read and written."""

from cardan._reach.formats.urdf.reader import read, read_tree
from cardan._reach.formats.urdf.writer import to_urdf as write

OPTIONS = frozenset({"continuous", "xacro_args"})  # the options of `load` that mean something here

__all__ = ["OPTIONS", "read", "read_tree", "write"]
