"""Every robot through every format that is written: the same robot comes back, but for what was said to be lost."""

import warnings

import pytest

import cardan
from cardan import compare
from cardan._reach.cli.main import main
from cardan._reach.formats.load import FORMATS
from cardan.errors import MissingExtraError, UnsupportedError
from compare_pairs import arm
from representatives import represented
from robots_data import short, urdf_files

WRITTEN = [ending for ending, form in FORMATS.items() if form.is_written]
PAIRS = [(target, source) for target in WRITTEN for source in WRITTEN]
LOST = {".mjcf": ("limits.velocity",)}
"""What a format has no place for, beside what its writer names."""


def round_trip(robot: cardan.Mechanism, place):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            cardan.save(robot, place)
        except MissingExtraError as error:
            pytest.skip(str(error))
        return compare(robot, place, on_inertia="ignore")


def moved(found, ending: str) -> list:
    """Return the differences in what moves: structure, motion, inertia, joints, but for what the format cannot say."""
    kinds = ("structure", "motion", "inertia", "joint", "gravity", "state")
    return [d for d in found.differences if d.kind in kinds and not d.what.startswith(LOST.get(ending, ("\0",)))]


@pytest.mark.parametrize("ending", WRITTEN)
@pytest.mark.parametrize("make", [arm, lambda: cardan.load_mechanism(cardan.robots.urdf_path("arm7"))])
def test_a_robot_comes_back(ending, make, tmp_path):
    found = round_trip(make(), tmp_path / f"robot{ending}")
    assert moved(found, ending) == []
    assert set(found.errors) == {"pose", "mass matrix", "bias forces"}
    assert max(found.errors.values()) < 1e-10


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
    assert max(found.errors.values(), default=0.0) < 1e-10


@pytest.mark.parametrize(("target", "source"), represented(PAIRS, by=PAIRS[::3].count))
def test_the_command_goes_from_each_to_each(source, target, tmp_path, capsys):
    first, second = tmp_path / f"a{source}", tmp_path / f"b{target}"
    round_trip(cardan.load_mechanism(cardan.robots.urdf_path("arm7")), first)
    status = main(["convert", str(first), str(second), "--check"])
    out = capsys.readouterr().out
    told = [line for line in out.splitlines() if line.startswith("  ") and not line.startswith(("  note", "  largest"))]
    assert status == 0 or all(any(lost in line for lost in LOST.get(target, ())) for line in told), out
