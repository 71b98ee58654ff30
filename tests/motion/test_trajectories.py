"""Motions in time: continuity, invariance, closed forms, limits, and what is said about bad input."""

import pickle
from dataclasses import dataclass

import numpy as np
import pytest

import cardan
from cardan.joints import FreeFlyer, Prismatic, Spherical
from cardan.trajectories import (
    FourierSeries,
    MinimumJerk,
    Spline,
    Timed,
    TimeLaw,
    Trapezoidal,
)
from mechanisms import random_model
from representatives import in_turn

pytestmark = pytest.mark.usefixtures("quick_target")
KNOTS = np.array([0.0, 0.5, 1.5, 2.0, 3.7])


@dataclass(frozen=True)
class Cable(Prismatic):
    """A slide that a cable pulls back."""

    axis: tuple[float, ...] = (1.0, 0.0, 0.0)

    def efforts(self, q, v):
        return (-q[0],)


def one_joint(joint, **limits):
    m = cardan.Mechanism("one")
    m.add_body("body", cardan.Inertia(2.0, [0.0, 0.0, 0.0], np.diag([0.1, 0.2, 0.25])))
    m.add_joint("joint", joint, "world", "body", limits=cardan.Limits(**limits))
    return m.model()


@pytest.fixture(scope="module")
def tree():
    """Every joint of the catalogue."""
    return random_model(0)


@pytest.fixture(scope="module")
def points(tree):
    return tree.random_configuration(len(KNOTS), seed=1)


@pytest.fixture(scope="module")
def ball():
    return one_joint(Spherical())


def check_derivatives(trajectory, t, atol=2e-7):
    """v is the rate of q, and a that of v."""
    model, found = trajectory.model, trajectory.at(t)
    before, after = trajectory.at(t - 1e-5), trajectory.at(t + 1e-5)
    scale = 1.0 + np.abs(found.a).max()
    np.testing.assert_allclose(cardan.difference(model, before.q, after.q) / 2e-5, found.v, atol=atol * scale)
    np.testing.assert_allclose((after.v - before.v) / 2e-5, found.a, atol=atol * scale)


# --- splines


@pytest.mark.slow
def test_spline_passes_its_points_with_v_and_a_of_its_own(tree, points):
    spline = Spline(tree, KNOTS, points, 0.0)
    np.testing.assert_allclose(cardan.difference(tree, points, spline.at(KNOTS).q), 0.0, atol=1e-13)
    check_derivatives(spline, np.linspace(0.01, 3.69, 23))


@pytest.mark.slow
def test_spline_is_twice_continuously_differentiable(tree, points):
    spline = Spline(tree, KNOTS, points)
    left, right = (spline.at(KNOTS[1:-1] + side * 1e-12) for side in (-1.0, 1.0))
    for before, after in zip(left, right, strict=True):
        np.testing.assert_allclose(before, after, atol=1e-8)


def test_ends_of_a_spline_are_natural_or_as_given(tree, points):
    v = np.random.default_rng(0).normal(size=tree.nv)
    spline = Spline(tree, KNOTS, points, start_velocity=v)
    np.testing.assert_allclose(spline.at(0.0).v, v, atol=1e-12)
    np.testing.assert_allclose(spline.at(3.7).a, 0.0, atol=1e-10)
    np.testing.assert_allclose(Spline(tree, KNOTS, points, end_velocity=0.0).at(3.7).v, 0.0, atol=1e-12)


@pytest.mark.parametrize("ends", [(None, None), (0.3, -0.2), (0.0, None)])
def test_spline_of_lengths_is_that_of_scipy(ends):
    interpolate = pytest.importorskip("scipy.interpolate")
    model, x = one_joint(Prismatic([1.0, 0.0, 0.0])), np.array([[0.1], [0.7], [0.7], [-0.4], [0.2]])
    kinds = [(2, 0.0) if end is None else (1, end) for end in ends]
    theirs = interpolate.CubicSpline(KNOTS, x[:, 0], bc_type=kinds)
    t = np.linspace(0.0, 3.7, 50)
    for ours, order in zip(Spline(model, KNOTS, x, *ends).at(t), range(3), strict=True):
        np.testing.assert_allclose(ours[:, 0], theirs(t, order), atol=1e-12)


