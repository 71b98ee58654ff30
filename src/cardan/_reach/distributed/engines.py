"""Where chunks are computed, and in which order.

Each engine takes a call and gives a future; who runs it is its own affair. A schedule hands out chunks, takes them
back, and hands them out again if their worker died.
"""

from __future__ import annotations

import errno
import multiprocessing
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing.connection import wait
from queue import SimpleQueue
from typing import Any, Protocol

from cardan._algebra.errors import ChunkError
from cardan._compiler.runtime.threads import num_threads


class ChunkEngine(Protocol):
    """What computes chunks."""

    width: int  # how many chunks are handed to it at a time
    shares_memory: bool  # whether what it is handed needs no pickling

    def submit(self, call: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Let a worker call something."""
        ...

    def close(self) -> None:
        """Let what was begun end, and begin nothing more."""
        ...


class Threads:
    """Threads of this process: programs release the interpreter's lock."""

    shares_memory = True

    def __init__(self, workers: int | None) -> None:
        self.width = workers or num_threads()
        self._pool = ThreadPoolExecutor(self.width, "cardan-map")

    def submit(self, call: Callable[..., Any], *arguments: Any) -> Future[Any]:
        return self._pool.submit(call, *arguments)

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)


class Processes:
    """Processes of this machine, begun anew: a child of a fork would inherit locks of threads it has not."""

    shares_memory = False

    def __init__(self, workers: int | None) -> None:
        self.workers = workers or num_threads()
        self.width = 2 * self.workers  # the next chunk waits where the last one ends
        self._pool = self._new()

    def _new(self) -> Executor:
        return ProcessPoolExecutor(self.workers, multiprocessing.get_context("spawn"), _end_with_parent)

    def submit(self, call: Callable[..., Any], *arguments: Any) -> Future[Any]:
        try:
            return self._pool.submit(call, *arguments)
        except BrokenExecutor:
            self.close()
            self._pool = self._new()
            return self._pool.submit(call, *arguments)

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)


def _end_with_parent() -> None:
    """Let this process end when the one that began it is gone: a caller that is killed closes no pool."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_wait_and_end, args=(parent.sentinel,), name="cardan-parent", daemon=True).start()


def _wait_and_end(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)  # what is half written is written again by whoever goes on


class OfCaller:
    """An executor of the caller's, such as a cluster's; it is left open, for it may be used again."""

    shares_memory = False

    def __init__(self, executor: Executor, workers: int | None) -> None:
        self.width, self._executor = 2 * (workers or num_threads()), executor

    def submit(self, call: Callable[..., Any], *arguments: Any) -> Future[Any]:
        return self._executor.submit(call, *arguments)

    def close(self) -> None:
        """Leave it as it is."""


# Engines by name.
ENGINES: Mapping[str, Callable[[int | None], ChunkEngine]] = {"processes": Processes, "threads": Threads}

Chunk = tuple[int, int]  # the first row, and the one after the last
LASTING = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)  # errors of a disk that a second attempt meets, too


@dataclass(slots=True)
class Attempt:
    chunk: Chunk  # its rows
    failures: int = 0  # how often it failed for a reason that may pass
    # whether a worker died while it and others were computed: it is tried alone, so that it is known
    is_suspect: bool = False


class Schedule:
    """Computes chunks by an engine that `submit` hands them to; each is tried again at most `retries` times."""

    def __init__(self, where: str, engine: ChunkEngine, submit: Callable[[Chunk], Future[Any]], retries: int) -> None:
        self._where, self._engine, self._submit, self._retries = where, engine, submit, retries
        self._again: deque[Attempt] = deque()
        self._running: dict[Future[Any], Attempt] = {}
        self._alone = False  # whether what is computed is a suspect
        self._finished: SimpleQueue[Future[Any]] = SimpleQueue()

    def results(self, chunks: Iterable[Chunk]) -> Iterator[tuple[Chunk, Any]]:
        """Yield each chunk and its result as they are finished; ChunkError for the first that fails for good."""
        fresh = iter(chunks)
        while self._begin(fresh):
            future = self._finished.get()
            attempt = self._running.pop(future)
            error = future.exception()
            if error is None:
                yield attempt.chunk, future.result()
            else:
                self._failed(attempt, error)

    def _begin(self, fresh: Iterator[Chunk]) -> bool:
        """Hand out as many chunks as the engine takes; return whether any is being computed."""
        while len(self._running) < self._engine.width:
            suspect = bool(self._again) and self._again[0].is_suspect
            if self._running and (suspect or self._alone):
                break
            chunk = None if self._again else next(fresh, None)
            if chunk is None and not self._again:
                break
            attempt = self._again.popleft() if chunk is None else Attempt(chunk)
            self._alone = attempt.is_suspect
            future = self._submit(attempt.chunk)
            self._running[future] = attempt
            future.add_done_callback(self._finished.put)
        return bool(self._running)

    def _failed(self, attempt: Attempt, error: BaseException) -> None:
        """Let a chunk be tried again, if that may help; ChunkError if not."""
        died = isinstance(error, BrokenExecutor)  # of every chunk that was handed out: where one ends, all do
        if died and not attempt.is_suspect:
            self._again.append(Attempt(attempt.chunk, attempt.failures, True))
            return
        attempt.failures += 1
        # Not where the data or the disk is the reason: the same computation would fail again.
        passes = isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno not in LASTING)
        if not (died or passes) or attempt.failures > self._retries:
            raise ChunkError(self._where, *attempt.chunk, attempts=attempt.failures, died=died, reason=error) from error
        self._again.append(attempt)
