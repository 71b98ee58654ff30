"""The viewer: what is sent to a page, what a page may do, and the same in a real browser.

Most tests speak with the viewer as a page does (`viewer_page.Page`): they see the scene that is sent, not the viewer's
own thoughts. The last ones open it in Chromium: `CARDAN_CHROMIUM`, or `chromium` on the path.
"""

import itertools
import logging
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest

import cardan
from cardan import robots
from cardan.description import Box, Capsule, Cone, Cylinder, Ellipsoid, Mechanism, Mesh, Plane, Shape, Sphere
from cardan.joints import FreeFlyer, Planar, Prismatic, Revolute, Spherical, UnboundedRevolute

pytest.importorskip("viser")
pytest.importorskip("trimesh")
from cardan._reach.viewer.controls import configuration_of, slider_ranges, values_of
from cardan._reach.viewer.scene_layers import equivalent_ellipsoid, surface_of
from cardan._reach.viewer.served_scene import pose_matrix, quaternion_wxyz
from viewer_page import Page

SOLIDS = [Box((0.2, 0.4, 0.6)), Sphere(0.3), Ellipsoid((0.1, 0.2, 0.3)), Cylinder(0.2, 0.7), Cone(0.2, 0.7)]
SOLIDS += [Capsule(0.1, 0.5)]


@pytest.fixture(scope="module")
def arm():
    return cardan.load(robots.urdf_path("arm7"))


@pytest.fixture
def view(arm):
    with cardan.show(arm) as viewer:
        yield viewer


def drawn(page, layer="visual"):
    """Return where every shape is, by its body: homogeneous matrices of the first world."""
    found = {}
    for name, node in page.nodes.items():
        if f"/{layer}/" in name and "batched_positions" in node:
            body = name.rpartition("/")[2].partition(" ")[2]
            found[body] = pose_matrix(node["batched_positions"][:3], node["batched_wxyzs"][:4])
    return found


def stands_at(page, model, q, tolerance=2e-6):
    """Return whether every body that is drawn is where kinematics says."""
    bodies = drawn(page)
    expected = cardan.frame_transform(model, q, frame=list(bodies)) if bodies else ()
    return bool(bodies) and np.abs(np.array(list(bodies.values())) - expected).max() < tolerance


# --- what is sent -------------------------------------------------------------------------------------------------


def test_what_is_drawn_is_where_kinematics_says(view, arm):
    with Page(view) as page:
        assert page.until(lambda: stands_at(page, arm, arm.neutral()))
        for q in arm.random_configuration(3, seed=1):
            view.update(q)
            assert page.until(lambda q=q: stands_at(page, arm, q))


def test_what_is_given_is_not_kept(view, arm):
    q = np.full(arm.nq, 0.3)
    view.update(q)
    q[:] = -1.0
    view.flush()
    assert np.array_equal(view.q, np.full(arm.nq, 0.3))
    view.q[:] = 2.0
    assert np.array_equal(view.q, np.full(arm.nq, 0.3))


def test_a_control_loop_never_waits_and_the_last_state_is_shown(view, arm):
    path = arm.random_configuration(500, seed=2)
    drawings = []
    view.robot().layers["visual"].draw = lambda q, at: drawings.append(q.copy())
    for q in path:
        view.update(q)
    view.flush()
    assert len(drawings) < 100
    assert np.array_equal(drawings[-1][0], path[-1])


def test_many_worlds_are_a_grid(arm):
    q = arm.random_configuration(5, seed=3)
    with cardan.show(arm, q, spacing=2.0) as view, Page(view) as page:
        name = next(n for n in view.robot().layers["visual"].things)[1].name
        page.until(lambda: name in page.nodes)
        view.update(-q)
        view.flush()
        body = name.partition(" ")[2]
        expected = cardan.frame_transform(arm, -q, frame=body)[:, :3, 3] + view.robot().offsets
        close = lambda: np.allclose(page.nodes[name]["batched_positions"].reshape(-1, 3), expected, atol=1e-5)  # noqa: E731
        assert page.until(close)
        gaps = np.linalg.norm(view.robot().offsets[:, None] - view.robot().offsets, axis=-1)
        assert np.isclose(gaps[gaps > 0].min(), 2.0)
        assert np.array_equal(view.q, -q)
        page.move("world", 3)
        page.move("joint1 [rad]", 0.5)
        page.until(lambda: view.q[3, 0] == 0.5)
        assert np.array_equal(np.delete(view.q, 3, axis=0), np.delete(-q, 3, axis=0))
        view.drag("tool")
        place = cardan.frame_transform(arm, view.q[3], frame="tool")[:3, 3] + view.robot().offsets[3]
        page.until(lambda: np.allclose(page.nodes["/arm7/handle"].get("position", 0.0), place, atol=1e-6))
        goal = place + (0.0, 0.0, -0.05)
        page.drag("/arm7/handle", goal, page.nodes["/arm7/handle"]["wxyz"])
        reached = lambda: cardan.frame_transform(arm, view.q[3], frame="tool")[:3, 3] + view.robot().offsets[3]  # noqa: E731
        wait_for(lambda: np.abs(reached() - goal).max() < 1e-5)


