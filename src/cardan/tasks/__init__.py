"""What a robot is asked to reach, and the configurations and velocities that do: inverse kinematics."""

from cardan.tasks.frames import FrameOrientation, FramePose, FramePosition, LookAt, RelativeFrame
from cardan.tasks.inverse_kinematics import inverse_kinematics
from cardan.tasks.result import InverseKinematics
from cardan.tasks.solve_ik import solve_ik
from cardan.tasks.stack import Linearization, Stack
from cardan.tasks.task import Task
from cardan.tasks.whole_body import CenterOfMass, ClosedLoops, Damping, Posture

__all__ = [
    "CenterOfMass",
    "ClosedLoops",
    "Damping",
    "FrameOrientation",
    "FramePose",
    "FramePosition",
    "InverseKinematics",
    "Linearization",
    "LookAt",
    "Posture",
    "RelativeFrame",
    "Stack",
    "Task",
    "inverse_kinematics",
    "solve_ik",
]
__dir__ = __all__.copy
