"""The table of targets, and targets that other packages add by entry points."""

import sys

import numpy as np
import pytest

import cardan
from cardan import robots
from cardan._algebra.lazy import registered
from cardan._compiler.targets import TARGETS
from cardan.errors import TargetError, UnknownNameError

POINTS = """[cardan.targets]
counting = counting_target:TARGET
broken = counting_target:MISSING
"""
MODULE = """
from cardan._compiler.targets import NumpyProgram, Target

TARGET = Target(
    text=lambda program: f"{program.operations} operations",
    load=lambda outline, program: NumpyProgram(program()),
)
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Another package, as an installer leaves it, that adds two targets."""
    info = tmp_path / "counting_target-1.0.dist-info"
    info.mkdir()
    (info / "entry_points.txt").write_text(POINTS)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: counting-target\nVersion: 1.0\n")
    (tmp_path / "counting_target.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    registered.cache_clear()
    yield
    registered.cache_clear()
    sys.modules.pop("counting_target", None)
    TARGETS.pop("counting", None)


def test_another_package_adds_a_target(package):
    arm = robots.arm7().model()
    q = np.linspace(-1.0, 1.0, 3 * arm.nq).reshape(3, arm.nq)
    counted = cardan.mass_matrix.on("counting")
    assert np.array_equal(counted(arm, q), cardan.mass_matrix.on("numpy")(arm, q))
    assert cardan.mass_matrix.source(arm, "counting").endswith(" operations")


def test_a_target_that_cannot_be_imported_is_named(package):
    with pytest.raises(TargetError, match=r"target 'broken' \(counting_target:MISSING\) cannot be loaded.*MISSING"):
        cardan.mass_matrix.on("broken")


def test_names_of_other_packages_are_suggested(package):
    with pytest.raises(UnknownNameError, match="did you mean 'counting'"):
        cardan.mass_matrix.on("countin")


def test_what_a_target_does_not_do_is_no_name_of_it():
    with pytest.raises(UnknownNameError, match="no target named 'c'"):
        cardan.mass_matrix.on("c")
    with pytest.raises(UnknownNameError, match="no form named 'numpy'"):
        cardan.mass_matrix.source(robots.arm7().model(), "numpy")
