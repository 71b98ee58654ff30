"""Where programs run: one target a file, and the registry."""

from __future__ import annotations

import os
from collections.abc import Callable

from cardan.errors import UnknownNameError
from cardan.program.program import Program
from cardan.program.targets.numpy import Runner, compile_numpy


def _llvm(program: Program) -> Runner:
    from cardan.program.targets.llvm import compile_llvm  # llvmlite is loaded when it is first needed

    return compile_llvm(program)


TARGETS: dict[str, Callable[[Program], Runner]] = {"llvm": _llvm, "numpy": compile_numpy}
"""Compilers by name; a new target is one file and one line here."""


def default_target() -> str:
    """Return CARDAN_TARGET, or `"llvm"`: native code for this machine."""
    return os.environ.get("CARDAN_TARGET") or "llvm"


def compile_program(program: Program, target: str) -> Runner:
    """Return a program, ready to run on a target.

    Raises:
        UnknownNameError: if there is no such target.
    """
    if target not in TARGETS:
        raise UnknownNameError("target", target, TARGETS)
    return TARGETS[target](program)
