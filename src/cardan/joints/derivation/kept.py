"""Programs derived from a joint, kept by what the joint is made of and, of a user's class, by what its methods write.

A joint of cardan's own is known by its parameters. What a user's method does may change beside them, with a class
attribute or a constant of a notebook. So the method is traced, which takes a small part of the time of deriving from
it, and what it writes now tells whether what was derived before is still of it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from cardan.content import UnknownContentError, content_of
from cardan.joints.derivation.parameters import joint_program
from cardan.targets.runner import Outline

if TYPE_CHECKING:
    from cardan.joints.joint import Joint

T = TypeVar("T")


class _Key:
    """A joint, equal to those that are made of the same and write the same."""

    __slots__ = ("joint", "known_by")

    def __init__(self, joint: Any, known_by: Hashable) -> None:
        self.joint, self.known_by = joint, known_by

    def __eq__(self, other: object) -> bool:
        return type(other) is _Key and other.known_by == self.known_by

    def __hash__(self) -> int:
        return hash(self.known_by)


def kept(*methods: str) -> Callable[[Callable[[Any], T]], Callable[[Any], T]]:
    """Make a function of a joint remember its results.

    Args:
        methods: of the joint's, those the results depend on: keys of `_WRITTEN`.
    """

    def decorate(make: Callable[[Any], T]) -> Callable[[Any], T]:
        remembered = functools.lru_cache(maxsize=1024)(lambda key: make(key.joint))

        def of(joint: Any) -> T:
            known_by = _known_by(joint, methods)
            return make(joint) if known_by is None else remembered(_Key(joint, known_by))

        return functools.wraps(make)(of)

    return decorate


def _known_by(joint: Joint, methods: Sequence[str]) -> Hashable:
    """Return what a joint is known by; None if its parameters cannot be read, or its methods not be traced."""
    try:
        content = content_of(joint)
        written = () if content.digest else tuple([_digest(joint, m) for m in methods if _has_own(joint, m)])
    except UnknownContentError:
        return None
    except Exception:  # the joint's code may raise anything; who derives something from it will say what
        return None
    return content, written


def _has_own(joint: Joint, method: str) -> bool:
    """Return whether a method is not the one every joint has, which derives its result from other methods."""
    from cardan.joints.joint import Joint

    return getattr(type(joint), method) is not getattr(Joint, method)


def _digest(joint: Joint, method: str) -> str:
    program = joint_program(method, joint, _WRITTEN[method], q=joint.nq, v=joint.nv)
    return Outline.of(program).digest


def _transform(joint: Joint, q: Any, v: Any) -> dict[str, list[Any]]:
    X = joint.transform(q)
    rates = joint.velocity_to_configuration_derivative(q, v)
    return {"pose": [*X.rotation.entries(), *X.translation], "rates": list(rates)}


def _subspace(joint: Joint, q: Any, v: Any) -> dict[str, list[Any]]:
    return {"subspace": [e for column in joint.motion_subspace(q) for e in column.scalars()]}


def _bias(joint: Joint, q: Any, v: Any) -> dict[str, list[Any]]:
    return {"bias": list(joint.bias(q, v).scalars())}


def _efforts(joint: Joint, q: Any, v: Any) -> dict[str, list[Any]]:
    return {"efforts": list(joint.efforts(q, v))}


_WRITTEN: dict[str, Callable[..., dict[str, list[Any]]]] = {
    "transform": _transform,
    "motion_subspace": _subspace,
    "bias": _bias,
    "efforts": _efforts,
}
"""What each method writes, as a program of q and v."""
