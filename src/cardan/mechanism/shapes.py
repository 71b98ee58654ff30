"""Shapes on bodies: what a robot looks like and what it collides with. They take no part in the dynamics."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Literal

from cardan.errors import ParameterError
from cardan.model.description import checked_pose
from cardan.spatial import SE3


def _positive(what: str, value: float) -> float:
    if not isinstance(value, Real) or not math.isfinite(value) or value < 0.0:
        raise ParameterError(what, got=value, expected="a finite number >= 0 [m]")
    return float(value)


@dataclass(frozen=True, slots=True)
class Box:
    """A box centred on its frame; `size` = full side lengths along x, y, z [m]."""

    size: Sequence[float]

    def __post_init__(self) -> None:
        if len(self.size) != 3:
            raise ParameterError("size of a box", got=tuple(self.size), expected="three lengths [m]")
        object.__setattr__(self, "size", tuple(_positive("size of a box", s) for s in self.size))


@dataclass(frozen=True, slots=True)
class Sphere:
    """A sphere centred on its frame; radius [m]."""

    radius: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", _positive("radius of a sphere", self.radius))


@dataclass(frozen=True, slots=True)
class Cylinder:
    """A cylinder centred on its frame, its axis along z; radius and full length [m]."""

    radius: float
    length: float

    def __post_init__(self) -> None:
        for name in ("radius", "length"):
            object.__setattr__(self, name, _positive(f"{name} of a cylinder", getattr(self, name)))


@dataclass(frozen=True, slots=True)
class Capsule:
    """A cylinder along z with hemispheres at its ends; radius and length of the cylinder [m]."""

    radius: float
    length: float

    def __post_init__(self) -> None:
        for name in ("radius", "length"):
            object.__setattr__(self, name, _positive(f"{name} of a capsule", getattr(self, name)))


@dataclass(frozen=True, slots=True)
class Mesh:
    """A mesh file.

    Args:
        uri: as the description names it.
        path: the file it was resolved to; None if it was not found.
        scale: factors along x, y, z.
    """

    uri: str
    path: str | None = None
    scale: Sequence[float] = (1.0, 1.0, 1.0)

    def __post_init__(self) -> None:
        if len(self.scale) != 3 or not all(math.isfinite(s) for s in self.scale):
            raise ParameterError("scale of a mesh", got=tuple(self.scale), expected="three finite numbers")
        object.__setattr__(self, "scale", tuple(float(s) for s in self.scale))


Geometry = Box | Sphere | Cylinder | Capsule | Mesh


@dataclass(frozen=True, slots=True)
class Shape:
    """A shape fixed on a body.

    Args:
        body: name of the body.
        role: `"visual"` or `"collision"`.
        geometry: what it is.
        pose: X_body_shape.
        name: its own name; may be empty.
        rgba: colour, four numbers in [0, 1], or None.
        material: name of the material; may be empty.
        texture: file name of the texture; may be empty.
    """

    body: str
    role: Literal["visual", "collision"]
    geometry: Geometry
    pose: SE3 = field(default_factory=SE3.identity)
    name: str = ""
    rgba: Sequence[float] | None = None
    material: str = ""
    texture: str = ""

    def __post_init__(self) -> None:
        if self.role not in ("visual", "collision"):
            raise ParameterError("role of a shape", got=self.role, expected="'visual' or 'collision'")
        object.__setattr__(self, "pose", checked_pose(f"pose of a shape of {self.body!r}", self.pose))
        if self.rgba is not None:
            rgba = tuple(float(c) for c in self.rgba)
            if len(rgba) != 4 or not all(0.0 <= c <= 1.0 for c in rgba):
                raise ParameterError("colour of a shape", got=rgba, expected="four numbers in [0, 1]")
            object.__setattr__(self, "rgba", rgba)
