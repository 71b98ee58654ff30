"""Spatial algebra: group axioms, dense 6x6 algebra as an oracle, and 50-digit references for every exponential.

Where a bound is stated as a constant, it is in units of the rounding error (eps) of the dtype under test and about
twice what was measured.
"""

import copy
import functools
import math
import pickle

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cardan
from cardan import scalar
from cardan._algebra.spatial.davenport import angles_about_axes
from cardan._compiler.program import Array, trace
from cardan._compiler.targets import evaluate
from cardan.errors import DTypeError, ParameterError, ShapeError
from cardan.spatial import (
    SE3,
    ArticulatedInertia,
    Force,
    ForceSubspace,
    Inertia,
    Matrix3,
    Motion,
    MotionSubspace,
    SpatialMatrix,
    Symmetric3,
    Vector3,
    exp_se3,
    is_proper_rotation,
    log_from_rotation_vector,
    log_se3,
    momentum_rate_matrix,
    right_jacobian_inverse_se3,
    snapped,
    stack,
    stumpff,
    unit_vector,
)
from cardan.spatial import rotations as ro
from representatives import in_turn, represented

PI = math.pi
DIGITS = 50
EPS = {np.float64: 2.0**-52, np.float32: 2.0**-23}

# Bounds, in eps of the dtype.
EXP_ROTATION = 2  # exp([phi]): each entry; entries off the diagonal relative to min(1, angle); times the angle above 1
EXP_TRANSLATION = 2  # relative to the length of the linear part; times the angle above 1
LOG_ROTATION = 2  # relative to the angle
LOG_RESIDUAL = 2  # exp(log(X)) against X: as for exp
JACOBIAN = 1  # relative to 1 (rotation) or the length of the linear part (coupling); times the angle above 1
JACOBIAN_INVERSE = 2
STUMPFF = 5  # relative to |c_k| + |2 x dc_k/dx|, the error that rounding x itself makes
ROUND_TRIP = 8  # matrix -> chart -> matrix


# --- references ------------------------------------------------------------------------------------------------------


def exact(values):
    """Return floats as an array of 50-digit numbers."""
    return np.array([mpmath.mpf(float(e)) for e in np.ravel(values)], dtype=object).reshape(np.shape(values))


def skew(u):
    x, y, z = u
    return np.array([[0 * x, -z, y], [z, 0 * x, -x], [-y, x, 0 * x]], dtype=np.asarray(u).dtype)


def power_series(matrix, shift, sign=1):
    """Return the sum of (sign matrix)^n / (n + shift)!: shift 0 is the exponential, 1 the Jacobian."""
    n, term = 0, np.array([[mpmath.mpf(i == j) for j in range(len(matrix))] for i in range(len(matrix))], dtype=object)
    total = term / mpmath.factorial(shift)
    while np.abs(term).max() > mpmath.mpf(10) ** (10 - DIGITS):
        n += 1
        term = (term @ matrix) * (mpmath.mpf(sign) / n)
        total = total + term * (mpmath.factorial(n) / mpmath.factorial(n + shift))
    return total


@functools.cache
def reference_exp(twist):
    """Return exp (4x4) of a twist given as six floats."""
    with mpmath.workdps(DIGITS):
        hat = np.full((4, 4), mpmath.mpf(0))
        hat[:3, :3], hat[:3, 3] = skew(exact(twist[3:])), exact(twist[:3])
        return power_series(hat, 0)


@functools.cache
def reference_jacobian(twist):
    """Return the right Jacobian (6x6) of a twist given as six floats."""
    with mpmath.workdps(DIGITS):
        V, W = skew(exact(twist[:3])), skew(exact(twist[3:]))
        return power_series(np.block([[W, V], [0 * W, W]]), 1, sign=-1)


def reference_jacobian_inverse(twist):
    with mpmath.workdps(DIGITS):
        return np.array((mpmath.matrix(reference_jacobian(twist).tolist()) ** -1).tolist(), dtype=object)


def references(function, rows):
    return [function(tuple(map(float, row))) for row in rows]


DIRECTIONS = [np.array(d) / np.linalg.norm(d) for d in ((3.0, -1.0, 2.0), (1e-3, 1.0, -0.5))]
LINEAR = (0.3, -0.7, 1.1)
SMALL = [10.0**k for k in range(-16, 0)]
MIDDLE = [0.0, 0.3, 0.9, 1.5, 1.999999, 2.0, 2.000001, 2.5, 3.0]  # the series ends at 2
NEAR_PI = [PI - 10.0**-k for k in range(1, 13)] + [PI]
BEYOND = [3.5, 4.5, 6.0] + [2 * PI * k for k in (1, 2, 3, 4)] + [2 * PI + 1e-9, 2 * PI - 1e-6, 3 * PI]
PRINCIPAL = SMALL + MIDDLE + NEAR_PI


def twists(angles, dtype, linear=LINEAR):
    """Return twists of every angle and direction, exactly representable in dtype, shape (n, 6)."""
    rows = [(*linear, *(angle * d)) for d in DIRECTIONS for angle in angles]
    return np.array(rows, dtype=dtype)


def dense(m):
    return stack([list(r) for r in m.rows()])


def columns(array):
    return tuple(np.moveaxis(array, -1, 0))


def angle_of(rows):
    return np.linalg.norm(rows[:, 3:].astype(float), axis=1)


def error(got, references):
    """Return |got - reference| as floats, the subtraction in 50 digits."""
    with mpmath.workdps(DIGITS):
        return np.array([np.abs(exact(g) - r).astype(float) for g, r in zip(got, references, strict=True)])


def rotation_scale(angles, dtype):
    """Return the rounding unit of each entry of a rotation: off the diagonal relative to small angles."""
    unit = EPS[dtype] * np.maximum(1.0, angles)
    scale = (unit * np.minimum(1.0, np.maximum(angles, 1e-300)))[:, None, None] * np.ones((3, 3))
    scale[:, range(3), range(3)] = unit[:, None]
    return scale


DTYPES = (np.float64, np.float32)
dtypes = pytest.mark.parametrize("dtype", DTYPES)
light_dtypes = pytest.mark.parametrize("dtype", represented(DTYPES, by=[np.float64].count))


# --- exponentials, logarithms and their Jacobians -------------------------------------------------------------------


@pytest.mark.slow
@light_dtypes
def test_exp_so3(dtype):
    rows = twists(PRINCIPAL + BEYOND, dtype)
    got = dense(ro.matrix_from_rotation_vector(columns(rows[:, 3:])))
    errors = error(got, [r[:3, :3] for r in references(reference_exp, rows)])
    assert (errors / rotation_scale(angle_of(rows), dtype)).max() < EXP_ROTATION


@dtypes
def test_quaternion_exp(dtype):
    rows = twists(PRINCIPAL + BEYOND, dtype)
    got = np.stack(ro.quaternion_xyzw_from_rotation_vector(columns(rows[:, 3:])), axis=-1)
    expected = []
    with mpmath.workdps(DIGITS):
        for phi in map(exact, rows[:, 3:]):
            angle = mpmath.sqrt((phi * phi).sum())
            sine = mpmath.sin(angle / 2) / angle if angle else mpmath.mpf("0.5")
            expected.append(np.array([*(phi * sine), mpmath.cos(angle / 2)], dtype=object))
    angles = angle_of(rows)
    errors = error(got, expected) / (EPS[dtype] * np.maximum(1.0, angles))[:, None]
    errors[:, :3] /= np.minimum(1.0, np.maximum(angles, 1e-300))[:, None]
    assert errors.max() < EXP_ROTATION


@pytest.mark.slow
@light_dtypes
def test_exp_se3_keeps_the_translation_at_tiny_angles_and_full_turns(dtype):
    """RigidBodyDynamics.jl divides by the angle: error eps/angle, and no projection at 2 pi k (FACTS 5.2)."""
    rows = twists(PRINCIPAL + BEYOND, dtype)
    X = exp_se3(Motion(columns(rows[:, :3]), columns(rows[:, 3:])))
    errors = error(np.stack(X.translation, axis=-1), [r[:3, 3] for r in references(reference_exp, rows)])
    unit = EPS[dtype] * np.linalg.norm(LINEAR) * np.maximum(1.0, angle_of(rows))
    assert (errors / unit[:, None]).max() < EXP_TRANSLATION


