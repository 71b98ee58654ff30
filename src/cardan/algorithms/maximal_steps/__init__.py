"""Steps in time in maximal coordinates: every body by its pose, joints as constraints between them."""

from cardan.algorithms.maximal_steps.variational import variational_step

__all__ = ["variational_step"]
