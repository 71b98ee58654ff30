"""Writing files whole or not at all: staged beside their places, then renamed."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import BinaryIO


def write_whole(files: Mapping[Path, Callable[[BinaryIO], object]]) -> None:
    """Write files by functions that are given the open stream; if one fails, none is changed and nothing remains.

    A file that is there keeps its mode, and a link to it stays a link; one that is write-protected, a device or a pipe
    is left alone.

    Raises:
        OSError: if a place cannot be written.
    """
    staged: list[tuple[Path, Path]] = []
    try:
        for name, write in files.items():
            place = Path(os.path.realpath(name))
            mode = _mode(place)
            handle, beside = tempfile.mkstemp(dir=place.parent, prefix=".cardan-", suffix=place.suffix)
            staged.append((Path(beside), place))
            with os.fdopen(handle, "wb") as stream:
                write(stream)
                stream.flush()
                os.fsync(stream.fileno())  # the content is on the disk before the name leads to it
            os.chmod(beside, mode)
        for beside, place in staged:
            os.replace(beside, place)
    finally:
        for beside, _ in staged:
            beside.unlink(missing_ok=True)


def _mode(place: Path) -> int:
    try:
        mode = place.stat().st_mode
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "it is no regular file")
    if not mode & stat.S_IWUSR:  # renaming over it would need no permission of the file's
        raise PermissionError(errno.EACCES, "it is write-protected")
    return stat.S_IMODE(mode)
