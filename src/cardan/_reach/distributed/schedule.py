"""Chunks handed out, taken back, and handed out again where their worker died."""

from __future__ import annotations

import errno
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any

from cardan._algebra.errors import ChunkError
from cardan._reach.distributed.engines import ChunkEngine

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
        died = isinstance(error, self._engine.died)
        if died and not self._engine.is_exact and not attempt.is_suspect:
            self._again.append(Attempt(attempt.chunk, attempt.failures, True))
            return
        cause = getattr(error, "cause", None) or error  # Ray wraps what a task raised
        attempt.failures += 1
        # Not where the data or the disk is the reason: the same computation would fail again.
        passes = isinstance(cause, MemoryError) or (isinstance(cause, OSError) and cause.errno not in LASTING)
        if not (died or passes) or attempt.failures > self._retries:
            raise ChunkError(self._where, *attempt.chunk, attempts=attempt.failures, died=died, reason=cause) from cause
        self._again.append(attempt)
