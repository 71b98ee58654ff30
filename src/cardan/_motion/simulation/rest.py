"""Where a world begins: coordinates that put its links where they were said to be."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from cardan._algebra.errors import ParameterError
from cardan._algebra.spatial import SE3, log_se3
from cardan._robot.joints import Mimic
from cardan._robot.model import Model

REACH = 1e-6
"""How far a link may be from where it was put, beside its distance from the origin: people write six digits."""


def rest_configuration(model: Model, poses: Mapping[str, SE3], given: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the configuration states begin with, shape (nq,).

    Joints have the coordinates that are given; otherwise those that put their child where it was said to be; otherwise
    they are where the model begins.

    Raises:
        ParameterError: if a link cannot be where it was said to be.
    """
    q = model.start_configuration()
    for name, own in given.items():
        q[model.q_slice(name)] = own
    X: list[SE3] = []
    for node in model.nodes:
        above = (X[node.parent] if node.parent >= 0 else SE3.identity()) @ node.placement
        child = model.connection(node.name).child
        if child in poses and node.name not in given and not isinstance(node.joint, Mimic):
            wanted = above.inverse() @ poses[child] @ model.attachment(child).pose.inverse()
            q[list(node.q)] = np.array(node.joint.nearest_configuration(wanted), dtype=float)
        own = tuple(float(e) for e in node.configuration(q.tolist()))
        X.append(above @ node.joint.transform(own))
    for body, pose in poses.items():
        at = model.attachment(body)
        _check(body, pose, (X[at.node] if at.node >= 0 else SE3.identity()) @ at.pose)
    q.setflags(write=False)
    return q


def _check(body: str, wanted: SE3, found: SE3) -> None:
    off = log_se3(found.inverse() @ wanted).scalars()
    size = 1.0 + max(abs(float(e)) for e in wanted.translation)
    if not max(abs(float(e)) for e in off) <= REACH * size:
        hint = "Leave the pose out, give the joint's coordinates in b.q, or move the joint's frames."
        expected = f"one its joints allow, such as {tuple(found.translation)}"
        raise ParameterError(f"pose of link {body!r}", got=tuple(wanted.translation), expected=expected, hint=hint)
