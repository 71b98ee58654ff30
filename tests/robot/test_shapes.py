"""Volumes and inertias of shapes: against quadrature, known formulas, and meshes of the same solids."""

import math
import sys
from itertools import pairwise

import numpy as np
import pytest

import cardan
from cardan._robot.geometry.mesh import integrals_of_triangles
from cardan._robot.geometry.support import reach
from cardan.description import (
    Box,
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
    HeightField,
    Mesh,
    Shape,
    Sphere,
    inertia_of_shapes,
)
from cardan.errors import MissingExtraError, ParameterError
from cardan.spatial import SE3
from cardan.spatial.rotations import matrix_from_zyx

SOLIDS = (
    Box((0.3, 0.5, 0.7)),
    Sphere(0.4),
    Ellipsoid((0.3, 0.5, 0.2)),
    Cylinder(0.3, 0.8),
    Cone(0.3, 0.8),
    Capsule(0.3, 0.8),
)
POSE = SE3(matrix_from_zyx((0.4, -0.8, 1.3)), (0.2, -0.3, 0.5))


def slices(solid, z):
    """Half axes (a, b) of the cross section at height z, and whether it is a rectangle instead of an ellipse."""
    match solid:
        case Box(size=(x, y, _)):
            return x / 2, y / 2, True
        case Sphere(radius=r):
            return (math.sqrt(r * r - z * z),) * 2 + (False,)
        case Ellipsoid(radii=(a, b, c)):
            s = math.sqrt(1.0 - (z / c) ** 2)
            return a * s, b * s, False
        case Cylinder(radius=r):
            return r, r, False
        case Cone(radius=r, length=h):
            return (r * (0.5 - z / h),) * 2 + (False,)
        case Capsule(radius=r, length=h):
            over = max(abs(z) - h / 2, 0.0)
            return (math.sqrt(r * r - over * over),) * 2 + (False,)
    raise AssertionError(solid)


def integrated(solid):
    """Volume, moments z and (xx, yy, zz) by Gauss's rule over exact cross sections, piece by piece."""
    nodes, weights = np.polynomial.legendre.leggauss(200)
    half = {Box: lambda s: s.size[2] / 2, Sphere: lambda s: s.radius, Ellipsoid: lambda s: s.radii[2]}
    half |= {Cylinder: lambda s: s.length / 2, Cone: lambda s: s.length / 2, Capsule: lambda s: s.length / 2 + s.radius}
    top = half[type(solid)](solid)
    cuts = [-top, top] if not isinstance(solid, Capsule) else [-top, -solid.length / 2, solid.length / 2, top]
    volume, first, second = 0.0, 0.0, np.zeros(3)
    for low, high in pairwise(cuts):
        for node, weight in zip(nodes, weights, strict=True):
            z = (low + high) / 2 + node * (high - low) / 2
            a, b, rectangle = slices(solid, z)
            area = 4 * a * b if rectangle else math.pi * a * b
            spread = 3.0 if rectangle else 4.0  # of x^2 over a rectangle, an ellipse: a^2 / 3, a^2 / 4
            dV = area * weight * (high - low) / 2
            volume += dV
            first += dV * z
            second += dV * np.array([a * a / spread, b * b / spread, z * z])
    return volume, first, second


@pytest.mark.parametrize("solid", SOLIDS, ids=lambda s: type(s).__name__)
def test_closed_forms_are_the_integrals(solid):
    volume, first, second = integrated(solid)
    assert solid.volume == pytest.approx(volume, rel=1e-12)
    inertia = solid.inertia(1300.0)
    assert inertia.mass == pytest.approx(1300.0 * volume, rel=1e-12)
    assert isinstance(solid, Cone) or tuple(inertia.first_moment) == (0.0, 0.0, 0.0)
    np.testing.assert_allclose(tuple(inertia.first_moment), (0.0, 0.0, 1300.0 * first), rtol=1e-12, atol=1e-12)
    expected = 1300.0 * (second.sum() * np.eye(3) - np.diag(second))
    np.testing.assert_allclose(
        list(map(list, inertia.inertia_at_origin.matrix().rows())), expected, rtol=1e-12, atol=1e-12
    )
    of_mass = solid.inertia_of_mass(inertia.mass)
    np.testing.assert_allclose(of_mass.parameters(), inertia.parameters(), rtol=1e-15)
    assert inertia.faults() == []


