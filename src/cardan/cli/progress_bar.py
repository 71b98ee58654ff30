"""How far a long loop is, to a person at a terminal."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress_bar(total: int) -> Iterator[Callable[[int], None] | None]:
    """Give what is to be called with the number of steps done; None where no person looks at stderr.

    It is a bar of tqdm's if that is installed (extra `sim`), else a line that is written over.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    try:
        tqdm = importlib.import_module("tqdm").tqdm
    except ImportError:
        yield _line(total)
        return
    with tqdm(total=total, unit=" steps", unit_scale=True, leave=False) as bar:
        yield lambda done: bar.update(done - bar.n)


def _line(total: int) -> Callable[[int], None]:
    shown = -1

    def show(done: int) -> None:
        nonlocal shown
        percent = 100 * done // total
        if percent > shown:
            shown = percent
            print(f"\r{done} of {total} steps", end="\n" if done == total else "", file=sys.stderr, flush=True)

    return show
