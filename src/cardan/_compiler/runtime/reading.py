"""What a trace reads that no key knows: files, and pages of others. Its program is kept for nobody else.

What of cardan reads a file that a page may ask for, such as a mesh, notes it here. Python's own hook for all that is
opened (`sys.addaudithook`) would see more, but it cannot be taken away again and is called at every `id()`.
"""

from __future__ import annotations

from itertools import count as _numbers

_next = _numbers(1)  # of several threads each gets a number of its own
_latest = 0


def note() -> None:
    global _latest
    _latest = next(_next)


def latest() -> int:
    """Return the number of the last note, of any thread; 0 if there is none."""
    return _latest
