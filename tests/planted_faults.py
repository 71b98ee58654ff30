"""Joints with one planted fault each, and what their certificates must say: `python tests/planted_faults.py`."""

import math
from dataclasses import dataclass

import cardan
from cardan import SE3, Joint, Motion
from cardan.manifolds import MRP, Euclidean, UnitQuaternion
from cardan.scalar import absolute, cos, sin, sqrt, where
from cardan.spatial import Matrix3, Vector3
from cardan.spatial.rotations import (
    matrix_about_axis,
    matrix_from_mrp,
    matrix_from_quaternion_xyzw,
    matrix_from_zyx,
    rotation_about_axis,
)

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
ZERO = Vector3.zero()


@dataclass(frozen=True)
class Polar(Joint):
    """No fault: turns about z, slides along the turned x at a distance that grows from `radius`."""

    radius: float = 0.4
    manifold = Euclidean(2)

    def transform(self, q):
        r = self.radius + q[1]
        return SE3(rotation_about_axis(Z, q[0]), (r * cos(q[0]), r * sin(q[0]), 0.0))

    def motion_subspace(self, q):
        return [Motion((0.0, self.radius + q[1], 0.0), Z), Motion(X, ZERO)]

    def bias(self, q, v):
        return Motion((0.0, v[0] * v[1], 0.0), ZERO)

    def nearest_configuration(self, X_pc):
        angle = cardan.atan2(X_pc.rotation[1, 0], X_pc.rotation[0, 0])
        return angle, X_pc.translation.dot((cos(angle), sin(angle), 0.0)) - self.radius

    def equivalent_chain(self):
        revolute, prismatic = cardan.joints.Revolute(Z), cardan.joints.Prismatic(X)
        return cardan.joints.Composite([revolute, prismatic], [SE3(), SE3(translation=(self.radius, 0.0, 0.0))])


class Sign(Polar):
    def motion_subspace(self, q):
        a, b = super().motion_subspace(q)
        return [-a, b]


class EverySign(Polar):
    def motion_subspace(self, q):
        return [-s for s in super().motion_subspace(q)]


class ParentFrame(Polar):
    def motion_subspace(self, q):
        return [self.transform(q) @ s for s in super().motion_subspace(q)]


class ParentAxes(Polar):
    def motion_subspace(self, q):
        R = self.transform(q).rotation
        return [Motion(R @ s.linear, R @ s.angular) for s in super().motion_subspace(q)]


class ReverseTwist(Polar):
    def motion_subspace(self, q):
        return [-(self.transform(q) @ s) for s in super().motion_subspace(q)]


class AngularFirst(Polar):
    def motion_subspace(self, q):
        return [Motion(s.angular, s.linear) for s in super().motion_subspace(q)]


class ColumnOrder(Polar):
    def motion_subspace(self, q):
        return super().motion_subspace(q)[::-1]


class TwiceTooLarge(Polar):
    def motion_subspace(self, q):
        a, b = super().motion_subspace(q)
        return [a, b * 2.0]


class Degrees(Joint):
    manifold = Euclidean(1, reach=90.0)

    def transform(self, q):
        return SE3(rotation_about_axis(Z, q[0] * (math.pi / 180.0)))

    def motion_subspace(self, q):
        return [Motion(ZERO, Z)]


class LeftHandedScrew(Joint):
    manifold = Euclidean(1)

    def transform(self, q):
        return SE3(rotation_about_axis(Z, q[0]), (0.0, 0.0, -0.1 * q[0]))

    def motion_subspace(self, q):
        return [Motion((0.0, 0.0, 0.1), Z)]


class EntrySign(Joint):
    """Turned by R, not by R^T: the sign of one sine."""

    manifold = Euclidean(2)

    def transform(self, q):
        return SE3(rotation_about_axis(Z, q[1]), (q[0], 0.0, 0.1 * sin(q[1])))

    def motion_subspace(self, q):
        return [Motion((cos(q[1]), sin(q[1]), 0.0), ZERO), Motion((0.0, 0.0, 0.1 * cos(q[1])), Z)]


class NeutralSubspace(Polar):
    def motion_subspace(self, q):
        return super().motion_subspace(self.neutral())

    def bias(self, q, v):
        return Motion.zero()


