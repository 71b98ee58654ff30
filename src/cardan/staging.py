"""Writing files whole or not at all: staged beside their places, then renamed."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import BinaryIO


def write_whole(files: Mapping[Path, Callable[[BinaryIO], object]]) -> None:
    """Write files by functions that are given the open stream; if one fails, none is changed and nothing remains.

    Raises:
        OSError: if a place cannot be written.
    """
    staged: list[tuple[Path, Path]] = []
    try:
        for place, write in files.items():
            handle, name = tempfile.mkstemp(dir=place.absolute().parent, prefix=".cardan-", suffix=place.suffix)
            staged.append((Path(name), place))
            with os.fdopen(handle, "wb") as stream:
                write(stream)
                stream.flush()
                os.fsync(stream.fileno())  # the content is on the disk before the name leads to it
            os.chmod(name, 0o666 & ~_umask())
        for name, place in staged:
            os.replace(name, place)
    finally:
        for name, _ in staged:
            Path(name).unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
