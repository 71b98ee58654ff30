"""Descriptions of the package robot_descriptions by name."""

import importlib
import sys

import pytest

import cardan
from cardan.errors import DescriptionError

MODULE = '''"""A robot."""
from os import getenv as _getenv
from os import path as _path
from ._cache import clone_to_cache as _clone_to_cache
REPOSITORY_PATH: str = _clone_to_cache("toys", commit=_getenv("ROBOT_DESCRIPTION_COMMIT", None))
PACKAGE_PATH: str = _path.join(REPOSITORY_PATH, "{name}")
{kind}_PATH: str = _path.join(PACKAGE_PATH, "urdf", "{file}")
XACRO_ARGS = {{"n": "3"}}
'''
CACHE = """import os
def clone_to_cache(name, commit):
    place = os.environ["ROBOT_DESCRIPTIONS_CACHE"]
    if not os.path.isdir(place):
        raise OSError("no network")
    return os.path.join(place, f"{name}_cache")
"""
MESH = '<visual><geometry><mesh filename="package://car/meshes/m.stl"/></geometry></visual>'


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of that name with two robots, the first of them fetched."""
    folder = tmp_path / "site" / "robot_descriptions"
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / "_cache.py").write_text(CACHE)
    (folder / "car_description.py").write_text(MODULE.format(name="car", kind="URDF", file="car.urdf"))
    (folder / "cart_description.py").write_text(MODULE.format(name="cart", kind="XACRO", file="cart.xacro"))
    for name in ("car/urdf", "car/meshes", "cart/urdf"):
        (tmp_path / "cache/toys_cache" / name).mkdir(parents=True)
    (tmp_path / "cache/toys_cache/car/urdf/car.urdf").write_text(
        f'<robot name="car"><link name="a">{MESH}</link></robot>'
    )
    (tmp_path / "cache/toys_cache/car/meshes/m.stl").write_text("solid")
    monkeypatch.setenv("ROBOT_DESCRIPTIONS_CACHE", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    for name in [name for name in sys.modules if name.split(".")[0] == "robot_descriptions"]:
        monkeypatch.delitem(sys.modules, name)
    importlib.invalidate_caches()
    return tmp_path / "cache" / "toys_cache"


@pytest.mark.filterwarnings("error")
def test_what_is_in_the_cache_is_opened(package):
    car = cardan.load_mechanism("robot_descriptions/car_description")
    assert car.shapes[0].geometry.path == str(package / "car/meshes/m.stl")
    assert cardan.load("robot_descriptions/car_description", base="floating").nv == 6


def test_what_cannot_be_fetched_is_said(package, monkeypatch):
    with pytest.raises(DescriptionError, match="has none of the files URDF_PATH"):
        cardan.load("robot_descriptions/cart_description")
    monkeypatch.setenv("ROBOT_DESCRIPTIONS_CACHE", "nowhere")
    sys.modules.pop("robot_descriptions.cart_description")
    with pytest.raises(DescriptionError, match="cannot be fetched: OSError: no network"):
        cardan.load("robot_descriptions/cart_description")
    assert cardan.formats.check("robot_descriptions/cart_description")


def test_a_xacro_has_the_arguments_of_the_package(package):
    pytest.importorskip("xacro")
    text = '<robot name="cart" xmlns:xacro="x"><xacro:arg name="n" default="1"/><link name="l$(arg n)"/></robot>'
    (package / "cart/urdf/cart.xacro").write_text(text)
    for given, name in (({}, "l3"), ({"xacro_args": {"n": "4"}}, "l4")):
        assert cardan.load_mechanism("robot_descriptions/cart_description", **given).bodies[0].name == name


@pytest.mark.parametrize("name", ["card_description", "", "../secret", "_cache", "__init__", "car_description/x"])
def test_other_names_are_refused(package, name):
    with pytest.raises(DescriptionError, match="has no such description"):
        cardan.load(f"robot_descriptions/{name}")


def test_a_folder_of_that_name_is_a_folder(package, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "robot_descriptions").mkdir()
    (tmp_path / "robot_descriptions" / "mine.urdf").write_text('<robot name="mine"><link name="a"/></robot>')
    assert cardan.load_mechanism("robot_descriptions/mine.urdf").name == "mine"


def test_without_the_package(monkeypatch):
    monkeypatch.setattr(
        sys.modules["cardan._reach.formats.load"], "find_spec", lambda name: None
    )  # `load` is also a function
    with pytest.raises(DescriptionError, match="pip install robot_descriptions"):
        cardan.load("robot_descriptions/panda_description")