def test_spline_turns_with_its_points():
    """Of a free body and of an orientation: spline(X q) = X spline(q)."""
    model, rng = one_joint(FreeFlyer()), np.random.default_rng(3)
    q = model.random_configuration(5, seed=2)
    X = cardan.spatial.exp_se3(cardan.Motion(rng.normal(size=3), rng.normal(size=3)))

    def moved(q):
        turned = X @ model.manifold.factors[0].pose(tuple(np.moveaxis(q, -1, 0)))
        quaternion = cardan.spatial.rotations.quaternion_xyzw_from_matrix(turned.rotation)
        return np.stack([*turned.translation, *quaternion], axis=-1)

    t = np.linspace(0.0, 3.7, 9)
    one, other = Spline(model, KNOTS, q).at(t), Spline(model, KNOTS, moved(q)).at(t)
    np.testing.assert_allclose(cardan.difference(model, moved(one.q), other.q), 0.0, atol=1e-12)
    np.testing.assert_allclose(one.v, other.v, atol=1e-11)
    np.testing.assert_allclose(one.a, other.a, atol=1e-10)


def test_what_flies_far_away_is_not_taken_for_another_assembly_mode():
    """Rounding of 1e9 m was more than two configurations may differ by: a path there was refused as one that jumps."""
    probe = one_joint(FreeFlyer())
    q = np.array(
        [[1e9, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], [0.0, 1e9, 0.0, 0.6, 0.0, 0.0, 0.8], [3e8, 0.0, 9e8, 0.0, 0.6, 0.8, 0.0]]
    )
    assert np.allclose(Spline(probe, [0.0, 1.0, 2.0], q).at(1.0).q, q[1])


def test_spline_does_not_see_signs_of_quaternions_and_gives_none_that_jump(ball):
    q = ball.random_configuration(5, seed=5)
    t = np.linspace(0.0, 3.7, 2000)
    found = Spline(ball, KNOTS, q).at(t)
    flipped = Spline(ball, KNOTS, q * np.array([1.0, -1.0, -1.0, 1.0, -1.0])[:, None]).at(t)
    np.testing.assert_allclose(found.v, flipped.v, atol=1e-12)
    np.testing.assert_allclose(found.q, flipped.q, atol=1e-14)
    assert np.abs(np.diff(found.q, axis=0)).max() < 0.02
    np.testing.assert_allclose(np.linalg.norm(found.q, axis=-1), 1.0, atol=1e-14)


def test_spline_takes_half_turns(ball):
    q = np.array([[0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, -1.0], [0.0, 1.0, 0.0, 0.0]])
    spline = Spline(ball, [0.0, 1.0, 2.0, 3.0], q, 0.0, 0.0)
    check_derivatives(spline, np.linspace(0.01, 2.99, 20), atol=1e-6)
    np.testing.assert_allclose(cardan.difference(ball, q, spline.at(np.arange(4.0)).q), 0.0, atol=1e-12)


def test_steady_turning_stays_steady(ball):
    turns = np.outer(np.arange(9.0), [1.0, 2.0, -0.5])
    q = cardan.integrate(ball, ball.neutral(), turns)
    found = Spline(ball, np.arange(9.0), q, turns[1], turns[1]).at(np.linspace(0.0, 8.0, 33))
    np.testing.assert_allclose(found.v, np.broadcast_to(turns[1], found.v.shape), atol=1e-12)
    np.testing.assert_allclose(found.a, 0.0, atol=1e-11)


