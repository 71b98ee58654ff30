"""From a call to its door: what a later call of the same kind may skip.

Calls are of one kind if they give the same arguments by position and by keyword, and the same options. The first one
goes the long way and leaves a door (`Runner.door`): a function that takes the arrays as they come. Later ones pick the
arrays out of their arguments and go through it.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from cardan.by_identity import ByIdentity
from cardan.functions.compiled import Compiled
from cardan.functions.signature import Signature, is_constant, is_number, token
from cardan.model import Model

Args = tuple[Any, ...]
Kwargs = Mapping[str, Any]
Place = int | str  # of an argument: its position, or its keyword
_LOOK_CLOSELY: list[Any] = []  # the mark of arrays of indices, and of objects that may change: no key of a dictionary


class _Site(NamedTuple):
    """Calls that give the same arguments by position and by keyword.

    Attributes:
        marked: where arguments are that decide which program serves the call, and their names.
        doors: by what these arguments say: the door, where its arrays are, and, where numbers are among them, their
            defaults.
    """

    marked: tuple[tuple[Place, str], ...]
    doors: dict[Any, tuple[Callable[..., Any], tuple[Place, ...], Kwargs | None]]


class CallSites:
    """The doors of one function.

    Attributes:
        models: of each model, while it lives: sites by the number of positional arguments and the keywords;
            where arrays, and nothing else, are given by position, a door by their number alone.
    """

    __slots__ = ("_deciding", "_optional", "_signature", "models")

    def __init__(self, signature: Signature) -> None:
        self._signature = signature
        self._optional = frozenset(n for n in signature.shapes if signature.arguments[n].default is None)
        self._deciding = frozenset(signature.open) | self._optional
        self.models: ByIdentity[Model, dict[Any, Any]] = ByIdentity()

    def call(self, sites: Mapping[Any, Any], model: Model, args: Args, kwargs: Kwargs, slow: Callable[..., Any]) -> Any:
        """Return the result of a call: through its door if there is one, else by `slow(model, args, kwargs)`."""
        site = sites.get((len(args), *kwargs))
        found = site.doors.get(self._decided(site, args, kwargs)) if site is not None else None
        if found is None:
            return slow(model, args, kwargs)
        door, places, defaults = found
        if defaults is None:
            return door(*[args[p] if type(p) is int else kwargs[p] for p in places])  # pyright: ignore
        named = {**defaults, **kwargs}
        return door(*[_array(args[p] if type(p) is int else named[p]) for p in places])  # pyright: ignore

    def _decided(self, site: _Site, args: Args, kwargs: Kwargs) -> Any:
        """Return what the deciding arguments of a call say; None where they must be looked at closely."""
        if not site.marked:
            return ()
        key = tuple([self._mark(n, args[p] if type(p) is int else kwargs[p]) for p, n in site.marked])  # pyright: ignore
        try:
            hash(key)
        except TypeError:
            return None
        return key

    def _mark(self, name: str, value: Any) -> Any:
        """Return what of an argument decides which program serves the call."""
        if type(value) is str:
            return value
        if name in self._optional:
            return value is None
        if name not in self._signature.fixed and is_number(value):
            return type(value)
        return token(value) if is_constant(value) else _LOOK_CLOSELY

    def open(self, model: Model, args: Args, kwargs: Kwargs, compiled: Compiled, slow: Callable[..., Any]) -> None:
        """Keep a door for calls of this kind.

        Args:
            model: the model called with.
            args: the arguments by position ...
            kwargs: ... and by keyword.
            compiled: the program that served them.
            slow: `slow(model, args, kwargs)` serves what the door does not.
        """
        at: dict[str, Place] = {n: k for k, n in enumerate(self._signature.positional[: len(args)])}
        at |= {n: n for n in kwargs}
        marked = tuple((p, n) for n, p in at.items() if n in self._deciding)
        sites = self.models.setdefault(model, {})
        site = sites.setdefault((len(args), *kwargs), _Site(marked, {}))
        key = self._decided(site, args, kwargs)
        if key is None or key in site.doors:
            return
        places = tuple(at.get(a.name, a.name) for a in compiled.inputs)
        parts = self._signature.unit_parts(model, [a.name for a in compiled.inputs])
        door = compiled.door(self._signature.name, _long_way(weakref.ref(model), args, kwargs, places, slow), parts)
        if door is None:
            return
        numbers = [a.name for a in compiled.inputs if not a.shape]
        defaults = {n: self._signature.arguments[n].default for n in numbers if n not in at}
        site.doors[key] = (door, places, defaults if numbers else None)
        if not kwargs and not marked and not numbers and places == tuple(range(len(args))):
            sites[len(args)] = door


def _long_way(
    known: Callable[[], Any], args: Args, kwargs: Kwargs, places: tuple[Place, ...], slow: Callable[..., Any]
) -> Callable[..., Any]:
    """Return what a door leaves its arrays to: the call they came from, anew, with all else as it was.

    The arrays of the call that opened the door are not kept.
    """
    by_position = {k: value for k, value in enumerate(args) if k not in places}
    by_keyword = {n: value for n, value in kwargs.items() if n not in places}

    def again(*arrays: Any) -> Any:
        given = {**by_position, **by_keyword, **dict(zip(places, arrays, strict=True))}
        return slow(known(), tuple(given[k] for k in range(count)), {n: given[n] for n in keywords})

    count, keywords = len(args), tuple(kwargs)
    return again


def _array(value: Any) -> Any:
    return np.asarray(value) if isinstance(value, (float, np.floating)) else value
