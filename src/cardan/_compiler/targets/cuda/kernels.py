"""From a program to a compiled kernel, without the program where the kernel was made before."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from cardan._compiler.program.program import Program
from cardan._compiler.runtime import disk_cache
from cardan._compiler.targets.cuda import compiler
from cardan._compiler.targets.cuda.compiler import Cubin, Launch
from cardan._compiler.targets.runner import Outline


class Kernel(NamedTuple):
    """A compiled kernel and how it is launched."""

    launch: Launch
    cubin: Cubin


def kernel_of(outline: Outline, program: Callable[[], Program], single: bool, architecture: str) -> Kernel:
    """Return the kernel of a program: found on disk, or written and compiled now.

    Args:
        outline: of the program.
        program: gives it; called only if the kernel was not made before.
        single: whether in float32.
        architecture: of the device.

    Raises:
        MissingExtraError, TargetError: as `compiler.compiled`.
    """
    name = _key(outline, single, architecture)
    found = _kept(name)
    if found is None:
        code = written(program(), single)
        found = Kernel(code.launch, compiler.compiled(code.source, code.launch.name, architecture))
        if revision() == _REVISION:  # else the modules that wrote the text may be newer than the name says
            kept = {"launch": found.launch, "cubin": compiler.key_of(code.source, architecture)}
            disk_cache.save(name, json.dumps(kept).encode())
    return found


def written(program: Program, single: bool) -> Any:
    """Return the text of a program's kernel, with how it is launched."""
    from cardan._compiler.targets.cuda.text import cuda_code

    return cuda_code(program, single=single)


def _kept(name: str) -> Kernel | None:
    data = disk_cache.load(name)
    if data is None:
        return None
    said = json.loads(data)
    cubin = compiler.kept(said["cubin"])
    return Kernel(Launch(*said["launch"]), cubin) if cubin else None


def _key(outline: Outline, single: bool, architecture: str) -> str:
    said = ("kernel", outline.digest, outline.name, single, architecture, compiler.OPTIONS, compiler.version())
    return hashlib.sha256(repr((said, _REVISION)).encode()).hexdigest()


def revision() -> str:
    """Return a digest of what writes kernels, as it is on disk now: the targets, and what they ask of programs."""
    targets = Path(__file__).parents[1]
    files = [*targets.rglob("*.py"), *(targets.parent / "program").glob("*.py")]
    return hashlib.sha256(b"".join(hashlib.sha256(f.read_bytes()).digest() for f in sorted(files))).hexdigest()


_REVISION = revision()
