"""Shapes on bodies: what a robot looks like and what it collides with. They take no part in the dynamics.

Every geometry knows its volume and its inertia as a homogeneous solid, so that `Shape.inertia(density)` and
`inertia_of_shapes` give bodies theirs.

Source: the moments of box, sphere, cylinder, cone and ellipsoid stand in every table (Goldstein, Poole and Safko,
Classical Mechanics, chapter 5); the capsule is a cylinder and two hemispheres, whose moments move by the parallel-axis
theorem.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from cardan._algebra.by_identity import known_of_each
from cardan._algebra.checked_numbers import not_negative, numbers, positive, whole
from cardan._algebra.errors import MeshWarning, ParameterError, check_one_of, levels_inside
from cardan._algebra.explained import Explained
from cardan._algebra.scalar import is_finite
from cardan._algebra.spatial import SE3, Inertia, Matrix3, checked_pose
from cardan._robot.geometry.hull import hull_of_points, hulls_of_file, triangles_of_hull
from cardan._robot.geometry.mesh import integrals_of_triangles, mesh_integrals, surface_of_file, surface_of_heights
from cardan._robot.geometry.triangles import checked_triangles, is_closed, joins_of, sides_of, table_of, welded
from cardan._robot.records import Material


class _Aligned(Explained):
    """A solid whose axes are principal ones, and whose centre of mass is on z."""

    __slots__ = ()

    @property
    def volume(self) -> float:
        """The volume [m^3]."""
        raise NotImplementedError

    @property
    def com_height(self) -> float:
        """The z of the centre of mass [m]."""
        return 0.0

    def unit_moments(self) -> tuple[float, float, float]:
        """Return the principal moments about the centre of mass, for a mass of 1 kg [m^2]."""
        raise NotImplementedError

    def inertia(self, density: float) -> Inertia:
        """Return the inertia as a homogeneous solid of `density` [kg/m^3], in the geometry's own frame."""
        return self.inertia_of_mass(not_negative("density", density, "kg/m^3") * self.volume)

    def inertia_of_mass(self, mass: float) -> Inertia:
        """Return the inertia as a homogeneous solid of `mass` [kg], in the geometry's own frame."""
        moments = Matrix3.diagonal(*(mass * moment for moment in self.unit_moments()))
        return Inertia(mass, (0.0, 0.0, self.com_height), moments)


@dataclass(frozen=True, slots=True)
class _Bar(_Aligned):
    """A solid of a radius and a length along z."""

    radius: float
    length: float

    def __post_init__(self) -> None:
        for name in ("radius", "length"):
            value = not_negative(f"{name} of a {type(self).__name__.lower()}", getattr(self, name), "m")
            object.__setattr__(self, name, value)


class _Meshed(Explained):
    """A solid whose inertia is an integral over its surface."""

    __slots__ = ()

    def _at_density_1(self) -> Inertia:
        """Return the inertia at 1 kg/m^3, whose mass is the volume [m^3]."""
        raise NotImplementedError

    @property
    def volume(self) -> float:
        """The enclosed volume [m^3]."""
        return float(self._at_density_1().mass)

    def inertia(self, density: float) -> Inertia:
        """Return the inertia as a homogeneous solid of `density` [kg/m^3], in the geometry's own frame."""
        rho = not_negative("density", density, "kg/m^3")
        unit = self._at_density_1().parameters() if rho else [0.0] * 10  # what has no mass needs no volume
        return Inertia.from_parameters([rho * e for e in unit])

    def inertia_of_mass(self, mass: float) -> Inertia:
        """Return the inertia as a homogeneous solid of `mass` [kg], in the geometry's own frame."""
        unit = self._at_density_1()
        return Inertia.from_parameters([mass / unit.mass * e for e in unit.parameters()])


def _lengths(what: str, values: Sequence[float], expected: str) -> tuple[float, ...]:
    if np.shape(values) != (3,):
        raise ParameterError(what, got=values, expected=expected)
    return tuple(not_negative(what, e, "m") for e in values)


@dataclass(frozen=True, slots=True)
class Box(_Aligned):
    """A box centred on its frame; `size` = full side lengths along x, y, z [m].

    Attributes:
        size: full side lengths [m], three numbers.

    Examples:
        >>> round(cardan.description.Box((0.1, 0.2, 0.3)).inertia(1000.0).mass, 12)
        6.0
    """

    size: Sequence[float]

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", _lengths("size of a box", self.size, "three lengths [m]"))

    @property
    def volume(self) -> float:
        return math.prod(self.size)

    def unit_moments(self) -> tuple[float, float, float]:
        x, y, z = self.size
        return (y * y + z * z) / 12.0, (x * x + z * z) / 12.0, (x * x + y * y) / 12.0


