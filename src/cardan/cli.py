"""The command line: `cardan COMMAND FILE ...`."""

from cardan._algebra.lazy import imported_later as _later

with _later(globals()):
    from cardan._reach.cli import *
