"""Pendulums, a 7-axis arm, a quadruped and a humanoid; and the homogeneous solids that all builders make them of."""

from __future__ import annotations

import math
from typing import Any

from cardan._algebra.checked_numbers import positive, whole
from cardan._algebra.spatial import SE3, checked_pose
from cardan._algebra.spatial.rotations import matrix_from_zyx
from cardan._robot.description import Box, Cylinder, Mechanism, Shape, Sphere
from cardan._robot.joints import Fixed, Limits, Prismatic, Revolute

_ONTO = {"x": (0.0, math.pi / 2, 0.0), "y": (0.0, 0.0, -math.pi / 2), "z": (0.0, 0.0, 0.0)}


def all_positive(what: str, **values: float) -> None:
    """Raise `ParameterError` unless all parameters of a robot are finite and above 0."""
    for name, value in values.items():
        positive(f"{name} of {what}", value)


def add_solid(
    m: Mechanism,
    name: str,
    mass: float,
    solid: Any,
    centre: Any = (0.0, 0.0, 0.0),
    along: str = "z",
    touches: bool = False,
) -> None:
    """Add a body that is a homogeneous solid: mass [kg], centre in the body frame [m], its own z along an axis of that.

    It is a collision shape, too, if it `touches`.
    """
    pose = checked_pose(name, SE3(matrix_from_zyx(_ONTO[along]), centre))
    m.add_body(name, pose @ solid.inertia_of_mass(mass))
    m.add_shape(Shape(name, "visual", solid, pose))
    if touches:
        m.add_shape(Shape(name, "collision", solid, pose))


def at(x: float, y: float, z: float) -> SE3:
    """Return a pose without rotation."""
    return SE3(translation=(float(x), float(y), float(z)))


_AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "-y": (0.0, -1.0, 0.0), "z": (0.0, 0.0, 1.0)}


def double_pendulum(
    mass1: float = 1.0, length1: float = 0.5, mass2: float = 0.8, length2: float = 0.4, radius: float = 0.02
) -> Mechanism:
    """Return two homogeneous rods hanging from a base, both turning about y; at q = 0 they hang straight down.

    Args:
        mass1: of the upper rod [kg].
        length1: of the upper rod, from joint to joint [m].
        mass2: of the lower rod [kg].
        length2: of the lower rod [m].
        radius: of both rods [m].

    Examples:
        >>> cardan.robots.double_pendulum().model().nv
        2
    """
    all_positive("a double pendulum", mass1=mass1, length1=length1, mass2=mass2, length2=length2, radius=radius)
    m = Mechanism("double_pendulum")
    m.add_body("base")
    add_solid(m, "upper", mass1, Cylinder(radius, length1), centre=(0.0, 0.0, -length1 / 2))
    add_solid(m, "lower", mass2, Cylinder(radius, length2), centre=(0.0, 0.0, -length2 / 2))
    m.add_joint("shoulder", Revolute(_AXES["y"]), "base", "upper")
    m.add_joint("elbow", Revolute(_AXES["y"]), "upper", "lower", parent_pose=at(0, 0, -length1))
    return m


def cart_pole(
    cart_mass: float = 1.0, pole_mass: float = 0.1, pole_length: float = 1.0, track: float = 2.4
) -> Mechanism:
    """Return a cart on a rail along x with a pole turning about y; at q = 0 the pole stands upright.

    Args:
        cart_mass: [kg].
        pole_mass: of the homogeneous rod [kg].
        pole_length: [m].
        track: the cart moves within +-track [m].

    Examples:
        >>> cardan.robots.cart_pole().model().nv
        2
    """
    all_positive("a cart-pole", cart_mass=cart_mass, pole_mass=pole_mass, pole_length=pole_length, track=track)
    m = Mechanism("cart_pole")
    m.add_body("base")
    add_solid(m, "cart", cart_mass, Box((0.3, 0.2, 0.1)))
    add_solid(m, "pole", pole_mass, Cylinder(0.02, pole_length), centre=(0.0, 0.0, pole_length / 2))
    rail = Limits(lower=[-track], upper=[track], velocity=[10.0], effort=[100.0])
    m.add_joint("slide", Prismatic(_AXES["x"]), "base", "cart", limits=rail)
    m.add_joint("hinge", Revolute(_AXES["y"]), "cart", "pole")
    return m


