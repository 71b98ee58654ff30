"""What is possible and probably not meant: remarks of `cardan check` on a robot of any format, and some of `load`.

Each check is one function over a robot that yields what it is about and what is odd; findings of one kind are one
remark, at the first. They are tuned to be silent on robots that are right: each bound says where it comes from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from cardan._algebra.spatial import Inertia
from cardan._reach.formats.report import Report, listed
from cardan._robot.description import Mechanism
from cardan._robot.geometry.shapes import Mesh, Shape
from cardan._robot.geometry.support import PRIMITIVES, SUPPORT, reach
from cardan._robot.joints import Revolute
from cardan._robot.joints.recognise import hinge_of
from cardan._robot.model import Connection

# Densities of what robots are made of [kg/m^3]: aerogel and shells drawn as solids are above 1, osmium is 22 600
LIGHTEST, HEAVIEST = 1.0, 25_000.0
SLACK = 0.25  # how far a centre of mass may be outside of the shapes' box, in diagonals of it: not everything is drawn
# How many times the farthest corner of the shapes a radius of gyration may be: no homogeneous body reaches 1
STRETCH = 2.0
SHRINK = 0.02  # which part of the shapes' half diagonal a radius of gyration may fall to: a homogeneous rod has 0.58
RATIO = 1000.0  # of masses: beyond it forward dynamics loses three digits and integrators take tiny steps
TURNS, MANY = 8.0 * np.pi, 720.0  # limits of hinges are four turns at most, or far more: between these they are degrees
SHOWN = 3

# What it is about, `"body"`, and its name; what is odd about it, without numbers where many are alike
Finding = tuple[str, str, str]


def review(mechanism: Mechanism, report: Report, checks: Iterable[Check]) -> None:
    """Say what is probably not meant, in warnings of `LOADED` and remarks else; no file of a mesh is opened."""
    robot = _RobotAndShapes(mechanism)
    for check in checks:
        with np.errstate(all="ignore"):  # numbers of a file may be as large as there are
            found = list(check(robot))
        if found:
            kind, name, odd = found[0]
            names = listed([each for _, each, _ in found], SHOWN)
            tell = report.warn if check in LOADED else report.remark
            tell(report.places.get((kind, name), 0), f"{kind} {names}: {odd}")


@dataclass(frozen=True)
class _RobotAndShapes:
    mechanism: Mechanism

    @cached_property
    def inertias(self) -> dict[str, Inertia]:
        bodies = self.mechanism.bodies
        return {body.name: body.inertia for body in bodies if body.inertia is not None and body.inertia.mass > 0.0}

    @cached_property
    def shapes(self) -> dict[str, list[Shape]]:
        """Shapes of each body, those for collision first."""
        found: dict[str, list[Shape]] = {}
        for shape in sorted(self.mechanism.shapes, key=lambda shape: shape.role != "collision"):
            found.setdefault(shape.body, []).append(shape)
        return found

    @cached_property
    def boxes(self) -> dict[str, np.ndarray]:
        """Corners of the box around the shapes of each body, (2, 3), where all are known."""
        found = {}
        for body, shapes in self.shapes.items():
            if all(type(shape.geometry) in SUPPORT and not isinstance(shape.geometry, Mesh) for shape in shapes):
                low, high = zip(*map(_box, shapes), strict=True)
                found[body] = np.array([np.min(low, axis=0), np.max(high, axis=0)])
        return found


def _box(shape: Shape) -> tuple[np.ndarray, np.ndarray]:
    """Return the least and largest coordinates of a shape, in body axes: those of the body are rows of R in its own."""
    X = shape.pose.matrix()
    R, p = X[:3, :3], X[:3, 3]
    return p - reach(shape.geometry, -R), p + reach(shape.geometry, R)


def centre_outside(robot: _RobotAndShapes) -> Iterator[Finding]:
    """A centre of mass far outside of the shapes' box."""
    for body, inertia in robot.inertias.items():
        box = robot.boxes.get(body)
        if box is None:
            continue
        c = np.array(tuple(inertia.com), dtype=float)
        away = float(np.linalg.norm(np.maximum(0.0, np.maximum(box[0] - c, c - box[1]))))
        diagonal = float(np.linalg.norm(box[1] - box[0]))
        if away > SLACK * diagonal + 1e-3:  # a millimetre: flat shapes have no diagonal
            odd = f"the centre of mass is {away:.3g} m outside of its shapes, which are {diagonal:.3g} m large"
            yield "body", body, odd


def impossible_size(robot: _RobotAndShapes) -> Iterator[Finding]:
    """A radius of gyration that no body of the shapes' size has."""
    for body, inertia in robot.inertias.items():
        box, radii = robot.boxes.get(body), gyration(inertia)
        if box is None or radii is None:
            continue
        c = np.array(tuple(inertia.com), dtype=float)
        farthest = float(np.linalg.norm(np.maximum(np.abs(box[0] - c), np.abs(box[1] - c))))
        half = 0.5 * float(np.linalg.norm(box[1] - box[0]))
        where = ""
        if radii[-1] > STRETCH * farthest + 1e-3:
            where = f"{radii[-1]:.3g} m away from the centre; its shapes reach {farthest:.3g} m"
        elif radii[-1] < SHRINK * half:
            where = f"within {radii[-1]:.3g} m of the centre; its shapes are {2 * half:.3g} m large"
        if where:
            yield "body", body, f"its inertia is that of mass {where}; are the units right?"


