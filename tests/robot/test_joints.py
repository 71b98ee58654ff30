"""Every joint of the catalogue obeys the definitions, at random, nearly singular and singular configurations."""

import dataclasses
import math

import mpmath
import numpy as np
import pytest

import cardan
from cardan import joints as joint_types
from cardan.errors import DTypeError, ParameterError, ReachError, ShapeError, UnknownNameError
from cardan.joints import (
    CATALOGUE,
    D6,
    Cable,
    Composite,
    ConstantVelocity,
    Distance,
    Ellipsoid,
    Fixed,
    FloatingMRP,
    FreeFlyer,
    Helical,
    Joint,
    Limits,
    Mimic,
    OpenSimCustom,
    Planar,
    PlanarAngle,
    Prismatic,
    Reversed,
    Revolute,
    Spherical,
    SphericalZYX,
    Spline,
    Translation,
    UnboundedRevolute,
    Universal,
    condylar_knee,
)
from cardan.spatial import SE3, Force, Matrix3, Motion, Vector3, exp_se3
from cardan.spatial.rotations import matrix_from_zyx, rotation_about_axis
from representatives import in_turn, represented

PI = math.pi
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
TILTED = SE3(matrix_from_zyx((0.3, -0.5, 0.8)), (0.1, -0.2, 0.3))
EXACT = 4e-15  # of S, bias and transform, entries of order one, against 40-digit differences

# More joints than the catalogue: other parameters, nested, and those that are singular somewhere.
EXTRA = (
    Universal((1.0, 2.0, 2.0), (0.6, 0.0, 0.8)),
    Ellipsoid((0.2, 0.2, 0.2)),
    D6(angular=[Z, X, Z]),
    D6(linear=[X, (0.6, 0.8, 0.0)], angular=[(0.0, 0.6, 0.8)]),
    D6(angular=[Z, (0.0, 0.6, 0.8), (0.8, 0.6, 0.0)]),
    Helical(X, pitch=-0.3),
    Helical(X, pitch=0.0),
    Composite([Composite([Revolute(X), Revolute(Y)], [TILTED, SE3()]), Ellipsoid((0.3, 0.4, 0.5))]),
    Composite([SphericalZYX(), Translation()], [SE3(), TILTED]),
    Mimic(UnboundedRevolute(Y), primary="p", multiplier=2.0, offset=-0.4),
    Mimic(Helical(Z, pitch=0.1), primary="p", multiplier=-1.5, offset=0.3),
    Mimic(SphericalZYX(), primary="p", multiplier=0.5, offset=0.1),
    ConstantVelocity(),
    Cable(bend_stiffness=1.0),
    Spline([SE3(), TILTED]),
    condylar_knee(),
)
ALL = (*CATALOGUE, *EXTRA)
OF_EACH_KIND = (Fixed, Revolute, UnboundedRevolute, SphericalZYX, FreeFlyer, FloatingMRP, Ellipsoid, Cable, D6, Mimic)
every = pytest.mark.parametrize(
    "joint", represented(ALL, by=lambda j: any(j is k for k in CATALOGUE)), ids=lambda j: type(j).__name__
)
of_each_kind = pytest.mark.parametrize(
    "joint", represented(ALL, by=lambda j: isinstance(j, OF_EACH_KIND)), ids=lambda j: type(j).__name__
)
catalogue = pytest.mark.parametrize("joint", CATALOGUE, ids=lambda j: type(j).__name__)

SINGULAR = {  # where the middle angle makes the outer axes align
    SphericalZYX: lambda pitch: (0.7, pitch, -1.2),
    Ellipsoid: lambda pitch: (0.7, pitch, -1.2),
}
OFFSETS = [0.0, *(10.0**k for k in range(-16, 0, 3)), -1e-12, -1e-4]


def searched(joint):
    """Whether its inverse transform has no closed form."""
    return type(joint).nearest_configuration is Joint.nearest_configuration


def floats(values):
    return tuple(map(float, values))


def configurations(joint, n=3):
    """Return random, neutral, singular and nearly singular configurations."""
    found = [floats(q) for q in joint.random_configuration((n,), seed=5)] + [joint.neutral()]
    if type(joint) in SINGULAR:
        found += [SINGULAR[type(joint)](side * PI / 2 + offset) for side in (1, -1) for offset in OFFSETS]
    if isinstance(joint, D6) and len(joint.angular) == 3:
        start = 0.0 if joint.angular[0] == joint.angular[2] else PI / 2
        found += [(*(0.3,) * len(joint.linear), 0.7, start + offset, -1.2) for offset in OFFSETS]
    if isinstance(joint, (Spherical, FreeFlyer, Distance)):  # small turns, half turns
        place = (0.1, -0.2, 0.3) if joint.nq == 7 else ()
        found += [(*place, math.sin(a) * 0.6, 0.0, math.sin(a) * 0.8, math.cos(a)) for a in (*OFFSETS, PI / 2)]
    if isinstance(joint, FloatingMRP):
        found += [(0.1, -0.2, 0.3, 0.6 * a, 0.0, 0.8 * a) for a in (*OFFSETS, 1.0)]
    return found


def velocities(joint, n=2, seed=6):
    return [floats(v) for v in np.random.default_rng(seed).normal(size=(n, joint.nv))]


def rows(subspace):
    return np.array(subspace.rows(), dtype=float).reshape(6, -1)


def numbers(thing):
    return np.array(thing.scalars(), dtype=float)


def pose(X_pc):
    return np.array([[float(e) for e in row] for row in X_pc.homogeneous()])


def exact(values):
    return tuple(mpmath.mpf(e) for e in values)


STEP = mpmath.mpf("1e-13")


def twist_by_difference(joint, q, v):
    """Return X^-1 dX/dt along integrate(q, v t) as a twist, by a 40-digit central difference."""
    with mpmath.workdps(40):
        q, ends = exact(q), []
        for sign in (1, -1):
            moved = joint.integrate(q, tuple(sign * STEP * e for e in exact(v)))
            ends.append(joint.transform(q).inverse() @ joint.transform(moved))
        (R1, p1), (R0, p0) = ends
        angular = ((R1 - R0) * (1 / (2 * STEP))).axial()
        return np.array([float(e) for e in (*((p1 - p0) * (1 / (2 * STEP))), *angular)])


def subspace_rate_by_difference(joint, q, v):
    """Return dS/dt along integrate(q, v t), by a 40-digit central difference."""
    with mpmath.workdps(40):
        ends = [
            joint.subspace(joint.integrate(exact(q), tuple(sign * STEP * e for e in exact(v)))).rows()
            for sign in (1, -1)
        ]
        rate = [[(a - b) / (2 * STEP) for a, b in zip(*pair, strict=True)] for pair in zip(*ends, strict=True)]
        return np.array(rate, dtype=float).reshape(6, -1)


def chained(joint, v):
    """Return how fast a joint moves its own coordinates, to scale error bounds."""
    return 1.0 + np.abs(v).max(initial=0.0) ** 2


# --- the definitions -------------------------------------------------------------------------------------------------


