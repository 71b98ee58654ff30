"""Functions of a robot over more states than memory holds: in chunks, on many processes or machines.

`mapping.py` has `map`, divides its arguments, and is what a worker does. `columns.py` reads, `outputs.py`
writes, and goes on with interrupted work. `engines.py` has who computes, a line each in `ENGINES`, or an executor of
the caller's, and hands out chunks, again where a worker died.
"""

from cardan._reach.distributed.mapping import map

__all__ = ["map"]
__dir__ = __all__.copy
