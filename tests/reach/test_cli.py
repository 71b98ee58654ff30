"""The command line as a user types it."""

import json
import re
import subprocess
import sys

import numpy as np
import pytest

import cardan
import linkages
from cardan.cli import main

ARM = cardan.robots.urdf_path("arm7")
QUADRUPED = cardan.robots.urdf_path("quadruped")


def run(capsys, *words):
    status = main([str(w) for w in words])
    out, err = capsys.readouterr()
    return status, out, err


def test_info_text(capsys):
    status, out, _ = run(capsys, "info", ARM)
    assert status == 0
    for words in ("nq = 7, nv = 7", "joint4", "[-2.1, 2.1]", "mass [kg]", "tool  [flange: fixed]"):
        assert words in out


def test_info_json(capsys):
    status, out, _ = run(capsys, "info", QUADRUPED, "--base", "floating", "--json")
    robot = json.loads(out)
    model = cardan.load(QUADRUPED, base="floating")
    assert status == 0
    assert (robot["nq"], robot["nv"], robot["mass"]) == (model.nq, model.nv, pytest.approx(model.mass))
    root, hip = robot["joints"][:2]
    assert root["type"] == "FreeFlyer"
    assert root["limits"]["lower"] == [None] * 6
    assert (hip["name"], hip["q"], hip["limits"]["upper"]) == ("front_left_hip_joint", [7, 8], [0.9])
    assert sum(b["mass"] for b in robot["bodies"]) == pytest.approx(model.mass)


@pytest.mark.slow
def test_info_says_how_loops_move(capsys, tmp_path):
    """Also where they do not close."""
    bars, far = cardan.robots.four_bar(), linkages.four_bar_too_far_apart(2.0)
    for robot, words in (
        (bars, "5 constraints, 2 independent, 1 of 3 freedoms left"),
        (far, "'closing_joint' open by"),
    ):
        cardan.save(robot, tmp_path / f"{robot.name}.json")
        for command in ("info", "check"):
            assert words in run(capsys, command, tmp_path / f"{robot.name}.json")[1]


def test_check(capsys, tmp_path):
    assert run(capsys, "check", ARM)[0] == 0
    bad = tmp_path / "bad.urdf"
    bad.write_text('<robot name="r">\n<link name="a"/>\n<joint name="j" type="revolut"/>\n</robot>')
    status, out, _ = run(capsys, "check", bad)
    assert status == 1
    assert f"{bad}:3: error" in out
    assert "'revolute'" in out
    status, out, _ = run(capsys, "check", bad, "--json")
    assert status == 1
    assert json.loads(out)[0]["line"] == 3
    assert run(capsys, "check", tmp_path / "none.urdf")[0] == 1


@pytest.mark.slow
def test_check_says_where_loops_are_singular(capsys, tmp_path):
    for mechanism, text in (
        (linkages.parallelogram(2), "singular, since constraints lose rank, at low0 1.071, high0 -1.071, low1 1.071"),
        (cardan.robots.four_bar(), "by 1 of 3 velocities, of crank_joint\n.*: *no singular pose was found"),
        (linkages.slides(), "it moves by 1 of 2 velocities"),
    ):
        file = tmp_path / "robot.json"
        cardan.save(mechanism, file)
        status, out, _ = run(capsys, "check", file)
        assert status == 0
        assert re.search(text, out), out


def test_joints(capsys):
    out = run(capsys, "joints")[1]
    for joint in cardan.joints.CATALOGUE:
        assert type(joint).__name__ in out
    entries = {e["example"]: e for e in json.loads(run(capsys, "joints", "--json")[1])}
    assert entries["FreeFlyer()"]["q"] == ["px", "py", "pz", "x", "y", "z", "w"]
    assert entries["Spherical()"]["v"] == ["wx", "wy", "wz"]


def states(model, n):
    rng = np.random.default_rng(0)
    return model.random_configuration((n,), seed=0), rng.normal(size=(n, model.nv)), rng.normal(size=(n, model.nv))


def test_dynamics_csv_and_npz_agree_with_the_functions(capsys, tmp_path):
    arm = cardan.load(ARM)
    q, v, a = states(arm, 20)
    np.savez(tmp_path / "in.npz", q=q, v=v, a=a)
    np.savetxt(tmp_path / "in.csv", np.hstack([q, v, a]), delimiter=",", header="names" + ",x" * 20, comments="")
    for name in ("in.npz", "in.csv"):
        assert run(capsys, "dynamics", ARM, tmp_path / name, "-o", tmp_path / "out.npz", "--frame", "tool")[0] == 0
        with np.load(tmp_path / "out.npz") as out:
            tau = np.stack([out[f"tau:joint{k}"] for k in range(1, 8)], -1)
            np.testing.assert_allclose(tau, cardan.inverse_dynamics(arm, q, v, a), atol=1e-12)
            np.testing.assert_allclose(out["kinetic_energy"], cardan.kinetic_energy(arm, q, v), atol=1e-12)
            np.testing.assert_allclose(out["tool:z"], cardan.frame_transform(arm, q, "tool")[:, 2, 3], atol=1e-12)
    assert run(capsys, "dynamics", ARM, tmp_path / "in.csv", "-o", tmp_path / "out.csv")[0] == 0
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert lines[0].startswith("tau:joint1,tau:joint2")
    assert len(lines) == 21
    assert float(lines[1].split(",")[0]) == tau[0, 0]