def test_the_catalogue_is_complete():
    shipped = {
        t for n in joint_types.__all__ if isinstance(t := getattr(joint_types, n), type) and issubclass(t, Joint)
    }
    assert {type(j) for j in CATALOGUE} == shipped - {Joint}


@every
def test_transform_is_a_pose(joint):
    for q in configurations(joint):
        T = pose(joint.transform(q))
        np.testing.assert_allclose(T[:3, :3] @ T[:3, :3].T, np.eye(3), atol=EXACT)
        assert np.linalg.det(T[:3, :3]) > 0.0


@every
def test_motion_subspace_is_the_derivative_of_transform(joint):
    for q in configurations(joint):
        S = rows(joint.subspace(q))
        assert S.shape == (6, joint.nv)
        for k, direction in enumerate(np.eye(joint.nv)):
            np.testing.assert_allclose(S[:, k], twist_by_difference(joint, q, floats(direction)), rtol=0, atol=EXACT)


@every
def test_bias_is_the_rate_of_the_subspace_times_velocity(joint):
    for q in configurations(joint):
        for v in velocities(joint):
            rate = subspace_rate_by_difference(joint, q, v)
            atol = EXACT * chained(joint, v)
            np.testing.assert_allclose(rows(joint.motion_subspace_rate(q, v)), rate, rtol=0, atol=atol)
            np.testing.assert_allclose(numbers(joint.bias(q, v)), rate @ v, rtol=0, atol=2 * atol)
            np.testing.assert_allclose(
                numbers(joint.motion_subspace_rate(q, v) @ v), numbers(joint.bias(q, v)), rtol=0, atol=2 * atol
            )


@every
def test_twist_acceleration_and_torque(joint):
    rng = np.random.default_rng(7)
    f, a = Force.of(rng.normal(size=6)), floats(rng.normal(size=joint.nv))
    for q in configurations(joint):
        S = rows(joint.subspace(q))
        for v in velocities(joint):
            np.testing.assert_allclose(numbers(joint.twist(q, v)), S @ v, atol=EXACT)
            expected = S @ a + numbers(joint.bias(q, v))
            np.testing.assert_allclose(numbers(joint.spatial_acceleration(q, v, a)), expected, atol=4 * EXACT)
            power = joint.twist(q, v).dot(f)
            assert np.dot(joint.torque(q, f), v) == pytest.approx(power, abs=4 * EXACT)
        np.testing.assert_allclose(joint.torque(q, f), S.T @ numbers(f), atol=EXACT)


@every
def test_acceleration_is_the_rate_of_the_twist(joint):
    """With v(t) = v + a t: d(S v)/dt = S a + bias, at 40 digits."""
    rng = np.random.default_rng(8)
    v, a = (floats(rng.normal(size=joint.nv)) for _ in range(2))
    for q in configurations(joint, n=1):
        with mpmath.workdps(40):
            ends = []
            for t in (STEP, -STEP):
                moved = joint.integrate(exact(q), tuple(t * e for e in exact(v)))
                ends.append(joint.twist(moved, tuple(x + t * y for x, y in zip(exact(v), a, strict=True))))
            rate = [float(e / (2 * STEP)) for e in (ends[0] - ends[1]).scalars()]
        np.testing.assert_allclose(numbers(joint.spatial_acceleration(q, v, a)), rate, rtol=0, atol=8 * EXACT)


@every
def test_constraint_wrenches_do_no_work(joint):
    for q in configurations(joint):
        T = np.array([numbers(w) for w in joint.constraint_wrench_subspace(q)]).reshape(-1, 6).T
        assert T.shape == (6, joint.num_constraints)
        np.testing.assert_allclose(T.T @ T, np.eye(joint.num_constraints), atol=EXACT)
        np.testing.assert_allclose(T.T @ rows(joint.subspace(q)), 0.0, atol=EXACT)


def test_singular_joints_are_singular_where_they_say():
    for joint in (SphericalZYX(), Ellipsoid((0.5, 0.7, 1.1))):
        S = rows(joint.subspace(SINGULAR[type(joint)](PI / 2)))
        angular = np.linalg.svd(S[3:], compute_uv=False)
        assert angular[1] > 0.5
        assert angular[2] < 1e-15
    zyx = rows(SphericalZYX().subspace((0.7, PI / 2, -1.2)))
    assert np.linalg.matrix_rank(zyx, tol=1e-12) == 2
    assert len(SphericalZYX().constraint_wrench_subspace((0.7, PI / 2, -1.2))) == 3


# --- the inverse of transform ------------------------------------------------------------------------------------


@every
def test_configuration_from_transform(joint):
    for q in configurations(joint):
        target = joint.transform(q)
        found = joint.configuration_from_transform(target)
        assert len(found) == joint.nq
        closed_form = not searched(joint)
        oblique = isinstance(joint, D6) and len(joint.angular) == 3 and joint.angular[2] == Vector3(0.8, 0.6, 0.0)
        atol = 1e-8 if oblique else 2e-14 if closed_form else 1e-10
        np.testing.assert_allclose(pose(joint.transform(found)), pose(target), rtol=0, atol=atol)
        np.testing.assert_array_equal(joint.configuration_from_transform(target.matrix()), found)


@pytest.mark.parametrize("joint", [j for j in CATALOGUE if not searched(j)], ids=lambda j: type(j).__name__)
def test_configuration_from_transform_in_batches(joint):
    q = joint.random_configuration((3, 1, 2), seed=9)
    T = joint.transform(tuple(np.moveaxis(q, -1, 0))).matrix()
    T = np.broadcast_to(T, (3, 1, 2, 4, 4))
    found = joint.configuration_from_transform(T)
    again = joint.transform(tuple(np.broadcast_to(e, (3, 1, 2)) for e in found)).matrix()
    np.testing.assert_allclose(np.broadcast_to(again, T.shape), T, rtol=0, atol=2e-14)


def test_a_helix_counts_its_turns():
    joint = Helical(Z, pitch=0.2)
    assert joint.configuration_from_transform(joint.transform((40.0,)))[0] == pytest.approx(40.0, rel=1e-14)
    assert Helical(Z, pitch=0.0).configuration_from_transform(SE3(rotation_about_axis(Z, 7.0)))[0] == pytest.approx(
        7.0 - 2 * PI
    )


OUT_OF_REACH = SE3(matrix_from_zyx((1.0, 0.4, -0.7)), (0.3, 5.0, -4.0))


@pytest.mark.parametrize(
    "joint",
    represented(
        [j for j in ALL if not j.is_floating], by=lambda j: not isinstance(j, Spline | Composite | OpenSimCustom)
    ),
    ids=lambda j: type(j).__name__,
)
def test_poses_out_of_reach_are_refused(joint):
    with pytest.raises(ReachError, match=r"no configuration has this transform; the nearest one found is off by") as e:
        joint.configuration_from_transform(OUT_OF_REACH)
    assert type(joint).__name__ in str(e.value)
    assert "raise `tolerance`" in str(e.value)
    assert e.value.residual > 0.1
    assert e.value.tolerance == 1e-7


