"""Images by their names: kept in the disk cache, or compiled now, and loaded into memory.

A name says what an image was made of, by what, and for whom.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.machinery
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cardan._compiler.runtime import disk_cache as cache
from cardan._compiler.runtime import processor
from cardan._compiler.targets.llvm.image import OBJECT, Image, LoadedImage


def revision() -> str:
    """Return a digest of what writes machine code, as it is on disk now."""
    here = os.path.dirname(__file__)
    files = [entry.path for folder in (here, f"{here}/direct", f"{here}/../libm") for entry in os.scandir(folder)]
    files += [f"{here}/../../program/{name}.py" for name in ("passes", "liveness", "program")]
    return cache.revision_of(files)


_REVISION = revision()  # before any module that writes code is loaded (the package imports this one first)


@functools.cache
def _machine() -> tuple[str, ...]:
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
    return cache.holds(key(source))


def load(image: Image, function: str) -> Any:
    if image.entry != OBJECT:
        return LoadedImage(image)
    from cardan._compiler.targets.llvm.machine import Engine  # needs LLVM

    return Engine(image.code, function)


def image_of(source: str, text: Callable[[], str], function: str, *, optimised: bool = False) -> Image:
    """Return the image of a source: the one that was kept, or the function of a module compiled now."""

    def make() -> Image:
        from cardan._compiler.targets.llvm.machine import compile_image  # needs LLVM

        return compile_image(text(), function, optimised=optimised)

    return kept(source, make)[0]
