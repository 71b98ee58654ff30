"""Programs derived from a joint, kept by what the joint is made of and, of a user's class, by what its methods write.

A joint of cardan's own is known by its parameters. What a user's method does may change beside them, with a class
attribute or a constant of a notebook. So the method is traced, which takes a small part of the time of deriving from
it, and what it writes now tells whether what was derived before is still of it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from cardan._algebra.content import content_of
from cardan._compiler.targets.runner import Outline
from cardan._robot.joints.derivation.parameters import joint_program

if TYPE_CHECKING:
    from cardan._robot.joints.joint import Joint

T = TypeVar("T")


MOST = 1024  # results of one function


def kept(*methods: str) -> Callable[[Callable[[Any], T]], Callable[[Any], T]]:
    """Make a function of a joint remember its results.

    Args:
        methods: of the joint's, those the results depend on: keys of `_WRITTEN`.
    """

    def decorate(make: Callable[[Any], T]) -> Callable[[Any], T]:
        results: dict[Hashable, T] = {}

        def of(joint: Any) -> T:
            key = _known_by(joint, methods)
            if key is None:
                return make(joint)
            if key not in results:
                if len(results) >= MOST:
                    results.clear()
                results[key] = make(joint)
            return results[key]

        return functools.wraps(make)(of)

    return decorate


def _known_by(joint: Joint, methods: Sequence[str]) -> Hashable:
    """Return what a joint is known by; None if its parameters cannot be read, or its methods not be traced."""
    try:
        content = content_of(joint)
        written = () if content.digest else tuple([_digest(joint, m) for m in methods if _has_own(joint, m)])
    except Exception:  # the joint's code may raise anything; who derives something from it will say what
        return None
    return content, written


def _has_own(joint: Joint, method: str) -> bool:
    """Return whether a method is not the one every joint has, which derives its result from other methods."""
    from cardan._robot.joints.joint import Joint

    return getattr(type(joint), method) is not getattr(Joint, method)


def _digest(joint: Joint, method: str) -> str:
    return Outline.of(joint_program(method, joint, _WRITTEN[method], q=joint.nq, v=joint.nv)).digest


def _pose(joint: Joint, q: Any, v: Any) -> dict[str, Any]:
    X = joint.transform(q)
    rates = joint.velocity_to_configuration_derivative(q, v)  # the manifold may be a user's, too
    return {"pose": [*X.rotation.entries(), *X.translation], "rates": rates}


_WRITTEN: dict[str, Callable[..., dict[str, Any]]] = {
    "transform": _pose,
    "motion_subspace": lambda joint, q, v: {"S": [e for s in joint.motion_subspace(q) for e in s.scalars()]},
    "bias": lambda joint, q, v: {"bias": joint.bias(q, v).scalars()},
    "efforts": lambda joint, q, v: {"efforts": joint.efforts(q, v)},
}
"""What each method writes, as a program of q and v."""
