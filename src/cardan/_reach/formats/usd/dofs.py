"""Degrees of freedom of USD's joints: limits, drives and what else is said of each, in radians and metres.

USD states angles in degrees, and stiffness and damping of angular drives per degree.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cardan._reach.formats.usd.scene import schemas
from cardan._reach.formats.usd.stage import Stage
from cardan._reach.formats.usd.values import authored, non_negative, number, token
from cardan._robot.joints import Limits
from cardan._robot.records import Drive, Spring

DEGREE = math.pi / 180.0


@dataclass(frozen=True, slots=True)
class Dof:
    """A degree of freedom.

    Attributes:
        name: as its attributes have it: `angular`, `linear`, `rotX`, `transX`, ...
        is_angular: whether it turns.
        lower: smallest position [rad, m].
        upper: largest position.
    """

    name: str
    is_angular: bool
    lower: float = -math.inf
    upper: float = math.inf

    @property
    def is_unlimited(self) -> bool:
        """Whether it goes on for ever in both directions."""
        return self.lower == -math.inf and self.upper == math.inf


@dataclass(frozen=True, slots=True)
class Units:
    """What a number of an attribute of a degree of freedom is worth, in radians or metres, kilograms and seconds."""

    position: float
    effort: float
    inertia: float
    per_radian: float

    @staticmethod
    def of(stage: Stage, is_angular: bool) -> Units:
        """Return those of a stage."""
        if is_angular:
            moment = stage.mass * stage.length**2
            return Units(DEGREE, moment, moment, DEGREE)
        return Units(stage.length, stage.mass * stage.length, stage.mass, 1.0)

    @property
    def gain(self) -> float:
        """Of an effort per position."""
        return self.effort / self.position

    @property
    def mujoco_gain(self) -> float:
        """Of an effort per position, where angles are in radians all the same."""
        return self.gain * self.per_radian


SINGLE = {
    "velocity": {"newton:velocityLimit": "position", "physxJoint:maxJointVelocity": "position"},
    "damping": {"newton:damping": "gain", "mjc:damping": "mujoco_gain"},
    "stiffness": {"mjc:stiffness": "mujoco_gain"},
    "friction": {"newton:friction": "effort", "mjc:frictionloss": "effort"},
    "armature": dict.fromkeys(("newton:armature", "physxJoint:armature", "mjc:armature"), "inertia"),
}
"""What one number says of a degree of freedom: attributes, of which the first that is authored counts, and its unit."""


@dataclass(frozen=True, slots=True)
class Properties:
    """What is said of the degrees of freedom of a joint, for `Connection`, and where its drives want to go."""

    limits: Limits
    drive: Drive | None
    spring: Spring | None
    damping: tuple[float, ...]
    friction: tuple[float, ...]
    armature: tuple[float, ...]
    targets: tuple[float, ...]
    states: tuple[float, ...]


def limited(stage: Stage, prim: Any, name: str, is_angular: bool, low: str, high: str) -> Dof:
    """Return a degree of freedom with the limits two attributes give it; lower > upper where they say so."""
    unit = Units.of(stage, is_angular).position
    lower = number(stage, prim, low, -math.inf, infinite=True)
    upper = number(stage, prim, high, math.inf, infinite=True)
    return Dof(name, is_angular, lower * unit, upper * unit)


def properties(stage: Stage, prim: Any, dofs: Sequence[Dof]) -> Properties:
    """Return what is said of degrees of freedom, in their order."""
    drives = [_drive(stage, prim, dof) for dof in dofs]
    stiffness, damping, effort, targets = zip(*drives, strict=True) if drives else ((), (), (), ())
    springs = [_spring(stage, prim, dof) for dof in dofs]
    velocity = [_single(stage, prim, dof, "velocity", math.inf) for dof in dofs]
    return Properties(
        Limits([dof.lower for dof in dofs], [dof.upper for dof in dofs], velocity=velocity, effort=effort),
        Drive(stiffness, damping) if any((*stiffness, *damping)) else None,
        Spring(*zip(*springs, strict=True)) if any(k for k, _ in springs) else None,
        tuple(_single(stage, prim, dof, "damping") for dof in dofs),
        tuple(_single(stage, prim, dof, "friction") for dof in dofs),
        tuple(_single(stage, prim, dof, "armature") for dof in dofs),
        targets,
        tuple(_state(stage, prim, dof) for dof in dofs),
    )


def _drive(stage: Stage, prim: Any, dof: Dof) -> tuple[float, float, float, float]:
    """Return stiffness, damping, largest effort and target of a drive; a drive by acceleration is left out."""
    start, unit = f"drive:{dof.name}:physics", Units.of(stage, dof.is_angular)
    if f"PhysicsDriveAPI:{dof.name}" not in schemas(prim):
        if authored(prim, f"{start}:stiffness") or authored(prim, f"{start}:damping"):
            told = f"{start} has values, but PhysicsDriveAPI:{dof.name} is not applied: to UsdPhysics there is no drive"
            stage.report.remark(stage.where(prim), told)
        return 0.0, 0.0, math.inf, 0.0
    stiffness = non_negative(stage, prim, f"{start}:stiffness", 0.0) * unit.gain
    damping = non_negative(stage, prim, f"{start}:damping", 0.0) * unit.gain
    effort = number(stage, prim, f"{start}:maxForce", math.inf, infinite=True) * unit.effort
    target = number(stage, prim, f"{start}:targetPosition", 0.0) * unit.position
    if effort < 0.0:
        stage.report.error(stage.where(prim), f"{start}:maxForce is negative, expected a number >= 0")
    if token(stage, prim, f"{start}:type", ("force", "acceleration")) == "acceleration" and (stiffness or damping):
        told = f"{start}:type is 'acceleration': its gains go with the inertia it feels; it is left out"
        stage.report.remark(stage.where(prim), told)
        return 0.0, 0.0, max(effort, 0.0), 0.0
    return stiffness, damping, max(effort, 0.0), target


def _single(stage: Stage, prim: Any, dof: Dof, what: str, default: float = 0.0) -> float:
    unit = Units.of(stage, dof.is_angular)
    said = {
        name: getattr(unit, worth) * abs(number(stage, prim, name, default, infinite=default == math.inf))
        for name, worth in SINGLE[what].items()
        if authored(prim, name)
    }
    taken, *others = said or [""]
    for other in others:
        if not math.isclose(said[other], said[taken], rel_tol=1e-6):
            told = f"{other} is {said[other]:.6g}, {taken} {said[taken]:.6g} [SI units]: {taken} is taken"
            stage.report.remark(stage.where(prim), told)
    return said.get(taken, default)


def _spring(stage: Stage, prim: Any, dof: Dof) -> tuple[float, float]:
    """Return stiffness and rest of a spring."""
    stiffness, unit = _single(stage, prim, dof, "stiffness"), Units.of(stage, dof.is_angular)
    return stiffness, number(stage, prim, "mjc:springref", 0.0) * unit.position if stiffness else 0.0


def _state(stage: Stage, prim: Any, dof: Dof) -> float:
    """Return where the joint is said to stand at first."""
    unit = Units.of(stage, dof.is_angular).position
    return number(stage, prim, f"state:{dof.name}:physics:position", 0.0) * unit
