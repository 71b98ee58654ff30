"""The D6 joint: any of three translations, then any of three rotations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from cardan._algebra.errors import ParameterError
from cardan._algebra.manifolds import Euclidean
from cardan._algebra.spatial import SE3, Scalar, Vector3, unit_vector
from cardan._algebra.spatial.davenport import angles_about_axes
from cardan._robot.joints.catalogue.prismatic import Prismatic
from cardan._robot.joints.catalogue.revolute import Revolute
from cardan._robot.joints.joint import Axis, Scalars, computed
from cardan._robot.joints.serial import ChainJoint, Links


@dataclass(frozen=True, slots=True)
class D6(ChainJoint):
    """Translations along up to three axes of the parent, then rotations about up to three axes, in order.

    Each rotation axis is carried along by the rotations before it. q: displacements [m], then angles [rad]; v: their
    rates. This is Newton's D6 joint; axes need not be orthogonal, but must be independent.

    Args:
        linear: axes of translation, in the parent frame; normalised.
        angular: axes of rotation, each in the frame left by the rotations before it; normalised.

    Examples:
        >>> cardan.joints.D6(linear=[(1.0, 0.0, 0.0)], angular=[(0.0, 0.0, 1.0)]).nv
        2
    """

    linear: Sequence[Axis] = ()
    angular: Sequence[Axis] = ()

    def __post_init__(self) -> None:
        for name in ("linear", "angular"):
            axes = getattr(self, name)
            if not isinstance(axes, (list, tuple, np.ndarray)) or len(axes) > 3:
                raise ParameterError(f"{name} axes of a D6 joint", got=axes, expected="a sequence of at most 3 axes")
            unit = tuple(unit_vector(axis, f"{name} axis {i} of a D6 joint") for i, axis in enumerate(axes))
            object.__setattr__(self, name, unit)
        _check_independent(self.linear)
        _check_neighbours(self.angular)

    @computed
    def manifold(self) -> Euclidean:
        """As many lengths and angles as there are axes."""
        reach = (1.0,) * len(self.linear) + (np.pi,) * len(self.angular)
        return Euclidean(len(reach), reach=reach)

    @property
    def links(self) -> Links:
        return (*((Prismatic(a), None) for a in self.linear), *((Revolute(a), None) for a in self.angular))

    def nearest_configuration(self, X_pc: SE3, near: Scalars | None = None) -> tuple[Scalar, ...]:
        lengths = tuple(along.dot(X_pc.translation) for along in _reciprocal(tuple(self.linear)))
        angles = None if near is None else near[len(lengths) :]
        return (*lengths, *angles_about_axes(tuple(self.angular), X_pc.rotation, angles))

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        lengths = tuple(f"displacement{i}" for i in range(len(self.linear)))
        return lengths + tuple(f"angle{i}" for i in range(len(self.angular)))


def _reciprocal(axes: Sequence[Vector3]) -> Sequence[Vector3]:
    """Return the vectors, within what the axes span, whose product with one axis is 1 and with the others 0."""
    if len(axes) < 2:
        return axes
    a, b = axes[:2]
    # Of two axes the normal is the third: then components along it do not count.
    c = axes[2] if len(axes) == 3 else a.cross(b)
    volume = a.cross(b).dot(c)
    return [u * (1.0 / volume) for u in (b.cross(c), c.cross(a), a.cross(b))][: len(axes)]


def _check_independent(axes: Sequence[Vector3]) -> None:
    if len(axes) > 1 and np.linalg.matrix_rank(np.array(axes, dtype=float), tol=1e-6) < len(axes):
        got = [tuple(a) for a in axes]
        raise ParameterError("linear axes of a D6 joint", got=got, expected="linearly independent axes")


def _check_neighbours(axes: Sequence[Vector3]) -> None:
    for first, second in pairwise(axes):
        if first.cross(second).norm_squared() < 1e-12:
            got = [tuple(a) for a in axes]
            raise ParameterError("angular axes of a D6 joint", got=got, expected="neighbouring axes not parallel")
