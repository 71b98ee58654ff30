"""Names of bodies, joints and frames: those of their prims, or whole paths where several prims have one name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from cardan._reach.formats.report import FilePlace, Report
from cardan._robot.model import WORLD


def names_of(report: Report, kind: str, paths: Iterable[str]) -> dict[str, str]:
    """Return a name for each path; those that clash are remarked on once."""
    paths = list(paths)
    count = Counter(_last(path) for path in paths)
    clashing = [path for path in paths if count[_last(path)] > 1 or _last(path) == WORLD]
    if clashing:
        told = f"{len(clashing)} {kind} have names that others have, too; they are called by their paths, as this one"
        report.remark(FilePlace(where=clashing[0]), told)
    whole = set(clashing)
    return {path: path if path in whole else _last(path) for path in paths}


def _last(path: str) -> str:
    return path.rpartition("/")[2]
