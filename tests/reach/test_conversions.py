"""Every robot through every format that is written: the same robot comes back, but for what was said to be lost."""

import warnings
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cardan
from cardan import compare
from cardan._reach.cli.main import main
from cardan._reach.formats.reading import FORMATS
from cardan.description import Shape
from cardan.errors import MissingExtraError, UnsupportedError
from compare_pairs import arm
from compare_states import states_apart
from representatives import represented
from robots_data import short, urdf_files

WRITTEN = [ending for ending, form in FORMATS.items() if form.is_written]
PAIRS = [(target, source) for target in WRITTEN for source in WRITTEN]
LOST = {".mjcf": ("limits.velocity",)}
"""What a format has no place for, beside what its writer names."""


class Back(NamedTuple):
    """A robot that came back: what differs, and how far apart both are at random states."""

    differences: tuple
    apart: float


def round_trip(robot: cardan.Mechanism, place) -> Back:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            cardan.save(robot, place)
            again = cardan.load_mechanism(place, on_inertia="ignore")
            return Back(compare(robot, again).differences, states_apart(robot, again))
        except MissingExtraError as error:
            pytest.skip(str(error))


def moved(found, ending: str) -> list:
    """Return the differences in what moves: structure, motion, inertia, joints, but for what the format cannot say."""
    kinds = ("structure", "motion", "inertia", "joint", "gravity")
    return [d for d in found.differences if d.kind in kinds and not d.what.startswith(LOST.get(ending, ("\0",)))]


@pytest.mark.parametrize("ending", WRITTEN)
@pytest.mark.parametrize("make", [arm, lambda: cardan.load_mechanism(cardan.robots.urdf_path("arm7"))])
def test_a_robot_comes_back(ending, make, tmp_path):
    found = round_trip(make(), tmp_path / f"robot{ending}")
    assert moved(found, ending) == []
    assert found.apart < 1e-10


def meshes_told(robot, place) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cardan.save(robot, place)
    return [str(w.message) for w in caught if "names meshes" in str(w.message)]


@pytest.mark.parametrize("ending", [".urdf", ".sdf", ".xml"])
def test_meshes_that_are_not_beside_a_file_are_named(tmp_path, ending):
    """Moved to another folder, a description named meshes that no program found, and nothing said so."""
    if ending == ".xml":
        pytest.importorskip("mujoco", reason="the extra mujoco is not installed")
    (tmp_path / "meshes").mkdir()
    mesh = tmp_path / "meshes" / "part.stl"
    mesh.write_text("solid\nendsolid")
    robot = arm()
    robot.add_shape(Shape(robot.bodies[0].name, "visual", cardan.description.Mesh("meshes/part.stl", str(mesh))))
    assert meshes_told(robot, tmp_path / f"robot{ending}") == []
    (tmp_path / "away").mkdir()
    (told,) = meshes_told(robot, tmp_path / "away" / f"robot{ending}")
    assert "not beside it: 'meshes/part.stl'" in told
    assert repr(str(mesh)) in told
    assert meshes_told(robot, tmp_path / "away" / "robot.json") == []  # which holds the path


def test_meshes_inside_of_a_usd_file_are_named(tmp_path):
    pytest.importorskip("pxr", reason="the extra usd is not installed")
    pytest.importorskip("mujoco", reason="the extra mujoco is not installed")
    robot = arm()
    corners = [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)]
    robot.add_shape(Shape(robot.bodies[0].name, "visual", cardan.description.Hull(corners)))
    cardan.save(robot, tmp_path / "robot.usda")
    again = cardan.load_mechanism(tmp_path / "robot.usda")
    (told,) = meshes_told(again, tmp_path / "robot.xml")
    assert "inside of USD files" in told


