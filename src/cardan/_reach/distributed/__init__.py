"""Functions of a robot over more states than memory holds: in chunks, by threads, processes or a cluster."""

from cardan._reach.distributed.mapping import map, sum

__all__ = ["map", "sum"]
__dir__ = __all__.copy
