"""JSON of joints, mechanisms and models, exact to the last bit."""

from cardan._reach.formats.json.codec import read
from cardan._reach.formats.json.codec import to_json as write

OPTIONS: frozenset[str] = frozenset()
"""The options of `load` that mean something here."""

__all__ = ["OPTIONS", "read", "write"]
