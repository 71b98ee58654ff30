"""Compilers and emulators of other machines, where they are: sources of C are built for them and run."""

import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

SUPPORT = Path(__file__).parent / "controllers"
STRICT = ["-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Wshadow", "-Wdouble-promotion", "-Werror"]
CORTEX_M = ["-mthumb", "-mfloat-abi=hard", "-ffunction-sections", "-nostartfiles", f"-T{SUPPORT / 'cortex_m.ld'}"]
QEMU_M = ["-nographic", "-semihosting-config", "enable=on,target=native", "-icount", "shift=0", "-kernel"]


class Machine(NamedTuple):
    """A machine: its compiler, what it compiles with, what runs the result, and what is around main."""

    compiler: str
    flags: list
    runner: list
    support: str

    @property
    def reason(self):
        """Why it is not there; nothing if it is."""
        missing = [tool for tool in (self.compiler, *self.runner[:1]) if shutil.which(tool) is None]
        return f"needs {', '.join(missing)}" if missing else ""


def cortex(cpu, fpu, board):
    flags = [f"-mcpu={cpu}", f"-mfpu={fpu}", *CORTEX_M]
    return Machine("arm-none-eabi-gcc", flags, ["qemu-system-arm", "-M", board, *QEMU_M], "cortex_m.c")


MACHINES = {
    "host": Machine("gcc", [], [], "hosted.c"),
    "aarch64": Machine("aarch64-linux-gnu-gcc", ["-static"], ["qemu-aarch64"], "hosted.c"),
    "cortex-m4f": cortex("cortex-m4", "fpv4-sp-d16", "mps2-an386"),
    "cortex-m7": cortex("cortex-m7", "fpv5-d16", "mps2-an500"),
}


def needed(name):
    """Return a machine, or skip the test."""
    if MACHINES[name].reason:
        pytest.skip(MACHINES[name].reason)
    return MACHINES[name]


def compiled(machine, folder, sources, *, includes=(), standard="c99", options=("-O2",)):
    """Return the program that sources make on a machine."""
    program = folder / "program"
    paths = [f"-I{path}" for path in (*includes, SUPPORT)]
    flags = [f"-std={standard}", *options, *machine.flags, *paths]
    objects = []
    for k, source in enumerate(sources):
        own = STRICT if Path(source).parent != SUPPORT else []
        objects.append(str(folder / f"{k}.o"))
        subprocess.run([machine.compiler, *flags, *own, "-c", str(source), "-o", objects[-1]], check=True)
    subprocess.run([machine.compiler, *flags, *objects, "-lm", "-o", str(program)], check=True)
    return program


def lines_of(machine, program, timeout=300):
    """Return what a program writes on its machine."""
    streams = {
        "stdout": subprocess.PIPE,
        "stderr": subprocess.STDOUT,
        "stdin": subprocess.DEVNULL,
    }  # semihosting: stderr
    done = subprocess.run([*machine.runner, str(program)], check=True, text=True, timeout=timeout, **streams)
    return done.stdout.split()


def numbers(line, dtype):
    """Return the numbers whose bytes a line says."""
    return np.frombuffer(bytes.fromhex(line), dtype)
