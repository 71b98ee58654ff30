"""Where programs run: emitters write a program as text, loaders make a function on arrays of it; one table."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from cardan._algebra.errors import TargetError, UnknownNameError
from cardan._algebra.lazy import later, plugin, registered
from cardan._compiler.program.passes import without_tangents
from cardan._compiler.program.program import Program
from cardan._compiler.targets.numpy import NumpyProgram
from cardan._compiler.targets.numpy import evaluate as evaluate
from cardan._compiler.targets.runner import Outline, Runner

Source = Callable[[], Program]
"""Gives the program when it is needed; a target that kept what it made of it before may never ask."""
GROUP = "cardan.targets"  # entry points by which other packages add targets: each names a `Target`


class Target(NamedTuple):
    """A target: its emitter and its loader, each None if it has none."""

    text: Callable[[Program], str] | None = None
    load: Callable[[Outline, Source], Runner] | None = None
    keeps: bool = False  # whether the loader keeps what it made of a program; to others a kept trace is of no use


TARGETS: dict[str, Target] = {
    "ir": Target(str),
    "c": Target(later(f"{__name__}.c:c_text")),
    "cuda": Target(later(f"{__name__}.cuda.text:cuda_text"), later(f"{__name__}.cuda.runner:CudaProgram"), keeps=True),
    "llvm": Target(
        later(f"{__name__}.llvm.compiler:host_text"), later(f"{__name__}.llvm.target:NativeProgram"), keeps=True
    ),
    "numpy": Target(load=lambda outline, program: NumpyProgram(without_tangents(program()))),
}
"""Targets by name; a new one is one file and one line here, or an entry point of another package."""


def target_named(name: str, does: Literal["text", "load"] = "load", where: str = "") -> Target:
    """Return a target that writes a program as text, or loads it; UnknownNameError if there is none.

    TargetError says that it is another package's, and cannot be imported.
    """
    if name not in TARGETS and name in registered(GROUP):  # looked at late: to find them takes 20 ms
        try:
            TARGETS[name] = Target(*plugin(GROUP, name))
        except Exception as error:  # it cannot be loaded, or is no target
            home, cause = registered(GROUP)[name].value, error.__cause__ or error
            raise TargetError(f"the target {name!r} ({home}) cannot be loaded: {cause!r}") from error
    if getattr(TARGETS.get(name), does, None) is None:
        names = [own for own, target in TARGETS.items() if getattr(target, does) is not None]
        kind = "target" if does == "load" else "form"
        raise UnknownNameError(kind, name, dict.fromkeys((*names, *registered(GROUP))), where)
    return TARGETS[name]


def default_target() -> str:
    """Return CARDAN_TARGET, or `"llvm"`; `"numpy"` on processors native code cannot serve (without multiply-add)."""
    return os.environ.get("CARDAN_TARGET") or _native()


@functools.cache
def _native() -> str:
    from cardan._compiler.targets.llvm.target import is_supported

    return "llvm" if is_supported() else "numpy"


def load_program(outline: Outline, program: Source, target: str) -> Runner:
    """Return a program, ready to run on a target; errors as `target_named`.

    `program` gives the program itself. It is called if the target did not keep what it made of it, at any later time.
    """
    load: Any = target_named(target).load
    return load(outline, program)


def compile_program(program: Program, target: str) -> Runner:
    """Return a program, ready to run on a target; errors as `target_named`."""
    return load_program(Outline.of(program), lambda: program, target)
