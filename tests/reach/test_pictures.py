"""Pictures: what is drawn is where forward kinematics says it is, and what a notebook shows is whole and harmless."""

import gc
import pickle
import re
import sys
import types
import warnings
from html.parser import HTMLParser

import numpy as np
import pytest

import cardan
from cardan._dynamics.algorithms.kinematics import Kinematics
from cardan._reach.pictures.scene import coarsened, facets_of, normals_of, scene_of
from cardan.description import Box, Capsule, Cone, Cylinder, Ellipsoid, HeightField, Mesh, Plane, Shape, Sphere
from cardan.errors import (
    ConfigurationError,
    DTypeError,
    MissingExtraError,
    NotFiniteError,
    ParameterError,
    RecompilationWarning,
    ShapeError,
    UnknownNameError,
)
from cardan.joints import Prismatic, Revolute

pyplot = pytest.importorskip("matplotlib.pyplot")
pytestmark = pytest.mark.usefixtures("reference_target", "closed_figures")
HOSTILE = "<script>alert('$x')</script>\"&"


@pytest.fixture
def closed_figures():
    pyplot.switch_backend("Agg")
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def arm():
    return cardan.robots.arm7().model()


@pytest.fixture(scope="module")
def slide_and_hinge():
    """Return a mechanism in the xz plane without a shape: a slide of x at height 1, and on it a hinge of y."""
    m = cardan.Mechanism("slide and hinge")
    for name in ("cart", "pole"):
        m.add_body(name, cardan.Inertia(1.0, (0, 0, 0.5), np.eye(3)))
    limits = [cardan.Limits([-2.0], [1.0], effort=[10.0]), cardan.Limits([-1.5], [1.5])]
    m.add_joint("slide", Prismatic([1, 0, 0]), "world", "cart", cardan.SE3(translation=[0, 0, 1]), limits=limits[0])
    m.add_joint("hinge", Revolute([0, 1, 0]), "cart", "pole", cardan.SE3(translation=[0, 0, 0.2]), limits=limits[1])
    m.add_frame("tip", "pole", cardan.SE3(translation=[0, 0, 0.5]))
    return m.model()


def lines_of(ax):
    return [np.stack(line.get_data_3d(), axis=-1) for line in ax.lines]


def facets_drawn(ax):
    (collection,) = ax.collections
    if hasattr(collection, "_vec"):  # matplotlib before 3.11
        return np.array(collection._vec)[:3].T.reshape(-1, 4, 3)
    return np.asarray(collection._faces)


# --- surfaces ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "geometry",
    [
        Box((0.2, 0.3, 0.5)),
        Sphere(0.4),
        Ellipsoid((0.2, 0.3, 0.4)),
        Cylinder(0.2, 0.6),
        Cone(0.2, 0.6),
        Capsule(0.2, 0.6),
    ],
    ids=lambda g: type(g).__name__,
)
def test_a_surface_is_closed_faces_outwards_and_encloses_the_volume(geometry):
    """By the divergence theorem: the area vectors of a closed surface add to 0, and 3 V = sum of x . n dA."""
    facets = facets_of(geometry)
    area = 0.5 * np.cross(facets[:, 2] - facets[:, 0], facets[:, 3] - facets[:, 1])
    np.testing.assert_allclose(area.sum(axis=0), 0.0, atol=1e-15)
    triangles = facets[:, [[0, 1, 2], [0, 2, 3]]].reshape(-1, 3, 3)
    volume = np.einsum("ni,ni->", triangles[:, 0], np.cross(triangles[:, 1], triangles[:, 2])) / 6.0
    assert 0.9 * geometry.volume < volume <= geometry.volume * (1.0 + 1e-12)
    lengths = np.linalg.norm(normals_of(facets), axis=-1)
    np.testing.assert_allclose(lengths, 1.0, atol=1e-12)
    assert (np.einsum("ni,ni->n", facets.mean(axis=1), area) > 0.0).all()