class CoordinateRates(Joint):
    manifold = MRP()

    def transform(self, q):
        return SE3(matrix_from_mrp(q))

    def motion_subspace(self, q):
        K = self.configuration_derivative_to_velocity_jacobian(q)
        return [Motion(ZERO, [K[i][j] for i in range(3)]) for j in range(3)]


class BiasMissing(Polar):
    def bias(self, q, v):
        return Motion.zero()


class BiasSign(Polar):
    def bias(self, q, v):
        return -super().bias(q, v)


class ClassicalBias(Polar):
    def bias(self, q, v):
        r = self.radius + q[1]
        return Motion((-r * v[0] * v[0], 2.0 * v[0] * v[1], 0.0), ZERO)


class BiasTerm(Joint):
    manifold = Euclidean(3)
    coordinate_names = ("yaw", "pitch", "roll")

    def transform(self, q):
        return SE3(matrix_from_zyx(q))

    def bias(self, q, v):
        s1, c1, s2, c2 = sin(q[1]), cos(q[1]), sin(q[2]), cos(q[2])
        y = -s1 * s2 * v[0] * v[1] + c1 * c2 * v[0] * v[2] - s2 * v[1] * v[2]
        z = -s1 * c2 * v[0] * v[1] - c1 * s2 * v[0] * v[2]  # - c2 v1 v2
        return Motion(ZERO, (-c1 * v[0] * v[1], y, z))


class LinearBias(Polar):
    def bias(self, q, v):
        return Motion((0.0, v[0], 0.0), ZERO)


class Transposed(Polar):
    def transform(self, q):
        X_pc = super().transform(q)
        return SE3(X_pc.rotation.T, X_pc.translation)


class Inverted(Polar):
    def transform(self, q):
        return super().transform(q).inverse()


class ChildTranslation(Polar):
    def transform(self, q):
        return SE3(rotation_about_axis(Z, q[0]), (self.radius + q[1], 0.0, 0.0))


class AxisLength(Joint):
    manifold = Euclidean(1)

    def transform(self, q):
        return SE3(matrix_about_axis((0.0, 0.6, 1.0), cos(q[0]), sin(q[0])))


class Reflection(Joint):
    manifold = Euclidean(1)

    def transform(self, q):
        c, s = cos(q[0]), sin(q[0])
        return SE3(Matrix3((c, s, 0.0, s, -c, 0.0, 0.0, 0.0, 1.0)))


class QuaternionNorm(Joint):
    manifold = UnitQuaternion()

    def transform(self, q):
        x, y, z, w = q
        u = Vector3(x, y, z)
        return SE3(Matrix3.identity() * (w * w - u.dot(u)) + u.outer(u) * 2.0 + u.skew() * (2.0 * w))


class FourNumbers(Joint):
    manifold = Euclidean(4)

    def transform(self, q):
        return SE3(matrix_from_quaternion_xyzw(q))


class FourVelocities(FourNumbers):
    def neutral(self):
        return (0.0, 0.0, 0.0, 1.0)


class NotANumber(Joint):
    manifold = Euclidean(1)

    def transform(self, q):
        return SE3(translation=(sin(q[0]) / q[0], q[0], 0.0))


class ThreeColumns(Polar):
    def motion_subspace(self, q):
        return [*super().motion_subspace(q), Motion(Y, ZERO)]


class TooManyCoordinates(Joint):
    manifold = Euclidean(2)

    def transform(self, q):
        return SE3(translation=(q[0], q[1], q[2]))


class Memory(Joint):
    manifold = Euclidean(2)

    def transform(self, q):
        self.r = 0.4 + q[1]
        return SE3(rotation_about_axis(Z, q[0]), (self.r * cos(q[0]), self.r * sin(q[0]), 0.0))

    def motion_subspace(self, q):
        return [Motion((0.0, getattr(self, "r", 0.4), 0.0), Z), Motion(X, ZERO)]


class Cache(Polar):
    """S is read from what the last call of transform left."""

    last = [0.4]

    def transform(self, q):
        X_pc = super().transform(q)
        if isinstance(q[1], float):
            self.last[0] = self.radius + q[1]
        return X_pc

    def motion_subspace(self, q):
        r = self.last[0] if isinstance(q[1], float) else self.radius + q[1]
        return [Motion((0.0, r, 0.0), Z), Motion(X, ZERO)]


