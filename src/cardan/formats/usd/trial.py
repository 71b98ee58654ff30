"""Opening binary USD in a process of its own first: the reader's must not crash or hang on a damaged file.

Text has a grammar that OpenUSD checks; its crate files are offsets and counts which it follows. Most damage it notices;
of what it does not, some makes it ask for memory without end, and some crash (usd-core 26.11: about one in 400
damaged files), which nothing within the same process can stop.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from cardan.formats.usd import first_opening

SECONDS = 1.5
"""Of processor time, to start (about 0.4) and to look at a small file, or to compose one."""
BYTES_PER_SECOND = 1e7  # what a process of one thread looks at, at the least
PATIENCE = 20.0  # by the clock, for each second of processor time: the machine may be busy


class Trial:
    """The process that opens files first; it is started when there is a binary one, and ended with the block."""

    def __init__(self, trusted: bool) -> None:
        self.is_needed = not trusted and bool(sys.executable)  # Python embedded in a program: there is none to start
        self.size = 0
        self.process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Trial:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.communicate()

    def look(self, files: Sequence[str], size: int) -> str:
        """Return why binary files cannot be opened, or an empty text.

        Args:
            files: paths, or places in a package (`robot.usdz[geometry.usdc]`).
            size: of all of them together [bytes].
        """
        self.size += size
        return self._answer("look", files) if files else ""

    def compose(self, file: str) -> str:
        """Return why a file cannot be composed, or an empty text; without a binary layer it is not tried."""
        return self._answer("compose", [file]) if self.process is not None else ""

    def _answer(self, task: str, files: Sequence[str]) -> str:
        if not self.is_needed:
            return ""
        seconds = SECONDS + self.size / BYTES_PER_SECOND
        try:
            self.process = self.process or _started()
        except OSError:  # no process can be started here
            return ""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        clock = threading.Timer(PATIENCE * seconds, self.process.kill)
        clock.start()
        try:
            self.process.stdin.write(json.dumps([seconds, task, list(files)]) + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        except OSError:
            answer = ""
        finally:
            clock.cancel()
        return json.loads(answer) if answer else "OpenUSD crashes on it or does not come to an end: it is damaged"


def _started() -> subprocess.Popen[str]:
    """Return the process, told where Python's modules are."""
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", str(Path(first_opening.__file__))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PXR_WORK_THREAD_LIMIT": "1"},
        encoding="utf-8",
    )
    assert process.stdin is not None
    process.stdin.write(json.dumps([str(Path(place).absolute()) for place in sys.path]) + "\n")
    return process
