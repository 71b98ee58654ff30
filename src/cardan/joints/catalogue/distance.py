"""The distance joint: two bodies joined by a rope or a rod, which bounds how far apart they are."""

from __future__ import annotations

import math
from dataclasses import dataclass

from cardan.errors import ParameterError
from cardan.joints.catalogue.floating import FloatingJoint
from cardan.joints.joint import Scalars
from cardan.manifolds import SE3 as RigidMotions
from cardan.scalar import sqrt
from cardan.spatial import Scalar, Vector3


@dataclass(frozen=True, slots=True)
class Distance(FloatingJoint):
    """Any motion, with bounds on the distance of the two origins. q, v: those of the free flyer.

    q: position of the child in the parent frame [m], then unit quaternion (x, y, z, w). v: twist of the child in child
    axes at its origin. The bounds are a unilateral constraint, `constraint(q)`, for a solver to honour: like every
    limit they change neither the transform nor v, and no algorithm here enforces them.

    Source: Newton's distance joint (newton-physics, articulations).

    Args:
        minimum: smallest distance of the origins [m].
        maximum: largest distance [m]; None for none. Equal bounds are a rod between two ball joints.
    """

    minimum: float = 0.0
    maximum: float | None = None
    manifold = RigidMotions()

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

    def constraint(self, q: Scalars) -> tuple[Scalar, float, float]:
        """Return the distance [m] and its bounds from below and above; its gradient does not exist at distance 0."""
        p = Vector3(*q[:3])
        return sqrt(p.norm_squared()), self.minimum, math.inf if self.maximum is None else self.maximum

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        return ("px", "py", "pz", "x", "y", "z", "w")
