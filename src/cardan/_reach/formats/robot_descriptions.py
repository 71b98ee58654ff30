"""`cardan.load("robot_descriptions/panda_description")`: what the package robot_descriptions has in its cache.

Importing a module of that package clones a repository. So none is imported: its text says where its files are, and only
what was fetched before is opened.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Mapping
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from cardan._algebra.errors import DescriptionError, Fault, close_names, did_you_mean
from cardan._reach.formats.reading import Options
from cardan._reach.formats.resources import Packages

PREFIX = "robot_descriptions/"
_PATHS = ("URDF_PATH", "XACRO_PATH", "MJCF_PATH", "SDF_PATH")


def is_named(source: Any) -> bool:
    return isinstance(source, str) and source.startswith(PREFIX) and not os.path.exists(source)


def locate(source: str, options: Options) -> tuple[str, Options]:
    """Return the file of a description of the package, and options with where its parts are.

    Raises:
        DescriptionError: without the package, for a name it has not, for one that was not fetched yet.
    """
    found = find_spec("robot_descriptions")
    if found is None or found.origin is None:
        raise _fault(source, "needs the package robot_descriptions: pip install robot_descriptions")
    folder, name = Path(found.origin).parent, source.removeprefix(PREFIX)
    known = [file.stem for file in folder.glob("*_description.py") if not file.stem.startswith("_")]
    if name not in known:
        near = did_you_mean(close_names(name, known))
        raise _fault(source, f"the package robot_descriptions has no such description{near}")
    values = _assigned(folder / f"{name}.py", _caches(folder / "_repositories.py"))
    path = next((values[key] for key in _PATHS if isinstance(values.get(key), str)), None)
    if path is None or not os.path.isfile(path):
        how = f"python -m robot_descriptions pull {name}"
        raise _fault(source, f"is not on this machine, and cardan opens no network; fetch it with  {how}")
    arguments = values.get("XACRO_ARGS", {}) if path == values.get("XACRO_PATH") else {}
    arguments = {**arguments, **options.xacro_args}
    return path, replace(options, package_dirs=_packages(values, options.package_dirs), xacro_args=arguments)


def _fault(source: str, message: str) -> DescriptionError:
    return DescriptionError([Fault(source, 0, message)])


def _packages(values: Mapping[str, Any], given: Packages | None) -> Packages:
    """Return where packages are: as the caller says, then the folders the description names and those above them."""
    named = [value for key, value in values.items() if key.endswith(("PACKAGE_PATH", "REPOSITORY_PATH"))]
    named += [path for paths in values.values() if isinstance(paths, dict) for path in paths.values()]
    places = [str(path) for path in named if os.path.isdir(path)]
    if isinstance(given, Mapping):
        return {**{os.path.basename(place): place for place in places}, **given}
    return list(dict.fromkeys([*(given or ()), *places, *(os.path.dirname(place) for place in places)]))


def _caches(file: Path) -> dict[str, str]:
    top = os.environ.get("ROBOT_DESCRIPTIONS_CACHE", "~/.cache/robot_descriptions")
    found = {}
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Dict):
            for key, call in zip(node.keys, node.values, strict=True):
                keywords = {k.arg: k.value for k in call.keywords} if isinstance(call, ast.Call) else {}
                place = keywords.get("cache_path")
                if isinstance(key, ast.Constant) and isinstance(place, ast.Constant):
                    found[key.value] = os.path.join(os.path.expanduser(top), str(place.value))
    return found


def _assigned(file: Path, caches: Mapping[str, str]) -> dict[str, Any]:
    """Return the texts and dictionaries of texts a module assigns to names, as far as its text tells them."""
    values: dict[str, Any] = {}
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        if isinstance(target, ast.Name):
            values[target.id] = _value(getattr(node, "value", None), values, caches)
    return {name: value for name, value in values.items() if value is not None}


def _value(node: Any, values: Mapping[str, Any], caches: Mapping[str, str]) -> Any:
    """Return what an expression of such a module is: a text, a path that is joined, the clone of a repository."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.Name):
        return values.get(node.id)
    if isinstance(node, ast.Dict):
        keys, items = ([_value(part, values, caches) for part in parts] for parts in (node.keys, node.values))
        pairs = zip(keys, items, strict=True)
        return {key: value for key, value in pairs if key is not None and value is not None}
    if isinstance(node, ast.Call):
        parts = [_value(argument, values, caches) for argument in node.args]
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if called == "join" and parts and all(isinstance(part, str) for part in parts):
            return os.path.join(*parts)
        if called == "_clone_to_cache" and parts:
            return caches.get(parts[0])
    return None
