"""Where `package://`, `file://` and relative names of mesh files lead. A mesh that is not found is no error."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from cardan.errors import ParameterError

Packages = Mapping[str, str | os.PathLike[str]] | Sequence[str | os.PathLike[str]]


def check_packages(packages: Any) -> None:
    """Raise ParameterError unless `packages` is what `resolve` understands."""
    expected = "a list of folders that contain packages, or a mapping from package name to folder"
    if isinstance(packages, (str, bytes, os.PathLike)) or not isinstance(packages, (Mapping, Sequence, type(None))):
        raise ParameterError(
            "option package_dirs", got=packages, expected=expected, hint="Write [folder] for one folder."
        )
    places = packages.values() if isinstance(packages, Mapping) else packages or ()
    if not all(isinstance(place, (str, os.PathLike)) for place in places):
        raise ParameterError("option package_dirs", got=packages, expected=expected)


def resolve(uri: str, folder: Path | None, packages: Packages | None) -> str | None:
    """Return the path of an existing file, or None.

    Args:
        uri: as the description names it.
        folder: of the description itself.
        packages: package name to folder, or folders that contain package folders. After these come the environment
            (ROS_PACKAGE_PATH; share/ of AMENT_PREFIX_PATH) and the folders above the description.
    """
    try:
        return next((str(c) for c in _candidates(uri, folder, packages) if c.is_file()), None)
    except (OSError, ValueError):
        return None  # a name no file system accepts


def _candidates(uri: str, folder: Path | None, packages: Packages | None) -> Iterable[Path]:
    scheme, separator, rest = uri.partition("://")
    if not separator:
        yield (folder or Path()) / uri
    elif scheme == "file":
        yield Path(unquote(rest))
    elif scheme in ("package", "model"):
        package, _, inside = rest.partition("/")
        for place in _package_folders(package, folder, packages):
            yield place / inside


def _package_folders(package: str, folder: Path | None, packages: Packages | None) -> Iterable[Path]:
    if isinstance(packages, Mapping):
        if package in packages:
            yield Path(packages[package])
    else:
        for place in packages or ():
            yield Path(place) / package
    for place in filter(None, os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep)):
        yield Path(place) / package
        if Path(place).name == package:
            yield Path(place)
    for prefix in filter(None, os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)):
        yield Path(prefix) / "share" / package
    for above in (folder, *folder.parents) if folder else ():
        yield above / package
        if above.name == package:
            yield above


def allowed(path: str | os.PathLike[str], folder: Path | None, packages: Packages | None) -> bool:
    """Return whether a description in `folder` may lead to a file: in its own folder, its package's, or one allowed."""
    places = packages.values() if isinstance(packages, Mapping) else packages or ()
    roots = [*map(Path, places), *([folder, _package_of(folder)] if folder else [])]
    real = Path(path).resolve()
    return any(real.is_relative_to(root.resolve()) for root in roots)


def _package_of(folder: Path) -> Path:
    """Return the nearest folder above that is a package; the folder itself where there is none."""
    marks = ("package.xml", "model.config")
    above = (place for place in (folder, *folder.parents) if any((place / mark).is_file() for mark in marks))
    return next(above, folder)
