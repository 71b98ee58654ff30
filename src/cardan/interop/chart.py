"""One joint's coordinates as another library writes them: the protocol, and what most joints need.

A chart maps the joint's q to q' and back, and has T with v' = T v, the joint's block of `algorithms.Coordinates`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from cardan.joints import Joint, Mimic, UnboundedRevolute
from cardan.manifolds import UnitComplex
from cardan.scalar import atan2, cos, sin
from cardan.spatial import Scalar

Scalars = Sequence[Scalar]
Rows = list[list[Scalar]]
Circle = Literal["angle", "cos_sin", "sin_cos"]
Axes = Literal["child", "parent"]


class Chart(ABC):
    """How a joint's coordinates are written there."""

    joint: Joint
    nq: int
    nv: int

    @abstractmethod
    def there(self, q: Scalars) -> list[Scalar]:
        """Return q'."""

    @abstractmethod
    def here(self, q: Scalars) -> list[Scalar]:
        """Return q from q'."""

    @abstractmethod
    def matrix(self, q: Scalars) -> Rows:
        """Return the rows of T at q."""

    @abstractmethod
    def inverse(self, q: Scalars) -> Rows:
        """Return the rows of T^-1 at q."""

    @property
    @abstractmethod
    def note(self) -> str:
        """What is written otherwise there; empty if nothing is."""


def identity(n: int) -> Rows:
    """Return the rows of the identity matrix."""
    return [[float(i == j) for j in range(n)] for i in range(n)]


@dataclass(frozen=True)
class Same(Chart):
    """The same coordinates there."""

    joint: Joint

    @property
    def nq(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Number of coordinates there."""
        return self.joint.nq

    @property
    def nv(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Number of velocities there."""
        return self.joint.nv

    def there(self, q: Scalars) -> list[Scalar]:
        """Return q."""
        return list(q)

    def here(self, q: Scalars) -> list[Scalar]:
        """Return q."""
        return list(q)

    def matrix(self, q: Scalars) -> Rows:
        """Return the identity."""
        return identity(self.nv)

    def inverse(self, q: Scalars) -> Rows:
        """Return the identity."""
        return identity(self.nv)

    @property
    def note(self) -> str:
        """Nothing."""
        return ""


@dataclass(frozen=True)
class Turn(Chart):
    """A rotation about an axis, as an angle or a point on the unit circle; what counts turns here forgets them there.

    Args:
        joint: a `Revolute` or `UnboundedRevolute`.
        form: how it is written there.
    """

    joint: Joint
    form: Circle
    nv = 1

    @property
    def nq(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Number of coordinates there."""
        return 1 if self.form == "angle" else 2

    @property
    def own_form(self) -> Circle:
        """How it is written here."""
        return self.joint.order if isinstance(self.joint, UnboundedRevolute) else "angle"

    def there(self, q: Scalars) -> list[Scalar]:
        """Return q in the form there."""
        return rewritten(q, self.own_form, self.form)

    def here(self, q: Scalars) -> list[Scalar]:
        """Return q in the form here."""
        return rewritten(q, self.form, self.own_form)

    def matrix(self, q: Scalars) -> Rows:
        """Return 1: the velocity is the angle's rate in any form."""
        return [[1.0]]

    def inverse(self, q: Scalars) -> Rows:
        """Return 1."""
        return [[1.0]]

    @property
    def note(self) -> str:
        """What is written otherwise there."""
        names = {"angle": "the angle", "cos_sin": "(cos, sin)", "sin_cos": "(sin, cos)"}
        return "" if self.form == self.own_form else f"{names[self.form]} for {names[self.own_form]}"


def rewritten(q: Scalars, form: Circle, other: Circle) -> list[Scalar]:
    """Return a point on the circle in another form."""
    if form == other:
        return list(q)
    if form == "angle":
        return list(UnitComplex(other).pack(cos(q[0]), sin(q[0])))  # pyright: ignore[reportArgumentType]
    c, s = UnitComplex(form).cos_sin(q)
    return [atan2(s, c)] if other == "angle" else list(UnitComplex(other).pack(c, s))


@dataclass(frozen=True)
class Follower(Chart):
    """A mimic joint with coordinates of its own there. The q and v here are those of its primary.

    Args:
        mimic: the joint.
        inner: the chart of the joint that mimics.
    """

    mimic: Mimic
    inner: Chart

    @property
    def joint(self) -> Joint:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The mimic joint."""
        return self.mimic

    @property
    def nq(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Number of coordinates there."""
        return self.inner.nq

    @property
    def nv(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Number of velocities there."""
        return self.inner.nv

    def there(self, q: Scalars) -> list[Scalar]:
        """Return its own coordinates from the primary's."""
        return self.inner.there(self.mimic.inner_configuration(q))

    def here(self, q: Scalars) -> list[Scalar]:
        """Return nothing: the primary's coordinates are taken from the primary."""
        return []

    def matrix(self, q: Scalars) -> Rows:
        """Return the multiplier times T."""
        T = self.inner.matrix(self.mimic.inner_configuration(q))
        return [[self.mimic.multiplier * e for e in row] for row in T]

    def inverse(self, q: Scalars) -> Rows:
        """Return zero: the primary's velocity is taken from the primary."""
        return [[0.0] * self.nv for _ in range(self.mimic.nv)]

    @property
    def note(self) -> str:
        """What is written otherwise there."""
        m = self.mimic
        return f"coordinates of its own: {m.multiplier:g} {m.primary} + {m.offset:g}" + self.inner.note
