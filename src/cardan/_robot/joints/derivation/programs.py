"""Programs of a joint: traced with its parameters as numbers or symbols, and kept for the next joint of its kind.

A joint with symbols among its parameters belongs to one trace alone. The same joint with slots in their place stands
for all of them: programs are made of that, and begin with the scalars that belong in the slots.

Programs are kept by what the joint is made of. A joint of cardan's own is known by its parameters. What a user's method
does may change beside them, with a class attribute or a constant of a notebook. So the method is traced, which takes a
small part of the time of deriving from it, and what it writes now tells whether what was derived before still holds.

Here and in the other modules of this folder a joint is `Any`: the module of `Joint` imports them.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, TypeVar, cast

import numpy as np

from cardan._algebra.arrays import symbolic
from cardan._algebra.by_fields import ByFields
from cardan._algebra.content import attributes, content_of
from cardan._algebra.errors import ParameterError
from cardan._algebra.scalar import is_symbol
from cardan._algebra.spatial import SE3, Scalar
from cardan._compiler.program import Array, Op, Program, trace
from cardan._compiler.targets.runner import Outline

T = TypeVar("T")

MOST = 1024  # results of one function that are kept: a robot has dozens of joints, of which most are alike


@dataclasses.dataclass(frozen=True, slots=True, eq=False, repr=False)
class EmptySlot(ByFields):
    """Where the k-th symbol was."""

    k: int


def open_slots(joint: Any) -> tuple[Any, tuple[Scalar, ...]]:
    """Return the joint with slots in place of its symbols, and these; a joint of numbers is returned as it is."""
    found: list[Scalar] = []

    def open_leaf(leaf: Any) -> Any:
        if not is_symbol(leaf):
            return leaf
        found.append(leaf)
        return EmptySlot(len(found) - 1)

    template = _mapped(joint, open_leaf)
    return (template, tuple(found)) if found else (joint, ())


def fill_slots(template: Any, scalars: Sequence[Scalar]) -> Any:
    """Return the joint with scalars in its slots."""
    return _mapped(template, lambda leaf: scalars[leaf.k] if type(leaf) is EmptySlot else leaf)


def count_slots(template: Any) -> int:
    """Return the number of slots."""
    count = 0

    def see(leaf: Any) -> Any:
        nonlocal count
        count += type(leaf) is EmptySlot
        return leaf

    _mapped(template, see)
    return count


def inputs(template: Any, **sizes: int) -> tuple[Array, ...]:
    """Return the inputs of a joint's program: the scalars in its slots, if it has any, and vectors."""
    count = count_slots(template)
    own = (Array("parameters", (count,)),) if count else ()
    return (*own, *(Array(name, (size,)) for name, size in sizes.items()))


def split_inputs(template: Any, symbols: Sequence[Scalar], *sizes: int) -> tuple[Any, int, list[Any]]:
    """Return the joint with its slots filled, how many symbols that took, and the vectors that follow."""
    count = count_slots(template)
    joint = fill_slots(template, symbols[:count]) if count else template
    return joint, count, split(symbols[count:], *sizes)[: len(sizes)]


def split(numbers: Sequence[Any], *sizes: int) -> list[Any]:
    """Return parts of these sizes, one after the other, and the rest."""
    parts, start = [], 0
    for size in sizes:
        parts.append(numbers[start : start + size])
        start += size
    return [*parts, numbers[start:]]


def joint_program(
    name: str, template: Any, results: Callable[..., Mapping[str, Sequence[Any] | np.ndarray]], **sizes: int
) -> Program:
    """Return the program of what a function of the joint, its slots filled, and vectors of some sizes returns."""

    def of_symbols(*arrays: Any) -> dict[str, np.ndarray]:
        joint, _, vectors = split_inputs(template, [e for array in arrays for e in array], *sizes.values())
        return {key: symbolic(entries, (len(entries),)) for key, entries in results(joint, *vectors).items()}

    return trace(name, of_symbols, inputs(template, **sizes))


def is_zero_as_written(program: Program) -> bool:
    """Return whether all that a program computes is 0, whatever it is given."""
    return all(i.op is Op.CONST and i.value == 0.0 for i in program.instructions)


def pose_entries(X: SE3) -> list[Any]:
    """Return the twelve entries of a pose, rotation first."""
    return [*X.rotation.entries(), *X.translation]


def keep_by_joint(*methods: str) -> Callable[[Callable[[Any], T]], Callable[[Any], T]]:
    """Make a function of a joint, or of several, remember its results, which depend on these methods (`_WRITTEN`)."""

    def decorate(make: Callable[[Any], T]) -> Callable[[Any], T]:
        results: dict[Hashable, T] = {}

        def of(joint: Any) -> T:
            key = _known_by(joint, methods)
            if key is None:
                return make(joint)
            if key not in results:
                # All at once: a session that makes joints without end is rare, and derives again in milliseconds.
                if len(results) >= MOST:
                    results.clear()
                results[key] = make(joint)
            return results[key]

        return functools.wraps(make)(of)

    return decorate


