"""What tracing found, kept on disk: enough to run a program that was compiled before without tracing it again.

An entry says which program it is (`Outline`, which names the machine code) and in what form its results are returned.
Its name is the digest of all that the trace is a function of: the source of the kernel, the content of the model, the
options, and the state of every file of cardan. Where one of these cannot be known, or cardan's own functions were
replaced, there is no name, and nothing is kept.
"""

from __future__ import annotations

import hashlib
import json
import marshal
import os
import sys
import time
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np

from cardan import content
from cardan._version import __version__
from cardan.functions.references import resolved
from cardan.functions.results import Form
from cardan.functions.signature import Options
from cardan.functions.traced import Source
from cardan.model import Model
from cardan.program import Array
from cardan.runtime import disk_cache
from cardan.targets import Outline

_IMPORTED = time.time()
_OWN = {"cardan", "numpy", "llvmlite", *sys.stdlib_module_names}
_OTHERS = {"__pycache__", *content.APART}
_CLOCK = 0.05  # the file system's clock may lag behind by a tick; files this much older were there at the import


@cache
def _package() -> tuple[Any, ...] | None:
    """Return the state of cardan's files, all that changes if one is written; None if one was since the import.

    By when and where each was written, which no archive or installer can set: 1 ms instead of 10 for their content.
    Rooms through which no trace goes (`content.APART`) are not looked at.
    """
    files, folders = [], [os.path.dirname(os.path.dirname(__file__))]
    for folder in folders:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(".py"):
                    status = entry.stat()
                    files.append((entry.path, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino))
                elif entry.name not in _OTHERS and entry.is_dir():
                    folders.append(entry.path)
    if max(max(f[2], f[3]) for f in files) > (_IMPORTED - _CLOCK) * 1e9:
        return None  # the code that runs may be older than the files
    return (__version__, sys.version, np.__version__, *sorted(files))


@cache
def _package_digest() -> str | None:
    state = _package()
    return (
        None if state is None else hashlib.sha256(marshal.dumps(state, 2)).hexdigest()
    )  # version 2 shares no references


def _is_patched() -> bool:
    """Return whether a function or method of cardan was replaced by one from elsewhere; constants are not looked at."""
    places = {}  # of code, each once: half a millisecond
    for name, module in list(sys.modules.items()):
        if name.startswith("cardan.") or name == "cardan":
            for value in list(vars(module).values()):
                if type(value) is FunctionType:
                    places[id(value.__globals__)] = value.__globals__
                elif isinstance(value, type) and value.__module__ == name:
                    for member in vars(value).values():
                        if type(member) is FunctionType:
                            places[id(member.__globals__)] = member.__globals__
    return any(place.get("__name__", "").partition(".")[0] not in _OWN for place in places.values())


def name_of(source: Source, model: Model, names: tuple[str, ...], options: Options) -> str | None:
    """Return the name of what tracing a source for a model, arrays and options would find; None if it cannot be known.

    Args:
        source: what is traced.
        model: the model.
        names: of the arrays.
        options: the options.
    """
    if _package_digest() is None or _is_patched():
        return None
    return _digest(source, model, names, options)


def is_still(name: str, source: Source, model: Model, names: tuple[str, ...], options: Options) -> bool:
    """Return whether a name is what it was before a source was traced: a kernel may change what it reads.

    Args:
        name: from `name_of`.
        source: what was traced.
        model: the model.
        names: of the arrays.
        options: the options.
    """
    return name == _digest(source, model, names, options)


def _digest(source: Source, model: Model, names: tuple[str, ...], options: Options) -> str | None:
    return content.digest("trace", _package_digest(), source.content(), model, names, options)


def load(name: str) -> tuple[Outline, Form] | None:
    """Return what was kept under a name; None if nothing was, or nothing that can be understood."""
    data = disk_cache.load(name)
    if data is None:
        return None
    try:
        found = json.loads(data)
        inputs, outputs = (tuple(Array(n, tuple(shape)) for n, shape in found[side]) for side in ("inputs", "outputs"))
        outline = Outline(found["name"], inputs, outputs, found["operations"], found["digest"])
        form = _form(found["form"])
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return None if form is None else (outline, form)


def save(name: str, outline: Outline, form: Form) -> None:
    """Keep what tracing found, unless its results come in a class that cannot be found by its name."""
    if form.type is not None and resolved(*_path(form.type).split(":")) is not form.type:
        return
    found = {
        "name": outline.name,
        "inputs": outline.inputs,
        "outputs": outline.outputs,
        "operations": outline.operations,
        "digest": outline.digest,
        "form": _words(form),
    }
    disk_cache.save(name, json.dumps(found).encode())


def _path(kind: type) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"


def _words(form: Form) -> dict[str, Any]:
    """Return a form as what JSON can say."""
    path, inner = form.type and _path(form.type), form.inner and _words(form.inner)
    return {"kind": form.kind, "names": form.names, "type": path, "by": form.by, "inner": inner}


def _form(words: dict[str, Any]) -> Form | None:
    """Return the form that was said; None if its class is no more."""
    kind = resolved(*words["type"].split(":")) if words["type"] else None
    if words["type"] and kind is None:
        return None
    inner = words["inner"] and _form(words["inner"])
    return Form(words["kind"], tuple(words["names"]), kind, tuple(words["by"]), inner)
