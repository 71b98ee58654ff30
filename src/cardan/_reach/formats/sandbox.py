"""Work on a stranger's file in a process of its own, with bounds of time, of memory and of what it may do.

The work is a module that imports nothing of cardan (`sandbox_process.py` says how it is run), so that it starts
quickly. It may ask the reader's process: what leads to files is decided there.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

TRUSTED = "pass trusted=True (--trusted) to read it without bounds, if you trust whoever wrote it"
MAX_ANSWER = 64 * 2**20  # letters
MAX_QUESTION = 10_000
PROGRAM = Path(__file__).with_name("sandbox_process.py")


class SandboxError(Exception):
    """Work that met a bound, crashed, or could not be begun; the message says which and what can be done."""


@dataclass(frozen=True, slots=True)
class SandboxBounds:
    seconds: float = 2.0  # of processor time, from when its modules are imported
    memory: int = 450 * 2**20  # bytes of memory of its own, those modules included
    clock: float = 40.0  # seconds by the clock: for work that waits, and for systems without the other bounds
    stack: int = 0  # bytes of the stack the work has; 0 is that of a process
    guarded: bool = False  # whether Python's audit events are refused but for those of reading and computing


def run(job: ModuleType, argument: Any, answer: Callable[[str, str], Any], bounds: SandboxBounds | None) -> Any:
    """Return what `job.work` makes of an argument, in a process of its own; all values are those of JSON.

    Args:
        job: a module with `prepare()`, which imports what it needs, and `work(argument, ask)`.
        argument: what `work` is given.
        answer: of this process to what the work asks by `ask(question, text)`.
        bounds: what it may take; None for work on what is trusted, which is done in this process.

    Raises:
        SandboxError: if it met a bound or crashed, or no process can be started here.
    """
    if bounds is None:
        return job.work(argument, answer)
    process: Any = _started()  # whose streams are there
    clock = threading.Timer(bounds.clock, process.kill)
    clock.start()
    try:
        path = [place for place in sys.path if isinstance(place, str)]  # Python skips others; its folder is this one
        _send(process, {"path": path, "job": job.__file__, "bounds": asdict(bounds), "argument": argument})
        while (line := process.stdout.readline(MAX_ANSWER)).endswith("\n"):
            reply = json.loads(line)
            if not isinstance(reply, dict):
                raise TypeError
            if "asks" not in reply:
                break
            question, text = map(str, reply["asks"])
            if len(text) > MAX_QUESTION:
                raise ValueError
            _send(process, answer(question, text))
        else:
            raise SandboxError(_why_it_ended(process, bounds))
    except (OSError, ValueError, TypeError, LookupError, RecursionError):
        raise SandboxError(_why_it_ended(process, bounds)) from None
    finally:
        clock.cancel()
        process.kill()
        process.communicate()
    if "returns" in reply:
        return reply["returns"]
    beyond = _beyond(f"{bounds.memory >> 20} MB of memory")
    raise SandboxError(beyond if "memory" in reply else str(reply.get("raises")))


def _started() -> subprocess.Popen[str]:
    if not sys.executable or getattr(sys, "frozen", False):  # Python within another program: there is none to start
        raise SandboxError(f"is read in a process of its own, and none can be started here; {TRUSTED}")
    try:
        pipe, command = subprocess.PIPE, [sys.executable, "-I", "-S", "-B", str(PROGRAM)]
        return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, encoding="utf-8")
    except OSError as error:
        message = f"is read in a process of its own, which cannot be started: {error.strerror}; {TRUSTED}"
        raise SandboxError(message) from None


def _send(process: Any, value: Any) -> None:
    process.stdin.write(json.dumps(value) + "\n")
    process.stdin.flush()


def _why_it_ended(process: subprocess.Popen[str], bounds: SandboxBounds) -> str:
    try:
        code = process.wait(1.0)
    except subprocess.TimeoutExpired:
        code = 0
    if code == 0:
        return f"its process gave no answer that can be understood; {TRUSTED}"
    if -code in (getattr(signal, name, 0) for name in ("SIGPROF", "SIGXCPU")):
        return _beyond(f"{bounds.seconds:g} s of processor time")
    if -code == getattr(signal, "SIGKILL", 0):
        return _beyond(f"{bounds.clock:g} s by the clock, or than the system has")
    how = signal.Signals(-code).name if code < 0 else f"exit status {code}"
    return f"what reads it crashed ({how}), or asked for more than {bounds.memory >> 20} MB of memory; {TRUSTED}"


def _beyond(bound: str) -> str:
    return f"takes more than {bound}; {TRUSTED}"
