"""Run as a program of its own by `sandbox.py`: bound this process, do the work of a module, answer.

It speaks in lines of JSON. The first of its standard input says where Python's modules are, which file holds the work,
its bounds and its argument. It answers `{"asks": [question, text]}`, after which a line with the answer comes in (one
with a `size` adds to the bounds), and at last `{"returns": ...}`, `{"raises": message}` or `{"memory": true}`. It
imports nothing of cardan: so it starts in 0.05 s.
"""

from __future__ import annotations

import importlib.util
import io
import json
import math
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, TextIO

try:  # here, where no folder of the reader's is searched for modules yet
    import resource
    import signal
except ImportError:  # Windows: the parent's clock remains
    resource = signal = None

BYTES_PER_SECOND = 1e7  # what is read, at the least
TIMES = 8  # bytes of memory for each byte of a file


class RefusedError(Exception):
    """Something that work on a stranger's file may not do."""


def bound(seconds: float, memory: int, guarded: bool) -> None:
    """Let the system end this process when it has used its time, and refuse it memory beyond its bound."""
    if resource is None or signal is None:
        return
    signal.setitimer(signal.ITIMER_PROF, seconds)
    _limit(resource.RLIMIT_DATA, memory)
    _limit(resource.RLIMIT_FSIZE, 0)  # no file grows
    _limit(resource.RLIMIT_CORE, 0)
    if guarded:
        _limit(resource.RLIMIT_CPU, math.ceil(time.process_time() + seconds) + 1)  # no code here turns it off
        _limit(getattr(resource, "RLIMIT_NPROC", resource.RLIMIT_CORE), 0)  # nor does a process or a thread begin


def _limit(which: int, value: int) -> None:
    assert resource is not None
    _, most = resource.getrlimit(which)
    resource.setrlimit(which, (value if most < 0 else min(value, most), most))


def allow_for(size: int) -> None:
    """Add to the bounds what a file of some bytes may take."""
    if resource is None or signal is None:
        return
    left, _ = signal.getitimer(signal.ITIMER_PROF)
    if left > 0.0:
        signal.setitimer(signal.ITIMER_PROF, left + size / BYTES_PER_SECOND)
        _limit(resource.RLIMIT_DATA, resource.getrlimit(resource.RLIMIT_DATA)[0] + TIMES * size)


def guard(why_not: Callable[[str], str]) -> None:
    """Refuse every event of Python's audit but those of computing and of reading what `why_not` has no reason against.

    Nothing takes the hook away again, and what decides about all but reading is constants and defaults of it, which
    code that runs here cannot reach.
    """
    bits = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC

    def hook(event: str, arguments: tuple[Any, ...], writing: int = bits, refused: type = RefusedError) -> None:
        computes = event in ("compile", "exec", "glob.glob", "glob.glob/2", "builtins.id", "sys._getframe")
        if computes or event == "object.__getattr__":
            return
        if event not in ("open", "os.scandir", "os.listdir"):
            raise refused(f"an expression may not do that ({event})")
        if event == "open" and (arguments[2] or 0) & writing:
            raise refused("an expression may not write files")
        if reason := why_not(os.fsdecode(arguments[0])):
            raise refused(reason)

    sys.addaudithook(hook)


def main() -> None:
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    sys.stdout = io.StringIO()
    order = json.loads(sys.stdin.readline())
    sys.path[:] = order["path"]
    if order["bounds"]["stack"]:
        threading.stack_size(order["bounds"]["stack"])
        thread = threading.Thread(target=answer, args=(order, out))
        thread.start()
        thread.join()
    else:
        answer(order, out)


def answer(order: dict[str, Any], out: TextIO) -> None:

    def ask(question: str, text: str) -> Any:
        print(json.dumps({"asks": [question, text]}), file=out, flush=True)
        answer = json.loads(sys.stdin.readline())
        if isinstance(answer, dict) and "size" in answer:
            allow_for(answer["size"])
        return answer

    reply: dict[str, Any]
    try:
        spec = importlib.util.spec_from_file_location("work", order["job"])
        assert spec is not None
        assert spec.loader is not None
        job = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(job)
        job.prepare()
        bounds = order["bounds"]
        bound(bounds["seconds"], bounds["memory"], bounds["guarded"])
        if bounds["guarded"]:
            guard(lambda place: ask("why not", place))
        reply = {"returns": job.work(order["argument"], ask)}
    except MemoryError:
        reply = {"memory": True}
    except Exception as error:
        reply = {"raises": " ".join(str(error).split()) or type(error).__name__}
    print(json.dumps(reply), file=out, flush=True)


if __name__ == "__main__":
    main()
