"""Meshes collide as convex hulls of few vertices, whose error is known; hulls stand as the shapes they are of."""

import warnings
from itertools import product

import numpy as np
import pytest

import cardan
from cardan._robot.geometry import hull as hulls
from cardan._robot.geometry.hull import convex_parts, hull_of_points, triangles_of_hull
from cardan.description import Box, Cylinder, Hull, Mesh, Plane, Shape, Sphere
from cardan.errors import MechanismError, ParameterError, UnknownNameError, UnsupportedError
from cardan.simulation import contact_points
from cardan.spatial import SE3, Inertia

rng = np.random.default_rng(23)
CORNERS = [
    tuple(0.5 * s * e for s, e in zip((0.4, 0.2, 0.1), signs, strict=True)) for signs in product((-1, 1), repeat=3)
]


def distances(points, hull):
    """How far points are outside of a hull, at least."""
    vertices, triangles = hull.surface()
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    n = np.cross(b - a, c - a)
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    return ((points[:, None] - a) * n).sum(axis=-1).max(axis=1)


def block(geometry, mass=2.0, name="block"):
    m = cardan.Mechanism(name)
    m.add_body("link", Inertia(mass, (0.0, 0.0, 0.0), np.diag([0.01, 0.02, 0.03])))
    m.add_shape(Shape("link", "collision", geometry))
    return m


@pytest.mark.parametrize("most", [8, 20, 64])
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_nothing_is_farther_outside_than_the_error(most, size):
    points = size * rng.normal(size=(3000, 3))
    hull = Hull.of(points, most)
    assert len(hull.vertices) <= most
    assert distances(points, hull).max() <= hull.error + 1e-12 * size
    assert {tuple(v) for v in hull.vertices} <= {tuple(p) for p in points}