@pytest.mark.parametrize("size", [1e-9, 1e9])
@pytest.mark.parametrize("pace", [1e-9, 1e9])
def test_spline_of_any_size_and_pace(size, pace):
    model = one_joint(Prismatic([1.0, 0.0, 0.0]))
    x, t = np.array([[0.1], [0.7], [-0.4], [0.4], [0.2]]), np.linspace(0.0, 3.7, 9)
    unit, scaled = Spline(model, KNOTS, x, 0.0).at(t), Spline(model, KNOTS * pace, x * size, 0.0).at(t * pace)
    for order, (one, other) in enumerate(zip(unit, scaled, strict=True)):
        np.testing.assert_allclose(other, one * size / pace**order, rtol=1e-9, atol=1e-11 * size / pace**order)


def test_repeated_points_rest_and_times_may_come_in_any_order_and_shape(ball):
    q = ball.random_configuration(seed=7)
    spline = Spline(ball, [0.0, 1.0, 2.0], [q, -q, q])
    np.testing.assert_allclose(spline.at(1.7).v, 0.0, atol=1e-15)
    t = np.array([[1.5, 0.2], [0.0, 2.0]])
    assert [x.shape for x in spline.at(t)] == [(2, 2, 4), (2, 2, 3), (2, 2, 3)]
    np.testing.assert_array_equal(spline.at(t).q[0, 1], spline.at(0.2).q)
    np.testing.assert_array_equal(spline.times(0.3), np.linspace(0.0, 2.0, 8))


def test_what_is_given_is_copied_and_trajectories_travel(ball):
    q, t = ball.random_configuration(3, seed=1), np.array([0.0, 1.0, 2.0])
    spline = Spline(ball, t, q)
    before = spline.at(0.5).q
    q[:], t[:] = 0.0, 5.0
    np.testing.assert_array_equal(spline.at(0.5).q, before)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(spline)).at(0.5).q, before)


# --- from rest to rest


def test_minimum_jerk_is_the_quintic_along_the_shortest_way(tree, points):
    move = MinimumJerk(tree, points[0], points[1], 2.0, start=1.0)
    d, u = cardan.difference(tree, points[0], points[1]), np.linspace(0.0, 1.0, 7)[:, None]
    found = move.at(1.0 + 2.0 * u[:, 0])
    expected = cardan.integrate(tree, points[0], (10 * u**3 - 15 * u**4 + 6 * u**5) * d)
    np.testing.assert_allclose(cardan.difference(tree, expected, found.q), 0.0, atol=1e-13)
    np.testing.assert_allclose(found.v, 30.0 * u**2 * (1.0 - u) ** 2 * d / 2.0, atol=1e-12)
    np.testing.assert_allclose(found.a, 60.0 * u * (1.0 - u) * (1.0 - 2.0 * u) * d / 4.0, atol=1e-11)
    check_derivatives(move, np.linspace(1.01, 2.99, 11))


def test_minimum_jerk_takes_the_shortest_time_within_limits():
    arm = cardan.robots.arm7().model()
    q0, q1 = 0.4 * arm.random_configuration(2, seed=3)
    by_speed = MinimumJerk(arm, q0, q1)
    t = np.linspace(0.0, by_speed.duration, 2001)
    assert np.abs(by_speed.at(t).v / arm.velocity_upper).max() == pytest.approx(1.0, abs=1e-6)
    by_both = MinimumJerk(arm, q0, q1, acceleration=1.0)
    assert np.abs(by_both.at(by_both.times(1e-3)).a).max() == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize(
    ("rate", "acceleration", "duration"),
    [
        (0.5, 1.0, 1 / 0.5 + 0.5 / 1.0),
        (10.0, 1.0, 2.0),
        (np.inf, 4.0, 1.0),
        (1.0, 1.0, 2.0),
        (1e-9, 1e9, 1e9),
        (1e9, 1e-18, 2e9),
    ],
)
def test_trapezoids_take_the_time_they_must(rate, acceleration, duration):
    law = TimeLaw.trapezoid(rate, acceleration)
    assert law.duration == pytest.approx(duration, rel=1e-12)
    s, v, a = law.at(np.linspace(0.0, law.duration, 1001))
    assert s[0] == pytest.approx(0.0, abs=1e-20)
    assert s[-1] == pytest.approx(1.0, abs=1e-12)
    assert v.max() <= rate * (1.0 + 1e-12)
    assert np.abs(a).max() <= acceleration * (1.0 + 1e-12)