class Branch(Joint):
    manifold = Euclidean(1)

    def transform(self, q):
        return SE3(translation=(q[0] if q[0] > -9.0 else -9.0, 0.0, 0.0))

    def motion_subspace(self, q):
        return [Motion(X, ZERO)]

    def bias(self, q, v):
        return Motion.zero()


class FloatsAlone(Branch):
    def transform(self, q):
        return SE3(translation=(math.asinh(math.sinh(q[0])), 0.0, 0.0))


class Kink(Joint):
    manifold = Euclidean(1)

    def transform(self, q):
        return SE3(translation=(q[0], absolute(q[0]), 0.0))


class WrongInverse(Polar):
    def nearest_configuration(self, X_pc):
        angle, r = super().nearest_configuration(X_pc)
        return -angle, r


class OneWay(Joint):
    manifold = Euclidean(2)

    def transform(self, q):
        return SE3(translation=(q[0] + 2.0 * q[1], 0.0, 0.0))


class WrongChain(Polar):
    def equivalent_chain(self):
        return cardan.joints.Composite([cardan.joints.Revolute(Z), cardan.joints.Prismatic(X)])


class Matrix(Joint):
    manifold = Euclidean(1)

    def transform(self, q):
        return SE3(translation=(q[0], 0.0, 0.0)).matrix()


class Identity(Polar):
    def __eq__(self, other):
        return self is other

    __hash__ = Joint.__hash__


class Parameters(Joint):
    manifold = Euclidean(1)

    def __init__(self):
        self.curve = lambda x: x * x

    def transform(self, q):
        return SE3(translation=(q[0], self.curve(q[0]), 0.0))


class Outside(Polar):
    """Its stiffness is no field: a copy keeps it, a file cannot."""

    @classmethod
    def with_spring(cls, stiffness):
        joint = cls()
        object.__setattr__(joint, "stiffness", stiffness)
        return joint


class Renamed(Joint):
    manifold = Euclidean(1)

    def __init__(self, lead=0.1):
        self.pitch = lead / (2.0 * math.pi)

    def transform(self, q):
        return SE3(rotation_about_axis(Z, q[0]), (0.0, 0.0, self.pitch * q[0]))


@dataclass(frozen=True)
class Curve(Joint):
    """A function can be pickled by its name, and not be written."""

    height: object = sin
    manifold = Euclidean(1)

    def transform(self, q):
        return SE3(translation=(q[0], 0.0, self.height(q[0])))


class Underflow(Joint):
    manifold = Euclidean(1, reach=1.0)

    def transform(self, q):
        x = 1e-25 * (2.0 + q[0])
        return SE3(translation=(sqrt(x * x) * 1e25, 0.0, 0.0))


class DoubleRate(Euclidean):
    """A manifold whose coordinates move twice as fast as its velocity map says."""

    def integrate(self, q, v):
        return tuple(a + 2.0 * b for a, b in zip(q, v, strict=True))

    def difference(self, q0, q1):
        return tuple(0.5 * (b - a) for a, b in zip(q0, q1, strict=True))

    def difference_rate_jacobian(self, difference):
        return [[0.5 * float(i == j) for j in range(self.n)] for i in range(self.n)]


class WrongRates(Joint):
    manifold = DoubleRate(1)

    def transform(self, q):
        return SE3(translation=(q[0], 0.0, 0.0))


class NoLimits(Euclidean):
    """A manifold that draws where it likes."""

    def random(self, rng, shape, lower, upper):
        return rng.uniform(-3.0, 3.0, size=(*shape, self.n))


class Unlimited(Joint):
    manifold = NoLimits(1)

    def transform(self, q):
        return SE3(translation=(q[0], where(q[0] > 9.0, 0.0, q[0] * q[0]), 0.0))


