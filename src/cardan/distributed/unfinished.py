"""Results that are being written: under another name until they are whole, with a list of what is done.

Beside `out` stands a folder `out.unfinished`: `work.json` says what is computed, `done` has a line for each chunk whose
results are on the disk, `results` holds them. The same call goes on from there; another one is told what lies there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cardan.distributed.outputs import Files, Table, remove
from cardan.errors import ParameterError
from cardan.staging import write_whole


@dataclass(frozen=True, slots=True)
class Unfinished:
    """The folder beside a file or folder of results.

    Attributes:
        out: where the results will be.
        files: their format.
        table: the results.
        chunk: how many rows are computed at a time.
        work: what is computed, as JSON.
    """

    out: Path
    files: Files
    table: Table
    chunk: int
    work: Mapping[str, Any]

    @property
    def folder(self) -> Path:
        """The folder."""
        return self.out.with_name(self.out.name + ".unfinished")

    @property
    def place(self) -> Path:
        """Where results are written."""
        return self.folder / "results"

    def begin(self, where: str, overwrite: bool) -> set[int]:
        """Make the folder, or find it; return the first rows of the chunks that are done.

        Raises:
            ParameterError: if results, or other unfinished ones, are there and are not to be replaced.
        """
        if os.path.lexists(self.out) and not overwrite:
            hint = "overwrite=True replaces it once the new results are whole."
            raise ParameterError(f"{where}: out", got=str(self.out), expected="a name that is free", hint=hint)
        if self._is_same():
            return self._done()
        if self.folder.exists() and not overwrite:
            hint = f"Remove {str(self.folder)!r}, or pass overwrite=True; the same call as before would go on with it."
            expected = "no unfinished results of another function, robot, data or chunk"
            raise ParameterError(f"{where}: out", got=str(self.folder), expected=expected, hint=hint)
        self._create()
        return set()

    def _is_same(self) -> bool:
        """Return whether the folder is of the same work, and all there."""
        try:
            found = json.loads((self.folder / "work.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return False
        return found == json.loads(json.dumps(self.work)) and self.place.is_dir()

    def _done(self) -> set[int]:
        """Return what is listed; a line that was cut off does not count."""
        lines = (self.folder / "done").read_text(encoding="ascii").splitlines(keepends=True)
        whole = [line[:-1] for line in lines if line.endswith("\n") and line[:-1].isdecimal()]
        (self.folder / "done").write_text("".join(f"{line}\n" for line in whole), encoding="ascii")
        return {int(line) for line in whole}

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
        """List a chunk as done."""
        with open(self.folder / "done", "a", encoding="ascii") as stream:
            stream.write(f"{start}\n")

    def finish(self) -> None:
        """Give the results their name."""
        whole = self.files.finish(self.place, self.table)
        if os.path.lexists(self.out):  # a folder cannot be renamed over another one
            os.replace(self.out, self.folder / "replaced")
        os.replace(whole, self.out)
        remove(self.folder)
