"""Configuration spaces: integrate and difference undo each other, and the rate maps are their derivatives."""

import functools
import math

import mpmath
import numpy as np
import pytest

from cardan.errors import ParameterError
from cardan.manifolds import MRP, SE2, SE3, Euclidean, Product, UnitComplex, UnitQuaternion
from duals import duals, tangent
from representatives import in_turn

MANIFOLDS = {
    "point": Euclidean(0),
    "lengths": Euclidean(3, reach=1.0),
    "cos_sin": UnitComplex(),
    "sin_cos": UnitComplex("sin_cos"),
    "quaternion": UnitQuaternion(),
    "mrp": MRP(),
    "plane": SE2(),
    "plane_sin_cos": SE2(UnitComplex("sin_cos")),
    "plane_angle": SE2(Euclidean(1)),
    "space": SE3(),
    "space_mrp": SE3(MRP()),
    "product": Product((Euclidean(1), UnitQuaternion(), UnitComplex("sin_cos"), SE2())),
    "nested": Product((Product((MRP(), Euclidean(2))), Product(()), SE3())),
}
SHAPES = [(), (1,), (3, 1, 2)]
PI = math.pi
GRID = [10.0**k for k in range(-16, 1)]

# Bounds: what was measured, rounded up.
ROUND_TRIP = 4e-15  # integrate after difference and back, coordinates of order one
NEAR_ZERO = 2.0**-52 * 4  # of a difference to the neutral configuration, relative to its own length
DERIVATIVE = 1e-13  # against dual numbers, where the inverse Jacobian is at most about 10

every = pytest.mark.parametrize("name", MANIFOLDS)
shapes = in_turn("shape", SHAPES)


# --- helpers ---------------------------------------------------------------------------------------------------------


def stacked(scalars, shape):
    """Return scalars as an array (*shape, n)."""
    return np.stack([np.broadcast_to(e, shape) for e in scalars], axis=-1) if scalars else np.zeros((*shape, 0))


def columns(array):
    return tuple(np.moveaxis(array, -1, 0))


def floats(array):
    return tuple(map(float, array))


def matrix(rows, shape, size):
    """Return rows of scalars as an array (*shape, *size)."""
    entries = [np.broadcast_to(e, shape) for row in rows for e in row]
    return np.stack(entries, axis=-1).reshape(*shape, *size) if entries else np.zeros((*shape, *size))


def samples(m, shape, seed=0):
    """Return two random configurations and a velocity that turns by less than half a turn."""
    rng = np.random.default_rng(seed)
    free = np.full(m.nv, np.inf)
    q0, q1 = (m.random(rng, shape, -free, free) for _ in range(2))
    return q0, q1, rng.uniform(-1.7, 1.7, size=(*shape, m.nv))  # 1.7 sqrt(3) < pi


def embedding(m, q):
    """Return numbers that are equal exactly where configurations are: rotation matrices, cosines and sines."""
    if isinstance(m, Product):
        return [e for f, iq, _ in m.slices() for e in embedding(f, q[iq])]
    if isinstance(m, SE3):
        return [*q[:3], *m.orientation.matrix(q[3:]).entries()]
    if isinstance(m, SE2):
        return [*q[:2], *m.cos_sin(q)]
    if isinstance(m, (UnitQuaternion, MRP)):
        return list(m.matrix(q).entries())
    return list(q)


def assert_same_configuration(m, a, b, shape, atol=ROUND_TRIP):
    got, expected = (stacked(embedding(m, q), shape) for q in (a, b))
    np.testing.assert_allclose(got, expected, rtol=0, atol=atol)


def off_manifold(m, q):
    """Return coordinates with every norm wrong."""
    return tuple(1.7 * e for e in q)


# --- integrate and difference ------------------------------------------------------------------------------------


@every
@shapes
def test_integrating_nothing_stays(name, shape):
    m = MANIFOLDS[name]
    q, _, _ = samples(m, shape)
    still = m.integrate(columns(q), (0.0,) * m.nv)
    np.testing.assert_allclose(stacked(still, shape), q, rtol=0, atol=4e-16)


