"""What MJCF does not hold of a model, of which the rest is written."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from cardan._reach.formats.written import is_bounded, losses_of
from cardan._reach.interop.mujoco_state import half_of
from cardan._robot.geometry.shapes import HeightField, Mesh, Shape
from cardan._robot.geometry.touching import EVERYTHING
from cardan._robot.joints import D6, Mimic, Planar, PlanarAngle, SphericalZYX, UnboundedRevolute
from cardan._robot.model import Body, Model
from cardan._robot.records import Material

VELOCITY = "velocity limits of joints"
PACKAGES = "packages of meshes, of which the path is written, on"
COLOURS = "digits of colours, beyond single precision, of shapes on"
USUAL = (VELOCITY, PACKAGES, COLOURS)  # what nearly every robot has

ENDS = ("lower", "upper", "effort", "effort_lower")
ACTING = ("damping", "friction", "armature", "drive_stiffness", "drive_damping", "spring_stiffness")
UNTOUCHED = (None, *EVERYTHING, 0.0)  # surface, group, mask and margin of a shape nothing is said of
# Joints whose velocities are not those of the hinges and slides they are there
IN_A_ROW = (D6, Planar, PlanarAngle, SphericalZYX, UnboundedRevolute)


def losses(model: Model, spec: Any) -> tuple[str, ...]:
    """Return what a specification, which `to_mjspec` made of a model, does not hold, or holds otherwise."""
    written = [body for body in model.bodies if spec.body(body.name) is not None]
    there, own = {a.name for a in spec.actuators}, {a.name for a in model.actuators}
    gone = {*model.body_names} - {body.name for body in written}
    unknown = [a for a in model.actuators if a.name in there and (a.gain is None or a.bias is None)]
    halves = [half_of(c.name) for c in model.closures]
    of_kinds = {
        "massless bodies between joints of one body:": [name for name in model.body_names if name in gone],
        "joints apart, but in a row of one body:": [c.name for c in model.connections if {c.parent, c.child} & gone],
        "inertias of their own, but with what is fixed together, of bodies": [
            b.name for b in written if not _has_its_own(b, spec.body(b.name))
        ],
        "loops as they are, but cut, with half of a body moved by their joint:": [n for n in halves if spec.body(n)],
        **_of_joints(model),
        **_of_shapes(model.shapes),
        "that the gain of actuators is not known, which is 1 there:": [a.name for a in unknown],
        "drives (drive stiffness, drive damping) of joints alone, but as actuators": [
            a.name for a in spec.actuators if a.name not in own
        ],
        "groups": [group.name for group in model.annotations.groups],
    }
    usual = {what: of_kinds.pop(what) for what in USUAL}
    return (*losses_of(usual), *losses_of(of_kinds, shown=None))


def _has_its_own(body: Body, there: Any) -> bool:
    """Return whether MuJoCo's body weighs what the body does, at the same place."""
    inertia = body.inertia
    if inertia is None or not any(inertia.parameters()):
        return not there.explicitinertial
    return there.explicitinertial and there.mass == inertia.mass and tuple(there.ipos) == tuple(inertia.com)


def _of_joints(model: Model) -> dict[str, list[str]]:
    joints: Any = (*model.connections, *model.closures)
    mimics = [c for c in joints if isinstance(c.joint, Mimic)]
    return {
        VELOCITY: [c.name for c in joints if is_bounded(c, "velocity", "velocity_lower")],
        "limits (lower, upper, effort) of joints that mimic another": [c.name for c in mimics if is_bounded(c, *ENDS)],
        "limits (lower, upper, effort), damping, friction, armature, drives and springs of joints that close loops": [
            c.name for c in model.closures if is_bounded(c, *ENDS) or any(any(getattr(c, key)) for key in ACTING)
        ],
        "their own coordinates, but those of hinges and slides, of joints": [
            c.name for c in joints if isinstance(c.joint, IN_A_ROW)
        ],
        "compliance of joints": [c.name for c in joints if any(c.compliance)],
    }


def _of_shapes(shapes: Iterable[Shape]) -> dict[str, list[str]]:
    shapes = tuple(shapes)
    return {
        # MuJoCo has colours in single precision, of which the shortest digits are printed
        COLOURS: [s.body for s in shapes if any(float(str(np.float32(e))) != e for e in s.rgba or ())],
        "textures of shapes on": [s.body for s in shapes if s.texture],
        "stiffness and dissipation, or moments without friction, of surfaces on": [
            s.body for s in shapes if s.role == "collision" and s.surface and s.surface != _said(s.surface)
        ],
        "surfaces, groups, masks and margins of shapes that are only seen, on": [
            s.body for s in shapes if s.role == "visual" and (s.surface, s.group, s.mask, s.margin) != UNTOUCHED
        ],
        "digits of heights beyond single precision, and a level other than the lowest's to measure them from, on": [
            s.body for s in shapes if isinstance(s.geometry, HeightField) and not _is_said(s.geometry)
        ],
        PACKAGES: [s.body for s in shapes if isinstance(s.geometry, Mesh) and "://" in s.geometry.uri],
    }


def _is_said(field: HeightField) -> bool:
    """Return whether heights are the same after MuJoCo had them in single precision, as parts of the highest."""
    heights = np.array(field.heights)
    shares = heights / (field.relief or 1.0)
    return not field.lowest and np.array_equal(shares.astype(np.float32) * np.float64(field.relief), heights)


def _said(surface: Material) -> Material:
    """Return what MuJoCo's friction says of a surface: nothing turns or rolls against it without friction."""
    if not surface.friction:
        return Material(friction=0.0)
    return Material(friction=surface.friction, torsional=surface.torsional, rolling=surface.rolling)