def test_known_special_cases():
    ball = Sphere(0.4)
    for same in (Ellipsoid((0.4, 0.4, 0.4)), Capsule(0.4, 0.0)):
        np.testing.assert_allclose(same.inertia(7.0).parameters(), ball.inertia(7.0).parameters(), rtol=1e-14)
    thin = Capsule(1e-9, 2.0).inertia_of_mass(3.0)
    assert thin.inertia_at_com[0] == pytest.approx(3.0 * 4.0 / 12.0)
    for nothing in (
        Box((0.0, 0.0, 0.0)),
        Sphere(0.0),
        Ellipsoid((0.0, 0.0, 0.0)),
        Cylinder(0.0, 0.0),
        Cone(0.0, 0.0),
        Capsule(0.0, 0.0),
    ):
        assert nothing.inertia(1000.0).parameters() == (0.0,) * 10


def test_a_shape_s_inertia_is_in_body_axes():
    """By Monte Carlo: points of the posed box, weighted."""
    box = Box((0.3, 0.5, 0.7))
    rng = np.random.default_rng(0)
    local = rng.uniform(-0.5, 0.5, size=(400_000, 3)) * np.array(box.size)
    points = local @ np.array(POSE.rotation.rows()).T + np.array(tuple(POSE.translation))
    mass = 800.0 * box.volume
    second = mass * points.T @ points / len(points)
    inertia = Shape("b", "visual", box, POSE).inertia(800.0)
    J = np.array(inertia.inertia_at_origin.matrix().rows())
    np.testing.assert_allclose(J, np.trace(second) * np.eye(3) - second, atol=4e-3 * np.abs(J).max())
    np.testing.assert_allclose(tuple(inertia.com), tuple(POSE.translation), atol=1e-14)


def test_a_body_s_inertia_from_its_shapes():
    shapes = [
        Shape("b", "visual", Sphere(5.0)),  # shows the same matter as the collision shapes: does not count
        Shape("b", "collision", Box((0.2, 0.2, 0.2)), POSE),
        Shape("b", "collision", Capsule(0.1, 0.4)),
    ]
    total = inertia_of_shapes(shapes, 900.0)
    parts = shapes[1].inertia(900.0) + shapes[2].inertia(900.0)
    assert total == parts
    assert inertia_of_shapes(shapes[:1], 2.0) == shapes[0].inertia(2.0)
    m = cardan.Mechanism("m")
    m.add_body("b", total)
    assert m.bodies[0].inertia.mass == pytest.approx(900.0 * (0.008 + shapes[2].geometry.volume))


@pytest.mark.parametrize("density", [-1.0, math.nan, math.inf, "steel", None])
def test_densities_are_checked(density):
    for solid in (*SOLIDS, Mesh("a.stl")):
        with pytest.raises(ParameterError, match=r"density: got .*kg/m\^3"):
            solid.inertia(density)


def test_shapes_of_no_or_several_bodies_are_refused():
    with pytest.raises(ParameterError, match="'none'"):
        inertia_of_shapes([], 1.0)
    with pytest.raises(ParameterError, match=r"\['a', 'b'\]"):
        inertia_of_shapes([Shape(body, "visual", Sphere(1.0)) for body in "ab"], 1.0)


@pytest.mark.parametrize("radii", [(1.0, 2.0), (1.0, 2.0, -1.0), (1.0, math.nan, 1.0)])
def test_ellipsoids_are_checked(radii):
    with pytest.raises(ParameterError, match="radii of an ellipsoid"):
        Ellipsoid(radii)


# --- meshes ------------------------------------------------------------------------------------------------------


def box_triangles(size, centre=(0.0, 0.0, 0.0)):
    """The twelve triangles of a box, facing outwards."""
    triangles = []
    for axis in range(3):
        for side in (-0.5, 0.5):
            corners = np.zeros((4, 3))
            corners[:, axis] = side
            corners[:, (axis + 1) % 3] = (-0.5, 0.5, 0.5, -0.5)
            corners[:, (axis + 2) % 3] = (-0.5, -0.5, 0.5, 0.5)
            order = [(0, 1, 2), (0, 2, 3)] if side > 0 else [(0, 2, 1), (0, 3, 2)]
            triangles += [corners[list(o)] for o in order]
    return np.array(triangles) * np.asarray(size) + np.asarray(centre)