def _known_by(joint: Any, methods: Sequence[str]) -> Hashable:
    """Return what a joint is known by; None if its parameters cannot be read, or its methods not be traced."""
    try:
        content = content_of(joint)
        if content.digest:  # a class of cardan's own: its code does not change
            return content, ()
        own = [(j, m) for j in (joint if isinstance(joint, tuple) else (joint,)) for m in methods if j._has_own(m)]
        written = [joint_program(m, j, _WRITTEN[m], q=j.nq, v=j.nv) for j, m in own]
    except Exception:  # the joint's code may raise anything; who derives something from it will say what
        return None
    return content, tuple(Outline.of(program).digest for program in written)


def _pose(joint: Any, q: Any, v: Any) -> dict[str, Any]:
    rates = joint.velocity_to_configuration_derivative(q, v)  # the manifold may be a user's, too
    return {"pose": pose_entries(joint.transform(q)), "rates": rates}


# What each method writes, as a program of q and v.
_WRITTEN: dict[str, Callable[..., dict[str, Any]]] = {
    "transform": _pose,
    "motion_subspace": lambda joint, q, v: {"S": [e for s in joint.motion_subspace(q) for e in s.scalars()]},
    "bias": lambda joint, q, v: {"bias": joint.bias(q, v).scalars()},
    "efforts": lambda joint, q, v: {"efforts": joint.efforts(q, v)},
}


def parameter(joint: Any, path: str) -> np.ndarray:
    """Return a parameter that a joint is made from, of numbers; dots lead into joints within, as in `"joint.radii"`."""
    owner, value = joint, joint
    try:
        for step in path.split("."):
            owner, value = value, _get(value, step)
    except (AttributeError, ValueError, IndexError):
        names = ", ".join(map(repr, joint.parameters())) or "none"
        expected = f"one of its parameters ({names}), or a path into one"
        raise ParameterError(f"parameter of {type(joint).__name__}", got=path, expected=expected) from None
    name = path.rpartition(".")[2]
    # What a constructor does not take is computed from others, so that another value of it would contradict them.
    own = (
        {f.name for f in dataclasses.fields(owner) if f.init} if dataclasses.is_dataclass(owner) else attributes(owner)
    )
    if isinstance(owner, (tuple, list)) or name in own:
        try:
            return np.array(value, dtype=float)
        except (TypeError, ValueError):
            pass
    expected = "a parameter the joint is made from that is a number or nested numbers"
    raise ParameterError(f"parameter {path!r} of {type(joint).__name__}", got=value, expected=expected)


def with_parameter(joint: Any, path: str, array: Any) -> Any:
    """Return the joint with other scalars for a parameter, unchecked: the joint's own constructor does not run."""
    head, _, rest = path.partition(".")
    return _with(joint, head, rest, np.asarray(array, dtype=object))


def _with(thing: Any, head: str, rest: str, array: np.ndarray) -> Any:
    old = _get(thing, head)
    if rest:
        step, _, further = rest.partition(".")
        new = _with(old, step, further, array)
    else:
        flat = iter(array.ravel().tolist())
        new = next(flat) if array.ndim == 0 else _mapped(old, lambda _: next(flat))
    if isinstance(thing, (tuple, list)):
        return _sequence(thing, [new if str(k) == head else e for k, e in enumerate(thing)])
    return replaced(thing, **{head: new})


def _get(thing: Any, step: str) -> Any:
    return thing[int(step)] if isinstance(thing, (tuple, list)) else getattr(thing, step)


def _mapped(thing: Any, leaf: Callable[[Any], Any], done: dict[int, Any] | None = None) -> Any:
    """Return a joint or a part of one with its leaves replaced; parts without change are the same objects.

    What several joints have in common, as those of a cluster do, is gone through once.
    """
    done = {} if done is None else done
    if isinstance(thing, (tuple, list)):
        parts = [_mapped(e, leaf, done) for e in thing]
        same = all(a is b for a, b in zip(parts, thing, strict=True))
        return thing if same else _sequence(thing, parts)
    own = _own_parts(thing)
    if own is None:
        return leaf(thing)
    if id(thing) not in done:
        new = {name: _mapped(value, leaf, done) for name, value in own.items()}
        changed = {name: value for name, value in new.items() if value is not own[name]}
        done[id(thing)] = replaced(thing, **changed) if changed else thing
    return done[id(thing)]


def _own_parts(thing: Any) -> dict[str, Any] | None:
    """Return what a dataclass or a joint is made of; None for a leaf."""
    if dataclasses.is_dataclass(thing) and not isinstance(thing, (type, EmptySlot)):
        return {f.name: getattr(thing, f.name) for f in dataclasses.fields(thing)}
    is_joint = hasattr(thing, "motion_subspace") and not isinstance(thing, type)
    return cast("Any", thing).parameters() if is_joint else None


def _sequence(kind: Any, parts: list[Any]) -> Any:
    # Not by the class's constructor: one that normalises, as of an axis, would compute with what is put in.
    return parts if isinstance(kind, list) else tuple.__new__(type(kind), parts)


def replaced(record: Any, **changes: Any) -> Any:
    """Return a copy of a record with other values in some fields, unchecked: its constructor does not run."""
    # A frozen dataclass refuses assignment, and its constructor would refuse symbols.
    twin = copy.copy(record)
    for name, value in changes.items():
        object.__setattr__(twin, name, value)
    return twin
