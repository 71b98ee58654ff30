"""Arrays of other libraries: another package takes them by an entry point of the group `cardan.arrays`."""

import sys
import textwrap

import numpy as np
import pytest

import cardan
from cardan._algebra import lazy as plugins
from cardan._dynamics.call.registry import _handler

ENTRY = "[cardan.arrays]\nboxes.Box = {}\n"
BOXES = """
    import numpy as np

    class Box:
        def __init__(self, values):
            self.values = values

    def called(function, model, args, kwargs):
        return Box(function(model, *(a.values if isinstance(a, Box) else a for a in args), **kwargs))

    def called_bound(bound, arrays, out):
        return Box(bound(*(a.values if isinstance(a, Box) else a for a in arrays)))
"""


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Return a function that installs a package whose entry point names a module."""

    def install(home):
        (tmp_path / "boxes.py").write_text(textwrap.dedent(BOXES))
        info = tmp_path / "boxes-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: boxes\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(ENTRY.format(home))
        monkeypatch.syspath_prepend(tmp_path)
        plugins.registered.cache_clear()
        _handler.cache_clear()

    yield install
    sys.modules.pop("boxes", None)
    plugins.registered.cache_clear()
    _handler.cache_clear()


@pytest.fixture
def arm():
    return cardan.robots.arm7().model()


def test_a_package_takes_calls_with_its_arrays(installed, arm):
    installed("boxes")
    import boxes

    q = arm.random_configuration(seed=0)
    expected = cardan.mass_matrix(arm, q)
    for found in (cardan.mass_matrix(arm, boxes.Box(q)), cardan.mass_matrix.bind(arm)(boxes.Box(q))):
        assert isinstance(found, boxes.Box)
        np.testing.assert_array_equal(found.values, expected)


def test_a_package_that_cannot_be_loaded_is_named(installed, arm):
    installed("boxes_of_nobody")
    import boxes

    with pytest.raises(
        cardan.errors.PluginError, match=r"^boxes adds 'boxes.Box' to cardan.arrays \(boxes_of_nobody\)"
    ):
        cardan.mass_matrix(arm, boxes.Box(arm.neutral()))


def test_entry_points_are_not_read_for_arrays_of_numpy(arm):
    plugins.registered.cache_clear()
    _handler.cache_clear()
    cardan.mass_matrix(arm, arm.neutral().tolist())
    cardan.frame_transform(arm, arm.neutral(), "tool")
    assert plugins.registered.cache_info().currsize == 0