def test_several_robots_stand_beside_each_other(arm):
    pole = robots.cart_pole()
    with cardan.show({"left": arm, "right": arm, "pole": pole}) as view:
        assert list(view.robots) == ["left", "right", "pole"]
        ends = [(r.bounds[0][1], r.bounds[1][1]) for r in view.robots.values()]
        assert all(a[1] <= b[0] for a, b in itertools.pairwise(ends))
        view.update({"right": np.full(7, 0.2)})
        view["pole"].update([0.1, 0.2])
        view.flush()
        assert np.array_equal(view.q["left"], arm.neutral())
        assert np.array_equal(view.q["right"], np.full(7, 0.2))
        view.update([np.zeros(7), np.ones(7), np.zeros(2)])
        assert np.array_equal(view.q["right"], np.ones(7))
        with pytest.raises(cardan.errors.UnknownNameError, match="robot named 'middle'"):
            view.update({"middle": np.zeros(7)})
        with pytest.raises(cardan.errors.ShapeError, match="one for each of 3 robots"):
            view.update(np.zeros(7))


def test_a_floating_base_stands_on_the_ground_at_first():
    quadruped = cardan.load(robots.urdf_path("quadruped"), base="floating")
    with cardan.show(quadruped) as view:
        assert abs(view.robot().bounds[0][2]) < 1e-9
        assert view.q[2] > 0.1


# --- what a page may do -------------------------------------------------------------------------------------------


def test_a_slider_moves_its_joint_within_its_limits(view, arm):
    with Page(view) as page:
        page.move("joint2 [rad]", 0.7)
        assert page.until(lambda: stands_at(page, arm, [0, 0.7, 0, 0, 0, 0, 0]))
        page.move("joint2 [rad]", 100.0)
        page.until(lambda: view.q[1] == arm.upper[1])
        page.move("joint2 [rad]", float("nan"))
        page.move("joint3 [rad]", 0.1)
        page.until(lambda: view.q[2] == 0.1)
        assert view.q[1] == arm.upper[1]


def test_sliders_follow_the_robot(view, arm):
    with Page(view) as page:
        slider = page.widget("joint4 [rad]")
        view.update([0, 0, 0, -1.25, 0, 0, 0])
        assert page.until(lambda: page.widgets[slider]["value"] == -1.25)


def test_one_slider_a_degree_of_freedom_whatever_the_joint():
    mechanism = Mechanism("odd")
    kinds = {"free": FreeFlyer(), "ball": Spherical(), "wheel": UnboundedRevolute([0, 0, 1]), "plane": Planar()}
    parent = "world"
    for name, joint in {**kinds, "hinge": Revolute([1, 0, 0])}.items():
        mechanism.add_body(f"{name} link", inertia=cardan.Inertia(1.0, (0, 0, 0.1), np.diag([0.1, 0.1, 0.1])))
        mechanism.add_joint(name, joint, parent, f"{name} link")
        parent = f"{name} link"
    model = mechanism.model()
    ranges = slider_ranges(model)
    assert len(ranges) == model.nv
    assert [r.label for r in ranges][:7] == [
        "free px [m]", "free py [m]", "free pz [m]", "free rx [rad]", "free ry [rad]", "free rz [rad]", "ball rx [rad]"
    ]  # fmt: skip
    for q in model.random_configuration(10, seed=4):
        for name in kinds:
            own = tuple(map(float, q[model.q_slice(name)]))
            manifold = model.joint(name).manifold
            again = configuration_of(manifold, values_of(model, name, q))
            assert np.abs(tuple(manifold.difference(own, again))).max() < 1e-9
    with cardan.show(model) as view, Page(view) as page:
        for label, value in (
            ("ball ry [rad]", 1.0),
            ("wheel [rad]", -3.0),
            ("plane angle [rad]", 0.5),
            ("free px [m]", 0.25),
        ):
            page.move(label, value)
        page.until(lambda: view.q[0] == 0.25)
        assert np.abs(cardan.normalize(model, view.q) - view.q).max() < 1e-12
        assert np.isclose(values_of(model, "ball", view.q)[1], 1.0)
        assert np.isclose(values_of(model, "wheel", view.q)[0], -3.0)


def test_mimic_joints_follow():
    text = """<robot name="grip"><link name="palm"/><link name="a"/><link name="b"/>
      <joint name="one" type="prismatic"><parent link="palm"/><child link="a"/><axis xyz="0 1 0"/>
        <limit lower="0" upper="0.04" effort="1" velocity="1"/></joint>
      <joint name="two" type="prismatic"><parent link="palm"/><child link="b"/><axis xyz="0 1 0"/>
        <limit lower="-0.04" upper="0.04" effort="1" velocity="1"/><mimic joint="one" multiplier="-1"/></joint>
    </robot>"""
    model = cardan.load_mechanism(text).model()
    with cardan.show(model) as view, Page(view) as page:
        page.move("one [m]", 0.03)
        page.until(lambda: len(view.q) == 1 and view.q[0] == 0.03)
        assert "two [m]" not in page.labels()
        assert np.isclose(view.robot().placement().matrix("b", 0)[1, 3], -0.03)


def test_loops_stay_closed_while_a_joint_is_moved():
    model = robots.four_bar().model()
    with cardan.show(model, cardan.assemble(model)) as view, Page(view) as page:
        place = slider_ranges(model)[0]
        before = values_of(model, place.joint, view.q)[0]
        page.move(place.label, before + 0.2)
        page.until(lambda: abs(values_of(model, place.joint, view.q)[0] - before - 0.2) < 1e-9)
        assert np.abs(cardan.loop_residual(model, view.q)).max() < 1e-8
        line = next(node for name, node in page.nodes.items() if name.endswith("closures/lines"))
        rocker, before = slider_ranges(model)[-1], view.q
        page.move(rocker.label, 2.0)  # no crank turns it there
        slider = page.widget(rocker.label)
        page.until(lambda: abs(page.widgets[slider]["value"] - values_of(model, rocker.joint, before)[0]) < 0.01)
        assert np.abs(view.q - before).max() < 1e-9
        ends = line["points"].reshape(-1, 2, 3)
        assert np.abs(ends[:, 0] - ends[:, 1]).max() < 1e-5


