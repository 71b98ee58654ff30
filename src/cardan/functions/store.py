"""What tracing found, kept on disk: enough to run a program that was compiled before without tracing it again.

An entry says which program it is (`Outline`, which names the machine code) and in what form its results are returned.
Its name is the digest of all that a cardan makes its trace of: the source of the kernel, the content of the model, the
options. Where one of these cannot be known, or cardan's own functions were replaced, there is no name, and nothing is
kept. And it says in what state which files of cardan were: all whose code was loaded when the trace was done. It counts
for those who find them so.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import marshal
import os
import sys
import time
from collections.abc import Mapping
from functools import cache
from itertools import chain
from operator import is_
from types import FunctionType, ModuleType
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

_LATEST = (time.time() - 0.05) * 1e9  # files not written later were there at the import; a clock may lag by a tick
_OWN = {"cardan", "numpy", "llvmlite", *sys.stdlib_module_names}
_HERE = os.path.dirname(os.path.dirname(__file__)) + os.sep
_APART = tuple(f"cardan.{room}" for room in content.APART)
_PLACE = (_HERE, __version__, sys.version, np.__version__)


_loaded: list[list[ModuleType]] = [[], []]
"""All that was loaded when `_modules` was asked last, and what it returned."""


def _modules() -> list[ModuleType]:
    """Return what is loaded of cardan, but rooms through which no trace goes (`content.APART`)."""
    every, before = list(sys.modules.values()), _loaded[0]
    if len(every) != len(before) or not all(map(is_, every, before)):
        rooms = [(name, module) for name, module in list(sys.modules.items()) if name.startswith("cardan.")]
        ours = [module for name, module in rooms if not name.startswith(_APART)]
        _loaded[:] = every, [sys.modules["cardan"], *ours]
    return _loaded[1]


def _files() -> str | None:
    """Return the files the loaded code is of, one a line; None where some is of no file."""
    files = [file.removeprefix(_HERE) for module in _modules() if (file := getattr(module, "__file__", None))]
    return "\n".join(sorted(files)) if len(files) == len(_modules()) else None


@cache
def _state(file: str) -> tuple[int, ...]:
    """Return when and where a file of cardan was written, which no archive or installer can set.

    Raises:
        OSError: if there is none.
        ValueError: if it was written since the import, or a folder has its place: other code than its may run.
    """
    path = os.path.join(_HERE, file)
    status = os.stat(path)
    if max(status.st_mtime_ns, status.st_ctime_ns) > _LATEST or os.access(path.removesuffix(".py"), os.F_OK):
        raise ValueError(file)
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


@cache
def _states(files: str) -> str | None:
    """Return the digest of the states of files, one a line; None where it cannot be told."""
    try:
        states = [_state(file) for file in files.split("\n")]
    except (OSError, ValueError):
        return None
    return hashlib.sha256(marshal.dumps(states, 2)).hexdigest()  # version 2 shares no references


_seen: dict[ModuleType, tuple[list[Mapping[str, Any]], list[Any]]] = {}
"""Modules in which no function and no method was from elsewhere: the names of each and of its classes, and what they
stood for; that is kept alive, so that nothing else is taken for it."""


@atexit.register
def _forget() -> None:
    """Keep nothing alive any more: at the end modules go in Python's own order."""
    _loaded[:] = [], []
    _seen.clear()


def _is_patched() -> bool:
    """Return whether a function or method of cardan was replaced by one from elsewhere; constants are not looked at."""
    return not all(_is_as_seen(module) or _is_its_own(module) for module in _modules())


def _is_as_seen(module: ModuleType) -> bool:
    """Return whether a module holds what it held when it was looked at: a third of the work of looking again."""
    places, known = _seen.get(module, ((), ()))
    if not places:
        return False
    things = list(chain.from_iterable([place.values() for place in places]))
    return len(things) == len(known) and all(map(is_, things, known))


def _is_its_own(module: ModuleType) -> bool:
    """Return whether functions and methods in a module are cardan's, NumPy's or Python's; note it if they are."""
    own, name = vars(module), module.__name__
    kinds = [thing for thing in list(own.values()) if isinstance(thing, type) and thing.__module__ == name]
    places = [own, *map(vars, kinds)]
    things = list(chain.from_iterable([place.values() for place in places]))
    codes = [t.__globals__ for t in things if type(t) is FunctionType and t.__globals__ is not own]
    sources = {id(code): code for code in codes}.values()
    if any(code.get("__name__", "").partition(".")[0] not in _OWN for code in sources):
        return False
    _seen[module] = places, things
    return True


def name_of(source: Source, model: Model, names: tuple[str, ...], options: Options) -> str | None:
    """Return the name of what tracing a source for a model, arrays and options would find; None if it cannot be known.

    Args:
        source: what is traced.
        model: the model.
        names: of the arrays.
        options: the options.
    """
    return None if _is_patched() else _digest(source, model, names, options)


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
    return content.digest("trace", _PLACE, source.content(), model, names, options)


def load(name: str) -> tuple[Outline, Form] | None:
    """Return what was kept under a name; None if nothing was, nothing by this cardan, or that can be understood."""
    data = disk_cache.load(name)
    if data is None:
        return None
    try:
        found = json.loads(data)
        if found["state"] != _states(found["files"]):
            return None
        inputs, outputs = (tuple(Array(n, tuple(shape)) for n, shape in found[side]) for side in ("inputs", "outputs"))
        outline = Outline(found["name"], inputs, outputs, found["operations"], found["digest"], found["passes"])
        form = _form(found["form"])
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return None if form is None else (outline, form)


def save(name: str, outline: Outline, form: Form) -> None:
    """Keep what tracing found, unless its results come in a class that cannot be found by its name.

    Nor where cardan's files may have changed since they were loaded.
    """
    if form.type is not None and resolved(*_path(form.type).split(":")) is not form.type:
        return
    files = _files()
    state = _states(files) if files else None
    if state is None:
        return
    found = {
        "files": files,
        "state": state,
        "name": outline.name,
        "inputs": outline.inputs,
        "outputs": outline.outputs,
        "operations": outline.operations,
        "digest": outline.digest,
        "passes": outline.passes,
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
