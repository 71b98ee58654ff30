"""Steps in time in maximal coordinates: every body by its pose, joints as constraints between them."""

from cardan.algorithms.maximal_steps.advance import advance, at_start
from cardan.algorithms.maximal_steps.bodies import Body, Efforts, Stepped
from cardan.algorithms.maximal_steps.semi_implicit import semi_implicit_start, semi_implicit_step
from cardan.algorithms.maximal_steps.variational import variational_step
from cardan.algorithms.maximal_steps.xpbd import xpbd_step

__all__ = [
    "Body",
    "Efforts",
    "Stepped",
    "advance",
    "at_start",
    "semi_implicit_start",
    "semi_implicit_step",
    "variational_step",
    "xpbd_step",
]