@pytest.mark.parametrize("turns", [1, 2, 3])
def test_a_screw_of_full_turns_keeps_only_its_advance(turns):
    X = exp_se3(Motion((1.0, 2.0, 3.0), (0.0, 0.0, 2 * PI * turns)))
    np.testing.assert_allclose(X.matrix(), SE3(translation=(0.0, 0.0, 3.0)).matrix(), atol=1e-14)


def rounded_poses(rows, dtype):
    return np.array([r.astype(float) for r in references(reference_exp, rows)]).astype(dtype)


@dtypes
def test_log_so3(dtype):
    rows = twists(PRINCIPAL, dtype)
    R = Matrix3.of(rounded_poses(rows, dtype)[:, :3, :3])
    got = np.stack(ro.rotation_vector_from_matrix(R), axis=-1).astype(float)
    angles = angle_of(rows)
    plus, minus = (np.abs(got - sign * rows[:, 3:].astype(float)).max(axis=1) for sign in (1.0, -1.0))
    half_turn = np.abs(angles - PI) < 4 * EPS[dtype] * PI  # there both vectors are right
    errors = np.where(half_turn, np.minimum(plus, minus), plus) / np.maximum(angles, 1e-300)
    assert errors.max() < LOG_ROTATION * EPS[dtype]


@pytest.mark.slow
@dtypes
def test_log_se3(dtype):
    rows = twists(PRINCIPAL, dtype)
    X = rounded_poses(rows, dtype)
    got = np.stack(log_se3(SE3.of(X)).scalars(), axis=-1).astype(dtype)
    assert (angle_of(got) < PI * (1.0 + 4 * EPS[dtype])).all()
    again, angles = references(reference_exp, got), angle_of(rows)
    rotation = error(X[:, :3, :3], [r[:3, :3] for r in again]) / rotation_scale(angles, dtype)
    translation = error(X[:, :3, 3], [r[:3, 3] for r in again]) / (EPS[dtype] * np.linalg.norm(LINEAR))
    assert rotation.max() < LOG_RESIDUAL
    assert translation.max() < LOG_RESIDUAL


@pytest.mark.slow
@pytest.mark.parametrize(
    ("inverse", "dtype"),
    represented([(i, t) for i in (False, True) for t in DTYPES], by=lambda case: case == (True, np.float64)),
)
def test_right_jacobians(dtype, inverse):
    """The rate of a rotation vector stays exact near zero, and so does the log's time derivative (FACTS 5.1, 5.3)."""
    rows = twists(PRINCIPAL if inverse else PRINCIPAL + BEYOND, dtype)
    expected = references(reference_jacobian_inverse if inverse else reference_jacobian, rows)
    angles, bound = angle_of(rows), JACOBIAN_INVERSE if inverse else JACOBIAN

    small = ro.right_jacobian_inverse if inverse else ro.right_jacobian
    errors = error(dense(small(columns(rows[:, 3:]))), [r[:3, :3] for r in expected])
    assert (errors / rotation_scale(angles, dtype)).max() < bound

    if not inverse:
        return
    got = stack(right_jacobian_inverse_se3(Motion(columns(rows[:, :3]), columns(rows[:, 3:]))))
    errors = error(got, expected) / (EPS[dtype] * np.maximum(1.0, angles))[:, None, None]
    errors[:, :3, 3:] /= np.linalg.norm(LINEAR)
    assert errors.max() < bound
    assert (got[:, 3:, :3] == 0.0).all()


@pytest.mark.parametrize("angle", [0.0, *SMALL])
def test_rotation_vector_rate_is_finite_and_exact_near_zero(angle):
    phi, w = angle * DIRECTIONS[0], np.array([0.4, 0.9, -1.3])
    rate = np.array(ro.right_jacobian_inverse(tuple(phi)) @ Vector3(*w))
    bortz = w + np.cross(phi, w) / 2 + np.cross(phi, np.cross(phi, w)) * (1 / 12 + angle**2 / 720)
    np.testing.assert_allclose(rate, bortz, rtol=0, atol=max(4e-16, angle**4 / 1000))


@dtypes
def test_stumpff(dtype):
    x = np.concatenate([[0.0], np.logspace(-32, 4, 145), [4.0, np.nextafter(4.0, 0), np.nextafter(4.0, 9)]])
    x = np.unique(x.astype(dtype))
    got = np.stack(stumpff(x))
    assert got.dtype == dtype
    worst = 0.0
    with mpmath.workdps(DIGITS):
        for j, value in enumerate(map(float, x)):
            t2 = mpmath.mpf(value)
            c = [mpmath.nsum(lambda n, k=k, t2=t2: (-t2) ** n / mpmath.factorial(2 * n + k), [0, 30]) for k in (6, 7)]
            if value >= 1.0:
                t = mpmath.sqrt(t2)
                c = [mpmath.cos(t), mpmath.sin(t) / t]
                for k in range(6):
                    c.append((1 / mpmath.factorial(k) - c[k]) / t2)
            else:
                for k in range(5, -1, -1):
                    c.insert(0, 1 / mpmath.factorial(k) - t2 * c[1])
            for k in range(6):
                slope = (k * c[k + 2] - c[k + 1]) / 2
                scale = abs(c[k]) + abs(2 * t2 * slope)
                worst = max(worst, float(abs(mpmath.mpf(float(got[k, j])) - c[k]) / scale))
    assert worst < STUMPFF * EPS[dtype]


# --- charts of the rotations ----------------------------------------------------------------------------------------

CHARTS = {
    "quaternion_xyzw": (ro.matrix_from_quaternion_xyzw, ro.quaternion_xyzw_from_matrix),
    "rotation_vector": (ro.matrix_from_rotation_vector, ro.rotation_vector_from_matrix),
    "mrp": (ro.matrix_from_mrp, lambda R: ro.mrp_from_quaternion_xyzw(ro.quaternion_xyzw_from_matrix(R))),
    "zyx": (ro.matrix_from_zyx, ro.zyx_from_matrix),
    "xyz": (ro.matrix_from_xyz, ro.xyz_from_matrix),
}


def sample_rotations(dtype=np.float64):
    """Return random rotations and those of every angle of the grid, shape (n, 3, 3)."""
    rng = np.random.default_rng(1)
    q = rng.normal(size=(100, 4))
    axes = np.repeat(np.vstack([np.eye(3), -np.eye(3), DIRECTIONS]), len(PRINCIPAL), axis=0)
    v = axes * np.tile(PRINCIPAL, 8)[:, None]
    both = [dense(ro.matrix_from_quaternion_xyzw(columns(q))), dense(ro.matrix_from_rotation_vector(columns(v)))]
    return np.concatenate(both).astype(dtype)


@dtypes
@pytest.mark.parametrize("chart", CHARTS)
def test_chart_round_trip(chart, dtype):
    to_matrix, from_matrix = CHARTS[chart]
    R = sample_rotations(dtype)
    coordinates = from_matrix(Matrix3.of(R))
    again = dense(to_matrix(tuple(e.astype(dtype) for e in coordinates)))
    assert np.abs(again - R).max() < ROUND_TRIP * EPS[dtype]


@pytest.mark.parametrize("chart", CHARTS)
def test_chart_gives_proper_rotations(chart):
    rng = np.random.default_rng(2)
    size = 4 if chart == "quaternion_xyzw" else 3
    for row in rng.normal(size=(20, size)) * 3.0:
        assert is_proper_rotation(CHARTS[chart][0](tuple(map(float, row))), tolerance=1e-14)


@pytest.mark.parametrize("chart", ["zyx", "xyz"])
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_gimbal_lock(chart, side):
    to_matrix, from_matrix = CHARTS[chart]
    for offset in [0.0, *SMALL, *(-s for s in SMALL)]:
        for a, c in ((0.0, 0.0), (0.7, -0.4), (-2.9, 3.0), (PI / 2, PI)):
            R = to_matrix((a, side * (PI / 2 + offset), c))
            angles = from_matrix(R)
            assert abs(angles[1]) <= PI / 2
            assert abs(angles[1] - side * (PI / 2 - abs(offset))) < 4e-16 * (1 + abs(offset) / 1e-16 * 1e-3)
            np.testing.assert_allclose(dense(to_matrix(angles)), dense(R), rtol=0, atol=8e-16)


