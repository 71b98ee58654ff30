"""`map`: one function of one robot for all rows of some data."""

from __future__ import annotations

import functools
import hashlib
import itertools
import math
import os
import pickle
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from cardan._algebra.checked_numbers import whole
from cardan._algebra.errors import FunctionReferenceError, ParameterError, ShapeError, UnknownNameError
from cardan._compiler.runtime.extras import package
from cardan._compiler.targets import default_target
from cardan._dynamics.call.arguments import Batch, broadcast, check_core, common_dtype
from cardan._dynamics.call.compiled import Compiled
from cardan._dynamics.call.function import Function
from cardan._dynamics.call.results import Form
from cardan._dynamics.call.signature import check_model
from cardan._reach.distributed.columns import Column, columns_of, in_memory
from cardan._reach.distributed.engines import ENGINES, Chunk, OfCaller, Schedule
from cardan._reach.distributed.outputs import Arrays, Table, Unfinished, writer
from cardan._robot.model import Model
from cardan._version import __version__


def map(
    function: Function[..., Any],
    model: Model,
    data: Any,
    out: str | os.PathLike[str] | None = None,
    *,
    engine: str | Executor = "processes",
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
            of an argument. Paths: `.npy`, `.npz`, a folder of `.npy` files. Arrays may be what is sliced like one,
            such as Zarr's or HDF5's.
        out: where results are written: `.npy` (one result), `.npz`, or a folder of `.npy` files where the name has no
            ending.
        engine: `"processes"` or `"threads"` of this machine, or an executor (`concurrent.futures.Executor`), such as
            a cluster's. Workers on other machines must find paths under the same names.
        workers: how many there are; by default `num_threads()`.
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
        MissingExtraError: for a bar without tqdm.
        OSError: for files that cannot be read or written.

    Examples:
        >>> states = {"q": arm.random_configuration((100,), seed=0), "v": v}
        >>> energy = cardan.distributed.map(cardan.kinetic_energy, arm, states, engine="threads", chunk=40)
        >>> bool((energy == cardan.kinetic_energy(arm, **states)).all())
        True
        >>> print(cardan.distributed.map(cardan.kinetic_energy, arm, states, "energy.npy", engine="threads"))
        energy.npy
    """
    if not isinstance(engine, Executor) and engine not in ENGINES:
        raise UnknownNameError("engine", engine, ENGINES, where="map")
    for name, count, least in (("workers", workers, 1), ("chunk", chunk, 1), ("retries", retries, 0)):
        if count is not None:
            whole(f"map: {name}", count, least)
    task = MapTask.of(function, model, data, options)
    how = Mapped(engine, workers, chunk or task.fitting, retries, progress)
    return how.gather(task) if out is None else how.write(task, Path(out), overwrite)


@dataclass(frozen=True, slots=True)
class Mapped:
    """How chunks are computed: the options of `map`."""

    engine: str | Executor
    workers: int | None
    chunk: int
    retries: int
    progress: bool

    def gather(self, task: MapTask) -> Any:
        gathered = task.job.table.empty()

        def take(chunk: Chunk, results: list[np.ndarray]) -> None:
            for array, result in zip(gathered, results, strict=True):
                array[slice(*chunk)] = result

        self.run(task, task.job, set(), take)
        return task.compiled.returned(gathered)

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
        chosen = self.engine
        engine = OfCaller(chosen, self.workers) if isinstance(chosen, Executor) else ENGINES[chosen](self.workers)
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


# --- the arguments, divided: what is read by row, what is the same for all; and what a worker does with them ---


@dataclass(frozen=True, slots=True)
class Job:
    """One function of one robot, and where its arguments come from and its results go."""

    function: Function  # the compiled function
    model: Model  # the robot
    options: Mapping[str, Any]  # of the function
    fixed: Mapping[str, Any]  # arguments that are the same for all rows
    columns: Mapping[str, Column]  # arguments that are read where they are needed
    form: Form  # of the function's results
    table: Table  # the results of all rows
    files: Arrays | None  # what writes them; None where they are sent back
    place: Path | None  # where to

    def results(self, chunk: Chunk, sent: Mapping[str, np.ndarray]) -> list[np.ndarray] | None:
        """Return the results of a chunk, or None once they are written; `sent` holds what is not read here."""
        read = {name: column.rows(*chunk) for name, column in self.columns.items()}
        value = self.function(self.model, **self.fixed, **read, **sent, **self.options)
        results = self.form.parts(value) or []
        if self.files is None or self.place is None:
            return results
        self.files.write(self.place, self.table, chunk[0], results)
        return None

    def pickled(self) -> bytes:
        """Return it as bytes; ParameterError, FunctionReferenceError if it cannot be sent to another process."""
        try:
            return pickle.dumps(self, pickle.HIGHEST_PROTOCOL)
        except FunctionReferenceError:
            raise
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            hint = "engine='threads' needs no pickling."
            name, expected = f"{self.function.name}, mapped", "a function, options and data that can be pickled"
            raise ParameterError(name, got=str(error), expected=expected, hint=hint) from None


def run(job: Job | bytes, chunk: Chunk, sent: Mapping[str, np.ndarray]) -> list[np.ndarray] | None:
    return (_unpickled(job) if isinstance(job, bytes) else job).results(chunk, sent)


@functools.lru_cache(maxsize=2)
def _unpickled(job: bytes) -> Job:
    """Return a job; a worker keeps it, with its programs, from chunk to chunk."""
    return pickle.loads(job)


# What a chunk reads and writes, where nobody says otherwise: some ten milliseconds, far more than handing it out takes.
# It does not depend on the workers, so that other ones can go on with unfinished results.
BYTES = 16 << 20
MANY = 256  # states from which on a program is the one for many: some targets have another one for few


@dataclass(frozen=True, slots=True)
class MapTask:
    job: Job  # what workers do who send results back
    sent: Mapping[str, Column]  # the columns that are in memory here; workers read the others
    compiled: Compiled  # the program, which workers find on the disk

    @classmethod
    def of(cls, function: Function, model: Model, data: Any, options: Mapping[str, Any]) -> MapTask:
        if not isinstance(function, Function):
            expected = "one made by @cardan.function, or cardan's own"
            raise ParameterError("function to map", got=function, expected=expected)
        check_model(function.name, model)
        function = function.on(function.target or default_target(), threads=1)
        columns = columns_of(function.name, data)
        if not isinstance(data, Mapping):  # a table may hold more than is asked for
            known = {*function.interface.arguments, *model.inputs} - options.keys()
            columns = {name: column for name, column in columns.items() if name in known}
        twice = sorted(columns.keys() & options.keys())
        if twice:
            expected = "names that are not given as options, too"
            raise ParameterError(f"{function.name}: data", got=twice, expected=expected)
        return cls._divided(function, model, columns, options)

    @classmethod
    def _divided(
        cls, function: Function, model: Model, columns: Mapping[str, Column], options: Mapping[str, Any]
    ) -> MapTask:
        like = {name: np.empty((0,) * len(column.shape), column.dtype) for name, column in columns.items()}
        given, chosen = function.interface.call(model, (), {**like, **options})
        cores = function.interface.cores(model)
        arrays = {n: columns[n] if n in columns else in_memory(np.asarray(value)) for n, value in given.items()}
        for name, array in arrays.items():
            check_core(function.name, name, array.shape, cores[name])
        leading = {n: a.shape[: len(a.shape) - len(cores[n])] for n, a in arrays.items()}
        batch = broadcast(function.name, leading)
        if not batch:
            expected = "a first dimension, of rows, in one argument at least"
            name = next(iter(arrays), "data")
            raise ShapeError(function.name, name, got=leading.get(name, ()), expected=expected)
        by_row = {n for n, shape in leading.items() if len(shape) == len(batch) and shape[0] == batch[0]}
        compiled = function.compiled(model, tuple(arrays), chosen)
        shapes = tuple((*batch, *a.shape) for a in compiled.outputs)
        table = Table(tuple(a.name for a in compiled.outputs), shapes, common_dtype(a.dtype for a in arrays.values()))
        fixed = {n: np.asarray(a.rows(0, a.shape[0] if a.shape else 1)) for n, a in arrays.items() if n not in by_row}
        sent = {n: a for n, a in arrays.items() if n in by_row and a.path is None}
        opened = {n: a for n, a in arrays.items() if n in by_row and a.path is not None}
        job = Job(function, model, dict(chosen), fixed, opened, compiled.form, table, None, None)
        return cls(job, sent, compiled)

    @property
    def fitting(self) -> int:
        columns, table = (*self.job.columns.values(), *self.sent.values()), self.job.table
        read = sum(math.prod(c.shape[1:]) * c.dtype.itemsize for c in columns)
        written = sum(math.prod(shape[1:]) for shape in table.shapes) * table.dtype.itemsize
        return max(BYTES // max(read + written, 1), 1)

    def warm(self, chunk: int) -> None:
        """Let the program be made for as many rows as workers of this machine will call it with: they find its code."""
        dtype, shape, core = self.job.table.dtype, self.job.table.shapes[0], self.compiled.outputs[0].shape
        rows = min(chunk * math.prod(shape[1 : len(shape) - len(core)]), MANY)
        inputs = self.compiled.inputs
        arrays = [np.zeros((rows, a.size), dtype) for a in inputs]
        batch = Batch(tuple(a.name for a in inputs), arrays, (rows,), rows, dtype)
        with np.errstate(all="ignore"):  # the numbers are of no robot
            self.compiled.write(self.job.function.name, batch, self.compiled.new_results(batch), 1, False)

    def writing(self, files: Arrays, place: Path) -> Job:
        return replace(self.job, files=files, place=place.absolute())  # workers may be in another folder

    def work(self, chunk: int) -> dict[str, Any]:
        """Return what is computed: the program, which holds all that function, robot and options say, and its data."""
        job, program = self.job, self.compiled
        arrays = [[a.name for a in side] for side in (program.inputs, program.outputs)]
        columns = {name: _stamp(column, chunk) for name, column in (*job.columns.items(), *self.sent.items())}
        fixed = {name: [*_described(a), hashlib.sha256(a.tobytes()).hexdigest()] for name, a in job.fixed.items()}
        said = {"cardan": __version__, "program": [program.digest, program.passes], "arrays": arrays, "chunk": chunk}
        return said | {"columns": columns, "fixed": fixed, "target": job.function.target, "dtype": str(job.table.dtype)}


def _described(column: Column | np.ndarray) -> list[Any]:
    return [list(column.shape), str(column.dtype)]


def _stamp(column: Column, chunk: int) -> list[Any]:
    """Return what tells a column from another one: of files their sizes and times, of arrays the digest of numbers."""
    described = _described(column)
    if column.path is not None:
        path = Path(column.path)
        files = [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file())
        return [*described, str(path.absolute()), [[str(f), f.stat().st_size, f.stat().st_mtime_ns] for f in files]]
    state = hashlib.sha256()
    for start in range(0, column.shape[0], chunk):
        state.update(np.ascontiguousarray(column.rows(start, start + chunk)).data)
    return [*described, state.hexdigest()]
