"""What tracing found, kept on disk: enough to run a program that was compiled before without tracing it again.

A cache entry says which program it is (`Outline`, which names the machine code) and in what form its results are
returned. It is kept for functions of cardan's own, and those made from them, of models that hold nothing of a user's
code. Its name is the digest of the package's build, of the function, and of the content of the model and the options.
Everything else is traced in every process: what other people's code reads cannot be known from outside.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from functools import cache
from typing import Any

import numpy as np

from cardan._algebra.content import APART, HERE, digest
from cardan._compiler.program import Array
from cardan._compiler.runtime import disk_cache
from cardan._compiler.targets import Outline
from cardan._dynamics.call.results import Form
from cardan._dynamics.call.signature import Options
from cardan._dynamics.call.traced import Source, resolved
from cardan._robot.model import Model
from cardan._version import __version__

FIELDS = ("name", "inputs", "outputs", "operations", "digest", "passes")  # what an entry holds of an outline
_STARTED = time.time()
YOUNG = 2.0
"""Seconds: a file written less than this before it was imported may be newer than the code that runs.

Times count in whole seconds, as images of containers keep them, and clocks of file servers lag behind.
"""


def _files(place: str, apart: frozenset[str] = frozenset()) -> list[tuple[int, str, int]]:
    """Return the time of writing [s], the path and the size of each file of Python in a folder."""
    files: list[tuple[int, str, int]] = []
    with os.scandir(place) as found:
        for entry in found:
            if entry.name.endswith(".py"):
                status = entry.stat()
                files.append((int(status.st_mtime), entry.path, status.st_size))
            elif entry.name not in apart and entry.name != "__pycache__" and entry.is_dir():
                files += _files(entry.path)
    return files


def _build_now() -> str | None:
    """Return the digest of the package's files on disk; None if there are none, or some are younger than the process.

    Wings through which no trace goes (`content.APART`) are left out.
    """
    try:
        files = sorted(_files(HERE, APART))
    except OSError:  # in an archive, say
        return None
    if not files or files[-1][0] > _STARTED - YOUNG:  # the youngest is last
        return None
    return hashlib.sha256(repr((__version__, sys.version, np.__version__, files)).encode()).hexdigest()


_build = cache(_build_now)  # which takes a millisecond


def name_of(source: Source, model: Model, names: tuple[str, ...], options: Options) -> str | None:
    """Return the name of what tracing a source for a model, arrays and options would find; None if it is not kept."""
    made_of = digest("trace", source.content(), model, names, options)
    build = _build() if made_of else None
    return build and hashlib.sha256(f"{build} {made_of}".encode()).hexdigest()


def load(name: str) -> tuple[Outline, Form] | None:
    """Return what was kept under a name; None if nothing was, or nothing that can be understood."""
    data = disk_cache.load(name)
    if data is None:
        return None
    try:
        found = json.loads(data)
        inputs, outputs = (
            tuple(Array(n, tuple(shape), *rest) for n, shape, *rest in found[side]) for side in ("inputs", "outputs")
        )
        outline = Outline(found["name"], inputs, outputs, found["operations"], found["digest"], found["passes"])
        form = _form(found["form"])
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return None if form is None else (outline, form)


def save(name: str, outline: Outline, form: Form) -> None:
    """Keep what tracing found, unless its results come in a class that cannot be found by its name.

    Nor where a file of cardan was written since the name was made: what is imported late may be newer than that.
    """
    if form.type is not None and resolved(*_path(form.type).split(":")) is not form.type:
        return
    if _build_now() != _build():
        return
    found = {field: getattr(outline, field) for field in FIELDS} | {"form": _words(form)}
    disk_cache.save(name, json.dumps(found).encode())


def _path(kind: type) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"


def _words(form: Form) -> dict[str, Any]:
    path, inner = form.type and _path(form.type), form.inner and _words(form.inner)
    return {"kind": form.kind, "names": form.names, "type": path, "by": form.by, "inner": inner}


def _form(words: dict[str, Any]) -> Form | None:
    """Return the form that was said; None if its class is no more."""
    kind = resolved(*words["type"].split(":")) if words["type"] else None
    if words["type"] and kind is None:
        return None
    inner = words["inner"] and _form(words["inner"])
    return Form(words["kind"], tuple(words["names"]), kind, tuple(words["by"]), inner)
