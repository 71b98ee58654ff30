"""Which files a robot description may name: its own folder's, its package's, and those the user allows."""

import os
import warnings
from pathlib import Path

import pytest

from cardan._reach.formats.reading import Places
from cardan.errors import DescriptionWarning
from cardan.formats import load_mechanism

VARIABLES = ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH", "GZ_SIM_RESOURCE_PATH", "GAZEBO_MODEL_PATH")


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A folder with a package `arm`, a description in it, a package beside it, and a secret."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for file in ("arm/urdf/a.stl", "arm/meshes/b.stl", "leg/meshes/c.stl", "secret.stl", "arm/package.xml"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text("<package><name>arm</name></package>")
    (tmp_path / "leg/package.xml").write_text("<package><name> leg_description </name></package>")
    return tmp_path


def found(home: Path, uri: str, packages=None) -> str | None:
    path = Places(home / "arm" / "urdf", packages).file(uri)
    return None if path is None else str(Path(path).resolve().relative_to(home.resolve()))


@pytest.mark.parametrize(
    ("uri", "file"),
    [
        ("a.stl", "arm/urdf/a.stl"),
        ("./a.stl", "arm/urdf/a.stl"),
        ("../meshes/b.stl", "arm/meshes/b.stl"),
        ("package://arm/meshes/b.stl", "arm/meshes/b.stl"),
        ("model://arm/meshes/b.stl", "arm/meshes/b.stl"),
        ("package://arm/meshes/../urdf/a.stl", "arm/urdf/a.stl"),
        ("../../secret.stl", None),
        ("../../leg/meshes/c.stl", None),
        ("package://leg/meshes/c.stl", None),
        ("package://arm/../secret.stl", None),
        ("package://arm/../../secret.stl", None),
        ("package://../secret.stl", None),
        ("package://./arm/meshes/b.stl", None),
        ("package:///meshes/b.stl", None),
        ("http://arm/meshes/b.stl", None),
        ("file://etc/passwd", None),
        ("/etc/passwd", None),
        ("a.stl\0", None),
        ("", None),
        ("meshes", None),
    ],
)
def test_a_file_stays_in_its_package(home, uri, file):
    assert found(home, uri) == file


def test_absolute_paths_obey_the_same_rule(home):
    assert found(home, f"{home}/arm/meshes/b.stl") == "arm/meshes/b.stl"
    assert found(home, f"file://{home}/arm/meshes/b.stl") == "arm/meshes/b.stl"
    assert found(home, f"{home}/secret.stl") is None
    assert found(home, f"file://{home}/secret.stl") is None


def test_the_caller_allows_more(home):
    for packages in ([home], {"anything": home}):
        assert found(home, "../../secret.stl", packages) == "secret.stl"
        assert found(home, f"file://{home}/secret.stl", packages) == "secret.stl"
    assert found(home, "package://leg/meshes/c.stl", [home]) == "leg/meshes/c.stl"
    assert found(home, "package://leg/meshes/c.stl", {"leg": home / "leg"}) == "leg/meshes/c.stl"
    assert found(home, "package://leg/meshes/c.stl", [home / "leg"]) == "leg/meshes/c.stl"
    assert found(home, "package://leg_description/meshes/c.stl", [home / "leg"]) == "leg/meshes/c.stl"
    assert found(home, "package://leg/../secret.stl", {"leg": home / "leg"}) is None


def test_a_prefix_of_a_name_is_no_folder(home):
    (home / "arm_secret").mkdir()
    (home / "arm_secret" / "s.stl").write_text("s")
    assert found(home, "../../arm_secret/s.stl") is None
    assert not Places(home / "arm").allow(home / "arm_secret")
    assert Places(home / "arm").allow(home / "arm")


@pytest.mark.skipif(not hasattr(os, "symlink") or os.name == "nt", reason="this system has no links for everybody")
def test_links_are_followed_first(home, monkeypatch):
    os.symlink(home / "secret.stl", home / "arm" / "urdf" / "link.stl")
    assert found(home, "link.stl") is None
    assert found(home, "link.stl", [home]) == "secret.stl"
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(home / "arm"))  # a user's own workspace may be made of links
    assert found(home, "link.stl") == "secret.stl"


def test_without_a_package_the_folder_is_all_there_is(home):
    (home / "arm" / "package.xml").unlink()
    assert found(home, "a.stl") == "arm/urdf/a.stl"
    assert found(home, "../meshes/b.stl") is None
    assert found(home, "package://arm/meshes/b.stl") is None


def test_a_description_that_is_no_file_has_no_folder(home, monkeypatch):
    monkeypatch.chdir(home / "arm" / "urdf")
    assert Places().file("a.stl") is None
    assert Places().file("package://arm/meshes/b.stl") is None
    assert Places(None, [home]).file("package://arm/meshes/b.stl") is not None