@dataclass(frozen=True, slots=True)
class Sphere(_Aligned):
    """A sphere centred on its frame; radius [m].

    Attributes:
        radius: [m].

    Examples:
        >>> cardan.description.Sphere(0.1).inertia_of_mass(2.0).mass
        2.0
    """

    radius: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", not_negative("radius of a sphere", self.radius, "m"))

    @property
    def volume(self) -> float:
        return 4.0 / 3.0 * math.pi * self.radius * self.radius * self.radius

    def unit_moments(self) -> tuple[float, float, float]:
        moment = 0.4 * self.radius * self.radius
        return moment, moment, moment


@dataclass(frozen=True, slots=True)
class Ellipsoid(_Aligned):
    """An ellipsoid centred on its frame; `radii` = semi-axes along x, y, z [m].

    Attributes:
        radii: semi-axes [m], three numbers.

    Examples:
        >>> round(cardan.description.Ellipsoid((0.1, 0.2, 0.3)).volume, 6)
        0.025133
    """

    radii: Sequence[float]

    def __post_init__(self) -> None:
        object.__setattr__(self, "radii", _lengths("radii of an ellipsoid", self.radii, "three semi-axes [m]"))

    @property
    def volume(self) -> float:
        return 4.0 / 3.0 * math.pi * math.prod(self.radii)

    def unit_moments(self) -> tuple[float, float, float]:
        a, b, c = self.radii
        return (b * b + c * c) / 5.0, (a * a + c * c) / 5.0, (a * a + b * b) / 5.0


@dataclass(frozen=True, slots=True)
class Cylinder(_Bar):
    """A cylinder centred on its frame, its axis along z; radius and full length [m].

    Attributes:
        radius: [m].
        length: [m].

    Examples:
        >>> round(cardan.description.Cylinder(0.1, 0.5).volume, 6)
        0.015708
    """

    @property
    def volume(self) -> float:
        return math.pi * self.radius * self.radius * self.length

    def unit_moments(self) -> tuple[float, float, float]:
        rr = self.radius * self.radius
        across = (3.0 * rr + self.length * self.length) / 12.0
        return across, across, 0.5 * rr


@dataclass(frozen=True, slots=True)
class Cone(_Bar):
    """A cone, its axis along z, its tip above, its origin at half its height; radius of the base and height [m].

    Attributes:
        radius: of the base, at z = -length / 2 [m].
        length: from the base to the tip, at z = length / 2 [m].

    Examples:
        >>> cone = cardan.description.Cone(0.1, 0.4)
        >>> round(cone.volume, 6), cone.inertia_of_mass(1.0).com.z
        (0.004189, -0.1)
    """

    @property
    def volume(self) -> float:
        return math.pi / 3.0 * self.radius * self.radius * self.length

    @property
    def com_height(self) -> float:
        """The z of the centre of mass, a quarter of the height above the base [m]."""
        return -0.25 * self.length

    def unit_moments(self) -> tuple[float, float, float]:
        rr = self.radius * self.radius
        across = 0.15 * rr + 0.0375 * self.length * self.length
        return across, across, 0.3 * rr


@dataclass(frozen=True, slots=True)
class Capsule(_Bar):
    """A cylinder along z with hemispheres at its ends; radius and length of the cylinder [m].

    Attributes:
        radius: [m].
        length: of the cylinder between the hemispheres [m].

    Examples:
        >>> round(cardan.description.Capsule(0.1, 0.5).volume, 6)
        0.019897
    """

    @property
    def volume(self) -> float:
        return math.pi * self.radius * self.radius * (self.length + 4.0 / 3.0 * self.radius)

    def unit_moments(self) -> tuple[float, float, float]:
        """Return those of the cylinder and of the two hemispheres, weighted by their volumes [m^2].

        A hemisphere's centre of mass is 3/8 r above its base, so that both together have, across the axis,
        2/5 r^2 + l^2/4 + 3/8 r l.
        """
        r, length = self.radius, self.length
        whole = length + 4.0 / 3.0 * r
        # A capsule without extent has no volume to share; its moments are 0 either way.
        ends = (4.0 / 3.0 * r) / whole if whole > 0.0 else 0.0
        middle = 1.0 - ends
        across = middle * (3.0 * r * r + length * length) / 12.0
        across += ends * (0.4 * r * r + 0.25 * length * length + 0.375 * r * length)
        return across, across, (0.5 * middle + 0.4 * ends) * r * r


