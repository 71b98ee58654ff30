"""Functions of a robot over more states than memory holds: in chunks, on many processes or machines."""

from cardan._algebra.lazy import imported_later as _later

with _later(globals()):
    from cardan._reach.distributed import *