def test_reach_depends_on_the_tolerance():
    nearly = SE3(rotation_about_axis(Z, 0.3), (0.0, 0.0, 1e-5))
    with pytest.raises(ReachError, match=r"off by 1e-05 \(tolerance 1e-07\)"):
        Revolute().configuration_from_transform(nearly)
    assert Revolute().configuration_from_transform(nearly, tolerance=1e-4) == (0.3,)
    with pytest.raises(ReachError):
        Revolute().configuration_from_transform(SE3(translation=(0.0, math.nan, 0.0)))
    with pytest.raises(ReachError):
        Revolute().configuration_from_transform(np.full((4, 4), np.nan))
    batch = np.stack([np.eye(4), nearly.matrix()])
    with pytest.raises(ReachError, match="off by 1e-05"):
        Revolute().configuration_from_transform(batch)


def test_a_mimic_with_multiplier_zero_has_no_inverse():
    with pytest.raises(ParameterError, match=r"multiplier of a mimic: got 0\.0, expected not 0"):
        Mimic(Revolute(), "p", multiplier=0.0).configuration_from_transform(SE3())


# --- flags and structure ------------------------------------------------------------------------------------------


@catalogue
def test_flags(joint):
    nq, nv = len(joint.neutral()), rows(joint.subspace(joint.neutral())).shape[1]
    assert (joint.nq, joint.nv, joint.num_constraints) == (nq, nv, 6 - nv)
    assert joint.is_floating == (nv == 6)
    S = [rows(joint.subspace(q)) for q in configurations(joint)]
    constant = all(np.abs(other - S[0]).max(initial=0.0) <= EXACT for other in S)
    assert joint.has_constant_motion_subspace is constant
    assert len(joint.coordinate_names) == len(set(joint.coordinate_names)) == nq
    assert len(joint.velocity_names) == len(set(joint.velocity_names)) == nv
    if constant:
        assert numbers(joint.bias(floats(joint.random_configuration(seed=1)), (1.0,) * nv)).tolist() == [0.0] * 6


def test_a_chain_of_sliders_has_a_constant_subspace():
    assert D6(linear=[X, Y, Z]).has_constant_motion_subspace
    assert Composite([Prismatic(X), Prismatic(Y)], [TILTED, TILTED]).has_constant_motion_subspace
    assert not D6(linear=[X], angular=[Z]).has_constant_motion_subspace


IDENTITY_AT_NEUTRAL = (Fixed, Revolute, Prismatic, Helical, UnboundedRevolute, Universal, Spherical, SphericalZYX)
IDENTITY_AT_NEUTRAL += (Translation, Planar, PlanarAngle, FreeFlyer, FloatingMRP, D6, Cable, Distance)
IDENTITY_AT_NEUTRAL += (joint_types.Cylindrical, joint_types.VariableScrew)


@catalogue
def test_neutral(joint):
    q = joint.neutral()
    assert len(q) == joint.nq
    assert joint.normalize(q) == q
    expected = {Ellipsoid: (0.0, 0.0, 1.1), Reversed: (0.0, 0.0, -1.1)}.get(type(joint))
    if expected:
        assert joint.transform(q).translation == expected
    elif isinstance(joint, Mimic):
        np.testing.assert_allclose(pose(joint.transform(q)), pose(Revolute(Y).transform((0.2,))), atol=0)
    elif isinstance(joint, Composite):
        np.testing.assert_allclose(pose(joint.transform(q)), pose(TILTED @ TILTED), atol=1e-16)
    elif isinstance(joint, ConstantVelocity):
        np.testing.assert_allclose(pose(joint.transform(q)), pose(SE3(translation=(-0.16, 0.0, 0.12))), atol=1e-16)
    elif isinstance(joint, (Spline, OpenSimCustom)):
        assert np.abs(pose(joint.transform(q)) - np.eye(4)).max() > 0.05
    elif isinstance(joint, IDENTITY_AT_NEUTRAL):
        np.testing.assert_array_equal(pose(joint.transform(q)), np.eye(4))


def test_quaternions_and_circle_points_off_the_manifold_are_projected():
    for joint in (Spherical(), FreeFlyer(), Planar(), UnboundedRevolute(Y), UnboundedRevolute(Y, order="sin_cos")):
        q = floats(joint.random_configuration(seed=11))
        k = {Spherical: 0, FreeFlyer: 3, Planar: 2, UnboundedRevolute: 0}[type(joint)]
        scaled = (*q[:k], *(3.0 * e for e in q[k:]))
        np.testing.assert_allclose(pose(joint.transform(scaled)), pose(joint.transform(q)), atol=4e-16)


@every
def test_joints_share_their_manifolds_interface(joint):
    q0, q1 = (floats(q) for q in joint.random_configuration((2,), seed=12))
    (v,) = velocities(joint, 1)
    phi, rate = joint.local_coordinates(q0, q1, v)
    assert phi == joint.difference(q0, q1)
    assert len(rate) == joint.nv
    assert joint.global_coordinates(q0, phi) == joint.integrate(q0, phi)
    reached = joint.transform(joint.global_coordinates(q0, phi))
    np.testing.assert_allclose(pose(reached), pose(joint.transform(q1)), atol=4e-15)
    same = joint.transform(joint.principal_value(q1))
    np.testing.assert_allclose(pose(same), pose(joint.transform(q1)), atol=4e-15)
    qdot = joint.velocity_to_configuration_derivative(q1, v)
    np.testing.assert_allclose(joint.configuration_derivative_to_velocity(q1, qdot), v, atol=4e-15)
    assert len(joint.configuration_derivative_to_velocity_adjoint(q1, v)) == joint.nq
    assert len(joint.velocity_to_configuration_derivative_jacobian(q1)) == joint.nq
    assert len(joint.configuration_derivative_to_velocity_jacobian(q1)) == joint.nv


def test_random_configurations_obey_limits():
    limits = Limits(lower=(-0.1, 0.2, -math.inf), upper=(0.1, 0.3, math.inf))
    q = SphericalZYX().random_configuration((200,), seed=13, limits=limits)
    assert (q[:, 0] >= -0.1).all()
    assert (q[:, :2] <= (0.1, 0.3)).all()
    assert q[:, 1].min() >= 0.2
    assert np.abs(q[:, 2]).max() > 2.5
    assert (q == SphericalZYX().random_configuration((200,), seed=13, limits=limits)).all()
    assert Fixed().random_configuration((3, 1, 2)).shape == (3, 1, 2, 0)


# --- equality, hash, printing ----------------------------------------------------------------------------------------

DIFFERENT = [
    (Ellipsoid((1, 2, 3)), Ellipsoid((3, 2, 1))),
    (Helical(Z, pitch=0.1), Helical(Z, pitch=0.2)),
    (Revolute(X), Revolute(Y)),
    (Revolute(X), Prismatic(X)),
    (UnboundedRevolute(X), UnboundedRevolute(X, order="sin_cos")),
    (Universal(X, Y), Universal(Y, X)),
    (PlanarAngle(X, Y), PlanarAngle(Y, Z)),
    (D6(linear=[X]), D6(angular=[X])),
    (D6(angular=[X, Y]), D6(angular=[Y, X])),
    (Composite([Revolute(X)]), Composite([Revolute(X)], [TILTED])),
    (Composite([Revolute(X), Revolute(Y)]), Composite([Revolute(Y), Revolute(X)])),
    (Mimic(Revolute(), "a"), Mimic(Revolute(), "b")),
    (Mimic(Revolute(), "a"), Mimic(Revolute(), "a", multiplier=2.0)),
    (Mimic(Revolute(), "a"), Mimic(Revolute(), "a", offset=2.0)),
    (Planar(), PlanarAngle()),
    (FreeFlyer(), FloatingMRP()),
]


