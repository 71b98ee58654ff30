"""Hostile and unlucky surroundings: odd numbers, files made to waste time, names that drive terminals, broken disks."""

import json
import os
import re
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import cardan
from cardan import Inertia
from cardan.cli import main
from cardan.errors import DescriptionError, DTypeError, ParameterError, UnknownNameError
from cardan.formats import check
from cardan.joints import Mimic, Revolute

ARM = cardan.robots.urdf_path("arm7")
PENDULUM = cardan.robots.urdf_path("double_pendulum")
ORIGIN = (0.0, 0.0, 0.0)

# --- numbers --------------------------------------------------------------------------------------------------------

SCALARS = (float, np.float64, np.float32, np.array)


@pytest.mark.parametrize("kind", SCALARS)
@pytest.mark.parametrize("mass", [-1.0, float("nan"), float("inf"), 1e-320])
def test_a_mass_of_any_type_is_checked(kind, mass):
    if kind is np.float32 and mass == 1e-320:
        mass = -mass * 1e300  # it has no such small number
    with pytest.raises(ParameterError, match=r"mass|finite"):
        Inertia(kind(mass), (0, 0, 0.1), np.eye(3))


@pytest.mark.parametrize("kind", SCALARS)
def test_everything_beside_such_a_mass_is_checked(kind):
    with pytest.raises(ParameterError, match="finite"):
        Inertia(kind(1.0), (np.nan, 0, 0))
    with pytest.raises(ParameterError, match="symmetric"):
        Inertia(kind(1.0), ORIGIN, [[1, 2, 3], [0, 1, 0], [0, 0, 1]])
    assert Inertia(kind(2.0), (0.5, 0, 0)) == Inertia(2.0, (0.5, 0, 0))
    assert type(Inertia(kind(2.0)).mass) is float


@pytest.mark.parametrize(
    "arguments",
    [
        ("1",),
        (None,),
        (1j,),
        (10**400,),
        (1.0, (0, 0, 10**400)),
        (1.0, "abc"),
        (1.0, (0, 0, "a")),
        (1.0, ORIGIN, [["a"] * 3] * 3),
        (np.bool_(True),),
        ([1.0],),
    ],
    ids=lambda a: repr(a)[:30],
)
def test_what_is_no_number_is_no_inertia(arguments):
    with pytest.raises(ParameterError):
        Inertia(*arguments)


def test_an_inertia_about_the_origin_may_be_given_as_lists():
    rows = [[1, 0, 0], [0, 2, 0], [0, 0, 3]]
    inertia = Inertia.from_origin(2.0, [0, 0, 1], rows)
    assert inertia == Inertia.from_origin(2.0, cardan.spatial.Vector3(0.0, 0.0, 1.0), inertia.inertia_at_origin)
    turned = cardan.SE3(translation=(1.0, 0.0, 0.0)) @ inertia
    assert turned.mass == 2.0
    with pytest.raises(ParameterError, match="first_moment"):
        Inertia.from_origin(1.0, "abc", np.eye(3))


def test_integers_beyond_every_float_are_refused():
    with pytest.raises(ParameterError):
        Revolute((0, 10**400, 1))
    with pytest.raises(ParameterError):
        cardan.Limits(lower=[10**400])
    with pytest.raises(ParameterError):
        cardan.description.Sphere(10**400)
    with pytest.raises(ParameterError):
        cardan.robots.arm7().model(gravity=(0, 0, 10**400))


@pytest.mark.parametrize("read", [cardan.load, cardan.load_mechanism, check, cardan.from_json])
@pytest.mark.parametrize("thing", [None, 3, [], object()])
def test_what_is_no_file(read, thing):
    with pytest.raises(DTypeError, match="expected a path, or"):
        read(thing)


# --- files made to waste time: each took 20 s to 25 min, now a share of a second ------------------------------------

LIMIT = 25.0  # CPU seconds; a fraction of one where nobody else works


@pytest.fixture
def quick():
    """Fail where a test computes for long."""
    before = time.process_time()
    yield
    assert time.process_time() - before < LIMIT


def robot(bodies, joints=()):
    content = {"cardan": "mechanism", "schema": 1, "name": "m", "bodies": list(bodies), "joints": list(joints)}
    return json.dumps(content, indent=0)


def hinge(k, child, **more):
    return {"name": f"j{k}", "joint": {"Revolute": {}}, "parent": "world", "child": child, **more}


@pytest.mark.usefixtures("quick")
def test_many_faults_in_a_long_file_have_their_paths():
    bodies = [{"name": f"b{k}"} | ({"x": 1} if k >= 20_000 - 1000 else {}) for k in range(20_000)]
    faults = check(robot(bodies))
    assert len(faults) == 1000
    assert all(fault.message.startswith(f"bodies[{19_000 + k}]") for k, fault in enumerate(faults))


