"""SDF, the format of Gazebo, read and written."""

from cardan.formats.sdf.reader import read

OPTIONS = frozenset({"continuous", "model"})
"""The options of `load` that mean something here."""

__all__ = ["OPTIONS", "read"]