def write_obj(path, triangles):
    """Write triangles as an OBJ file, equal corners as one."""
    corners, index = np.unique(triangles.reshape(-1, 3), axis=0, return_inverse=True)
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in corners.tolist()]
    lines += [f"f {a} {b} {c}" for a, b, c in (index.reshape(-1, 3) + 1).tolist()]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Box(0.5),
        lambda: Ellipsoid(0.1),
        lambda: Mesh("a.stl", None, 0.001),
        lambda: HeightField([[0.0, 0.0], [0.0, 0.0]], 2.0, 0.1),
    ],
)
def test_one_number_in_place_of_a_size_is_refused(make):
    """What Python said of it was that a float has no len()."""
    with pytest.raises(ParameterError, match=r"got [\d.]+, expected (two|three)"):
        make()


def test_integrals_of_a_box_of_triangles():
    size, centre = (0.3, 0.5, 0.7), (40.0, -0.2, 0.3)
    found = integrals_of_triangles(box_triangles(size, centre))
    expected = cardan.SE3(translation=centre) @ Box(size).inertia(1.0)
    np.testing.assert_allclose(found.parameters(), expected.parameters(), rtol=1e-13, atol=1e-15)
    inside_out = integrals_of_triangles(box_triangles(size, centre)[:, ::-1])
    np.testing.assert_allclose(inside_out.parameters(), found.parameters(), rtol=1e-13)
    np.testing.assert_allclose(found.inertia_at_com, Box(size).inertia(1.0).inertia_at_com, rtol=1e-10, atol=1e-14)


def test_a_mesh_file_is_the_solid_it_shows(tmp_path):
    pytest.importorskip("trimesh", reason="needs the extra `mesh`")
    path = write_obj(tmp_path / "box.obj", box_triangles((1.0, 1.0, 1.0), (0.5, 0.0, 0.0)))
    for scale in ((0.3, 0.5, 0.7), (-0.3, 0.5, 0.7)):  # the second is mirrored
        mesh = Mesh("box.obj", path, scale)
        expected = cardan.SE3(translation=(0.5 * scale[0], 0.0, 0.0)) @ Box((0.3, 0.5, 0.7)).inertia(1200.0)
        assert mesh.volume == pytest.approx(0.105, rel=1e-12)
        np.testing.assert_allclose(mesh.inertia(1200.0).parameters(), expected.parameters(), rtol=1e-12, atol=1e-12)
        of_mass = mesh.inertia_of_mass(1200.0 * 0.105)
        np.testing.assert_allclose(of_mass.parameters(), expected.parameters(), rtol=1e-12, atol=1e-12)
    shape = Shape("b", "collision", Mesh("box.obj", path), POSE)
    np.testing.assert_allclose(
        inertia_of_shapes([shape], 2.0).parameters(), (POSE @ shape.geometry.inertia(2.0)).parameters()
    )


def test_a_mesh_of_a_sphere_tends_to_the_sphere(tmp_path):
    trimesh = pytest.importorskip("trimesh", reason="needs the extra `mesh`")
    errors = []
    for level in (2, 3, 4):
        file = tmp_path / f"{level}.stl"  # an STL has no shared corners: they are found again
        trimesh.creation.icosphere(subdivisions=level, radius=0.4).export(file)
        mesh, ball = Mesh("ball.stl", str(file)), Sphere(0.4)
        off = [
            mesh.volume / ball.volume - 1,
            mesh.inertia(5.0).inertia_at_com[0] / ball.inertia(5.0).inertia_at_com[0] - 1,
        ]
        errors.append(max(map(abs, off)))
    assert errors[-1] < 5e-3
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.05)
    assert errors[1] / errors[2] == pytest.approx(4.0, rel=0.05)


def test_a_seam_of_the_texture_is_no_hole(tmp_path):
    """Each face has corners of its own in the picture: twelve positions more than the box has, but no gap."""
    pytest.importorskip("trimesh", reason="needs the extra `mesh`")
    triangles = box_triangles((1.0, 2.0, 3.0))
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in triangles.reshape(-1, 3).tolist()]
    lines += [f"vt {k / 40!r} {k / 50!r}" for k in range(36)]
    lines += [f"f {k}/{k} {k + 1}/{k + 1} {k + 2}/{k + 2}" for k in range(1, 36, 3)]
    (tmp_path / "seams.obj").write_text("\n".join(lines) + "\n")
    assert Mesh("seams.obj", str(tmp_path / "seams.obj")).volume == pytest.approx(6.0)