def enumerated(knots):
    return np.arange(len(knots)), knots


@pytest.mark.parametrize("rate", [0.1, 1.0, 10.0, np.inf])
@pytest.mark.parametrize("acceleration", [0.1, 1.0, 10.0, np.inf])
@in_turn("jerk", [0.1, 1.0, 100.0])
def test_double_s_keeps_three_limits_and_reaches_one_of_them(rate, acceleration, jerk):
    law = TimeLaw.double_s(rate, acceleration, jerk)
    t = np.interp(np.arange(0.0, len(law.progress.knots) - 0.9, 0.1), *enumerated(law.progress.knots))
    s, v, a = law.at(t)
    np.testing.assert_allclose((s[-1], v[-1], a[-1]), (1.0, 0.0, 0.0), atol=1e-9 * max(1.0, np.abs(a).max()))
    np.testing.assert_allclose(np.diff(s) / np.diff(t), 0.5 * (v[1:] + v[:-1]), atol=0.01 * v.max())
    assert v.max() <= rate * (1.0 + 1e-9)
    assert np.abs(a).max() <= acceleration * (1.0 + 1e-9)
    steepest = np.abs(np.diff(a) / np.diff(t)).max()
    assert steepest == pytest.approx(jerk, rel=1e-6)


def test_trapezoids_of_joints_keep_in_step_and_touch_the_tightest_limit(tree, points):
    move = Trapezoidal(tree, points[0], points[1], acceleration=5.0, velocity=np.linspace(1.0, 2.0, tree.nv))
    found = move.at(move.times(1e-3))
    used = np.abs(found.v).max(axis=0) / np.linspace(1.0, 2.0, tree.nv)
    assert used.max() == pytest.approx(1.0, abs=1e-9)
    assert np.abs(found.a).max() <= 5.0 + 1e-9
    np.testing.assert_allclose(cardan.difference(tree, found.q[-1], points[1]), 0.0, atol=1e-12)
    slow = Trapezoidal(tree, points[0], points[1], 5.0, jerk=40.0, duration=9.0)
    assert slow.duration == pytest.approx(9.0, rel=1e-12)
    check_derivatives(slow, np.linspace(0.1, 8.9, 13))


def test_one_sided_velocity_limits_count_in_their_direction():
    model = one_joint(Prismatic([1.0, 0.0, 0.0]), velocity=[2.0], velocity_lower=[-0.5])
    there, back = Trapezoidal(model, [0.0], [10.0], 100.0), Trapezoidal(model, [10.0], [0.0], 100.0)
    assert (there.duration, back.duration) == pytest.approx((5.02, 20.005))


def test_another_time_along_a_path(tree, points):
    timed = Timed(Spline(tree, KNOTS, points), TimeLaw.minimum_jerk(4.0), start=1.0)
    assert timed.interval == (1.0, 5.0)
    np.testing.assert_allclose(timed.at([1.0, 5.0]).v, 0.0, atol=1e-12)
    check_derivatives(timed, np.linspace(1.1, 4.9, 7))


def test_a_law_is_asked_like_a_trajectory():
    law, errors = TimeLaw.minimum_jerk(2.0), cardan.errors
    assert law.at(1.0)[0] == law.at([1.0])[0][0] == 0.5
    refused(errors.ParameterError, r"got 2\.5, expected times from 0 to 2 s", law.at, [0.5, 2.5])
    refused(errors.DTypeError, "real numbers", law.at, "now")
    for duration in (-1.0, 0.0, np.nan, np.inf, "1"):
        refused(errors.ParameterError, "duration", law.stretched, duration)


def test_fourier_series(tree):
    rng = np.random.default_rng(0)
    sines, cosines = 0.1 * rng.normal(size=(2, 3, tree.nv))
    wave = FourierSeries(tree, 2.0, sines, cosines, tree.random_configuration(seed=4), periods=2)
    check_derivatives(wave, np.linspace(0.1, 3.9, 7))
    np.testing.assert_allclose(wave.at(0.3).v, wave.at(2.3).v, atol=1e-12)


