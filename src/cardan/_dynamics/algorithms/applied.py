"""A force applied somewhere on a robot, as the wrenches on bodies that the dynamics take.

With X_bf the pose of the frame f in its body b, r the point in the frame, and R_fe the rotation from the axes e along
which force and torque are given,

    f_b = X_bf (1, r) (R_fe, 0) [force; torque]

and wrenches at the bodies' centres of mass c, in world axes, as the efforts along the joints that they amount to,

    tau = J^T f,        f_n = (1, X_nb c) (R_wn^T, 0) [force; moment]        in the frame n that the body rides on

Source: Featherstone (2008), equations 2.26 and 2.74.
Cost: O(n).
"""

from __future__ import annotations

from collections.abc import Sequence

from cardan._algebra.errors import ParameterError
from cardan._algebra.spatial import SE3, Force, Scalar, Vector3
from cardan._dynamics.algorithms.kinematics import FrameName, Kinematics, Reference
from cardan._dynamics.algorithms.tree import Vector, along_joints, relative_kinematics, world_poses
from cardan._dynamics.call.public import ArrayLike, public
from cardan._robot.model import Model
from cardan._robot.records import WORLD


@public(shapes={"force": (3,), "torque": (3,), "point": (3,)}, returns=("nbodies", 6))
def wrench_at(
    model: Model,
    q: ArrayLike,
    frame: str,
    force: ArrayLike,
    torque: ArrayLike | None = None,
    *,
    point: ArrayLike | None = None,
    expressed_in: FrameName = "world",
) -> list[Force]:
    """Return the `external_forces` of a force and a torque applied at a frame: as the dynamics take them.

    Args:
        frame: name of the body or frame it is applied at (`model.frame_names`).
        force: force [N], shape (..., 3).
        torque: torque beside that of the force [N m], shape (..., 3); none by default.
        point: where the force is applied, in the frame [m], shape (..., 3); its origin by default.
        expressed_in: whose axes force and torque are along: `"frame"` (the one asked for), `"world"`, or a body or
            frame by name.

    Returns:
        Wrenches on the bodies [N, N m], shape (..., nbodies, 6), each in its body's own frame: 0 but for the one that
        carries the frame. Those of several forces add up. Not constant while the robot moves: make it anew at each
        configuration.

    Raises:
        ParameterError: for a frame that is fixed on the world, which does not move.

    Examples:
        >>> push = cardan.wrench_at(arm, q, "tool", (0.0, 0.0, -10.0))
        >>> J = cardan.jacobian(arm, q, "tool")
        >>> felt = cardan.inverse_dynamics(arm, q, v, a) - cardan.inverse_dynamics(arm, q, v, a, push)
        >>> bool(np.allclose(felt, J[:3].T @ (0.0, 0.0, -10.0)))
        True

    Peers: MuJoCo `mj_applyFT` (which gives efforts), Drake `AddInForcesOnBody`.
    """
    body, X_bf = _carrier(model, frame)
    (axes, _) = Reference.of(frame, expressed_in, "frame")
    turn = Kinematics(model, q).in_reference(axes, Reference(axes, frame))  # R_fe; nothing where e is f
    wrench = Force(tuple(force), (0.0, 0.0, 0.0) if torque is None else tuple(torque))
    applied = X_bf @ (SE3(None, point) @ (turn @ wrench))
    return [applied if name == body else Force.zero() for name in model.body_names]


def _carrier(model: Model, frame: str) -> tuple[str, SE3]:
    """Return the body a frame is fixed on, and the frame's pose in it."""
    model.attachment(frame)
    body, pose = next(((f.body, f.pose) for f in model.frames if f.name == frame), (frame, SE3.identity()))
    if body == WORLD:
        raise ParameterError(
            "wrench_at: frame", got=frame, expected="a body, or a frame on one: the world does not move"
        )
    return body, pose


def applied_efforts(model: Model, q: Vector, wrenches: Sequence[Force]) -> list[Scalar]:
    """Return the efforts along the joints of wrenches on the bodies.

    Each wrench is at its body's centre of mass (its origin, if it has no inertia), in world axes.
    """
    relative = relative_kinematics(model, q)
    axes = [pose.rotation for pose in world_poses(model, relative)]
    felt = [Force.zero() for _ in model.nodes]
    for body, wrench in zip(model.bodies, wrenches, strict=True):
        node, X_nb = model.attachments[body.name].node, model.attachments[body.name].pose
        # what is fixed on the world takes wrenches and does not move
        if node >= 0:
            turn = axes[node].transpose_apply
            com = Vector3.zero() if body.inertia is None else body.inertia.com
            felt[node] = felt[node] + SE3(None, X_nb @ com) @ Force(turn(wrench.linear), turn(wrench.angular))
    return along_joints(model, relative, felt, [0.0] * model.nv)
