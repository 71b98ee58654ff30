"""From a call to its fast path: what a later call of the same kind may skip.

Calls are of one kind if they give the same arguments by position and by keyword, and the same options. The first one
goes the long way and leaves a fast path (`Runner.fast_path`): a function that takes the arrays as they come. Later ones
pick the arrays out of their arguments and go through it.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.by_identity import ByIdentity
from cardan._dynamics.call.compiled import Compiled
from cardan._dynamics.call.conversion import SecondTry
from cardan._dynamics.call.signature import Signature, is_constant, is_number, token
from cardan._robot.model import Model

Values = tuple[Any, ...]
"""All arguments of a call: those by position, those by keyword in their order, and, at the end, defaults."""
Kwargs = Mapping[str, Any]
_LOOK_CLOSELY: list[Any] = []  # the mark of arrays of indices, and of objects that may change: no key of a dictionary
_FLOATS = frozenset({float, np.float64, np.float32})
KNOWN = 64  # options of a kind of calls that are known by identity, at most: texts made anew are new objects each time


class _Way(NamedTuple):
    """What serves calls with the same options."""

    fast_path: Callable[..., Any]
    arrays: Callable[[Values], Sequence[Any]]  # takes them, in its order, from the values of a call
    defaults: Values  # of arrays that are not given
    options: Values = ()  # the objects it is known by, held so that no other takes their id


class _Site(NamedTuple):
    """Calls that give the same arguments by position and by keyword."""

    marked: tuple[tuple[int, str], ...]  # where the arguments are that decide which program serves, and their names
    glance: Callable[[Values], Hashable]  # tells calls apart by which objects these are
    known: dict[Hashable, _Way]  # the ways of objects seen before, which cannot change
    ways: dict[Hashable, _Way]  # by what these arguments say


class CallSites:
    """The fast paths of one function: `models` has sites of each model, while it lives.

    They are known by the number of positional arguments and the keywords. If arrays, and nothing else, are given by
    position, it has a fast path by their number alone.
    """

    __slots__ = ("_deciding", "_optional", "_signature", "models")

    def __init__(self, signature: Signature) -> None:
        self._signature = signature
        self._optional = frozenset(n for n in signature.shapes if signature.arguments[n].default is None)
        self._deciding = frozenset(signature.open) | self._optional
        self.models: ByIdentity[Model, dict[Any, Any]] = ByIdentity()

    def call(
        self, sites: Mapping[Any, Any], model: Model, args: Values, kwargs: Kwargs, slow: Callable[..., Any]
    ) -> Any:
        """Return the result of a call: through its fast path if there is one, else by `slow(model, args, kwargs)`."""
        values, key = (args, (len(args),)) if not kwargs else ((*args, *kwargs.values()), (len(args), *kwargs))
        site = sites.get(key)
        if site is None:
            return slow(model, args, kwargs)
        _, glance, known, _ = site
        way = known.get(glance(values)) or self._look_up(site, values)
        if way is None:
            return slow(model, args, kwargs)
        fast_path, arrays, defaults, _ = way
        return fast_path(*arrays(values + defaults if defaults else values))

    def _look_up(self, site: _Site, values: Values) -> _Way | None:
        """Return the way of a call by what its options say, and know it by their identity from now on."""
        key = self._key(site, values)
        way = None if key is None else site.ways.get(key)
        given = tuple([values[k] for k, name in site.marked if name not in self._optional])
        # constants cannot change, so their identity says all; a list may hold other numbers by the next call
        if way is not None and _is_hashable(given) and all(map(is_constant, given)):
            if len(site.known) >= KNOWN:
                site.known.clear()
            site.known[site.glance(values)] = way._replace(options=given)
        return way

    def _key(self, site: _Site, values: Values) -> Hashable | None:
        """Return what the deciding arguments of a call say; None if they must be looked at closely."""
        key = tuple([self._mark(name, values[k]) for k, name in site.marked])
        return key if _is_hashable(key) else None

    def _mark(self, name: str, value: Any) -> Any:
        if type(value) is str:
            return value
        if name in self._optional:
            return value is None
        if name not in self._signature.fixed and is_number(value):
            return type(value)
        return token(value) if is_constant(value) else _LOOK_CLOSELY

    def open(
        self,
        model: Model,
        args: Values,
        kwargs: Kwargs,
        compiled: Compiled,
        slow: Callable[..., Any],
        threads: int | None,
    ) -> None:
        """Keep a fast path for calls of this kind, which `compiled` served; `slow` serves what it does not take."""
        signature, values, count = self._signature, (*args, *kwargs.values()), len(args)
        at = {n: k for k, n in enumerate((*signature.positional[:count], *kwargs))}
        marked = tuple((k, n) for n, k in at.items() if n in self._deciding)
        sites = self.models.setdefault(model, {})
        site = sites.setdefault((count, *kwargs), _Site(marked, self._glance(marked, values), {}, {}))
        key = self._key(site, values)
        names = [a.name for a in compiled.inputs]
        if key is None or key in site.ways or signature.has_bounds(names):
            return
        left_out = [n for n in names if n not in at]
        at |= {n: len(values) + k for k, n in enumerate(left_out)}
        places = [at[n] for n in names]
        again = SecondTry(
            [a.shape for a in compiled.inputs],
            _long_way(weakref.ref(model), values, count, tuple(kwargs), places, slow),  # the model is not kept alive
            alone=[k for k, n in enumerate(names) if n in signature.open],
        )
        fast_path = compiled.fast_path(signature.name, again, signature.unit_parts(model, names), threads)
        if fast_path is None:
            return
        again.of(fast_path)
        site.ways[key] = _Way(fast_path, _picker(places), tuple(signature.defaults[n] for n in left_out))
        if not kwargs and not marked and places == list(range(count)):
            sites[count] = fast_path

    def _glance(self, marked: Sequence[tuple[int, str]], first: Values) -> Callable[[Values], Hashable]:
        glances = [self._glance_at(k, name, first[k]) for k, name in marked]
        if len(glances) == 1:
            return glances[0]
        if len(glances) == 2:  # half of the time of what serves any number
            one, other = glances
            return lambda values: (one(values), other(values))
        return lambda values: tuple([glance(values) for glance in glances]) if glances else ()

    def _glance_at(self, k: int, name: str, first: Any) -> Callable[[Values], Hashable]:
        """Return what tells one argument's values apart: arrays and numbers are new objects at each call."""
        if name in self._optional:
            return lambda values: values[k] is None
        if name not in self._signature.fixed and type(first) in _FLOATS:
            return lambda values: type(values[k]) if type(values[k]) in _FLOATS else id(values[k])
        return lambda values: id(values[k])


def _picker(places: Sequence[int]) -> Callable[[Values], Sequence[Any]]:
    """Return what takes the values at some places; a slice is the fastest, and serves a single one, too."""
    start = places[0] if places else 0
    if list(places) == list(range(start, start + len(places))):
        return itemgetter(slice(start, start + len(places)))
    return itemgetter(*places)


def _is_hashable(values: Values) -> bool:
    try:
        hash(values)
    except TypeError:
        return False
    return True


def _long_way(
    known: Callable[[], Any],
    values: Values,
    count: int,
    keywords: tuple[str, ...],
    places: Sequence[int],
    slow: Callable[..., Any],
) -> Callable[..., Any]:
    """Return what a fast path leaves its arrays to: the call they came from, anew, with all else as it was.

    The arrays of the call that opened the fast path are not kept.
    """
    options = {k: value for k, value in enumerate(values) if k not in places}
    indices = range(len(values))  # `values` itself would keep the arrays

    def again(*arrays: Any) -> Any:
        given = {**options, **dict(zip(places, arrays, strict=True))}
        whole = [given[k] for k in indices]
        return slow(known(), tuple(whole[:count]), dict(zip(keywords, whole[count:], strict=True)))

    return again