def test_meshes_that_enclose_nothing_are_refused(tmp_path):
    pytest.importorskip("trimesh", reason="needs the extra `mesh`")
    box = box_triangles((1.0, 1.0, 1.0))
    turned = box.copy()
    turned[3] = turned[3][::-1]
    for name, triangles in {"open": box[:-1], "turned": turned}.items():
        with pytest.raises(ParameterError, match=rf"mesh '{name}.obj': .*triangles that leave the inside open"):
            Mesh(f"{name}.obj", write_obj(tmp_path / f"{name}.obj", triangles)).inertia(1.0)
    flat = Mesh("box.obj", write_obj(tmp_path / "box.obj", box), (1.0, 1.0, 0.0))
    with pytest.raises(ParameterError, match=r"mesh 'box.obj': got 'a volume of 0"):
        flat.inertia(1.0)


def test_meshes_that_cannot_be_read_are_refused(tmp_path):
    pytest.importorskip("trimesh", reason="needs the extra `mesh`")
    (tmp_path / "robot.txt").write_text("no mesh")
    (tmp_path / "empty.obj").write_text("# nothing\n")
    for path in (None, str(tmp_path / "gone.stl"), str(tmp_path / "robot.txt"), str(tmp_path / "empty.obj")):
        with pytest.raises(ParameterError, match="mesh 'part'"):
            Mesh("part", path).volume


def test_without_the_extra_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "trimesh", None)
    with pytest.raises(MissingExtraError, match=r'pip install "cardan\[mesh\]"'):
        Mesh("a.stl", "/a.stl").inertia(1.0)


# --- how far they reach --------------------------------------------------------------------------------------------


def on_surface(shape, rng):
    """Points of a shape, and of none outside of it, among them those that reach farthest nearly."""
    d = rng.normal(size=(20000, 3))
    d /= np.linalg.norm(d, axis=1, keepdims=True)
    if isinstance(shape, Box):
        return np.sign(d) * np.array(shape.size) / 2
    if isinstance(shape, Sphere):
        return shape.radius * d
    if isinstance(shape, Ellipsoid):
        return d * np.array(shape.radii)
    if isinstance(shape, Capsule):
        return shape.radius * d + np.sign(d[:, 2:]) * [0, 0, shape.length / 2]
    if isinstance(shape, Cone):
        tip, height = d[:, 2:] > 0.0, shape.length / 2
        rim = shape.radius * d[:, :2] / np.linalg.norm(d[:, :2], axis=1, keepdims=True)
        return np.where(tip, [0.0, 0.0, height], np.column_stack([rim, np.full(len(d), -height)]))
    around = d[:, :2] / np.linalg.norm(d[:, :2], axis=1, keepdims=True)
    return np.column_stack([shape.radius * around, np.sign(d[:, 2]) * shape.length / 2])


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("kind", range(6))
def test_how_far_a_shape_reaches_is_how_far_its_points_do(kind, scale):
    shape = (
        Box((0.1 * scale, 0.2 * scale, 0.4 * scale)),
        Sphere(0.3 * scale),
        Ellipsoid((0.1 * scale, 0.2 * scale, 0.4 * scale)),
        Cylinder(0.1 * scale, 0.5 * scale),
        Capsule(0.1 * scale, 0.5 * scale),
        Cone(0.1 * scale, 0.5 * scale),
    )[kind]
    rng = np.random.default_rng(0)
    d = rng.normal(size=(3, 2, 3))
    d /= np.linalg.norm(d, axis=-1, keepdims=True)
    far = (on_surface(shape, rng) @ d.reshape(-1, 3).T).max(axis=0).reshape(3, 2)
    found = reach(shape, d)
    assert found.shape == (3, 2)
    assert (found >= far * (1 - 1e-12)).all()
    np.testing.assert_allclose(found, far, rtol=2e-3)
    assert reach(shape, [0.0, 0.0, -1.0]) == pytest.approx(reach(shape, [0.0, 0.0, 1.0]))


def test_a_height_field_reaches_to_its_highest_corner_and_its_base():
    field = HeightField([[0.0, 0.1], [0.0, 0.3]], size=(2.0, 2.0), thickness=0.5)
    np.testing.assert_allclose(reach(field, np.array([[0, 0, 1.0], [0, 0, -1.0], [1.0, 0, 0]])), [0.3, 0.5, 1.0])