@pytest.mark.parametrize(("a", "b"), DIFFERENT)
def test_equality_sees_parameters(a, b):
    assert a != b
    assert b != a
    assert len({a, b}) == 2


@every
def test_what_is_printed_builds_the_same_joint(joint):
    names = {name: getattr(joint_types, name) for name in joint_types.__all__}
    again = eval(repr(joint), {"SE3": SE3, **names})
    assert again == joint
    assert hash(again) == hash(joint)
    assert type(again) is type(joint)
    for value in joint.parameters().values():
        assert repr(value) in repr(joint)


@every
def test_joints_are_immutable(joint):
    names = [f.name for f in dataclasses.fields(joint)]
    assert names == list(joint.parameters())
    for name in names:
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(joint, name, None)


def test_axes_are_normalised():
    assert Revolute((0.0, 3.0, 4.0)).axis == (0.0, 0.6, 0.8)
    assert Revolute([0, 0, 2]) == Revolute(np.array([0.0, 0.0, 5.0]))
    assert Prismatic((2.0, 0.0, 0.0)).transform((1.5,)).translation == (1.5, 0.0, 0.0)
    assert Universal((2, 0, 0), (0, 0, 7)) == Universal(X, Z)


def test_a_joint_of_a_user_needs_four_things():
    class Slider(Joint):
        """A plain class: equality and printing come from `Joint`."""

        manifold = Prismatic().manifold

        def __init__(self, scale):
            self.scale = scale

        def transform(self, q):
            return SE3(translation=(self.scale * q[0], 0.0, 0.0))

        def motion_subspace(self, q):
            return [Motion((self.scale, 0.0, 0.0), (0.0, 0.0, 0.0))]

        def bias(self, q, v):
            return Motion.zero()

    assert repr(Slider(2.0)) == "Slider(scale=2.0)"
    assert Slider(2.0) == Slider(2.0)
    assert Slider(2.0) != Slider(3.0)
    assert Slider(2.0) != Prismatic()
    assert hash(Slider(2.0)) == hash(Slider(2.0))
    assert Slider(2.0).configuration_from_transform(SE3(translation=(3.0, 0.0, 0.0)))[0] == pytest.approx(1.5, abs=1e-9)
    with pytest.raises(ReachError):
        Slider(2.0).configuration_from_transform(SE3(translation=(3.0, 0.1, 0.0)))
    (exact,) = Slider(2.0).configuration_from_transform(SE3(translation=(mpmath.mpf(3), 0.0, 0.0)))
    assert float(exact) == pytest.approx(1.5, abs=1e-12)  # on symbols, too
    assert Slider(2.0).has_constant_motion_subspace


# --- bad parameters --------------------------------------------------------------------------------------------------

REFUSED = [
    (lambda: Revolute((0, 0, 0)), r"axis of a revolute joint: got \(0\.0, 0\.0, 0\.0\), expected three finite numbers"),
    (lambda: Revolute((math.nan, 0, 1)), "axis of a revolute joint: got .*nan"),
    (lambda: Revolute((0, 1)), "axis of a revolute joint"),
    (lambda: Revolute("x"), "axis of a revolute joint: got 'x'"),
    (lambda: Prismatic((0, 0, 0)), "axis of a prismatic joint"),
    (lambda: Prismatic((math.inf, 0, 1)), "axis of a prismatic joint"),
    (lambda: Helical((0, 0, 0)), "axis of a helical joint"),
    (lambda: Helical(Z, pitch=math.nan), "pitch of a helical joint: got nan, expected a finite number"),
    (lambda: Helical(Z, pitch=math.inf), "pitch of a helical joint"),
    (lambda: Helical(Z, pitch="0.1"), "pitch of a helical joint: got '0.1'"),
    (lambda: UnboundedRevolute((0, 0, 0)), "axis of an unbounded revolute joint"),
    (lambda: UnboundedRevolute(Z, order="sincos"), "got 'sincos', expected 'cos_sin' or 'sin_cos'"),
    (lambda: Universal((0, 0, 0), Y), "axis1 of a universal joint"),
    (lambda: Universal(X, (math.nan, 0, 0)), "axis2 of a universal joint"),
    (lambda: Universal(X, (-3, 0, 0)), "axes of a universal joint: got .*, expected two axes that are not parallel"),
    (lambda: Universal(X, (1, 1e-8, 0)), "axes of a universal joint"),
    (lambda: PlanarAngle(X, (0.1, 1, 0)), "axes of a planar joint: got .*, expected two orthogonal axes"),
    (lambda: PlanarAngle((0, 0, 0), Y), "x_axis of a planar joint"),
    (lambda: Ellipsoid((1, -2, 3)), r"radii of an ellipsoid joint: got \(1.0, -2.0, 3.0\), expected three positive"),
    (lambda: Ellipsoid((1, 0, 3)), "radii of an ellipsoid joint"),
    (lambda: Ellipsoid((1, math.nan, 3)), "radii of an ellipsoid joint"),
    (lambda: Ellipsoid((1, 2)), "radii of an ellipsoid joint"),
    (lambda: Ellipsoid(2.0), "radii of an ellipsoid joint"),
    (lambda: D6(linear=[X, Y, Z, X]), "linear axes of a D6 joint: got .*, expected a sequence of at most 3 axes"),
    (lambda: D6(angular=[X, Y, Z, X]), "angular axes of a D6 joint"),
    (lambda: D6(linear=X), "linear axis 0 of a D6 joint"),
    (lambda: D6(linear=[X, Y, (1, 1, 0)]), "linear axes of a D6 joint: .* expected linearly independent axes"),
    (lambda: D6(linear=[X, (-1, 0, 0)]), "linearly independent axes"),
    (lambda: D6(angular=[X, X]), "angular axes of a D6 joint: .* expected neighbouring axes not parallel"),
    (lambda: D6(angular=[X, (0, 0, 0)]), "angular axis 1 of a D6 joint"),
    (lambda: Composite([]), "joints of a composite joint: .* expected at least one joint"),
    (lambda: Composite([Revolute, Revolute]), "joints of a composite joint"),
    (lambda: Composite([FreeFlyer(), Revolute()]), "expected at most 6 degrees of freedom"),
    (lambda: Composite([Revolute()], [SE3(), SE3()]), "placements of a composite joint: .* expected 1 poses"),
    (lambda: Mimic(Spherical(), "p"), "inner joint of a mimic"),
    (lambda: Mimic(Fixed(), "p"), "inner joint of a mimic: .* expected a movable joint"),
    (lambda: Mimic(Mimic(Revolute(), "p"), "q"), "expected a movable joint, not a mimic"),
    (lambda: Mimic("Revolute", "p"), "inner joint of a mimic: got 'Revolute'"),
    (lambda: Mimic(Revolute(), ""), "primary of a mimic: got '', expected the name of a joint"),
    (lambda: Mimic(Revolute(), Revolute()), "primary of a mimic"),
    (lambda: Mimic(Revolute(), "p", multiplier=math.inf), "multiplier of a mimic: got inf, expected a finite number"),
    (lambda: Mimic(Revolute(), "p", offset=math.nan), "offset of a mimic: got nan, expected a finite number"),
    (lambda: Limits(lower=(1.0,), upper=(0.0,)), "limits lower and upper: .* expected lower <= upper"),
    (lambda: Limits(velocity=(1.0,), velocity_lower=(2.0,)), "expected velocity_lower <= velocity"),
    (lambda: Limits(effort=(1.0, 1.0), effort_lower=(0.0, 2.0)), "expected effort_lower <= effort"),
    (lambda: Limits(lower=(math.nan,)), "limit lower: .* not NaN"),
    (lambda: Limits(upper=1.0), "limit upper: got 1.0, expected a sequence of numbers, one for each dof"),
    (lambda: Limits(upper=("a",)), "limit upper: got"),
    (lambda: Limits(upper="12"), "limit upper: got '12'"),
    (lambda: Limits(upper=b"12"), "limit upper: got b'12'"),
    (lambda: joint_types.VariableScrew(pitch="12"), "pitch of a variable screw joint: got '12'"),
    (lambda: Limits(upper=("1.0",)), r"limit upper: got \('1.0',\), expected a sequence of numbers"),
    (lambda: Revolute(("0", "0", "1")), r"axis of a revolute joint: got \('0', '0', '1'\), expected three finite"),
    (lambda: Limits(upper=(1.0, 2.0)).resolved(1, "hip"), "limits of 'hip': upper: .* expected 1 numbers"),
    (lambda: Limits(velocity=(-1.0,)).resolved(1), "velocity_lower <= velocity"),
]


