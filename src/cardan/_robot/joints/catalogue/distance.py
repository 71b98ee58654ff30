"""The distance joint: two bodies joined by a rope or a rod, which bounds how far apart they are."""

from __future__ import annotations

import math
from dataclasses import dataclass

from cardan._algebra.errors import ParameterError
from cardan._algebra.manifolds import SE3 as RigidMotions
from cardan._algebra.scalar import is_finite, maximum, minimum, sqrt, where
from cardan._algebra.spatial import Scalar, Vector3
from cardan._algebra.spatial.rotations import matrix_from_quaternion_xyzw
from cardan._robot.joints.catalogue.free_flyer import FloatingJoint
from cardan._robot.joints.joint import Scalars


@dataclass(frozen=True, slots=True)
class Distance(FloatingJoint):
    """Any motion, with bounds on the distance of the two origins. q, v: those of the free flyer.

    q: position of the child in the parent frame [m], then unit quaternion (x, y, z, w). v: twist of the child in child
    axes at its origin. Without a stiffness the bounds are a unilateral constraint, `constraint(q)`, which a solver must
    enforce. Like every limit they change neither the transform nor v. With a stiffness the rope or rod gives way:
    beyond a bound it pulls back along the line between the origins, and never further than to the bound. These forces
    are its `efforts`.

    Throughout:
        q: coordinates of the free flyer, seven numbers [m, -].

    Source: Newton's distance joint (newton-physics, articulations).

    Args:
        minimum: smallest distance of the origins [m].
        maximum: largest distance [m]; None for no bound. Equal bounds are a rod between two ball joints.
        stiffness: stiffness of the bounds [N/m]; None for bounds that do not give way.
        damping: damping of the distance's rate beyond a bound with a stiffness [N s/m].

    Examples:
        >>> rope = cardan.joints.Distance(0.1, 0.5)
        >>> len(rope.constraint(rope.neutral()))
        3
    """

    minimum: float = 0.0
    maximum: float | None = None
    stiffness: float | None = None
    damping: float = 0.0
    manifold = RigidMotions()
    _names_of_q = ("px", "py", "pz", "x", "y", "z", "w")

    def __post_init__(self) -> None:
        try:
            lower, upper = float(self.minimum), math.inf if self.maximum is None else float(self.maximum)
        except (TypeError, ValueError, OverflowError):
            lower = upper = math.nan
        if not (0.0 <= lower <= upper and math.isfinite(lower) and upper > 0.0):
            got = (self.minimum, self.maximum)
            expected = "0 <= minimum <= maximum [m], not both 0, or a maximum of None"
            raise ParameterError("minimum and maximum of a distance joint", got=got, expected=expected)
        object.__setattr__(self, "minimum", lower)
        object.__setattr__(self, "maximum", None if upper == math.inf else upper)
        object.__setattr__(self, "damping", _non_negative("damping", self.damping))
        if self.stiffness is not None:
            object.__setattr__(self, "stiffness", _non_negative("stiffness", self.stiffness))

    def constraint(self, q: Scalars) -> tuple[Scalar, float, float]:
        """Return the distance [m] and its bounds from below and above; its gradient does not exist at distance 0."""
        p = Vector3(*q[:3])
        return sqrt(p.norm_squared()), self.minimum, math.inf if self.maximum is None else self.maximum

    def efforts(self, q: Scalars, v: Scalars) -> tuple[Scalar, ...]:
        """Return the force [N] of a rope or rod that gives way, on the child's origin in child axes, and no moment."""
        if self.stiffness is None:
            return (0.0,) * 6
        R, p = matrix_from_quaternion_xyzw(tuple(q[3:])), Vector3(*q[:3])
        square = p.norm_squared()
        # Where the origins meet, the line between them has no direction and the force none: the guards keep root and
        # division finite there, on both branches, and the derivatives with them.
        apart = square > 0.0
        d = where(apart, sqrt(where(apart, square, 1.0)), 0.0)
        along = R.transpose_apply(p) * (1.0 / where(apart, d, 1.0))
        force = along * self._pull(self.stiffness, d, along.dot(Vector3(*v[:3])))
        return (*force, 0.0, 0.0, 0.0)

    @property
    def has_efforts(self) -> bool:
        return self.stiffness is not None

    def _pull(self, stiffness: float, d: Scalar, rate: Scalar) -> Scalar:
        """Return the force along the line, outwards; a damper alone never pulls beyond the bound."""
        total: Scalar = 0.0
        if self.minimum > 0.0:
            out = stiffness * (self.minimum - d) - self.damping * rate
            total = where(d < self.minimum, maximum(out, 0.0), total)
        if self.maximum is not None:
            back = stiffness * (self.maximum - d) - self.damping * rate
            total = where(d > self.maximum, minimum(back, 0.0), total)
        return total


def _non_negative(name: str, value: float) -> float:
    if not is_finite(value) or value < 0.0:
        raise ParameterError(f"{name} of a distance joint", got=value, expected="0 or more")
    return float(value)
