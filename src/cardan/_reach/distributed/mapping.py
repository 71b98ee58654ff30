"""`map` and `sum`: one function of one robot for all rows of some data, in chunks.

Rows are read and results are stored here; workers compute. Files, retries and machines are others' affair: an array may
be anything that is sliced like one, and an executor may be a cluster's.
"""

from __future__ import annotations

import functools
import math
import pickle
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from cardan._algebra.checked_numbers import whole
from cardan._algebra.errors import ChunkError, DTypeError, ParameterError, ShapeError
from cardan._compiler.runtime.threads import num_threads
from cardan._compiler.targets import default_target
from cardan._dynamics.call.arguments import broadcast, check_core, common_dtype, numeric_array
from cardan._dynamics.call.compiled import Compiled
from cardan._dynamics.call.function import Function, check_function
from cardan._dynamics.call.results import Form
from cardan._dynamics.call.signature import check_model
from cardan._robot.model import Model

Chunk = tuple[int, int]  # the first row, and the one after the last
BYTES = 16 << 20  # of a chunk: it takes some ten milliseconds, far more than handing it out


def map(
    function: Function[..., Any],
    model: Model,
    data: Mapping[str, Any],
    out: Any = None,
    *,
    engine: Executor | None = None,
    workers: int | None = None,
    chunk: int | None = None,
    **options: Any,
) -> Any:
    """Return a function's results for all rows of some data, computed in chunks by many workers.

    They are those of one call, to the last bit, whatever the chunks and the workers. Only a few chunks are in memory if
    the arrays are not.

    Args:
        function: one of cardan's, or your own made by `cardan.function`.
        model: the robot. The inputs of one with inputs (`Model.with_inputs`) are data, or options.
        data: values of the arguments by name, of shapes (rows, ..., core shape) and broadcast as in a call. Arrays may
            be what is sliced like one: `np.load(file, mmap_mode="r")`, an array of Zarr or HDF5.
        out: the array whose rows are set to the results, or a mapping from the names of results to arrays; such as
            `np.lib.format.open_memmap(file, "w+", dtype, shape)`, or an array of Zarr or HDF5.
        engine: an executor (`concurrent.futures.Executor`) of processes or of a cluster, which is left open; by default
            threads of this process.
        workers: how many there are; by default `num_threads()`.
        chunk: rows computed at a time; by default about 16 MB of arguments and results.
        options: values of the function's options, such as `frame="tool"`, and arguments that are the same in all rows.

    Returns:
        The results, in the form of the function's own; or `out`.

    Raises:
        ChunkError: naming rows that could not be computed; its cause is the error.
        ShapeError, DTypeError, TypeError: for arrays that do not fit the function or each other.
        ParameterError: for what is no function of cardan's or no executor.
        FunctionReferenceError: for a function that cannot be sent to another process.

    Examples:
        >>> states = {"q": arm.random_configuration((100,), seed=0), "v": v}
        >>> energy = cardan.distributed.map(cardan.kinetic_energy, arm, states, chunk=40)
        >>> bool((energy == cardan.kinetic_energy(arm, **states)).all())
        True
    """
    if chunk is not None:
        whole("distributed: chunk", chunk, 1)
    task = MapTask.of(function, model, data, options)
    arrays = task.arrays(out)
    for (start, stop), results in task.computed(compute, engine, workers, chunk or task.fitting):
        for array, result in zip(arrays, results, strict=True):
            array[start:stop] = result
    return task.compiled.returned(arrays) if out is None else out