@pytest.mark.parametrize("chart", ["zyx", "xyz"])
def test_exact_gimbal_lock_leaves_the_first_angle_zero(chart):
    lock = Matrix3((0.0, 0.0, 1.0, 0.0, 1.0, 0.0, -1.0, 0.0, 0.0))
    angles = CHARTS[chart][1](lock)
    assert angles[0] == 0.0
    np.testing.assert_allclose(angles, (0.0, PI / 2, 0.0), atol=1e-16)


@pytest.mark.parametrize("chart", ["zyx", "xyz"])
def test_angles_come_back_away_from_gimbal_lock(chart):
    rng = np.random.default_rng(3)
    q = rng.uniform(-1.0, 1.0, size=(50, 3)) * (PI, 1.4, PI)
    got = np.stack(CHARTS[chart][1](CHARTS[chart][0](columns(q))), axis=-1)
    np.testing.assert_allclose(got, q, atol=1e-14)


def test_quaternion_algebra():
    rng = np.random.default_rng(4)
    a, b = (columns(rng.normal(size=(50, 4))) for _ in range(2))
    product = dense(ro.matrix_from_quaternion_xyzw(ro.quaternion_multiply_xyzw(a, b)))
    A, B = dense(ro.matrix_from_quaternion_xyzw(a)), dense(ro.matrix_from_quaternion_xyzw(b))
    np.testing.assert_allclose(product, A @ B, atol=2e-15)
    conjugate = dense(ro.matrix_from_quaternion_xyzw(ro.quaternion_conjugate_xyzw(a)))
    np.testing.assert_allclose(conjugate, np.swapaxes(A, -1, -2), atol=1e-15)
    canonical = np.stack(ro.quaternion_canonical_xyzw(a), axis=-1)
    assert (canonical[:, 3] >= 0.0).all()
    assert (np.abs(canonical) == np.abs(np.stack(a, axis=-1))).all()
    np.testing.assert_allclose(np.linalg.norm(ro.quaternion_normalize_xyzw(a), axis=0), 1.0, atol=4e-16)


def test_quaternions_of_any_norm_give_rotations():
    q = (0.1, -0.7, 0.3, 0.4)
    for factor in (-1.0, 1e-3, 2.0, 1e5):
        scaled = tuple(factor * e for e in q)
        np.testing.assert_allclose(
            ro.matrix_from_quaternion_xyzw(scaled), ro.matrix_from_quaternion_xyzw(q), atol=4e-16
        )
        np.testing.assert_allclose(
            ro.rotation_vector_from_quaternion_xyzw(scaled), ro.rotation_vector_from_quaternion_xyzw(q), atol=1e-15
        )


def test_outside_the_domain_floats_give_no_error():
    assert np.isnan(tuple(ro.matrix_from_quaternion_xyzw((0.0, 0.0, 0.0, 0.0)))).all()


def test_a_quaternion_and_its_negative_have_one_rotation_vector():
    for angle in SMALL + NEAR_PI[:-1]:
        q = ro.quaternion_xyzw_from_rotation_vector(tuple(angle * DIRECTIONS[0]))
        phi = ro.rotation_vector_from_quaternion_xyzw(tuple(-e for e in q))
        np.testing.assert_allclose(phi, angle * DIRECTIONS[0], rtol=1e-15, atol=1e-15 if angle > 3 else 0)


def test_mrp_principal_set():
    rng = np.random.default_rng(5)
    for s in rng.normal(size=(40, 3)) * 1.5:
        s = Vector3(*map(float, s))
        n = s.norm_squared()
        shadow = s * (-1.0 / n)
        np.testing.assert_allclose(dense(ro.matrix_from_mrp(shadow)), dense(ro.matrix_from_mrp(s)), atol=2e-15)
        assert ro.mrp_principal(s) == (s if n <= 1.0 else shadow)
        principal = ro.mrp_from_quaternion_xyzw(ro.quaternion_xyzw_from_mrp(s))
        np.testing.assert_allclose(principal, ro.mrp_principal(s), atol=2e-15)
    assert ro.mrp_principal((0.0, 0.0, 0.0)) == (0.0, 0.0, 0.0)
    assert ro.mrp_principal((0.0, 1.0, 0.0)) == (0.0, 1.0, 0.0)
    axis, angle = DIRECTIONS[0], 1.3
    s = tuple(axis * math.tan(angle / 4))
    np.testing.assert_allclose(dense(ro.matrix_from_mrp(s)), dense(ro.rotation_about_axis(axis, angle)), atol=4e-16)


def test_rotation_about_an_axis_and_back():
    for axis in DIRECTIONS:
        for angle in [-3.0, -1e-9, 0.0, 0.3, 2.9, *SMALL, *NEAR_PI]:
            R = ro.rotation_about_axis(tuple(axis), angle)
            np.testing.assert_allclose(dense(R), dense(ro.matrix_from_rotation_vector(tuple(angle * axis))), atol=1e-15)
            assert ro.angle_about_axis(tuple(axis), R) == pytest.approx(angle, rel=2e-15, abs=0)


AXES = {
    "zxz": ((0, 0, 1), (1, 0, 0), (0, 0, 1)),
    "zyx": ((0, 0, 1), (0, 1, 0), (1, 0, 0)),
    "oblique": ((0, 0, 1), (0, 0.6, 0.8), (0.8, 0.6, 0)),
    "two": ((1, 0, 0), (0.6, 0.8, 0)),
    "one": ((0.36, 0.48, 0.8),),
    "none": (),
}


@pytest.mark.parametrize("name", AXES)
def test_angles_about_any_axes(name):
    axes = tuple(Vector3(*map(float, a)) for a in AXES[name])
    rng = np.random.default_rng(6)

    def compose(q):
        R = Matrix3.identity()
        for axis, angle in zip(axes, q, strict=True):
            R = R @ ro.rotation_about_axis(axis, angle)
        return R

    q = rng.uniform(-PI, PI, size=(200, len(axes)))
    if len(axes) == 3:
        q[:100, 1] = np.tile([0.0, *SMALL, PI, *(PI - s for s in SMALL), PI / 2], 3)[:100]
    R = compose(columns(q))
    again = compose(angles_about_axes(axes, R))
    atol = 1e-7 if name == "oblique" else 4e-15  # oblique axes lose half the digits where they align
    got, expected = (np.array([np.broadcast_to(e, 200) for e in m.entries()]) for m in (again, R))
    np.testing.assert_allclose(got, expected, rtol=0, atol=atol)


# --- dense algebra as an oracle ---------------------------------------------------------------------------------------


def adjoint(X):
    R, P = dense(X.rotation), skew(np.array(X.translation))
    return np.block([[R, P @ R], [np.zeros((3, 3)), R]])


def cross_motion(m):
    V, W = skew(m[:3]), skew(m[3:])
    return np.block([[W, V], [np.zeros((3, 3)), W]])


def dense_inertia(mass, com, inertia):
    C = skew(np.asarray(com, dtype=float))
    return np.block([[mass * np.eye(3), -mass * C], [mass * C, np.asarray(inertia) - mass * C @ C]])


def as_matrix(operator):
    """Return the 6x6 matrix of something that maps motions to forces."""
    return np.array([(operator @ Motion.of(e)).scalars() for e in np.eye(6)]).T


numbers = st.floats(-3.0, 3.0, allow_nan=False)
sixes = st.tuples(*[numbers] * 6)
motions = sixes.map(Motion.of)
forces = sixes.map(Force.of)
poses = motions.map(exp_se3)
points = st.tuples(*[numbers] * 3).map(lambda p: Vector3(*p))
quick = settings(max_examples=60, deadline=None)


def assert_same(a, b, atol=1e-13):
    flat = [np.ravel(np.array(x.matrix() if isinstance(x, SE3) else list(x), dtype=float)) for x in (a, b)]
    assert type(a) is type(b)
    np.testing.assert_allclose(*flat, rtol=0, atol=atol)