def test_vertices_are_added_until_the_error_is_small_enough():
    points = rng.normal(size=(1000, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    coarse, fine = Hull.of(points, 200, error=0.1), Hull.of(points, 200, error=0.03)
    assert coarse.error <= 0.1
    assert fine.error <= 0.03
    assert len(coarse.vertices) < len(fine.vertices) < 200


@pytest.mark.parametrize(
    ("points", "count"),
    [
        ([[1.0, 2.0, 3.0]] * 5, 1),
        ([[k, 2.0 * k, -k] for k in range(5)], 2),
        ([[x, y, 0.5 * x] for x in range(4) for y in range(4)], 4),
        (np.eye(3), 3),
    ],
)
def test_flat_and_thin_ones_keep_their_ends(points, count):
    assert len(Hull.of(points).vertices) == count


@pytest.mark.parametrize("wrong", [[], [[0.0, 0.0, np.nan]], [[np.inf, 0.0, 0.0]]])
def test_no_points_and_no_numbers_are_refused(wrong):
    with pytest.raises(ParameterError, match="points of a hull"):
        Hull.of(wrong)
    with pytest.raises(ParameterError, match="vertices of a hull"):
        Hull(wrong)
    with pytest.raises(ParameterError, match="whole number >= 4"):
        Hull.of(CORNERS, 3)


def test_a_hull_is_of_rows_of_three_numbers():
    """Six numbers in three rows were two points, without a word; half a vertex and an error below 0 were taken."""
    for points in ([], [1.0, 2.0], np.zeros((3, 2)), np.zeros((2, 3, 1)), "abc", None):
        with pytest.raises(ParameterError, match="points of a hull"):
            Hull.of(points)
    for wrong in ({"vertices": 4.5}, {"error": -1.0}, {"error": np.nan}):
        with pytest.raises(ParameterError, match=r"(vertices|error) of a hull"):
            Hull.of(np.eye(3), **wrong)


def test_a_hull_of_corners_weighs_as_the_box():
    box, hull = Box((0.4, 0.2, 0.1)), Hull(CORNERS)
    assert hull.volume == pytest.approx(box.volume, rel=1e-12)
    np.testing.assert_allclose(hull.inertia(1e3).parameters(), box.inertia(1e3).parameters(), atol=1e-12)


def test_on_a_plane_it_has_the_lowest_points_of_the_box():
    box, hull = Box((0.4, 0.2, 0.1)), Hull(CORNERS)
    q = rng.normal(size=(500, 4))
    X = SE3.from_quaternion(q / np.linalg.norm(q, axis=1, keepdims=True), rng.normal(size=(500, 3)))
    gaps = [np.sort(contact_points(shape, X, Plane(), SE3()).gap, axis=-1) for shape in (box, hull)]
    np.testing.assert_allclose(gaps[1][:, 0], gaps[0][:, 0], atol=1e-14)
    level = SE3(translation=(0.0, 0.0, 0.05))
    np.testing.assert_allclose(contact_points(hull, level, Plane(), SE3()).gap, np.zeros(4), atol=1e-15)


def test_a_point_is_no_contact_twice():
    spike = Hull([(0.0, 0.0, -1.0), (0.1, 0.0, 1.0), (-0.1, 0.1, 1.0), (-0.1, -0.1, 1.0)])
    gaps = contact_points(spike, SE3(translation=(0.0, 0.0, 1.0)), Plane(), SE3()).gap
    assert np.sum(gaps < 1.0) == 1


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float64", pytest.param("float32", marks=pytest.mark.full)])
def test_a_hull_stands_and_slides_as_the_box(dtype):
    ends = []
    for geometry in (Box((0.4, 0.2, 0.1)), Hull(CORNERS)):
        world = block(geometry).world("floating", ground=True)
        state = world.state(1, dtype)
        state.v[:, 0] = 1.0
        ends.append(cardan.solvers.Featherstone(world, dt=0.002).step(state, steps=400).q[0])
    np.testing.assert_allclose(ends[1][:3], ends[0][:3], atol=2e-3)
    assert ends[0][0] > 0.05


def mesh_of_corners(folder, scale=1.0):
    trimesh = pytest.importorskip("trimesh")
    file = folder / "box.stl"
    trimesh.Trimesh(scale * np.array(CORNERS)).convex_hull.export(file)
    return Mesh("box.stl", str(file))


@pytest.mark.slow
def test_a_mesh_collides_as_its_hull(tmp_path):
    m = block(mesh_of_corners(tmp_path))
    world = m.world("floating", ground=True)
    (pair,) = world.pairs
    assert isinstance(pair.shape_a, Hull)
    assert len(pair.shape_a.vertices) == 8
    end = cardan.solvers.Featherstone(world, dt=0.002).step(world.state(), steps=200)
    assert end.q[0, 2] == pytest.approx(0.05, abs=1e-3)
    made = m.with_hulls().mechanism
    assert cardan.from_json(cardan.to_json(made)) == made


def test_what_is_round_has_more_vertices_than_others():
    """64 corners within a ball leave 1.1 % of the box about it."""
    points = rng.normal(size=(2000, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    few, enough = Hull.of(points, 64), Hull.of(points)
    assert len(few.vertices) == 64
    assert few.error > 0.01 * np.sqrt(12.0) > enough.error > 0.0
    assert 64 < len(enough.vertices) < 128


def test_a_mesh_that_cannot_be_read_is_refused_by_name():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        world = block(Mesh("gone.stl")).world("floating", ground=True)
    with pytest.raises(UnsupportedError, match=r"link/ground.*gone\.stl"):
        cardan.solvers.Featherstone(world, dt=0.002)


# --- what is skipped, and what goes on ---


def loose(count):
    b = cardan.WorldBuilder("heap")
    for k in range(count):
        b.add_body(f"b{k}", pose=SE3(translation=(0.6 * (k % 3), 0.6 * (k // 3), 0.3 + 0.1 * k)))
        b.add_shape(f"b{k}", [Hull(CORNERS), Cylinder(0.1, 0.2), Box((0.1, 0.2, 0.3))][k % 3], density=500.0)
    b.add_ground()
    return b.finalize()


@pytest.mark.full
def test_worlds_have_the_bits_they_have_alone():
    """Some of them touch, some fall: what is skipped hangs on all that are computed together, the results do not."""
    world = loose(3)
    solver, state = cardan.solvers.Featherstone(world, dt=0.004), world.state(13)
    state.v[:] = rng.normal(size=state.v.shape)
    state.q[::2, 2] += 1.0
    together = solver.step(state, steps=60)
    for k in (0, 5, 12):
        alone = solver.step(state[[k]], steps=60)
        np.testing.assert_array_equal(alone.q[0], together.q[k])
        np.testing.assert_array_equal(alone.v[0], together.v[k])


def falls(iterations):
    world = cardan.robots.humanoid().world("floating", ground=True)
    solver = cardan.solvers.Featherstone(world, dt=0.002, iterations=iterations)
    state, worst = world.state(), 0.0
    state.q[:, 7:] += 0.3 * np.random.default_rng(0).normal(size=state.q[:, 7:].shape)
    for _ in range(700):
        state = solver.step(state)
        worst = max(worst, float(state.residual[0]))
    return worst


@pytest.mark.full
def test_a_fall_is_solved_where_four_iterations_do_not_do():
    assert falls(4) > 0.1
    assert falls(None) < 0.02


@pytest.mark.full
def test_derivatives_are_those_of_the_solution_however_many_iterations_it_may_take():
    """They are taken of the equation at the minimum: what goes on until that is found adds nothing to them."""
    box = block(Box((0.4, 0.2, 0.1))).world("floating", ground=True)
    q = np.array([0.0, 0.0, 0.0499, 0.01, 0.02, 0.0, np.sqrt(1.0 - 5e-4)])
    derivatives, added = [], []
    for iterations in (None, 4):
        function = cardan.solvers.Featherstone(box, dt=0.002, iterations=iterations).function
        found = cardan.derivative(function, "v")
        derivatives.append(found(box.model, q, [0.3, 0.1, -0.2, 0.1, 0.2, 0.3], 0.0, np.zeros(6))["v"])
        added.append(found.program(box.model).operations - function.program(box.model).operations)
    np.testing.assert_allclose(*derivatives, atol=1e-12)
    assert added[0] <= added[1]


def test_a_joint_that_moves_nothing_is_refused_with_contacts_too():
    m = block(Sphere(0.1))
    m.add_body("vane")
    m.add_joint("pivot", cardan.joints.Revolute((0, 0, 1)), "link", "vane")
    b = cardan.WorldBuilder()
    b.add(m, base="floating")
    b.add_ground()
    with pytest.raises(MechanismError, match="pivot"):
        cardan.solvers.Featherstone(b.finalize(), dt=0.002)


def test_a_hull_is_kept_on_disk_until_the_file_changes(tmp_path, monkeypatch):
    monkeypatch.setenv("CARDAN_CACHE_DIR", str(tmp_path / "cache"))
    file, made = tmp_path / "cube.off", []
    monkeypatch.setattr(hulls, "hull_of_points", lambda *given: made.append(given) or hull_of_points(*given))

    def hull(corner=1.0, **options):
        corners = np.array(list(product((0.0, corner), repeat=3)))
        rows = [" ".join(map(str, (3, *row))) for row in triangles_of_hull(corners)]
        file.write_text("\n".join(["OFF", f"8 {len(rows)} 0", *(" ".join(map(str, e)) for e in corners), *rows]))
        hulls._hulls_of_file.cache_clear()  # as in the next process
        return hulls.hulls_of_file("cube.off", str(file), (1.0, 1.0, 2.0), **options)[0]

    first, same = hull(), hull()
    assert len(made) == 1
    np.testing.assert_array_equal(first.vertices, same.vertices)
    assert same.vertices.max(axis=0).tolist() == [1.0, 1.0, 2.0]
    assert same.error == first.error
    assert hull(2.0).vertices.max() == 4.0
    assert len(hull(most=4).vertices) == 4
    assert len(made) == 3
    for entry in (tmp_path / "cache").iterdir():
        entry.write_bytes(b"damaged")
    np.testing.assert_array_equal(hull().vertices, first.vertices)
    assert len(made) == 4


# --- convex parts ---


@pytest.fixture
def channel(tmp_path):
    """A mesh of two walls, 0.1 m high and 0.02 m thick, on a floor as thick: hollow between x = -0.08 and 0.08 m."""
    trimesh = pytest.importorskip("trimesh")
    outline = [(-0.1, 0), (0.1, 0), (0.1, 0.1), (0.08, 0.1), (0.08, 0.02), (-0.08, 0.02), (-0.08, 0.1), (-0.1, 0.1)]
    n = len(outline)
    points = [(x, y, z) for y in (-0.1, 0.1) for x, z in outline]
    sides = [t for k in range(n) for a in [(k + 1) % n] for t in ((k, a, n + k), (a, n + a, n + k))]
    front = [(0, 5, 1), (1, 5, 4), (1, 4, 3), (1, 3, 2), (0, 7, 6), (0, 6, 5)]
    back = [(n + a, n + c, n + b) for a, b, c in front]
    surface = trimesh.Trimesh(points, np.array(sides + front + back))
    surface.fix_normals()
    assert surface.is_watertight
    file = tmp_path / "channel.stl"
    surface.export(file)
    return Mesh(str(file), path=str(file))


def test_a_channel_is_cut_into_parts_that_leave_it_open(channel):
    pytest.importorskip("coacd")
    parts = Hull.parts(channel)
    assert len(parts) >= 3
    assert sum(part.volume for part in parts) == pytest.approx(0.2 * (0.2 * 0.02 + 2 * 0.02 * 0.08), rel=0.02)
    hollow = [[x, y, z] for x in (-0.07, 0.07) for y in (-0.09, 0.09) for z in (0.03, 0.09)]
    assert all((distances(np.array(hollow), part) > 0.0).all() for part in parts)
    assert parts == Hull.parts(channel)


@pytest.mark.full
@pytest.mark.parametrize(("concavity", "height"), [(None, 0.13), ({"tray": 0.05}, 0.05)])
def test_a_ball_lies_on_the_floor_of_a_channel_that_is_cut_and_on_top_of_its_hull(channel, concavity, height):
    pytest.importorskip("coacd")
    m = cardan.Mechanism("game")
    m.add_body("tray", Inertia(1.0, (0.0, 0.0, 0.05), np.eye(3) * 0.01))
    m.add_body("ball", Inertia(0.1, (0.0, 0.0, 0.0), np.eye(3) * 4e-5))
    m.add_joint("table", cardan.joints.Fixed(), "world", "tray")
    m.add_joint("fall", cardan.joints.Prismatic((0.0, 0.0, 1.0)), "world", "ball", SE3(translation=(0.0, 0.0, 0.2)))
    m.add_shape(Shape("tray", "collision", channel, name="channel"))
    m.add_shape(Shape("ball", "collision", Sphere(0.03)))
    cut = m.with_hulls(concavity=concavity).mechanism
    names = [shape.name for shape in cut.shapes if shape.body == "tray"]
    assert len(set(names)) == len(names) == (1 if concavity is None else len(Hull.parts(channel)))
    world = cut.world()
    end = cardan.solvers.Featherstone(world, dt=2e-3).step(world.state(), steps=500)
    assert 0.2 + end.q[0, 0] == pytest.approx(height, abs=1e-3)


@pytest.mark.parametrize("wrong", [0.0, 2.0, float("nan")])
def test_another_concavity_is_refused(channel, wrong):
    with pytest.raises(ParameterError, match="concavity"):
        Hull.parts(channel, wrong)


@pytest.mark.parametrize("points", [np.zeros((3, 3)), np.diag([1.0, 1.0, np.nan])])
def test_a_surface_without_parts_is_refused(points):
    pytest.importorskip("coacd")
    with pytest.raises(ParameterError, match="of a mesh"):
        convex_parts(points, [[0, 1, 2]], 0.05)


def test_a_pattern_without_meshes_is_refused():
    with pytest.raises(UnknownNameError, match="collision meshes"):
        block(Box((0.1, 0.1, 0.1))).with_hulls(concavity={"finger*": 0.05})


# --- hostile files ---

CORNERS_OF = np.array(list(product((-0.1, 0.1), repeat=3)))
SIDES = ["013 032", "467 475", "045 051", "237 276", "026 064", "157 173"]
CUBE = CORNERS_OF[[[int(k) for k in triangle] for side in SIDES for triangle in side.split()]]


def with_one(value):
    triangles = CUBE.copy()
    triangles[3, 1, 2] = value
    return triangles


@pytest.fixture
def standing(tmp_path):
    """Return a function that puts a block with a mesh of these triangles on the ground, as its file has them."""
    pytest.importorskip("trimesh")

    def standing(triangles, ending="stl"):
        rows = np.zeros(len(triangles), [("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("more", "<u2")])
        rows["corners"] = triangles
        file = tmp_path / f"mesh.{ending}"
        file.write_bytes(bytes(80) + np.uint32(len(rows)).tobytes() + rows.tobytes())
        return block(Mesh(str(file), path=str(file))).world("floating", ground=True)

    return standing


@pytest.mark.parametrize(
    ("triangles", "vertices"),
    [
        pytest.param(CUBE[:, ::-1], 8, id="inverted"),
        pytest.param(CUBE[:-3], 8, id="open"),
        pytest.param(CUBE[:2], 4, id="flat"),
        pytest.param(CUBE[:1], 3, id="one triangle"),
        pytest.param(np.zeros((4, 3, 3)), 1, id="one place"),
        pytest.param(CUBE * [1.0, 0.0, 0.0], 2, id="a line"),
        pytest.param(1e6 * CUBE, 8, id="giant"),
        pytest.param(1e-9 * CUBE, 8, id="tiny"),
    ],
)
def test_what_a_file_holds_of_a_surface_stands(standing, triangles, vertices):
    (hull,) = (shape.geometry for shape in standing(triangles).model.shapes if shape.body == "link")
    assert isinstance(hull, Hull)
    assert len(hull.vertices) == vertices


@pytest.mark.parametrize(
    ("triangles", "ending", "said"),
    [
        pytest.param(with_one(np.nan), "stl", "1 vertices that are not finite", id="nan"),
        pytest.param(with_one(np.inf), "stl", "1 vertices that are not finite", id="infinite"),
        pytest.param(1e20 * CUBE, "stl", "36 vertices that are not finite, or beyond 1e.15", id="beyond all measure"),
        pytest.param(CUBE[:0], "stl", "no triangle", id="empty"),
        pytest.param(CUBE, "xyzw", "not supported", id="of unknown kind"),
    ],
)
def test_a_mesh_without_a_surface_is_named(standing, triangles, ending, said):
    with pytest.warns(UserWarning, match=said):
        world = standing(triangles, ending)
    with pytest.raises(UnsupportedError, match=said):
        cardan.solvers.Featherstone(world, dt=2e-3)


@pytest.mark.slow
@pytest.mark.parametrize("sides", [(0.5, 0.3, 0.2), (0.5, 0.3, 0.0)])
def test_some_points_stand_for_many(sides, monkeypatch):
    """Of an ellipsoid, or an ellipse: their hull is as good as that of all, and its error is that of all."""
    points = np.random.default_rng(0).normal(size=(6000, 3))  # its own: the same whichever tests run before
    points = points / np.linalg.norm(points, axis=1, keepdims=True) * sides
    every = hull_of_points(points)
    monkeypatch.setattr(hulls, "MANY", 1000)
    some = hull_of_points(points)
    assert {tuple(x) for x in some.vertices} <= {tuple(x) for x in points}
    assert every.error <= 1.001 * some.error < 1.2 * every.error + 1e-4
    planes = hulls.planes_of_hull(some.vertices)
    if len(planes):
        outside = (points @ planes[:, :3].T + planes[:, 3]).max()
        assert some.error == pytest.approx(outside, rel=1e-9)


def test_a_cone_as_a_hull_is_within_the_cone():
    cone = Hull.cone(0.1, 0.3)
    assert cone.volume == pytest.approx(np.pi * 0.1**2 * 0.1, rel=0.01)
    assert cone.error == pytest.approx(0.1 * (1.0 - np.cos(np.pi / 32)))


@pytest.mark.full
def test_a_huge_mesh_is_thinned(standing):
    directions = rng.normal(size=(1_000_000, 1, 3))
    ball = 0.1 * directions / np.linalg.norm(directions, axis=2, keepdims=True) + 1e-4 * rng.normal(
        size=(len(directions), 3, 3)
    )
    (hull,) = (shape.geometry for shape in standing(ball).model.shapes if shape.body == "link")
    assert 64 < len(hull.vertices) < 128
    assert hull.error < 0.004