def sum(
    function: Function[..., Any],
    model: Model,
    data: Mapping[str, Any],
    *,
    engine: Executor | None = None,
    workers: int | None = None,
    **options: Any,
) -> Any:
    """Return the sums of a function's results over all rows of some data, and keep the terms of a few chunks alone.

    So a cost over a million states, or its gradient, takes no memory for a million terms. Sums are made in double
    precision, of a chunk by its worker, and then in the order of the chunks, whose size depends on the arrays' shapes
    alone: the bits depend neither on workers nor on the engine.

    Args:
        function: as for `map`.
        model: as for `map`.
        data: as for `map`.
        engine: as for `map`.
        workers: as for `map`.
        options: as for `map`.

    Returns:
        The sums, in the form of the function's own results, without the axis of the rows.

    Raises:
        ChunkError: naming rows that could not be computed; its cause is the error.
        ShapeError, DTypeError, TypeError: for arrays that do not fit the function or each other.
        ParameterError: for what is no function of cardan's or no executor.
        FunctionReferenceError: for a function that cannot be sent to another process.

    Examples:
        >>> states = {"q": arm.random_configuration((100,), seed=0), "v": v}
        >>> energy = cardan.distributed.sum(cardan.kinetic_energy, arm, states)
        >>> bool(np.isclose(energy, cardan.kinetic_energy(arm, **states).sum()))
        True
    """
    task = MapTask.of(function, model, data, options)
    totals = [np.zeros(shape[1:]) for shape in task.shapes]
    for _, results in task.computed(compute_sums, engine, workers, task.fitting):
        for total, result in zip(totals, results, strict=True):
            total += result
    return task.compiled.returned([total.astype(task.dtype) for total in totals])


@dataclass(frozen=True, slots=True)
class Job:
    """What a worker needs for any chunk."""

    function: Function
    model: Model
    fixed: Mapping[str, Any]  # arguments and options that are the same for all rows
    form: Form  # of the results


