"""What becomes of a folder of SDF files: `python tests/sdf_corpus.py FOLDER` prints the table of docs/sdf.md.

Models that files include are looked for in every folder that has one with a `model.config`.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from cardan._reach.formats.load import check, load_mechanism
from cardan.errors import DescriptionError, Fault


class Verdict(NamedTuple):
    """What became of a file: `"exact"`, `"remarks"` or `"refused"`, and the first fault that decided so."""

    file: Path
    kind: str
    fault: Fault | None


def files_of(corpus: Path) -> list[Path]:
    """Return the SDF files in a folder."""
    return sorted([*corpus.rglob("*.sdf"), *corpus.rglob("*.world")])


def folders_of(corpus: Path) -> list[Path]:
    """Return the folders in which models are looked for by name."""
    return sorted({file.parent.parent for file in corpus.rglob("model.config")})


def verdicts(corpus: Path) -> Iterator[Verdict]:
    """Yield what becomes of each file."""
    folders = folders_of(corpus)
    for file in files_of(corpus):
        faults = check(file, package_dirs=folders)
        errors = [fault for fault in faults if fault.severity == "error"]
        kind = "refused" if errors else "remarks" if faults else "exact"
        yield Verdict(file, kind, next(iter(errors or faults), None))


def loads(file: Path, folders: list[Path]) -> bool:
    """Return whether a file is read."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            load_mechanism(file, package_dirs=folders)
    except DescriptionError:
        return False
    return True


if __name__ == "__main__":
    root = Path(sys.argv[1])
    found = list(verdicts(root))
    counts = {kind: sum(v.kind == kind for v in found) for kind in ("exact", "remarks", "refused")}
    print(f"{len(found)} files: {counts}\n\n| file | refused because |\n|---|---|")
    for verdict in found:
        if verdict.kind == "refused" and verdict.fault is not None:
            print(f"| {verdict.file.relative_to(root)} | {verdict.fault.message} |")