@pytest.mark.full
@pytest.mark.parametrize("ending", WRITTEN)
@pytest.mark.parametrize("file", urdf_files(), ids=short)
def test_robots_of_example_robot_data_come_back(file, ending, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            robot = cardan.load_mechanism(file, on_inertia="ignore")
        except cardan.DescriptionError:
            pytest.skip("it cannot be read")
    try:
        found = round_trip(robot, tmp_path / f"robot{ending}")
    except UnsupportedError as error:
        pytest.skip(str(error)[:200])
    assert found.apart < 1e-10


@pytest.mark.slow
@pytest.mark.parametrize(("target", "source"), represented(PAIRS, by=PAIRS[::3].count))
def test_the_command_goes_from_each_to_each(source, target, tmp_path, capsys):
    first, second = tmp_path / f"a{source}", tmp_path / f"b{target}"
    for place in (first, tmp_path / f"c{target}"):  # which skips where an extra is missing
        round_trip(cardan.load_mechanism(cardan.robots.urdf_path("arm7")), place)
    assert main(["convert", str(first), str(second)]) == 0
    capsys.readouterr()
    status = main(["compare", str(first), str(second)])
    out = capsys.readouterr().out
    told = [line for line in out.splitlines() if line.startswith("  ") and not line.startswith("  note")]
    assert status == 0 or all(any(lost in line for lost in LOST.get(target, ())) for line in told), out


NUMBERS = st.floats(-2.0, 2.0, allow_subnormal=False)
KINDS = (cardan.joints.Revolute, cardan.joints.Prismatic, cardan.joints.Fixed, cardan.joints.Spherical)
"""Joints that all formats have."""


def vectors():
    return st.tuples(NUMBERS, NUMBERS, NUMBERS)


@st.composite
def poses(draw) -> cardan.SE3:
    return cardan.SE3(cardan.spatial.rotations.matrix_from_zyx(draw(vectors())), draw(vectors()))


@st.composite
def bodies(draw) -> cardan.Inertia:
    """Return the inertia of points: each such tensor is one that a body can have."""
    points = np.array(draw(st.lists(vectors(), min_size=4, max_size=4))) + np.eye(4, 3)
    masses = np.array([draw(st.floats(0.1, 3.0)) for _ in points])
    com = masses @ points / masses.sum()
    r = points - com
    tensor = sum(m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in zip(masses, r, strict=True))
    return cardan.Inertia(mass=masses.sum(), com=com, inertia=tensor + 1e-3 * np.eye(3))


@st.composite
def robots(draw) -> cardan.Mechanism:
    """Return a tree of up to five bodies with joints, limits and what resists."""
    m = cardan.Mechanism("random")
    for k in range(draw(st.integers(1, 5))):
        m.add_body(f"body{k}", draw(bodies()))
        kind = draw(st.sampled_from(KINDS))
        has_axis = kind in KINDS[:2]
        axis = draw(vectors().filter(lambda e: np.linalg.norm(e) > 0.1)) if has_axis else ()
        joint = kind(axis=np.array(axis) / np.linalg.norm(axis)) if has_axis else kind()
        low = sorted((draw(NUMBERS), draw(NUMBERS)))
        limits = cardan.Limits(*([e] for e in low)) if has_axis and low[0] < low[1] and draw(st.booleans()) else None
        damping = [draw(st.floats(0.0, 1.0))] * joint.nv
        parent = "world" if k == 0 else f"body{draw(st.integers(0, k - 1))}"
        m.add_joint(f"joint{k}", joint, parent, f"body{k}", draw(poses()), draw(poses()), limits, damping)
    return m


@pytest.mark.slow
@pytest.mark.parametrize("ending", represented(WRITTEN, by=(".urdf", ".mjcf").count))
@given(robot=robots())
@settings(max_examples=8, deadline=None)
def test_any_robot_comes_back(ending, robot, tmp_path_factory):
    found = round_trip(robot, tmp_path_factory.mktemp("random") / f"robot{ending}")
    assert moved(found, ending) == []
    assert found.apart < 1e-9