@pytest.mark.slow
@quick
@given(poses, poses, poses)
def test_poses_form_a_group(X, Y, Z):
    assert_same((X @ Y) @ Z, X @ (Y @ Z))
    assert_same(X @ SE3.identity(), X, atol=0)
    assert_same(SE3.identity() @ X, X, atol=0)
    assert_same(X @ X.inverse(), SE3.identity(), atol=1e-14)
    assert_same(X.inverse() @ X, SE3.identity(), atol=1e-14)
    assert_same((X @ Y).inverse(), Y.inverse() @ X.inverse())
    np.testing.assert_allclose((X @ Y).matrix(), X.matrix() @ Y.matrix(), atol=1e-14)
    assert is_proper_rotation((X @ Y @ Z).rotation, 1e-14)


@pytest.mark.slow
@quick
@given(poses, poses, motions, forces, points)
def test_poses_act(X, Y, m, f, p):
    for thing in (m, f, p):
        assert_same((X @ Y) @ thing, X @ (Y @ thing))
        assert_same(X.inverse_act(X @ thing), thing)
        assert_same(X.inverse_act(thing), X.inverse() @ thing)
    Ad = adjoint(X)
    np.testing.assert_allclose(X.adjoint(), Ad, atol=1e-15)
    np.testing.assert_allclose((X @ m).scalars(), Ad @ m.scalars(), atol=1e-13)
    np.testing.assert_allclose((X @ f).scalars(), np.linalg.inv(Ad).T @ f.scalars(), atol=1e-12)
    np.testing.assert_allclose((X @ p), (X.matrix() @ [*p, 1.0])[:3], atol=1e-14)


@quick
@given(poses, motions, forces)
def test_power_does_not_depend_on_the_frame(X, m, f):
    assert (X @ m).dot(X @ f) == pytest.approx(m.dot(f), abs=1e-12)
    assert f.dot(m) == m.dot(f)
    assert m.dot(f) == pytest.approx(np.dot(m.scalars(), f.scalars()), abs=1e-13)


@quick
@given(poses, motions, motions, forces)
def test_cross_products(X, a, b, f):
    np.testing.assert_allclose(a.cross(b).scalars(), cross_motion(np.array(a.scalars())) @ b.scalars(), atol=1e-13)
    np.testing.assert_allclose(a.cross(f).scalars(), -cross_motion(np.array(a.scalars())).T @ f.scalars(), atol=1e-13)
    assert_same(a.cross(b), -b.cross(a), atol=0)
    assert_same(X @ a.cross(b), (X @ a).cross(X @ b), atol=1e-11)
    assert_same(X @ a.cross(f), (X @ a).cross(X @ f), atol=1e-11)
    assert a.cross(b).dot(f) == pytest.approx(-b.dot(a.cross(f)), abs=1e-11)


@quick
@given(motions)
def test_the_exponential_of_a_multiple_of_a_twist(m):
    assert_same(exp_se3(m * 0.3) @ exp_se3(m * 0.7), exp_se3(m), atol=1e-13)
    assert_same(exp_se3(m).inverse(), exp_se3(-m), atol=1e-14)
    assert_same(exp_se3(m) @ m, m, atol=1e-12)


def test_vectors_and_matrices_equal_numpy():
    rng = np.random.default_rng(7)
    a, b = rng.normal(size=(2, 3))
    M, N = rng.normal(size=(2, 3, 3))
    va, vb, m, n = Vector3(*a), Vector3(*b), Matrix3.of(M), Matrix3.of(N)
    close = functools.partial(np.testing.assert_allclose, atol=1e-15, rtol=1e-14)
    close(va.cross(vb), np.cross(a, b))
    close(va.skew() @ vb, np.cross(a, b))
    close(dense(va.outer(vb)), np.outer(a, b))
    close(va - vb * 2.0 + -va, -2.0 * b)
    close(dense(m @ n), M @ N)
    close(m @ va, M @ a)
    close(m.transpose_apply(va), M.T @ a)
    close(dense(m.T - n + m * 3.0), M.T - N + 3.0 * M)
    close(m.axial(), [(M - M.T)[2, 1] / 2, (M - M.T)[0, 2] / 2, (M - M.T)[1, 0] / 2])
    close(m.trace(), np.trace(M))
    close(dense(Matrix3.from_columns(*m.columns())), M)
    close([m[1, 2], m[2, 0]], [M[1, 2], M[2, 0]])
    S = M + M.T
    s = Symmetric3.of(S)
    close(s @ va, S @ a)
    close(dense(s.rotated(n).matrix()), N @ S @ N.T)
    close(dense(Symmetric3.outer_sum(va, vb).matrix()), np.outer(a, b) + np.outer(b, a))
    close(dense(Symmetric3.point(va).matrix()), skew(a).T @ skew(a))
    close(2.0 * va, 2.0 * a)
    close(np.array([1.0, 2.0]) * va, np.outer(a, [1.0, 2.0]))  # an array multiplies component by component


# --- inertia --------------------------------------------------------------------------------------------------------


def random_body(rng):
    """Return mass, centre and inertia of a cloud of points: physically possible."""
    cloud = rng.normal(size=(6, 3)) * (0.3, 0.5, 0.9)
    masses = rng.uniform(0.1, 1.0, 6)
    com = masses @ cloud / masses.sum()
    J = sum(m * skew(p - com).T @ skew(p - com) for m, p in zip(masses, cloud, strict=True))
    return float(masses.sum()), com, J


@pytest.fixture
def body():
    return random_body(np.random.default_rng(8))


def test_inertia_equals_its_dense_matrix(body):
    I = Inertia(*body)  # noqa: E741
    np.testing.assert_allclose(as_matrix(I), dense_inertia(*body), atol=1e-14)
    np.testing.assert_allclose(as_matrix(I.articulated()), dense_inertia(*body), atol=1e-14)
    np.testing.assert_allclose(I.com, body[1], atol=1e-15)
    np.testing.assert_allclose(dense(I.inertia_at_com.matrix()), body[2], atol=1e-14)
    np.testing.assert_allclose(dense(I.inertia_at_origin.matrix()), dense_inertia(*body)[3:, 3:], atol=1e-14)
    np.testing.assert_allclose(I.first_moment, body[0] * body[1], atol=1e-15)
    assert I.mass == body[0]
    assert I.faults() == []


def test_inertia_transforms_and_adds():
    rng = np.random.default_rng(9)
    for _ in range(10):
        one, two = random_body(rng), random_body(rng)
        X = exp_se3(Motion.of(rng.normal(size=6)))
        inverse = np.linalg.inv(adjoint(X))
        expected = inverse.T @ dense_inertia(*one) @ inverse
        np.testing.assert_allclose(as_matrix(X @ Inertia(*one)), expected, atol=1e-12)
        np.testing.assert_allclose(as_matrix(X @ Inertia(*one).articulated()), expected, atol=1e-12)
        np.testing.assert_allclose((X @ Inertia(*one)).com, X @ Inertia(*one).com, atol=1e-13)
        total = as_matrix(Inertia(*one) + Inertia(*two))
        np.testing.assert_allclose(total, dense_inertia(*one) + dense_inertia(*two), atol=1e-13)
        both = Inertia(*one).articulated() + Inertia(*two).articulated()
        np.testing.assert_allclose(as_matrix(both), total, atol=1e-13)
        m = Motion.of(rng.normal(size=6))
        energy = m.dot(Inertia(*one) @ m)
        assert (X @ m).dot((X @ Inertia(*one)) @ (X @ m)) == pytest.approx(energy, rel=1e-12)


def test_inertia_parameters(body):
    I = Inertia(*body)  # noqa: E741
    p = I.parameters()
    assert len(p) == 10
    assert Inertia.from_parameters(p) == I