@in_turn(("make", "message"), REFUSED)
def test_bad_parameters_are_refused_with_a_reason(make, message):
    with pytest.raises(ParameterError, match=message):
        make()


@pytest.mark.parametrize("given", [(Revolute(), Prismatic()), ([Revolute(), SE3(), Prismatic()],), ([],)])
def test_a_composite_says_how_its_joints_are_given(given):
    with pytest.raises(
        ParameterError, match="at least one joint, all in one list; poses before them go to placements="
    ):
        Composite(*given)


@pytest.mark.parametrize("thing", [Revolute((0.0, 0.0, 1.0)), cardan.robots.double_pendulum().model()])
def test_a_number_of_random_configurations_is_enough(thing):
    expected = thing.random_configuration((3,), seed=0)
    np.testing.assert_array_equal(thing.random_configuration(3, seed=0), expected)
    np.testing.assert_array_equal(thing.random_configuration(np.int64(3), seed=0), expected)


def test_limits_that_are_a_pair_of_numbers_are_refused():
    hinge, arm = Revolute((0.0, 0.0, 1.0)), cardan.Mechanism("arm")
    arm.add_body("link", cardan.Inertia(mass=1.0))
    for call in (
        lambda: hinge.random_configuration(limits=(-1.0, 1.0)),
        lambda: cardan.verify_joint(hinge, limits=(-1.0, 1.0)),
        lambda: arm.add_joint("hinge", hinge, parent="world", child="link", limits=(-1.0, 1.0)),
        lambda: arm.add_joint("hinge", hinge, parent="world", child="link", limits=()),
    ):
        with pytest.raises(ParameterError, match=r"limits of .*: got \(.*\), expected a cardan\.Limits\(lower="):
            call()


def test_a_domain_that_is_no_limits_is_refused():
    class Pair(Joint):
        manifold = cardan.manifolds.Euclidean(1)
        domain = ([-0.1], [0.1])

        def transform(self, q):
            return SE3(None, (q[0], 0.0, 0.0))

    with pytest.raises(ParameterError, match=r"domain of Pair: got .*expected positions as cardan\.Limits"):
        Pair().random_configuration(seed=0)


def test_numpy_numbers_are_numbers():
    assert Helical(Z, pitch=np.float64(0.5)).pitch == 0.5
    assert Helical(Z, pitch=np.float32(0.5)).pitch == 0.5
    assert Helical(Z, pitch=np.int64(2)).pitch == 2.0
    assert Mimic(Revolute(), "p", multiplier=np.int64(2)).multiplier == 2.0


def test_limits_resolved():
    full = Limits(upper=(2.0,), velocity=(3.0,), effort=(4.0,), effort_lower=(-1.0,)).resolved(1)
    assert (full.lower, full.upper) == ((-math.inf,), (2.0,))
    assert (full.velocity_lower, full.velocity) == ((-3.0,), (3.0,))
    assert (full.effort_lower, full.effort) == ((-1.0,), (4.0,))
    assert Limits().resolved(0).lower == ()
    assert Limits().resolved(2).velocity_lower == (-math.inf, -math.inf)
    assert Limits(lower=[0, 1]) == Limits(lower=(0.0, 1.0))


# --- equivalences ----------------------------------------------------------------------------------------------------


def assert_equivalent(a, b, to_b, rates=None, n=6, atol=EXACT):
    """Check that joint a at (q, v) is joint b at to_b(q), rates(q, v)."""
    rates = rates or (lambda q, v: v)
    for q in configurations(a, n):
        for v in velocities(a, 1):
            p, w = to_b(q), rates(q, v)
            np.testing.assert_allclose(pose(a.transform(q)), pose(b.transform(p)), rtol=0, atol=atol)
            np.testing.assert_allclose(numbers(a.twist(q, v)), numbers(b.twist(p, w)), rtol=0, atol=atol)
            np.testing.assert_allclose(numbers(a.bias(q, v)), numbers(b.bias(p, w)), rtol=0, atol=4 * atol)


def same(q):
    return q


def test_universal_is_two_revolutes():
    a1, a2 = (0.36, 0.48, 0.8), (0.8, -0.6, 0.0)
    assert_equivalent(Universal(a1, a2), Composite([Revolute(a1), Revolute(a2)]), same)
    joint, q, v = Universal(a1, a2), (0.7, -1.3), (0.4, 0.9)
    turned = rotation_about_axis(a2, q[1]).transpose_apply(a1)  # FACTS, section 3
    expected = Vector3(*a2).cross(turned) * (-v[0] * v[1])
    np.testing.assert_allclose(joint.bias(q, v).angular, expected, atol=1e-16)


def test_helical_is_a_coupled_slider_and_revolute():
    axis, h = (0.48, 0.64, 0.6), 0.2
    pair = Composite([Prismatic(axis), Revolute(axis)])
    assert_equivalent(Helical(axis, h), pair, lambda q: (h * q[0], q[0]), lambda q, v: (h * v[0], v[0]))
    assert_equivalent(Helical(axis, 0.0), Revolute(axis), same)


