"""Parameters found from measurements: what can be seen, friction, least squares, physically consistent inertias."""

from typing import TYPE_CHECKING

from cardan._algebra.lazy import shown

if TYPE_CHECKING:
    from cardan._motion.identification import *

__getattr__, __dir__ = shown(__name__, "cardan._motion.identification")
