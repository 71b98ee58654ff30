"""Pairs of robots with one planted difference each: what was changed, and what `compare` must say of it."""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from cardan import SE3, Inertia, Limits, Mechanism, Spring
from cardan._robot.records import Material
from cardan.description import Box, Shape
from cardan.joints import Fixed, Prismatic, Revolute, UnboundedRevolute
from cardan.spatial import Matrix3
from cardan.spatial.rotations import matrix_from_zyx

COM = (0.1, -0.2, 0.3)
J = np.array([[0.5, 0.03, -0.02], [0.03, 0.4, 0.01], [-0.02, 0.01, 0.3]])
QUARTER = matrix_from_zyx((0.0, 0.0, math.pi / 2))  # about x


def arm() -> Mechanism:
    """Return base -shoulder- upper -elbow- lower -slide- hand -mount- camera."""
    m = Mechanism("arm")
    for name, mass in (("base", 5.0), ("upper", 2.0), ("lower", 1.5), ("hand", 0.5), ("camera", 0.1)):
        m.add_body(name, Inertia(mass, COM, (mass * J).tolist()))
    limits = Limits((-1.0,), (2.0,), (3.0,), (40.0,))
    m.add_joint("anchor", Fixed(), "world", "base")
    m.add_joint("shoulder", Revolute((0, 0, 1)), "base", "upper", SE3(translation=(0, 0, 0.5)), limits=limits)
    bent = SE3(matrix_from_zyx((0.2, -0.1, 0.3)), (0.4, 0.1, 0.0))
    m.add_joint("elbow", Revolute((0, 1, 0)), "upper", "lower", bent, limits=limits, damping=(0.3,))
    m.add_joint("slide", Prismatic((1, 0, 0)), "lower", "hand", SE3(translation=(0.3, 0, 0)), limits=limits)
    m.add_joint("mount", Fixed(), "hand", "camera", SE3(translation=(0, 0, 0.1)))
    m.add_frame("tool", "hand", SE3(translation=(0.1, 0, 0)))
    m.add_shape(Shape("upper", "collision", Box((0.1, 0.2, 0.3)), SE3(translation=(0, 0, 0.1))))
    m.add_configuration("home", {"elbow": 0.5})
    return m


def changed(
    bodies: dict[str, Inertia] | None = None, joints: dict[str, dict[str, Any]] | None = None, **parts: Any
) -> Mechanism:
    """Return the arm with other inertias, other parts of joints, another gravity, shapes or frames."""
    old = arm()
    new = Mechanism("arm", parts.get("gravity", old.gravity))
    for body in old.bodies:
        new.add_body(body.name, (bodies or {}).get(body.name, body.inertia))
    for c in old.joints:
        d = replace(c, **(joints or {}).get(c.name, {}))
        more = {"damping": d.damping, "friction": d.friction, "armature": d.armature, "spring": d.spring}
        more["compliance"] = d.compliance
        new.add_joint(d.name, d.joint, d.parent, d.child, d.parent_pose, d.child_pose, d.limits, **more)
    for frame in parts.get("frames", old.frames):
        new.add_frame(frame.name, frame.body, frame.pose, frame.kind)
    for shape in parts.get("shapes", old.shapes):
        new.add_shape(shape)
    for name, values in parts.get("configurations", old.named_configurations).items():
        new.add_configuration(name, values)
    return new


def upper(mass: float = 2.0, com: Any = COM, about: Any = 2.0 * J) -> dict[str, Inertia]:
    """Return the inertia of the upper arm with some of it changed."""
    return {"upper": Inertia(mass, tuple(com), np.asarray(about).tolist())}


def of_point(c: Any) -> np.ndarray:
    return np.dot(c, c) * np.eye(3) - np.outer(c, c)


def place(name: str) -> SE3:
    return next(c.parent_pose for c in arm().joints if c.name == name)


def turned(X: SE3, R: Matrix3 = QUARTER, p: Any = (0, 0, 0)) -> SE3:
    return X @ SE3(R, p)


def mirrored(limits: Limits) -> Limits:
    return Limits((-2.0,), (1.0,), limits.velocity, limits.effort)


R = np.array([list(row) for row in QUARTER.rows()], dtype=float)
LIMITS = Limits((-1.0,), (2.0,), (3.0,), (40.0,))
LUMPED = arm().merge_fixed(keep=["base"]).mechanism


def moved_mass() -> dict[str, Inertia]:
    return upper(mass=1.7) | {"lower": Inertia(1.8, COM, (1.5 * J).tolist())}


def with_shape(**given: Any) -> Mechanism:
    return changed(shapes=[replace(arm().shapes[0], **given)])


