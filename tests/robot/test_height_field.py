"""Height fields: what they are, their solid, how they are written, and that nothing ignores them."""

import copy
import json
import pickle

import numpy as np
import pytest

import cardan
from cardan._algebra.content import digest
from cardan._reach.formats.plausibility import CHECKS, review
from cardan._reach.formats.report import Report
from cardan._reach.formats.sdf.writer import write_sdf
from cardan._reach.formats.urdf.writer import write_urdf
from cardan._reach.pictures.scene import facets_of
from cardan.description import Box, HeightField, Mechanism, Shape, Sphere
from cardan.errors import DescriptionError, ParameterError, UnsupportedError
from cardan.spatial import SE3

pytestmark = pytest.mark.usefixtures("reference_target")

GRID = np.random.default_rng(0).uniform(-0.3, 0.4, (4, 6))
WAVES = HeightField(GRID, (1.5, 0.9), 0.2)


def on_terrain():
    b = cardan.WorldBuilder()
    b.add_shape("world", WAVES, name="terrain")
    b.add_body("ball")
    b.add_shape("ball", Sphere(0.1))
    return b


def test_it_keeps_copies_and_is_a_value():
    grid = GRID.copy()
    field = HeightField(grid, [1.5, 0.9], 0.2)
    grid[:] = 7.0
    assert field == WAVES == HeightField(GRID.tolist(), size=(1.5, 0.9), thickness=0.2)
    assert hash(field) == hash(WAVES)
    assert digest(field) == digest(WAVES)
    assert field != HeightField(GRID, (1.5, 0.9), 0.3)
    assert digest(field) != digest(HeightField(GRID, (1.5, 0.9), 0.3))
    for twin in (pickle.loads(pickle.dumps(field)), copy.deepcopy(field)):
        assert twin == field
    assert field.heights[2][5] == GRID[2, 5]
    assert type(field.heights[2][5]) is float
    assert field.lowest == GRID.min()
    assert field.relief == np.ptp(GRID)
    with pytest.raises(AttributeError):
        field.thickness = 1.0
    assert len(repr(HeightField(np.zeros((300, 300)), (1, 1), 1))) < 100


@pytest.mark.parametrize(
    ("heights", "size", "thickness", "message"),
    [
        ([[0.0, 1.0]], (1, 1), 1, "at least 2 rows"),
        ([[0.0], [1.0]], (1, 1), 1, "at least 2 rows"),
        ([], (1, 1), 1, "at least 2 rows"),
        (0.5, (1, 1), 1, "at least 2 rows"),
        (np.zeros((2, 2, 2)), (1, 1), 1, r"shape \(2, 2, 2\)"),
        ([[0.0, 1.0], [2.0]], (1, 1), 1, "not of one length"),
        ([["0", "1"], ["2", "3"]], (1, 1), 1, "at least 2 rows"),
        ([[True, False], [True, True]], (1, 1), 1, "bool"),
        ([[1j, 0], [0, 0]], (1, 1), 1, "complex"),
        ([[10**400, 0], [0, 0]], (1, 1), 1, "object"),
        ([[0.0, 1.0], [np.nan, 0.0]], (1, 1), 1, "nan in row 1, column 0"),
        ([[0.0, np.inf], [0.0, 0.0]], (1, 1), 1, "inf in row 0, column 1"),
        ([[-1.5e308, 1.5e308], [0.0, 0.0]], (1, 1), 1, "finite differences"),
        (np.zeros((2, 2)), (1, 1, 1), 1, "two finite lengths"),
        (np.zeros((2, 2)), (1, 0), 1, "> 0"),
        (np.zeros((2, 2)), (-1, 1), 1, "> 0"),
        (np.zeros((2, 2)), (np.inf, 1), 1, "> 0"),
        (np.zeros((2, 2)), (1, 1), 0.0, "thickness"),
        (np.zeros((2, 2)), (1, 1), np.nan, "thickness"),
    ],
)
def test_what_is_none_is_refused(heights, size, thickness, message):
    with pytest.raises(ParameterError, match=message):
        HeightField(heights, size, thickness)


