"""Parameters found from measurements: what can be seen, friction, least squares, physically consistent inertias."""

from typing import TYPE_CHECKING

from cardan._algebra.lazy import show_folder as _show

if TYPE_CHECKING:
    from cardan._motion.identification import *

_show(__name__, "cardan._motion.identification")
