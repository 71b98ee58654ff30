"""Materials bound to geometries: what contact feels, and colours.

A binding for physics (`material:binding:physics`) goes before one for all purposes, one at the prim before one above.
"""

from __future__ import annotations

import math
from typing import Any

from cardan._reach.formats.usd.scene import schemas
from cardan._reach.formats.usd.stage import Stage
from cardan._reach.formats.usd.values import authored, non_negative, number, numbers_of, targets, value
from cardan._robot.records import Material

Colour = tuple[float, float, float, float] | None


def physics_material(stage: Stage, prim: Any) -> tuple[Material | None, float | None]:
    """Return the surface of a geometry and the density of its matter [kg/m^3]; None for what is not said."""
    bound = _bound(prim, "material:binding:physics") or _bound(prim, "material:binding")
    if bound is None or "PhysicsMaterialAPI" not in schemas(bound):
        return None, None
    static, dynamic = (non_negative(stage, bound, f"physics:{k}Friction", 0.0) for k in ("static", "dynamic"))
    if authored(bound, "physics:staticFriction") and static != dynamic:
        told = f"physics:staticFriction is {static:g}; cardan has one coefficient, the dynamic one, {dynamic:g}"
        stage.report.remark(stage.where(bound), told)
    restitution = non_negative(stage, bound, "physics:restitution", 0.0)
    if restitution > 1.0:
        stage.report.error(stage.where(bound), f"physics:restitution is {restitution:g}, expected a number in [0, 1]")
        restitution = 1.0
    density = number(stage, bound, "physics:density", 0.0) * stage.mass / stage.length**3
    return Material(friction=dynamic, restitution=restitution), density if density > 0.0 else None


def _bound(prim: Any, name: str) -> Any | None:
    """Return the material the nearest prim, from this one upwards, is bound to."""
    while prim and not prim.IsPseudoRoot():
        paths = targets(prim, name)
        if paths:
            material = prim.GetStage().GetPrimAtPath(paths[0])
            return material if material else None
        prim = prim.GetParent()
    return None


def colour(prim: Any) -> tuple[Colour, str]:
    """Return the colour of a geometry, and the name of the material it looks like."""
    bound = _bound(prim, "material:binding")
    name = bound.GetName() if bound is not None else ""
    shown = _first(prim, "primvars:displayColor")
    if not shown and bound is not None:
        return _of_shader(bound), name
    return _rgba(shown, _first(prim, "primvars:displayOpacity")), name


def _first(prim: Any, name: str) -> list[float]:
    """Return the numbers of the first entry of a primvar."""
    found = value(prim, name)
    return numbers_of(found[0]) if hasattr(found, "__getitem__") and len(found) else []


def _of_shader(material: Any) -> Colour:
    for shader in material.GetChildren():
        diffuse = numbers_of(value(shader, "inputs:diffuseColor"))
        if diffuse:
            return _rgba(diffuse, numbers_of(value(shader, "inputs:opacity")))
    return None


def _rgba(rgb: list[float], opacity: list[float]) -> Colour:
    """Return a colour within what can be shown; None for what is none. What is opaque need not say so."""
    numbers = [*rgb, *(opacity or [1.0])]
    if len(rgb) != 3 or len(numbers) != 4 or any(map(math.isnan, numbers)):
        return None
    r, g, b, a = (min(max(e, 0.0), 1.0) for e in numbers)
    return r, g, b, a