def test_zyx_is_three_revolutes():
    assert_equivalent(SphericalZYX(), Composite([Revolute(Z), Revolute(Y), Revolute(X)]), same)
    assert_equivalent(SphericalZYX(), D6(angular=[Z, Y, X]), same)


def test_translation_is_three_sliders():
    assert_equivalent(Translation(), Composite([Prismatic(X), Prismatic(Y), Prismatic(Z)]), same)
    assert_equivalent(Translation(), D6(linear=[X, Y, Z]), same)


def test_a_tiny_ellipsoid_is_a_ball_joint():
    xyz = Composite([Revolute(X), Revolute(Y), Revolute(Z)])
    assert_equivalent(Ellipsoid((1e-17, 1e-17, 1e-17)), xyz, same)


def test_an_ellipsoid_is_six_joints_on_its_surface():
    radii = a, b, c = 0.5, 0.7, 1.1
    six = Composite([Prismatic(X), Prismatic(Y), Prismatic(Z), Revolute(X), Revolute(Y), Revolute(Z)])
    joint = Ellipsoid(radii)

    def surface(q):
        s0, c0, s1, c1 = math.sin(q[0]), math.cos(q[0]), math.sin(q[1]), math.cos(q[1])
        return a * s1, -b * s0 * c1, c * c0 * c1

    for q in configurations(joint):
        place = surface(q)
        assert sum((x / r) ** 2 for x, r in zip(place, radii, strict=True)) == pytest.approx(1.0, abs=4e-16)
        np.testing.assert_allclose(pose(joint.transform(q)), pose(six.transform((*place, *q))), atol=EXACT)


def test_an_ellipsoid_with_equal_radii_is_a_sphere():
    q = (0.4, -0.8, 1.1)
    sphere = Composite([Revolute(X), Revolute(Y), Revolute(Z), Fixed()], [SE3()] * 3 + [SE3(translation=(0, 0, 0.2))])
    assert_equivalent(Ellipsoid((0.2, 0.2, 0.2)), sphere, same)
    assert pose(sphere.transform(q)).shape == (4, 4)


@pytest.mark.parametrize("order", ["cos_sin", "sin_cos"])
def test_unbounded_revolute_is_a_revolute(order):
    axis = (0.6, 0.0, 0.8)
    joint = UnboundedRevolute(axis, order)

    def angle(q):
        cosine, sine = q if order == "cos_sin" else reversed(q)
        return (math.atan2(sine, cosine),)

    assert_equivalent(joint, Revolute(axis), angle)
    assert joint.coordinate_names == (("cos", "sin") if order == "cos_sin" else ("sin", "cos"))


def test_d6_is_a_chain():
    linear, angular = [X, (0.0, 0.6, 0.8)], [(0.6, 0.8, 0.0), Z]
    chain = Composite([*map(Prismatic, linear), *map(Revolute, angular)])
    assert_equivalent(D6(linear, angular), chain, same)
    assert_equivalent(D6(), Fixed(), same)


@every
def test_a_chain_of_one_is_the_joint(joint):
    assert_equivalent(joint, Composite([joint]), same, n=2)


def test_nesting_changes_nothing():
    links = [Revolute(X), Prismatic(Y), Revolute(Z)]
    flat = Composite(links, [TILTED, TILTED, TILTED])
    nested = Composite([Composite(links[:2], [SE3(), TILTED]), links[2]], [TILTED, TILTED])
    assert_equivalent(flat, nested, same)


def test_a_placement_comes_before_its_joint():
    joint, q = Composite([Revolute(X), Prismatic(Y)], [TILTED, SE3(translation=(1.0, 0.0, 0.0))]), (0.4, 0.7)
    expected = TILTED @ Revolute(X).transform(q[:1]) @ SE3(translation=(1.0, 0.0, 0.0)) @ Prismatic(Y).transform(q[1:])
    np.testing.assert_allclose(pose(joint.transform(q)), pose(expected), atol=4e-16)


def test_planar_and_spherical_are_a_restricted_free_flyer():
    for v in velocities(Planar(), 3):
        start = (0.1, 0.2, 0.6, 0.8)
        free = FreeFlyer().integrate((0.1, 0.2, 0.0, 0.0, 0.0, math.sqrt(0.2), math.sqrt(0.8)), (*v[:2], 0, 0, 0, v[2]))
        np.testing.assert_allclose(
            pose(Planar().transform(Planar().integrate(start, v))), pose(FreeFlyer().transform(free)), atol=4e-15
        )
        angle = PlanarAngle().integrate((0.1, 0.2, math.atan2(0.8, 0.6)), v)
        np.testing.assert_allclose(pose(PlanarAngle().transform(angle)), pose(FreeFlyer().transform(free)), atol=4e-15)
        turned = Spherical().integrate((0.0, 0.0, 0.0, 1.0), v)
        expected = exp_se3(Motion((0.0, 0.0, 0.0), v))
        np.testing.assert_allclose(pose(Spherical().transform(turned)), pose(expected), atol=4e-15)


def test_mrp_and_quaternion_flyers_agree():
    for q in configurations(FreeFlyer()):
        mrp = (*q[:3], *(e / (1.0 + abs(q[6])) * math.copysign(1.0, q[6]) for e in q[3:6]))
        np.testing.assert_allclose(pose(FloatingMRP().transform(mrp)), pose(FreeFlyer().transform(q)), atol=4e-15)


AFFINE = [Revolute(Y), Prismatic(Y), Helical(Y, 0.1), Universal(X, Y), SphericalZYX(), D6([X], [Z])]


@pytest.mark.parametrize("inner", AFFINE, ids=lambda j: type(j).__name__)
def test_mimic_is_the_inner_joint_at_affine_coordinates(inner):
    mimic = Mimic(inner, "p", multiplier=-0.5, offset=0.2)
    assert mimic.nv == inner.nv

    def coordinates(q):
        return tuple(-0.5 * e + 0.2 for e in q)

    assert_equivalent(mimic, inner, coordinates, lambda q, v: tuple(-0.5 * e for e in v))


@pytest.mark.parametrize("order", ["cos_sin", "sin_cos"])
@pytest.mark.parametrize("multiplier", [2.0, -3.0, 0.5])
def test_mimic_of_an_unbounded_joint_acts_on_the_angle(order, multiplier):
    inner = UnboundedRevolute(Y, order)
    mimic = Mimic(inner, "p", multiplier, 0.2)
    for angle in (-3.0, -0.4, 0.0, 1.1, 3.1):
        q = inner.manifold.from_angle(angle)
        expected = Revolute(Y).transform((multiplier * angle + 0.2,))
        np.testing.assert_allclose(pose(mimic.transform(q)), pose(expected), atol=4e-15)
        np.testing.assert_allclose(numbers(mimic.twist(q, (0.7,))), [0, 0, 0, 0, 0.7 * multiplier, 0], atol=1e-15)


def test_a_mimic_of_a_mimic_collapses():
    first = Mimic(Prismatic(X), "root", multiplier=3.0, offset=0.5)
    second = Mimic(Revolute(Y), "first", multiplier=-2.0, offset=0.1)
    direct = second.of_mimic(first)
    assert direct.primary == "root"
    for q in (-0.7, 0.0, 1.3):
        inner = (3.0 * q + 0.5,)
        np.testing.assert_allclose(pose(direct.transform((q,))), pose(second.transform(inner)), atol=2e-15)