FAULTS = (  # joint, the check that must fail first, words its message must have
    (Sign(), "motion subspace", "S[1, 0] is "),
    (EverySign(), "motion subspace", "S[1, 0] is "),
    (ParentFrame(), "motion subspace", "S is expressed in the parent frame: dX X^-1 where X^-1 dX belongs"),
    (ParentAxes(), "motion subspace", "S is expressed in the parent's axes: multiply by R^T"),
    (ReverseTwist(), "motion subspace", "S is that of the parent relative to the child: -Ad(X) S"),
    (AngularFirst(), "motion subspace", "S has linear and angular parts exchanged; a Motion is [linear; angular]"),
    (ColumnOrder(), "motion subspace", "S["),
    (TwiceTooLarge(), "motion subspace", "S[0, 1] is 2, expected 1"),
    (Degrees(), "motion subspace", "S[5, 0] is 1, expected 0.0174533"),
    (LeftHandedScrew(), "motion subspace", "S is right and the translation of transform has the wrong sign"),
    (EntrySign(), "motion subspace", "S[1, 0] is "),
    (NeutralSubspace(), "motion subspace", "S[1, 0] is "),
    (CoordinateRates(), "motion subspace", "the columns belong to the rates dq/dt, not to the velocities v"),
    (BiasMissing(), "bias", "the bias is zero although S depends on q: leave `bias` out, and it is derived"),
    (BiasSign(), "bias", "bias[1] is "),
    (ClassicalBias(), "bias", "the bias is the acceleration of the child's origin, R^T d2p/dt2"),
    (BiasTerm(), "bias", "bias["),
    (LinearBias(), "bias", "the bias is not quadratic in v: bias(q, 2 v) must be 4 bias(q, v)"),
    (Transposed(), "motion subspace", "S is right and the rotation of transform is transposed, R^T"),
    (Inverted(), "motion subspace", "S is right and transform is inverted, X_cp where X_pc belongs"),
    (ChildTranslation(), "motion subspace", "S is right and the translation of transform is in child coordinates"),
    (AxisLength(), "rigid motion", "an axis may not be of unit length"),
    (Reflection(), "rigid motion", "R is a reflection; one of its columns has the wrong sign"),
    (QuaternionNorm(), "off the manifold", "divide them by their norm first"),
    (FourNumbers(), "transform", "or the wrong manifold; for a quaternion it is UnitQuaternion()"),
    (FourVelocities(), "rank", "are these the coordinates of a quaternion? Then the manifold is UnitQuaternion()"),
    (NotANumber(), "transform", "a division by zero; guard it with cardan.where on both sides"),
    (ThreeColumns(), "shapes", "S has 3 columns, expected nv = 2"),
    (TooManyCoordinates(), "transform", "more entries of q or v are used than the manifold has"),
    (Memory(), "shapes", "the joint stores what depends on q"),
    (Cache(), "no memory", "the joint stores what depends on q"),
    (Branch(), "traced", "branches on the value of a coordinate; use cardan.where"),
    (FloatsAlone(), "traced", "it needs floats, as functions of math and scipy do"),
    (Kink(), "smooth", "the pose jumps or has a kink near q"),
    (WrongInverse(), "inverse of transform", "nearest_configuration is not the inverse of transform"),
    (OneWay(), "rank", "some velocities do nothing, or the same as others"),
    (WrongChain(), "equivalent chain", "the chain has another placement, axis or order"),
    (Matrix(), "transform", "return cardan.SE3(rotation, translation)"),
    (Identity(), "value", "__eq__ must compare the parameters"),
    (Parameters(), "value", "with parameters that can be stored"),
    (
        Outside.with_spring(9.0),
        "serialisation",
        "attribute 'stiffness' of Outside: got 9.0, expected state that follows",
    ),
    (Renamed(), "serialisation", "Its constructor raises TypeError: Renamed.__init__() got an unexpected keyword"),
    (Curve(), "serialisation", "parameter 'height' of Curve, of type function: got <function sin"),
    (Underflow(), "float32", "numbers beyond 1e38 or below 1e-38"),
    (WrongRates(), "rate of the coordinates", "integrate and its velocity map belong to different velocities"),
    (Unlimited(), "limits", "lower <= limit_coordinates(q) <= upper"),
)


def table():
    """Return the faults, the checks that find them and what these say, as a Markdown table."""
    rows = ["| planted fault | check | error | message |", "|---|---|---|---|"]
    for joint, _, _ in FAULTS:
        found = cardan.verify_joint(joint).failures[0]
        words = "; ".join([*found.entries[:1], *([found.cause] if found.cause else [])])
        message = "`" + words.replace("`", "") + "`"  # as code: `<` and `[a][b]` are no Markdown
        rows.append(f"| `{type(joint).__name__}` | {found.name} | {found.error:.2g} | {message} |")
    return "\n".join(rows)


if __name__ == "__main__":
    print(table())