def compute(job: Job | bytes, rows: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    own: Job = _unpickled(job) if isinstance(job, bytes) else job
    return own.form.parts(own.function(own.model, **own.fixed, **rows)) or []


def compute_sums(job: Job | bytes, rows: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    return [part.sum(axis=0, dtype=float) for part in compute(job, rows)]


_unpickled = functools.lru_cache(maxsize=2)(pickle.loads)
"""A worker keeps a job, with its programs, from chunk to chunk."""


@dataclass(frozen=True, slots=True)
class MapTask:
    job: Job
    columns: Mapping[str, Any]  # the arguments that differ from row to row
    compiled: Compiled
    shapes: list[tuple[int, ...]]  # of the results, rows first
    dtype: np.dtype  # of the results

    @classmethod
    def of(cls, function: Function, model: Model, data: Any, options: Mapping[str, Any]) -> MapTask:
        check_function("distributed: function", function)
        check_model(function.name, model)
        function = function.on(function.target or default_target(), threads=1)
        if not isinstance(data, Mapping):
            expected = "a mapping from names of arguments to arrays"
            raise DTypeError(function.name, "data", got=f"a {type(data).__name__}", expected=expected)
        columns = {name: _sliced(function.name, name, value) for name, value in data.items()}
        if twice := sorted(columns.keys() & options.keys()):
            expected = "names that are not given as options, too"
            raise ParameterError(f"{function.name}: data", got=twice, expected=expected)
        return cls._divided(function, model, columns, options)

    @classmethod
    def _divided(
        cls, function: Function, model: Model, columns: Mapping[str, Any], options: Mapping[str, Any]
    ) -> MapTask:
        """Tell what differs from row to row from what is the same for all."""
        like = {name: np.empty((0,) * len(a.shape), a.dtype) for name, a in columns.items()}
        given, chosen = function.interface.call(model, (), {**like, **options})
        cores = function.interface.cores(model)
        arrays = {name: columns.get(name, np.asarray(value)) for name, value in given.items()}
        for name, array in arrays.items():
            check_core(function.name, name, tuple(array.shape), cores[name])
        leading = {n: tuple(a.shape)[: len(a.shape) - len(cores[n])] for n, a in arrays.items()}
        batch = broadcast(function.name, leading)
        if not batch:
            expected = "a first dimension, of rows, in one argument at least"
            name = next(iter(arrays), "data")
            raise ShapeError(function.name, name, got=leading.get(name, ()), expected=expected)
        by_row = {n for n, shape in leading.items() if len(shape) == len(batch) and shape[0] == batch[0]}
        compiled = function.compiled(model, tuple(arrays), chosen)
        fixed = {name: np.asarray(array[...]) for name, array in arrays.items() if name not in by_row}
        job = Job(function, model, fixed | dict(chosen), compiled.form)
        rows = {name: array for name, array in arrays.items() if name in by_row}
        shapes = [(*batch, *a.shape) for a in compiled.outputs]
        return cls(job, rows, compiled, shapes, common_dtype(np.dtype(a.dtype) for a in arrays.values()))

    @property
    def fitting(self) -> int:
        row = [math.prod(a.shape[1:]) * np.dtype(a.dtype).itemsize for a in self.columns.values()]
        row += [math.prod(shape[1:]) * self.dtype.itemsize for shape in self.shapes]
        return max(BYTES // max(int(np.sum(row)), 1), 1)

    def arrays(self, out: Any) -> list[Any]:
        """Return the arrays that take the results; ShapeError if those given do not fit."""
        names, where = [a.name for a in self.compiled.outputs], self.job.function.name
        if out is None:
            return [np.empty(shape, self.dtype) for shape in self.shapes]
        given = out if isinstance(out, Mapping) else {names[0]: out}
        if given.keys() != set(names):
            raise ParameterError(f"{where}: out", got=[*given], expected=f"arrays by the names of results: {names}")
        for name, shape in zip(names, self.shapes, strict=True):
            if tuple(given[name].shape) != shape:
                raise ShapeError(where, "out", got=tuple(given[name].shape), expected=f"{shape}, of {name!r}")
        return [given[name] for name in names]

    def computed(
        self, work: Callable[..., list[np.ndarray]], engine: Executor | None, workers: int | None, chunk: int
    ) -> Iterator[tuple[Chunk, list[np.ndarray]]]:
        """Yield chunks and what work makes of them, in order, some being computed ahead; ChunkError where one fails."""
        if not isinstance(engine, Executor | None):
            expected = "an executor, such as concurrent.futures.ProcessPoolExecutor(); by default threads compute"
            raise ParameterError("distributed: engine", got=engine, expected=expected)
        count = num_threads() if workers is None else whole("distributed: workers", workers, 1)
        with ThreadPoolExecutor(count, "cardan-map") if engine is None else nullcontext(engine) as executor:
            job = self.job if engine is None else pickle.dumps(self.job)
            yield from self._results(functools.partial(executor.submit, work, job), 2 * count, chunk)

    def _results(
        self, submit: Callable[..., Future[list[np.ndarray]]], ahead: int, chunk: int
    ) -> Iterator[tuple[Chunk, list[np.ndarray]]]:
        rows, begun = self.shapes[0][0], deque[tuple[Chunk, Future[list[np.ndarray]]]]()
        try:
            for start in range(0, max(rows, 1), chunk):
                at = start, min(start + chunk, rows)
                read = {name: np.asarray(array[slice(*at)]) for name, array in self.columns.items()}
                begun.append((at, submit(read)))
                if len(begun) == ahead:
                    yield self._finished(*begun.popleft())
            while begun:
                yield self._finished(*begun.popleft())
        finally:
            for _, future in begun:
                future.cancel()

    def _finished(self, chunk: Chunk, future: Future[list[np.ndarray]]) -> tuple[Chunk, list[np.ndarray]]:
        try:
            return chunk, future.result()
        except Exception as error:
            raise ChunkError(self.job.function.name, *chunk, reason=error) from error


def _sliced(where: str, name: Any, value: Any) -> Any:
    if not isinstance(name, str):
        raise DTypeError(where, "data", got=f"a mapping with the key {name!r}", expected="names of arguments")
    if all(hasattr(value, said) for said in ("shape", "dtype", "__getitem__")) and np.dtype(value.dtype).kind in "fiu":
        return value
    return numeric_array(where, name, value)
