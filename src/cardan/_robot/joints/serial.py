"""A chain of joints without bodies in between, seen as one: what composite, universal and D6 joints have in common.

    X = P_1 X_1(q_1) P_2 X_2(q_2) ...          S = [Ad(X_tail,i)^-1 S_i]_i
    bias: from the last joint to the first, with the twists of the later joints carrying the earlier ones.

Source: Featherstone (2008), section 4.4; the recursion is derived in FACTS, section 3.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

from cardan._algebra.spatial import SE3, Motion, Scalar
from cardan._robot.joints.derivation.programs import split
from cardan._robot.joints.joint import Joint, Scalars

# Joints, each with the pose that comes before it (None for the identity).
Links = Sequence[tuple[Any, SE3 | None]]


def _split(links: Links, q: Sequence[Scalar], size: str) -> list[Sequence[Scalar]]:
    return split(q, *(getattr(joint, size) for joint, _ in links))[:-1]


def chain_transform(links: Links, q: Sequence[Scalar]) -> SE3:
    """Return the product of the placements and transforms."""
    X = None
    for (joint, placement), part in zip(links, _split(links, q, "nq"), strict=True):
        for factor in (placement, joint.transform(part)):
            X = factor if X is None else X if factor is None else X @ factor
    return X if X is not None else SE3.identity()


def _from_last(links: Links, q: Sequence[Scalar]) -> Iterator[tuple[Any, Sequence[Scalar], SE3]]:
    """Yield, from the last joint to the first, the joint, its q and the pose of the chain's end behind it."""
    tail = SE3.identity()
    for (joint, placement), part in reversed(list(zip(links, _split(links, q, "nq"), strict=True))):
        yield joint, part, tail
        tail = joint.transform(part) @ tail
        tail = tail if placement is None else placement @ tail


def chain_subspace(links: Links, q: Sequence[Scalar]) -> list[Motion]:
    """Return the columns of S at the end of the chain."""
    blocks = [[tail.inverse_act(s) for s in joint.motion_subspace(part)] for joint, part, tail in _from_last(links, q)]
    return [column for block in reversed(blocks) for column in block]


def chain_bias(links: Links, q: Sequence[Scalar], v: Sequence[Scalar]) -> Motion:
    """Return (dS/dt) v at the end of the chain."""
    # From the end: what comes behind a joint carries its columns along, so its rate needs the twists behind.
    twist_behind, bias = Motion.zero(), Motion.zero()
    rates = _split(links, v, "nv")
    for (joint, part, tail), rate in zip(_from_last(links, q), reversed(rates), strict=True):
        twist = tail.inverse_act(joint.twist(part, rate))
        bias = bias + tail.inverse_act(joint.bias(part, rate)) - twist_behind.cross(twist)
        twist_behind = twist_behind + twist
    return bias


class ChainJoint(Joint):
    """A joint that is a chain of others; implementations say which."""

    @property
    @abstractmethod
    def links(self) -> Links:
        """The joints in a row, each with the pose that comes before it (None for the identity)."""

    def transform(self, q: Scalars) -> SE3:
        return chain_transform(self.links, q)

    def motion_subspace(self, q: Scalars) -> list[Motion]:
        return chain_subspace(self.links, q)

    def bias(self, q: Scalars, v: Scalars) -> Motion:
        return chain_bias(self.links, q, v)

    def efforts(self, q: Scalars, v: Scalars) -> list[Scalar]:
        parts = zip(self.links, _split(self.links, q, "nq"), _split(self.links, v, "nv"), strict=True)
        return [e for (joint, _), own, rates in parts for e in joint.efforts(own, rates)]

    @property
    def has_efforts(self) -> bool:
        return any(joint.has_efforts for joint, _ in self.links)