def chain(n: int = 6, mass: float = 0.5, length: float = 0.3, radius: float = 0.02) -> Mechanism:
    """Return n equal homogeneous rods, each hinged to the end of the one before; at q = 0 they hang straight down.

    Args:
        n: number of rods and of joints.
        mass: of each rod [kg].
        length: of each rod [m].
        radius: of each rod [m].

    Raises:
        ParameterError: unless n is a positive integer and the others are positive.

    Examples:
        >>> cardan.robots.chain(5).model().nv
        5
    """
    whole("number of links of a chain", n, 1)
    all_positive("a chain's links", mass=mass, length=length, radius=radius)
    m = Mechanism(f"chain{n}")
    m.add_body("base")
    for k in range(1, n + 1):
        add_solid(m, f"link{k}", mass, Cylinder(radius, length), centre=(0.0, 0.0, -length / 2))
        axis = _AXES["y" if k % 2 else "x"]
        parent, offset = ("base", 0.0) if k == 1 else (f"link{k - 1}", -length)
        m.add_joint(f"joint{k}", Revolute(axis), parent, f"link{k}", parent_pose=at(0, 0, offset))
    return m


# name, axis, offset from the joint before [m], mass [kg], length [m], radius [m], reach [rad], velocity [rad/s], torque
_ARM_LINKS = (
    ("shoulder", "z", 0.16, 4.0, 0.20, 0.075, 2.9, 2.2, 180.0),
    ("upper_arm_pitch", "y", 0.20, 3.6, 0.22, 0.070, 2.0, 2.2, 180.0),
    ("upper_arm_roll", "z", 0.20, 3.0, 0.20, 0.065, 2.9, 2.2, 90.0),
    ("elbow", "-y", 0.20, 2.6, 0.20, 0.060, 2.1, 2.2, 90.0),
    ("forearm_roll", "z", 0.20, 1.9, 0.18, 0.055, 2.9, 3.0, 40.0),
    ("wrist_pitch", "y", 0.20, 1.4, 0.10, 0.050, 2.0, 3.0, 30.0),
    ("wrist_roll", "z", 0.08, 0.5, 0.06, 0.040, 3.0, 3.0, 20.0),
)


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
    add_solid(m, "base", 5.0 * s**3, Cylinder(0.09 * s, 0.16 * s), centre=(0.0, 0.0, 0.08 * s))
    parent = "base"
    for k, (name, axis, offset, mass, length, radius, reach, speed, torque) in enumerate(_ARM_LINKS, start=1):
        add_solid(m, name, mass * s**3, Cylinder(radius * s, length * s), centre=(0.0, 0.0, length * s / 2))
        limits = Limits(lower=[-reach], upper=[reach], velocity=[speed], effort=[torque])
        pose = at(0, 0, offset * s)
        m.add_joint(f"joint{k}", Revolute(_AXES[axis]), parent, name, parent_pose=pose, limits=limits, damping=[0.5])
        parent = name
    add_solid(m, "tool", payload, Box((0.10 * s, 0.04 * s, 0.12 * s)), centre=(0.0, 0.0, 0.06 * s))
    m.add_joint("flange", Fixed(), parent, "tool", parent_pose=at(0, 0, 0.06 * s))
    return m


LEGS = {"front_left": (1, 1), "front_right": (1, -1), "rear_left": (-1, 1), "rear_right": (-1, -1)}
_HIP = Limits(lower=[-0.9], upper=[0.9], velocity=[20.0], effort=[40.0])
_THIGH = Limits(lower=[-1.6], upper=[2.6], velocity=[20.0], effort=[40.0])
_SHANK = Limits(lower=[-2.7], upper=[-0.3], velocity=[20.0], effort=[50.0])


