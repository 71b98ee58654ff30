"""What is done for each chunk, by whoever is handed it."""

from __future__ import annotations

import functools
import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cardan._algebra.errors import FunctionReferenceError, ParameterError
from cardan._dynamics.call.function import Function
from cardan._dynamics.call.results import Form
from cardan._reach.distributed.columns import Column
from cardan._reach.distributed.outputs import Files, Table
from cardan._reach.distributed.schedule import Chunk
from cardan._robot.model import Model


@dataclass(frozen=True, slots=True)
class Job:
    """One function of one robot, and where its arguments come from and its results go.

    Attributes:
        function: the compiled function.
        model: the robot.
        options: of the function.
        fixed: arguments that are the same for all rows.
        columns: arguments that are read where they are needed.
        form: of the function's results.
        table: the results of all rows.
        files: what writes them; None where they are sent back.
        place: where to.
    """

    function: Function
    model: Model
    options: Mapping[str, Any]
    fixed: Mapping[str, Any]
    columns: Mapping[str, Column]
    form: Form
    table: Table
    files: Files | None
    place: Path | None

    def results(self, chunk: Chunk, sent: Mapping[str, np.ndarray]) -> list[np.ndarray] | None:
        """Return the results of a chunk, or None once they are written.

        Args:
            chunk: its rows.
            sent: what is not read here.
        """
        read = {name: column.rows(*chunk) for name, column in self.columns.items()}
        value = self.function(self.model, **self.fixed, **read, **sent, **self.options)
        results = self.form.parts(value) or []
        if self.files is None or self.place is None:
            return results
        self.files.write(self.place, self.table, chunk[0], results)
        return None

    def pickled(self) -> bytes:
        """Return it as bytes.

        Raises:
            ParameterError, FunctionReferenceError: for a function that cannot be sent to another process.
        """
        try:
            return pickle.dumps(self, pickle.HIGHEST_PROTOCOL)
        except FunctionReferenceError:
            raise
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            hint = "engine='threads' needs no pickling."
            expected = "a function, options and data that can be pickled"
            raise ParameterError(
                f"{self.function.name}, mapped", got=str(error), expected=expected, hint=hint
            ) from None


def run(job: Job | bytes, chunk: Chunk, sent: Mapping[str, np.ndarray]) -> list[np.ndarray] | None:
    """Do what a job, pickled or not, says for one chunk."""
    return (_unpickled(job) if isinstance(job, bytes) else job).results(chunk, sent)


@functools.lru_cache(maxsize=2)
def _unpickled(job: bytes) -> Job:
    """Return a job; a worker keeps it, with its programs, from chunk to chunk."""
    return pickle.loads(job)
