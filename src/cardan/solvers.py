"""The solvers: what moves the worlds of a state on in time."""

from typing import TYPE_CHECKING

from cardan._algebra.lazy import show_folder as _show

if TYPE_CHECKING:
    from cardan._motion.simulation.solvers import *
    from cardan._reach.interop.mujoco_solver import MuJoCo as MuJoCo

_show(__name__, "cardan._motion.simulation.solvers")