@pytest.mark.usefixtures("quick")
def test_doubts_are_as_many_as_faults():
    matrix = [[9, 0, 0], [0, 1, 0], [0, 0, 1]]
    inertia = {"mass": 1.0, "first_moment": [0, 0, 0], "inertia_at_origin": matrix}
    assert len(check(robot({"name": f"b{k}", "inertia": inertia} for k in range(4000)))) == 1000


@pytest.mark.usefixtures("quick")
def test_long_unknown_names_are_not_compared_for_minutes():
    names = [f"b{k:0149d}" for k in range(1000)]
    text = robot([{"name": name} for name in names], [hinge(k, f"c{k:0149d}") for k in range(1000)])
    faults = check(text)
    assert len(faults) == 1000
    assert "did you mean" in faults[0].message
    assert "did you mean" not in faults[-1].message


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
def test_mimics_of_mimics_are_resolved_in_linear_time():
    links = ['<robot name="m"><link name="l0"/>']
    joint = '<link name="l{0}"/><joint name="j{0}" type="revolute"><parent link="l0"/><child link="l{0}"/>{1}'
    for k in range(1, 3001):
        mimic = f'<mimic joint="j{k - 1}"/>' if k > 1 else ""
        links.append(joint.format(k, f'<limit effort="1" velocity="1"/>{mimic}</joint>'))
    assert cardan.load("".join(links) + "</robot>").nv == 1


def test_a_chain_of_mimics_is_what_it_was():
    m = cardan.Mechanism("m")
    for k in range(5):
        m.add_body(f"b{k}", Inertia(1.0))
    for k in (3, 0, 2, 1, 4):  # not in the order they copy each other
        joint = Mimic(Revolute(), f"j{k - 1}", 2.0, 1.0) if k else Revolute()
        m.add_joint(f"j{k}", joint, "world", f"b{k}")
    nodes = {node.name: node.joint for node in m.model().nodes}
    assert [(nodes[f"j{k}"].multiplier, nodes[f"j{k}"].offset) for k in range(1, 5)] == [
        (2, 1),
        (4, 3),
        (8, 7),
        (16, 15),
    ]
    m.add_body("c0")
    m.add_body("c1")
    m.add_joint("k0", Mimic(Revolute(), "k1"), "world", "c0")
    m.add_joint("k1", Mimic(Revolute(), "k0"), "world", "c1")
    with pytest.raises(cardan.errors.MechanismError, match="copies itself"):
        m.model()


@pytest.mark.usefixtures("quick")
def test_values_are_counted_before_they_are_read():
    with pytest.raises(DescriptionError, match="holds more than 4000000 values"):
        cardan.from_json('{"cardan": [' + "[[0]]," * 2_000_000 + "0]}")


@pytest.mark.full
@pytest.mark.usefixtures("quick")
def test_unknown_elements_are_not_compared_for_minutes():
    tags = "".join(f"<lin{k}/>" for k in range(200_000))
    assert len(check(f'<robot name="r"><link name="a"/>{tags}</robot>')) <= 2001


def test_messages_are_bounded():
    axis = ",".join(["0"] * 100_000)
    faults = check(f'{{"cardan": "joint", "schema": 1, "joint": {{"Revolute": {{"axis": [{axis}]}}}}}}')
    assert len(faults[0].message) <= 1100
    assert "expected three finite numbers" in faults[0].message
    long = "x" * 10**6
    assert len(str(check(robot([{"name": long}, {"name": long}]))[0])) < 1200
    with pytest.raises(UnknownNameError) as caught:
        cardan.load(ARM).q_slice(long)
    assert len(str(caught.value)) < 2500
    assert len(str(ParameterError("what", got=np.zeros(10**6), expected="less" * 10**5))) < 2500


# --- what is said of files -------------------------------------------------------------------------------------------

JOINT = (
    '<joint name="j" type="revolute"><parent link="a"/>{}<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
)


@pytest.mark.parametrize(
    ("inside", "said"),
    [
        ('<child link="b"><origin xyz="1 2 3"/></child>', "<origin> in <child> is skipped: it means nothing here"),
        ('<child link="b"/><axis xyz="0 0 1"><origin/></axis>', "<origin> in <axis>"),
        ('<child link="b"/><axis xyz="0 0 1"><mimic joint="j"/></axis>', "<mimic> in <axis> .* into <joint>"),
        ('<child link="b"/><pose>1 2 3 0 0 0</pose>', "<pose> in <joint> is skipped: it is SDF's: write <origin"),
        ('<child link="b"/><inertial><mass value="1"/></inertial>', "<inertial> in <joint> .* into <link>"),
    ],
)
def test_known_elements_in_the_wrong_place_are_said(inside, said):
    text = f'<robot name="r">\n<link name="a"/><link name="b"/>\n{JOINT.format(inside)}\n</robot>'
    (fault,) = check(text)
    assert fault.severity == "warning"
    assert fault.line == 3
    assert re.search(said, fault.message), fault.message


