"""The joints of a MuJoCo body, which act in a row, as one joint: X(q) = X(0) exp(S_1 q_1) exp(S_2 q_2) ...

The coordinates are MuJoCo's own, in its order: q = qpos, v = qvel (but for a free joint's linear velocity). A reference
`ref`, the coordinate at which MuJoCo draws the body, is part of the placement: X(0) = X(ref) exp(-S ref).

Source: MuJoCo documentation, "Modeling: body, joint" and "Computation: kinematic tree"; the row is that of
`cardan.interop.chains`, which goes the other way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from cardan._algebra.errors import ParameterError
from cardan._algebra.spatial import SE3, Vector3
from cardan._algebra.spatial.rotations import rotation_about_axis
from cardan._robot import joints as J

X, Y, Z = Vector3(1.0, 0.0, 0.0), Vector3(0.0, 1.0, 0.0), Vector3(0.0, 0.0, 1.0)
ROUNDING = 1e-15  # how far off, relative to their length, a point may be from an axis that goes through it


@dataclass(frozen=True, slots=True)
class Step:
    """One of MuJoCo's joints."""

    kind: Literal["hinge", "slide", "ball", "free"]  # what it is
    axis: Vector3 = Z  # of a hinge or slide, in the body's frame at `ref`
    point: Vector3 = Vector3(0.0, 0.0, 0.0)  # the place of a hinge or ball there [m]
    ref: float = 0.0  # its coordinate there

    @property
    def joint(self) -> J.Joint:
        if self.kind == "hinge":
            return J.Revolute(self.axis)
        return J.Prismatic(self.axis) if self.kind == "slide" else J.Spherical()

    @property
    def turned_back(self) -> SE3:
        """exp(-S ref), at the step's own point."""
        if self.kind == "slide":
            return SE3(translation=self.axis * -self.ref)
        return SE3(rotation_about_axis(self.axis, -self.ref)) if self.kind == "hinge" else SE3.identity()


@dataclass(frozen=True, slots=True)
class Row:
    """Steps in a row as one joint: X_parent_child = X_ref `before` joint(q) `after`^-1."""

    joint: J.Joint  # the joint; its coordinates are the steps' own, in their order
    before: SE3  # its parent frame in the body at `ref`
    after: SE3  # its child frame in the body


def row_of(steps: Sequence[Step]) -> Row:
    """Return steps as one joint: of the catalogue where one has just these coordinates, else a composite."""
    if not steps:
        return Row(J.Fixed(), SE3.identity(), SE3.identity())
    if steps[0].kind == "free":
        return Row(J.FreeFlyer(), SE3.identity(), SE3.identity())
    if len(steps) == 1:
        at = SE3(translation=steps[0].point)
        return Row(steps[0].joint, at @ steps[0].turned_back, at)
    return _of_catalogue(steps) or _composite(steps)


def _of_catalogue(steps: Sequence[Step]) -> Row | None:
    """Return the joint of the catalogue whose coordinates are those of slides, then hinges through one point."""
    slides = [step for step in steps if step.kind == "slide"]
    hinges = list(steps[len(slides) :])
    if any(step.ref for step in steps) or any(step.kind != "hinge" for step in hinges):
        return None
    point = hinges[0].point if hinges else Vector3.zero()
    gaps = [(point - step.point).cross(step.axis).norm_squared() for step in hinges]  # of axes from the point, squared
    if any(gap > (ROUNDING * ROUNDING) * point.norm_squared() for gap in gaps):
        return None
    try:
        joint = _joint([step.axis for step in slides], [step.axis for step in hinges])
    except ParameterError:  # parallel axes, or more than three
        return None
    return Row(joint, SE3(translation=point), SE3(translation=point))


def _joint(slides: list[Vector3], hinges: list[Vector3]) -> J.Joint:
    if slides == [X, Y, Z] and not hinges:
        return J.Translation()
    if hinges == [Z, Y, X] and not slides:
        return J.SphericalZYX()
    if len(hinges) == 2 and not slides:
        return J.Universal(*hinges)
    if len(slides) == len(hinges) == 1 and slides == hinges:
        return J.Cylindrical(slides[0])
    return J.D6(slides, hinges)


def _composite(steps: Sequence[Step]) -> Row:
    at, placements = SE3.identity(), []
    for step in steps:
        here = at if step.kind == "slide" else SE3(translation=step.point)
        placements.append(at.inverse() @ here @ step.turned_back)
        at = here
    before = placements[0]
    placements[0] = SE3.identity()
    return Row(J.Composite([step.joint for step in steps], placements), before, at)