def test_a_ball_joint_is_dragged_on_its_manifold():
    mechanism = Mechanism("pendulum")
    mechanism.add_body("bob", inertia=cardan.Inertia(1.0, (0, 0, -0.5), np.diag([0.1, 0.1, 0.1])))
    mechanism.add_joint("ball", Spherical(), "world", "bob")
    model = mechanism.model()
    wxyz = np.array([0.8, 0.6, 0.0, 0.0])
    with cardan.show(model) as view, Page(view) as page:
        view.drag(joint="ball")
        page.until(lambda: page.nodes.get("/pendulum/handle", {}).get("visible"))
        page.drag("/pendulum/handle", (), (), phase="Start")
        page.drag("/pendulum/handle", (5.0, 0.0, 0.0), wxyz)  # a ball joint does not follow away from its place
        page.until(lambda: abs(view.q[3]) < 0.99)
        assert np.allclose(view.q, [0.6, 0.0, 0.0, 0.8])
        page.drag("/pendulum/handle", (), (), phase="End")
        view.update([0, 0, 1.0, 0])
        page.until(lambda: np.allclose(page.nodes["/pendulum/handle"].get("wxyz", 0), [0, 0, 0, 1], atol=1e-6))
        with pytest.raises(cardan.errors.UnknownNameError, match="joint with a handle named 'bal'"):
            view.drag(joint="bal")


def test_a_frame_is_dragged_by_inverse_kinematics(view, arm):
    q = np.array([0.3, 0.5, -0.2, -1.0, 0.4, 0.8, 0.1])
    goal = cardan.frame_transform(arm, q, frame="tool")
    with Page(view) as page:
        page.until(lambda: "/arm7/handle" in page.nodes)
        page.move("drag", "frame tool")
        page.until(lambda: page.nodes["/arm7/handle"].get("visible"))
        page.drag("/arm7/handle", goal[:3, 3], quaternion_wxyz(goal[:3, :3]))
        wait_for(lambda: np.abs(cardan.frame_transform(arm, view.q, frame="tool") - goal).max() < 1e-5)
        page.drag("/arm7/handle", (50.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0))  # out of reach: as far as it goes
        wait_for(lambda: cardan.frame_transform(arm, view.q, frame="tool")[0, 3] > 0.5)
        assert ((arm.lower - 1e-9 <= view.q) & (view.q <= arm.upper + 1e-9)).all()


def test_a_floating_base_stays_while_a_foot_is_dragged():
    model = robots.quadruped().model(base="floating")
    with cardan.show(model, cardan.integrate(model, model.neutral(), np.full(model.nv, 0.1))) as view:
        before, goal = view.q, cardan.frame_transform(model, view.q, frame="front_left_foot")
        goal[0, 3] += 0.05
        view.drag("front_left_foot")
        view.flush()
        with Page(view) as page:
            page.until(lambda: page.nodes.get("/quadruped/handle", {}).get("visible"))
            page.drag("/quadruped/handle", goal[:3, 3], quaternion_wxyz(goal[:3, :3]))
            wait_for(lambda: not np.array_equal(view.q, before))
        assert np.abs(cardan.difference(model, before, view.q)[:6]).max() < 0.01
        assert np.abs(cardan.difference(model, before, view.q)[6:9]).max() > 0.01


def test_toggles(view):
    with Page(view) as page:
        page.until(lambda: "/arm7/frames" in page.nodes)
        page.move("frames", True)
        assert page.until(lambda: page.nodes["/arm7/frames"].get("visible"))
        box = page.widget("visual")
        view.toggle(visual=False)
        assert page.until(lambda: page.widgets[box]["value"] is False and not page.nodes["/arm7/visual"]["visible"])
        with pytest.raises(cardan.errors.UnknownNameError, match="layer named 'visuals'"):
            view.toggle(visuals=True)


# --- trajectories -------------------------------------------------------------------------------------------------


def test_a_trajectory_is_scrubbed_on_the_manifold():
    model = robots.quadruped().model(base="floating")
    path = model.random_configuration(3, seed=5)
    with cardan.show(model, path[0]) as view, Page(view) as page:
        playback = view.play(path, times=[0.0, 1.0, 3.0], start=False)
        for at, k, share in ((0.0, 0, 0.0), (0.25, 0, 0.25), (1.0, 1, 0.0), (2.5, 1, 0.75), (9.0, 2, 0.0)):
            playback.seek(at)
            view.flush()
            expected = path[k]
            if share:
                expected = cardan.integrate(model, path[k], share * cardan.difference(model, path[k], path[k + 1]))
            assert np.abs(cardan.difference(model, view.q, expected)).max() < 1e-12
        page.move("time [s]", 0.5)
        page.until(lambda: playback.time == 0.5)


@pytest.mark.parametrize("at", [np.nan, "now", None])
def test_a_time_that_is_none_moves_nothing(view, arm, at):
    """After nan the robot was at nan, and stayed there."""
    playback = view.play(np.zeros((2, arm.nq)), 0.1, start=False)
    with pytest.raises(cardan.errors.ParameterError, match="time to show"):
        playback.seek(at)
    view.flush()
    assert np.isfinite(view.q).all()


