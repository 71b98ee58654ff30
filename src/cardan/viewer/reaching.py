"""Where a robot goes when one of its frames is dragged."""

from __future__ import annotations

import numpy as np

from cardan.model import Model


def reached(model: Model, frame: str, target: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return the configuration near q in which a frame is at a pose, or as near to it as was found.

    A base that floats stays where it is.

    Args:
        model: the robot.
        frame: the frame that is dragged.
        target: its pose in the world, shape (4, 4).
        q: where the robot is, shape (nq,).
    """
    from cardan import inverse_kinematics

    return np.asarray(inverse_kinematics(model, frame=frame, target=target, q0=q, restarts=0).q, dtype=float)
