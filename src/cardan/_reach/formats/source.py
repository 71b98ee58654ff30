"""A robot description as it was given: what every reader begins with."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cardan._algebra.errors import DescriptionError, DTypeError, Fault
from cardan._compiler.runtime import reading
from cardan._robot.geometry.mesh import NO_FILE, POINTER
from cardan._robot.shipped import BUILDERS

MAX_BYTES = 64 * 2**20


@dataclass(frozen=True, slots=True)
class Source:
    """A robot description as it was given.

    Args:
        name: what to call it in messages: the file's path.
        content: its bytes.
        folder: it is in; None if it is no file.
        encoding: of the bytes, if it is known.

    Examples:
        >>> source = cardan.formats.Source.of(b"<robot/>")
        >>> source.name, source.folder
        ('<bytes>', None)
    """

    name: str
    content: bytes
    folder: Path | None
    encoding: str | None = None  # known only for text

    @staticmethod
    def of(source: Any) -> Source:
        """Return a path, bytes, or text that is a description itself, read.

        Args:
            source: as for `load`.

        Raises:
            DescriptionError: if the file cannot be read, is none, or is larger than 64 MiB.
            DTypeError: for a thing of another type.
        """
        if isinstance(source, bytes):
            return Source("<bytes>", _bounded("<bytes>", source), None)
        if isinstance(source, str) and is_content(source):
            text = source.removeprefix("\ufeff").encode("utf-8", "surrogatepass")
            return Source("<string>", _bounded("<string>", text), None, "utf-8")
        if not isinstance(source, (str, os.PathLike)):
            expected = "a path, or a description as text or bytes"
            raise DTypeError("load", "source", got=f"a {type(source).__name__}", expected=expected)
        name = os.fsdecode(source)
        try:
            with open(open_regular(name), "rb") as file:
                size = os.fstat(file.fileno()).st_size
                content = file.read(MAX_BYTES + 1) if size <= MAX_BYTES else b""
            if content.startswith(POINTER):
                raise OSError(None, f"it is {NO_FILE}")
            return Source(name, _bounded(name, content, size), Path(name).resolve().parent)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise DescriptionError([Fault(name, 0, f"cannot be read: {reason}{_meant_by(name)}")]) from None


def _meant_by(name: str) -> str:
    """Return what is to be done about a file that does not exist and looks like a robot's name."""
    if not name.isidentifier() or os.path.exists(name):
        return ""
    others = f"{name}_description.URDF_PATH of the package robot_descriptions, with package_dirs=[its PACKAGE_PATH]"
    return f"; robots that ship are {', '.join(BUILDERS)}; of many others, load {others}"


def is_content(source: Any) -> bool:
    """Return whether this is a description itself, as bytes or as text, not the path of one."""
    if isinstance(source, bytes):
        return True
    return isinstance(source, str) and (
        not source.strip() or source.lstrip("\ufeff \t\r\n").startswith(("<", "{", "#usda"))
    )


def open_regular(name: str) -> int:
    """Return a descriptor of a regular file; a device or a pipe need never end, and opening one may wait for ever."""
    reading.note()
    handle = os.open(name, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    mode = os.fstat(handle).st_mode
    if stat.S_ISREG(mode):
        return handle
    os.close(handle)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(None, "it is a folder; give the file in it")
    raise OSError(None, "it is no regular file; read it yourself and pass the bytes")


def _bounded(name: str, content: bytes, size: int = 0) -> bytes:
    size = max(size, len(content))
    if size > MAX_BYTES:
        message = f"has {size} bytes; a robot description may have at most {MAX_BYTES}."
        raise DescriptionError([Fault(name, 0, message)])
    return content
