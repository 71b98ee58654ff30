"""The spline joint: the child moves along a smooth curve of poses given by control frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from cardan._algebra.by_fields import computed
from cardan._algebra.errors import ParameterError
from cardan._algebra.manifolds import Euclidean
from cardan._algebra.scalar import sin, sqrt, where
from cardan._algebra.spatial import SE3, Motion, Scalar, checked_pose, log_se3
from cardan._algebra.spatial.rotations import rotation_about_axis
from cardan._robot.joints.coordinate_functions import finite_numbers
from cardan._robot.joints.joint import Joint, Scalars


@dataclass(frozen=True, slots=True)
class Spline(Joint):
    """Motion along a curve in SE(3). q: the curve's parameter [the unit of `span`], v: its rate.

    The curve is the cumulative cubic B-spline X = T_0 exp(w_1(q) V_1) ... exp(w_n(q) V_n), V_k = log(T_{k-1}^-1 T_k),
    with uniform knots and natural ends. The first and last screw V are continued by one more frame, so the curve starts
    in T_0, ends in T_n, and has no second derivative there. Outside the span the curve continues along those screws at
    constant speed. It is twice continuously differentiable everywhere. It approaches the frames between and does not
    reach them. Frames at equal steps along one screw give that screw. Singular only if frames turn back, so that the
    curve halts.

    Source: Lee and Terzopoulos, Spline joints for multibody dynamics (2008); the cumulative form after Kim, Kim and
    Shin, A general construction scheme for unit quaternion curves (1995), section 4.

    Args:
        frames: the control frames T_0, ..., T_n in the parent frame, at least two, each turned by less than pi.
        span: the coordinate [of any unit] at the first and at the last frame; 0 and 1 by default.

    Examples:
        >>> rail = cardan.joints.Spline([cardan.SE3(translation=(x, 0.0, 0.0)) for x in (0.0, 0.5, 1.0)])
        >>> rail.transform([0.0]).translation
        (0.0, 0.0, 0.0)
    """

    frames: Sequence[SE3]
    span: tuple[float, float] = (0.0, 1.0)
    _names_of_q = ("parameter",)

    def __post_init__(self) -> None:
        frames = tuple(checked_pose(f"frame {k} of a spline joint", T) for k, T in enumerate(self.frames))
        span = finite_numbers(self.span, "span of a spline joint", 2)
        if len(frames) < 2:
            raise ParameterError("frames of a spline joint", got=frames, expected="at least two poses")
        if len(span) != 2 or not span[0] < span[1]:
            raise ParameterError("span of a spline joint", got=span, expected="two numbers, increasing")
        object.__setattr__(self, "frames", frames)
        object.__setattr__(self, "span", span)
        for k, V in enumerate(self.screws):
            # Less than 1e-9 is no direction. Near half a turn (3.14) the logarithm has two answers, one after the
            # other.
            if max(map(abs, V.scalars())) < 1e-9 or V.angular.norm_squared() > 3.14**2:
                got = f"frames {k} and {k + 1}, apart by {V.scalars()}"
                expected = "neighbours that differ, by less than half a turn"
                raise ParameterError("frames of a spline joint", got=got, expected=expected)

    @property
    def screws(self) -> tuple[Motion, ...]:
        """The twists V_k from each control frame to the next."""
        return tuple(log_se3(a.inverse() @ b) for a, b in pairwise(self.frames))

    @computed
    def manifold(self) -> Euclidean:
        """One number, sampled as far as the span's ends."""
        return Euclidean(1, reach=max(map(abs, self.span)))

    def transform(self, q: Scalars) -> SE3:
        n, (first, last) = len(self.frames) - 1, self.span
        t = (q[0] - first) * (n / (last - first))
        X = self.frames[0]
        for k, V in enumerate(self.screws):
            X = X @ _along(V, _weight(t - float(k), at_start=k == 0, at_end=k == n - 1))
        return X


def _weight(u: Scalar, *, at_start: bool, at_end: bool) -> Scalar:
    """Return how much of the screw from frame k to k + 1 is done, u frames behind frame k."""
    # The weights sum the basis functions from frame k + 1 on; natural ends make the first and the last linear outside.
    if at_start and at_end:
        return u
    if at_end:
        return 1.0 - _weight(1.0 - u, at_start=True, at_end=False)
    ending = where(u < 2.0, 1.0 - (2.0 - u) * (2.0 - u) * (2.0 - u) / 6.0, 1.0)
    if at_start:
        return where(u < 0.0, u, where(u < 1.0, u - u * u * u / 6.0, ending))
    beginning = where(u < -1.0, 0.0, (u + 1.0) * (u + 1.0) * (u + 1.0) / 6.0)
    middle = (1.0 + 3.0 * u * (1.0 + u) - 2.0 * u * u * u) / 6.0
    return where(u < 0.0, beginning, where(u < 1.0, middle, ending))


def _along(V: Motion, w: Scalar) -> SE3:
    """Return exp(w V) of a constant twist V: a screw motion."""
    angle = sqrt(V.angular.norm_squared())
    if angle == 0.0:
        return SE3(translation=V.linear * w)
    axis, half = V.angular * (1.0 / angle), sin(0.5 * angle * w)
    along = axis * axis.dot(V.linear)
    sideways = (V.linear - along) * (sin(angle * w) / angle)
    bent = axis.cross(V.linear) * (2.0 * half * half / angle)
    return SE3(rotation_about_axis(axis, angle * w), along * w + sideways + bent)