@dataclass(frozen=True, slots=True)
class Mesh(_Meshed):
    """A mesh file.

    Its volume and inertia are those of the file at `path`, scaled. The file is read every time: keep the answer.
    They raise `MissingExtraError` without the extra `mesh`, and `ParameterError` if there is no such file, it cannot be
    read, or its surface is not closed.

    Args:
        uri: as the description names it.
        path: the file it was resolved to; None if it was not found.
        scale: factors along x, y, z [-].

    Examples:
        >>> cardan.description.Mesh("link.stl", scale=(0.001, 0.001, 0.001)).path
    """

    uri: str
    path: str | None = None
    scale: Sequence[float] = (1.0, 1.0, 1.0)

    def __post_init__(self) -> None:
        if np.shape(self.scale) != (3,) or not all(map(is_finite, self.scale)):
            raise ParameterError("scale of a mesh", got=self.scale, expected="three finite numbers, along x, y and z")
        object.__setattr__(self, "scale", tuple(float(s) for s in self.scale))

    def _at_density_1(self) -> Inertia:
        return mesh_integrals(self.uri, self.path, self.scale)


@dataclass(frozen=True, slots=True, repr=False)
class Hull(_Meshed):
    """The convex hull of points: what a mesh collides as.

    Its volume and inertia need the extra `mesh`, for qhull; contact does not.

    Args:
        vertices: [m], at least one point; they may lie in a plane or on a line. They are copied.
        error: how far the shape it stands for may reach beyond it [m].

    Attributes:
        mean: of its vertices [m].
        low: a corner of the box about it [m]; `high` is the opposite one.

    Examples:
        >>> corner = cardan.description.Hull([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)])
        >>> corner
        Hull(4 vertices)
        >>> round(corner.volume, 12), corner.surface()[1].shape
        (0.166666666667, (4, 3))
    """

    vertices: Sequence[Sequence[float]]
    error: float = 0.0
    mean: tuple[float, ...] = field(init=False, compare=False)
    low: tuple[float, ...] = field(init=False, compare=False)
    high: tuple[float, ...] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        what, expected = "vertices of a hull", "at least one point of three finite numbers [m]"
        try:
            rows = tuple(tuple(map(float, vertex)) for vertex in self.vertices)
        except (TypeError, ValueError):
            raise ParameterError(what, got=self.vertices, expected=expected) from None
        if not rows or any(len(row) != 3 or not all(map(is_finite, row)) for row in rows):
            raise ParameterError(what, got=rows[:4], expected=expected)
        object.__setattr__(self, "vertices", rows)
        object.__setattr__(self, "error", not_negative("error of a hull", self.error, "m"))
        columns = list(zip(*rows, strict=True))
        object.__setattr__(self, "mean", tuple(sum(own) / len(rows) for own in columns))
        object.__setattr__(self, "low", tuple(map(min, columns)))
        object.__setattr__(self, "high", tuple(map(max, columns)))

    @staticmethod
    def of(shape: Mesh | Any, vertices: int | None = None, error: float | None = None) -> Hull:
        """Return the convex hull of a mesh or of points, thinned.

        Vertices are added until no point is farther outside than `error`, or there are `vertices`. What is left outside
        is the hull's `error`. The size is the diagonal of the box about the points.

        Args:
            shape: a `Mesh`, or points of shape (n, 3) [m].
            vertices: the most, at least 4; by default 64, or as many as it takes (of a ball 120) for an error of
                1 mm or 1 % of the size, whichever is more.
            error: how far a point may be outside [m]; by default 1 mm or 1 % of the size, whichever is less. What 64
                vertices do not reach takes `vertices`, too.

        Raises:
            MissingExtraError: without the extra `mesh`.
            ParameterError: for a mesh that cannot be read, or points that are not finite or not of three numbers.

        Examples:
            >>> cardan.description.Hull.of([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0.2, 0.2, 0.2]])
            Hull(4 vertices)
        """
        if isinstance(shape, Mesh):
            (found,) = hulls_of_file(shape.uri, shape.path, shape.scale, vertices, error)
        else:
            found = hull_of_points(shape, vertices, error)
        return Hull(found.vertices.tolist(), found.error)

    @staticmethod
    def cone(radius: float, length: float, sides: int = 32) -> Hull:
        """Return a cone as a hull of so many sides, its axis along z, its origin at half its height.

        Args:
            radius: of the base, at z = -length / 2 [m].
            length: from the base to the tip [m].
            sides: of the base, at least 3; what is rounder than that is the hull's `error`.

        Examples:
            >>> cardan.description.Hull.cone(0.1, 0.2)
            Hull(33 vertices, error=0.000482)
        """
        r, h = not_negative("radius of a cone", radius, "m"), not_negative("length of a cone", length, "m")
        turn = 2.0 * math.pi / sides
        base = [(r * math.cos(turn * k), r * math.sin(turn * k), -0.5 * h) for k in range(sides)]
        return Hull([*base, (0.0, 0.0, 0.5 * h)], r * (1.0 - math.cos(0.5 * turn)))

    @staticmethod
    def parts(
        shape: Mesh, concavity: float = 0.05, vertices: int | None = None, error: float | None = None
    ) -> tuple[Hull, ...]:
        """Return convex hulls that fill a mesh together, hollows left out, by CoACD (extra `decompose`).

        Args:
            shape: what has hollows. It is cut within seconds or minutes; the parts of a file are kept on disk.
            concavity: [-] how far a part's surface may be from its hull, about, in parts of half the mesh's largest
                extent; from 0.01 to 1.
            vertices: the most that a hull has, at least 4; by default as `Hull.of`.
            error: how far a part may be outside of its hull [m].

        Raises:
            MissingExtraError: without the extras `mesh` and `decompose`.
            ParameterError: for a mesh that cannot be read, or another concavity.

        Examples:
            >>> tray = cardan.description.Mesh("tray.stl", "tray.stl")  # of a floor and four walls
            >>> len(cardan.description.Hull.parts(tray, 0.05))  # doctest: +SKIP
            5
        """
        found = hulls_of_file(shape.uri, shape.path, shape.scale, vertices, error, concavity)
        return tuple(Hull(part.vertices.tolist(), part.error) for part in found)

    def __repr__(self) -> str:
        return f"Hull({len(self.vertices)} vertices{f', error={self.error:.3g}' if self.error else ''})"

    def surface(self) -> tuple[Any, Any]:
        """Return the closed surface: vertices [m], shape (n, 3), and triangles, shape (m, 3), facing outwards.

        Raises:
            MissingExtraError: without the extra `mesh`.
        """
        return np.array(self.vertices), triangles_of_hull(np.array(self.vertices))

    def _at_density_1(self) -> Inertia:
        vertices, triangles = self.surface()
        return integrals_of_triangles(vertices[triangles], "hull")