def test_a_trajectory_runs_stops_and_ends(view, arm):
    path = np.linspace(0.0, 1.0, 11)[:, None] * np.ones(arm.nq)
    playback = view.play(path, 0.1, speed=0.5, start=False)
    assert not playback.is_playing
    playback.resume()
    time.sleep(0.3)
    playback.pause()
    view.flush()
    at = view.q[0]
    assert 0.05 < at < 0.9
    time.sleep(0.1)
    assert view.q[0] == at == pytest.approx(playback.time)
    view.play(path, 0.001, loop=False)
    wait_for(lambda: not view.playback.is_playing)
    view.flush()
    assert np.allclose(view.q, 1.0)


def wait_for(condition, timeout=10.0):
    end = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("given", "kind", "said"),
    [
        (((np.zeros((4, 6)),), {}), cardan.errors.ShapeError, r"\(T, 7\)|\(7,\)"),
        (((np.zeros(7),), {}), cardan.errors.ShapeError, r"\(T, 7\)"),
        (
            ((np.zeros((4, 3, 7)),), {}),
            cardan.errors.ShapeError,
            r"As many worlds are shown as cardan\.show\(world, q\)",
        ),
        (((np.zeros((4, 7)), -1.0), {}), cardan.errors.ParameterError, "number > 0"),
        (((np.zeros((4, 7)), "fast"), {}), cardan.errors.ParameterError, "number > 0"),
        (((np.zeros((4, 7)),), {"times": [0, 1, 1, 2]}), cardan.errors.ParameterError, "4 ascending numbers"),
        (((np.zeros((4, 7)),), {"speed": 0.0}), cardan.errors.ParameterError, "speed of a trajectory"),
        (((np.full((4, 7), np.nan),), {}), cardan.errors.NotFiniteError, "finite"),
    ],
)
def test_what_is_no_trajectory(view, given, kind, said):
    with pytest.raises(kind, match=said):
        view.play(*given[0], **given[1])


# --- shapes -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solid", SOLIDS, ids=lambda solid: type(solid).__name__)
def test_primitives_enclose_their_volume_and_face_outwards(solid):
    import trimesh

    X = cardan.SE3.of(pose_matrix((1.0, 2.0, 3.0), (0.5, 0.5, 0.5, 0.5)))
    surface = surface_of(Shape("b", "visual", solid, X, rgba=(0.1, 0.2, 0.3, 1.0)))
    mesh = trimesh.Trimesh(surface.vertices, surface.faces)
    assert mesh.is_watertight
    assert mesh.volume == pytest.approx(solid.volume, rel=0.03)
    assert np.allclose(mesh.center_mass, list(X @ solid.inertia_of_mass(1.0).com), atol=1e-3)
    assert surface.rgba == (0.1, 0.2, 0.3, 1.0)


def test_a_half_space_is_a_square():
    surface = surface_of(Shape("world", "collision", Plane()))
    assert np.array_equal(np.unique(surface.vertices[:, 2]), [0.0])


@pytest.mark.parametrize("ending", ["stl", "obj", "dae", "glb"])
def test_mesh_files_are_read_placed_and_scaled(ending, tmp_path):
    import trimesh

    if ending == "dae":
        pytest.importorskip("collada")
    path = tmp_path / f"brick.{ending}"
    trimesh.creation.box(extents=(1.0, 2.0, 3.0)).export(path)
    X = cardan.SE3.of(pose_matrix((0.0, 0.0, 1.0), (1.0, 0.0, 0.0, 0.0)))
    surface = surface_of(Shape("b", "visual", Mesh("brick", str(path), (1.0, -2.0, 0.1)), X))
    assert np.allclose(surface.vertices.min(axis=0), [-0.5, -2.0, 0.85])
    assert np.allclose(surface.vertices.max(axis=0), [0.5, 2.0, 1.15])
    assert trimesh.Trimesh(surface.vertices, surface.faces).volume == pytest.approx(1.2)  # mirrored, not inside out


def test_a_collada_file_says_its_unit(tmp_path):
    pytest.importorskip("collada")
    import trimesh

    path = tmp_path / "brick.dae"
    text = trimesh.creation.box(extents=(100.0, 200.0, 300.0)).export(file_type="dae").decode()
    path.write_text(text.replace("<up_axis>", '<unit name="mm" meter="0.001"/><up_axis>'))
    mesh = Mesh("brick", str(path))
    assert np.allclose(np.ptp(surface_of(Shape("b", "visual", mesh)).vertices, axis=0), [0.1, 0.2, 0.3])
    assert mesh.volume == pytest.approx(0.006)


def test_materials_of_a_file_count_unless_the_description_has_a_colour(tmp_path):
    import trimesh

    path = tmp_path / "brick.glb"
    brick = trimesh.creation.box()
    brick.visual = trimesh.visual.TextureVisuals(
        material=trimesh.visual.material.PBRMaterial(baseColorFactor=[255, 0, 0, 255])
    )
    brick.export(path)
    mesh = Mesh("brick", str(path))
    assert surface_of(Shape("b", "visual", mesh)).glb[:4] == b"glTF"
    painted = surface_of(Shape("b", "visual", mesh, rgba=(0.0, 1.0, 0.0, 1.0)))
    assert not painted.glb
    assert painted.rgba == (0.0, 1.0, 0.0, 1.0)
    assert not surface_of(Shape("b", "collision", mesh)).glb


