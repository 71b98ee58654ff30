"""Gaps of convex pairs as coal and MuJoCo have them: apart by GJK, overlapping by EPA."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from cardan._motion.collision import points
from cardan._motion.collision.convex import convex_convex
from cardan._robot.geometry.shapes import Box, Capsule, Cone, Cylinder, Ellipsoid, Hull, Sphere
from cardan._robot.geometry.support import reach
from cardan.spatial import SE3
from two_shapes import sized

coal = pytest.importorskip("coal", reason="needs the `oracles` extra: coal")


def hull(n, radii=(0.1, 0.08, 0.05)):
    d = np.random.default_rng(n).normal(size=(n, 3))
    return Hull((d / np.linalg.norm(d, axis=-1, keepdims=True) * radii).tolist())


SHAPES = {
    "sphere": Sphere(0.08),
    "capsule": Capsule(0.05, 0.2),
    "cylinder": Cylinder(0.06, 0.15),
    "cone": Cone(0.08, 0.15),
    "ellipsoid": Ellipsoid((0.1, 0.07, 0.04)),
    "box": Box((0.2, 0.12, 0.16)),
    "hull8": hull(8),
    "hull20": hull(20),
    "hull64": hull(64),
}
ROUND = ["sphere", "capsule", "cylinder", "ellipsoid"]
PAIRS = [(a, b) for a in ROUND for b in ("cylinder", "ellipsoid", "hull20")]
PAIRS += [(other, "cone") for other in SHAPES]
PAIRS += [("box", "cylinder"), ("box", "ellipsoid"), ("box", "hull20"), ("hull8", "hull8"), ("hull64", "hull64")]
SHORT = [
    ("hull20", "cone"),
    ("sphere", "hull20"),
    ("capsule", "cylinder"),
    ("box", "ellipsoid"),
    ("hull8", "hull8"),
]  # each shape once
PAIRS = [pair if pair in SHORT else pytest.param(pair, marks=pytest.mark.full) for pair in PAIRS]


def of_coal(shape):
    match shape:
        case Sphere(radius=r):
            return coal.Sphere(r)
        case Capsule(radius=r, length=length):
            return coal.Capsule(r, length)
        case Cylinder(radius=r, length=length):
            return coal.Cylinder(r, length)
        case Cone(radius=r, length=length):
            return coal.Cone(r, length)
        case Ellipsoid(radii=radii):
            return coal.Ellipsoid(*radii)
        case Box(size=size):
            return coal.Box(*size)
    points, triangles = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    vertices = np.array(shape.vertices)
    for vertex in vertices:
        points.append(vertex)
    for i, j, k in shape.surface()[1]:
        triangles.append(coal.Triangle(int(i), int(j), int(k)))
    return coal.Convex(points, triangles)


def by_coal(a, b, R, p):
    request = coal.DistanceRequest()
    request.gjk_tolerance = request.epa_tolerance = 1e-8
    request.gjk_max_iterations = request.epa_max_iterations = 1000
    one, two, level = of_coal(a), of_coal(b), coal.Transform3s()
    poses = (coal.Transform3s(*pose) for pose in zip(R, p, strict=True))
    return np.array([coal.distance(one, level, two, X, request, coal.DistanceResult()) for X in poses])


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_gaps_are_those_of_coal(pair):
    """Apart to 1e-6; the sign always; overlaps of less than 20 mm to 0.1 mm or 1 %, but for one in a hundred."""
    a, b = (SHAPES[name] for name in pair)
    rng, n = np.random.default_rng(0), 300
    R = Rotation.random(n, random_state=rng).as_matrix()
    d = rng.normal(size=(n, 3))
    d /= np.linalg.norm(d, axis=-1, keepdims=True)
    far = reach(a, d) + reach(b, -np.einsum("nji,nj->ni", R, d)) + rng.uniform(-0.03, 0.02, n)
    p = d * far[:, None]
    (found,) = convex_convex(a, SE3(), b, SE3(R, p))
    gap, expected = np.broadcast_to(found.gap, n), by_coal(a, b, R, p)
    known = np.abs(expected) < 1.0  # where coal gives up, it says -1.8e308
    assert known.mean() > 0.9
    gap, expected = gap[known], expected[known]
    apart = expected > 0.0
    assert ((gap > 0.0) == apart)[np.abs(expected) > 1e-8].all()
    np.testing.assert_allclose(gap[apart], expected[apart], atol=1e-6)
    shallow = (expected < 0.0) & (expected > -0.02)
    off = np.abs(gap - expected)[shallow] > np.maximum(1e-4, 0.01 * np.abs(expected[shallow]))
    assert off.sum() <= 1 + 0.01 * shallow.sum()


def of_any_size(rng, kind):
    """A shape of a kind whose sizes are 1e-3 to 1e3, each for itself."""
    sizes = 10.0 ** rng.uniform(-3.0, 3.0, 3)
    match kind.__name__:
        case "Box" | "Ellipsoid":
            return kind(sizes.tolist())
        case "Hull":
            return Hull((rng.normal(size=(12, 3)) * sizes).tolist())
        case "Sphere":
            return Sphere(float(sizes[0]))
    return kind(float(sizes[0]), float(sizes[1]))


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", [Sphere, Capsule, Box, Cylinder, Cone, Hull, Ellipsoid], ids=lambda kind: kind.__name__
)
def test_cones_of_any_size_are_as_far_from_others_as_coal_has_it(kind):
    """Needles, discs, specks and mountains: to coal's tolerance, in sizes of the larger one."""
    rng, compared, n = np.random.default_rng(5), 0, 10
    for _ in range(40):
        pair = of_any_size(rng, Cone), of_any_size(rng, kind)
        size = max(float(reach(shape, np.eye(3)).max()) for shape in pair)
        a, b = (sized(shape, 1.0 / size) for shape in pair)  # coal has absolute tolerances
        R, d = Rotation.random(n, random_state=rng).as_matrix(), rng.normal(size=(n, 3))
        d /= np.linalg.norm(d, axis=-1, keepdims=True)
        far = reach(a, d) + reach(b, -np.einsum("nji,nj->ni", R, d))
        p = d * (far * rng.uniform(0.8, 1.3, n))[:, None]
        expected = by_coal(a, b, R, p)
        found = np.min([np.broadcast_to(c.gap, n) for c in points(pair[0], SE3(), pair[1], SE3(R, size * p))], axis=0)
        apart = expected > 1e-8
        np.testing.assert_allclose(found[apart] / size, expected[apart], atol=1e-7)
        compared += apart.sum()
    assert compared > 200