@every
@shapes
def test_difference_after_integrate(name, shape):
    m = MANIFOLDS[name]
    q, _, v = samples(m, shape, seed=1)
    reached = m.integrate(columns(q), columns(v))
    np.testing.assert_allclose(stacked(m.difference(columns(q), reached), shape), v, rtol=0, atol=2 * ROUND_TRIP)


@every
@shapes
def test_integrate_after_difference(name, shape):
    m = MANIFOLDS[name]
    q0, q1, _ = (columns(e) for e in samples(m, shape, seed=2))
    assert_same_configuration(m, m.integrate(q0, m.difference(q0, q1)), q1, shape)


@every
def test_motion_at_constant_velocity_adds_up(name):
    m, shape = MANIFOLDS[name], (20,)
    q, _, v = (columns(e) for e in samples(m, shape, seed=3))
    part = m.integrate(m.integrate(q, tuple(0.3 * e for e in v)), tuple(0.7 * e for e in v))
    assert_same_configuration(m, part, m.integrate(q, v), shape)
    back = m.integrate(m.integrate(q, v), tuple(-e for e in v))
    assert_same_configuration(m, back, q, shape)


@every
def test_batches_are_their_entries(name):
    m, shape = MANIFOLDS[name], (3, 1, 2)
    q0, q1, v = samples(m, shape, seed=4)
    batches = (m.integrate(columns(q0), columns(v)), m.difference(columns(q0), columns(q1)), m.normalize(columns(q0)))
    for index in np.ndindex(*shape):
        a, b, w = floats(q0[index]), floats(q1[index]), floats(v[index])
        for batch, one in zip(batches, (m.integrate(a, w), m.difference(a, b), m.normalize(a)), strict=True):
            np.testing.assert_allclose(stacked(batch, shape)[index], one, rtol=0, atol=1e-15)


@pytest.mark.parametrize("name", ["cos_sin", "quaternion", "mrp", "plane", "plane_angle", "space", "space_mrp"])
def test_difference_is_the_shortest_motion(name):
    m = MANIFOLDS[name]
    angular = slice(m.nv - {1: 1, 3: 1 if name.startswith("plane") else 3, 6: 3}[m.nv], m.nv)
    q, _, v = samples(m, (200,), seed=5)
    v[:, angular] *= 4.0
    turned = m.integrate(columns(q), columns(v))
    if name == "plane_angle":
        assert np.abs(turned[2] - q[:, 2]).max() > 2 * PI  # turns are counted
    difference = stacked(m.difference(columns(q), turned), (200,))
    assert (np.linalg.norm(difference[:, angular], axis=1) <= PI * (1 + 1e-15)).all()
    assert_same_configuration(m, m.integrate(columns(q), columns(difference)), turned, (200,), atol=2 * ROUND_TRIP)


@every
@in_turn("size", GRID)
def test_small_differences_keep_all_their_digits(name, size):
    m = MANIFOLDS[name]
    rng = np.random.default_rng(6)
    v = tuple(map(float, rng.uniform(0.2, 1.0, size=m.nv) * size))
    got = m.difference(m.neutral(), m.integrate(m.neutral(), v))
    assert max((abs(a - b) for a, b in zip(got, v, strict=True)), default=0.0) <= NEAR_ZERO * size


@pytest.mark.parametrize("name", ["space", "space_mrp", "plane", "plane_angle"])
@in_turn("size", GRID)
def test_small_turns_on_large_steps_keep_all_their_digits(name, size):
    m = MANIFOLDS[name]
    linear = (0.3, -0.7, 1.1)[: 3 if m.nv == 6 else 2]
    v = (*linear, *(size * e for e in (0.6, 0.8, -0.5)[: m.nv - len(linear)]))
    got = m.difference(m.neutral(), m.integrate(m.neutral(), v))
    k = len(linear)
    assert max(abs(a - b) for a, b in zip(got[:k], v[:k], strict=True)) <= NEAR_ZERO
    assert max(abs(a - b) for a, b in zip(got[k:], v[k:], strict=True)) <= NEAR_ZERO * size


