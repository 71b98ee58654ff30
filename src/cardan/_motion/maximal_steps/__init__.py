"""Steps in time in maximal coordinates: every body by its pose, joints as constraints between them."""

from cardan._motion.maximal_steps.bodies import Efforts, StepResult
from cardan._motion.maximal_steps.rigid_step import Closing, rigid_start
from cardan._motion.maximal_steps.semi_implicit import semi_implicit_step
from cardan._motion.maximal_steps.variational import variational
from cardan._motion.maximal_steps.xpbd import xpbd

__all__ = [
    "Closing",
    "Efforts",
    "StepResult",
    "rigid_start",
    "semi_implicit_step",
    "variational",
    "xpbd",
]
