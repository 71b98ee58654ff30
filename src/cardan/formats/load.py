"""One door for every robot description."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Literal

from cardan.errors import DescriptionError, Fault
from cardan.formats.resources import Packages
from cardan.formats.urdf import UrdfSource, read_urdf
from cardan.formats.xml import is_content
from cardan.joints import Joint
from cardan.mechanism import Mechanism
from cardan.model import Model

READERS = {".urdf": read_urdf, ".xml": read_urdf}
"""Readers by ending; a new format adds a line."""


def load_mechanism(
    source: UrdfSource,
    *,
    packages: Packages | None = None,
    continuous: Literal["angle", "unit_complex"] = "angle",
    on_inertia: Literal["warn", "error", "ignore"] = "warn",
) -> Mechanism:
    """Return the mechanism of a robot description (URDF); the arguments are those of `read_urdf`."""
    reader = READERS[".urdf"]
    if isinstance(source, os.PathLike) or (isinstance(source, str) and not is_content(source)):
        ending = os.path.splitext(os.fspath(source))[1].lower()
        if ending not in READERS and ending:
            known = ", ".join(READERS)
            raise DescriptionError([Fault(os.fspath(source), 0, f"no reader for {ending!r} files; known: {known}")])
        reader = READERS.get(ending, reader)
    return reader(source, packages=packages, continuous=continuous, on_inertia=on_inertia)


def load(
    source: UrdfSource,
    *,
    base: str | Joint = "fixed",
    gravity: Sequence[float] = (0.0, 0.0, -9.81),
    **options: Any,
) -> Model:
    """Return the model of a robot description.

    Args:
        source: path of a URDF file, or its content as bytes or as text that begins with `<`.
        base: `"fixed"`, `"floating"` (a free flyer), or any joint, between the world and the root link; it is named
            `root`.
        gravity: [m/s^2], in world axes.
        options: `packages`, `continuous`, `on_inertia`, as for `read_urdf`.

    Raises:
        DescriptionError: with every fault found, each with file and line.
    """
    return load_mechanism(source, **options).model(base=base, gravity=gravity)