def test_a_joint_may_be_named_root():
    joint = JOINT.format('<child link="b"/>')
    text = f'<robot name="r"><link name="a"/><link name="b"/>{joint}</robot>'
    text = text.replace('name="j"', 'name="root"')
    assert check(text) == []
    for base, nv in (("fixed", 1), ("floating", 7)):
        model = cardan.load(text, base=base)
        assert model.joint_names == ("root_a", "root")
        assert model.nv == nv


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no FIFOs")
def test_pipes_and_devices_are_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe.urdf")
    with pytest.raises(DescriptionError, match="no regular file"):
        cardan.load(tmp_path / "pipe.urdf")
    with pytest.raises(DescriptionError, match="no regular file"):
        cardan.from_json("/dev/zero")


# --- what is written -------------------------------------------------------------------------------------------------


def odd_robot(tmp_path, *names):
    m = cardan.Mechanism("odd")
    for k, name in enumerate(names):
        m.add_body(f"b{k}" if k < len(names) - 1 else name + " ", Inertia(1.0, (0, 0, 0.1), np.eye(3)))
        m.add_joint(name, Revolute((0, 1, 0)), "world", m.bodies[-1].name)
    file = tmp_path / "odd.json"
    cardan.save(m, file)
    return str(file)


def test_modes_and_links_are_kept(tmp_path):
    target, link = tmp_path / "real.json", tmp_path / "link.json"
    cardan.save(Revolute(), target)
    target.chmod(0o600)
    link.symlink_to(target.name)
    cardan.save(cardan.joints.Prismatic(), link)
    assert link.is_symlink()
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert cardan.from_json(target) == cardan.joints.Prismatic()
    target.chmod(0o400)
    with pytest.raises(PermissionError, match="write-protected"):
        cardan.save(Revolute(), link)
    assert cardan.from_json(target) == cardan.joints.Prismatic()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link.json", "real.json"]


def test_a_file_that_is_read_is_not_overwritten_unasked(tmp_path, capsys):
    arm = tmp_path / "arm.urdf"
    arm.write_text(Path(ARM).read_text())
    words, before = ["convert", str(arm), str(arm)], arm.read_bytes()
    assert main(words) == 1
    assert "expected another file than the one that is read. Write --overwrite" in capsys.readouterr().err
    assert arm.read_bytes() == before
    assert main([*words, "--overwrite"]) == 0


@pytest.mark.parametrize("command", [["info"], ["check"]])
def test_names_drive_no_terminal(tmp_path, capsys, command):
    file = odd_robot(tmp_path, "\x1b[2J", "\x1b]0;title\x07", "\u202eright", "half\ud800")
    assert main([command[0], file, *command[1:]]) == 0
    out = capsys.readouterr().out
    assert not set("\x1b\x07\u202e\ud800") & set(out)


HOSTILE_NAMES = ["\x1b[2J", "\u202eright", "half\ud800", "two\nlines", "zero\0", "\u2066isolated", "r\rn", "\x85next"]


def named(names):
    """Return a chain whose bodies and joints have some names."""
    m = cardan.Mechanism(names[0])
    for k, name in enumerate(names):
        m.add_body(f"b{name}", Inertia(1.0, (0.1, 0.0, 0.0)))
        m.add_joint(f"j{name}", Revolute((0, 0, 1)), f"b{names[k - 1]}" if k else "world", f"b{name}")
    return m


def test_what_is_printed_of_a_robot_obeys_no_name():
    m = named(HOSTILE_NAMES)
    plain = named([f"n{k}" for k in range(len(HOSTILE_NAMES))])
    texts = {str(m): str(plain), str(m.model()): str(plain.model()), str(m.world()): str(plain.world())}
    for text, other in texts.items():
        assert len(text.split("\n")) == len(other.split("\n"))
        assert all(line.isprintable() for line in text.split("\n"))
        text.encode()


def test_no_name_is_obeyed_by_what_is_generated(tmp_path):
    """Direction marks in comments show other code than is compiled; two question marks begin a trigraph."""
    model = named([*HOSTILE_NAMES, "??/", "???/", "*/", "back\\"]).model()
    cardan.generate(cardan.gravity_forces, model, tmp_path / "lib")
    for file in (tmp_path / "lib").rglob("*.[ch]*"):
        text = file.read_text(encoding="utf-8")
        assert all(line.isprintable() for line in text.split("\n")), file
        assert "??" not in text


