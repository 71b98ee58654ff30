"""What a robot is asked to reach, and the configurations and velocities that do: inverse kinematics."""

from typing import TYPE_CHECKING

from cardan._algebra.lazy import show_folder as _show

if TYPE_CHECKING:
    from cardan._motion.tasks import *

_show(__name__, "cardan._motion.tasks")