@pytest.mark.parametrize(("size", "drawn"), [(4.0, True), (60.0, False)])
def test_vast_terrain_is_left_out_as_a_half_space_is(size, drawn):
    """A quadruped on 60 m of terrain was a dot in its middle."""
    robot = cardan.robots.quadruped()
    robot.add_shape(Shape("world", "collision", HeightField(np.zeros((2, 2)), (size, size), 0.1)))
    model = robot.model(base="floating")
    reach = np.ptp(scene_of(model, model.neutral(), ("visual", "collision")).points(), axis=0).max()
    assert (reach >= size) == drawn


def test_a_half_space_has_no_surface_and_a_mesh_that_is_missing_says_so():
    assert facets_of(Plane()).shape == (0, 4, 3)
    pytest.importorskip("trimesh")
    with pytest.raises(ParameterError, match=r"nowhere\.stl"):
        facets_of(Mesh("package://nowhere.stl"))


def test_a_mesh_is_coarsened_and_keeps_its_size(tmp_path):
    trimesh = pytest.importorskip("trimesh")
    ball = trimesh.creation.icosphere(subdivisions=5, radius=0.5)
    file = tmp_path / "ball.stl"
    ball.export(file)
    facets = facets_of(Mesh("ball.stl", str(file), (1.0, 1.0, 2.0)))
    assert len(facets) < len(ball.faces) / 5
    np.testing.assert_allclose(facets.max(axis=(0, 1)), [0.5, 0.5, 1.0], atol=0.05)
    trimesh.creation.box((2.0, 2.0, 2.0)).export(file)  # written anew: read anew
    import os

    os.utime(file, ns=(1, 1))
    np.testing.assert_allclose(facets_of(Mesh("ball.stl", str(file))).max(axis=(0, 1)), 1.0, atol=1e-6)


@pytest.mark.parametrize("scale", [(1.0, -1.0, 1.0), (-2.0, -1.0, -1.0)])
def test_a_mirrored_mesh_faces_outwards(tmp_path, scale):
    """The left leg of many a robot is the right one's file with a scale of -1."""
    trimesh = pytest.importorskip("trimesh")
    file = tmp_path / "box.stl"
    trimesh.creation.box((0.2, 0.3, 0.4)).export(file)
    facets = facets_of(Mesh("box.stl", str(file), scale))
    assert ((normals_of(facets) * facets.mean(axis=1)).sum(axis=-1) > 0.0).all()


def test_a_mesh_without_extent_leaves_nothing():
    assert len(coarsened(np.ones((3, 3)), np.array([[0, 1, 2]]))) == 0


# --- plot -------------------------------------------------------------------------------------------------------------


def test_shapes_are_drawn_where_forward_kinematics_has_the_bodies(arm):
    q = arm.random_configuration(seed=1)
    drawn = facets_drawn(cardan.plot(arm, q))
    X = dict(zip(arm.body_names, cardan.forward_kinematics(arm, q), strict=True))
    expected = []
    for shape in arm.shapes:
        pose = X[shape.body] @ np.array(shape.pose.homogeneous(), dtype=float)
        expected.append(facets_of(shape.geometry) @ pose[:3, :3].T + pose[:3, 3])
    np.testing.assert_allclose(drawn, np.concatenate(expected), atol=1e-12)


def test_bodies_without_shapes_are_lines_from_their_origins_to_their_joints(slide_and_hinge):
    x, angle = 0.7, 0.3
    ax = cardan.plot(slide_and_hinge, [x, angle])
    dots, slid, up = lines_of(ax)  # the slide, from its rest to the cart; the cart, from its origin to the hinge
    X = cardan.forward_kinematics(slide_and_hinge, [x, angle])
    np.testing.assert_allclose(dots, X[:, :3, 3], atol=1e-15)
    np.testing.assert_allclose(slid, [[0, 0, 1], [x, 0, 1]], atol=1e-15)
    np.testing.assert_allclose(up, [[x, 0, 1], [x, 0, 1.2]], atol=1e-15)


