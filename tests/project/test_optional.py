"""What is optional can be taken away: nothing of the core imports it, and the core's tests pass without it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import cardan

PACKAGE = Path(cardan.__file__).parent
TESTS = Path(__file__).parents[1]
OPTIONAL = sorted(
    place.relative_to(PACKAGE).as_posix()
    for place in (*PACKAGE.glob("_reach/*"), *PACKAGE.glob("_reach/formats/*"), *PACKAGE.glob("_compiler/targets/cuda"))
    if place.is_dir() and place.name not in ("__pycache__", "formats", "json", "urdf", "srdf")
)
CORE = """
import numpy as np
import cardan

robot = cardan.robots.quadruped().model(base="floating")
robot = cardan.load(cardan.robots.urdf_path("quadruped")) if {reads} else robot
q, v = robot.random_configuration(seed=0), np.zeros(robot.nv)
tau = cardan.inverse_dynamics(robot, q, v, v)
assert np.allclose(cardan.forward_dynamics(robot, q, v, tau), 0.0, atol=1e-9)
world = cardan.robots.quadruped().world("floating", ground=True)
assert np.isfinite(cardan.solvers.Featherstone(world, 0.001).step(world.state()).q).all()
assert cardan.robots.arm7()._repr_html_ and cardan.tasks.FramePose and cardan.trajectories.Spline
"""


def copied(place, *without):
    """Return the environment in which a copy of the package is imported that lacks some folders."""
    shutil.copytree(PACKAGE, place / "cardan", ignore=shutil.ignore_patterns("__pycache__"))
    for folder in without:
        shutil.rmtree(place / "cardan" / folder)
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(place), str(TESTS)]), "CARDAN_TARGET": "numpy"}


@pytest.mark.full
@pytest.mark.parametrize("folder", OPTIONAL)
def test_the_core_works_without(folder, tmp_path):
    environment = copied(tmp_path, folder)
    subprocess.run([sys.executable, "-c", CORE.format(reads=True)], env=environment, check=True)


@pytest.mark.full
def test_the_core_works_without_the_wing_of_all_that_is_optional(tmp_path):
    subprocess.run([sys.executable, "-c", CORE.format(reads=False)], env=copied(tmp_path, "_reach"), check=True)


@pytest.mark.full
def test_the_tests_of_the_core_pass_without_the_wing_of_all_that_is_optional(tmp_path):
    environment = copied(tmp_path, "_reach")
    files = ["algebra/test_spatial.py", "robot/test_inputs.py", "dynamics/test_laws.py", "motion/test_contact.py"]
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-o", "pythonpath="]
    run = subprocess.run(
        [*command, *(str(TESTS / file) for file in files)],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-3000:]
