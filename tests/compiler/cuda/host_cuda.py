"""Kernels in CUDA's language run without a device: as C++, the threads of a block as fibers (`host_cuda.h`)."""

import ctypes
import functools
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

COMPILER = shutil.which("g++") or shutil.which("clang++")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="needs g++ or clang++")
ORDERS = ("forward", "backward", "shuffled")
FLAGS = ("-std=c++17", "-O0", "-ffp-contract=off", "-fno-strict-aliasing", "-fPIC", "-shared", "-w")
"""As written: what is run once, on few states, is compiled longer than it runs."""
_HEADER = Path(__file__).with_name("host_cuda.h")
_DYNAMIC = re.compile(r"extern\s+__shared__\s+(?:__align__\(\d+\)\s+)?((?:\w+\s+)+)(\w+)\s*\[\s*\]\s*;")
_LAUNCH = """
extern "C" const char *cardan_launch(int count, unsigned grid, unsigned block, size_t shared, int order,
                                     unsigned long long seed, void *const *arguments) {{
    return host::launch({name}, count, grid, block, shared, order, seed, arguments);
}}
extern "C" int cardan_parameters() {{ return host::parameters({name}); }}
"""


class LaunchError(Exception):
    """A kernel broke a rule that a device would not have told: see the message."""


class HostKernel:
    """A kernel compiled for the host.

    Args:
        source: the text, as NVRTC would get it.
        name: of the kernel.
    """

    def __init__(self, source, name):
        text = _DYNAMIC.sub(r"static \1*&\2 = reinterpret_cast<\1 *&>(host::dynamic_memory);", source)
        self._library = ctypes.PyDLL(_built(f'#include "{_HEADER.name}"\n{text}{_LAUNCH.format(name=name)}'))
        self._launch = self._library.cardan_launch
        self._launch.restype = ctypes.c_char_p
        self.parameters = self._library.cardan_parameters()

    def launch(self, grid, block, shared, arguments, order="forward", seed=1):
        """Run it; the arguments are numbers of 64 bits: addresses, counts, strides.

        Raises:
            LaunchError: if threads wait for others that ended, or shared memory is not enough.
        """
        values = (ctypes.c_longlong * len(arguments))(*arguments)
        size = ctypes.sizeof(ctypes.c_longlong)
        places = (ctypes.c_void_p * len(arguments))(
            *(ctypes.addressof(values) + size * k for k in range(len(arguments)))
        )
        scalars = (ctypes.c_uint(grid), ctypes.c_uint(block), ctypes.c_size_t(shared), ORDERS.index(order))
        failure = self._launch(len(arguments), *scalars, ctypes.c_ulonglong(seed), places)
        if failure:
            raise LaunchError(failure.decode())


@functools.cache
def _built(text):
    """Return the path of the library made of a text."""
    folder = Path(_folder().name) / f"{len(list(Path(_folder().name).iterdir()))}"
    folder.mkdir()
    (folder / "kernel.cpp").write_text(text)
    _compile(f"-I{_folder().name}", folder / "kernel.cpp", "-o", folder / "kernel.so")
    return str(folder / "kernel.so")


@functools.cache
def _folder():
    """Return a folder with the header, which GCC finds there parsed already: it is most of a small kernel."""
    folder = tempfile.TemporaryDirectory(prefix="cardan-host-cuda-")
    header = shutil.copy(_HEADER, folder.name)
    if "clang" not in COMPILER:
        _compile("-x", "c++-header", header, "-o", f"{header}.gch")
    return folder


def _compile(*what):
    fma = ["-mfma"] if "fma" in Path("/proc/cpuinfo").read_text() else []
    command = [COMPILER, *FLAGS, *fma, *map(str, what)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise LaunchError(f"{' '.join(command)}\n{done.stderr[:4000]}")