def quadruped(trunk_mass: float = 8.0, leg_length: float = 0.44) -> Mechanism:
    """Return a four-legged robot, 12 joints; at q = 0 the legs are straight, x is forward, y left.

    Each leg has a hip turning about x, then a thigh and a shank turning about y, and ends in a foot. Trunk, thighs and
    feet touch things; a shank lies between a thigh's end and a foot. Its worlds begin on bent legs (configuration
    `"initial"`), and its drives, once it has any, hold it there (`"target"`).

    Args:
        trunk_mass: [kg].
        leg_length: from thigh joint to foot [m]; thigh and shank are half each.

    Examples:
        >>> cardan.robots.quadruped().model(base="floating").nv
        18
    """
    positive("trunk mass of a quadruped", trunk_mass)
    half = positive("leg length of a quadruped", leg_length) / 2
    m = Mechanism("quadruped")
    add_solid(m, "trunk", trunk_mass, Box((0.46, 0.20, 0.14)), touches=True)
    for leg, (front, left) in LEGS.items():
        hip, thigh, shank, foot = (f"{leg}_{part}" for part in ("hip", "thigh", "shank", "foot"))
        add_solid(m, hip, 0.7, Cylinder(0.04, 0.08), along="y", centre=(0.0, left * 0.04, 0.0))
        add_solid(m, thigh, 1.0, Cylinder(0.025, half), centre=(0.0, 0.0, -half / 2), touches=True)
        add_solid(m, shank, 0.25, Cylinder(0.015, half), centre=(0.0, 0.0, -half / 2))
        add_solid(m, foot, 0.06, Sphere(0.02), touches=True)
        for name, axis, parent, pose, limits in (
            (hip, "x", "trunk", at(front * 0.20, left * 0.06, 0), _HIP),
            (thigh, "y", hip, at(0, left * 0.08, 0), _THIGH),
            (shank, "y", thigh, at(0, 0, -half), _SHANK),
        ):
            m.add_joint(f"{name}_joint", Revolute(_AXES[axis]), parent, name, pose, limits=limits, damping=[0.05])
        m.add_joint(f"{foot}_joint", Fixed(), shank, foot, parent_pose=at(0, 0, -half))
    # Feet are below the joints of their thighs, however long the legs are.
    bent = {f"{leg}_{part}_joint": angle for leg in LEGS for part, angle in (("thigh", 0.7), ("shank", -1.4))}
    for name in ("initial", "target"):
        m.add_configuration(name, bent)
    return m


# part, axis, offset from the part before (y counts to the left), mass, length of the rod downwards, radius, effort,
# position limits of the left side [rad]; about x and z they are mirrored on the right
_ARM = (
    ("shoulder_pitch", "y", (0.0, 0.18, 0.38), 1.2, 0.06, 0.045, 80.0, (-2.8, 1.0)),
    ("shoulder_roll", "x", (0.0, 0.05, 0.0), 1.0, 0.08, 0.045, 80.0, (-0.3, 2.2)),
    ("upper_arm", "z", (0.0, 0.0, -0.06), 1.4, 0.20, 0.040, 60.0, (-1.5, 1.5)),
    ("forearm", "y", (0.0, 0.0, -0.22), 1.0, 0.12, 0.035, 60.0, (-2.4, 0.0)),
    ("wrist_yaw", "z", (0.0, 0.0, -0.12), 0.6, 0.08, 0.030, 20.0, (-1.5, 1.5)),
    ("wrist_pitch", "y", (0.0, 0.0, -0.10), 0.3, 0.04, 0.028, 15.0, (-0.9, 0.9)),
    ("wrist_roll", "x", (0.0, 0.0, -0.02), 0.3, 0.04, 0.028, 15.0, (-0.6, 0.6)),
)
_LEG = (
    ("hip_yaw", "z", (0.0, 0.10, -0.06), 1.6, 0.08, 0.055, 120.0, (-0.6, 0.8)),
    ("hip_roll", "x", (0.0, 0.0, -0.06), 1.6, 0.08, 0.055, 150.0, (-0.4, 0.9)),
    ("thigh", "y", (0.0, 0.0, -0.02), 4.5, 0.38, 0.060, 200.0, (-2.0, 0.6)),
    ("shank", "y", (0.0, 0.0, -0.38), 3.0, 0.38, 0.045, 200.0, (0.0, 2.4)),
    ("ankle", "y", (0.0, 0.0, -0.38), 0.5, 0.04, 0.035, 90.0, (-0.9, 0.7)),
    ("ankle_roll", "x", (0.0, 0.0, 0.0), 0.4, 0.04, 0.035, 60.0, (-0.4, 0.4)),
)

# On level ground what is between two of these, or two of the trunk, hands and feet, lies between them.
_TOUCHING = ("shoulder_roll", "forearm", "wrist_yaw", "thigh")