# --- every scalar type -----------------------------------------------------------------------------------------------


def everything(joint, q, v):
    """Return the scalars of all quantities of a joint, as one list."""
    basis = [w.scalars() for w in joint.constraint_wrench_subspace(q)]  # its signs may differ, its projector not
    T = [sum((w[i] * w[j] for w in basis), 0.0) for i in range(6) for j in range(6)]
    S = [e for row in joint.subspace(q).rows() for e in row]
    rate = [e for row in joint.motion_subspace_rate(q, v).rows() for e in row]
    kinematics = [*joint.twist(q, v).scalars(), *joint.bias(q, v).scalars()]
    moved = [*joint.integrate(q, v), *joint.velocity_to_configuration_derivative(q, v), *joint.principal_value(q)]
    X_pc = joint.transform(q)
    back = [] if searched(joint) else list(joint.nearest_configuration(X_pc))
    return [*X_pc.rotation.entries(), *X_pc.translation, *S, *rate, *T, *kinematics, *moved, *back]


def reference(joint):
    q, v = floats(joint.random_configuration(seed=21)), velocities(joint, 1)[0]
    return q, v, np.array(everything(joint, q, v), dtype=float)


@of_each_kind
def test_joints_on_mpmath(joint):
    q, v, expected = reference(joint)
    with mpmath.workdps(30):
        got = [float(e) for e in everything(joint, exact(q), exact(v))]
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-13)


@of_each_kind
def test_joints_on_casadi(joint):
    ca = pytest.importorskip("casadi")
    q, v, expected = reference(joint)
    sq, sv = ca.SX.sym("q", joint.nq), ca.SX.sym("v", joint.nv)
    split = [tuple(ca.vertsplit(s)) if s.numel() else () for s in (sq, sv)]
    function = ca.Function("f", [sq, sv], [ca.vertcat(*everything(joint, *split))])
    np.testing.assert_allclose(np.array(function(q, v)).ravel(), expected, rtol=0, atol=1e-13)


@pytest.mark.slow
@of_each_kind
def test_joints_on_sympy(joint):
    sp = pytest.importorskip("sympy")
    q, v, expected = reference(joint)
    numbers_q, numbers_v = ([sp.Float(e, 25) for e in part] for part in (q, v))
    got = [float(e) for e in everything(joint, numbers_q, numbers_v)]
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-13)


@pytest.mark.full
@every
def test_motion_on_sympy_symbols(joint):
    sp = pytest.importorskip("sympy")
    q, v, _ = reference(joint)
    sq, sv = sp.symbols(f"q:{joint.nq}", real=True), sp.symbols(f"v:{joint.nv}", real=True)
    T = joint.transform(sq)
    twist, bias = joint.twist(sq, sv), joint.bias(sq, sv)
    at = dict(zip((*sq, *sv), (*q, *v), strict=True))
    symbolic = [*T.translation, *twist.scalars(), *bias.scalars()]
    got = [float(sp.sympify(e).subs(at)) for e in symbolic]
    expected = [*joint.transform(q).translation, *joint.twist(q, v).scalars(), *joint.bias(q, v).scalars()]
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-13)


# --- evaluate_joint --------------------------------------------------------------------------------------------------

QUANTITIES = [
    ("transform", ("q",), lambda j: (4, 4)),
    ("motion_subspace", ("q",), lambda j: (6, j.nv)),
    ("motion_subspace_rate", ("q", "v"), lambda j: (6, j.nv)),
    ("bias", ("q", "v"), lambda j: (6,)),
    ("twist", ("q", "v"), lambda j: (6,)),
    ("spatial_acceleration", ("q", "v", "v"), lambda j: (6,)),
    ("torque", ("q", "f"), lambda j: (j.nv,)),
    ("constraint_wrench_subspace", ("q",), lambda j: (6, j.num_constraints)),
    ("velocity_to_configuration_derivative", ("q", "v"), lambda j: (j.nq,)),
    ("velocity_to_configuration_derivative_jacobian", ("q",), lambda j: (j.nq, j.nv)),
    ("configuration_derivative_to_velocity", ("q", "qdot"), lambda j: (j.nv,)),
    ("configuration_derivative_to_velocity_jacobian", ("q",), lambda j: (j.nv, j.nq)),
    ("configuration_derivative_to_velocity_adjoint", ("q", "v"), lambda j: (j.nq,)),
    ("integrate", ("q", "v"), lambda j: (j.nq,)),
    ("global_coordinates", ("q", "v"), lambda j: (j.nq,)),
    ("difference", ("q", "q"), lambda j: (j.nv,)),
    ("normalize", ("q",), lambda j: (j.nq,)),
    ("principal_value", ("q",), lambda j: (j.nq,)),
]


QUANTITIES += [
    ("subspace", ("q",), lambda j: (6, j.nv)),
    ("efforts", ("q", "v"), lambda j: (j.nv,)),
]


def arguments(joint, kinds, shape):
    rng = np.random.default_rng(22)
    sizes = {"v": joint.nv, "qdot": joint.nq, "f": 6}
    return [
        joint.random_configuration(shape, seed=k) if kind == "q" else rng.normal(size=(*shape, sizes[kind]))
        for k, kind in enumerate(kinds)
    ]


@pytest.mark.parametrize(
    "joint", represented(CATALOGUE, by=lambda j: isinstance(j, OF_EACH_KIND)), ids=lambda j: type(j).__name__
)
@in_turn(("quantity", "kinds", "core"), QUANTITIES)
def test_evaluate_joint_shapes_and_values(joint, quantity, kinds, core):
    for shape in ((), (1,), (3, 1, 2)):
        arrays = arguments(joint, kinds, shape)
        got = cardan.evaluate_joint(joint, quantity, *arrays)
        assert got.shape == (*shape, *core(joint))
        assert got.dtype == np.float64
        for index in np.ndindex(*shape):
            one = cardan.evaluate_joint(joint, quantity, *(a[index] for a in arrays))
            np.testing.assert_allclose(got[index], one, rtol=0, atol=2e-15)


@catalogue
def test_evaluate_joint_equals_the_methods(joint):
    q, v = joint.random_configuration(seed=3), np.array(velocities(joint, 1)[0])
    scalars, rates = floats(q), floats(v)
    f = Force.of(np.arange(6.0))
    T = np.array([numbers(w) for w in joint.constraint_wrench_subspace(scalars)]).reshape(-1, 6).T

    def close(name, *arrays):
        got = cardan.evaluate_joint(joint, name, *arrays)
        return lambda expected: np.testing.assert_allclose(got, expected, rtol=0, atol=2e-15)

    close("transform", q)(pose(joint.transform(scalars)))
    close("motion_subspace", q)(rows(joint.subspace(scalars)))
    close("motion_subspace_rate", q, v)(rows(joint.motion_subspace_rate(scalars, rates)))
    close("constraint_wrench_subspace", q)(T)
    close("bias", q, v)(numbers(joint.bias(scalars, rates)))
    close("torque", q, np.arange(6.0))(np.array(joint.torque(scalars, f), dtype=float))
    close("integrate", q, v)(np.array(joint.integrate(scalars, rates), dtype=float))