def test_frames_and_paths_are_those_of_frame_transform(slide_and_hinge):
    q = np.stack([np.linspace(-1, 1, 50), np.linspace(0, 1, 50)], axis=-1)
    ax = cardan.plot(slide_and_hinge, q, frames="tip", paths=["tip"], shown=2)
    lines = lines_of(ax)
    X = cardan.frame_transform(slide_and_hinge, q, "tip")
    np.testing.assert_allclose(lines[0], X[:, :3, 3], atol=1e-15)
    ends = [line for line in lines if len(line) == 2]
    for k in (0, -1):
        for axis in range(3):
            arrows = [e[1] - e[0] for e in ends if np.allclose(e[0], X[k, :3, 3])]
            assert any(np.allclose(a / np.linalg.norm(a), X[k, :3, axis]) for a in arrows)


@pytest.mark.slow
def test_no_program_is_made_for_a_frame_that_is_drawn():
    hand = cardan.robots.arm7().model()
    with warnings.catch_warnings():
        warnings.simplefilter("error", RecompilationWarning)
        for frame in hand.frame_names:
            cardan.plot(hand, hand.random_configuration(5, seed=0), frames=frame, paths=frame)


def test_several_configurations_have_colours_that_a_bar_explains(arm):
    q, t = arm.random_configuration(40, seed=0), np.linspace(2.0, 5.0, 40)
    ax = cardan.plot(arm, q, t=t, shown=4)
    bar = ax.figure.axes[1]
    assert bar.get_ylabel() == "time [s]"
    np.testing.assert_allclose(bar.get_yticks(), t[[0, 13, 26, 39]])
    count = len(facets_drawn(cardan.plot(arm)))
    still = sum(len(facets_of(shape.geometry)) for shape in arm.shapes if shape.body == "base")
    assert 0 < still < count
    assert len(facets_drawn(ax)) == 4 * (count - still) + still  # what does not move is drawn once
    assert cardan.plot(arm, q[:2]).figure.axes[1].get_ylabel() == "row of q"
    assert len(cardan.plot(arm, q[:1]).figure.axes) == 1


def test_a_loop_that_is_open_shows_its_gap():
    model = cardan.robots.four_bar().model()
    closed, opened = (cardan.plot(model, q, shapes=False) for q in (model.neutral(), [0.1, 0.0, 0.0]))
    gaps = [[line for line in ax.lines if line.get_linestyle() == "--"] for ax in (closed, opened)]
    assert [len(g) for g in gaps] == [0, 1]
    residual = cardan.loop_residual(model, [0.1, 0.0, 0.0])
    ends = np.stack(gaps[1][0].get_data_3d(), axis=-1)
    np.testing.assert_allclose(np.linalg.norm(ends[1] - ends[0]), np.linalg.norm(residual[:3]), atol=1e-12)


def test_scales_are_equal_and_everything_is_inside(slide_and_hinge, arm):
    ax = cardan.plot(slide_and_hinge, [1.0, 0.5])
    cardan.plot(arm, ax=ax)
    spans = np.array([np.ptp(ax.get_xlim()), np.ptp(ax.get_ylim()), np.ptp(ax.get_zlim())])
    np.testing.assert_allclose(spans / spans.max(), np.array(ax._box_aspect) / max(ax._box_aspect), rtol=1e-12)
    for points in (facets_drawn(ax).reshape(-1, 3), *lines_of(ax)):
        for axis, limits in enumerate((ax.get_xlim(), ax.get_ylim(), ax.get_zlim())):
            assert limits[0] <= points[:, axis].min()
            assert points[:, axis].max() <= limits[1]


@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_any_size_is_drawn(scale):
    m = cardan.Mechanism("speck")
    m.add_body("bob", cardan.Inertia(1.0))
    m.add_joint("hinge", Revolute([0, 1, 0]), "world", "bob")
    m.add_shape(Shape("bob", "visual", Sphere(scale)))
    ax = cardan.plot(m.model())
    assert scale * 2.0 <= np.ptp(ax.get_xlim()) <= scale * 4.0
    ax.figure.canvas.draw()


