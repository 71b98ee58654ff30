"""What an inertial measurement unit on a frame reads: specific force and angular velocity, in the frame's axes.

With V = [v; w] and A = [a; wd] the twist and the spatial acceleration of the frame, in its axes at its origin,

    f = a + w x v - R_wf^T g                    the acceleration of the origin, less that of gravity

a + w x v is the acceleration of the frame's origin as a point, with all that a lever arm adds (wd x r and w x (w x r)),
as twist and acceleration are those at the origin of the frame itself. In free fall f is 0; at rest it is -g.

Source: Featherstone (2008), section 2.10, for a + w x v; Titterton and Weston, Strapdown Inertial Navigation Technology
(2004), section 3.2, for specific force.
Cost: O(n).
"""

from __future__ import annotations

from cardan._algebra.spatial import Motion
from cardan._dynamics.algorithms.kinematics import Frames, Kinematics, each_frame
from cardan._dynamics.call.public import ArrayLike, public
from cardan._robot.model import Model


@public(returns=(6,))
def imu(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, frame: Frames) -> Motion | list[Motion]:
    """Return what an accelerometer and a gyro at a frame read, without noise and bias: [specific force; rate of turn].

    Returns:
        Specific forces [m/s^2] and angular velocities [rad/s], shape (..., 6), or (..., n, 6), along the frame's axes:
        the acceleration of its origin less gravity, +9.81 upwards at rest on Earth and 0 in free fall.

    Examples:
        >>> reads = cardan.imu(arm, q, np.zeros(arm.nv), np.zeros(arm.nv), "tool")
        >>> round(float(np.linalg.norm(reads[:3])), 9), bool(reads[3:].any())
        (9.81, False)

    Peers: MuJoCo's sensors `accelerometer` and `gyro`.
    """
    kinematics = Kinematics(model, q, v, a)
    return each_frame(model, frame, lambda name: _reading(kinematics, name))


def _reading(kinematics: Kinematics, frame: str) -> Motion:
    motion = kinematics.motion(frame)
    gravity = kinematics.pose(frame).rotation.transpose_apply(kinematics.model.gravity)
    return Motion(motion.origin - gravity, motion.spin.w)
