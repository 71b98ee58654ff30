"""The real `cuda.bindings` on a driver that is none: a library of C in place of a device's (`fake_libcuda.c`).

So what is handed to the driver is what C reads: numbers, handles, addresses of arguments. NVRTC is real, too; only the
kernel that runs is the same text compiled for the host.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from host_cuda import needs_compiler
from nvrtc import needs_nvrtc

HERE = Path(__file__).parent
GCC = shutil.which("gcc")
pytestmark = [
    needs_compiler,
    pytest.mark.skipif(GCC is None or sys.platform != "linux", reason="needs gcc on Linux"),
    needs_nvrtc,
    pytest.mark.skipif(os.path.exists("/dev/nvidiactl"), reason="there is a real driver"),
]

FIRST = """
import ctypes, os, sys
import numpy as np
import cardan
from benchmarks.device_array import to_device
from cardan._compiler.targets import Outline
from cardan._compiler.targets.cuda.driver import driver
from cardan._compiler.targets.cuda.compiler import kernel_of, write_kernel
from host_cuda import HostKernel

model = cardan.robots.double_pendulum().model()
program = cardan.inverse_dynamics.program(model)
"""
COMPILE = 'kernel_of(Outline.of(program), lambda: program, False, "sm_90")'
RUN = """
code = write_kernel(program, False)
host = HostKernel(code.source, code.name)
ctypes.CDLL(None).setenv(b"HOST_KERNEL", host._library._name.encode(), 1)
q, v, a = np.random.default_rng(0).normal(size=(3, 100, 2))
found = cardan.inverse_dynamics(model, *map(to_device, (q, v, a)))
assert (found.to_numpy() == cardan.inverse_dynamics(model, q, v, a)).all()
everywhere = driver().on_all(Outline.of(program), lambda: program, False)
library = ctypes.CDLL("libcuda.so.1")
assert everywhere.launch == ctypes.cast(library.cuLaunchKernel, ctypes.c_void_p).value
assert everywhere.words["kernel"] == 0x3000
elsewhere = cardan.inverse_dynamics(model, *(to_device(x, stream=777) for x in (q, v, a)))
try:
    driver().device(3)
except cardan.errors.CardanError as error:
    print(type(error).__name__, error)
"""


@pytest.fixture
def run(tmp_path):
    library = tmp_path / "lib" / "libcuda.so.1"
    library.parent.mkdir()
    command = [GCC, "-shared", "-fPIC", "-w", str(HERE / "fake_libcuda.c"), "-o", str(library), "-ldl"]
    subprocess.run([*command, "-Wl,-soname,libcuda.so.1"], check=True)

    def process(code, **environment):
        settings = os.environ | {"CARDAN_CACHE_DIR": str(tmp_path / "cache")} | environment
        settings["PYTHONPATH"] = os.pathsep.join(
            [str(HERE), str(HERE.parents[2]), *filter(None, [settings.get("PYTHONPATH")])]
        )
        words = [sys.executable, "-c", FIRST + code]
        done = subprocess.run(words, env=settings, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return lambda code, **environment: process(code, LD_LIBRARY_PATH=str(library.parent), **environment), process


@pytest.mark.full
def test_a_call_through_the_bindings(run):
    with_driver, without = run
    without(COMPILE)  # NVRTC looks for a driver, and asks this one what it does not know
    said = with_driver(RUN).splitlines()
    assert said[:2] == ["launched on stream 1", "launched on stream 777"]
    assert said[2] == "TargetError there is no device 3: this process sees 1, numbered from 0."


def test_a_driver_that_is_too_old(run):
    said = run[0](
        "try:\n    driver()\nexcept Exception as error:\n    print(type(error).__name__, error)",
        FAKE_VERSION="12040",
    )
    assert said.startswith("TargetError the driver is of CUDA 12.4, kernels compiled by NVRTC")