def flat(value):
    """Return what a joint's method returned as one vector of floats."""
    if isinstance(value, SE3):
        value = value.matrix()
    if isinstance(value, (tuple, list)):
        return np.concatenate([flat(e) for e in value] or [np.zeros(0)])
    return np.ravel(np.asarray(value, dtype=float))


@every
def test_every_method_takes_a_state_as_a_tuple_a_list_or_an_array(joint):
    for quantity, kinds, _ in [*QUANTITIES, ("local_coordinates", ("q", "q", "v"), None)]:
        given = arguments(joint, kinds, ())
        method = getattr(joint, quantity)
        wrench = [i for i, kind in enumerate(kinds) if kind == "f"]
        forms = [
            [Force.of(a) if i in wrench else form(a) for i, a in enumerate(given)]
            for form in (floats, list, np.asarray)
        ]
        expected, *others = (flat(method(*form)) for form in forms)
        for got in others:
            np.testing.assert_allclose(got, expected, rtol=0, atol=1e-14, err_msg=quantity)


@catalogue
def test_a_batch_is_refused_and_led_to_evaluate_joint(joint):
    for quantity, kinds, _ in [*QUANTITIES, ("local_coordinates", ("q", "q", "v"), None)]:
        given = [
            Force.of(np.arange(6.0)) if k == "f" else a
            for k, a in zip(kinds, arguments(joint, kinds, (5,)), strict=True)
        ]
        for form in (np.asarray, lambda a: a.tolist() if isinstance(a, np.ndarray) else a):
            if not joint.nq and form is not np.asarray:
                continue
            with pytest.raises(ShapeError, match=f"one state. Of a batch.*evaluate_joint.joint, '{quantity}'"):
                getattr(joint, quantity)(*(a if isinstance(a, Force) else form(a) for a in given))


def test_a_number_or_a_vector_of_another_length_is_no_state():
    with pytest.raises(
        ShapeError, match=r"Revolute\.transform: argument 'q' has shape \(\), expected \(1,\), one state"
    ):
        Revolute().transform(0.5)
    with pytest.raises(ShapeError, match=r"argument 'q' has shape \(2,\), expected \(1,\)"):
        Revolute().transform(q=[0.5, 0.1])
    with pytest.raises(ShapeError, match=r"Revolute\.bias: argument 'v' has shape \(2,\)"):
        Revolute().bias([0.5], np.zeros(2))


def test_the_joint_of_a_user_takes_a_state_in_any_form_and_no_batch():
    class Bent(Joint):
        manifold = cardan.manifolds.Euclidean(1)

        def transform(self, q):
            return SE3(rotation_about_axis(Z, q[0]), (0.1 * q[0] ** 2, 0.0, 0.0))

    for quantity, args in (("transform", ([2],)), ("bias", ([2], [1]))):
        method = getattr(Bent(), quantity)
        np.testing.assert_array_equal(flat(method(*args)), flat(method(*map(np.array, args))))
        with pytest.raises(ShapeError, match="evaluate_joint"):
            method(*(np.array([a, a]) for a in args))


@catalogue
def test_evaluate_joint_knows_local_coordinates_and_the_inverse(joint):
    q0, q, v = arguments(joint, ("q", "q", "v"), (3,))
    phi, rate = cardan.evaluate_joint(joint, "local_coordinates", q0, q, v)
    for k in range(3):
        expected = joint.local_coordinates(q0[k], q[k], v[k])
        np.testing.assert_allclose(phi[k], expected[0], atol=1e-14)
        np.testing.assert_allclose(rate[k], expected[1], atol=1e-14)
    X = cardan.evaluate_joint(joint, "transform", q)
    if joint.nq and not searched(joint):
        found = cardan.evaluate_joint(joint, "configuration_from_transform", X)
        assert found.shape == q.shape
        np.testing.assert_allclose(cardan.evaluate_joint(joint, "transform", found), X, atol=1e-7)


def test_evaluate_joint_broadcasts():
    joint = Universal()
    q, v = np.zeros((3, 1, 2)), np.ones((1, 5, 2))
    assert cardan.evaluate_joint(joint, "twist", q, v).shape == (3, 5, 6)
    assert cardan.evaluate_joint(joint, "motion_subspace", np.zeros((0, 2))).shape == (0, 6, 2)
    assert cardan.evaluate_joint(joint, "motion_subspace", [[0, 1]]).dtype == np.float64


@catalogue
def test_evaluate_joint_keeps_float32(joint):
    for quantity, kinds, _ in QUANTITIES:
        arrays = [a.astype(np.float32) for a in arguments(joint, kinds, (2,))]
        got = cardan.evaluate_joint(joint, quantity, *arrays)
        assert got.dtype == np.float32 or got.size == 0, quantity


@pytest.mark.parametrize(
    ("args", "error", "message"),
    [
        (
            ("motion_subspce", np.zeros(1)),
            UnknownNameError,
            "no quantity of a joint named 'motion_subspce'; did you mean",
        ),
        (("motion_subspce", np.zeros(1)), UnknownNameError, "'motion_subspace'"),
        (("mass", np.zeros(1)), UnknownNameError, "the names are transform|did you mean"),
        (("motion_subspace", np.zeros(2)), ShapeError, r"Revolute\.motion_subspace: argument 'nq' has shape \(2,\)"),
        (("motion_subspace", 0.5), ShapeError, r"has shape \(\), expected \(\.\.\., 1\)"),
        (("motion_subspace",), ShapeError, "expected 1 arrays: nq"),
        (("bias", np.zeros(1)), ShapeError, "expected 2 arrays: nq, nv"),
        (("torque", np.zeros(1), np.zeros(5)), ShapeError, r"'wrench' has shape \(5,\), expected \(\.\.\., 6\)"),
        (("transform", ["a"]), DTypeError, "text"),
        (("transform", [1j]), DTypeError, "complex"),
        (("bias", np.zeros((3, 1)), np.zeros((2, 1))), ShapeError, "broadcast"),
    ],
)
def test_evaluate_joint_errors(args, error, message):
    with pytest.raises(error, match=message):
        cardan.evaluate_joint(Revolute(), *args)


def test_evaluate_joint_gives_nan_for_a_zero_quaternion():
    got = cardan.evaluate_joint(Spherical(), "transform", np.array([[0.0, 0, 0, 0], [0, 0, 0, 1]]))
    assert np.isnan(got[0, :3, :3]).all()
    np.testing.assert_array_equal(got[1], np.eye(4))


def test_subspace_of_constants_broadcasts_to_the_batch():
    got = cardan.evaluate_joint(Revolute(Y), "motion_subspace", np.zeros((3, 1, 2, 1)))
    assert got.shape == (3, 1, 2, 6, 1)
    assert (got[..., 4, 0] == 1.0).all()
    assert Matrix3.identity().trace() == 3.0