def test_visual_shapes_come_before_those_for_collision():
    m = cardan.Mechanism("dressed")
    m.add_body("bob", cardan.Inertia(1.0))
    m.add_joint("hinge", Revolute([0, 1, 0]), "world", "bob")
    m.add_shape(Shape("bob", "collision", Box((4, 4, 4))))
    m.add_shape(Shape("bob", "visual", Box((2, 2, 2)), rgba=(1.0, 0.0, 0.0, 0.5)))
    model = m.model()
    for shapes, reach in {True: 1.0, "visual": 1.0, "collision": 2.0}.items():
        assert abs(facets_drawn(cardan.plot(model, shapes=shapes))).max() == reach
    assert not cardan.plot(model, shapes=False).collections
    assert [len(line) for line in lines_of(cardan.plot(model, shapes=False))] == [1]
    red = cardan.plot(model).collections[0].get_facecolor()
    assert (red[:, 0] > 0.0).all()
    assert (red[:, 1:3] == 0.0).all()
    assert (red[:, 3] == 0.5).all()


def test_of_few_configurations_no_more_are_drawn_than_there_are(arm):
    assert len(cardan.plot(arm, [arm.neutral()] * 2, shown=10**15).figure.axes) == 2  # with the bar of two times


def test_drawing_leaves_its_arguments_alone(arm):
    q = arm.random_configuration(3, seed=0)
    before = q.copy()
    cardan.plot(arm, q.astype(np.float32))
    cardan.plot(arm, q=q[:, :], ax=None, paths=("tool",))
    np.testing.assert_array_equal(q, before)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"q": np.zeros(6)}, ShapeError, "'q' has shape"),
        ({"q": np.zeros((2, 2, 7))}, ShapeError, "T of at least 1"),
        ({"q": np.zeros((0, 7))}, ShapeError, "T of at least 1"),
        ({"q": np.full(7, np.nan)}, NotFiniteError, "nan"),
        ({"t": [0.0, 1.0]}, ShapeError, "a row for each of q"),
        ({"frames": "toll"}, UnknownNameError, "'tool'"),
        ({"paths": ["toll"]}, UnknownNameError, "'tool'"),
        ({"shapes": "visuals"}, ParameterError, "'collision'"),
        ({"shown": 0}, ParameterError, ">= 1"),
        ({"shown": 2.5}, ParameterError, "whole number"),
        ({"shapes": None}, ParameterError, "'collision'"),
        ({"frames": 3}, DTypeError, "a name, or several"),
        ({"t": "noon"}, DTypeError, "real numbers"),
        ({"ax": "axes"}, ParameterError, 'projection="3d"'),
    ],
)
def test_what_does_not_fit_is_named(arm, options, error, words):
    with pytest.raises(error, match=re.escape(words)):
        cardan.plot(arm, **options)


def test_a_mechanism_and_a_world_are_drawn_as_their_models(arm):
    arm7 = cardan.robots.arm7()
    drawn = [cardan.plot(thing) for thing in (arm, arm7, arm7.world())]
    assert len({tuple(ax.get_xlim()) for ax in drawn}) == 1
    with pytest.raises(DTypeError, match=r"expected a cardan\.Model"):
        cardan.plot("arm7.urdf")


def test_what_a_rollout_returns_is_drawn_as_its_configurations():
    world = cardan.robots.double_pendulum().world()
    found = cardan.solvers.SemiImplicit(world, 1e-2).rollout(world.state(q=[1.0, 0.0]), steps=4, every=2)
    drawn = [
        (len(a.collections), a.get_xlim(), a.get_zlim())
        for a in (cardan.plot(world, q) for q in (found, found.q[:, 0]))
    ]
    assert drawn[0] == drawn[1]
    several = cardan.solvers.SemiImplicit(world, 1e-2).rollout(world.state(2), steps=1)
    with pytest.raises(ShapeError, match=r"\(T, 2\)"):
        cardan.plot(world, several)


