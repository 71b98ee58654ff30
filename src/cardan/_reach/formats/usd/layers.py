"""The layers a file of USD is composed of: which may be read, and what OpenUSD says of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from cardan._algebra.errors import DescriptionError, quoted
from cardan._reach.formats import sandbox
from cardan._reach.formats.report import FilePlace, Report
from cardan._reach.formats.resources import ALLOWING, Places
from cardan._reach.formats.sandbox import Bounds, SandboxError
from cardan._reach.formats.source import MAX_BYTES, Source
from cardan._reach.formats.usd import composition
from cardan._reach.formats.usd.usd_package import pxr

BOUNDS = Bounds(seconds=2.0, stack=512 * 1024, clock=120.0)
"""To which sizes of files add (`sandbox_process.allow_for`). The stack is as small as any thread's that may read it."""
MAX_BYTES_TOGETHER = 4 * MAX_BYTES


@dataclass(slots=True)
class Layers:
    """Which layers of a file may be read."""

    root: str
    places: Places
    bytes_left: int = MAX_BYTES_TOGETHER

    def answer(self, _: str, file: str) -> dict[str, Any]:
        """Return the size of a layer, or why it is not read."""
        package, inside, _ = file.partition("[")  # a layer in a package, robot.usdz[...]
        if file != self.root and not self.places.allow(package):
            return {"error": f"the layer {quoted(file)} is outside the folders this description may read; {ALLOWING}"}
        if inside:
            return {"size": 0}
        try:
            size = len(Source.of(file).content)
        except DescriptionError as error:
            return {"error": "; ".join(fault.message for fault in error.faults)}
        self.bytes_left -= size
        if self.bytes_left < 0:
            return {"error": f"its layers have more than {MAX_BYTES_TOGETHER} bytes together"}
        return {"size": size}


def open_layers(report: Report, path: str, places: Places, trusted: bool = False) -> Any:
    """Return the root layer of a file, after looking at all it is composed of; None where that was refused.

    Args:
        report: takes the faults.
        path: of the file.
        places: where layers may be.
        trusted: whether it is not composed in a process of its own first.
    """
    argument, layers = {"file": path, "compose": not trusted}, Layers(path, places)
    package = pxr()
    try:
        if trusted:
            found = composition.work(argument, layers.answer)
        else:
            found = sandbox.run(composition, argument, layers.answer, BOUNDS)
        if found:
            file, error = str(found["file"]), str(found["error"])
            place = parse_place(error, file) if file else FilePlace(where=str(found["where"]))
            report.error(place, brief(error))
            return None
        return package.Sdf.Layer.FindOrOpen(path)
    except SandboxError as error:
        report.error(0, str(error))
    except package.Tf.ErrorException as error:
        report.error(0, f"cannot be opened: {brief(str(error))}")
    return None


def ancestors(path: str) -> Iterator[str]:
    """Yield the paths above one, but for the root's."""
    while path := path.rpartition("/")[0]:
        yield path


_PLACED = re.compile(r"([^'\s]+):(\d+):(\d+): ")
_WORDS = re.compile(r"Error in '[^']*' at line \d+ in file \S+ : |,@anon:[^@]*@")  # the session's layer is no file's


def parse_place(told: str, file: str) -> FilePlace:
    """Return the line OpenUSD's parser names."""
    found = _PLACED.search(told)
    return FilePlace(int(found[2]) if found else 0, file=file)


def brief(told: str) -> str:
    """Return what OpenUSD says without where in its own code it says so, and without layers of its own."""
    lines = [_PLACED.sub("", _WORDS.sub("", line)).strip().strip("'") for line in told.splitlines()]
    return "; ".join(line for line in dict.fromkeys(lines) if line)[:400]
