"""Rays: what they meet is on the surface, nothing is before it, and the world's function says the same in every way."""

import numpy as np
import pytest

import cardan
from cardan import WorldBuilder
from cardan._motion.collision.candidate import FAR
from cardan._motion.collision.rays import hit
from cardan.description import Box, Capsule, Cone, Cylinder, Ellipsoid, HeightField, Hull, Mesh, Plane, Sphere
from cardan.spatial import Vector3
from two_shapes import SHAPES

HULL_FACES = "scipy.spatial"


def level(shape, p):
    """A function of points (..., 3) that is 0 on the surface of a shape and negative within."""
    x, y, z = np.moveaxis(p, -1, 0)
    if isinstance(shape, Plane):
        return z
    if isinstance(shape, Sphere):
        return np.linalg.norm(p, axis=-1) - shape.radius
    if isinstance(shape, Ellipsoid):
        return np.linalg.norm(p / np.array(shape.radii), axis=-1) - 1.0
    if isinstance(shape, Box):
        return (np.abs(p) - 0.5 * np.array(shape.size)).max(axis=-1)
    if isinstance(shape, Cylinder):
        return np.maximum(np.hypot(x, y) - shape.radius, np.abs(z) - 0.5 * shape.length)
    if isinstance(shape, Cone):
        side = shape.length * np.hypot(x, y) + shape.radius * (z - 0.5 * shape.length)
        return np.maximum(side / np.hypot(shape.length, shape.radius), -z - 0.5 * shape.length)
    if isinstance(shape, Capsule):
        along = z - np.clip(z, -0.5 * shape.length, 0.5 * shape.length)
        return np.sqrt(x * x + y * y + along * along) - shape.radius
    if isinstance(shape, HeightField):  # the ramp of `SHAPES`, its sides and base
        return np.max([(z - 0.6 * x + 0.06 * y) / np.sqrt(1.3636), abs(x) - 30.0, abs(y) - 25.0, -109.5 - z], axis=0)
    planes = pytest.importorskip(HULL_FACES).ConvexHull(shape.vertices).equations
    return (p @ planes[:, :3].T + planes[:, 3]).max(axis=-1)