@dataclass(frozen=True, slots=True)
class Plane(Explained):
    """A half space, for collision: solid where z < 0 in its frame.

    Throughout:
        density: 0 [kg/m^3].
        mass: 0 [kg].

    Examples:
        >>> ground = cardan.description.Plane()
        >>> ground.inertia(0.0).mass, ground.inertia_of_mass(0.0).mass
        (0.0, 0.0)
    """

    @property
    def volume(self) -> float:
        """Infinite [m^3]."""
        return math.inf

    def inertia(self, density: float) -> Inertia:
        """Return that of nothing; raise `ParameterError` unless the density is 0."""
        return self.inertia_of_mass(math.inf if not_negative("density", density, "kg/m^3") > 0.0 else 0.0)

    def inertia_of_mass(self, mass: float) -> Inertia:
        """Return that of nothing.

        Raises:
            ParameterError: unless the mass is 0: a half space has no finite extent.
        """
        if mass != 0.0:
            raise ParameterError("mass of a half space", got=mass, expected="0: it has no finite extent")
        return Inertia.zero()


@dataclass(frozen=True, slots=True, weakref_slot=True, repr=False)
class HeightField(_Meshed):
    """Terrain: heights over a rectangle in the x-y plane of its frame, solid down to a level base.

    Between the heights the surface is two triangles a cell, which share the diagonal from the cell's corner of least x
    and y. The frame's origin is the middle of the rectangle; heights are measured from its z = 0.

    Args:
        heights: [m], at least 2 rows of at least 2, evenly spread: `heights[i][j]` is at y = (i / (rows - 1) - 1/2)
            `size[1]` and x = (j / (columns - 1) - 1/2) `size[0]`. They are copied.
        size: full side lengths along x and y [m], both > 0.
        thickness: of the matter below the lowest height [m], > 0.

    Examples:
        >>> ramp = cardan.description.HeightField([[0.0, 1.0], [0.0, 1.0]], size=(2.0, 3.0), thickness=0.5)
        >>> ramp
        HeightField(2 x 2 heights, 0 to 1 m, size=(2.0, 3.0), thickness=0.5)
        >>> round(ramp.volume, 12), round(ramp.inertia(1000.0).mass, 9), round(ramp.inertia_of_mass(2.0).com.x, 9)
        (6.0, 6000.0, 0.166666667)
        >>> vertices, triangles = ramp.surface()
        >>> vertices.shape, triangles.shape
        ((8, 3), (12, 3))
    """

    heights: Sequence[Sequence[float]]
    size: Sequence[float]
    thickness: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "heights", _rows(self.heights))
        expected = "two finite lengths > 0, x and y [m]"
        size = numbers("size of a height field", self.size, expected, lambda s: 0.0 < s < math.inf, count=2)
        object.__setattr__(self, "size", size)
        object.__setattr__(self, "thickness", positive("thickness of a height field", self.thickness, "m"))

    # A terrain may have a million heights: the text shows their number and range.
    def __repr__(self) -> str:
        rows, columns = len(self.heights), len(self.heights[0])
        low, high = self.lowest, self.lowest + self.relief
        head = f"HeightField({rows} x {columns} heights, {low:g} to {high:g} m"
        return f"{head}, size={self.size!r}, thickness={self.thickness!r})"

    @property
    def lowest(self) -> float:
        """The lowest height [m]; the base is `thickness` below."""
        return min(map(min, self.heights))

    @property
    def relief(self) -> float:
        """How far the highest height is above the lowest [m]."""
        return max(map(max, self.heights)) - self.lowest

    def surface(self) -> tuple[Any, Any]:
        """Return the closed surface: vertices [m], shape (n, 3), and triangles, shape (m, 3), facing outwards."""
        return surface_of_heights(self.heights, self.size, self.lowest - self.thickness)

    def _at_density_1(self) -> Inertia:
        vertices, triangles = self.surface()
        with np.errstate(over="ignore", invalid="ignore"):  # what is too large for a number is refused there
            return integrals_of_triangles(vertices[triangles], "height field")


