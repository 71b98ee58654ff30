"""Loops over rows of data, which keep a row for each: in a traced program a region."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cardan._algebra.arrays.nested import entries_of, rebuilt, shape_of
from cardan._algebra.arrays.symbolic import dressed, symbolic
from cardan._algebra.errors import ParameterError


def scan(step: Callable[..., Any], carry: Any, data: Any) -> tuple[Any, Any]:
    """Return what is carried behind the last row of data, and what was kept at each.

    `carry, kept = scan(step, carry, data)` is

        rows = []
        for row in data:
            carry, own = step(carry, row)
            rows.append(own)
        kept = np.stack(rows)

    JAX calls it `lax.scan`. In a traced function the step is traced once, and native code runs a loop. Data stay where
    they are, so that a program is as long for a million rows as for two. Its derivatives are loops, too, if there is
    much to do: a gradient keeps what each step was given, and goes backwards. Joints and other libraries' symbols write
    the steps out.

    Args:
        step: takes what is carried and a row of data; returns what is carried on, in the same shapes, and what is kept
            of this row: scalars, arrays, lists and tuples of these, or None. Spatial objects then hold arrays.
        carry: what the first step gets: scalars, arrays, spatial objects, lists and tuples of these.
        data: an array whose first axis goes over the rows, or a tuple of such arrays; a row is a tuple then, too.

    Returns:
        What the last step carried on; and what was kept, with the rows as first axis of each array.

    Raises:
        ParameterError: for data without rows or of several lengths, or a step that returns something of another form.

    Examples:
        >>> total, sums = cardan.scan(lambda s, x: (s + x, s + x), 0.0, np.array([1.0, 2.0, 3.0]))
        >>> float(total), sums.tolist()
        (6.0, [1.0, 3.0, 6.0])
    """
    arrays = [dressed(np.asanyarray(part)) for part in (data if isinstance(data, tuple) else (data,))]
    lengths = {a.shape[0] if a.ndim else 0 for a in arrays}
    if len(lengths) != 1 or 0 in lengths:
        expected = "one number of rows for all arrays, 1 at least, as their first axis"
        raise ParameterError("shapes of the data of cardan.scan", got=[a.shape for a in arrays], expected=expected)
    rows: list[Any] = [
        tuple.__new__(type(data), row) if isinstance(data, tuple) else row[0] for row in zip(*arrays, strict=True)
    ]
    given, forms = shape_of(carry), list[Any]()

    def once(carry: Any, row: Any) -> Any:
        found = step(carry, row)
        if not isinstance(found, tuple) or len(found) != 2:
            expected = "two: what is carried on, and what is kept (None, if nothing is)"
            raise ParameterError("what the step of cardan.scan returned", got=found, expected=expected)
        forms.append(() if found[1] is None else found[1])
        for does, own, expected in ("carries on", found[0], given), ("keeps", forms[-1], shape_of(forms[0])):
            if shape_of(own) != expected:
                what = f"shapes of what the step of cardan.scan {does}"
                raise ParameterError(what, got=shape_of(own), expected=f"{expected}, as at first")
        return found[0]

    def on_entries(carried: Sequence[Any], entries: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        found = once(rebuilt(carry, iter(carried)), rebuilt(rows[0], iter(entries)))
        return list(entries_of(found)), list(entries_of(forms[-1]))

    tracer = next((e for e in entries_of([carry, *arrays]) if hasattr(type(e), "__scanned__")), None)
    if tracer is None or len(rows) == 1:
        for row in rows:
            carry = once(carry, row)
        return carry, _stacked(forms)
    columns = [column for a in arrays for column in a.reshape(len(rows), -1).T.tolist()]
    last, kept = tracer.__scanned__(on_entries, list(entries_of(carry)), columns)
    return rebuilt(carry, iter(last)), _stacked([rebuilt(forms[0], iter(row)) for row in kept])


def _stacked(rows: Sequence[Any]) -> Any:
    """Return values of the same form with a first axis more, over the rows."""
    if isinstance(rows[0], (tuple, list)):
        parts = [_stacked(part) for part in zip(*rows, strict=True)]
        return parts if isinstance(rows[0], list) else tuple.__new__(type(rows[0]), parts)
    entries, shape = list(entries_of(rows)), (len(rows), *np.shape(rows[0]))
    # numbers of other libraries have other digits than NumPy's, and stay what they are
    plain = all(isinstance(e, (int, float, np.generic)) for e in entries)
    return np.array(entries).reshape(shape) if plain else symbolic(entries, shape)