def test_a_quaternion_of_length_0_is_refused():
    model = cardan.robots.quadruped().model(base="floating")
    with pytest.raises(ConfigurationError, match="quaternion"):
        cardan.plot(model, np.zeros(model.nq))


def test_a_model_with_inputs_is_drawn_with_its_own_values(arm):
    varied = arm.with_inputs("mass", "parent_pose")
    one, other = (facets_drawn(cardan.plot(model, paths="tool")) for model in (arm, varied))
    np.testing.assert_allclose(other, one, atol=1e-15)


def test_what_cannot_be_drawn_is_said(caplog):
    m = cardan.Mechanism("lost")
    m.add_body("bob", cardan.Inertia(1.0))
    m.add_joint("hinge", Revolute([0, 1, 0]), "world", "bob")
    for name in ("one", "two"):
        m.add_shape(Shape("bob", "visual", Mesh(f"{name}.stl")))
    cardan.plot(m.model())
    assert "not drawn, of body 'bob'" in caplog.text
    assert caplog.text.count("\n") == 1


def test_without_matplotlib_the_extra_is_named(arm, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingExtraError, match=re.escape('pip install "cardan[plot]"')):
        cardan.plot(arm)
    assert "<img" not in arm._repr_html_()  # the table alone
    assert "joint1" in arm._repr_html_()


# --- notebooks --------------------------------------------------------------------------------------------------------


