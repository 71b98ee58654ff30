"""What a robot is asked to reach, and the configurations and velocities that do: inverse kinematics."""

from cardan._algebra.lazy import imported_later as _later

with _later(globals()):
    from cardan._motion.tasks import *
