"""Results that are being written: under another name until they are whole, with a list of what is done.

Beside `out` stands a folder `out.unfinished`: `work.json` says what is computed, `done` has a line for each chunk whose
results are on the disk, `results` holds them. The same call goes on from there; another one gets an error.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cardan._algebra.errors import ParameterError, quoted
from cardan._compiler.runtime.staging import write_whole
from cardan._reach.distributed.outputs import Files, Table, remove


@dataclass(frozen=True, slots=True)
class Unfinished:
    """The folder beside a file or folder of results."""

    out: Path  # where the results will be
    files: Files  # their format
    table: Table  # the results
    chunk: int  # how many rows are computed at a time
    work: Mapping[str, Any]  # what is computed, as JSON

    @property
    def folder(self) -> Path:
        return self.out.with_name(self.out.name + ".unfinished")

    @property
    def place(self) -> Path:
        """Where results are written."""
        return self.folder / "results"

    def begin(self, where: str, overwrite: bool) -> set[int]:
        """Make the folder, or find it; return the first rows of the chunks that are done.

        ParameterError for results that are there and not to be replaced, or unfinished ones of other work or damaged.
        """
        if os.path.lexists(self.out) and not overwrite:
            hint = "overwrite=True replaces it once the new results are whole."
            raise ParameterError(f"{where}: out", got=str(self.out), expected="a name that is free", hint=hint)
        problem, expected, end = "", "", ""
        if self._is_same():
            done, problem = self._done()
            if not problem:
                return done
            expected, end = "unfinished results as they were left", ", to begin anew."
        elif self.folder.exists():
            expected = "no unfinished results of another function, robot, data or chunk"
            problem, end = str(self.folder), "; the same call as before would go on with it."
        if problem and not overwrite:
            hint = f"Remove {str(self.folder)!r}, or pass overwrite=True{end}"
            raise ParameterError(f"{where}: out", got=problem, expected=expected, hint=hint)
        self._create()
        return set()

    def _is_same(self) -> bool:
        try:
            found = json.loads((self.folder / "work.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return False
        return found == json.loads(json.dumps(self.work)) and self.place.is_dir()

    def _done(self) -> tuple[set[int], str]:
        """Return what is listed, and what is damaged, or an empty text; a last line that was cut off does not count."""
        file = self.folder / "done"
        try:
            whole, _, _ = file.read_text(encoding="ascii").rpartition("\n")
            done = {int(line) for line in whole.split("\n") if line}
            file.write_text("".join(f"{start}\n" for start in sorted(done)), encoding="ascii")
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "no list of rows"
            return set(), f"{str(file)!r}, which is damaged: {reason}"
        if stray := sorted(start for start in done if start % self.chunk or not 0 <= start < max(self.table.rows, 1)):
            return set(), f"{str(file)!r}, which is damaged: no chunk begins at row {quoted(stray[0])}"
        return done, self.files.damage(self.place, self.table, done)

    def _create(self) -> None:
        remove(self.folder)
        self.place.mkdir(parents=True)
        try:
            self.files.create(self.place, self.table, self.chunk)
            (self.folder / "done").touch()
            text = json.dumps(self.work).encode()
            write_whole({self.folder / "work.json": lambda stream: stream.write(text)})  # last: now it can be gone on
        except BaseException:
            remove(self.folder)
            raise

    def mark(self, start: int) -> None:
        with open(self.folder / "done", "a", encoding="ascii") as stream:
            stream.write(f"{start}\n")

    def finish(self) -> None:
        whole = self.files.finish(self.place, self.table)
        if os.path.lexists(self.out):  # a folder cannot be renamed over another one
            os.replace(self.out, self.folder / "replaced")
        os.replace(whole, self.out)
        remove(self.folder)
