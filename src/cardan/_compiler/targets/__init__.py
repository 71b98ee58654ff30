"""Where programs run: emitters write a program as text, loaders make a function on arrays of it; one table."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import NamedTuple

from cardan._algebra.errors import UnknownNameError
from cardan._compiler.program.program import Program
from cardan._compiler.targets.numpy import compile_numpy, evaluate
from cardan._compiler.targets.runner import Outline, Runner

Source = Callable[[], Program]
"""Gives the program when it is needed; a target that kept what it made of it before may never ask."""


def _c_text(program: Program) -> str:
    from cardan._compiler.targets.c import c_code

    return c_code(program, program.name).source


def _cuda_text(program: Program) -> str:
    from cardan._compiler.targets.cuda.text import cuda_code

    return cuda_code(program, single=False).source


def _llvm_text(program: Program) -> str:
    import numpy as np

    from cardan._compiler.targets.llvm.machine import host_lanes
    from cardan._compiler.targets.llvm.text import llvm_text

    return llvm_text(program, host_lanes(np.dtype(np.float64)))


def _llvm(outline: Outline, program: Source) -> Runner:
    from cardan._compiler.targets.llvm.target import load_llvm

    return load_llvm(outline, program)


def _cuda(outline: Outline, program: Source) -> Runner:
    from cardan._compiler.targets.cuda.runner import CudaProgram

    return CudaProgram(outline, program)


class Target(NamedTuple):
    """A target: its emitter and its loader, each None if it has none."""

    text: Callable[[Program], str] | None  # the emitter
    load: Callable[[Outline, Source], Runner] | None  # the loader
    # whether that keeps what it made of a program, and then does without; to others a trace that was kept is of no
    # use
    keeps: bool = False


TARGETS: dict[str, Target] = {
    "ir": Target(str, None),
    "c": Target(_c_text, None),
    "cuda": Target(_cuda_text, _cuda, keeps=True),
    "llvm": Target(_llvm_text, _llvm, keeps=True),
    "numpy": Target(None, lambda outline, program: compile_numpy(program())),
}
"""Targets by name; a new one is one file and one line here."""

SOURCES = {name: target.text for name, target in TARGETS.items() if target.text}
LOADERS = {name: target.load for name, target in TARGETS.items() if target.load}
KEEPERS = {name for name, target in TARGETS.items() if target.keeps}


def default_target() -> str:
    """Return CARDAN_TARGET, or `"llvm"`; `"numpy"` on processors native code cannot serve (without multiply-add)."""
    return os.environ.get("CARDAN_TARGET") or _native()


@functools.cache
def _native() -> str:
    from cardan._compiler.targets.llvm.target import is_supported

    return "llvm" if is_supported() else "numpy"


def load_program(outline: Outline, program: Source, target: str) -> Runner:
    """Return a program, ready to run on a target, without its instructions where the target kept what it made of them.

    Args:
        outline: of the program, for example read from disk.
        program: gives the program itself; called only if it is needed, at any later time.
        target: name of the target.

    Raises:
        UnknownNameError: if there is no such target.
    """
    if target not in LOADERS:
        raise UnknownNameError("target", target, LOADERS)
    return LOADERS[target](outline, program)


def compile_program(program: Program, target: str) -> Runner:
    """Return a program, ready to run on a target.

    Raises:
        UnknownNameError: if there is no such target.
    """
    return load_program(Outline.of(program), lambda: program, target)


__all__ = [
    "KEEPERS",
    "LOADERS",
    "SOURCES",
    "TARGETS",
    "Outline",
    "Runner",
    "Target",
    "compile_numpy",
    "compile_program",
    "default_target",
    "evaluate",
    "load_program",
]
