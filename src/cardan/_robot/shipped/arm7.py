"""A 7-axis arm: shoulder, elbow and wrist, with a tool."""

from __future__ import annotations

from cardan._algebra.checked_numbers import positive
from cardan._robot.description import Mechanism
from cardan._robot.joints import Fixed, Limits, Revolute
from cardan._robot.shipped.solids import add_box, add_rod, at

# name, axis, offset from the joint before [m], mass [kg], length [m], radius [m], reach [rad], velocity [rad/s], torque
_LINKS = (
    ("shoulder", "z", 0.16, 4.0, 0.20, 0.075, 2.9, 2.2, 180.0),
    ("upper_arm_pitch", "y", 0.20, 3.6, 0.22, 0.070, 2.0, 2.2, 180.0),
    ("upper_arm_roll", "z", 0.20, 3.0, 0.20, 0.065, 2.9, 2.2, 90.0),
    ("elbow", "-y", 0.20, 2.6, 0.20, 0.060, 2.1, 2.2, 90.0),
    ("forearm_roll", "z", 0.20, 1.9, 0.18, 0.055, 2.9, 3.0, 40.0),
    ("wrist_pitch", "y", 0.20, 1.4, 0.10, 0.050, 2.0, 3.0, 30.0),
    ("wrist_roll", "z", 0.08, 0.5, 0.06, 0.040, 3.0, 3.0, 20.0),
)
_AXES = {"z": (0.0, 0.0, 1.0), "y": (0.0, 1.0, 0.0), "-y": (0.0, -1.0, 0.0)}


def arm7(scale: float = 1.0, payload: float = 0.8) -> Mechanism:
    """Return a 7-axis arm that stands upright at q = 0, alternating roll (z) and pitch (y) axes, about 1.3 m tall.

    Args:
        scale: [-], factor of all lengths; masses grow with its cube.
        payload: mass of the tool [kg].

    Examples:
        >>> cardan.robots.arm7().model().nv
        7
    """
    s = positive("scale of an arm", scale)
    positive("payload of an arm", payload)
    m = Mechanism("arm7")
    add_rod(m, "base", 5.0 * s**3, 0.16 * s, 0.09 * s, centre=(0.0, 0.0, 0.08 * s))
    parent = "base"
    for k, (name, axis, offset, mass, length, radius, reach, speed, torque) in enumerate(_LINKS, start=1):
        add_rod(m, name, mass * s**3, length * s, radius * s, centre=(0.0, 0.0, length * s / 2))
        limits = Limits(lower=[-reach], upper=[reach], velocity=[speed], effort=[torque])
        pose = at(0, 0, offset * s)
        m.add_joint(f"joint{k}", Revolute(_AXES[axis]), parent, name, parent_pose=pose, limits=limits, damping=[0.5])
        parent = name
    add_box(m, "tool", payload, (0.10 * s, 0.04 * s, 0.12 * s), centre=(0.0, 0.0, 0.06 * s))
    m.add_joint("flange", Fixed(), parent, "tool", parent_pose=at(0, 0, 0.06 * s))
    return m
