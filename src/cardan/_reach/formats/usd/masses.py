"""Mass, centre of mass and inertia of a rigid body, by the precedence of UsdPhysics' MassAPI.

What the body says itself counts: mass before density, centre and inertia each for themselves. What it leaves out is
computed from its colliders, each of which has its own mass, or else a density: its own, the body's, its material's, or
1000 kg/m^3; and its own centre and inertia, where it states them. If the body has a mass, theirs is scaled to it.

Source: UsdPhysics, "Mass properties" (openusd.org, rigid body physics proposal), and its ComputeMassProperties.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from cardan._algebra.errors import CardanError
from cardan._algebra.spatial import Inertia, Matrix3, Scalar, Symmetric3, Vector3
from cardan._reach.formats.usd.shapes import Solid, mesh_inertia, physics_material
from cardan._reach.formats.usd.stage import Posed, Stage
from cardan._reach.formats.usd.values import authored, number, numbers_of, rotation, value, vector
from cardan._robot.geometry.shapes import Mesh, Plane

WATER = 1000.0
"""Density where nothing says it [kg/m^3], as in UsdPhysics."""


def body_inertia(stage: Stage, body: Any, posed: Posed, solids: Sequence[Solid]) -> Inertia | None:
    """Return the inertia of a body in its axes; None where nothing says it.

    Args:
        stage: where it is.
        body: the prim.
        posed: where it is.
        solids: its geometries that collide.
    """
    mass = _positive(stage, body, "physics:mass") * stage.mass
    centre, tensor = _centre(stage, body, posed), _tensor(stage, body)
    if mass > 0.0 and centre is not None and tensor is not None:
        return _checked(stage, body, Inertia(mass, centre, tensor))
    density = _positive(stage, body, "physics:density") * stage.mass / stage.length**3
    matter = _matter(stage, posed, solids, density)
    if mass == 0.0 and matter.mass == 0.0:
        stage.report.doubt(stage.where(body), "has no mass, and no collider of which a mass could be computed")
        return None
    if matter.mass > 0.0 and mass > 0.0:
        matter = Inertia.from_parameters([mass / matter.mass * e for e in matter.parameters()])
    elif matter.mass == 0.0 and tensor is None:
        told = "has a mass, but no physics:diagonalInertia, nor a collider of which it could be computed: it is 0"
        stage.report.doubt(stage.where(body), told)
    return _checked(stage, body, _restated(mass or matter.mass, centre, tensor, matter))


def _restated(mass: Scalar, centre: Vector3 | None, tensor: Symmetric3 | None, matter: Inertia) -> Inertia:
    """Return the inertia of what states some of it. A centre alone is a point about which the matter is not moved."""
    if centre is None:
        centre = matter.com
    elif tensor is None:
        tensor = matter.inertia_at_com + Symmetric3.point(centre - matter.com) * matter.mass
    return Inertia(mass, centre, matter.inertia_at_com if tensor is None else tensor)


def _checked(stage: Stage, body: Any, inertia: Inertia) -> Inertia | None:
    if not all(math.isfinite(e) for e in inertia.parameters()):
        stage.report.error(stage.where(body), "its inertia is too large for a number; are the units right?")
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        faults = inertia.faults(1e-5)  # diagonals are float32
    for fault in faults:
        stage.report.doubt(stage.where(body), fault)
    return inertia


def _positive(stage: Stage, prim: Any, name: str) -> float:
    """Return a number that means something if it is positive, or 0; negative ones are errors."""
    found = number(stage, prim, name, 0.0)
    if found < 0.0:
        stage.report.error(stage.where(prim), f"{name} is {found:g}, expected a number > 0, or 0 to have it computed")
    return max(found, 0.0)


def _centre(stage: Stage, body: Any, posed: Posed) -> Vector3 | None:
    """Return the centre of mass in body axes; None where it is to be computed, which is written as -inf."""
    if not authored(body, "physics:centerOfMass") or numbers_of(value(body, "physics:centerOfMass")) == [-math.inf] * 3:
        return None
    local = vector(stage, body, "physics:centerOfMass", (0.0, 0.0, 0.0))
    return Vector3(*(float(e) for e in posed.stretch @ np.array(local)))


def _tensor(stage: Stage, body: Any) -> Symmetric3 | None:
    """Return the inertia about the centre of mass in body axes; None where it is to be computed, written as 0."""
    moments = vector(stage, body, "physics:diagonalInertia", (0.0, 0.0, 0.0))
    if not any(moments):
        return None
    given = value(body, "physics:principalAxes")
    is_zero = not any((getattr(given, "real", 1.0), *getattr(given, "imaginary", ())))  # that means it is not said
    R = Matrix3.identity() if is_zero else rotation(stage, body, "physics:principalAxes")
    unit = stage.mass * stage.length**2
    return Symmetric3.of(Matrix3.diagonal(*(unit * e for e in moments))).rotated(R)


def _matter(stage: Stage, posed: Posed, solids: Sequence[Solid], density: float) -> Inertia:
    """Return the inertia of what collides, in body axes."""
    total = Inertia.zero()
    for solid in solids:
        if isinstance(solid.geometry, Plane):
            continue
        with stage.report.blamed(stage.where(solid.prim)):
            total = total + _of_solid(stage, posed, solid, density)
    return total


def _of_solid(stage: Stage, posed: Posed, solid: Solid, density: float) -> Inertia:
    own_mass = _positive(stage, solid.prim, "physics:mass") * stage.mass
    own = _positive(stage, solid.prim, "physics:density") * stage.mass / stage.length**3
    unit = _of_density_1(stage, solid)
    if unit is None or unit.mass <= 0.0:
        return Inertia.zero()
    rho = own_mass / unit.mass if own_mass else own or density or physics_material(stage, solid.prim)[1] or WATER
    matter, own_axes = Inertia.from_parameters([rho * e for e in unit.parameters()]), stage.pose(solid.prim)
    if own_axes is None:
        return Inertia.zero()
    at = posed.pose.inverse() @ own_axes.pose
    centre, tensor = _centre(stage, solid.prim, own_axes), _tensor(stage, solid.prim)
    if centre is None and tensor is None:
        return solid.pose @ matter
    return at @ _restated(matter.mass, centre, tensor, at.inverse() @ solid.pose @ matter)


def _of_density_1(stage: Stage, solid: Solid) -> Inertia | None:
    if not isinstance(solid.geometry, Mesh):
        return solid.geometry.inertia(1.0)
    try:
        return mesh_inertia(stage, solid.prim, solid.geometry.scale)
    except CardanError as error:
        stage.report.doubt(stage.where(solid.prim), f"its mass cannot be computed and is left out: {error}")
        return None
