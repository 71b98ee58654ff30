"""Work counted in calls: the same on every machine, however busy."""

import sys


def calls(function) -> int:
    """Return how many functions, of Python and of C, a call of `function` calls."""
    count = 0

    def note(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(before)
    return count
