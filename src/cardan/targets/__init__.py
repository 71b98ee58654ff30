"""Where programs run: one target a file, and the registry."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable

from cardan.errors import UnknownNameError
from cardan.program.program import Program
from cardan.targets.numpy import compile_numpy, evaluate
from cardan.targets.runner import Runner


def _llvm(program: Program) -> Runner:
    from cardan.targets.llvm.target import compile_llvm  # llvmlite is loaded when it is first needed

    return compile_llvm(program)


TARGETS: dict[str, Callable[[Program], Runner]] = {"llvm": _llvm, "numpy": compile_numpy}
"""Compilers by name; a new target is one file and one line here."""


def default_target() -> str:
    """Return CARDAN_TARGET, or `"llvm"`; `"numpy"` on processors native code cannot serve (without multiply-add)."""
    return os.environ.get("CARDAN_TARGET") or _native()


@functools.cache
def _native() -> str:
    from cardan.targets.llvm.target import is_supported

    return "llvm" if is_supported() else "numpy"


def compile_program(program: Program, target: str) -> Runner:
    """Return a program, ready to run on a target.

    Raises:
        UnknownNameError: if there is no such target.
    """
    if target not in TARGETS:
        raise UnknownNameError("target", target, TARGETS)
    return TARGETS[target](program)


def _c_text(program: Program) -> str:
    from cardan.targets.c import c_code

    return c_code(program, program.name).source


def _llvm_text(program: Program) -> str:
    import numpy as np

    from cardan.targets.llvm.target import host_lanes
    from cardan.targets.llvm.text import llvm_text

    return llvm_text(program, host_lanes(np.dtype(np.float64)))


SOURCES: dict[str, Callable[[Program], str]] = {"ir": str, "c": _c_text, "llvm": _llvm_text}
"""A program as text, by the form's name."""


__all__ = ["SOURCES", "TARGETS", "Runner", "compile_numpy", "compile_program", "default_target", "evaluate"]
