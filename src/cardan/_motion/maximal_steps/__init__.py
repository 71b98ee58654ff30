"""Steps in time in maximal coordinates: every body by its pose, joints as constraints between them."""

from cardan._motion.maximal_steps.bodies import Efforts, MovingBody, StepResult
from cardan._motion.maximal_steps.semi_implicit import semi_implicit_start
from cardan._motion.maximal_steps.variational import variational_step
from cardan._motion.maximal_steps.xpbd import xpbd_step

__all__ = ["Efforts", "MovingBody", "StepResult", "semi_implicit_start", "variational_step", "xpbd_step"]
