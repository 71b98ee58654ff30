"""Poses and twists of the links, from coordinates and back: public compiled functions.

The moving links are `Model.link_names`: the child bodies of the joints that move, in document order. Their poses are
rows of position [m] and quaternion (x, y, z, w); their twists [linear; angular] [m/s, rad/s] are at each link's origin
in its own axes, the convention of everything here. Newton's `body_qd` is another (the centre of mass's, in world axes).
"""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from cardan._dynamics.algorithms.maximal import GeneralisedState, MaximalState
from cardan._dynamics.call.function import function
from cardan._dynamics.functions.vocabulary import Reals, algorithms
from cardan._robot.model import Model

POSES, TWISTS = ("nlinks", 7), ("nlinks", 6)


@function
def eval_fk(model: Model, q: ArrayLike, v: ArrayLike) -> MaximalState[Reals]:
    """Return the poses and twists of the moving links.

    Args:
        model: the robot.
        q: configurations [rad, m], shape (..., nq).
        v: velocities [rad/s, m/s], shape (..., nv).

    Returns:
        `MaximalState(poses, twists)`, shapes (..., nlinks, 7) and (..., nlinks, 6), in the order of `model.link_names`:
        position in the world [m] and quaternion (x, y, z, w) with w >= 0; twist [linear; angular] [m/s, rad/s] at the
        link's origin in its own axes.

    Raises:
        ShapeError, DTypeError: for an array that does not fit.

    Examples:
        >>> poses, twists = cardan.eval_fk(arm, q, v)
        >>> poses.shape, twists.shape
        ((7, 7), (7, 6))

    Peers: Newton `eval_fk` (whose twists are those of the centres of mass, in world axes).

    Source: Featherstone (2008), sections 2.8 and 5.3.
    """
    return algorithms.eval_fk(model, q, v)


@function(shapes={"poses": POSES, "twists": TWISTS, "near": ("nq",)})
def eval_ik(
    model: Model, poses: ArrayLike, twists: ArrayLike, near: ArrayLike | None = None, *, residual: Any = True
) -> GeneralisedState[Reals]:
    """Return the coordinates whose links have the given poses and twists, joint by joint.

    Not what brings a tool somewhere: every link's pose is given. Where it does not lie in its joint, the nearest that
    does is taken, and `residual` says what is left.

    Args:
        model: the robot.
        poses: of the moving links as `eval_fk` returns them [m, -], shape (..., nlinks, 7); quaternions of any length
            but 0.
        twists: of the moving links [m/s, rad/s], shape (..., nlinks, 6).
        near: configurations [rad, m], shape (..., nq), such as the last ones: of several coordinates of one pose (turns
            of an angle, a quaternion and its opposite, Euler angles beyond pi/2) the nearest are returned. Joints
            without a closed form of their inverse are searched from there, which is quicker and finds the right branch.
        residual: False to leave it out, for poses that are known to lie in their joints: then the result is the pair
            (q, v), in a third to a half of the time.

    Returns:
        `GeneralisedState(q, v, residual)`, shapes (..., nq), (..., nv), (..., nlinks, 6): for each link what of its
        pose its joint does not allow, position [m] and rotation vector [rad] along the joint's child axes. A mimic
        joint's is what its primary's coordinates do not explain.

    Raises:
        ShapeError, DTypeError: for an array that does not fit.

    Examples:
        >>> poses, twists = cardan.eval_fk(arm, q, v)
        >>> q1, v1, residual = cardan.eval_ik(arm, poses, twists, near=q)
        >>> bool(np.allclose(q1, q) and np.allclose(v1, v) and np.allclose(residual, 0.0))
        True

    Peers: Newton `eval_ik`.

    Source: each joint's inverse (`Joint.nearest_configuration`); Featherstone (2008), section 3.6, for v = S^+ V.
    """
    found = algorithms.eval_ik(model, poses, twists, near)
    return found if residual else found[:2]