# --- bad input


def refused(error, said, make, *arguments, **options):
    with pytest.raises(error, match=said):
        make(*arguments, **options)


def test_bad_knots(ball):
    q = ball.random_configuration(3, seed=0)
    errors = cardan.errors
    refused(errors.ParameterError, r"2 s then 1 s \(knots 1 and 2\).*argsort", Spline, ball, [0.0, 2.0, 1.0], q)
    refused(errors.ParameterError, r"1 s then 1 s \(knots 1 and 2\)", Spline, ball, [0.0, 1.0, 1.0], q)
    refused(errors.ParameterError, "at least two times", Spline, ball, [0.0], q[:1])
    refused(errors.ShapeError, "a time for each configuration", Spline, ball, [0.0, 1.0], q)
    refused(errors.NotFiniteError, r"knots\[1\] is nan", Spline, ball, [0.0, np.nan, 2.0], q)
    q[1, 2] = np.nan
    refused(errors.NotFiniteError, r"q\[1, 2\] is nan", Spline, ball, [0.0, 1.0, 2.0], q)
    refused(errors.ConfigurationError, "norm 0", Spline, ball, [0.0, 1.0], np.zeros((2, 4)))
    refused(errors.ShapeError, r"start_velocity.*\(3,\) or a number", Spline, ball, [0, 1], np.eye(4)[:2], [1.0, 2.0])


def test_bad_times(ball):
    spline = Spline(ball, [0.0, 1.0], ball.random_configuration(2, seed=0))
    refused(cardan.errors.ParameterError, r"got 1\.5, expected times from 0 to 1 s.*Clip", spline.at, [0.5, 1.5])
    refused(cardan.errors.NotFiniteError, r"t\[1\] is nan", spline.at, [0.5, np.nan])
    refused(cardan.errors.DTypeError, "real numbers", spline.at, "now")
    for step in (0.0, np.nan, "1", None):
        refused(cardan.errors.ParameterError, "dt", spline.times, step)
    np.testing.assert_array_equal(spline.times(np.inf), [0.0, 1.0])
    np.testing.assert_array_equal(spline.at(1.0 + 1e-12).q, spline.at(1.0).q)


def test_bad_limits():
    slide = one_joint(Prismatic([1.0, 0.0, 0.0]))
    error, ends = cardan.errors.ParameterError, ([0.0], [1.0])
    refused(error, "velocity limit of joint 'joint': got 'none'.*duration=", MinimumJerk, slide, *ends)
    refused(error, "acceleration of joint 'joint': got -1", Trapezoidal, slide, *ends, -1.0)
    refused(error, "acceleration limit of joint 'joint': got 'none'", Trapezoidal, slide, *ends, np.inf)
    refused(error, "q0 again", Trapezoidal, slide, [0.0], [0.0], 1.0)
    refused(error, r"at least 2 s, the shortest", Trapezoidal, slide, *ends, 1.0, duration=1.0)
    for duration in (-1.0, "1"):
        refused(error, "duration", MinimumJerk, slide, *ends, duration)
    refused(cardan.errors.NotFiniteError, "start", MinimumJerk, slide, *ends, 1.0, start=np.nan)
    refused(cardan.errors.ShapeError, "expected a number", MinimumJerk, slide, *ends, 1.0, start=[0.0])
    stuck = one_joint(Prismatic([1.0, 0.0, 0.0]), velocity=[0.0], velocity_lower=[-1.0])
    refused(error, "velocity limit of joint 'joint'.*lets it move", Trapezoidal, stuck, *ends, 1.0)


def test_a_robot_that_is_none_is_named():
    mechanism = cardan.robots.double_pendulum()
    refused(
        cardan.errors.DTypeError, r"a cardan\.Model", FourierSeries, mechanism, 1.0, np.ones((1, 2)), np.ones((1, 2))
    )