PAIRS: dict[str, tuple[Mechanism, str, str, str]] = {
    # name: the other robot; where the first difference must be, what, and its cause
    "inertia about the origin": (
        changed(upper(about=2 * J + 2 * of_point(COM))), "upper", "inertia", ""
    ),
    "parallel axes backwards": (
        changed(upper(about=2 * J - 2 * of_point(COM))), "upper", "inertia", ""
    ),
    "inertia in other axes": (
        changed(upper(about=2 * R @ J @ R.T)), "upper", "inertia", ""
    ),
    "products with the other sign": (
        changed(upper(about=2 * (2 * np.diag(np.diag(J)) - J))), "upper", "inertia", ""
    ),
    "inertia in g mm^2": (changed(upper(about=2e9 * J)), "upper", "inertia", ""),
    "no products": (changed(upper(about=np.diag(np.diag(2 * J)))), "upper", "inertia", ""),
    "mass in grams": (changed(upper(mass=2000.0)), "upper", "mass", ""),
    "mass in pounds": (changed(upper(mass=2.0 / 0.45359237)), "upper", "mass", ""),
    "another density": (changed(upper(mass=2.2, about=2.2 * J)), "upper", "mass", ""),
    "centre in millimetres": (changed(upper(com=np.multiply(1e3, COM))), "upper", "centre of mass", ""),
    "centre with a sign": (changed(upper(com=(0.1, 0.2, 0.3))), "upper", "centre of mass", ""),
    "centre turned": (changed(upper(com=R @ COM)), "upper", "centre of mass", ""),
    "mass moved on": (changed(moved_mass()), "upper", "mass", ""),
    "frame turned": (
        changed(joints={"elbow": {"parent_pose": turned(place("elbow"))}}),
        "elbow", "is elsewhere on the body above", "the joint is turned by 90 degrees about (1 0 0), in its own axes",
    ),
    "frame moved": (
        changed(joints={"elbow": {"parent_pose": turned(place("elbow"), Matrix3.identity(), (0, 0, 0.05))}}),
        "elbow", "is elsewhere on the body above", "moved by (0 0 0.05) m",
    ),
    "zero elsewhere": (
        changed(joints={"shoulder": {"parent_pose": turned(place("shoulder"), matrix_from_zyx((0.5, 0.0, 0.0)))}}),
        "shoulder", "its joint frame is turned or moved", "turned by 28.65 degrees about (0 0 1)",
    ),
    "joint reversed": (
        changed(joints={"elbow": {"joint": Revolute((0, -1, 0)), "limits": mirrored(LIMITS)}}),
        "elbow", "axis", "",
    ),
    "another axis": (
        changed(joints={"slide": {"joint": Prismatic((0, 0, 1))}}), "slide", "axis", ""
    ),
    "another kind": (
        changed(joints={"slide": {"joint": Revolute((1, 0, 0))}}), "slide", "another kind of joint", ""
    ),
    "limits in degrees": (
        changed(joints={"elbow": {"limits": Limits((-math.degrees(1),), (math.degrees(2),), (3,), (40,))}}),
        "elbow", "limits.lower", "",
    ),
    "limits mirrored": (
        changed(joints={"elbow": {"limits": mirrored(LIMITS)}}), "elbow", "limits.lower", ""
    ),
    "no limit of effort": (
        changed(joints={"elbow": {"limits": Limits((-1.0,), (2.0,), (3.0,))}}), "elbow", "limits.effort", ""
    ),
    "no damping": (changed(joints={"elbow": {"damping": (0.0,)}}), "elbow", "damping", ""),
    "a spring": (changed(joints={"slide": {"spring": Spring(3.0, 0.1)}}), "slide", "spring_stiffness", ""),
    "gravity along y": (changed(gravity=(0.0, -9.81, 0.0)), "arm", "gravity", ""),
    "gravity upwards": (changed(gravity=(0.0, 0.0, 9.81)), "arm", "gravity", ""),
    "fixed bodies made one": (LUMPED, "camera", "missing in b", ""),
    "body renamed": (arm().renamed({"lower": "forearm"}).mechanism, "lower", "missing in b", ""),
    "joint renamed": (arm().renamed({"elbow": "knee"}).mechanism, "elbow", "this joint is called otherwise", ""),
    "body left out": (arm().remove("camera").mechanism, "camera", "missing in b", ""),
    "box in millimetres": (
        changed(shapes=[replace(arm().shapes[0], geometry=Box((100.0, 200.0, 300.0)))]),
        "upper, collision 0", "size", "",
    ),
    "shape turned": (
        changed(shapes=[replace(arm().shapes[0], pose=turned(arm().shapes[0].pose))]),
        "upper, collision 0", "this shape is elsewhere", "it is turned by 90 degrees about (1 0 0)",
    ),
    "tool moved": (
        changed(frames=[replace(arm().frames[0], pose=SE3(translation=(0.1, 0.2, 0)))]),
        "tool", "this frame is elsewhere", "moved by (0 0.2 0) m",
    ),
    "surface": (with_shape(surface=Material(friction=0.1)), "upper, collision 0", "surface.friction", ""),
    "mask": (with_shape(mask=4), "upper, collision 0", "group, mask: may touch shapes of its own", ""),
    "margin": (with_shape(margin=0.01), "upper, collision 0", "margin", ""),
    "density": (with_shape(density=700.0), "upper, collision 0", "density", ""),
    "colour": (with_shape(rgba=(1.0, 0.0, 0.0, 1.0)), "upper, collision 0", "rgba", ""),
    "compliance": (changed(joints={"elbow": {"compliance": (1e-4,) * 6}}), "elbow", "compliance", ""),
    "tool is a sensor": (
        changed(frames=[replace(arm().frames[0], kind="sensor")]), "tool", "this frame is of another kind", ""
    ),
    "another home": (changed(configurations={"home": {"elbow": 0.6}}), "home", "differs among the named", ""),
}  # fmt: skip


def continuous(kind: Any) -> Mechanism:
    """Return the arm with a shoulder of another kind of coordinates and without limits there."""
    return changed(joints={"shoulder": {"joint": kind, "limits": Limits()}})


OTHER_COORDINATES = continuous(Revolute((0, 0, 1))), continuous(UnboundedRevolute((0, 0, 1)))
