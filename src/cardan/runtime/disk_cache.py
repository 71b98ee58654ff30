"""The disk cache of compiled programs: owner-only, checked, bounded, safe under many processes.

An entry is a file named by its key: the digest of its content, then the content. It is staged beside its place and
renamed, so a reader sees a whole entry or none; one whose digest does not match is treated as absent. A directory that
others own or may write is refused. A cache that cannot be written is used for reading; one that cannot be read is not
used: caching never makes a program fail.
"""

from __future__ import annotations

import hashlib
import logging
import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

LOG = logging.getLogger("cardan")
LIMIT = 256 * 2**20  # bytes kept
ENDING = ".obj"
_DIGEST = 32
_refused: set[str] = set()


def directory() -> Path:
    """Return the cache's directory: CARDAN_CACHE_DIR, or `cardan` in the user's cache directory."""
    chosen = os.environ.get("CARDAN_CACHE_DIR")
    if chosen:
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or _home()) / "cardan" / "cache"
    if sys.platform == "darwin":
        return _home() / "Library" / "Caches" / "cardan"
    return Path(os.environ.get("XDG_CACHE_HOME") or _home() / ".cache") / "cardan"


def _home() -> Path:
    """Return the user's home; for one who has none (in a container, say), a place where nothing can be kept."""
    try:
        return Path.home()
    except RuntimeError:
        return Path(os.devnull)


def _is_ours(path: Path) -> bool:
    """Return whether a directory or file belongs to the user and nobody else may write it."""
    if sys.platform == "win32":
        return True
    status = path.lstat()
    if stat.S_ISLNK(status.st_mode):  # its own mode says nothing
        return _refuse(path, "a link; name what it points to")
    if status.st_uid != os.getuid():
        return _refuse(path, "another user's; set CARDAN_CACHE_DIR to a directory of your own")
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return _refuse(path, f"writable by others; run  chmod go-w {path}")
    return True


def _refuse(path: Path, reason: str) -> bool:
    if str(path) not in _refused:
        _refused.add(str(path))
        LOG.warning("cache not used: %s is %s", path, reason)
    return False


def load(key: str) -> bytes | None:
    """Return the content of an entry; None if there is none, or none that can be trusted."""
    place = directory()
    file = place / (key + ENDING)
    try:
        if not _is_ours(place) or not _is_ours(file):
            return None
        data = file.read_bytes()
    except OSError:
        return None
    digest, content = data[:_DIGEST], data[_DIGEST:]
    if not content or hashlib.sha256(content).digest() != digest:
        LOG.warning("cache entry %s is damaged; it is compiled anew", file)
        return None
    with suppress(OSError):
        os.utime(file)  # the least recently used go first
    return content


def save(key: str, content: bytes) -> None:
    """Keep a content under its key; do nothing if that is not possible."""
    place = directory()
    staged = None
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_ours(place):
            return
        handle, staged = tempfile.mkstemp(dir=place, prefix=".staged-")
        with os.fdopen(handle, "wb") as stream:
            stream.write(hashlib.sha256(content).digest() + content)
        os.replace(staged, place / (key + ENDING))
        _shrink()
    except OSError as error:
        LOG.info("cache entry not written: %s", error)
        if staged is not None:
            with suppress(OSError):
                os.unlink(staged)


def entries() -> Iterator[tuple[Path, os.stat_result]]:
    """Yield the files of the cache, those left by a killed process included."""
    try:
        files = list(directory().iterdir())
    except OSError:
        return
    for file in files:
        if file.name.endswith(ENDING) or file.name.startswith(".staged-"):
            with suppress(OSError):
                yield file, file.lstat()


def size() -> int:
    """Return the bytes the cache takes."""
    return sum(status.st_size for _, status in entries())


def clear() -> int:
    """Remove every entry and return how many there were."""
    removed = 0
    for file, _ in list(entries()):
        with suppress(OSError):
            file.unlink()
            removed += 1
    return removed


def _shrink() -> None:
    found = sorted(entries(), key=lambda entry: entry[1].st_mtime)
    total = sum(status.st_size for _, status in found)
    for file, status in found:
        if total <= LIMIT:
            return
        with suppress(OSError):
            file.unlink()
        total -= status.st_size