def test_a_missing_mesh_is_a_box_and_a_remark():
    text = """<robot name="r"><link name="lower"><visual><geometry><mesh filename="package://gone/lower.stl"/></geometry></visual></link>
      <link name="upper"><visual><geometry><sphere radius="0.1"/></geometry></visual></link>
      <joint name="j" type="fixed"><parent link="lower"/><child link="upper"/><origin xyz="0 0 2"/></joint></robot>"""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = cardan.load_mechanism(text).model()
    with pytest.warns(cardan.errors.DescriptionWarning, match=r"link 'lower'.*gone/lower\.stl.*a box is drawn"):
        view = cardan.show(model)
    with view, Page(view) as page:
        page.until(lambda: "/r/visual/1 lower" in page.nodes)
        vertices = page.nodes["/r/visual/1 lower"]["vertices"].reshape(-1, 3)
        assert vertices[:, 2].min() < 0.0 < 2.0 < vertices[:, 2].max()


def test_a_model_without_shapes_is_boxes():
    model = robots.chain(3).model()
    with cardan.show(model) as view:
        assert len(view.robot().layers["visual"].things) == 3


def test_ellipsoids_have_the_inertia_they_stand_for():
    rng = np.random.default_rng(6)
    for _ in range(20):
        radii, mass = rng.uniform(0.1, 1.0, 3), rng.uniform(0.1, 10.0)
        R, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        squares = radii**2
        about = R @ np.diag(0.2 * mass * (squares.sum() - squares)) @ R.T
        found, axes = equivalent_ellipsoid(cardan.Inertia(mass, (1.0, 2.0, 3.0), about))
        assert np.allclose(np.sort(found), np.sort(radii))
        assert np.isclose(np.linalg.det(axes), 1.0)
        assert np.allclose(axes @ np.diag(0.2 * mass * ((found**2).sum() - found**2)) @ axes.T, about)


def test_ellipsoids_are_where_the_bodies_are(view, arm):
    q = arm.random_configuration(seed=8)
    view.update(q)
    view.toggle(inertia=True)
    view.flush()
    with Page(view) as page:
        solids = page.until(lambda: page.nodes.get("/arm7/inertia/solids"))
        bodies = [b for b in arm.bodies if b.inertia is not None and b.inertia.mass > 0.0]
        poses = cardan.frame_transform(arm, q, frame=[b.name for b in bodies])
        shown = (solids[f"batched_{key}"].reshape(len(bodies), -1) for key in ("positions", "wxyzs", "scales"))
        for body, X, position, wxyz, radii in zip(bodies, poses, *shown, strict=True):
            inertia, axes = cardan.SE3.of(X) @ body.inertia, pose_matrix(position, wxyz)[:3, :3]
            about = axes @ np.diag(0.2 * body.inertia.mass * ((radii**2).sum() - radii**2)) @ axes.T
            expected = np.array(inertia.inertia_at_com.matrix().rows(), float)
            assert np.allclose(about, expected, atol=1e-5 * np.abs(expected).max())
            assert np.allclose(position, tuple(map(float, inertia.com)), atol=1e-6)


# --- contacts -----------------------------------------------------------------------------------------------------


def test_contacts_are_points_and_arrows(view):
    points, forces = np.array([[0.0, 0.0, 0.0], [0.5, 0.0, 0.0]]), np.array([[0.0, 0.0, 10.0], [0.0, 5.0, 0.0]])
    with Page(view) as page:
        view.contacts(points, forces, scale=0.1)
        page.until(lambda: "/contacts/forces" in page.nodes)
        ends = page.nodes["/contacts/forces"]["points"].reshape(-1, 2, 3)
        assert np.allclose(ends, [[[0, 0, 0], [0, 0, 1]], [[0.5, 0, 0], [0.5, 0.5, 0]]])
        assert np.allclose(page.nodes["/contacts/points"]["batched_positions"].reshape(-1, 3), points)
        view.contacts(points, 2.0 * forces, scale=0.1)
        page.until(lambda: np.isclose(page.nodes["/contacts/forces"]["points"].max(), 2.0))
        view.contacts(np.empty((0, 3)))
        assert page.until(lambda: "/contacts/forces" not in page.nodes)
        with pytest.raises(cardan.errors.ShapeError, match=r"'forces'.*as the points"):
            view.contacts(points, forces[:1])


def test_contacts_of_a_state_are_those_that_touch():
    builder = cardan.WorldBuilder()
    ball = Mechanism("ball")
    ball.add_body("ball", inertia=cardan.Inertia(1.0, (0, 0, 0), np.diag([0.1, 0.1, 0.1])))
    ball.add_joint("root", FreeFlyer(), "world", "ball")
    ball.add_shape(Shape("ball", "collision", Sphere(0.5)))
    builder.add(ball)
    builder.add_ground()
    world = builder.finalize()
    state = world.state(2)
    state.q = [[0, 0, 0.4, 0, 0, 0, 1], [0, 0, 0.9, 0, 0, 0, 1]]
    with cardan.show(world, state, spacing=3.0) as view, Page(view) as page:
        view.contacts(world.collide(state))
        page.until(lambda: "/contacts/points" in page.nodes)
        found = page.nodes["/contacts/points"]["batched_positions"].reshape(-1, 3)
        assert found.shape == (1, 3)
        assert np.allclose(found[0, :2], view.robot().offsets[0, :2])
        view.update(state)