def test_massless_and_point_bodies():
    assert Inertia.zero().com == (0.0, 0.0, 0.0)
    assert Inertia(0.0, (1.0, 2.0, 3.0)).com == (0.0, 0.0, 0.0)
    assert Inertia(0.0).faults() == []
    assert Inertia(2.0, (1.0, 0.0, 0.0)).faults() == []


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (Inertia.from_origin(-1.5, Vector3.zero(), Symmetric3.isotropic(1.0)), "the mass -1.5 kg is negative"),
        (Inertia(1.0, inertia=np.diag([1.0, 1.0, -0.5])), r"not positive definite \(principal moments -0.5, 1, 1 kg"),
        (Inertia(1.0, inertia=np.diag([1.0, 1.0, 2.5])), r"moments 1, 1, 2.5 kg m\^2 break the triangle inequality"),
        (Inertia.from_origin(1.0, Vector3(1.0, 0, 0), Symmetric3.isotropic(0.1)), "not positive definite"),
    ],
)
def test_impossible_inertias_are_named(made, message):
    faults = made.faults()
    assert len(faults) == 1
    with pytest.raises(ValueError, match=message):
        raise ValueError(faults[0])


def test_two_faults_are_both_named():
    assert len(Inertia.from_origin(-1.0, Vector3.zero(), Symmetric3.isotropic(-1.0)).faults()) == 2


def test_faults_of_an_inertia_near_the_largest_number_are_found_without_a_warning():
    """NumPy warned of the sum of two moments."""
    large = [2.2471164185778984e307, 6.355805030766955e307, 1.7976931348623145e308, 1.7976931348623151e308]
    with np.errstate(all="raise"):
        Inertia.from_parameters([large[0], 0.0, 0.0, large[1], 0.0, 0.0, 0.0, *large[2:], 0.0]).faults()


def test_a_rod_and_a_plate_are_possible():
    assert Inertia(1.0, inertia=np.diag([1.0, 1.0, 0.0])).faults() == []
    assert Inertia(1.0, inertia=np.diag([1.0, 1.0, 2.0])).faults() == []


@pytest.mark.parametrize(
    ("args", "error", "message"),
    [
        ((-1.0,), ParameterError, r"mass of a body: got -1\.0, expected a mass >= 0 \[kg\]"),
        ((math.nan,), ParameterError, "finite numbers"),
        ((1.0, (0.0, math.inf, 0.0)), ParameterError, "finite numbers"),
        ((1.0, (0.0, 0.0, 0.0), [[1, 2, 0], [0, 1, 0], [0, 0, 1]]), ParameterError, "a symmetric matrix"),
        ((1.0, (0.0, 0.0)), ShapeError, r"'com' has shape \(2,\), expected \(3,\)"),
        ((1.0, (0, 0, 0), np.zeros((3, 2))), ShapeError, r"'inertia' has shape \(3, 2\), expected \(\.\.\., 3, 3\)"),
    ],
)
def test_inertia_refuses(args, error, message):
    with pytest.raises(error, match=message):
        Inertia(*args)


# --- general 6x6 maps -------------------------------------------------------------------------------------------------


def general(rng):
    M = rng.normal(size=(6, 6))
    return M, SpatialMatrix(*(Matrix3.of(b) for b in (M[:3, :3], M[:3, 3:], M[3:, :3], M[3:, 3:])))


def test_spatial_matrix_equals_its_dense_matrix():
    rng = np.random.default_rng(10)
    (A, a), (B, b) = general(rng), general(rng)
    m, X = Motion.of(rng.normal(size=6)), exp_se3(Motion.of(rng.normal(size=6)))
    np.testing.assert_allclose((a @ m).scalars(), A @ m.scalars(), atol=1e-14)
    np.testing.assert_allclose(a.transpose_apply(m).scalars(), A.T @ m.scalars(), atol=1e-14)
    np.testing.assert_allclose(as_matrix(a + b), A + B, atol=1e-15)
    np.testing.assert_allclose(as_matrix(SpatialMatrix.zero()), np.zeros((6, 6)))
    inverse = np.linalg.inv(adjoint(X))
    np.testing.assert_allclose(as_matrix(a.transformed(X)), inverse.T @ A @ inverse, atol=1e-12)


def test_momentum_rate_matrix(body):
    rng = np.random.default_rng(11)
    v = Motion.of(rng.normal(size=6))
    D, V = dense_inertia(*body), cross_motion(np.array(v.scalars()))
    expected = np.array([(Motion.of(e).cross(Inertia(*body) @ v)).scalars() for e in np.eye(6)]).T
    B = as_matrix(momentum_rate_matrix(Inertia(*body), v))
    # B m = m x* (I v) - I (v x m), up to sign conventions fixed by B v = v x* I v
    np.testing.assert_allclose(B @ v.scalars(), -V.T @ D @ v.scalars(), atol=1e-13)
    np.testing.assert_allclose(B, expected - D @ V, atol=1e-13)


def test_articulated_inertia_equals_its_dense_matrix(body):
    rng = np.random.default_rng(12)
    A = rng.normal(size=(6, 6))
    A = A @ A.T
    made = ArticulatedInertia(Symmetric3.of(A[:3, :3]), Matrix3.of(A[:3, 3:]), Symmetric3.of(A[3:, 3:]))
    X, f = exp_se3(Motion.of(rng.normal(size=6))), rng.normal(size=6)
    np.testing.assert_allclose(as_matrix(made), A, atol=1e-14)
    inverse = np.linalg.inv(adjoint(X))
    np.testing.assert_allclose(as_matrix(X @ made), inverse.T @ A @ inverse, atol=1e-12)
    reduced = made.minus_outer(Force.of(0.3 * f), Force.of(f))
    np.testing.assert_allclose(as_matrix(reduced), A - 0.3 * np.outer(f, f), atol=1e-14)


def test_motion_subspace():
    rng = np.random.default_rng(13)
    S, v, f = rng.normal(size=(6, 3)), rng.normal(size=3), Force.of(rng.normal(size=6))
    subspace = MotionSubspace(Motion.of(c) for c in S.T)
    np.testing.assert_allclose((subspace @ tuple(v)).scalars(), S @ v, atol=1e-14)
    np.testing.assert_allclose(subspace.T @ f, S.T @ f.scalars(), atol=1e-14)
    np.testing.assert_array_equal(subspace.rows(), S)
    assert MotionSubspace([]).rows() == [[]] * 6
    assert (MotionSubspace([]) @ ()).scalars() == (0.0,) * 6


# --- one implementation for every scalar type -------------------------------------------------------------------------


def flat(value):
    """Return the scalars of any spatial object or nested sequence."""
    if isinstance(value, (list, tuple)):
        return [e for part in value for e in flat(part)]
    return [value]


def pose(s):
    return SE3(Matrix3(s[:9]), Vector3(*s[9:]))


