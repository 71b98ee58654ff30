"""Prims of USD as text.

USD's physics is in single precision. A number that this rounds stands a second time in double, under the same name
behind `cardan:`, which other programs skip. It counts for the reader while it rounds to the first (`values.value`), so
that a file may be edited.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from cardan._algebra.spatial import SE3, Matrix3
from cardan._algebra.spatial.rotations import quaternion_xyzw_from_matrix
from cardan._reach.formats import written as W

Lines = list[str]
DOUBLE = {"float": "double", "point3f": "double3", "float3": "double3", "vector3f": "double3", "quatf": "quatd"}
SI: Any = SimpleNamespace(mass=1.0, length=1.0, mujoco_angle=math.pi / 180.0)  # the stage's units


def number(x: float) -> str:
    return repr(float(x) + 0.0)


def row(numbers: Sequence[float]) -> str:
    return f"({', '.join(map(number, numbers))})" if len(numbers) > 1 else number(numbers[0])


def single(kind: str, name: str, *numbers: float) -> Lines:
    """Return an attribute in single precision, and a second one in double where that rounds."""
    with np.errstate(over="ignore"):
        is_exact = all(float(np.float32(e)) == e for e in numbers)
    exactly = [] if is_exact else [f"custom {DOUBLE[kind]} cardan:{name} = {row(numbers)}"]
    return [f"{kind} {name} = {row(numbers)}", *exactly]


def prim(head: str, applied: Iterable[str], *inside: Lines) -> Lines:
    names = ", ".join(f'"{name}"' for name in dict.fromkeys(applied))
    schemas = f" (prepend apiSchemas = [{names}])" if names else ""
    return [head + schemas, "{", *(f"    {line}" for lines in inside for line in lines), "}"]


def prim_names(names: Iterable[str], taken: Iterable[str] = ()) -> dict[str, str]:
    """Return names as USD's prims may have them, each once, by the names that they stand for."""
    found, used = dict[str, str](), {*taken}
    for name in names:
        plain = re.sub(r"\W", "_", name, flags=re.ASCII)
        plain = plain if re.match(r"[A-Za-z_]", plain) else f"_{plain}"
        while plain in used:
            plain += "_"
        found[name] = plain
        used.add(plain)
    return found


def called(plain: str, name: str) -> Lines:
    """Return what says how a prim is called, where its own name does not."""
    return [] if plain == name else [f"custom string cardan:name = {json.dumps(name, ensure_ascii=False)}"]


def quaternion(R: Matrix3) -> tuple[float, ...]:
    x, y, z, w = quaternion_xyzw_from_matrix(R)
    return w, x, y, z


def placed(pose: SE3, scale: Sequence[float] = ()) -> Lines:
    lines = [
        f"double3 xformOp:translate = {row(tuple(pose.translation))}",
        f"quatd xformOp:orient = {row(quaternion(pose.rotation))}",
    ]
    order = ["xformOp:translate", "xformOp:orient"]
    if scale:
        lines.append(f"double3 xformOp:scale = {row(scale)}")
        order.append("xformOp:scale")
    return [*lines, f"uniform token[] xformOpOrder = {json.dumps(order)}"]


def in_unit(unit: float, x: float) -> float:
    """Return the number of units that the reader takes for x, if there is one."""
    return next(iter(W.exact(x / unit, lambda e: e * unit == x)), x / unit) if math.isfinite(x) else x