def test_nearest_points_are_lines_between_shapes():
    body = cardan.WorldBuilder()
    body.add_body("body")
    body.add_shape("body", Sphere(0.5), density=100.0)
    model = body.finalize().model
    q = np.zeros((2, 7))
    q[:, 6], q[1, 0] = 1.0, 0.7
    around = [(Sphere(0.5), cardan.SE3(translation=place)) for place in ((2.0, 0.0, 0.0), (0.0, 9.0, 0.0))]
    found = cardan.clearance(model, q, pairs=[], obstacles=around)
    with cardan.show(model, q, spacing=4.0) as view, Page(view) as page:
        view.nearest_points(found, within=2.0)
        page.until(lambda: "/nearest/apart/lines" in page.nodes)
        ends = page.nodes["/nearest/apart/lines"]["points"].reshape(-1, 2, 3) - view.robot().offsets[:, None]
        assert np.allclose(ends[..., 0], [[0.5, 1.5], [1.2, 1.5]])
        assert np.allclose(ends[..., 1:], 0.0)
        q[:, 0] = 1.5
        view.nearest_points(cardan.clearance(model, q, pairs=[], obstacles=around[:1]))
        page.until(lambda: "/nearest/deep/points" in page.nodes)
        assert page.until(lambda: "/nearest/apart/lines" not in page.nodes)
        with pytest.raises(cardan.errors.ParameterError, match=r"what cardan\.clearance returns"):
            view.nearest_points(found.distance)
        with pytest.raises(cardan.errors.ParameterError, match="a distance"):
            view.nearest_points(found, within=np.nan)


# --- opening, closing, errors -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("q", "kind", "said"),
    [
        (np.zeros(6), cardan.errors.ShapeError, r"has shape \(6,\), expected \(7,\), or \(1, 7\)"),
        (np.zeros((2, 7)), cardan.errors.ShapeError, r"has shape \(2, 7\), expected \(7,\)"),
        (np.array([0, 0, np.inf, 0, 0, 0, 0]), cardan.errors.NotFiniteError, r"\[0, 2\] is inf"),
        ("home", cardan.errors.DTypeError, "expected"),
    ],
)
def test_what_is_no_configuration(view, q, kind, said):
    with pytest.raises(kind, match=said):
        view.update(q)


def test_a_quaternion_of_zeros_is_refused():
    with pytest.raises(cardan.errors.ConfigurationError, match="quaternion"):
        cardan.show(robots.quadruped().model(base="floating"), np.zeros(19))


def test_what_is_no_robot(arm):
    with pytest.raises(cardan.errors.DTypeError, match=r"cardan\.show\(cardan\.load\(file\)\)"):
        cardan.show("robot.urdf")
    with pytest.raises(cardan.errors.ParameterError, match="inputs"):
        cardan.show(arm.with_inputs("mass"))
    with pytest.raises(cardan.errors.UnknownNameError, match="layer named 'collisions'"):
        cardan.show(arm, collisions=True)


@pytest.mark.parametrize(
    ("given", "kind", "said"),
    [
        ({"at": (1, 2)}, cardan.errors.ShapeError, r"'at' has shape \(2,\), expected \(3,\)"),
        ({"at": (1, 2, np.nan)}, cardan.errors.NotFiniteError, r"at\[2\] is nan"),
        ({"spacing": -1.0}, cardan.errors.ParameterError, "spacing of worlds"),
        ({"name": "arm7"}, cardan.errors.ParameterError, "one that is not taken"),
        ({"name": 7}, cardan.errors.ParameterError, "a text"),
    ],
)
def test_what_cannot_be_added(view, arm, given, kind, said):
    with pytest.raises(kind, match=said):
        view.add(arm, **given)
    assert list(view.robots) == ["arm7"]


@pytest.mark.parametrize("limits", [(-1e308, 1e308), (5.0, np.inf), (-np.inf, 0.5), (0.3, 0.3), (-1e-12, 1e-12)])
def test_sliders_have_a_range_whatever_the_limits(limits):
    mechanism = Mechanism("rail")
    mechanism.add_body("box", inertia=cardan.Inertia(1.0, (0, 0, 0), np.diag([0.1, 0.1, 0.1])))
    mechanism.add_joint("slide", Prismatic([0, 1, 0]), "world", "box", limits=cardan.Limits([limits[0]], [limits[1]]))
    (place,) = slider_ranges(mechanism.model())
    assert max(limits[0], -10.0) <= place.lower <= place.upper <= min(limits[1], 10.0)
    with cardan.show(mechanism) as view:
        assert place.lower <= view.q[0] <= place.upper


def test_an_unknown_frame_and_robot(view):
    with pytest.raises(cardan.errors.UnknownNameError, match="frame named 'hand'"):
        view.drag("hand")
    with pytest.raises(cardan.errors.UnknownNameError, match="robot named 'leg'"):
        view.robot("leg")


def test_a_port_in_use_and_a_host_that_is_not_here(arm):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(cardan.errors.ParameterError, match=rf"port of the viewer: got {port}"):
            cardan.show(arm, port=port)
    with pytest.raises(cardan.errors.ParameterError, match=r"host of the viewer: got '192\.0\.2\.1'"):
        cardan.show(arm, host="192.0.2.1")
    with pytest.raises(cardan.errors.ParameterError, match="0 to 65535"):
        cardan.show(arm, port=70000)


@pytest.mark.parametrize("host", [None, "", " ", 5, b"127.0.0.1"])
def test_a_host_that_is_no_text_is_not_everybody(arm, host):
    with pytest.raises(cardan.errors.ParameterError, match=r"host of the viewer: got .*expected an address, as a text"):
        cardan.show(arm, host=host)


