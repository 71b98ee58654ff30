"""Other packages add solvers by entry points; cardan imports them when they are first used."""

import os
import subprocess
import sys

import numpy as np
import pytest

import cardan
from cardan._algebra.lazy import registered
from cardan.cli import main

MODULE = '''
from cardan.solvers import SemiImplicit


class Sluggish(SemiImplicit):
    """Says which solver it is."""
'''
ENTRIES = """
[cardan.solvers]
Sluggish = heavy_plugin:Sluggish
"""
ARM = cardan.robots.urdf_path("arm7")


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    """Install a package as pip would, in a folder on the path."""
    (tmp_path / "heavy_plugin.py").write_text(MODULE)
    info = tmp_path / "heavy_plugin-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: heavy_plugin\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRIES)
    monkeypatch.syspath_prepend(str(tmp_path))
    registered.cache_clear()
    yield tmp_path
    registered.cache_clear()
    sys.modules.pop("heavy_plugin", None)


@pytest.mark.slow
def test_a_solver_of_another_package_is_found_by_its_name(plugin, quick_target):
    world = cardan.load_mechanism(ARM).world("fixed")
    solver = cardan.solvers.Sluggish(world, 0.001)
    assert type(solver).__module__ == "heavy_plugin"
    expected = cardan.solvers.SemiImplicit(world, 0.001).step(world.state())
    np.testing.assert_array_equal(solver.step(world.state()).q, expected.q)


@pytest.mark.slow
def test_a_solver_of_another_package_runs_on_the_command_line(plugin, tmp_path, capsys, quick_target):
    command = ["simulate", str(ARM), "--solver", "Sluggish", "--seconds", "0.01", "-o", str(tmp_path / "out.npz")]
    assert main(command) == 0
    assert "Sluggish" in capsys.readouterr().out


def test_a_solver_that_nobody_has_is_refused_by_name():
    registered.cache_clear()
    with pytest.raises(AttributeError, match="Slug"):
        _ = cardan.solvers.Slug


@pytest.mark.slow
def test_entry_points_are_not_looked_for_before_they_are_needed():
    code = "import sys, cardan; cardan.solvers.Featherstone; print('importlib.metadata' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], env=os.environ, capture_output=True, text=True, check=True)
    assert found.stdout == "False\n"