@pytest.mark.slow
def test_dynamics_of_loops_say_whose_efforts_they_are(capsys, tmp_path):
    """They had been those of the open tree without a word, and open configurations, too."""
    bars, place, gaps = cardan.robots.four_bar(), tmp_path / "bars.json", []
    cardan.save(bars, place)
    for k, q in enumerate(([0.0, 0.0, 0.0], [0.1, 0.0, 0.0])):
        np.savez(tmp_path / "q.npz", q=[q])
        _, out, _ = run(capsys, "dynamics", place, tmp_path / "q.npz", "-o", tmp_path / f"{k}.csv")
        gaps.append(float(re.search(r"load no loop; q leaves loops open by (\S+) \[m, rad\]", out)[1]))
    expected = [np.abs(cardan.loop_residual(bars.model(), q)).max() for q in ([0.0, 0.0, 0.0], [0.1, 0.0, 0.0])]
    np.testing.assert_allclose(gaps, expected, rtol=0.05, atol=1e-12)


def test_dynamics_of_q_alone_holds_against_gravity(capsys, tmp_path):
    arm = cardan.load(ARM)
    q = states(arm, 3)[0]
    np.savetxt(tmp_path / "q.csv", q, delimiter=",")
    run(capsys, "dynamics", ARM, tmp_path / "q.csv", "-o", tmp_path / "out.npz")
    with np.load(tmp_path / "out.npz") as out:
        np.testing.assert_allclose(out["tau:joint2"], cardan.gravity_forces(arm, q)[:, 1], atol=1e-12)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (["0,0,0,0,0,0,0", "0,0,0,0,0,0"], "row 2: has 6 columns, expected nq = 7"),
        (["0,0,0,0,0,0,0", "", "0,0,0,x,0,0,0"], "row 3: column 4: 'x' is not a number"),
        (["0,0,0,0,0,0,nan"], "row 1: q holds a number that is not finite"),
        (["0,0,0,0,0,0,0", ",".join("0" * 14)], "row 2: has 14 columns, the rows above have 7"),
        ([], "holds no row"),
    ],
)
def test_bad_rows_are_named_and_nothing_is_written(capsys, tmp_path, rows, words):
    (tmp_path / "in.csv").write_text("\n".join(rows))
    (tmp_path / "out.csv").write_text("old")
    status, _, err = run(capsys, "dynamics", ARM, tmp_path / "in.csv", "-o", tmp_path / "out.csv")
    assert status == 1
    assert words in err
    assert (tmp_path / "out.csv").read_text() == "old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.csv", "out.csv"]


def test_bad_files_and_names(capsys, tmp_path):
    (tmp_path / "q.csv").write_text("0,0,0,0,0,0,0\n")
    (tmp_path / "junk.npz").write_bytes(b"junk")
    np.savez(tmp_path / "other.npz", x=np.zeros(3))
    np.savez(tmp_path / "shape.npz", q=np.zeros((2, 7)), v=np.zeros((3, 7)))
    for arguments, words in [
        ((ARM, "none.csv", "-o", "o.csv"), "cannot be read"),
        ((ARM, "q.txt", "-o", "o.csv"), "use .csv or .npz"),
        ((ARM, "q.csv", "-o", "o.xlsx"), "use .csv or .npz"),
        ((ARM, "q.csv", "-o", "no/such/o.csv"), "cannot be written"),
        ((ARM, "junk.npz", "-o", "o.csv"), "not an .npz archive"),
        ((ARM, "other.npz", "-o", "o.csv"), "has no array 'q'"),
        ((ARM, "shape.npz", "-o", "o.csv"), "array 'v' has shape (3, 7)"),
        ((ARM, "q.csv", "-o", "o.csv", "--frame", "tol"), "did you mean 'tool'"),
        (("none.urdf", "q.csv", "-o", "o.csv"), "none.urdf"),
    ]:
        paths = [str(tmp_path / w) if "." in w and w != ARM else w for w in arguments]
        status, _, err = run(capsys, "dynamics", *paths)
        assert status == 1
        assert words in err
    assert not list(tmp_path.glob("o.*"))


def test_quaternions_off_the_manifold_are_a_bad_row(capsys, tmp_path):
    model = cardan.load(QUADRUPED, base="floating")
    q = model.random_configuration((3,), seed=0)
    q[1, 3:7] *= 2.0
    np.savez(tmp_path / "q.npz", q=q)
    status, _, err = run(
        capsys, "dynamics", QUADRUPED, tmp_path / "q.npz", "-o", tmp_path / "o.npz", "--base", "floating"
    )
    assert status == 1
    assert "row 2: q is off the configuration manifold" in err


