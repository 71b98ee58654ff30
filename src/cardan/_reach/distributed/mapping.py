"""`map`: one function of one robot for all rows of some data."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cardan._algebra.errors import ParameterError, UnknownNameError
from cardan._compiler.runtime.extras import package
from cardan._dynamics.call.function import Function
from cardan._reach.distributed.engines import ENGINES, Chunk, Schedule
from cardan._reach.distributed.outputs import Unfinished, writer
from cardan._reach.distributed.task import Job, MapTask, run
from cardan._robot.model import Model


def map(
    function: Function[..., Any],
    model: Model,
    data: Any,
    out: str | os.PathLike[str] | None = None,
    *,
    engine: str = "processes",
    workers: int | None = None,
    chunk: int | None = None,
    retries: int = 2,
    progress: bool = False,
    overwrite: bool = False,
    **options: Any,
) -> Any:
    """Return a function's results for all rows of some data, computed in chunks by many workers.

    They are those of one call, to the last bit, whatever the chunks and the engine. With `out`, nothing is held in
    memory but a few chunks; results have their name once they are whole, and the same call goes on with what an
    interrupted one has left.

    Args:
        function: one of cardan's, or your own made by `cardan.function`.
        model: the robot. The inputs of one with inputs (`Model.with_inputs`) are columns, or options.
        data: values of the arguments, of shapes (rows, ..., core shape) and broadcast as in a call: a mapping from
            names to arrays, or to paths; or one path that holds several, of which those are read that have the name
            of an argument. Paths: `.npy`, `.npz`, a folder of `.npy` files, `.parquet` (a file or a folder), `.zarr`.
        out: where results are written: `.npy` (one result), `.npz`, `.parquet`, `.zarr`, or a folder of `.npy` files
            where the name has no ending.
        engine: `"processes"` or `"threads"` of this machine, `"dask"` (the current client's cluster, if there is one),
            or `"ray"`. Workers on other machines must find paths under the same names.
        workers: how many there are; by default `num_threads()`, or what the cluster has.
        chunk: rows computed at a time; by default about 16 MB of arguments and results.
        retries: how often a chunk is tried again whose worker died or could not read or write. One that fails for a
            reason of the data is not.
        progress: whether a bar is shown, by tqdm.
        overwrite: whether what is at `out` is replaced.
        options: values of the function's options, such as `frame="tool"`, and arguments that are the same in all rows.

    Returns:
        The results, in the form of the function's own; with `out`, its path.

    Raises:
        ChunkError: naming rows whose worker died too often, or that failed; its cause is the error.
        ShapeError, DTypeError, TypeError: for columns that do not fit the function or each other.
        ParameterError: for what is at `out` already, a name without a format, a function that cannot be pickled.
        UnknownNameError: for an unknown engine.
        MissingExtraError: for an engine or format whose package is not installed.
        OSError: for files that cannot be read or written.

    Examples:
        >>> states = {"q": arm.random_configuration((100,), seed=0), "v": v}
        >>> energy = cardan.distributed.map(cardan.kinetic_energy, arm, states, engine="threads", chunk=40)
        >>> bool((energy == cardan.kinetic_energy(arm, **states)).all())
        True
        >>> print(cardan.distributed.map(cardan.kinetic_energy, arm, states, "energy.npy", engine="threads"))
        energy.npy
    """
    if engine not in ENGINES:
        raise UnknownNameError("engine", engine, ENGINES, where="map")
    for name, count, least in (("workers", workers, 1), ("chunk", chunk, 1), ("retries", retries, 0)):
        if count is not None and (isinstance(count, bool) or not isinstance(count, int) or count < least):
            raise ParameterError(f"map: {name}", got=count, expected=f"a whole number, at least {least}")
    task = MapTask.of(function, model, data, options)
    how = Mapped(engine, workers, chunk or task.fitting, retries, progress)
    return how.gather(task) if out is None else how.write(task, Path(out), overwrite)


@dataclass(frozen=True, slots=True)
class Mapped:
    """How chunks are computed: the options of `map`."""

    engine: str
    workers: int | None
    chunk: int
    retries: int
    progress: bool

    def gather(self, task: MapTask) -> Any:
        whole = task.job.table.empty()

        def take(chunk: Chunk, results: list[np.ndarray]) -> None:
            for array, result in zip(whole, results, strict=True):
                array[slice(*chunk)] = result

        self.run(task, task.job, set(), take)
        return task.compiled.returned(whole)

    def write(self, task: MapTask, out: Path, overwrite: bool) -> Path:
        where, table = task.job.function.name, task.job.table
        files = writer(where, out, table)
        unfinished = Unfinished(out, files, table, self.chunk, task.work(self.chunk))
        done = unfinished.begin(where, overwrite)
        self.run(task, task.writing(files, unfinished.place), done, lambda finished, _: unfinished.mark(finished[0]))
        unfinished.finish()
        return out

    def run(self, task: MapTask, job: Job, done: set[int], take: Callable[[Chunk, Any], None]) -> None:
        rows = job.table.rows
        chunks = ((k, min(k + self.chunk, rows)) for k in range(0, max(rows, 1), self.chunk) if k not in done)
        begun = next(chunks, None)
        if begun is None:
            return
        engine = ENGINES[self.engine](self.workers)
        with closing(engine), _bar(self.progress, rows, len(done) * self.chunk) as advance:
            if not engine.shares_memory:
                task.warm(self.chunk)
            sent = job if engine.shares_memory else job.pickled()
            submit = lambda c: engine.submit(run, sent, c, {n: column.rows(*c) for n, column in task.sent.items()})  # noqa: E731
            schedule = Schedule(job.function.name, engine, submit, self.retries)
            for finished, results in schedule.results(itertools.chain([begun], chunks)):
                take(finished, results)
                advance(finished[1] - finished[0])


@contextmanager
def _bar(shown: bool, rows: int, done: int) -> Iterator[Callable[[int], Any]]:
    """Give what is called with the number of finished rows: a bar of tqdm's moves on, or nothing happens."""
    if not shown:
        yield lambda count: None
        return
    with package("tqdm", "map(progress=True)", "sim").tqdm(total=rows, initial=min(done, rows), unit=" rows") as bar:
        yield bar.update