COMMANDS = (("info",), ("info", "--json"), ("check",))


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["ascii", pytest.param("utf-8", marks=pytest.mark.full)])
def test_any_name_on_any_terminal(tmp_path, encoding):
    file = odd_robot(tmp_path, "h\u00fcfte", "half\ud800")
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONPATH": str(Path(cardan.__file__).parents[1])}
    generated = ["generate", file, "--function", "potential_energy", "-o", str(tmp_path / "f.c")]
    words = [[c, file, *rest] for c, *rest in COMMANDS] + [["convert", file, str(tmp_path / "o.json")]]
    code = "import sys, json; from cardan.cli import main\nfor w in json.loads(sys.argv[1]): assert main(w) == 0, w"
    run = [sys.executable, "-c", code, json.dumps([*words, generated])]
    done = subprocess.run(run, env=environment, capture_output=True)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    assert (tmp_path / "f.c").exists()


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_ends_in_one_line():
    with Path("/dev/full").open("w") as full:
        run = [sys.executable, "-m", "cardan", "info", ARM]
        environment = {**os.environ, "PYTHONPATH": str(Path(cardan.__file__).parents[1])}
        done = subprocess.run(run, stdout=full, stderr=subprocess.PIPE, text=True, env=environment)
    assert (done.returncode, done.stderr) == (1, "cardan info: No space left on device\n")


@pytest.mark.slow
def test_nothing_is_left_after_sigterm(tmp_path):
    code = (
        "import os, sys, time\nfrom cardan.cli import main\n"
        "os.fsync = lambda _: (print('writing', flush=True), time.sleep(60))\n"
        "sys.exit(main(['convert', *sys.argv[1:]]))"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(cardan.__file__).parents[1])}
    run = [sys.executable, "-c", code, ARM, str(tmp_path / "out.json")]
    with subprocess.Popen(run, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdout.readline() == b"writing\n"
        assert len(list(tmp_path.iterdir())) == 1
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 128 + signal.SIGTERM
    assert list(tmp_path.iterdir()) == []


# --- commands --------------------------------------------------------------------------------------------------------


def test_cardan_alone_prints_its_help(capsys):
    assert main([]) == 0
    out = capsys.readouterr().out
    assert out.startswith("usage: cardan")
    assert "compile" in out


@pytest.mark.parametrize("name", ["int", "sin", "main"])
def test_no_file_is_named_as_a_word_of_c(tmp_path, capsys, name):
    words = ["generate", PENDULUM, "--function", "mass_matrix", "-o", str(tmp_path / f"{name}.c")]
    assert main(words) == 1
    assert "no word of C" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", [["generate", "-o", "j.c"], ["compile"]])
def test_a_function_of_a_frame_asks_for_it(capsys, command):
    assert main([command[0], PENDULUM, "--function", "jacobian", *command[1:]]) == 1
    assert "--frame: got None, expected the name of a body or frame, as --frame NAME" in capsys.readouterr().err


def test_compile_fills_the_cache(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("CARDAN_CACHE_DIR", str(tmp_path / "cache"))
    functions = ["--function", "inverse_dynamics", "integrate", "--function", "jacobian", "--frame", "lower"]
    assert main(["compile", PENDULUM, "--base", "floating", *functions]) == 0
    lines = capsys.readouterr().out.splitlines()
    model = cardan.load(PENDULUM, base="floating")
    count = cardan.inverse_dynamics.program(model).operations
    assert lines[0].startswith(f"inverse_dynamics of double_pendulum: {count} operations, ")
    assert [line.split()[0] for line in lines] == ["inverse_dynamics", "integrate", "jacobian"]
    assert any((tmp_path / "cache").rglob("*"))
    kept = sum(1 for e in (tmp_path / "cache").rglob("*") if e.is_file())
    cardan.inverse_dynamics(model, model.neutral(), np.zeros(model.nv), np.zeros(model.nv))
    assert sum(1 for e in (tmp_path / "cache").rglob("*") if e.is_file()) == kept
    assert main(["compile", PENDULUM, "--function", "mass_matrix", "--target", "numpy"]) == 0
    assert main(["compile", PENDULUM, "--function", "rnea"]) == 1


@pytest.mark.parametrize("given", ["0", "-1", "abc", "1e3", "\u00b2", "9" * 5000])
def test_an_odd_number_of_threads_is_said(monkeypatch, given):
    from cardan._compiler.runtime.threads import default_threads

    monkeypatch.setenv("CARDAN_NUM_THREADS", given)
    with pytest.raises(ParameterError, match="expected an integer >= 1"):
        default_threads()
