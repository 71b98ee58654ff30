"""Formats of other packages: found by an entry point, or registered; read, checked and written as cardan's own."""

import subprocess
import sys
import textwrap

import pytest

import cardan
from cardan._algebra.lazy import registered
from cardan._reach.formats import reading
from cardan.errors import DescriptionError, DescriptionWarning, ParameterError

READER = """
import cardan
from cardan.formats import Description, Format, Options, Report, Source, Verdict, Vocabulary

OPTIONS = frozenset({"model"})
FORMAT = Format("rods", "rods", (".rods",), begins="RODS", is_written=True)


def read(source: Source, options: Options) -> Description:
    report, robot = Report(source.name), cardan.Mechanism(options.model or "rods")
    for line, name in enumerate(source.content.decode().splitlines()[1:], start=2):
        with report.blamed(line):
            robot.add_body(name, cardan.Inertia(mass=1.0))
            robot.add_joint(f"to_{name}", cardan.joints.Revolute((0, 0, 1)), "world", name)
    return Description(None if report.errors else robot, report)


def write(thing):
    return "\\n".join(["RODS", *(body.name for body in thing.bodies)])
"""


@pytest.fixture
def rods(tmp_path, monkeypatch):
    """Put a package with such a format where Python finds it, as pip would."""
    site = tmp_path / "site"
    info = site / "rods-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "rods.py").write_text(READER)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: rods\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[cardan.formats]\nrods = rods:FORMAT\n")
    monkeypatch.syspath_prepend(str(site))
    forget()
    yield
    forget()
    sys.modules.pop("rods", None)


def forget():
    """Let what is installed be looked for again."""
    registered.cache_clear()
    reading._installed.cache_clear()


@pytest.mark.usefixtures("rods")
def test_an_installed_format_is_read_checked_and_written(tmp_path):
    file = tmp_path / "two.rods"
    file.write_text("RODS\na\nb\n")
    model = cardan.load(file)
    assert model.body_names == ("a", "b")
    assert cardan.load_mechanism(file, model="mine").name == "mine"
    cardan.save(model, tmp_path / "again.rods")
    assert (tmp_path / "again.rods").read_text() == "RODS\na\nb"
    cardan.save(cardan.load_mechanism(file), tmp_path / "two.urdf")
    assert cardan.load(tmp_path / "two.urdf").body_names == ("a", "b")


@pytest.mark.usefixtures("rods")
def test_its_content_is_known_by_how_it_begins():
    assert cardan.load_mechanism(b"RODS\na\n").bodies[0].name == "a"


@pytest.mark.usefixtures("rods")
def test_its_faults_have_lines_and_its_options_are_checked(tmp_path):
    file = tmp_path / "twice.rods"
    file.write_text("RODS\na\na\n")
    assert [fault.line for fault in cardan.formats.check(file)] == [3]
    with pytest.raises(ParameterError, match="rods has no such option"):
        cardan.load(file, continuous="unit_complex")


def test_packages_are_looked_at_only_for_files_that_are_none_of_ours(monkeypatch):
    monkeypatch.setattr(reading, "registered", lambda group: pytest.fail(f"{group} was looked at"))
    cardan.load(cardan.robots.urdf_path("arm7"))
    cardan.load(b"<robot name='r'><link name='a'/></robot>")


@pytest.mark.usefixtures("rods")
def test_a_package_that_is_broken_is_named_and_left_out(tmp_path):
    (tmp_path / "site/rods.py").write_text("import nothing_of_this_name")
    (tmp_path / "a.rods").write_text("RODS")
    with (
        pytest.warns(DescriptionWarning, match="entry point 'rods' of cardan.formats is left out: ModuleNot"),
        pytest.raises(DescriptionError, match=r"no reader for '\.rods'"),
    ):
        cardan.load(tmp_path / "a.rods")


def test_a_format_is_registered_unless_its_ending_is_taken(monkeypatch):
    monkeypatch.setattr(reading, "_ADDED", {})
    form = cardan.formats.Format("rods", "rods", (".rod",))
    cardan.formats.register_format(form)
    cardan.formats.register_format(form)
    assert reading.format_of_ending(".rod") == form
    for taken in (form._replace(name="sticks"), form._replace(endings=(".urdf",))):
        with pytest.raises(ParameterError, match=r"another one: (rods|URDF) has it"):
            cardan.formats.register_format(taken)


@pytest.mark.slow
@pytest.mark.usefixtures("rods")
def test_a_command_reads_it_too(tmp_path):
    file = tmp_path / "two.rods"
    file.write_text("RODS\na\nb\n")
    code = textwrap.dedent(f"""
        import sys
        sys.path.insert(0, {str(tmp_path / "site")!r})
        from cardan._reach.cli.main import main
        sys.exit(main(["check", {str(file)!r}]))
    """)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