@dataclass(frozen=True, slots=True, weakref_slot=True, repr=False)
class TriangleMesh(_Meshed):
    """Ground of triangles, fixed in the world: stairs, a bowl, a scan. It collides as its triangles, not as a hull.

    What is in front of a triangle is outside: its corners run counter-clockwise seen from there. The surface may be
    open; then it has no volume. Triangles without area take no part.

    Args:
        vertices: [m], shape (n, 3). They are copied.
        triangles: numbers of vertices, shape (m, 3), 1 to 2^18 rows.

    Warns:
        MeshWarning: if neighbours face different ways.

    Examples:
        >>> corners = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0.5)]
        >>> cardan.description.TriangleMesh(corners, [(0, 1, 2), (0, 2, 3)])
        TriangleMesh(4 vertices, 2 triangles)
    """

    vertices: Sequence[Sequence[float]]
    triangles: Sequence[Sequence[int]]

    def __post_init__(self) -> None:
        vertices, triangles = checked_triangles(self.vertices, self.triangles)
        object.__setattr__(self, "vertices", vertices)
        object.__setattr__(self, "triangles", triangles)
        turned = joins_of(sides_of(welded(*self.surface())[1])).turned
        if turned:
            warnings.warn(MeshWarning(repr(self), turned), stacklevel=levels_inside())

    @staticmethod
    def of(shape: Mesh | HeightField | Hull) -> TriangleMesh:
        """Return the triangles of a mesh file, scaled, or of another shape's surface.

        Args:
            shape: a `Mesh`, a `HeightField` with its sides and base, or a `Hull`.

        Raises:
            MissingExtraError: for a mesh, without the extra `mesh`.
            ParameterError: for a mesh that cannot be read.

        Examples:
            >>> ramp = cardan.description.HeightField([[0.0, 1.0], [0.0, 1.0]], size=(2.0, 3.0), thickness=0.5)
            >>> cardan.description.TriangleMesh.of(ramp)
            TriangleMesh(8 vertices, 12 triangles)
        """
        if not isinstance(shape, Mesh):
            return TriangleMesh(*shape.surface())
        surface = surface_of_file(shape.uri, shape.path)
        is_mirrored = math.prod(shape.scale) < 0.0
        triangles = np.asarray(surface.faces)[:, :: -1 if is_mirrored else 1]
        return TriangleMesh((np.asarray(surface.vertices) * shape.scale).tolist(), triangles.tolist())

    def __repr__(self) -> str:
        return f"TriangleMesh({len(self.vertices)} vertices, {len(self.triangles)} triangles)"

    def __content__(self) -> Any:
        return self.surface()  # to go through rows of Python's numbers takes a hundred times as long

    def surface(self) -> tuple[Any, Any]:
        """Return the vertices [m], shape (n, 3), and the triangles, shape (m, 3), both read-only.

        Examples:
            >>> slope = cardan.description.TriangleMesh([(0, 0, 0), (1, 0, 0), (0, 1, 1)], [(0, 1, 2)])
            >>> slope.surface()[1].tolist()
            [[0, 1, 2]]
        """
        return _surface_of(self)

    def _at_density_1(self) -> Inertia:
        vertices, triangles = self.surface()
        if not is_closed(vertices, triangles):
            expected = "a closed surface, whose triangles all face outwards"
            raise ParameterError("triangle mesh", got=f"{self}, which is open", expected=expected)
        return integrals_of_triangles(vertices[triangles], "triangle mesh")


