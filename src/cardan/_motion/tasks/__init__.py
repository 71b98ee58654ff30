"""What a robot is asked to reach, and the configurations and velocities that do: inverse kinematics."""

from cardan._motion.tasks.apart import KeepApart
from cardan._motion.tasks.ik_derivatives import InverseKinematicsDerivatives, inverse_kinematics_derivatives
from cardan._motion.tasks.inverse_kinematics import InverseKinematics, inverse_kinematics
from cardan._motion.tasks.shipped import (
    CenterOfMass,
    ClosedLoops,
    Damping,
    FrameOrientation,
    FramePose,
    FramePosition,
    LookAt,
    Posture,
    RelativeFrame,
)
from cardan._motion.tasks.solve_ik import DifferentialIK, solve_ik
from cardan._motion.tasks.stack import Linearization, Stack
from cardan._motion.tasks.task import Task

__all__ = [
    "CenterOfMass", "ClosedLoops", "Damping", "DifferentialIK", "FrameOrientation", "FramePose", "FramePosition",
    "InverseKinematics", "InverseKinematicsDerivatives", "KeepApart", "Linearization", "LookAt", "Posture",
    "RelativeFrame", "Stack", "Task", "inverse_kinematics", "inverse_kinematics_derivatives", "solve_ik",
]  # fmt: skip
__dir__ = __all__.copy