def test_a_model_of_gazebo_is_a_package(home):
    (home / "arm" / "package.xml").rename(home / "arm" / "model.config")
    assert found(home, "model://arm/meshes/b.stl") == "arm/meshes/b.stl"
    assert found(home, "../meshes/b.stl") == "arm/meshes/b.stl"


@pytest.mark.parametrize("variable", VARIABLES)
def test_the_environment_allows(home, monkeypatch, variable):
    place = home / "elsewhere" / "share" if variable == "AMENT_PREFIX_PATH" else home / "elsewhere"
    (place / "leg").mkdir(parents=True)
    (place / "leg" / "c.stl").write_text("s")
    monkeypatch.setenv(variable, os.pathsep.join(["", "/nowhere", str(home / "elsewhere")]))
    assert found(home, "package://leg/c.stl") == str((place / "leg" / "c.stl").relative_to(home))


def test_the_index_of_ament_decides_between_prefixes(home, monkeypatch):
    prefixes = [home / "one", home / "two"]
    for prefix in prefixes:
        (prefix / "share" / "leg").mkdir(parents=True)
        (prefix / "share" / "leg" / "c.stl").write_text("s")
    index = home / "two" / "share" / "ament_index" / "resource_index" / "packages"
    index.mkdir(parents=True)
    (index / "leg").write_text("")
    monkeypatch.setenv("AMENT_PREFIX_PATH", os.pathsep.join(map(str, prefixes)))
    assert found(home, "package://leg/c.stl") == "two/share/leg/c.stl"


def test_packages_of_a_workspace_are_found_deep_inside(home, monkeypatch):
    place = home / "ws" / "src" / "vendor" / "wheel_description"
    place.mkdir(parents=True)
    (place / "package.xml").write_text("<package/>")
    (place / "w.stl").write_text("s")
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(home / "ws"))
    assert found(home, "package://wheel_description/w.stl") == "ws/src/vendor/wheel_description/w.stl"
    assert Places().package("wheel_description") == str(place)


# --- meshes ------------------------------------------------------------------------------------------------------


def robot(*uris: str) -> str:
    shapes = "".join(f'\n<visual><geometry><mesh filename="{uri}"/></geometry></visual>' for uri in uris)
    return f'<robot name="r"><link name="a">{shapes}</link></robot>'


def test_missing_meshes_are_one_warning(home):
    file = home / "arm" / "urdf" / "r.urdf"
    file.write_text(robot("a.stl", "x.stl", "y.stl", "x.stl", "z.stl", "../../secret.stl"))
    with pytest.warns(DescriptionWarning) as caught:
        read = load_mechanism(file)
    assert [shape.geometry.path is None for shape in read.shapes] == [False, True, True, True, True, True]
    (warning,) = [str(w.message) for w in caught]
    assert f"{file}:3: warning: 4 meshes are kept by name alone: 'x.stl', 'y.stl', 'z.stl', ... (4 in all)." in warning


@pytest.mark.parametrize(
    ("uri", "message"),
    [
        ("x.stl", "mesh 'x.stl' was not found; it is kept"),
        ("../../secret.stl", "is outside of the description's folder and package, in '/.*'; pass package_dirs="),
        ("package://leg/c.stl", "was not found; pass package_dirs="),
        ("https://leg/c.stl", "nothing is fetched from a network"),
    ],
)
def test_a_missing_mesh_says_why(home, uri, message):
    file = home / "arm" / "urdf" / "r.urdf"
    file.write_text(robot(uri))
    with pytest.warns(DescriptionWarning, match=message):
        load_mechanism(file)
    with pytest.warns(DescriptionWarning, match="was not found|nothing|package_dirs"):
        load_mechanism(robot(uri))


def test_the_folder_that_is_said_is_the_one_to_allow(home):
    (home / "meshes").mkdir()
    (home / "meshes" / "m.stl").write_bytes((home / "arm" / "urdf" / "a.stl").read_bytes())
    file = home / "arm" / "urdf" / "r.urdf"
    file.write_text(robot("../../meshes/m.stl"))
    with pytest.warns(DescriptionWarning, match="in '(.*)'; pass") as caught:
        load_mechanism(file)
    folder = str(caught[0].message).split(", in '")[1].split("';")[0]
    assert load_mechanism(file, package_dirs=[folder]).shapes[0].geometry.path is not None


def test_a_mesh_that_is_there_is_no_warning(home):
    file = home / "arm" / "urdf" / "r.urdf"
    file.write_text(robot("a.stl"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_mechanism(file)
