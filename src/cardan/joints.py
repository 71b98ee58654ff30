"""The joints: the protocol, its implementations, one a file, and limits."""

from cardan._algebra.lazy import imported_later as _later

with _later(globals()):
    from cardan._robot.joints import *