def gyration(inertia: Inertia) -> np.ndarray | None:
    """Return the radii of gyration [m], in order; None where the inertia is none."""
    J = np.array([list(row) for row in inertia.inertia_at_com.matrix().rows()], dtype=float)
    if not np.isfinite(J).all():
        return None
    moments = np.linalg.eigvalsh(J)
    return np.sqrt(moments / float(inertia.mass)) if moments[0] >= 0.0 and moments[-1] > 0.0 else None


def impossible_density(robot: _RobotAndShapes) -> Iterator[Finding]:
    """A mass that nothing of the shapes' volume has."""
    for body, inertia in robot.inertias.items():
        shapes = robot.shapes.get(body, ())
        primitives = [shape for shape in shapes if isinstance(shape.geometry, PRIMITIVES)]
        roles = {role: [s for s in primitives if s.role == role] for role in ("collision", "visual")}
        volume = sum(_volume(s.geometry) for s in roles["collision"] or roles["visual"])
        if not primitives or len(primitives) < len(shapes) or volume <= 0.0:
            continue
        density = float(inertia.mass) / volume
        if not LIGHTEST <= density <= HEAVIEST:
            yield "body", body, f"{float(inertia.mass):.3g} kg in {volume:.3g} m^3 are {density:.3g} kg/m^3"


def _volume(geometry: Any) -> float:
    """Return a volume [m^3], infinite where it is too large for a number."""
    try:
        return geometry.volume
    except OverflowError:
        return float("inf")


def unlike_neighbours(robot: _RobotAndShapes) -> Iterator[Finding]:
    """A mass a thousand times those of all bodies it moves against."""
    largest: dict[str, float] = {}  # mass of what a body moves against
    for c in (c for c in robot.mechanism.joints if c.joint.nv):
        for body, other in ((c.parent, c.child), (c.child, c.parent)):
            if other in robot.inertias:
                largest[body] = max(float(robot.inertias[other].mass), largest.get(body, 0.0))
    for body, inertia in robot.inertias.items():
        if body in largest and inertia.mass > RATIO * largest[body]:
            odd = f"{float(inertia.mass):.3g} kg are more than {RATIO:.0f} times the mass of its neighbours"
            yield "body", body, odd


def moments_without_mass(robot: _RobotAndShapes) -> Iterator[Finding]:
    """A body that resists to turning, and weighs nothing."""
    for body in robot.mechanism.bodies:
        if body.inertia is not None and body.inertia.mass == 0.0 and any(body.inertia.inertia_at_origin):
            yield "body", body.name, "it has moments of inertia and no mass"


def massless_ends(robot: _RobotAndShapes) -> Iterator[Finding]:
    """A body that moves and has no mass, nor has anything that hangs on it; a robot without any mass is meant so."""
    joints = robot.mechanism.joints if robot.inertias else ()
    above: dict[str, list[str]] = {}
    for c in joints:
        above.setdefault(c.child, []).append(c.parent)
    heavy, waiting = set(robot.inertias), list(robot.inertias)
    while waiting:
        new = [body for body in above.get(waiting.pop(), ()) if body not in heavy]
        heavy.update(new)
        waiting += new
    for c in joints:
        if c.joint.nv and not c.joint.primaries and c.child not in heavy:
            yield "body", c.child, "it moves and nothing from there on has mass: forward dynamics will not be finite"


def _odd_joints(is_odd: Callable[[Connection], Any], odd: str) -> Callable[[_RobotAndShapes], Iterator[Finding]]:
    return lambda robot: (("joint", c.name, odd) for c in robot.mechanism.joints if is_odd(c))


def _is_limited_in_degrees(c: Connection) -> bool:
    if not any(TURNS < abs(e) <= MANY for e in (*(c.limits.lower or ()), *(c.limits.upper or ()))):
        return False  # before a joint is recognised, which takes longer
    hinge = hinge_of(c.joint)
    return hinge is not None and isinstance(hinge.joint, Revolute)


Check = Callable[[_RobotAndShapes], Iterator[Finding]]
CHECKS: tuple[Check, ...] = (  # A new check is one function, and its name here
    centre_outside,
    impossible_size,
    impossible_density,
    unlike_neighbours,
    moments_without_mass,
    massless_ends,
    _odd_joints(
        lambda c: any(low > 0.0 for low in c.limits.lower or ()) or any(high < 0.0 for high in c.limits.upper or ()),
        "0 is outside of the limits, and so is the neutral configuration",
    ),
    _odd_joints(lambda c: max(c.limits.effort or (1.0,)) == 0.0, "the limit of effort is 0: no motor can move it"),
    _odd_joints(lambda c: max(c.limits.velocity or (1.0,)) == 0.0, "the limit of velocity is 0"),
)
LOADED: tuple[Check, ...] = (  # What `load` warns of
    _odd_joints(_is_limited_in_degrees, "its limits are more than four turns; are they in degrees?"),
)
