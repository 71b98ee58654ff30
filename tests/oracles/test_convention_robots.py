"""Conventions against the libraries they are of: their dynamics, of a state converted there, converted back.

Newton computes in float32. Isaac has no package to compare with, RigidBodyDynamics.jl none for Python.
"""

from pathlib import Path

import pytest

import cardan
from robots_data import robots_folder

FOLDER = robots_folder()
if FOLDER is None:
    pytest.skip("needs the `oracles` extra: example-robot-data", allow_module_level=True)

from compare_conventions import LIBRARIES, REFUSED, ROBOTS, bare, differences, with_external_forces  # noqa: E402

pytestmark = pytest.mark.full

CASES = [(name, {}) for name in LIBRARIES] + [("idyntree", {"representation": r}) for r in ("body", "inertial")]


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("robot", ROBOTS, ids=lambda r: r.split("/")[-1][:-5])
@pytest.mark.parametrize(("library", "options"), CASES, ids=lambda x: x if isinstance(x, str) else "-".join(x.values()))
@pytest.mark.filterwarnings("ignore")
def test_dynamics_agree(library, options, robot, floating, tmp_path):
    pytest.importorskip(LIBRARIES[library].module, reason=f"needs {library}", exc_type=ImportError)
    name = robot.split("/")[-1][:-5]
    if name in REFUSED[library]:
        pytest.skip(f"{library}: {REFUSED[library][name]}")
    found = differences(library, bare((FOLDER / robot).read_bytes()), floating, tmp_path, **options)
    if found is None:
        pytest.skip("its root link is the world")
    assert {"inverse dynamics", "mass matrix", "poses"} <= found.keys()
    for quantity, error in found.items():
        assert error < LIBRARIES[library].tolerance, quantity


@pytest.mark.parametrize("robot", ["quadruped", "humanoid"])
@pytest.mark.parametrize(
    ("library", "options"),
    [c for c in CASES if c[0] != "newton"],
    ids=lambda x: x if isinstance(x, str) else "-".join(x.values()),
)
def test_external_forces(library, options, robot, tmp_path):
    pytest.importorskip(LIBRARIES[library].module, reason=f"needs {library}", exc_type=ImportError)
    text = bare(Path(cardan.robots.urdf_path(robot)).read_bytes())
    assert with_external_forces(library, text, tmp_path, **options) < 1e-11


def test_at_least_ten_robots_with_every_library():
    for library, refused in REFUSED.items():
        assert len(ROBOTS) - len(refused) >= 10, library
