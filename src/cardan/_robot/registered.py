"""What upper wings give to this one: pictures of robots, worlds of mechanisms, readers of meshes.

Nothing is imported here, so that registering costs nothing; `cardan/_wiring.py` does it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

# Points [in the file's units] and triangles of a mesh, of its uri and the path of its file.
MeshReader = Callable[[str, str], tuple[np.ndarray, np.ndarray]]

_renderers: dict[str, Callable[[Any], str]] = {}
_mesh_readers: dict[str, MeshReader] = {}
_makers: list[Callable[..., Any]] = []


def register_renderer(kind: str, renderer: Callable[[Any], str]) -> None:
    """Show a class, `"Model"` or `"Mechanism"`, in notebooks by a function, which returns HTML; it must not raise."""
    _renderers[kind] = renderer


def render(robot: Any) -> str:
    """Return a model or mechanism as HTML; its text if no renderer is registered."""
    renderer = _renderers.get(type(robot).__name__)
    return renderer(robot) if renderer else f"<pre>{escape(str(robot))}</pre>"


def register_mesh_reader(endings: Iterable[str], reader: MeshReader) -> None:
    """Read the meshes of files with these endings, such as `".usd"`, by a reader, and not by trimesh."""
    _mesh_readers.update(dict.fromkeys(endings, reader))


def mesh_reader(path: str | None) -> MeshReader | None:
    """Return the reader that is registered for a file; None if trimesh reads it."""
    return _mesh_readers.get(Path(path or "").suffix.lower())


def register_world(maker: Callable[..., Any]) -> None:
    """Make worlds by a function of a mechanism, a base and the options of `Mechanism.world`."""
    _makers[:] = [maker]


def make_world(mechanism: Any, base: Any, **options: Any) -> Any:
    """Return the world of a mechanism."""
    return _makers[0](mechanism, base, **options)
