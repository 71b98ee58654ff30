"""How far a long loop is, to a person at a terminal."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec


@contextmanager
def progress_bar(total: int) -> Iterator[Callable[[int], None] | None]:
    """Give what is to be called with the number of steps done: a bar of tqdm's (extra `sim`).

    None where no person looks at stderr, or without tqdm.
    """
    if sys.stderr is None or not sys.stderr.isatty() or find_spec("tqdm") is None:
        yield None
        return
    with importlib.import_module("tqdm").tqdm(total=total, unit=" steps", unit_scale=True, leave=False) as bar:
        yield lambda done: bar.update(done - bar.n)