@pytest.mark.parametrize("name", ["quaternion", "mrp"])
def test_half_turns(name):
    m = MANIFOLDS[name]
    axis = np.array([0.36, -0.48, 0.8])
    for short in (0.0, *GRID[:-1]):
        v = floats((PI - short) * axis)
        got = np.array(m.difference(m.neutral(), m.integrate(m.neutral(), v)))
        assert min(np.abs(got - v).max(), np.abs(got + v).max() if short < 1e-15 else math.inf) < 1e-15


# --- rates -----------------------------------------------------------------------------------------------------------


@every
@shapes
def test_rate_of_coordinates_is_the_derivative_of_integrate(name, shape):
    m = MANIFOLDS[name]
    q, _, v = (columns(e) for e in samples(m, shape, seed=7))
    moved = m.integrate(q, duals((0.0,) * m.nv, v))
    expected = stacked([tangent(e) for e in moved], shape)
    np.testing.assert_allclose(stacked(m.velocity_to_configuration_derivative(q, v), shape), expected, atol=2e-15)
    J = matrix(m.velocity_to_configuration_derivative_jacobian(q), shape, (m.nq, m.nv))
    np.testing.assert_allclose(np.einsum("...ij,...j->...i", J, stacked(v, shape)), expected, atol=2e-15)


@every
@shapes
@in_turn("off", [False, True])
def test_velocity_from_rate_is_the_left_inverse(name, shape, off):
    """Also off the manifold, where RigidBodyDynamics.jl's forward maps give |q|^2 times the identity."""
    m = MANIFOLDS[name]
    q, _, v = (columns(e) for e in samples(m, shape, seed=8))
    q = off_manifold(m, q) if off else q
    J = matrix(m.velocity_to_configuration_derivative_jacobian(q), shape, (m.nq, m.nv))
    K = matrix(m.configuration_derivative_to_velocity_jacobian(q), shape, (m.nv, m.nq))
    np.testing.assert_allclose(K @ J, np.broadcast_to(np.eye(m.nv), (*shape, m.nv, m.nv)), atol=2e-15)
    again = m.configuration_derivative_to_velocity(q, m.velocity_to_configuration_derivative(q, v))
    np.testing.assert_allclose(stacked(again, shape), stacked(v, shape), atol=4e-15)


@every
@shapes
@in_turn("off", [False, True])
def test_adjoint_identity(name, shape, off):
    m = MANIFOLDS[name]
    q, _, v = (columns(e) for e in samples(m, shape, seed=9))
    q = off_manifold(m, q) if off else q
    rng = np.random.default_rng(10)
    fv, any_rate = (columns(rng.normal(size=(*shape, n))) for n in (m.nv, m.nq))
    fq = stacked(m.configuration_derivative_to_velocity_adjoint(q, fv), shape)
    assert fq.shape == (*shape, m.nq)
    power = (fq * stacked(m.velocity_to_configuration_derivative(q, v), shape)).sum(-1)
    np.testing.assert_allclose(power, (stacked(fv, shape) * stacked(v, shape)).sum(-1), atol=2e-14)
    velocity = stacked(m.configuration_derivative_to_velocity(q, any_rate), shape)
    pulled = (fq * stacked(any_rate, shape)).sum(-1)
    np.testing.assert_allclose(pulled, (stacked(fv, shape) * velocity).sum(-1), atol=2e-14)