def test_it_serves_this_machine_alone_and_closes(arm):
    with cardan.show(arm) as view:
        assert view.url.startswith("http://127.0.0.1:")
        port = view.server.get_port()
        assert f'src="{view.url}"' in view._repr_html_()
        with cardan.show(arm) as second:
            assert second.url != view.url
    assert view.closed
    view.close()
    view.update(np.zeros(7))
    view.flush()
    assert "closed" in view._repr_html_()
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", port), timeout=1.0)


def test_no_page_opens_it_to_the_world(view, caplog):
    with caplog.at_level(logging.WARNING, "cardan"), Page(view) as page:
        page.send("ShareUrlRequest")
        wait_for(lambda: "a page asked for a public address" in caplog.text)
    assert view.server.request_share_url() is None


def test_what_cannot_be_shown_is_told_and_does_not_stop_the_viewer(view, arm, caplog):
    def fail(q, at):
        raise cardan.errors.ReachError("hand", 1.0, 0.0)

    layer = view.robot().layers["visual"]
    draw, layer.draw = layer.draw, fail
    with caplog.at_level(logging.WARNING, "cardan"):
        view.update(np.zeros(7))
        with pytest.raises(cardan.errors.ReachError):
            view.flush()
    assert "could not show" in caplog.text
    layer.draw = draw
    view.update(np.full(7, 0.1))
    view.flush()


def test_without_the_extra_the_error_says_how_to_get_it(arm, monkeypatch):
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(cardan.errors.MissingExtraError, match=r'pip install "cardan\[view\]"'):
        cardan.show(arm)


def test_importing_cardan_loads_no_viewer():
    code = "import sys, cardan; print([m for m in sys.modules if m in ('viser', 'trimesh', 'cardan.viewer')])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.full
