"""Opening binary USD in a process of its own first: the reader's must not crash or hang on a damaged file.

Text has a grammar that OpenUSD checks; its crate files are offsets and counts which it follows. Most damage it notices;
of what it does not, some makes it ask for memory without end (seen with usd-core 26.11: two of 600 mutants), which
nothing within the same process can stop.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from cardan.formats.usd import first_opening

SECONDS = 1.5
"""Of processor time, to start (about 0.4) and to look at a small file."""
BYTES_PER_SECOND = 2e7  # what a process of one thread looks at, at the least
PATIENCE = 20.0  # by the clock, for each second of processor time: the machine may be busy


def complaint(files: Sequence[str], size: int) -> str | None:
    """Return why files cannot be opened, or None if they can.

    Args:
        files: paths, or places in a package (`robot.usdz[geometry.usdc]`).
        size: of all of them together [bytes].
    """
    if not sys.executable or not files:  # Python embedded in another program: there is none to start
        return None
    seconds = SECONDS + size / BYTES_PER_SECOND
    program = [sys.executable, "-I", "-S", str(Path(first_opening.__file__))]
    places = json.dumps([str(Path(place).absolute()) for place in sys.path])
    try:
        done = subprocess.run(
            [*program, places, str(seconds), *files],
            capture_output=True,
            timeout=PATIENCE * seconds,
            env={**os.environ, "PXR_WORK_THREAD_LIMIT": "1"},
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "OpenUSD does not come to an end with it: it is damaged"
    except OSError:
        return None  # no process can be started here
    if done.returncode == 0:
        return None
    told = done.stdout.decode("utf-8", "replace").strip()
    return told or "OpenUSD crashes on it or does not come to an end: it is damaged"
