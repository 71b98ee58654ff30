"""`cardan simulate`: what it writes is what the solvers find; what it is asked wrongly is said."""

import json
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import cardan
from cardan._motion.simulation.builder import drive_all
from cardan._motion.simulation.standing import stand
from cardan.cli import main
from cardan.joints import Mimic, Revolute

PENDULUM = cardan.robots.urdf_path("double_pendulum")
ARM = cardan.robots.urdf_path("arm7")
BALL = """<robot name="ball"><link name="ball">
<inertial><mass value="2"/><inertia ixx="0.008" iyy="0.008" izz="0.008" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><sphere radius="0.1"/></geometry></collision></link></robot>"""
G = 9.81


@pytest.fixture
def ball(tmp_path):
    file = tmp_path / "ball.urdf"
    file.write_text(BALL)
    return file


def simulate(capsys, *words):
    status = main(["simulate", *map(str, words)])
    out, err = capsys.readouterr()
    return status, out, err


def arrays(file):
    with np.load(file) as stored:
        return dict(stored)


def test_it_writes_what_the_solver_finds(capsys, tmp_path):
    out = tmp_path / "out.npz"
    words = ("--worlds", 3, "--seed", 5, "--seconds", 0.1, "--dt", 0.01, "--every", 2)
    status, text, err = simulate(capsys, PENDULUM, "-o", out, *words)
    assert (status, err) == (0, "")
    assert "double_pendulum, 3 worlds, 10 steps of 0.01 s" in text
    world = cardan.load_mechanism(PENDULUM).world()
    q = world.model.random_configuration((3,), seed=5)
    found = cardan.solvers.Featherstone(world, 0.01).rollout(world.state(3, q=q), steps=10, every=2)
    stored = arrays(out)
    for name in ("time", "q", "v", "residual"):
        np.testing.assert_array_equal(stored[name], getattr(found, name))
    np.testing.assert_array_equal(stored["potential_energy"], cardan.potential_energy(world.model, found.q))
    np.testing.assert_array_equal(stored["kinetic_energy"], cardan.kinetic_energy(world.model, found.q, found.v))
    assert stored["diverged"].tolist() == [False] * 3
    assert stored["joints"].tolist() == ["root", "shoulder", "elbow"]
    assert stored["v_starts"].tolist() == [0, 0, 1, 2]


