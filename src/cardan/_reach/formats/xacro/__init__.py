"""Xacro: a robot description with macros, expanded and then read as what it expands to."""

from cardan._reach.formats.xacro.expansion import OPTIONS, read

__all__ = ["OPTIONS", "read"]
