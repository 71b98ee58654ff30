"""Where chunks are computed. Each engine takes a call and gives a future; who runs it is its own affair."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from multiprocessing.connection import wait
from typing import Any, Protocol

from cardan._compiler.runtime.extras import package
from cardan._compiler.runtime.threads import num_threads


class ChunkEngine(Protocol):
    """What computes chunks."""

    width: int  # how many chunks are handed to it at a time
    shares_memory: bool  # whether what it is handed needs no pickling
    died: tuple[type[BaseException], ...]  # the errors that say that a worker died
    is_exact: bool  # whether such an error is of the chunk whose worker died; if not, of every chunk handed to it

    def submit(self, call: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Let a worker call something."""
        ...

    def close(self) -> None:
        """Let what was begun end, and begin nothing more."""
        ...


class Threads:
    """Threads of this process: programs release the interpreter's lock."""

    shares_memory, is_exact = True, True
    died: tuple[type[BaseException], ...] = ()

    def __init__(self, workers: int | None) -> None:
        self.width = workers or num_threads()
        self._pool = ThreadPoolExecutor(self.width, "cardan-map")

    def submit(self, call: Callable[..., Any], *arguments: Any) -> Future[Any]:
        return self._pool.submit(call, *arguments)

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)


class Processes:
    """Processes of this machine, begun anew: a child of a fork would inherit locks of threads it has not."""

    shares_memory, is_exact = False, False  # where one worker dies, Python ends the others, too
    died: tuple[type[BaseException], ...] = (BrokenExecutor,)

    def __init__(self, workers: int | None) -> None:
        self.workers = workers or num_threads()
        self.width = 2 * self.workers  # the next chunk waits where the last one ends
        self._pool = self._new()

    def _new(self) -> Executor:
        return ProcessPoolExecutor(self.workers, multiprocessing.get_context("spawn"), _end_with_parent)

    def submit(self, call: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Let a process call something; those that died are replaced."""
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


class Dask:
    """Dask: the cluster of the current `dask.distributed.Client`, or without one the scheduler Dask is set to."""

    shares_memory, is_exact = False, True

    def __init__(self, workers: int | None) -> None:
        self._dask = package("dask", "engine='dask'", "dask")
        self.died: tuple[type[BaseException], ...] = (BrokenExecutor,)
        client = _current_client()
        if client is not None:
            self.died += (package("distributed", "engine='dask'", "dask").KilledWorker,)
        self.width = workers or (2 * sum(client.nthreads().values()) if client else num_threads())
        self._pool = client.get_executor(pure=False) if client else ThreadPoolExecutor(self.width, "cardan-map")
        self._submit = self._pool.submit if client else self._computed

    def _computed(self, call: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Let a thread wait for Dask's scheduler, which gives results and no futures."""
        task = self._dask.delayed(call, pure=False, traverse=False)(*arguments)
        return self._pool.submit(lambda: self._dask.compute(task)[0])

    def submit(self, call: Callable[..., Any], *arguments: Any) -> Future[Any]:
        return self._submit(call, *arguments)

    def close(self) -> None:
        self._pool.shutdown()


def _current_client() -> Any:
    """Return the client of Dask's cluster that is in use; None if none is."""
    with suppress(ImportError, ValueError):
        cluster: Any = importlib.import_module("distributed")  # Dask's own, of the same name as this package
        return cluster.get_client()
    return None


class Ray:
    """Ray: the cluster it is connected to, or one of this machine."""

    shares_memory, is_exact = False, True

    def __init__(self, workers: int | None) -> None:
        self._ray = package("ray", "engine='ray'", "ray")
        errors = self._ray.exceptions
        self.died = (errors.WorkerCrashedError, errors.NodeDiedError, errors.OutOfMemoryError)
        if not self._ray.is_initialized():
            self._ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False)
        self.width = workers or 2 * max(int(self._ray.cluster_resources().get("CPU", 1)), 1)
        self._remote = self._ray.remote(max_retries=0)(_called)
        self._kept: dict[int, tuple[Any, Any]] = {}

    def submit(self, call: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Let Ray call something; what all calls share is put into its store once."""
        return self._remote.remote(call, *[self._put(a) if isinstance(a, bytes) else a for a in arguments]).future()

    def _put(self, shared: bytes) -> Any:
        if id(shared) not in self._kept:
            self._kept[id(shared)] = shared, self._ray.put(shared)
        return self._kept[id(shared)][1]

    def close(self) -> None:
        """Leave the cluster as it is: others may use it."""
        self._kept.clear()


def _called(call: Callable[..., Any], *arguments: Any) -> Any:
    return call(*arguments)


# Engines by name.
ENGINES: Mapping[str, Callable[[int | None], ChunkEngine]] = {
    "processes": Processes,
    "threads": Threads,
    "dask": Dask,
    "ray": Ray,
}