def test_the_support_is_what_the_momentum_and_weight_ask_for(capsys, tmp_path):
    """A pendulum's joint force is known from the motion of its bodies' centres: their mean over each step."""
    simulate(capsys, PENDULUM, "-o", tmp_path / "p.npz", "--seed", 1, "--seconds", 0.05)
    stored, model = arrays(tmp_path / "p.npz"), cardan.load(PENDULUM)
    velocity = cardan.center_of_mass_velocity(model, stored["q"], stored["v"])
    force = model.mass * (np.diff(velocity, axis=0) / 0.002 + [0.0, 0.0, G])
    np.testing.assert_allclose(stored["support"], force, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("solver", ["featherstone", "mujoco", "xpbd", "semi-implicit", "variational"])
def test_every_solver_lets_a_ball_fall(capsys, tmp_path, ball, solver):
    if solver == "mujoco":
        pytest.importorskip("mujoco")
    out, words = tmp_path / "out.npz", ("--base", "floating", "--contact", "none", "--seconds", 0.2, "--dt", 0.01)
    assert simulate(capsys, ball, "-o", out, "--solver", solver, *words)[0] == 0
    stored = arrays(out)
    assert stored["q"][-1, 0, 2] == pytest.approx(0.1 - 0.5 * G * 0.2**2, abs=0.012)
    np.testing.assert_allclose(stored["v"][-1, 0], [0, 0, -G * 0.2, 0, 0, 0], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(stored["support"], 0.0, atol=1e-6)


def test_a_ball_rests_on_the_ground_and_is_held_by_it(capsys, tmp_path, ball):
    simulate(capsys, ball, "-o", tmp_path / "out.npz", "--base", "floating", "--seconds", 0.5)
    stored = arrays(tmp_path / "out.npz")
    assert stored["q"][0, 0, 2] == pytest.approx(0.1)
    assert stored["q"][-1, 0, 2] == pytest.approx(0.1, abs=1e-3)
    np.testing.assert_allclose(stored["support"][-1, 0], [0.0, 0.0, 2.0 * G], rtol=1e-3, atol=1e-9)
    simulate(capsys, ball, "-o", tmp_path / "out.npz", "--base", "floating", "--no-ground", "--seconds", 0.1)
    assert arrays(tmp_path / "out.npz")["q"][-1, 0, 2] < -0.04


@pytest.mark.slow
def test_joints_begin_within_their_limits(capsys, tmp_path):
    """A quadruped's shanks cannot be straight: their neutral angle is beyond a stop."""
    words = ("--base", "floating", "--no-ground", "--seconds", 0.002)
    simulate(capsys, cardan.robots.urdf_path("quadruped"), "-o", tmp_path / "out.npz", *words)
    np.testing.assert_allclose(arrays(tmp_path / "out.npz")["q"][0, 0, 7:], [0.0, 0.0, -1.5] * 4)


def test_joints_that_begin_beyond_their_stops_are_named_and_so_is_the_fastest(capsys, tmp_path):
    """Of a file in which 0 is beyond the stops nothing was said: the robot moved by itself."""
    m = cardan.Mechanism("ankle")
    m.add_body("foot", cardan.Inertia(1.0, (0.0, 0.0, -0.1), 0.01 * np.eye(3)))
    m.add_joint("ankle", cardan.joints.Revolute([0, 1, 0]), "world", "foot", limits=cardan.Limits([0.5], [1.2]))
    m.add_configuration("initial", {"ankle": 0.0})
    cardan.save(m, tmp_path / "foot.json")
    said = simulate(capsys, tmp_path / "foot.json", "--seconds", 0.02)[1]
    assert "beyond its stops, which bring it back within a second or two: joint 'ankle'" in said
    assert "rad/s (ankle)" in said
    assert "stops" not in simulate(capsys, tmp_path / "foot.json", "--seconds", 0.02, "--no-limits")[1]
    assert "stops" not in simulate(capsys, tmp_path / "foot.json", "--seconds", 0.02, "--seed", 1)[1]


def test_robots_stand_each_on_its_lowest_point(ball):
    b = cardan.WorldBuilder()
    for name, height in (("one", 3.0), ("other", -2.0)):
        b.add(
            cardan.load_mechanism(ball), f"{name}_", pose=cardan.SE3(translation=(height, 0, height)), base="floating"
        )
    b.add_ground(pose=cardan.SE3(translation=(0, 0, 0.5)))
    state = b.finalize().state(2)
    state.q[1, 2] = 7.0
    stand(state)
    np.testing.assert_allclose(state.poses[:, :, :3], [[[3.0, 0.0, 0.6], [-2.0, 0.0, 0.6]]] * 2, atol=1e-12)


WEDGE = """<robot name="wedge"><link name="wedge">
<inertial><mass value="2"/><inertia ixx="0.08" iyy="0.08" izz="0.08" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><mesh filename="wedge.obj"/></geometry></collision></link></robot>"""


def test_mujoco_takes_a_mesh_from_the_shell(capsys, tmp_path):
    """It is put on the ground without cardan's own collision, which knows no meshes."""
    pytest.importorskip("mujoco")
    (tmp_path / "wedge.urdf").write_text(WEDGE)
    corners = [(x, y, z) for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.2, 0.1)]
    faces = ["1 2 4 3", "5 7 8 6", "1 5 6 2", "3 4 8 7", "1 3 7 5", "2 6 8 4"]
    lines = [*(f"v {x} {y} {z}" for x, y, z in corners), *(f"f {face}" for face in faces)]
    (tmp_path / "wedge.obj").write_text("\n".join(lines))
    words = ("--base", "floating", "--solver", "mujoco", "--seconds", 0.5)
    assert simulate(capsys, tmp_path / "wedge.urdf", "-o", tmp_path / "out.npz", *words)[0] == 0
    height = arrays(tmp_path / "out.npz")["q"][:, 0, 2]
    assert height[0] == pytest.approx(0.2)
    assert height[-1] == pytest.approx(0.2, abs=2e-3)


@pytest.mark.full
def test_contacts_are_chosen_on_the_command_line(capsys, tmp_path):
    robot, out = cardan.robots.urdf_path("quadruped"), tmp_path / "out.npz"
    words = ("--base", "floating", "--seconds", 0.4, "--every", 10, "--pd", 60, 2)
    heights = {}
    for chosen in ((), ("--contacts", "front_*", "--contacts", "rear_*"), ("--contacts", "front_left_foot")):
        assert simulate(capsys, robot, "-o", out, *words, *chosen)[0] == 0
        heights[chosen] = arrays(out)["q"][-1, 0, 2]
    assert heights[()] == heights["--contacts", "front_*", "--contacts", "rear_*"]
    assert heights["--contacts", "front_left_foot"] < heights[()] - 0.05
    status, _, err = simulate(capsys, robot, "-o", out, *words, "--contacts", "frnt_left_foot")
    assert status != 0
    assert "did you mean 'front_left_foot'" in err


def test_drives_hold_joints_where_they_begin(capsys, tmp_path):
    out, words = tmp_path / "out.npz", ("--worlds", 4, "--seed", 0, "--seconds", 1, "--dt", 0.01)
    simulate(capsys, PENDULUM, "-o", out, "--pd", 1e5, 1e3, *words)
    q = arrays(out)["q"]
    np.testing.assert_allclose(q, np.broadcast_to(q[0], q.shape), atol=2e-3)


def test_a_joint_whose_file_limits_its_effort_to_0_is_named_where_drives_are_asked_for(capsys, tmp_path):
    """Exporters of CAD write 0. The arm fell as if there were no drive, without a word."""
    file = tmp_path / "arm.urdf"
    limit = '<limit lower="-1" upper="1" effort="0" velocity="0"/>'
    text = Path(PENDULUM).read_text().replace("continuous", "revolute")
    file.write_text(text.replace("</joint>", f"{limit}</joint>"))
    joints = [c.name for c in cardan.load_mechanism(file).joints if c.joint.nv]
    _, out, _ = simulate(capsys, file, "--seconds", 0.01, "--pd", 100, 10)
    assert f"no drive holds joint {', '.join(map(repr, joints))}: the file limits its effort to 0" in out
    assert "no drive holds" not in simulate(capsys, file, "--seconds", 0.01)[1]


@pytest.mark.slow
def test_loops_begin_closed_and_stay_so(capsys, tmp_path):
    file, out = tmp_path / "five_bar.json", tmp_path / "out.npz"
    five_bar = cardan.robots.five_bar()
    cardan.save(five_bar, file)
    words = ("--pd", 20, 1, "--worlds", 3, "--seed", 0, "--seconds", 0.1)
    assert simulate(capsys, file, "-o", out, *words)[0] == 0
    gaps = np.abs(cardan.loop_residual(five_bar.model(), arrays(out)["q"]))
    assert gaps[0].max() < 1e-12
    assert gaps.max() < 1e-5


def test_drives_are_at_joints_that_have_coordinates():
    pair = cardan.Mechanism("pair")
    for name in ("a", "b"):
        pair.add_body(name, cardan.Inertia(1.0, (0, 0, 0.1), np.eye(3)))
    pair.add_joint("hinge", Revolute([0, 1, 0]), "world", "a")
    pair.add_joint("copy", Mimic(Revolute([0, 1, 0]), "hinge", -1.0), "a", "b")
    drives = [c.drive.stiffness for c in drive_all(pair, cardan.Drive(5.0, 1.0)).joints]
    assert drives == [(5.0,), (0.0,)]


def test_diverged_worlds_are_named_and_the_status_is_3(capsys, tmp_path):
    pytest.importorskip("matplotlib", reason="needs the extra `plot`")
    out = tmp_path / "out.npz"
    words = (
        "--integrator",
        "semi_implicit",
        "--no-limits",
        "--pd",
        1e300,
        1e300,
        "--worlds",
        15,
        "--seed",
        0,
        "--seconds",
        0.1,
    )
    status, text, err = simulate(capsys, PENDULUM, "-o", out, *words, "--json")
    assert status == 3
    assert "world 0 diverged at 0" in err
    assert "joint 'shoulder'" in err
    assert "and 3 more worlds diverged" in err
    assert len(err.splitlines()) == 13
    assert json.loads(text)["diverged"] == list(range(15))
    stored = arrays(out)
    assert stored["diverged"].all()
    assert np.isfinite(stored["q"]).all()
    assert np.isnan(stored["support"][-1]).all()


def test_json_says_what_was_done(capsys, tmp_path):
    words = ("--seconds", 0.011, "--dt", 0.002, "--every", 4, "--json")
    found = json.loads(simulate(capsys, PENDULUM, "-o", tmp_path / "out.npz", *words)[1])
    assert (found["robot"], found["solver"], found["worlds"]) == ("double_pendulum", "Featherstone", 1)
    assert (found["steps"], found["records"], found["diverged"]) == (8, 3, [])
    assert found["energy_first"] == pytest.approx(found["energy_last"])


def test_without_a_file_it_says_what_became_of_the_robot(capsys, ball, tmp_path):
    status, text, err = simulate(capsys, ball, "--base", "floating", "--seconds", 0.1)
    assert (status, err) == (0, "")
    assert "mean height of the centre of mass 0.1 m at first, 0.09" in text
    assert "deepest in the ground at last 0." in text
    assert sorted(p.name for p in tmp_path.iterdir()) == ["ball.urdf"]
    found = json.loads(simulate(capsys, ball, "--base", "floating", "--seconds", 0.1, "--json")[1])
    assert found["output"] is None
    assert 0.0 < found["depth_last"] < 1e-3
    assert found["height_last"] == pytest.approx(0.1 - found["depth_last"])
    assert json.loads(simulate(capsys, ball, "--seconds", 0.1, "--json")[1])["depth_last"] is None


FLAIL = """<robot name="flail"><link name="ball"><inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01"
ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry><sphere radius="0.1"/></geometry></collision></link>
<link name="rod"/><link name="bob"><inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0"
iyz="0"/></inertial></link><joint name="hinge" type="continuous"><parent link="ball"/><child link="rod"/>
<axis xyz="0 1 0"/></joint><joint name="wrist" type="continuous"><parent link="rod"/><child link="bob"/>
<origin xyz="0.5 0 0"/><axis xyz="0 1 0"/></joint></robot>"""


def test_it_names_bodies_that_fall_through_the_ground(capsys, tmp_path):
    """They were below it without a word."""
    file = tmp_path / "flail.urdf"
    file.write_text(FLAIL)
    _, _, err = simulate(capsys, file, "--base", "floating", "--seconds", 0.5)
    assert re.search(r"flail'?: below the ground, for they have no collision shapes: bob by 0\.\d+ m\. Give", err)
    assert simulate(capsys, file, "--base", "floating", "--seconds", 0.01)[2] == ""


def test_rollouts_warn_of_links_that_fall_through_the_ground():
    """Python said nothing where the command line did. What is above, or has no ground, is no reason to warn."""
    flail = cardan.load_mechanism(FLAIL)
    for ground, steps, sinks in ((True, 250, True), (True, 5, False), (False, 250, False)):
        world = flail.world("floating", ground=ground)
        solver = cardan.solvers.Featherstone(world, 0.002)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            solver.rollout(world.state(3), steps=steps)
        assert [w.message.links for w in said] == [("bob",)] * sinks
        assert {w.category for w in said} == {cardan.errors.SunkenWarning} or not sinks
        assert [w.filename for w in said] == [__file__] * sinks


@pytest.mark.slow
def test_it_says_what_hulls_leave_out_of_meshes(capsys, tmp_path):
    """Nothing did: a rim of 200 points came to the ground as one of fewer, without a word."""
    pytest.importorskip("trimesh")
    turn = np.linspace(0.0, 2.0 * np.pi, 200, endpoint=False)
    rim = [f"v {np.cos(a)} {np.sin(a)} {z}" for z in (0.0, 0.2) for a in turn]
    faces = [f"f {k + 1} {(k + 1) % 200 + 1} {k + 201}" for k in range(200)]
    (tmp_path / "wedge.obj").write_text("\n".join(rim + faces))
    file = tmp_path / "wedge.urdf"
    file.write_text(WEDGE)
    words = (file, "--base", "floating", "--seconds", 0.01)
    _, text, _ = simulate(capsys, *words)
    found = json.loads(simulate(capsys, *words, "--json")[1])
    assert found["hulls"] == 1
    assert 1e-4 < found["hull_error"] < 0.03
    assert f"meshes reach at most {1e3 * found['hull_error']:.2f} mm beyond their convex hulls (wedge)" in text


def test_a_base_that_is_fixed_for_want_of_a_word_is_said(capsys, ball):
    said = "ball is fixed on the world; --base floating lets it stand on the ground"
    assert said in simulate(capsys, ball, "--seconds", 0.01)[1]
    assert said not in simulate(capsys, ball, "--seconds", 0.01, "--base", "fixed")[1]
    assert said not in simulate(capsys, ball, "--seconds", 0.01, "--base", "floating")[1]


@pytest.mark.slow
def test_what_floats_by_its_description_gets_ground_if_there_is_none(capsys, tmp_path):
    m = cardan.load_mechanism(BALL)
    m.add_joint("free", cardan.joints.FreeFlyer(), "world", "ball", cardan.SE3(translation=[0.0, 0.0, 0.2]))
    cardan.save(m, tmp_path / "ball.json")
    words = (tmp_path / "ball.json", "--seconds", 1, "--json")
    assert json.loads(simulate(capsys, *words)[1])["height_last"] == pytest.approx(0.1, abs=1e-3)
    assert json.loads(simulate(capsys, *words, "--no-ground")[1])["height_last"] < -4.0
    m.add_shape(cardan.description.Shape("world", "collision", cardan.description.Plane()))
    cardan.save(m, tmp_path / "ball.json")
    assert json.loads(simulate(capsys, *words)[1])["height_last"] == pytest.approx(0.1, abs=1e-3)


@pytest.mark.slow
def test_a_film_is_drawn(capsys, ball, tmp_path):
    pytest.importorskip("matplotlib")
    simulate(capsys, ball, "--base", "floating", "--seconds", 0.1, "--film", tmp_path / "ball.gif")
    assert (tmp_path / "ball.gif").read_bytes().startswith(b"GIF8")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-o", "out.csv"), "ends in .npz"),
        (("-o", "no/such/out.npz", "--seconds", 0.01), "a writable place"),
        (("--worlds", 0), "--worlds: got 0"),
        (("--every", 0), "--every: got 0"),
        (("--seed", -1), "--seed: got -1"),
        (("--seconds", "nan"), "--seconds: got nan"),
        (("--seconds", -1), "--seconds: got -1"),
        (("--seconds", 1e300, "--dt", 1e-150), "Write --every N"),
        (("--worlds", 10**7), "Write --every N"),
        (("--dt", 0), "dt: got 0.0"),
        (("--pd", -1, 0), "stiffness of the drive of joint 'shoulder'"),
        (("--integrator", "newmark"), "no integrator named 'newmark'"),
        (("--integrator", "rk4", "--solver", "xpbd"), "another solver than xpbd"),
        (("--contact", "convex", "--solver", "variational"), "another solver than variational"),
        (("--film", "p.xyz"), "film to write: got 'p.xyz', expected a name in .mp4, .gif, .html"),
    ],
)
def test_what_is_asked_wrongly_is_said_and_nothing_is_written(capsys, tmp_path, monkeypatch, words, said):
    monkeypatch.chdir(tmp_path)
    status, _, err = simulate(capsys, PENDULUM, *(() if "-o" in words else ("-o", "out.npz")), *words)
    assert status == 1
    assert said in err
    assert not list(tmp_path.iterdir())


def test_inputs_are_not_replaced(capsys, tmp_path):
    file = tmp_path / "ball.npz"
    file.write_text(BALL)
    status, _, err = simulate(capsys, file, "-o", file)
    assert (status, "another file than the one that is read" in err) == (1, True)
    assert file.read_text() == BALL


def test_a_robot_without_mass_is_simulated_and_said_to_have_none(capsys, tmp_path):
    """Robosuite's null_base.xml ended in "model has no mass, so its centre of mass does not move"."""
    file = tmp_path / "null.urdf"
    file.write_text('<robot name="null"><link name="base"/></robot>')
    status, text, err = simulate(capsys, file, "--seconds", 0.01, "-o", tmp_path / "out.npz")
    assert (status, err) == (0, "")
    assert "no body has mass" in text
    assert (arrays(tmp_path / "out.npz")["support"] == 0.0).all()
    found = json.loads(simulate(capsys, file, "--seconds", 0.01, "--json")[1])
    assert found["height_first"] is found["height_last"] is None