def test_the_solid_is_closed_and_made_of_prisms():
    vertices, triangles = WAVES.surface()
    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    _, counts = np.unique(np.concatenate([edges, edges[:, ::-1]]), axis=0, return_counts=True)
    assert (counts == 2).all()  # each edge once in each direction
    base = GRID.min() - 0.2
    np.testing.assert_allclose(vertices.min(axis=0), [-0.75, -0.45, base])
    np.testing.assert_allclose(vertices.max(axis=0), [0.75, 0.45, GRID.max()])
    z = GRID - base
    means = [(z[:-1, :-1] + z[1:, 1:] + other) / 3.0 for other in (z[:-1, 1:], z[1:, :-1])]
    expected = 0.5 * (1.5 / 5) * (0.9 / 3) * sum(mean.sum() for mean in means)
    assert WAVES.volume == pytest.approx(expected, rel=1e-12)
    assert WAVES.inertia(1300.0).mass == pytest.approx(1300.0 * expected, rel=1e-12)
    assert WAVES.inertia_of_mass(3.0).mass == pytest.approx(3.0)
    assert WAVES.inertia(1.0).faults() == []


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_a_level_one_is_a_box(scale):
    level = HeightField(np.full((3, 5), 0.05 * scale), (0.4 * scale, 0.6 * scale), 0.1 * scale).inertia_of_mass(2.0)
    np.testing.assert_allclose(
        level.inertia_at_com, Box((0.4 * scale, 0.6 * scale, 0.1 * scale)).inertia_of_mass(2.0).inertia_at_com,
        rtol=1e-12, atol=1e-15 * scale * scale,
    )  # fmt: skip
    np.testing.assert_allclose(level.com, [0, 0, 0], atol=1e-12 * scale)


def test_a_solid_beyond_numbers_is_refused():
    with pytest.raises(ParameterError, match="height field"):
        _ = HeightField(np.zeros((2, 2)), (1e300, 1e300), 1e300).volume


def test_a_wedge_by_its_closed_form():
    wedge = HeightField([[0.0, 1.0], [0.0, 1.0]], (1.0, 2.0), 1e-6)
    np.testing.assert_allclose(wedge.inertia(3.0).com, [1 / 6, 0, 1 / 3], atol=1e-5)
    assert wedge.volume == pytest.approx(1.0, abs=1e-5)


def test_json_keeps_every_bit():
    robot = Mechanism("hill")
    robot.add_shape(Shape("world", "collision", WAVES, SE3(None, (0.1, 0.2, 0.3))))
    text = cardan.to_json(robot)
    (back,) = cardan.from_json(text).shapes
    assert back.geometry == WAVES
    assert cardan.to_json(cardan.from_json(text)) == text
    document = json.loads(text)
    document["shapes"][0]["geometry"]["HeightField"]["heights"][1] = [0.0]
    with pytest.raises(DescriptionError, match="not of one length"):
        cardan.from_json(json.dumps(document))


@pytest.mark.parametrize("write", [write_urdf, write_sdf])
def test_formats_without_it_say_so(write):
    robot = Mechanism("hill")
    robot.add_body("base", cardan.Inertia(1.0, (0, 0, 0), np.eye(3)))
    robot.add_shape(Shape("base", "collision", WAVES))
    with pytest.raises((ParameterError, UnsupportedError), match=r"geometry of .*HeightField\(4 x 6 heights"):
        write(robot)


def test_pictures_show_its_surface():
    facets = facets_of(WAVES)
    np.testing.assert_array_equal(facets[:, :3], WAVES.surface()[0][WAVES.surface()[1]])
    fine = facets_of(HeightField(np.zeros((80, 80)), (2.0, 2.0), 0.5))
    assert len(fine) < 2000
    np.testing.assert_allclose(fine.max(axis=(0, 1)), [1, 1, 0], atol=0.1)


def test_the_viewer_shows_its_surface():
    pytest.importorskip("trimesh")
    from cardan._reach.viewer.scene_layers import surface_of

    shown = surface_of(Shape("world", "visual", WAVES, SE3(None, (1.0, 2.0, 3.0))))
    np.testing.assert_allclose(shown.vertices, WAVES.surface()[0] + [1.0, 2.0, 3.0])
    assert shown.flat


def test_plausibility_knows_how_far_it_reaches():
    robot = Mechanism("hill")
    robot.add_body("base", cardan.Inertia(1.0, (40.0, 0, 0), np.eye(3)))
    robot.add_shape(Shape("base", "collision", WAVES))
    report = Report("hill")
    review(robot, report, CHECKS)
    assert any("outside of its shapes" in str(fault) for fault in report.remarks)
