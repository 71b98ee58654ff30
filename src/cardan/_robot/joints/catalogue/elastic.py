"""Joints with springs in them: a piece of cable or rod that bends, and a rope or rod that bounds a distance."""

from __future__ import annotations

import math
from dataclasses import dataclass

from cardan._algebra.checked_numbers import not_negative
from cardan._algebra.errors import ParameterError
from cardan._algebra.manifolds import SE3 as RigidMotions
from cardan._algebra.manifolds import Euclidean
from cardan._algebra.scalar import maximum, minimum, sqrt, where
from cardan._algebra.spatial import SE3, Scalar, Vector3, unit_vector
from cardan._algebra.spatial import rotations as ro
from cardan._robot.joints.catalogue.free_directions import FloatingJoint
from cardan._robot.joints.joint import Axis, Joint, Scalars


@dataclass(frozen=True, slots=True)
class Cable(Joint):
    """Stretches along an axis and bends, without twist. q: stretch [m], two components of the bend [rad]; v: the rates.

    p = axis q0, R = exp([b]), and b = across1 q1 + across2 q2 is the rotation vector of the bend, normal to the axis.
    Singular if |b| = 2 pi, 4 pi, ... Newton's cable joint is an elastic energy between two free bodies, and its two
    coordinates hold no state. This joint has that energy on the motions without shear and twist:

        E = (stretch_stiffness q0^2 + bend_stiffness (q1^2 + q2^2)) / 2,

    with viscous dampers beside the springs. Springs and dampers are the joint's own `efforts`. `passive_forces` and the
    steps of a simulation include them; other functions of dynamics do so only if the caller adds them to tau.

    Source: Newton's cable joint (newton-physics, articulations); Bergou et al., Discrete elastic rods (2008).

    Args:
        axis: tangent of the cable at rest, in the parent (and child) frame; normalised.
        stretch_stiffness: [N/m].
        bend_stiffness: [N m/rad].
        stretch_damping: [N s/m].
        bend_damping: [N m s/rad].

    Examples:
        >>> cardan.joints.Cable(stretch_stiffness=1e4).efforts([0.01, 0.0, 0.0], [0.0, 0.0, 0.0])
        (-100.0, -0.0, -0.0)
    """

    axis: Axis = Vector3(0.0, 0.0, 1.0)
    stretch_stiffness: float = 1e5
    bend_stiffness: float = 0.0
    stretch_damping: float = 0.0
    bend_damping: float = 0.0
    manifold = Euclidean(3, reach=(0.5, math.pi, math.pi))
    _names_of_q = ("stretch", "bend1", "bend2")

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", unit_vector(self.axis, "axis of a cable joint"))
        for name in ("stretch_stiffness", "bend_stiffness", "stretch_damping", "bend_damping"):
            object.__setattr__(self, name, not_negative(f"{name} of a cable joint", getattr(self, name)))

    @property
    def across(self) -> tuple[Vector3, Vector3]:
        """The two unit vectors about which it bends; with the axis they are right-handed, x and y for the axis z."""
        x, y, z = self.axis
        # Any vector that is not nearly parallel will do; these make (0, 0, 1) bend about x and y.
        away = Vector3(1.0, 0.0, 0.0) if abs(x) <= 0.75 else Vector3(0.0, 0.0, 1.0)
        second = unit_vector(Vector3(x, y, z).cross(away), "bend of a cable joint")
        return second.cross(self.axis), second

    def transform(self, q: Scalars) -> SE3:
        first, second = self.across
        return SE3(ro.matrix_from_rotation_vector(first * q[1] + second * q[2]), self.axis * q[0])

    def efforts(self, q: Scalars, v: Scalars) -> tuple[Scalar, ...]:
        """Return the efforts [N, N m, N m] of the springs and dampers on the joint: -(stiffness q + damping v)."""
        stretch, bend = (self.stretch_stiffness, self.stretch_damping), (self.bend_stiffness, self.bend_damping)
        return tuple(-(k * x + d * rate) for (k, d), x, rate in zip((stretch, bend, bend), q, v, strict=True))

    def nearest_configuration(self, X_pc: SE3, near: Scalars | None = None) -> tuple[Scalar, ...]:
        """Return the stretch, and the bend without twist nearest to the rotation, at most pi or nearest to `near`."""
        x, y, z, w = ro.quaternion_xyzw_from_matrix(X_pc.rotation)
        swing = Vector3(x, y, z) - self.axis * self.axis.dot((x, y, z))
        bend = ro.rotation_vector_from_quaternion_xyzw((*swing, w))
        if near is not None:
            bend = ro.rotation_vector_near(bend, self.across[0] * near[1] + self.across[1] * near[2])
        return self.axis.dot(X_pc.translation), *(e.dot(bend) for e in self.across)


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
        object.__setattr__(self, "damping", not_negative("damping of a distance joint", self.damping))
        if self.stiffness is not None:
            stiffness = not_negative("stiffness of a distance joint", self.stiffness)
            object.__setattr__(self, "stiffness", stiffness)

    def constraint(self, q: Scalars) -> tuple[Scalar, float, float]:
        """Return the distance [m] and its bounds from below and above; its gradient does not exist at distance 0."""
        p = Vector3(*q[:3])
        return sqrt(p.norm_squared()), self.minimum, math.inf if self.maximum is None else self.maximum

    def efforts(self, q: Scalars, v: Scalars) -> tuple[Scalar, ...]:
        """Return the force [N] of a rope or rod that gives way, on the child's origin in child axes, and no moment."""
        if self.stiffness is None:
            return (0.0,) * 6
        R, p = ro.matrix_from_quaternion_xyzw(tuple(q[3:])), Vector3(*q[:3])
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
