"""Loops within a function, also over rows of data, and what may be skipped: regions of a traced program."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from cardan._algebra.arrays.symbolic import dressed, entries_of, rebuilt, shape_of, symbolic
from cardan._algebra.checked_numbers import whole
from cardan._algebra.errors import ParameterError
from cardan._algebra.scalar import where


def repeat(count: Any, body: Callable[..., Any], *start: Any, most: int | None = None) -> Any:
    """Return what is left after a number of passes, each of which gets what the one before returned.

    `repeat(3, body, x)` is `body(body(body(x)))`. In a traced function the body is traced once, and native code runs a
    loop, so that the program stays as short as one pass. It is traced twice if it starts from numbers alone: its first
    pass is then a simpler one. So it is if it starts from a 0 that it changes; one that it leaves is known in each
    pass. What the body uses from outside is computed before, once. The derivative of a long loop is a
    loop. Joints and other libraries' symbols write the passes out.

    With `most`, the count is data: each state has its own, and none makes a pass if it is not positive. Native code
    leaves the loop as that of `repeat_while`. Differentiation makes the most passes there may be. Where the count is
    beyond `most`, results and derivatives are NaN.

    Args:
        count: of passes, at least 1 and known while tracing; with `most`, a number, an array of them, or a symbol, and
            it counts as the next whole number.
        body: takes as many values as are given, returns as many, of the same shapes: several as a tuple.
        start: what the first pass gets: scalars, arrays, spatial objects, lists and tuples of these.
        most: of passes there may be; known while tracing.

    Raises:
        ParameterError: for a count that is none, or is known and beyond `most`, nothing to start from, or a body that
            returns something else.

    Examples:
        >>> cardan.repeat(3, lambda x: 2.0 * x, 1.0)
        8.0
        >>> @cardan.function(shapes={"x": (), "n": ()}, returns=())
        ... def doubled(model, x, n):
        ...     return cardan.repeat(n, lambda x: 2.0 * x, x, most=10)
        >>> doubled(arm, np.ones(4), np.array([0.0, 3.0, 10.0, 11.0])).tolist()
        [1.0, 8.0, 1024.0, nan]
    """
    if most is None:
        return _run("repeat", count, None, body, start)
    alone = len(start) == 1

    def counted(left: Any, *values: Any) -> Any:
        found = body(*values)
        if alone or not isinstance(found, (tuple, list)):
            return left - 1.0, found
        return left - 1.0, *found

    name = "repeat with most="
    left, *values = _run(name, most, lambda left, *_: left > 0.0, counted, (count, *start) if start else ())
    enough = left <= 0.0
    if not _is_known(enough):
        is_number = where(enough, 1.0, np.nan)  # a factor, so that derivatives are not numbers, either
        values = rebuilt(values, (e * is_number for e in entries_of(values)))
    elif not np.all(enough):
        raise ParameterError("count of cardan.repeat", got=count, expected=f"at most {most}, as most= says")
    return values[0] if alone else tuple(values)


def repeat_while(most: int, going: Callable[..., Any], body: Callable[..., Any], *start: Any) -> Any:
    """Return what is left after passes that go on as long as a condition holds, and a number of them at most.

    It is `repeat(most, lambda *s: where(going(*s), body(*s), s), *start)`, entry by entry. Each state stops by itself:
    what it holds stays then. Native code leaves the loop when no state that is computed together goes on, and NumPy
    when none of the batch does. The results do not depend on that. Differentiation makes all passes.

    Args:
        most: of passes, at least 1; known while tracing.
        going: takes the values, returns the condition.
        body: takes as many values as are given, returns as many, of the same shapes: several as a tuple.
        start: what the first pass gets: scalars, arrays, spatial objects, lists and tuples of these.

    Raises:
        ParameterError: for a count that is none, nothing to start from, or a body that returns something else.

    Examples:
        >>> cardan.repeat_while(100, lambda x: x < 10.0, lambda x: 2.0 * x, 1.0)
        16.0
    """
    return _run("repeat_while", most, going, body, start)


def converging(
    most: int, first: int, going: Callable[..., Any], body: Callable[..., Any], scratch: Any, *start: Any
) -> Any:
    """Return what `repeat_while` does, of an iteration whose derivatives are those of its `first` passes.

    So an iteration goes on where it has not converged, and derivatives are no longer for it. Differentiation and
    symbols of other libraries make these passes, all of them. `scratch` comes first of what the body takes and returns,
    and of what is returned here. It is handed on from pass to pass as the body leaves it: a state that has stopped does
    not keep it. Where `going` does not hold from the start, it is of no use.
    """
    return _run("converging", most, going, body, (scratch, *start), first)


def _run(
    name: str,
    count: Any,
    going: Callable[..., Any] | None,
    body: Callable[..., Any],
    start: Any,
    first: int | None = None,
) -> Any:
    passes = count = _checked(count, name)
    done = 0
    if not start:
        raise ParameterError(f"start of cardan.{name}", got=start, expected="at least one value the body takes")
    alone, shape = len(start) == 1, shape_of(start)

    def changed(*values: Any) -> tuple[Any, ...]:
        found = (body(*values),) if alone else body(*values)
        if not isinstance(found, (tuple, list)) or shape_of(found) != shape:
            got = shape_of(found[0] if alone else found)
            expected = f"{shape[0] if alone else shape}, as it was given"
            raise ParameterError(f"shapes of what the body of cardan.{name} returned", got=got, expected=expected)
        return tuple(found)

    def once(values: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
        """Return what a pass leaves, and whether it was made."""
        condition = True if going is None else going(*values)
        if not _holds_for_any(condition):
            return condition, values
        return condition, when(condition if first is None or is_ours(condition) else True, changed, values, *values)

    def in_loop(values: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
        """Return whether another pass follows, and what one leaves: a state that does not go on keeps what it has.

        There is no region in it that may be skipped: to move all values into one costs more than a pass.
        """
        if going is None:
            return True, changed(*values)
        goes, *before = values
        new, free = changed(*before), 0 if first is None else 1  # scratch is not kept
        found = (*new[:free], *_chosen(goes > 0.5, new[free:], tuple(before[free:])))
        condition = going(*found)
        return condition, (where(condition, 1.0, 0.0), *found)

    def loop(*values: Any) -> tuple[Any, ...]:
        if going is not None:
            values = (where(going(*values), 1.0, 0.0), *values)
        entries = list(entries_of(values))
        tracer = next(e for e in entries if hasattr(type(e), "__repeated__"))
        derived, within = None if first is None else first - done, partial(_on_entries, in_loop, values)
        found = rebuilt(values, iter(tracer.__repeated__(count - done, within, entries, derived)))
        return found if going is None else found[1:]

    values: tuple[Any, ...] = tuple(start)
    while done < passes:
        if passes - done > 1 and any(hasattr(type(e), "__repeated__") for e in entries_of(values)):
            condition = True if going is None else going(*values)
            if first is None:
                values = when(condition, loop, values, *values)
            else:
                scratch, *found = only_where(condition, lambda given=values: loop(*given))
                values = (scratch, *(_chosen(condition, a, b) for a, b in zip(found, values[1:], strict=True)))
            done = passes
            continue
        condition, values = once(values)
        done += 1
        if first is not None and not is_ours(condition):
            passes = first
        if not _holds_for_any(condition):
            break
    return values[0] if alone else values


def when(condition: Any, body: Callable[..., Any], otherwise: Any, *given: Any) -> Any:
    """Return what a body makes of values where a condition holds, and something else where it does not.

    `when(condition, body, otherwise, *given)` is `where(condition, body(*given), otherwise)`, entry by entry. In a
    traced function native code computes the body only if the condition holds for some of the states that it computes
    together. The results do not depend on that. A body of few operations is always computed, and so is every body by
    NumPy on a batch, by differentiation, and by other libraries. A condition that is known decides.

    Args:
        condition: true or false, an array of these, or what was compared while tracing.
        body: takes the values, returns scalars, arrays, spatial objects, lists and tuples of these. It returns all
            that is used of it.
        otherwise: what is there where the condition does not hold, in the form of what the body returns.
        given: what the body takes.

    Raises:
        ParameterError: for a body that returns something of another form than `otherwise`.

    Examples:
        >>> cardan.when(2.0 > 1.0, lambda x: (x, x * x), (0.0, 0.0), 3.0)
        (3.0, 9.0)
    """
    if isinstance(condition, (bool, np.bool_)):
        return body(*given) if condition else otherwise
    if not hasattr(type(condition), "__skipped__"):
        return _chosen(condition, body(*given), otherwise)

    def entries() -> list[Any]:
        found, expected = body(*given), shape_of(otherwise)
        if shape_of(found) != expected:
            raise _other_form(shape_of(found), expected)
        return list(entries_of(found))

    return rebuilt(otherwise, iter(condition.__skipped__(entries, list(entries_of(otherwise)))))


def recomputed(body: Callable[..., Any], *given: Any) -> Any:
    """Return what a body makes of values, as many and of the same shapes, sharing nothing with what came before.

    In a traced program that is a loop of one pass. A body that may be skipped shares what the program has computed
    already, and all of that is then kept until there: this one keeps what it is given alone.
    """
    entries = list(entries_of(given))
    tracer = next((e for e in entries if hasattr(type(e), "__repeated__")), None)
    if tracer is None:
        return body(*given)
    within = partial(_on_entries, lambda values: (True, body(*values)), given)
    return rebuilt(given, iter(tracer.__repeated__(1, within, entries, None)))


def only_where(condition: Any, body: Callable[[], Any]) -> Any:
    """Return what a body makes where a condition holds; elsewhere it is undefined, and so is what is made of it.

    It may be used in bodies that are skipped by the same condition, and chosen by it. So nothing is chosen here, and
    what is skipped costs nothing. A program that uses it elsewhere is refused when it is traced.
    """
    if not hasattr(type(condition), "__skipped__"):
        return body()
    forms: list[Any] = []

    def entries() -> list[Any]:
        forms.append(body())
        return list(entries_of(forms[0]))

    found = condition.__skipped__(entries)
    return rebuilt(forms[0], iter(found))


def _chosen(condition: Any, a: Any, b: Any) -> Any:
    """Return `where` of nested values: of arrays of symbols by their entries, of batches as they are."""
    if isinstance(b, (tuple, list)):
        if not isinstance(a, (tuple, list)) or len(a) != len(b):
            raise _other_form(shape_of(a), shape_of(b))
        parts = [_chosen(condition, x, y) for x, y in zip(a, b, strict=True)]
        return parts if isinstance(b, list) else tuple.__new__(type(b), parts)
    if isinstance(b, np.ndarray) and (b.dtype == object or not isinstance(condition, np.ndarray)):
        if np.shape(a) != b.shape:
            raise _other_form(np.shape(a), b.shape)
        pairs = zip(entries_of(a), entries_of(b), strict=True)
        return symbolic((where(condition, x, y) for x, y in pairs), b.shape)
    return where(condition, a, b)


def _other_form(got: Any, expected: Any) -> ParameterError:
    return ParameterError("shapes of what the body of cardan.when returned", got=got, expected=f"{expected}, as else")


def _holds_for_any(condition: Any) -> bool:
    return not _is_known(condition) or bool(np.any(condition))


def _is_known(condition: Any) -> bool:
    return isinstance(condition, (bool, np.bool_)) or (isinstance(condition, np.ndarray) and condition.dtype == bool)


def is_ours(condition: Any) -> bool:
    """Return whether a condition is known or traced, and no symbol of another library."""
    return _is_known(condition) or hasattr(type(condition), "__skipped__")


def each(body: Callable[..., Any], *items: Iterable[Any]) -> list[Any]:
    """Return what a body makes of each of several items, or of the first, second, ... of each of several sequences.

    `each(body, xs, ys)` is `[body(x, y) for x, y in zip(xs, ys)]`, of items that are alike: numbers and symbols in the
    same shapes (JAX calls it `lax.map`). In a traced function the body is traced once (twice, if the items are numbers
    alone: the first is then done before) and native code runs a loop over the items, so that the program stays as short
    as one of them. Entries that are the same number in all items fold as they do in one; items whose structure differs,
    say in zeros that are known, may do better in groups of their own. A body of less than eight operations for each
    value it is given or returns is written out. So is every body by differentiation, joints and other libraries.

    Args:
        body: takes an item of each sequence.
        items: sequences of the same length: of scalars, arrays, spatial objects, lists and tuples of these.

    Raises:
        ParameterError: for sequences of different lengths or none, or items of different shapes.

    Examples:
        >>> cardan.each(lambda x, y: x * y, [1.0, 2.0], [3.0, 4.0])
        [3.0, 8.0]
    """
    return _each(body, items, always=False)


def in_loop(body: Callable[..., Any], *items: Iterable[Any]) -> list[Any]:
    """Return what `each` does, always by a loop: of what is done so seldom that a short program counts for more."""
    return _each(body, items, always=True)


def _each(body: Callable[..., Any], items: Sequence[Iterable[Any]], always: bool) -> list[Any]:
    columns = [_listed(sequence) for sequence in items]
    if len({len(column) for column in columns}) != 1:
        expected = "one length for all sequences"
        raise ParameterError("lengths of what cardan.each is given", got=[len(c) for c in columns], expected=expected)
    rows = list(zip(*columns, strict=True))
    shape = shape_of(rows[0]) if rows else None
    for k, row in enumerate(rows):
        if shape_of(row) != shape:
            expected = f"{shape}, as the first has"
            raise ParameterError(f"shapes of item {k} of cardan.each", got=shape_of(row), expected=expected)
    done: list[Any] = []
    while len(done) < len(rows):
        left = [list(entries_of(row)) for row in rows[len(done) :]]
        symbols = (e for row in (*left, list(entries_of(done))) for e in row if hasattr(type(e), "__mapped__"))
        tracer = next(symbols, None)
        if tracer is None or len(left) == 1:
            done.append(body(*rows[len(done)]))
        else:
            done += _mapped(tracer, body, rows[0], left, always)
    return done


def _listed(sequence: Any) -> list[Any]:
    try:
        return list(sequence)
    except TypeError:
        expected = "a sequence of items for each argument of the body"
        raise ParameterError("what cardan.each is given", got=sequence, expected=expected) from None


def _mapped(tracer: Any, body: Callable[..., Any], template: Any, rows: Sequence[list[Any]], always: bool) -> list[Any]:
    """Return what a body makes of rows of entries, each in the form of what it made of the first."""
    forms: list[Any] = []

    def once(entries: list[Any]) -> list[Any]:
        forms.append(body(*rebuilt(template, iter(entries))))
        return list(entries_of(forms[-1]))

    results = tracer.__mapped__(once, rows, always)
    return [rebuilt(forms[-1], iter(entries)) for entries in results]


def _checked(count: Any, name: str) -> int:
    hint = "A count that is data needs most=." if name == "repeat" else ""
    return whole(f"count of cardan.{name}", count, 1, 10**9, hint)


def _on_entries(once: Callable[[Any], Any], template: Any, entries: Sequence[Any]) -> tuple[Any, list[Any]]:
    """Return whether a pass goes on, and the entries of what it makes of values with such entries."""
    condition, values = once(rebuilt(template, iter(entries)))
    return condition, list(entries_of(values))


# --- loops over rows of data, which keep a row for each ---


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