OBLIQUE = (Vector3(0.0, 0.0, 1.0), Vector3(0.0, 0.6, 0.8), Vector3(0.8, 0.6, 0.0))
EVERYWHERE = {  # name -> (function of flat scalars, which sample it takes)
    "exp_se3": (lambda s: exp_se3(Motion.of(s)), "twist"),
    "log_se3": (lambda s: log_se3(pose(s)), "pose"),
    "log_from_rotation_vector": (lambda s: log_from_rotation_vector(Vector3(*s[3:]), Vector3(*s[:3])), "twist"),
    "right_jacobian_inverse_se3": (lambda s: right_jacobian_inverse_se3(Motion.of(s)), "twist"),
    "stumpff": (lambda s: stumpff(s[0] * s[0] + s[3] * s[3]), "twist"),
    "matrix_from_quaternion_xyzw": (ro.matrix_from_quaternion_xyzw, "quaternion"),
    "quaternion_xyzw_from_matrix": (lambda s: ro.quaternion_xyzw_from_matrix(Matrix3(s[:9])), "pose"),
    "rotation_vector_from_quaternion_xyzw": (ro.rotation_vector_from_quaternion_xyzw, "quaternion"),
    "quaternion_xyzw_from_rotation_vector": (lambda s: ro.quaternion_xyzw_from_rotation_vector(s[3:]), "twist"),
    "matrix_from_rotation_vector": (lambda s: ro.matrix_from_rotation_vector(s[3:]), "twist"),
    "matrix_from_mrp": (lambda s: ro.matrix_from_mrp(s[3:]), "twist"),
    "mrp_principal": (lambda s: ro.mrp_principal(s[3:]), "twist"),
    "mrp_from_quaternion_xyzw": (ro.mrp_from_quaternion_xyzw, "quaternion"),
    "matrix_from_zyx": (lambda s: ro.matrix_from_zyx(s[3:]), "twist"),
    "zyx_from_matrix": (lambda s: ro.zyx_from_matrix(Matrix3(s[:9])), "pose"),
    "matrix_from_xyz": (lambda s: ro.matrix_from_xyz(s[3:]), "twist"),
    "xyz_from_matrix": (lambda s: ro.xyz_from_matrix(Matrix3(s[:9])), "pose"),
    "angles_about_axes": (lambda s: angles_about_axes(OBLIQUE, Matrix3(s[:9])), "pose"),
    "inverse_act": (lambda s: pose(s).inverse_act(Force.of(s[:6])), "pose"),
}
TOO_LARGE_FOR_SYMPY = {"log_se3", "angles_about_axes"}  # SymPy repeats shared terms: these grow beyond its reach
_ROWS = np.array(
    [
        (*LINEAR, 0.0, 0.0, 1e-9),
        (*LINEAR, *(0.5 * DIRECTIONS[0])),
        (*LINEAR, *(2.2 * DIRECTIONS[0])),
        (-1.0, 0.2, 0.3, *(2.9 * DIRECTIONS[1])),
        (0.1, 0.2, 0.3, -1.0, 0.4, 0.2),
        (0.0, 0.0, 0.0, 1e-5, 2e-5, 3e-5),
    ]
)
SAMPLES = {
    "twist": _ROWS,
    "pose": np.array([flat(exp_se3(Motion.of(r))) for r in _ROWS]),
    "quaternion": np.array([ro.quaternion_xyzw_from_rotation_vector(r[3:]) for r in _ROWS])
    * [[1], [-1], [2], [1], [-3], [1]],
}


def floats_of(name):
    function, kind = EVERYWHERE[name]
    rows = SAMPLES[kind]
    return function, rows, np.array([flat(function(tuple(map(float, r)))) for r in rows], dtype=float)


everywhere = pytest.mark.parametrize("name", EVERYWHERE)


@everywhere
def test_same_numbers_in_batches(name):
    function, rows, expected = floats_of(name)
    got = flat(function(columns(rows.reshape(3, 1, 2, -1))))
    got = np.stack([np.broadcast_to(e, (3, 1, 2)) for e in got], axis=-1).reshape(6, -1)
    np.testing.assert_allclose(got, expected, rtol=1e-14, atol=1e-15)


@everywhere
def test_batches_keep_float32(name):
    function, rows, _ = floats_of(name)
    got = flat(function(columns(rows.astype(np.float32))))
    assert {e.dtype for e in got if isinstance(e, np.ndarray)} == {np.dtype(np.float32)}


@everywhere
def test_same_numbers_traced(name):
    function, rows, expected = floats_of(name)
    spec = [Array("x", rows.shape[1:])]
    program = trace(name, lambda x: {"y": np.array(flat(function(tuple(x))), dtype=object)}, spec)
    with np.errstate(all="ignore"):
        got = evaluate(program, columns(rows), np.dtype(float))
    got = np.stack([np.broadcast_to(e, len(rows)) for e in got], axis=-1)
    np.testing.assert_allclose(got, expected, rtol=1e-14, atol=1e-15)


@everywhere
def test_same_numbers_in_casadi(name):
    ca = pytest.importorskip("casadi")
    function, rows, expected = floats_of(name)
    x = ca.SX.sym("x", rows.shape[1])
    compiled = ca.Function("f", [x], [ca.vertcat(*flat(function(tuple(ca.vertsplit(x)))))])
    got = [np.array(compiled(r)).ravel() for r in rows]
    np.testing.assert_allclose(got, expected, rtol=1e-14, atol=1e-15)


@everywhere
def test_same_numbers_in_mpmath(name):
    function, rows, expected = floats_of(name)
    with mpmath.workdps(40):
        got = [[float(e) for e in flat(function(tuple(exact(r))))] for r in rows]
    np.testing.assert_allclose(got, expected, rtol=1e-13, atol=1e-15)


@everywhere
def test_same_numbers_in_sympy_numbers(name):
    sp = pytest.importorskip("sympy")
    function, rows, expected = floats_of(name)
    got = [[float(e) for e in flat(function(tuple(sp.Float(float(e), 25) for e in r)))] for r in rows]
    np.testing.assert_allclose(got, expected, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize(
    "name",
    represented(sorted(EVERYWHERE.keys() - TOO_LARGE_FOR_SYMPY), by=lambda name: name != "right_jacobian_inverse_se3"),
)
def test_same_numbers_in_sympy_symbols(name):
    sp = pytest.importorskip("sympy")
    function, rows, expected = floats_of(name)
    symbols = sp.symbols(f"x:{rows.shape[1]}", real=True)
    compiled = sp.lambdify(symbols, flat(function(symbols)), modules="math", cse=True)
    np.testing.assert_allclose([compiled(*map(float, r)) for r in rows], expected, rtol=1e-13, atol=4e-15)


# --- construction, printing, copying --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SE3(np.eye(2)), r"cardan\.spatial: argument 'rotation' has shape \(2, 2\), expected \(\.\.\., 3, 3\)"),
        (lambda: SE3([[1, 0], [0, 1]]), r"'rotation' has shape \(2, 2\), expected \(3, 3\)"),
        (lambda: SE3(translation=(1.0, 2.0)), r"'translation' has shape \(2,\), expected \(3,\)"),
        (lambda: SE3(translation=np.zeros((5, 2))), r"'translation' has shape \(5, 2\), expected \(\.\.\., 3\)"),
        (lambda: SE3(translation=1.0), r"'translation' has shape \(\), expected \(3,\)"),
        (lambda: Motion.of((1.0, 2.0, 3.0)), r"'Motion' has shape \(3,\), expected \(6,\)"),
        (lambda: Force((1.0, 2.0, 3.0), (1.0,)), r"'angular' has shape \(1,\), expected \(3,\)"),
        (lambda: Matrix3.of([1.0, 2.0, 3.0]), r"'matrix' has shape \(3,\), expected \(3, 3\)"),
        (lambda: SE3.of(np.eye(3)), r"has shape"),
    ],
)
def test_wrong_shapes_are_named(make, message):
    with pytest.raises(ShapeError, match=message):
        make()


@pytest.mark.parametrize(
    "value",
    [(0.0, 0.0, 0.0), (math.nan, 0.0, 1.0), (math.inf, 0.0, 0.0), (1.0, 2.0), "xyz", None, 3.0, (1.0, 2.0, 3.0, 4.0)],
)
def test_unit_vector_refuses(value):
    with pytest.raises(ParameterError, match=r"axis of a test: got .*, expected three finite numbers, not all zero"):
        unit_vector(value, "axis of a test")


@pytest.mark.parametrize("value", [(3.0, 0.0, 4.0), (1e-200, -1e-200, 0.0), (1e200, 1e200, 1e199), (-0.0, 0.0, 2.0)])
def test_unit_vector(value):
    u = unit_vector(value, "axis")
    assert math.hypot(*u) == pytest.approx(1.0, abs=4e-16)
    assert np.linalg.norm(np.cross(u, np.array(value) / max(map(abs, value)))) < 4e-16
    assert all(math.copysign(1.0, e) > 0.0 for e in u if e == 0.0)


def test_unit_vector_leaves_a_unit_vector_alone():
    assert unit_vector(np.array([0.36, 0.48, 0.8]), "axis") == Vector3(0.36, 0.48, 0.8)


def test_is_proper_rotation():
    R = ro.rotation_about_axis(tuple(DIRECTIONS[0]), 0.7)
    assert is_proper_rotation(R)
    assert not is_proper_rotation(-R)
    assert not is_proper_rotation(R * (1.0 + 1e-8))
    assert is_proper_rotation(R * (1.0 + 1e-8), tolerance=1e-7)
    assert not is_proper_rotation(Matrix3((math.nan,) * 9))
    assert not is_proper_rotation(Matrix3.zero())