class Page(HTMLParser):
    """Reads a page strictly: every tag is closed by its own, in order."""

    void = ("img", "br")

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.texts, self.images = [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag == "img":
            self.images.append(dict(attrs))
        if tag not in self.void:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


@pytest.mark.parametrize("build", [*cardan.robots.ROBOTS.values(), *cardan.robots.LOOPED.values()])
def test_a_notebook_shows_the_text_and_a_picture(build):
    mechanism = build()
    model = mechanism.model()
    for shown in (model, mechanism):
        page = Page(shown._repr_html_())
        assert page.texts == [str(shown)]
        assert page.images[0]["src"].startswith("data:image/png;base64,iVBOR")


def hostile():
    m = cardan.Mechanism(HOSTILE)
    m.add_body(HOSTILE, cardan.Inertia(1.0))
    m.add_joint(HOSTILE, Revolute([0, 1, 0]), "world", HOSTILE)
    m.add_shape(Shape(HOSTILE, "visual", Box((1, 1, 1))))
    return m


@pytest.mark.slow
def test_names_run_nothing():
    m = hostile()
    for shown in (m, m.model()):
        page = Page(shown._repr_html_())
        assert "script" not in page.tags
        assert set(page.tags) <= {"img", "pre"}
        assert page.images[0]["alt"] == HOSTILE
    model = m.model()
    cardan.plot(model, [[0.0], [1.0]], paths=HOSTILE).figure.canvas.draw()  # `$` begins no formula


@pytest.mark.parametrize("what", ["empty", "no shape", "no pose", "broken joint", "inputs"])
def test_a_notebook_is_never_stopped(what, monkeypatch):
    m = cardan.Mechanism("odd <b>")
    if what != "empty":
        m.add_body("b", cardan.Inertia(1.0))
        m.add_joint("j", Revolute([0, 0, 1]), "world", "b")
    if what == "no pose":
        monkeypatch.setattr(Kinematics, "pose", lambda self, frame: 1 / 0)
    if what == "broken joint":
        monkeypatch.setattr(Revolute, "motion_subspace", lambda self, q: 1 / 0)
    Page(m._repr_html_())
    if what != "empty":
        model = m.model()
        text = (model.with_inputs("mass") if what == "inputs" else model)._repr_html_()
        assert "odd &lt;b&gt;" in text
        Page(text)


def test_the_page_is_the_same_each_time_and_after_pickling(arm):
    text = arm._repr_html_()
    assert text == arm._repr_html_() == pickle.loads(pickle.dumps(arm))._repr_html_()
    assert len(text) < 60_000


def test_a_floor_below_asks_by_name_alone():
    """What a notebook needs is not imported with a model."""
    import subprocess

    code = "import sys, cardan; cardan.robots.arm7().model(); print('cardan.pictures' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "False"


# --- films -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fall():
    world = cardan.robots.double_pendulum().world()
    state = world.state(worlds=2)
    state.q[1] = 1.0
    return world, cardan.solvers.Featherstone(world, dt=0.001).rollout(state, steps=40, every=20)


@pytest.mark.slow
def test_a_film_has_its_pictures_and_is_written_whole(fall, tmp_path):
    from PIL import Image

    world, motion = fall
    place = cardan.pictures.animate(world, motion, path=tmp_path / "fall.gif", world=1, fps=100, dpi=30)
    with Image.open(place) as film:
        assert film.n_frames == 5  # of 0.04 s, both ends among them
        assert film.info["duration"] == 10
    assert [file.name for file in tmp_path.iterdir()] == ["fall.gif"]
    assert pyplot.get_fignums() == []


def test_a_film_moves_evenly_along_the_manifold(arm):
    from cardan._reach.pictures.animation import between

    q0, q1 = arm.neutral(), arm.neutral() + 0.4
    found = between(arm, np.array([q0, q0 + 0.1, q1]), np.array([0.0, 0.1, 0.4]), np.linspace(0.0, 0.4, 9))
    np.testing.assert_allclose(found, q0 + np.linspace(0.0, 0.4, 9)[:, None], atol=1e-15)


def test_a_notebook_shows_a_film(fall):
    world, motion = fall
    film = cardan.pictures.animate(world.model, motion.q[:, 0], motion.time[:, 0], fps=50, dpi=30)
    assert film._repr_html_().count("data:image/png;base64") >= 3


def test_an_mp4_without_its_extra_is_refused_and_nothing_else_is_said(fall, tmp_path, monkeypatch, recwarn):
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(cardan.errors.MissingExtraError, match=r"\.gif and \.html go without.*cardan\[video\]"):
        cardan.pictures.animate(*fall, path=tmp_path / "fall.mp4")
    gc.collect()
    assert not recwarn.list
    assert list(tmp_path.iterdir()) == []


def test_an_mp4_leaves_the_settings_of_matplotlib_as_they_were(fall, tmp_path, monkeypatch):
    """Which ffmpeg there is was set for all films of the process."""
    ffmpeg = tmp_path / "ffmpeg"
    ffmpeg.write_text("#!/bin/sh\nfor last; do :; done\ncat > $last\n")
    ffmpeg.chmod(0o755)
    module = types.SimpleNamespace(get_ffmpeg_exe=lambda: str(ffmpeg))
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", module)
    before = dict(pyplot.rcParams)
    place = cardan.pictures.animate(*fall, path=tmp_path / "fall.mp4", fps=10, dpi=30)
    assert place.stat().st_size > 0
    assert dict(pyplot.rcParams) == before


def test_an_mp4_is_written(fall, tmp_path):
    pytest.importorskip("imageio_ffmpeg")
    place = cardan.pictures.animate(*fall, path=str(tmp_path / "fall.mp4"), fps=50, dpi=30)
    assert place.read_bytes()[4:8] == b"ftyp"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"path": "film.avi"}, "a name in .mp4, .gif, .html"),
        ({"world": 2}, "a whole number from 0 to 1"),
        ({"fps": 1e6}, "at most 3000"),
        ({"time": [0.0, 0.0, 1.0]}, "two times or more that ascend"),
        ({"time": "film.gif"}, "got 'film.gif', expected the times of the samples [s], shape (T,); a file is path=..."),
        ({"speed": 0.0}, "speed"),
        ({"frames": "tol"}, "no frame named 'tol'"),
        ({"path": "no/such/folder/film.gif"}, "no/such/folder"),
    ],
)
def test_what_is_no_film_is_named_and_nothing_is_written(fall, options, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises((cardan.CardanError, OSError), match=re.escape(words)):
        cardan.pictures.animate(*fall, **{"dpi": 20, **options})
    assert list(tmp_path.iterdir()) == []
    assert pyplot.get_fignums() == []