@known_of_each
def _surface_of(mesh: TriangleMesh) -> tuple[np.ndarray, np.ndarray]:
    found = np.array(mesh.vertices), np.array(mesh.triangles)
    for array in found:
        array.setflags(write=False)
    return found


def _rows(heights: Any) -> tuple[tuple[float, ...], ...]:
    """Return heights as tuples of floats, or raise `ParameterError`."""
    what, expected = "heights of a height field", "at least 2 rows of as many numbers each, at least 2 [m]"
    array = table_of(what, heights, "fiu", expected, lambda rows, columns: min(rows, columns) >= 2)
    with np.errstate(over="ignore", invalid="ignore"):
        # Heights that are finite may differ by more than the largest float; the difference is what is computed with.
        array = array.astype(float)
        relief = np.ptp(array)
    if not np.isfinite(relief):
        where = tuple(map(int, np.argwhere(~np.isfinite(array))[0])) if not np.isfinite(array).all() else None
        got = f"a difference of {relief}" if where is None else f"{array[where]} in row {where[0]}, column {where[1]}"
        raise ParameterError(what, got=got, expected="finite numbers, of finite differences [m]")
    return tuple(map(tuple, array.tolist()))


Geometry = Box | Sphere | Ellipsoid | Cylinder | Cone | Capsule | Mesh | Hull | Plane | HeightField | TriangleMesh
GROUNDS = (Plane, HeightField, TriangleMesh)
"""What has no middle: half spaces and surfaces."""
ALL_BITS = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Shape(Explained):
    """A shape fixed on a body.

    Args:
        body: name of the body.
        role: `"visual"` or `"collision"`.
        geometry: what it is.
        pose: X_body_shape.
        name: its own name; may be empty.
        rgba: colour, four numbers in [0, 1], or None.
        material: name of the material it looks like; may be empty.
        texture: file name of the texture; may be empty.
        surface: what contact feels; by default that of `Material()`.
        group: what it is, as bits of 32.
        mask: groups it may touch: two shapes may touch if each one's group has a bit of the other's mask.
        margin: how far around it contact is felt [m].
        surface_velocity: how the surface runs over its body, as that of a conveyor belt, a track or a turntable does:
            a twist at the shape's origin in its axes, linear [m/s] and angular [rad/s]. What of it lies in the plane
            of a contact counts there. None for a surface at rest.
        density: of its matter [kg/m^3], where the description says it; the body's inertia is what counts.

    Throughout:
        other: a shape of another body.
        density: [kg/m^3].

    Examples:
        >>> from cardan.description import Shape, Sphere
        >>> ball = Shape("link", "collision", Sphere(0.1), pose=cardan.SE3(translation=(0.0, 0.0, 0.1)))
        >>> ball.may_touch(ball), round(ball.inertia(1000.0).mass, 3)
        (True, 4.189)
    """

    body: str
    role: Literal["visual", "collision"]
    geometry: Geometry
    pose: SE3 = field(default_factory=SE3.identity)
    name: str = ""
    rgba: Sequence[float] | None = None
    material: str = ""
    texture: str = ""
    surface: Material | None = None
    group: int = 1
    mask: int = ALL_BITS
    margin: float = 0.0
    density: float | None = None
    surface_velocity: Sequence[float] | None = None

    def __post_init__(self) -> None:
        check_one_of("role of a shape", self.role, ("visual", "collision"))
        if not isinstance(self.geometry, Geometry):
            expected = "a geometry: cardan.description.Box((0.1, 0.1, 0.1)), Sphere(0.1), Mesh(file), ..."
            raise ParameterError(f"geometry of a shape of {self.body!r}", got=self.geometry, expected=expected)
        object.__setattr__(self, "pose", checked_pose(f"pose of a shape of {self.body!r}", self.pose))
        if self.rgba is not None:
            expected = "four numbers in [0, 1]"
            rgba = numbers("colour of a shape", self.rgba, expected, lambda c: 0.0 <= c <= 1.0, count=4)
            object.__setattr__(self, "rgba", rgba)
        if not isinstance(self.material, str):
            hint = "What contact feels is `surface`."
            expected = "a text: the name of a look"
            what = f"material of a shape of {self.body!r}"
            raise ParameterError(what, got=self.material, expected=expected, hint=hint)
        if self.surface is not None and not isinstance(self.surface, Material):
            hint = "The name of a look is `material`."
            expected = "a cardan.Material or None"
            raise ParameterError(f"surface of a shape of {self.body!r}", got=self.surface, expected=expected, hint=hint)
        object.__setattr__(self, "margin", not_negative(f"margin of a shape of {self.body!r}", self.margin, "m"))
        if self.surface_velocity is not None:
            expected = "six finite numbers: linear [m/s] and angular velocity [rad/s]"
            what = f"surface velocity of a shape of {self.body!r}"
            twist = numbers(what, self.surface_velocity, expected, count=6)
            object.__setattr__(self, "surface_velocity", twist)
        if self.density is not None:
            object.__setattr__(self, "density", not_negative("density", self.density, "kg/m^3"))
        for key in ("group", "mask"):
            hint = "It is a number of 32 bits."
            bits = whole(f"{key} of a shape of {self.body!r}", getattr(self, key), 0, ALL_BITS, hint)
            object.__setattr__(self, key, bits)

    def may_touch(self, other: Shape) -> bool:
        """Return whether each one's group is in the other's mask."""
        return bool(self.group & other.mask) and bool(other.group & self.mask)

    def inertia(self, density: float) -> Inertia:
        """Return the inertia as a homogeneous solid of `density` [kg/m^3], in body axes."""
        return self.pose @ self.geometry.inertia(density)