def test_snapped_removes_the_residues_of_right_angles():
    X = SE3(ro.matrix_from_zyx((PI / 2, -PI / 2, PI)), (1.0, -0.0, 2.0))
    clean = snapped(X)
    assert set(clean.rotation.entries()) <= {0.0, 1.0, -1.0}
    assert is_proper_rotation(clean.rotation, 0.0)
    assert clean.translation == X.translation
    tilted = SE3(ro.matrix_from_zyx((1e-9, 0.4, 1.0)))
    assert snapped(tilted) == tilted


THINGS = [
    SE3(ro.matrix_from_zyx((0.1, 0.2, 0.3)), (1.0, 2.0, 3.0)),
    Motion((1.0, 2.0, 3.0), (4.0, 5.0, 6.0)),
    Force((1.0, 2.0, 3.0), (4.0, 5.0, 6.0)),
    Inertia(2.0, (0.1, 0.2, 0.3), np.diag([0.3, 0.4, 0.5])),
    Inertia.zero(),
    Inertia(2.0, (0.1, 0.2, 0.3), np.diag([0.3, 0.4, 0.5])).articulated(),
    Vector3(1.0, 2.0, 3.0),
    Matrix3.identity(),
    Symmetric3.isotropic(2.0),
    SpatialMatrix.zero(),
    MotionSubspace([Motion.zero(), Motion((1.0, 0.0, 0.0), (0.0, 0.0, 0.0))]),
]


