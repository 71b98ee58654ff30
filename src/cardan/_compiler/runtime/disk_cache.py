"""The disk cache of compiled programs: owner-only, checked, bounded, safe under many processes.

An entry is a file named by its key: a digest of key and content, then the content. It is staged beside its place and
renamed, so a reader sees a whole entry or none; one whose digest does not match, because it is damaged or another
entry's, is treated as absent. A directory or file that others own or may write is refused (on Windows this is left to
the permissions of the user's profile). A cache that cannot be written is used for reading; one that cannot be read is
not used: caching never makes a program fail.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from cardan._compiler.runtime.log import log

LIMIT = 256 * 2**20  # bytes kept
ENDING, STAGED = ".entry", ".staged-"
_DIGEST, _HOUR = 32, 3600.0
_POSIX = os.open in os.supports_dir_fd
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
# not following a link, not waiting for the other end of a pipe
_FILE = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_refused: set[str] = set()


def directory() -> Path:
    chosen = os.environ.get("CARDAN_CACHE_DIR")
    if chosen:
        return Path(os.path.expanduser(chosen))
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or _home()) / "cardan" / "cache"
    if sys.platform == "darwin":
        return _home() / "Library" / "Caches" / "cardan"
    base = os.environ.get("XDG_CACHE_HOME", "")  # to be ignored unless absolute, says its specification
    return (Path(base) if os.path.isabs(base) else _home() / ".cache") / "cardan"


def _home() -> Path:
    """Return the user's home; for one who has none (in a container, say), a place where nothing can be kept."""
    home = os.path.expanduser("~")
    return Path(home if os.path.isabs(home) and os.path.isdir(home) else os.devnull)


class _Folder:
    """The cache's directory, held open: what is read and written is in the directory that was looked at."""

    def __init__(self, place: Path) -> None:
        self.place, self.prefix = place, "" if _POSIX else f"{place}{os.sep}"
        self.handle = os.open(place, _FOLDER) if _POSIX else None

    def open(self, name: str, flags: int) -> int:
        return os.open(self.prefix + name, flags | _FILE, 0o600, dir_fd=self.handle)

    def replace(self, old: str, new: str) -> None:
        os.replace(self.prefix + old, self.prefix + new, src_dir_fd=self.handle, dst_dir_fd=self.handle)

    def unlink(self, name: str) -> None:
        with suppress(OSError):
            os.unlink(self.prefix + name, dir_fd=self.handle)

    def files(self) -> Iterator[tuple[str, os.stat_result]]:
        """Yield the names of the entries, those left by a killed process included, and what they are."""
        with os.scandir(self.place if self.handle is None else self.handle) as found:
            for file in found:
                if file.name.endswith(ENDING) or file.name.startswith(STAGED):
                    with suppress(OSError):
                        yield file.name, file.stat(follow_symlinks=False)


@contextmanager
def _folder() -> Iterator[_Folder | None]:
    """Give the cache's directory; None if there is none, or one that cannot be trusted."""
    place = directory()
    try:
        folder = _Folder(place)
    except OSError:
        if place.is_symlink():  # its own mode says nothing
            _refuse(place, "a link; name what it points to")
        yield None
        return
    try:
        yield folder if folder.handle is None or _is_ours(place, os.fstat(folder.handle)) else None
    finally:
        if folder.handle is not None:
            os.close(folder.handle)


def _is_ours(path: Path, status: os.stat_result) -> bool:
    if sys.platform == "win32":
        return True
    if status.st_uid != os.getuid():
        return _refuse(path, "another user's; set CARDAN_CACHE_DIR to a directory of your own")
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return _refuse(path, f"writable by others; run  chmod go-w {path}")
    return True


def _refuse(path: Path, reason: str) -> bool:
    if str(path) not in _refused:
        _refused.add(str(path))
        log().warning("cache not used: %s is %s", path, reason)
    return False


