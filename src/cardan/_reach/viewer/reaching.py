"""Where a robot goes when one of its frames is dragged."""

from __future__ import annotations

import numpy as np

from cardan._dynamics.algorithms.kinematics import frame_transform
from cardan._dynamics.coordinates.model_converter import owners
from cardan._motion.tasks import FramePose, inverse_kinematics
from cardan._robot.model import Model
from cardan._robot.records import WORLD

FIRMLY = 100.0
"""Weight of a floating base's staying: an error of 1 cm there counts as much as one of 1 m at the handle."""


def reached(model: Model, frame: str, target: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return the configuration near q in which a frame is at a pose, or as near to it as was found.

    A base that floats stays where it is, unless it is the base that is dragged.

    Args:
        model: the robot.
        frame: the frame that is dragged.
        target: its pose in the world, shape (4, 4).
        q: where the robot is, shape (nq,).
    """
    bases = [c.child for c in owners(model) if c.parent == WORLD and c.joint.is_floating]
    held = [base for base in bases if model.attachment(base).node != model.attachment(frame).node]
    stay = [FramePose(base, frame_transform(model, q, frame=base), weight=FIRMLY) for base in held]
    return inverse_kinematics(model, [FramePose(frame, target), *stay], q0=q, restarts=0).q