def test_usage_errors_exit_with_2(capsys):
    with pytest.raises(SystemExit) as info:
        main(["dynamics", ARM])
    assert info.value.code == 2


@pytest.mark.full
@pytest.mark.parametrize(
    ("words", "meant"), [("--duration 3", "'--seconds'"), ("--wurlds=3", "'--worlds'"), ("--quick", "--quick\n")]
)
def test_an_option_that_does_not_exist_is_said_by_its_command(capsys, words, meant):
    """The usage of all commands was shown, and nothing was suggested."""
    with pytest.raises(SystemExit) as info:
        main(["simulate", "arm7", *words.split()])
    assert info.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith("usage: cardan simulate")
    assert meant in said


def test_as_a_module_and_into_a_closed_pipe():
    out = subprocess.run([sys.executable, "-m", "cardan", "--version"], capture_output=True, text=True, check=True)
    assert out.stdout == f"cardan {cardan.__version__}\n"
    closed = subprocess.run(
        f"{sys.executable} -m cardan info {ARM} --json | head -1",
        shell=True,
        capture_output=True,
        text=True,
        check=True,
    )
    assert closed.stderr == ""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("verify", "Ellipsiod"), "did you mean 'Ellipsoid'?"),
        (("verify", "{}/none.py:Cam"), "expected a Python file that exists"),
        (("verify", "{}/cam.py:Can"), "there is no joint class named 'Can'; did you mean 'Cam'?"),
        (("verify", "{}/cam.py:Cam"), "write a line such as `mine = Cam(...)`"),
        (
            ("verify", "{}/broken.py:Cam"),
            "broken.py:1): got 'ZeroDivisionError: division by zero', expected a file that can",
        ),
        (("verify", "Fixed", "--samples", "1"), "expected two or more"),
    ],
)
def test_joints_kit_errors(capsys, tmp_path, words, message):
    needs = "import cardan\nclass Cam(cardan.Joint):\n    def __init__(self, r): pass\n    transform = None\n"
    (tmp_path / "cam.py").write_text(needs)
    (tmp_path / "broken.py").write_text("1 / 0")
    status, _, err = run(capsys, "joints", *(w.format(tmp_path) for w in words))
    assert status == 1
    assert message in err


@pytest.mark.slow
def test_joints_verify_json(capsys, tmp_path):
    place = tmp_path / "wrong.py"
    place.write_text(
        "import cardan\n\n\nclass Wrong(cardan.Joint):\n    manifold = cardan.manifolds.Euclidean(1)\n\n"
        "    def __init__(self, pitch):\n        self.pitch = pitch\n\n    def transform(self, q):\n"
        "        return cardan.SE3(translation=(self.pitch * q[0], 0.0, 0.0))\n\n    def motion_subspace(self, q):\n"
        "        return [cardan.Motion((-self.pitch, 0.0, 0.0), (0.0, 0.0, 0.0))]\n\n\nmine = Wrong(0.5)\n"
    )
    status, out, _ = run(capsys, "joints", "verify", f"{place}:mine", "--json")
    certificate = json.loads(out)
    assert status == 1
    assert (certificate["certificate"], certificate["passed"]) == (1, False)
    first = next(f for f in certificate["findings"] if f["status"] == "failed")
    assert first["name"] == "motion subspace"


@pytest.mark.slow
def test_help_imports_the_parser_alone():
    written = (
        "import sys\nfrom cardan.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "rooms = 'cardan.formats', 'cardan.simulation'\n"
        "print(sorted(name for name in sys.modules if name.startswith(rooms)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", written], capture_output=True, text=True, check=True)
    assert "simulate" in done.stdout
    assert done.stderr.strip() == "[]"


def test_joints_are_locked(capsys, tmp_path):
    arm = str(cardan.robots.urdf_path("arm7"))
    assert main(["info", arm, "--json", "--lock", "joint3=0.5", "--lock", "joint5=0"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["nv"] == 5
    assert main(["convert", arm, str(tmp_path / "arm.json"), "--lock", "joint3=0.5"]) == 0
    assert cardan.load(str(tmp_path / "arm.json")).nv == 6
    assert main(["info", arm, "--lock", "joint33=0.5"]) == 1
    assert "did you mean 'joint3'" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["info", arm, "--lock", "joint3"])
    assert "expected JOINT=VALUE" in capsys.readouterr().err


def test_check_and_info_agree_on_a_file_without_a_body(capsys, tmp_path):
    (tmp_path / "scene.xml").write_text('<mujoco><worldbody><geom type="plane" size="1 1 1"/></worldbody></mujoco>')
    pytest.importorskip("mujoco")
    for command in ("check", "info"):
        assert main([command, str(tmp_path / "scene.xml")]) == 1
        assert "holds no body, only what stands in the world" in "".join(capsys.readouterr())