def test_the_command(tmp_path):
    np.savez(tmp_path / "path.npz", q=np.zeros((5, 7)))
    command = [sys.executable, "-m", "cardan", "view", str(robots.urdf_path("arm7")), "--no-browser"]
    command += ["--trajectory", str(tmp_path / "path.npz"), "--dt", "0.1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        said = next(line for line in running.stdout if "is shown at" in line)
        assert "http://127.0.0.1:" in said
        running.terminate()
        assert running.wait(timeout=20) == 143


# --- worlds ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def crates():
    builder = cardan.WorldBuilder()
    builder.add_ground()
    for k in range(3):
        builder.add_body(f"crate{k}", pose=cardan.SE3(translation=(0.5 * k, 0.0, 0.3)))
        builder.add_shape(f"crate{k}", Box((0.2, 0.2, 0.2)))
    return builder.finalize()


def test_a_world_is_shown_as_it_begins_and_its_bodies_are_told_apart(crates):
    with cardan.show(crates) as view, Page(view) as page:
        robot = view.robot()
        np.testing.assert_array_equal(robot.q, crates.initial)
        assert robot.placement().matrix("crate2", 0)[:3, 3].tolist() == [1.0, 0.0, 0.3]
        low, high = robot.bounds
        np.testing.assert_allclose((low[:2], high[:2]), ((-0.1, -0.1), (1.1, 0.1)), atol=1e-12)
        solids = page.until(lambda: [n for path, n in page.nodes.items() if "visual/" in path and "crate" in path])
        assert len({tuple(np.ravel(n["batched_colors"])) for n in solids}) == len(solids) == 3
        assert not [label for label in page.labels() if "crate" in label]  # no sliders of loose bodies


def test_it_is_looked_at_again_where_a_world_went(crates):
    with cardan.show(crates) as view:
        before = np.array(view.server.initial_camera.look_at)
        state = crates.state()
        view.update(state)
        np.testing.assert_array_equal(view.server.initial_camera.look_at, before)  # it is where it was seen
    with cardan.show(crates) as view:
        far = crates.initial.copy()
        far[crates.model.q_slice("crate0_free").start] = 30.0
        view.update(far)
        assert view.server.initial_camera.look_at[0] > before[0] + 5.0


def test_a_body_that_is_picked_is_named(crates):
    with cardan.show(crates, np.tile(crates.initial, (2, 1))) as view, Page(view) as page:
        view.robot().select("crate1", 1)
        view.flush()
        page.until(
            lambda: any(
                str(w.get("_markdown", w.get("content", ""))).startswith("**crate1**") for w in page.widgets.values()
            )
        )
        assert view.robot().world == 1
        with pytest.raises(cardan.errors.UnknownNameError, match="did you mean 'crate1'"):
            view.robot().select("crate11")


def test_what_a_rollout_recorded_is_played_and_saved(tmp_path, crates):
    motion = cardan.solvers.Featherstone(crates, dt=0.002).rollout(crates.state(), steps=20, every=10)
    with cardan.show(crates) as view:
        playback = view.play(motion, start=False)
        np.testing.assert_array_equal(playback.times, motion.time[:, 0])
        playback.save(tmp_path / "fall.html", fps=100)
        playback.save(tmp_path / "fall.viser", fps=100)
        assert (tmp_path / "fall.html").read_text(encoding="utf-8").startswith("<!")
        assert (tmp_path / "fall.viser").stat().st_size > 1000
        with pytest.raises(cardan.errors.ParameterError, match=r"a name in \.html or \.viser"):
            playback.save(tmp_path / "fall.mp4")


def test_by_ssh_it_says_how_to_reach_it(arm, monkeypatch):
    with cardan.show(arm) as view:
        monkeypatch.delenv("SSH_CONNECTION", raising=False)
        assert view.how_to_reach == ""
        monkeypatch.setenv("SSH_CONNECTION", "10.0.0.2 50000 10.0.0.7 22")
        assert re.search(r"ssh -L (\d+):127\.0\.0\.1:\1 \w+@10\.0\.0\.7", view.how_to_reach)


# --- in a browser -------------------------------------------------------------------------------------------------

PATIENCE = 120_000  # ms: without a graphics processor, beside other work
FLAGS = ("--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-sandbox")


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = os.environ.get("CARDAN_CHROMIUM") or shutil.which("chromium")
    if path is None:
        pytest.skip("there is no browser: CARDAN_CHROMIUM is not set, and chromium is not on the path")
    with playwright.sync_playwright() as running:
        try:
            chromium = running.chromium.launch(executable_path=path, args=list(FLAGS))
        except playwright.Error as error:
            pytest.skip(f"the browser {path} does not start: {error.message.splitlines()[0]}")
        yield chromium
        chromium.close()


def red(picture):
    """Return where a picture is red, as a mask."""
    r, g, b = np.moveaxis(picture[..., :3].astype(int), -1, 0)
    return (r > 60) & (3 * g < r) & (3 * b < r)  # in the shade, too; the page has orange


@pytest.mark.full
def test_in_a_browser_the_robot_is_seen_and_a_slider_moves_it(browser):
    """A red box on a rail: it is in the picture; arrow keys on its slider move it, here and there."""
    import imageio.v3

    mechanism = Mechanism("rail")
    mechanism.add_body("box", inertia=cardan.Inertia(1.0, (0, 0, 0), np.diag([0.1, 0.1, 0.1])))
    mechanism.add_joint("slide", Prismatic([0, 1, 0]), "world", "box", limits=cardan.Limits([-0.25], [0.25]))
    mechanism.add_shape(Shape("box", "visual", Box((0.4, 0.4, 0.4)), rgba=(1.0, 0.0, 0.0, 1.0)))
    page = browser.new_page(viewport={"width": 640, "height": 360})
    page.set_default_timeout(PATIENCE)
    with cardan.show(mechanism) as view:
        plain(view)
        page.goto(view.url, timeout=PATIENCE)
        picture = lambda: red(imageio.v3.imread(page.screenshot()))  # noqa: E731
        before = seen(page, lambda: (mask := picture()).sum() > 500 and mask)
        thumb = page.get_by_role("slider").first
        thumb.focus()
        thumb.press("Home")
        wait_for(lambda: view.q[0] == -0.25, timeout=60.0)
        view.flush()
        assert np.isclose(view.robot().placement().matrix("box", 0)[1, 3], -0.25)
        moved = lambda: abs(np.argwhere(picture())[:, 1].mean() - np.argwhere(before)[:, 1].mean()) > 20  # noqa: E731
        seen(page, lambda: picture().any() and moved())
        page.close()


def plain(view):
    """Leave out what takes a processor without graphics long to draw."""
    view.server.scene.configure_default_lights(cast_shadow=False)
    view.server.scene.configure_environment_map(None)
    view.server.scene.get_handle_by_name("/ground").visible = False


@pytest.mark.full
def test_in_a_browser_a_hand_is_dragged(browser, arm):
    """The arrow of the handle along the tool's y is pulled back by 8 cm: the tool follows, and turns not."""
    page = browser.new_page(viewport={"width": 860, "height": 520})
    with cardan.show(arm, [0.3, 0.5, -0.2, -1.0, 0.4, 0.8, 0.1]) as view:
        plain(view)
        view.drag("tool")
        page.goto(view.url, timeout=PATIENCE)
        seen(page, lambda: bool(view.server.get_clients()))
        (client,) = view.server.get_clients().values()
        arrow = 0.5 * view.robot().dragging.handle.scale

        def is_pulled():  # again, until the handle is drawn: before, the mouse turns the camera
            page.wait_for_timeout(500)
            X = cardan.frame_transform(arm, view.q, frame="tool")
            goal = X @ pose_matrix((0.0, -0.08, 0.0), (1.0, 0.0, 0.0, 0.0))
            for back in (0.0, 0.04, 0.08):
                page.mouse.move(*pixel(client.camera, X[:3, 3] + (arrow - back) * X[:3, 1]))
                page.wait_for_timeout(100)
                if not back:
                    page.mouse.down()
            page.mouse.up()
            page.wait_for_timeout(100)
            view.flush()
            return bool(np.abs(cardan.frame_transform(arm, view.q, frame="tool") - goal).max() < 0.01)

        seen(page, is_pulled)
        page.close()


def pixel(camera, point):
    """Return where a point is in the window: the camera looks along its z, and its y points down."""
    x, y, z = (np.linalg.inv(pose_matrix(camera.position, camera.wxyz)) @ (*point, 1.0))[:3]
    focal = 0.5 * camera.image_height / np.tan(0.5 * camera.fov)
    return 0.5 * camera.image_width + focal * x / z, 0.5 * camera.image_height + focal * y / z


def seen(page, condition, timeout=120.0):
    """Return what a condition gives once it holds of what is drawn."""
    end = time.monotonic() + timeout
    while not isinstance(found := condition(), np.ndarray) and not found:
        assert time.monotonic() < end
        page.wait_for_timeout(100)
    return found
