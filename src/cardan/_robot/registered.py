"""What upper wings give to this one: pictures of robots, worlds of mechanisms, clusters, readers of meshes.

Nothing is imported here, so that registering costs nothing; `cardan/_wiring.py` fills the tables.
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

# Points [in the file's units] and triangles of a mesh, of its uri and the path of its file.
MeshReader = Callable[[str, str], tuple[np.ndarray, np.ndarray]]

RENDERERS: dict[str, Callable[[Any], str]] = {}
"""What shows a class, `"Model"` or `"Mechanism"`, in notebooks: it returns HTML, and must not raise."""
MESH_READERS: dict[str, MeshReader] = {}
"""What reads the meshes of files with an ending, such as `".usd"`, instead of trimesh."""
MAKERS: dict[str, Callable[..., Any]] = {}
"""What makes the `"world"` of a mechanism, a base and the options of `Mechanism.world`; `"clusters"` of a model."""


def render(robot: Any) -> str:
    """Return a model or mechanism as HTML; its text if no renderer is registered."""
    renderer = RENDERERS.get(type(robot).__name__)
    return renderer(robot) if renderer else f"<pre>{escape(str(robot))}</pre>"


def mesh_reader(path: str | None) -> MeshReader | None:
    """Return the reader that is registered for a file; None if trimesh reads it."""
    return MESH_READERS.get(Path(path or "").suffix.lower())
