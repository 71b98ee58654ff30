"""Functions of a robot as source code for other machines: one file of C, or a library with its headers."""

from cardan._algebra.lazy import imported_later as _later

with _later(globals()):
    from cardan._reach.generation import *