def rays_of(rng, n):
    """Rays from around a shape and within it, towards its middle and past it; some along the axes."""
    o, d = 0.6 * rng.normal(size=(n, 3)), rng.normal(size=(n, 3))
    d[: n // 2] -= 2.0 * o[: n // 2]
    d /= np.linalg.norm(d, axis=-1, keepdims=True)
    d[:60] = np.repeat([[1.0, 0, 0], [0, -1.0, 0], [0, 0, 1.0]], 20, axis=0)
    return o, d


@pytest.mark.parametrize("kind", SHAPES, ids=lambda kind: kind.__name__)
def test_a_ray_meets_the_surface_and_nothing_before(kind):
    shape, n = SHAPES[kind], 3000
    o, d = rays_of(np.random.default_rng(0), n)
    found = hit(shape, Vector3(*o.T), Vector3(*d.T))
    t, normal = found.distance, np.stack([np.broadcast_to(e, n) for e in found.normal], axis=-1)
    met, begins = t < FAR, level(shape, o)
    assert 300 < met.sum() < n - 300
    assert met[begins < 0.0].all() or kind is Plane
    p = o[met] + t[met, None] * d[met]
    np.testing.assert_allclose(level(shape, p), 0.0, atol=1e-12)
    until = np.where(met, t, 10.0)[:, None] * np.linspace(0.0, 1.0 - 1e-6, 400)
    before = level(shape, o[:, None] + until[..., None] * d[:, None])
    assert (np.sign(before) == np.sign(begins)[:, None]).all()
    step = 1e-6 * np.eye(3)
    slope = np.stack([level(shape, p + e) - level(shape, p - e) for e in step], axis=-1) / 2e-6
    smooth = np.abs(np.linalg.norm(slope, axis=-1) - 1.0) < 1e-6 if kind is not Ellipsoid else np.ones(len(p), bool)
    assert smooth.mean() > 0.99  # beside an edge, the difference is that of two faces
    slope /= np.linalg.norm(slope, axis=-1, keepdims=True)
    np.testing.assert_allclose(normal[met][smooth], slope[smooth], atol=1e-5)


def test_nearly_flat_faces_of_a_hull_cut_nothing_away():
    """They are cut into triangles, some of which are nearly lines and have no normal to speak of."""
    pytest.importorskip(HULL_FACES)
    rng, angles = np.random.default_rng(0), np.linspace(0.0, 2.0 * np.pi, 32, endpoint=False)
    rim = np.column_stack([0.1 * np.cos(angles), 0.1 * np.sin(angles)])
    ends = np.concatenate([np.column_stack([rim, np.full(32, z)]) for z in (-0.2, 0.2)])
    shape = Hull(ends + 1e-9 * rng.normal(size=ends.shape))
    _, d = rays_of(rng, 3000)
    o = Vector3(0.0, 0.0, 0.0)
    least, found, most = (
        hit(s, o, Vector3(*d.T)).distance for s in (Cylinder(0.1 * np.cos(np.pi / 32), 0.4), shape, Cylinder(0.1, 0.4))
    )
    assert ((least - 1e-7 < found) & (found < most + 1e-7)).all()


def first_of_triangles(o, d, vertices, triangles):
    """Distances [m] to the first of triangles, by looking at all, and its unit normal."""
    best, normals = np.full(len(o), np.inf), np.zeros(o.shape)
    for a, b, c in vertices[triangles]:
        e, f = b - a, c - a
        n, p = np.cross(e, f), np.cross(d, f)
        if np.linalg.norm(n) < 1e-12:  # of a base whose corners are in a row
            continue
        slope = p @ e
        slope[np.abs(slope) < 1e-14] = np.nan
        u = np.einsum("ni,ni->n", o - a, p) / slope
        q = np.cross(o - a, e)
        v, t = np.einsum("ni,ni->n", d, q) / slope, q @ f / slope
        nearer = (u > -1e-12) & (v > -1e-12) & (u + v < 1.0 + 1e-12) & (t >= 0.0) & (t < best)
        best[nearer], normals[nearer] = t[nearer], n / np.linalg.norm(n)
    return best, normals


def rough(n=(7, 11), size=(1.5, 0.9)):
    return HeightField(np.random.default_rng(3).uniform(-0.3, 0.4, n), size, 0.2)


def on_terrain(field):
    b = WorldBuilder("terrain")
    b.add_shape("world", field, density=0.0)
    b.add_body("ball", inertia=cardan.Inertia.zero(), pose=cardan.SE3(translation=(9.0, 9.0, 9.0)))
    b.add_shape("ball", Sphere(0.1))
    return b.finalize()


def rays_on_field(rng, n):
    """Rays from around the field, above, within, beside and below; some along axes and the cells' diagonals."""
    o, d = rng.normal(size=(n, 3)) * (0.8, 0.5, 0.5), rng.normal(size=(n, 3))
    d[: n // 2] -= 3.0 * o[: n // 2]
    axes = [[1, 0, 0], [0, -1, 0], [0, 0, -1], [0, 0, 1], [0.15, 0.15, 0], [-0.15, -0.15, -0.1]]
    d[:600] = np.repeat(axes, 100, axis=0)
    return o, d / np.linalg.norm(d, axis=-1, keepdims=True)


@pytest.mark.slow
def test_rays_on_a_height_field_are_those_on_all_its_triangles():
    field = rough()
    world = on_terrain(field)
    o, d = rays_on_field(np.random.default_rng(4), 6000)
    expected, normals = first_of_triangles(o, d, *field.surface())
    found = cardan.raycast(world, world.initial, o, d, bodies="world")
    met = np.isfinite(expected)
    assert 2000 < met.sum() < 5000
    np.testing.assert_allclose(found.distance, expected, atol=1e-11)
    np.testing.assert_allclose(found.normal[met], normals[met], atol=1e-9)
    apart = cardan.raycast(world, world.initial, o[::7], d[::7], bodies="world")
    np.testing.assert_array_equal(apart.distance, found.distance[::7])
    single = cardan.raycast(world, *(np.float32(e) for e in (world.initial, o, d)), bodies="world")
    same = np.isfinite(single.distance) == met
    assert same.mean() > 0.999
    off = np.abs(single.distance[same & met] - found.distance[same & met])
    assert np.quantile(off, 0.99) < 1e-5
    far = cardan.raycast(world, world.initial, o - 1e3 * d, d, bodies="world")
    outside = np.isfinite(expected) & np.isfinite(far.distance) & (normals * d < 0.0).any(axis=-1)
    first = first_of_triangles(o - 1e3 * d, d, *field.surface())[0]
    np.testing.assert_allclose(far.distance[outside], first[outside], atol=1e-7)


def test_a_ray_on_a_level_field_is_that_on_a_box():
    level_field = on_terrain(HeightField(np.full((5, 9), 0.25), (1.5, 0.9), 0.5))
    block = on_terrain(Box((1.5, 0.9, 0.5)))
    o, d = rays_on_field(np.random.default_rng(5), 2000)
    ways = [cardan.raycast(w, w.initial, o, d, bodies="world") for w in (level_field, block)]
    np.testing.assert_allclose(ways[0].distance, ways[1].distance, atol=1e-12)
    np.testing.assert_allclose(ways[0].normal, ways[1].normal, atol=1e-12)


def test_derivatives_of_rays_on_a_height_field_are_differences():
    world = on_terrain(rough((4, 5)))

    @cardan.function(shapes={"o": (3,), "d": (3,)})
    def ahead(model, o, d):
        return cardan.raycast(world, world.initial, [o], [d], bodies="world").distance

    rng = np.random.default_rng(6)
    o, d = np.column_stack([rng.uniform(-0.3, 0.3, (40, 2)), np.full(40, 1.0)]), rng.normal(size=(40, 3))
    d[:, 2] = -3.0
    for name in ("o", "d"):
        exact = cardan.derivative(ahead, name)(world.model, o, d)[:, 0]
        ways = []
        for step in (1e-7, -1e-7):
            moved = [(o + step * e, d) if name == "o" else (o, d + step * e) for e in np.eye(3)]
            ways.append(np.stack([ahead(world.model, *each)[:, 0] for each in moved], axis=-1))
        met = np.isfinite(ways).all(axis=(0, -1))
        assert met.sum() > 30
        off = np.abs(exact[met] - (ways[0][met] - ways[1][met]) / 2e-7).max(axis=-1)
        assert (off < 1e-6).mean() > 0.9  # the others cross an edge


def scene():
    """A ball, a hull and a box that float over the ground, and a post that stands on it."""
    b = WorldBuilder("scene")
    b.add_ground()
    b.add_shape("world", Cylinder(0.1, 1.0), cardan.SE3(translation=(2.0, 0.0, 0.5)), 0.0)
    for k, shape in enumerate((SHAPES[Sphere], SHAPES[Hull], SHAPES[Box])):
        b.add_body(f"body{k}", pose=cardan.SE3(translation=(0.0, 1.5 * (k - 1), 1.0)), inertia=cardan.Inertia.zero())
        b.add_shape(f"body{k}", shape)
    return b.finalize()


def test_rays_of_a_world():
    world = scene()
    q = world.initial
    down = cardan.raycast(world, q, [(0.0, 1.5, 5.0), (0.0, -1.5, 5.0), (5.0, 5.0, 5.0)], (0.0, 0.0, -2.0))
    np.testing.assert_allclose(down.distance, (5.0 - 1.0 - 0.4, 5.0 - 1.0 - 0.3, 5.0), atol=1e-14)
    assert [type(world.shapes[k].geometry) for k in down.shape] == [Box, Sphere, Plane]
    np.testing.assert_allclose(down.normal, [(0.0, 0.0, 1.0)] * 3, atol=1e-14)
    up = cardan.raycast(world, q, (5.0, 5.0, 5.0), (0.0, 0.0, 1.0))
    assert (float(up.distance), up.shape, up.normal.tolist()) == (np.inf, -1, [0.0, 0.0, 0.0])
    seen = cardan.raycast(world, q, (0.0, 0.0, 0.5), (1.0, 0.0, 0.0), bodies="world")
    np.testing.assert_allclose((seen.distance, *seen.normal), (1.9, -1.0, 0.0, 0.0), atol=1e-14)
    assert cardan.raycast(world, q, np.zeros((0, 3)), np.zeros((0, 3))).normal.shape == (0, 3)
    none = cardan.raycast(world, np.zeros((0, len(q))), np.zeros((4, 3)), (0.0, 0.0, -1.0))
    assert (none.distance.shape, none.normal.shape, none.shape.shape) == ((0, 4), (0, 4, 3), (0, 4))


@pytest.mark.full
def test_rays_of_many_states_are_those_of_each_and_float32_is_near():
    world, rng = scene(), np.random.default_rng(1)
    q = cardan.integrate(world.model, world.initial, 0.3 * rng.normal(size=(5, world.model.nv)))
    o, d = rays_of(rng, 300)
    o += (0.0, 0.0, 1.0)
    found = cardan.raycast(world, q, o, d)
    assert (found.shape >= 0).mean() > 0.4
    for k in range(5):
        alone = cardan.raycast(world, q[k], o, d)
        for mine, theirs in zip(alone, found, strict=True):
            np.testing.assert_array_equal(mine, theirs[k])
    assert cardan.raycast(world, q[2], o[7], d[7]).distance == found.distance[2, 7]
    many = cardan.raycast(world, np.tile(q, (4, 1)), o, d)  # another program, for many states
    np.testing.assert_array_equal(many.distance, np.tile(found.distance, (4, 1)))
    single = cardan.raycast(world, *(np.float32(e) for e in (q, o, d)))
    assert single.distance.dtype == np.float32
    same = (single.shape == found.shape) & (found.shape >= 0)
    assert same.sum() > 0.99 * (found.shape >= 0).sum()
    np.testing.assert_allclose(single.distance[same], found.distance[same], rtol=1e-3)


def test_rays_on_a_body_go_with_it_and_do_not_see_it():
    world, rng = scene(), np.random.default_rng(2)
    model = world.model
    q = cardan.integrate(model, world.initial, 0.4 * rng.normal(size=model.nv))
    o, d = 0.1 * rng.normal(size=(30, 3)), rng.normal(size=(30, 3))
    X = cardan.frame_transform(model, q, "body1")
    mine = cardan.raycast(world, q, o, d, body="body1")
    others = ["world", "body0", "body2"]
    theirs = cardan.raycast(world, q, o @ X[:3, :3].T + X[:3, 3], d @ X[:3, :3].T, bodies=others)
    np.testing.assert_allclose(mine.distance, theirs.distance, rtol=1e-12)
    np.testing.assert_allclose(mine.normal @ X[:3, :3].T, theirs.normal, atol=1e-12)
    heading = np.arctan2(X[1, 0], X[0, 0])
    c, s = np.cos(heading), np.sin(heading)
    level = np.array([(c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0)])
    scan = cardan.raycast(world, q, o, d, body="body1", yaw_only=True)
    flat = cardan.raycast(world, q, o @ level.T + X[:3, 3], d @ level.T, bodies=others)
    np.testing.assert_allclose(scan.distance, flat.distance, rtol=1e-12)


def test_derivatives_by_q_are_differences():
    world = scene()
    model, q = world.model, world.initial

    @cardan.function
    def ahead(model, q):
        return cardan.raycast(world, q, [(0.05, -1.4, 5.0), (0.1, 1.4, 4.0)], [(0.0, 0.0, -1.0)] * 2).distance

    exact, step = cardan.derivative(ahead, "q")(model, q), 1e-6 * np.eye(model.nv)
    moved = [cardan.raycast(world, cardan.integrate(model, q, [step, -step][k]), [(0.05, -1.4, 5.0), (0.1, 1.4, 4.0)],
             (0.0, 0.0, -1.0)).distance for k in (0, 1)]  # fmt: skip
    np.testing.assert_allclose(exact, (moved[0] - moved[1]).T / 2e-6, atol=1e-8)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_flat_hulls_are_met_from_both_sides(dtype):
    """Sheets of metal are flat meshes: a robot that has one was refused as a whole."""
    pytest.importorskip(HULL_FACES)
    rng, n, corners = np.random.default_rng(0), 4000, np.array([(0, 0, 0), (2, 0, 0), (2, 1, 0), (0, 1.5, 0)])
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    sheet = (corners - (1.0, 0.7, 0.0)) @ turn + (0.1, -0.2, 0.3)
    b = WorldBuilder("sheets")
    b.add_body("sheets", inertia=cardan.Inertia.zero())
    for vertices in (sheet, sheet[:2], sheet[:1]):  # the others are a line and a point
        b.add_shape("sheets", Hull(vertices), density=0.0)
    world, (o, d) = b.finalize(), rays_of(rng, n)
    expected, normal = first_of_triangles(o, d, sheet, np.array([(0, 1, 2), (0, 2, 3)]))
    normal *= -np.sign(np.einsum("ni,ni->n", normal, d))[:, None]  # towards where the ray comes from
    found = cardan.raycast(world, *(array.astype(dtype) for array in (world.initial, o, d)))
    same, atol = np.isfinite(expected) == np.isfinite(found.distance), {"float64": 1e-12, "float32": 1e-3}[dtype]
    assert 1000 < np.isfinite(expected).sum() < n - 1000
    assert same.mean() > 1.0 - atol
    np.testing.assert_allclose(found.distance[same], expected[same], atol=atol)
    np.testing.assert_allclose(found.normal[same], normal[same], atol=atol)


def test_one_ray_in_a_function_and_rays_of_tensors():
    """In a function one ray was taken for three, and of tensors came arrays without a gradient."""
    world = scene()
    q = np.tile(world.initial, (2, 1))

    @cardan.function
    def ahead(model, q):
        return cardan.raycast(world, q, (0.05, -1.4, 5.0), (0.0, 0.0, -1e-20))

    down = cardan.raycast(world, q, (0.05, -1.4, 5.0), (0.0, 0.0, -1.0))
    for found, expected in zip(ahead(world.model, q), down, strict=True):
        np.testing.assert_array_equal(found, expected)
    torch = pytest.importorskip("torch")
    tensors = [torch.tensor(array, dtype=torch.float64) for array in (q, (0.05, -1.4, 5.0), (0.0, 0.0, -1.0))]
    tensors[0].requires_grad_()
    rays = cardan.raycast(world, *tensors)
    rays.distance.sum().backward()
    np.testing.assert_array_equal(rays.distance.detach(), down.distance)
    np.testing.assert_allclose(tensors[0].grad.numpy()[:, 2], -1.0, rtol=1e-12)  # of a ball that rises


@pytest.mark.parametrize("length", [1e-300, 1e-16, 1e-8, 1e8, 1e200])
def test_directions_have_any_length(length):
    """Short ones met nothing, and long ones were not numbers."""
    world, (o, d) = scene(), rays_of(np.random.default_rng(0), 200)
    expected = cardan.raycast(world, world.initial, o, d)
    found = cardan.raycast(world, world.initial, o, length * d)
    assert np.isfinite(expected.distance).sum() > 50
    whole = cardan.raycast(world, world.initial, (5, 5, 5), (0, 0, -2_000_000))
    assert float(whole.distance) == 5.0
    np.testing.assert_allclose(found.distance, expected.distance, rtol=1e-9)
    if length in (1e-16, 1e-8, 1e8):
        single = [array.astype("float32") for array in (world.initial, o, length * d)]
        np.testing.assert_array_equal(
            np.isfinite(cardan.raycast(world, *single).distance), np.isfinite(expected.distance)
        )


def test_what_rays_do_not_know_is_named():
    b = WorldBuilder("lost")
    b.add_shape("world", Mesh("lost.stl"), density=0.0)
    b.add_body("ball", inertia=cardan.Inertia.zero())
    b.add_shape("ball", Sphere(0.1))
    world = b.finalize()
    with pytest.raises(cardan.errors.UnsupportedError, match=r"Mesh"):
        cardan.raycast(world, world.initial, (0, 0, 5.0), (0, 0, -1.0))
    assert cardan.raycast(world, world.initial, (0, 0, 5.0), (0, 0, -1.0), bodies="ball").shape == 1
    lost = cardan.raycast(world, world.initial * np.nan, (0, 0, 5.0), (0, 0, -1.0), bodies="ball")
    assert np.isnan(lost.distance)
    assert np.isnan(cardan.raycast(world, world.initial, (0, 0, np.nan), (0, 0, -1.0), bodies="ball").distance)
    with pytest.raises(cardan.errors.ParameterError, match=r"cardan\.World"):
        cardan.raycast(world.model, world.initial, (0, 0, 5.0), (0, 0, -1.0))
    with pytest.raises(cardan.errors.ParameterError, match="any length but 0"):
        cardan.raycast(world, world.initial, (0.0, 0.0, 1.0), (0.0, 0.0, 0.0))
    with pytest.raises(cardan.errors.ShapeError, match="origins"):
        cardan.raycast(world, world.initial, (0, 5.0), (0, 0, -1.0), bodies="ball")
