"""What is said to the user: by the logger of this package, `cardan`, and at a terminal while something takes long."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

LONG = 1.0  # seconds that nobody needs an explanation for
_EVERY = 0.2  # seconds from one line to the next, which takes its place


def log() -> Any:
    """Return the logger, a `logging.Logger`, loaded when there is something to say: that takes 2 ms, a first call 5."""
    import logging

    return logging.getLogger("cardan")


@contextmanager
def announced(what: str, seconds: float) -> Iterator[None]:
    """Say what is done meanwhile ("compiling mass_matrix"); the share done is judged by the seconds it should take."""
    terminal: Any = sys.stderr if sys.stderr is not None and sys.stderr.isatty() else None
    if seconds < LONG:
        yield
    elif terminal is None:
        log().info("%s, which takes about %.0f s", what, seconds)
        yield
    else:
        done = threading.Event()
        teller = threading.Thread(target=_tell, args=(terminal, what, seconds, done), daemon=True)
        teller.start()
        try:
            yield
        finally:
            done.set()
            teller.join()


def _tell(terminal: Any, what: str, seconds: float, done: threading.Event) -> None:
    started, line = time.perf_counter(), ""
    while not done.is_set():
        share = (time.perf_counter() - started) / seconds
        line = f"\r{what}, about {seconds:.0f} s: {min(99, int(100 * share))} % "
        terminal.write(line)
        terminal.flush()
        done.wait(_EVERY)
    terminal.write("\r" + " " * len(line) + "\r")  # nothing of it stays
    terminal.flush()
