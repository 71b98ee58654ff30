"""The solvers: what moves the worlds of a state on in time."""

from cardan._algebra.lazy import imported_later as _later

with _later(globals()):
    from cardan._motion.simulation.solvers import *
    from cardan._reach.interop.mujoco_solver import MuJoCo as MuJoCo
