"""SRDF: what a robot's maker says of groups, configurations and contacts, read beside its description."""

from cardan._reach.formats.srdf.reader import add_to, read

OPTIONS: frozenset[str] = frozenset()  # it is no robot by itself

__all__ = ["OPTIONS", "add_to", "read"]
