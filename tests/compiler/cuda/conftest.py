"""Devices for tests: emulated ones, or with --device a real one."""

import sys
from pathlib import Path

import pytest
from emulated import emulated
from host_cuda import COMPILER

from cardan._compiler.targets.cuda.driver import driver
from cardan.errors import MissingExtraError, TargetError

sys.path.append(str(Path(__file__).parents[3]))  # what a kernel leaves of a device is in benchmarks/occupancy.py


def pytest_addoption(parser):
    parser.addoption("--device", action="store_true", help="run tests of devices on a real one, not an emulated one")


def _on_real_one(request):
    return request.config.getoption("--device", default=False)


@pytest.fixture
def device(request):
    """A device: its emulation is given, or None for a real one."""
    if not _on_real_one(request):
        if COMPILER is None:
            pytest.skip("an emulated device needs g++ or clang++; a real one is taken by --device")
        with emulated() as api:
            yield api
        return
    try:
        driver()
    except (MissingExtraError, TargetError) as error:
        pytest.skip(f"--device: {error}")
    yield None


@pytest.fixture
def emulation(request):
    """An emulated device, for what a real one cannot be asked to do."""
    if _on_real_one(request) or COMPILER is None:
        pytest.skip("asks an emulated device what a real one cannot be asked")
    with emulated() as api:
        yield api