@every
@shapes
def test_rate_of_local_coordinates(name, shape):
    m = MANIFOLDS[name]
    q0, _, phi = (columns(e) for e in samples(m, shape, seed=11))
    q, v = m.integrate(q0, phi), columns(samples(m, shape, seed=12)[2])
    moving = m.difference(q0, duals(q, m.velocity_to_configuration_derivative(q, v)))
    local, rate = m.local_coordinates(q0, q, v)
    np.testing.assert_allclose(stacked(local, shape), stacked(phi, shape), atol=2 * ROUND_TRIP)
    np.testing.assert_allclose(stacked(rate, shape), stacked([tangent(e) for e in moving], shape), atol=DERIVATIVE)


@every
@in_turn("size", [0.0, *GRID[::2], 3.0])
def test_rate_of_local_coordinates_near_zero(name, size):
    """RigidBodyDynamics.jl loses eps/size here, and is infinite below 1e-8 (FACTS 5.1, 5.3)."""
    m = MANIFOLDS[name]
    rng = np.random.default_rng(13)
    direction = rng.normal(size=m.nv)
    phi = floats(size * direction / max(np.linalg.norm(direction), 1e-300))
    v = floats(rng.normal(size=m.nv))
    with mpmath.workdps(40):
        h = mpmath.mpf("1e-13")
        exact = [tuple(map(mpmath.mpf, e)) for e in (m.neutral(), phi, v)]
        q = m.integrate(exact[0], exact[1])
        ends = [m.difference(exact[0], m.integrate(q, tuple(s * h * e for e in exact[2]))) for s in (1, -1)]
        slope = [float((a - b) / (2 * h)) for a, b in zip(*ends, strict=True)]
    local, rate = m.local_coordinates(m.neutral(), m.integrate(m.neutral(), phi), v)
    bound = 1e-15 if size < 0.5 else 2e-14
    np.testing.assert_allclose(rate, slope, rtol=0, atol=bound)
    assert max((abs(a - b) for a, b in zip(local, phi, strict=True)), default=0.0) <= 4 * NEAR_ZERO * size


# --- representatives -------------------------------------------------------------------------------------------------


@every
@shapes
def test_normalize(name, shape):
    m = MANIFOLDS[name]
    q = columns(samples(m, shape, seed=14)[0])
    np.testing.assert_allclose(stacked(m.normalize(q), shape), stacked(q, shape), atol=4e-16)
    once = m.normalize(off_manifold(m, q))
    np.testing.assert_allclose(stacked(m.normalize(once), shape), stacked(once, shape), atol=4e-16)


@pytest.mark.parametrize("name", ["cos_sin", "sin_cos", "quaternion"])
@in_turn("factor", [1e-3, 0.9, 1.7, 1e6])
def test_normalize_keeps_the_direction(name, factor):
    m = MANIFOLDS[name]
    q = samples(m, (30,), seed=15)[0]
    got = stacked(m.normalize(columns(factor * q)), (30,))
    np.testing.assert_allclose(got, q, atol=4e-16)
    np.testing.assert_allclose(np.linalg.norm(got, axis=1), 1.0, atol=4e-16)


@every
def test_principal_value_is_the_same_configuration(name):
    m, shape = MANIFOLDS[name], (50,)
    q = columns(samples(m, shape, seed=16)[0])
    assert_same_configuration(m, m.principal_value(q), q, shape, atol=2e-15)
    once = m.principal_value(q)
    np.testing.assert_array_equal(stacked(m.principal_value(once), shape), stacked(once, shape))


def test_principal_quaternion_has_w_positive():
    q = samples(UnitQuaternion(), (50,), seed=17)[0]
    got = stacked(UnitQuaternion().principal_value(columns(q)), (50,))
    assert (q[:, 3] < 0).any()
    np.testing.assert_array_equal(got, q * np.where(q[:, 3:] < 0, -1.0, 1.0))
    space = stacked(SE3().principal_value((1.0, 2.0, 3.0, *columns(-q))), (50,))
    assert (space[:, 6] >= 0).all()
    assert (space[:, :3] == (1.0, 2.0, 3.0)).all()