def load(key: str) -> bytes | None:
    with suppress(OSError), _folder() as folder:
        if folder is not None:
            return _content(folder, key)
    return None


def holds(key: str) -> bool:
    """Return whether there is an entry; whether it can be trusted is seen when it is loaded."""
    return os.path.lexists(directory() / (key + ENDING))


def _content(folder: _Folder, key: str) -> bytes | None:
    file = folder.place / (key + ENDING)
    handle = folder.open(file.name, os.O_RDONLY)
    try:
        status = os.fstat(handle)
        if not _is_ours(file, status):
            return None
        data = b""  # what is not a file, or larger than the whole cache may be, has nothing for us
        if stat.S_ISREG(status.st_mode) and status.st_size <= LIMIT:
            with open(handle, "rb", closefd=False) as stream:
                data = stream.read()
        if time.time() - status.st_mtime > _HOUR:  # it is used: the least recently used go first
            with suppress(OSError):
                os.utime(handle if os.utime in os.supports_fd else file)
    finally:
        os.close(handle)
    digest, content = data[:_DIGEST], data[_DIGEST:]
    if not content or _digest(key, content) != digest:
        log().warning("cache entry %s is damaged; it is made anew", file)
        return None
    return content


def _digest(key: str, content: bytes) -> bytes:
    return hashlib.sha256(key.encode() + b"\0" + content).digest()


def save(key: str, content: bytes) -> None:
    """Keep a content under its key; do nothing if that is not possible."""
    try:
        _make(directory())
        with _folder() as folder:
            if folder is not None:
                digest = _digest(key, content)
                _write(folder, key + ENDING, digest + content)
                # all entries are looked at once for every sixteenth of the limit, on average: it takes long
                if int.from_bytes(digest[:4], "little") * LIMIT < 2**32 * 16 * len(content):
                    _shrink(folder)
    except OSError as error:
        log().info("cache entry not written: %s", error)


def _make(place: Path) -> None:
    """Make a directory and those above it, each for the user alone, whatever the umask."""
    if not place.is_dir():
        if place.parent != place:
            _make(place.parent)
        place.mkdir(mode=0o700, exist_ok=True)


def _write(folder: _Folder, name: str, data: bytes) -> None:
    staged = STAGED + os.urandom(8).hex()
    try:
        with open(folder.open(staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as stream:
            stream.write(data)
        folder.replace(staged, name)
    except BaseException:  # an interrupt, too, leaves nothing behind
        folder.unlink(staged)
        raise


def _shrink(folder: _Folder) -> None:
    """Remove what killed processes left, and the entries that were not used for longest, down to 7/8 of the limit."""
    found = sorted(folder.files(), key=lambda entry: entry[1].st_mtime)
    total, now = sum(status.st_size for _, status in found), time.time()
    aim = LIMIT if total <= LIMIT else LIMIT * 7 // 8
    for name, status in found:
        if total > aim or (name.startswith(STAGED) and now - status.st_mtime > _HOUR):
            folder.unlink(name)
            total -= status.st_size


def entries() -> list[tuple[Path, os.stat_result]]:
    with suppress(OSError), _folder() as folder:
        if folder is not None:
            return [(folder.place / name, status) for name, status in folder.files()]
    return []


def size() -> int:
    return sum(status.st_size for _, status in entries())


def clear() -> int:
    removed = 0
    for file, _ in entries():
        with suppress(OSError):
            file.unlink()
            removed += 1
    return removed


def revision_of(files: Iterable[str | Path]) -> str:
    """Return a digest of the Python source among some files, as it is on disk now.

    By content: times and sizes agree between revisions often enough (files from archives have one time for all), and
    reading thirty files takes half a millisecond.
    """
    found = hashlib.sha256()
    for file in sorted(map(str, files)):
        if file.endswith(".py"):
            with open(file, "rb", buffering=0) as stream:
                found.update(stream.read())
    return found.hexdigest()