def humanoid(height: float = 1.6) -> Mechanism:
    """Return a humanoid with 30 joints, standing straight with hanging arms at q = 0; x is forward, y left.

    Head, torso, pelvis, hands and feet touch things, and so do shoulders, forearms, wrists and thighs. Drives hold it
    at q = 0 unless told otherwise.

    Args:
        height: about, [m]; lengths scale with it, masses with its cube.

    Examples:
        >>> cardan.robots.humanoid().model(base="floating").nv
        36
    """
    s = positive("height of a humanoid", height) / 1.6
    m = Mechanism("humanoid")
    add_solid(m, "pelvis", 7.0 * s**3, Box((0.18 * s, 0.28 * s, 0.14 * s)), touches=True)
    add_solid(m, "waist", 2.0 * s**3, Box((0.14 * s, 0.18 * s, 0.08 * s)), centre=(0.0, 0.0, 0.04 * s))
    add_solid(m, "torso", 12.0 * s**3, Box((0.20 * s, 0.32 * s, 0.40 * s)), centre=(0.0, 0.0, 0.20 * s), touches=True)
    add_solid(m, "neck", 0.8 * s**3, Cylinder(0.04 * s, 0.06 * s), centre=(0.0, 0.0, 0.03 * s))
    add_solid(m, "head", 3.5 * s**3, Sphere(0.11 * s), centre=(0.0, 0.0, 0.11 * s), touches=True)
    _hinge(m, "waist", "z", "pelvis", (0.0, 0.0, 0.08 * s), (-1.2, 1.2), 150.0)
    _hinge(m, "torso", "y", "waist", (0.0, 0.0, 0.06 * s), (-0.9, 0.9), 150.0)
    _hinge(m, "neck", "z", "torso", (0.0, 0.0, 0.42 * s), (-1.2, 1.2), 15.0)
    _hinge(m, "head", "y", "neck", (0.0, 0.0, 0.06 * s), (-0.7, 0.7), 15.0)
    for side, left in (("left", 1.0), ("right", -1.0)):
        hand = _limb(m, side, left, "torso", _ARM, s)
        size, middle = (0.03 * s, 0.08 * s, 0.10 * s), (0.0, 0.0, -0.05 * s)
        add_solid(m, f"{side}_hand", 0.4 * s**3, Box(size), centre=middle, touches=True)
        m.add_joint(f"{side}_hand_mount", Fixed(), hand, f"{side}_hand", parent_pose=at(0, 0, -0.04 * s))
        foot = _limb(m, side, left, "pelvis", _LEG, s)
        size, middle = (0.22 * s, 0.10 * s, 0.04 * s), (0.03 * s, 0.0, -0.02 * s)
        add_solid(m, f"{side}_foot", 0.8 * s**3, Box(size), centre=middle, touches=True)
        m.add_joint(f"{side}_foot_mount", Fixed(), foot, f"{side}_foot", parent_pose=at(0, 0, -0.05 * s))
    return m


def _limb(m: Mechanism, side: str, left: float, parent: str, parts: tuple, s: float) -> str:
    """Add the parts of a limb, mirrored for the right side, and return the last one's name."""
    for part, axis, (x, y, z), mass, length, radius, effort, (lower, upper) in parts:
        name = f"{side}_{part}"
        centre, touches = (0.0, 0.0, -length * s / 2), part in _TOUCHING
        add_solid(m, name, mass * s**3, Cylinder(radius * s, length * s), centre=centre, touches=touches)
        # 0.0 - x and not -x: a mirrored 0 stays 0.0, which files show without a sign.
        reach = (lower, upper) if left > 0.0 or axis == "y" else (0.0 - upper, 0.0 - lower)
        _hinge(m, name, axis, parent, (x * s, left * y * s, z * s), reach, effort)
        parent = name
    return parent


def _hinge(m: Mechanism, child: str, axis: str, parent: str, place: tuple, reach: tuple, effort: float) -> None:
    limits = Limits(lower=[reach[0]], upper=[reach[1]], velocity=[12.0], effort=[effort])
    pose = at(*place)
    m.add_joint(f"{child}_joint", Revolute(_AXES[axis]), parent, child, pose, limits=limits, damping=[0.2])