def test_principal_mrp_is_short():
    s = np.random.default_rng(18).normal(size=(50, 3)) * 1.5
    n = (s * s).sum(-1, keepdims=True)
    got = stacked(MRP().principal_value(columns(s)), (50,))
    np.testing.assert_allclose(got, np.where(n > 1, -s / n, s), rtol=4e-16)
    assert_same_configuration(MRP(), columns(got), columns(s), (50,))


def test_a_motion_by_mrp_never_reaches_the_singularity():
    q = (0.0, 0.0, 0.0)
    for _ in range(40):
        q = MRP().integrate(q, (0.3, 0.2, -0.1))
        assert sum(e * e for e in q) <= 1.0 + 1e-15
    expected = MRP().integrate((0.0, 0.0, 0.0), (12.0, 8.0, -4.0))
    assert_same_configuration(MRP(), q, expected, (), atol=4e-14)


# --- limits and samples ----------------------------------------------------------------------------------------------


def rotation_vector_quaternion(phi):
    angle = np.linalg.norm(phi)
    return (*(np.asarray(phi) * np.sinc(angle / 2 / np.pi) / 2), math.cos(angle / 2))


def test_limit_coordinates():
    phi = (0.5, -1.0, 0.25)
    q = floats(rotation_vector_quaternion(phi))
    np.testing.assert_allclose(UnitQuaternion().limit_coordinates(q), phi, atol=4e-16)
    np.testing.assert_allclose(UnitQuaternion().limit_coordinates(tuple(-e for e in q)), phi, atol=4e-16)
    np.testing.assert_allclose(SE3().limit_coordinates((1.0, 2.0, 3.0, *q)), (1.0, 2.0, 3.0, *phi), atol=4e-16)
    mrp = MRP().from_quaternion_xyzw(q)
    np.testing.assert_allclose(MRP().limit_coordinates(mrp), phi, atol=4e-16)
    assert UnitComplex("sin_cos").limit_coordinates((math.sin(2.0), math.cos(2.0)))[0] == pytest.approx(2.0, rel=1e-15)
    assert SE2().limit_coordinates((1.0, 2.0, 0.0, -1.0)) == (1.0, 2.0, -PI / 2)
    assert SE2(Euclidean(1)).limit_coordinates((1.0, 2.0, 9.0)) == (1.0, 2.0, 9.0)
    m = Product((Euclidean(1), UnitComplex()))
    assert m.limit_coordinates((5.0, 0.0, 1.0)) == (5.0, PI / 2)


@every
@shapes
def test_random_configurations_lie_on_the_manifold(name, shape):
    m = MANIFOLDS[name]
    q = samples(m, shape, seed=19)[0]
    assert q.shape == (*shape, m.nq)
    assert q.dtype == np.float64
    assert np.isfinite(q).all()
    np.testing.assert_allclose(stacked(m.normalize(columns(q)), shape), q, atol=4e-16)
    assert (samples(m, shape, seed=19)[0] == q).all()


BOXES = {"both": (-0.3, 0.7), "lower": (0.2, np.inf), "upper": (-np.inf, -0.1), "none": (-np.inf, np.inf)}


@every
@in_turn("box", BOXES)
def test_random_configurations_lie_within_limits(name, box):
    m = MANIFOLDS[name]
    lower, upper = (np.full(m.nv, b) for b in BOXES[box])
    q = m.random(np.random.default_rng(20), (500,), lower, upper)
    limited = stacked(m.limit_coordinates(columns(q)), (500,))
    assert limited.shape == (500, m.nv)
    assert (limited >= lower - 1e-15).all()
    assert (limited <= upper + 1e-15).all()
    if m.nv:
        assert limited.std(axis=0).min() > 0.2
    if box == "both" and m.nv:  # uniform: the quartiles
        quartiles = np.quantile(limited, [0.25, 0.5, 0.75], axis=0)
        assert np.abs(quartiles - [[-0.05], [0.2], [0.45]]).max() < 0.1