def inertia_of_shapes(shapes: Iterable[Shape], density: float) -> Inertia:
    """Return the inertia of homogeneous solids on one body, in body axes.

    Of a body with both, only the collision shapes count, not the visual ones, which show the same matter again. Where
    shapes overlap, the matter counts twice.

    Args:
        shapes: shapes of one body.
        density: [kg/m^3].

    Raises:
        ParameterError: if there is no shape, or they are on several bodies; for a mesh also what `Mesh.inertia` raises.

    Examples:
        >>> from cardan.description import Shape, Sphere, inertia_of_shapes
        >>> round(inertia_of_shapes([Shape("link", "visual", Sphere(0.1))], 1000.0).mass, 3)
        4.189
    """
    shapes = list(shapes)
    bodies = sorted({shape.body for shape in shapes})
    if len(bodies) != 1:
        raise ParameterError("shapes to have an inertia", got=bodies or "none", expected="shapes of one body")
    # Visual shapes show the same matter again: both together would count it twice.
    solid = [shape for shape in shapes if shape.role == "collision"] or shapes
    total = Inertia.zero()
    for shape in solid:
        total = total + shape.inertia(density)
    return total


def collision_mesh(shape: Shape) -> Mesh | None:
    """Return the mesh of a shape for collision, which a world takes as its hull; None for every other shape."""
    return shape.geometry if shape.role == "collision" and isinstance(shape.geometry, Mesh) else None