@pytest.mark.parametrize("thing", THINGS, ids=lambda t: type(t).__name__)
@in_turn("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickle_and_copy(thing, protocol):
    for again in (pickle.loads(pickle.dumps(thing, protocol)), copy.copy(thing), copy.deepcopy(thing)):
        assert type(again) is type(thing)
        assert again == thing
        assert [type(part) for part in again] == [type(part) for part in thing]


@pytest.mark.parametrize("thing", THINGS[:4], ids=lambda t: type(t).__name__)
def test_what_is_printed_builds_the_same(thing):
    again = eval(repr(thing))
    assert type(again) is type(thing)
    np.testing.assert_allclose(
        again.parameters() if isinstance(thing, Inertia) else flat(again),
        thing.parameters() if isinstance(thing, Inertia) else flat(thing),
        rtol=1e-15,
    )


def test_stack_puts_the_batch_first():
    batch = np.arange(6.0).reshape(3, 1, 2)
    assert stack([[batch, 0.0], [1.0, batch]]).shape == (3, 1, 2, 2, 2)
    assert stack([[1.0, 2.0]]).tolist() == [[1.0, 2.0]]
    single = np.float32([1.0, 2.0])
    assert stack([[single, 0.0], [1.0, single]]).dtype == np.float32
    assert stack([[single, np.float64(0.0)]]).dtype == np.float64
    symbolic = SE3(ro.matrix_from_zyx((mpmath.mpf(1), 0.0, 0.0))).matrix()
    assert symbolic.shape == (4, 4)
    assert symbolic.dtype == object


def test_poses_hold_batches_and_homogeneous_matrices():
    rng = np.random.default_rng(14)
    X = exp_se3(Motion.of(rng.normal(size=(3, 1, 2, 6))))
    assert X.matrix().shape == (3, 1, 2, 4, 4)
    assert_batch = SE3.of(X.matrix())
    np.testing.assert_array_equal(assert_batch.matrix(), X.matrix())
    np.testing.assert_allclose((X @ X.inverse()).matrix(), np.broadcast_to(np.eye(4), (3, 1, 2, 4, 4)), atol=1e-14)
    assert scalar.sin(X.translation[0]).shape == (3, 1, 2)


# --- vectors and matrices as arrays ----------------------------------------------------------------------------------

ROWS = np.arange(1.0, 10.0).reshape(3, 3) ** 1.5
R3, V3 = Matrix3.of(ROWS), Vector3(1.0, -2.0, 0.5)
OTHER, ARROW = np.cos(ROWS), np.array([0.3, 2.0, -1.0])
COMBINED = {
    # the same text on our objects and on arrays
    "row": lambda R, v: R[2],
    "entry": lambda R, v: R[1, 2],
    "column": lambda R, v: R[:, 2],
    "part of a row": lambda R, v: R[0, 1:],
    "block": lambda R, v: R[:2, 1:],
    "last": lambda R, v: R[-1, -1] + R[-1][0],
    "rows": lambda R, v: [row for row in R],  # noqa: C416
    "transpose": lambda R, v: R.T[0],
    "halves": lambda R, v: R / 2,
    "doubles": lambda R, v: 2 * R - R * 0.5,
    "matrix by array": lambda R, v: R @ OTHER,
    "array by matrix": lambda R, v: OTHER @ R,
    "matrix by nested lists": lambda R, v: R @ OTHER.tolist(),
    "matrix by vector": lambda R, v: R @ v,
    "matrix by array of three": lambda R, v: R @ ARROW,
    "array of three by matrix": lambda R, v: ARROW @ R,
    "vector by matrix": lambda R, v: v @ R,
    "vector by matrix of lists": lambda R, v: v @ OTHER,
    "array by vector": lambda R, v: OTHER @ v,
    "inner": lambda R, v: v @ v + ARROW @ v + v @ ARROW,
    "sum": lambda R, v: R + OTHER + (OTHER + R) - (OTHER - R) + (R - OTHER),
    "vector sum": lambda R, v: v + ARROW + (ARROW + v) - (ARROW - v),
    "quotient": lambda R, v: v / 2 + v / v,
    "elementwise": lambda R, v: v * v + v * (1, 2, 3) + [1, 2, 3] * v,
    "elementwise matrix": lambda R, v: R * R,
    "tuple": lambda R, v: (1, 2, 3) + v,
    "tuple less": lambda R, v: (1, 2, 3) - v,
    "list": lambda R, v: [1.0, 2.0, 3.0] + v,
    "numpy": lambda R, v: np.linalg.det(R) + np.linalg.norm(v) + np.trace(np.array(R)),
    "array": lambda R, v: np.array(R),
}


@pytest.mark.parametrize("name", COMBINED)
def test_vectors_and_matrices_combine_as_arrays_do(name):
    got, expected = COMBINED[name](R3, V3), COMBINED[name](ROWS, np.array(V3))
    np.testing.assert_allclose(np.array(got, dtype=float), expected, rtol=1e-15, atol=1e-15)


def test_arrays_of_poses_and_matrices():
    X = exp_se3(Motion((0.1, 0.2, 0.3), (0.4, 0.5, 0.6)))
    assert np.array(X.rotation).shape == (3, 3)
    assert np.array(X).shape == (4, 4)
    assert np.array(X, dtype=np.float32).dtype == np.float32
    batch = np.stack([np.array(X), np.array(X.inverse())])
    np.testing.assert_array_equal(np.array(SE3.of(batch)), batch)
    np.testing.assert_array_equal(np.array(SE3.of(batch).rotation), batch[:, :3, :3])
    for product in (X @ batch[1], batch[0] @ X.inverse(), X @ X.inverse()):
        np.testing.assert_allclose(np.array(product), np.eye(4), atol=1e-15)
    assert (V3.x, V3.y, V3.z) == tuple(V3)
    assert V3.norm() == pytest.approx(math.sqrt(5.25))


def test_a_matrix_is_made_of_entries_or_of_rows():
    assert Matrix3(ROWS.ravel().tolist()) == Matrix3(ROWS.tolist()) == R3
    assert R3.entries() == tuple(ROWS.ravel())
    assert type(R3[0]) is type(R3[:, 0]) is Vector3
    assert pickle.loads(pickle.dumps(R3)) == copy.deepcopy(R3) == R3
    assert hash(Matrix3(R3)) == hash(R3)
    with pytest.raises(ShapeError, match="nine entries, or three rows"):
        Matrix3((1.0, 2.0))


def test_a_batch_beside_an_array_of_three_batches_is_one_of_vectors():
    angles = np.array([0.1, 0.2, 0.3])  # three states, whose vectors are an array of shape (3, 3), too
    R, p = ro.rotation_about_axis((0.0, 0.0, 1.0), angles), np.arange(9.0).reshape(3, 3)
    expected = np.stack([np.array(ro.rotation_about_axis((0.0, 0.0, 1.0), a)) @ p[:, k] for k, a in enumerate(angles)])
    np.testing.assert_allclose(np.stack(R @ p, axis=-1), expected, atol=1e-15)


def test_an_entry_of_a_matrix_by_one_index_is_refused_with_the_word():
    R = Matrix3.identity()
    assert tuple(R[-1]) == (0.0, 0.0, 1.0)
    for k in (3, 8, -4):
        with pytest.raises(IndexError, match=r"an entry is R\[i, j\]"):
            R[k]


def test_turns_of_a_plane_are_turns():
    """R G R^T of symbols, symmetric and not, for each axis, each order of axes and both senses."""
    rng, angle = np.random.default_rng(0), mpmath.mpf("0.7")
    c, s = mpmath.cos(angle), mpmath.sin(angle)
    for i, j in np.ndindex(3, 3):
        for sign in (1.0, -1.0):
            turn = sign * (-1.0) ** (i + j)
            R = [[0.0] * 3 for _ in range(3)]
            (i1, i2), (j1, j2) = ([k for k in range(3) if k != n] for n in (i, j))
            R[i][j], R[i1][j1], R[i1][j2], R[i2][j1], R[i2][j2] = sign, c, -s, s * turn, c * turn
            G = rng.normal(size=(3, 3))
            for matrix in (G, G + G.T):
                expected = np.array(R, float) @ matrix @ np.array(R, float).T
                found = Matrix3.of(matrix).rotated(Matrix3(R))
                np.testing.assert_allclose(np.array(found.entries(), float).reshape(3, 3), expected, atol=1e-15)
            symmetric = Symmetric3.of(matrix).rotated(Matrix3(R)).matrix()
            np.testing.assert_allclose(np.array(symmetric.entries(), float).reshape(3, 3), expected, atol=1e-15)


@pytest.mark.parametrize("tilt", [1e-6, 1e-8, 1e-12, 1e-14])
def test_an_axis_that_is_all_but_a_coordinate_axis_is_not_one(tilt):
    """R G R^T by a turn about z after a tilt whose cosine rounds to 1, so that no entry may be taken for a 1 alone."""
    angle = mpmath.mpf("0.7")
    c, s = mpmath.cos(angle), mpmath.sin(angle)
    R = [[c, -s, tilt], [s, c, -2.0 * tilt], [tilt * (2.0 * s - c), tilt * (2.0 * c + s), 1.0]]
    matrix, exact = np.random.default_rng(0).normal(size=(3, 3)), np.array(R, float)
    matrix = matrix + matrix.T
    expected = exact @ matrix @ exact.T
    for found in (Matrix3.of(matrix).rotated(Matrix3(R)), Symmetric3.of(matrix).rotated(Matrix3(R)).matrix()):
        np.testing.assert_allclose(np.array(found.entries(), float).reshape(3, 3), expected, rtol=0.0, atol=2e-15)


# --- the motion subspace as a matrix ---------------------------------------------------------------------------------


def a_subspace():
    joint = cardan.joints.Ellipsoid((0.5, 0.7, 1.1))
    return joint, joint.subspace([0.3, -0.4, 0.5])


@pytest.mark.parametrize("joint", cardan.joints.CATALOGUE, ids=lambda j: type(j).__name__)
def test_subspaces_as_arrays_have_six_rows(joint):
    q = joint.random_configuration(seed=0)
    for S in (joint.subspace(q), joint.motion_subspace(q), joint.motion_subspace_rate(q, np.ones(joint.nv))):
        assert np.array(S).shape == S.matrix().shape == (6, joint.nv)
    np.testing.assert_array_equal(joint.subspace(q), cardan.evaluate_joint(joint, "motion_subspace", q))
    T = joint.constraint_wrench_subspace(q)
    assert np.array(T).shape == (6, joint.num_constraints)
    np.testing.assert_allclose(np.array(T).T @ np.array(joint.subspace(q)), 0.0, atol=1e-12)


def test_what_acts_on_a_motion_acts_on_every_column_of_a_subspace():
    _, S = a_subspace()
    X = SE3.from_rpy((0.3, -0.5, 0.8), (0.1, -0.2, 0.3))
    V = Motion((1.0, 2.0, 3.0), (4.0, 5.0, 6.0))
    body = Inertia(2.0, (0.1, 0.2, 0.3), np.diag([0.3, 0.2, 0.4]))
    F = body @ S
    np.testing.assert_allclose(X @ S, X.adjoint() @ np.array(S), atol=1e-15)
    np.testing.assert_allclose(X.inverse_act(S), np.linalg.inv(X.adjoint()) @ np.array(S), atol=1e-14)
    np.testing.assert_allclose(F, body.matrix() @ np.array(S), atol=1e-15)
    np.testing.assert_allclose(body.articulated() @ S, F, atol=1e-15)
    np.testing.assert_allclose(X @ F, X.dual_adjoint() @ np.array(F), atol=1e-15)
    np.testing.assert_allclose(np.array(V.cross(S)).T, [np.array(V.cross(s)) for s in S], atol=0)
    np.testing.assert_allclose(np.array(V.cross(F)).T, [np.array(V.cross(f)) for f in F], atol=0)
    np.testing.assert_allclose(S.T @ F, np.array(S).T @ np.array(F), atol=1e-15)
    assert type(X @ S) is type(V.cross(S)) is MotionSubspace
    assert type(F) is type(X @ F) is ForceSubspace


def test_matrices_of_motions_and_forces_are_dual():
    X = SE3.from_rpy((0.3, -0.5, 0.8), (0.1, -0.2, 0.3))
    np.testing.assert_allclose(X.dual_adjoint(), np.linalg.inv(X.adjoint()).T, atol=1e-15)
    batch = SE3(translation=np.ones((4, 5, 3)))
    assert batch.adjoint().shape == batch.dual_adjoint().shape == (4, 5, 6, 6)
    body = Inertia(2.0, (0.1, 0.2, 0.3), np.diag([0.3, 0.2, 0.4]))
    np.testing.assert_allclose(
        (X @ body).matrix(), X.dual_adjoint() @ np.array(body) @ X.inverse().adjoint(), atol=1e-14
    )
    np.testing.assert_allclose(X.inverse_act(X @ body), body.matrix(), atol=1e-14)


def test_a_subspace_in_a_function_is_a_matrix_as_outside():
    joint, S = a_subspace()
    model = cardan.robots.arm7().model()

    @cardan.function
    def parts(model, q):
        S = joint.subspace(q[:3])
        return S, joint.constraint_wrench_subspace(q[:3]), model.nodes[0].inertia

    got = parts(model, [0.3, -0.4, 0.5, 0, 0, 0, 0])
    expected = (S, joint.constraint_wrench_subspace([0.3, -0.4, 0.5]), model.nodes[0].inertia)
    for a, b in zip(got, expected, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-14)


@pytest.mark.parametrize("left", [SE3(), Inertia(1.0), Inertia(1.0).articulated(), MotionSubspace([Motion.zero()])])
def test_a_map_is_applied_by_matmul_and_not_by_times(left):
    for right in (Motion.zero(), 2.0, 2, np.ones(3), SE3()):
        for product in (lambda a, b: a * b, lambda a, b: b * a):
            with pytest.raises(DTypeError, match=r"expected `@`, as in X @ V"):
                product(left, right)


@quick
@given(poses, motions)
def test_wedge_is_the_rate_of_a_pose_and_vee_its_inverse(X, m):
    rate = (np.array(X @ SE3.exp(np.array(m) * 1e-6)) - np.array(X @ SE3.exp(np.array(m) * -1e-6))) / 2e-6
    np.testing.assert_allclose(np.linalg.inv(np.array(X)) @ rate, m.wedge(), atol=1e-7 * (1.0 + np.abs(rate).max()))
    np.testing.assert_array_equal(Motion.vee(m.wedge()), np.array(m))
    assert Motion.of(np.ones((2, 3, 6))).wedge().shape == (2, 3, 4, 4)
    with pytest.raises(ShapeError, match="matrix"):
        Motion.vee(np.eye(3))