def test_random_configurations_mix_limited_and_free_coordinates():
    m = Euclidean(3, reach=(1.0, PI, 0.5))
    q = m.random(np.random.default_rng(21), (2000,), np.array([-np.inf, 1.0, -np.inf]), np.array([np.inf, 2.0, np.inf]))
    np.testing.assert_allclose(q.min(axis=0), (-1.0, 1.0, -0.5), atol=0.02)
    np.testing.assert_allclose(q.max(axis=0), (1.0, 2.0, 0.5), atol=0.02)


@pytest.mark.parametrize("name", ["quaternion", "mrp", "space", "space_mrp"])
def test_random_orientations_are_uniform(name):
    """Under Haar's measure the mean of R vanishes and that of (tr R)^2 is one."""
    m, n = MANIFOLDS[name], 20000
    q = columns(samples(m, (n,), seed=22)[0])
    R = stacked(embedding(m, q)[-9:], (n,))
    assert np.abs(R.mean(axis=0)).max() < 5 * math.sqrt(1 / 3 / n)
    trace = R[:, 0] + R[:, 4] + R[:, 8]
    assert np.mean(trace**2) == pytest.approx(1.0, abs=5 * math.sqrt(2 / n))
    np.testing.assert_allclose(R.T @ R / n, np.eye(9) / 3, atol=0.02)


# --- the objects themselves ------------------------------------------------------------------------------------------


@every
def test_neutral_is_the_identity(name):
    m = MANIFOLDS[name]
    q = m.neutral()
    assert len(q) == m.nq
    assert all(type(e) is float for e in q)
    assert_same_configuration(m, m.normalize(q), q, (), atol=0)
    assert m.difference(q, q) == (0.0,) * m.nv
    assert m.limit_coordinates(q) == (0.0,) * m.nv


@every
def test_rows_have_their_sizes(name):
    m = MANIFOLDS[name]
    q, _, v = (floats(e) for e in samples(m, ()))
    sizes = [
        (m.velocity_to_configuration_derivative_jacobian(q), m.nq, m.nv),
        (m.configuration_derivative_to_velocity_jacobian(q), m.nv, m.nq),
        (m.difference_rate_jacobian(v), m.nv, m.nv),
    ]
    for rows, height, width in sizes:
        assert len(rows) == height
        assert all(len(row) == width for row in rows)


def test_equality_sees_the_parameters():
    assert len(set(MANIFOLDS.values())) == len(MANIFOLDS)
    assert UnitComplex("cos_sin") == UnitComplex()
    assert Euclidean(2) != Euclidean(2, reach=1.0)
    assert Product((SE3(),)) == Product((SE3(UnitQuaternion()),))
    assert "sin_cos" in repr(MANIFOLDS["product"])


def test_an_unknown_order_is_refused():
    with pytest.raises(ParameterError, match="got 'sin-cos', expected 'cos_sin' or 'sin_cos'"):
        UnitComplex("sin-cos")


def test_product_slices_follow_one_another():
    m = MANIFOLDS["product"]
    assert (m.nq, m.nv) == (1 + 4 + 2 + 4, 1 + 3 + 1 + 3)
    ends = functools.reduce(
        lambda at, s: (s[1].stop, s[2].stop) if at == (s[1].start, s[2].start) else None, m.slices(), (0, 0)
    )
    assert ends == (m.nq, m.nv)


def test_wrong_numbers_of_coordinates_are_noticed():
    with pytest.raises(ValueError, match="zip"):
        Euclidean(2).integrate((1.0, 2.0), (1.0,))


def test_limits_around_a_half_turn_are_kept():
    """A box of rotation vectors that reaches beyond pi must still yield configurations inside it."""
    lower, upper = np.zeros(3), np.full(3, 3.0)
    q = UnitQuaternion().random(np.random.default_rng(23), (500,), lower, upper)
    limited = stacked(UnitQuaternion().limit_coordinates(columns(q)), (500,))
    assert (limited >= lower - 1e-14).all()
    assert (limited <= upper + 1e-14).all()
