"""The chart of joints that move a body in a plane."""

from __future__ import annotations

from dataclasses import dataclass

from cardan.interop.chart import Axes, Chart, Circle, Rows, Scalars, identity, rewritten
from cardan.joints import Joint, Planar
from cardan.spatial import Scalar


@dataclass(frozen=True)
class Plane(Chart):
    """A motion in a plane.

    Args:
        joint: a `Planar` or `PlanarAngle`.
        form: how the heading is written there.
        axes: of the linear velocity there, in the child's or the parent's axes; in the parent's it is dx/dt, dy/dt.
    """

    joint: Joint
    form: Circle
    axes: Axes
    nv = 3

    @property
    def nq(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Number of coordinates there."""
        return 3 if self.form == "angle" else 4

    @property
    def own_form(self) -> Circle:
        """How the heading is written here."""
        return "cos_sin" if isinstance(self.joint, Planar) else "angle"

    def there(self, q: Scalars) -> list[Scalar]:
        """Return the position and the heading in the form there."""
        return [*q[:2], *rewritten(q[2:], self.own_form, self.form)]

    def here(self, q: Scalars) -> list[Scalar]:
        """Return the position and the heading in the form here."""
        return [*q[:2], *rewritten(q[2:], self.form, self.own_form)]

    def matrix(self, q: Scalars) -> Rows:
        """Return the matrix from v to the velocity there."""
        if self.axes == "child":
            return identity(3)
        c, s = self.joint.manifold.cos_sin(q)  # pyright: ignore[reportAttributeAccessIssue]
        return [[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]

    def inverse(self, q: Scalars) -> Rows:
        """Return its inverse, its transpose."""
        return [list(column) for column in zip(*self.matrix(q), strict=True)]

    @property
    def note(self) -> str:
        """What is written otherwise there."""
        told = [] if self.form == self.own_form else [f"heading as {self.form.replace('_', ', ')}"]
        told += ["linear velocity in parent axes"] if self.axes == "parent" else []
        return "; ".join(told)
