"""Where images are kept: in the disk cache, under names that say what they were made of, by what, and for whom."""

from __future__ import annotations

import functools
import hashlib
import importlib.machinery
import os
import sys
from collections.abc import Callable
from pathlib import Path

from cardan._compiler.runtime import disk_cache as cache
from cardan._compiler.runtime import processor
from cardan._compiler.targets.llvm.image import Image


def revision() -> bytes:
    """Return a digest of this target's own source as it is on disk now.

    By content: times and sizes agree between revisions often enough (files from archives have one time for all), and
    reading twenty files takes half a millisecond.
    """
    here = os.path.dirname(__file__)
    files = [entry.path for folder in (here, f"{here}/direct") for entry in os.scandir(folder)]
    files = sorted(file for file in files if file.endswith(".py"))
    files += [f"{here}/../../program/{name}.py" for name in ("fusing", "liveness")]
    found = hashlib.sha256()
    for file in files:
        with open(file, "rb", buffering=0) as stream:
            found.update(stream.read())
    return found.digest()


_REVISION = revision()  # before any module that writes code is loaded (the package imports this one first)


@functools.cache
def _machine() -> tuple[str, ...]:
    """Return what machine code depends on besides its source: the processor and LLVM."""
    known = processor.description()
    if known is None:
        from cardan._compiler.targets.llvm.machine import machine_name

        return machine_name()
    found = importlib.machinery.PathFinder.find_spec("llvmlite")  # its version, without loading it
    folder = (found.submodule_search_locations or [""])[0] if found else ""
    version = Path(folder, "_version.py") if folder else None
    return (sys.platform, known, version.read_text() if version and version.exists() else "")


def key(source: str) -> str:
    """Return the name under which the image of a source is kept; another processor, LLVM or revision has another."""
    emitter = os.environ.get("CARDAN_EMITTER", "")
    return hashlib.sha256(repr((source, emitter, _REVISION, _machine())).encode()).hexdigest()


def kept(source: str, make: Callable[[], Image]) -> tuple[Image, bool]:
    """Return the image of a source, and whether it was kept; otherwise it is made, and kept from now on."""
    name = key(source)
    data = cache.load(name)
    if data is not None:
        return Image.from_bytes(data), True
    image = make()
    if revision() == _REVISION:  # else the modules that wrote the code may be newer than the name says
        cache.save(name, image.to_bytes())
    return image, False


def is_kept(source: str) -> bool:
    """Return whether there is an image of a source, which may be damaged."""
    return cache.holds(key(source))
