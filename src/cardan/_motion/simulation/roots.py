"""Moving whole articulations in the world.

With the root's joint X_wl = P J(q) C^-1, from the world's frame P to the link's frame C: of a floating one q is found
for a given X_wl, of a fixed one P = X_wl C J(q)^-1; its other joints on the world, if any, keep their places beside P.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cardan._algebra.arrays import stack
from cardan._algebra.errors import MechanismError
from cardan._algebra.spatial import SE3, Motion
from cardan._motion.simulation.articulation import Articulation
from cardan._robot.joints import Distance, Joint
from cardan._robot.model import Connection, Model

if TYPE_CHECKING:
    from cardan._motion.simulation.state import State


def move_root(state: State, a: Articulation, rows: np.ndarray, poses: np.ndarray) -> None:
    """Put an articulation's root link at poses, (rows, 7), in some of the worlds.

    Raises:
        MechanismError: if it is fixed on the world and nothing of that is an input.
    """
    c, X = root_joint(state.world.model, a), SE3.from_quaternion(poses[..., 3:], poses[..., :3])
    iq = state.world.model.q_slice(c.name)
    if a.is_floating:
        X_joint = frame_of(state, c, "parent_pose", rows).inverse() @ X @ frame_of(state, c, "child_pose", rows)
        state.q[rows, iq] = stack(tuple(c.joint.nearest_configuration(X_joint)))
        return
    inputs = _movable(state, a)
    J = c.joint.transform(tuple(state.q[rows, iq].T.astype(float)))
    P = X @ frame_of(state, c, "child_pose", rows) @ J.inverse()
    for name, joint in inputs.items():
        beside = c.parent_pose.inverse() @ state.world.model.connection(joint).parent_pose
        state.constants[name][rows] = (P @ beside).matrix()


def turn_root(state: State, a: Articulation, rows: np.ndarray, twists: np.ndarray) -> None:
    """Give an articulation's root link twists, (rows, 6), in some of the worlds.

    Raises:
        MechanismError: for others than 0, if it is fixed on the world.
    """
    if not a.is_floating:
        if twists.any():
            raise MechanismError(f"articulation {a.name!r} does not float: its root moves by its joints' velocities.")
        return
    c, model = root_joint(state.world.model, a), state.world.model
    V = frame_of(state, c, "child_pose", rows).inverse_act(Motion.of(tuple(twists.T.astype(float))))
    q = tuple(state.q[rows, model.q_slice(c.name)].T.astype(float))
    S = np.swapaxes(stack([column.scalars() for column in c.joint.motion_subspace(q)]), -1, -2)
    state.v[rows, model.v_slice(c.name)] = np.linalg.solve(S, stack(V.scalars())[..., None])[..., 0]


def root_joint(model: Model, a: Articulation) -> Connection:
    """Return the joint by which an articulation hangs on the world."""
    return next(c for c in model.connections if c.child == a.root)


def _movable(state: State, a: Articulation) -> dict[str, str]:
    if a.name not in state.world.movable:
        joint = root_joint(state.world.model, a).name
        raise MechanismError(
            f"articulation {a.name!r} hangs on the world by {joint!r}, which does not float: its place is "
            "written into the program. Make the world with movable_bases=True (WorldBuilder.finalize, "
            "Mechanism.world), which gives every world its own; what closes a loop on the world cannot be moved."
        )
    return dict(state.world.movable[a.name])


def moves_freely(joint: Joint) -> bool:
    """Return whether a joint neither holds nor bounds nor pulls: a tether does."""
    return joint.is_floating and not joint.has_efforts and not isinstance(joint, Distance)


def frame_of(state: State, c: Connection, constant: str, rows: np.ndarray) -> SE3:
    """Return a joint's frame in one of its bodies: the model's, or that of each world if it is an input."""
    model = state.world.model
    for name, given in model.inputs.items():
        if given.constant == constant and given.owner in (None, c.name):
            X = state.constants[name][rows].astype(float)
            return SE3.of(X if given.owner else X[:, model.joint_names.index(c.name)])
    return getattr(c, constant)
