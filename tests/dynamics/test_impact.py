"""Impacts: velocities just after loops close; against one dense system, laws, 50 digits, a rod by hand."""

import numpy as np
import pytest

import cardan
from cardan.errors import MechanismError, ParameterError
from cardan.joints import FreeFlyer, Spherical
from test_constrained_derivatives import MECHANISMS, assert_close, bordered, closed_state, differences, independent_rows

pytestmark = pytest.mark.usefixtures("quick_target")
LARGE = [pytest.param(n, marks=pytest.mark.full) for n in ("ankle", "leg")]
some = pytest.mark.parametrize("name", ["four_bar", "tilted", *LARGE])


def dense_impact(model, rows, q, v, e):
    """M v' = M v + K^T L, K v' = -e K v in one system, as it stands."""
    M, every = cardan.mass_matrix.kernel(model, q), cardan.loop_jacobian.kernel(model, q)
    K = [every[i] for i in rows]
    ahead, gaps = ([sum(a * b for a, b in zip(row, v, strict=True)) for row in A] for A in (M, K))
    return bordered(M, K, ahead, [-e * gap for gap in gaps], -1.0)


def state_of(name, seed=0):
    model = MECHANISMS[name]()
    q, *_ = closed_state(model, seed)
    v = np.random.default_rng(seed).normal(size=model.nv)
    return model, q, v, independent_rows(cardan.loop_jacobian(model, q))


@some
def test_velocities_their_derivatives_and_energy(name):
    model, q, v, rows = state_of(name)
    e = 0.3
    after = cardan.impact(model, q, v, e).velocities
    assert_close(after, np.array(dense_impact(model, rows, q, v, e)[: model.nv], dtype=float), 1e-11)

    by = cardan.derivative(cardan.impact, ("q", "v"))(model, q, v, e)
    for wrt in ("q", "v"):
        expected = differences(lambda *args: dense_impact(args[0], rows, *args[1:], e), model, {"q": q, "v": v}, wrt)
        assert_close(getattr(by, f"d{wrt}")["velocities"], expected[: model.nv], 1e-10)

    tree = model.spanning_tree()
    for e in (0.0, 0.5, 1.0):  # the loss is (1 - e^2) times that of e = 0, which is that of the change (Carnot)
        after = cardan.impact(model, q, v, e).velocities
        closed = cardan.impact(model, q, v).velocities
        lost = cardan.kinetic_energy(tree, q, v) - cardan.kinetic_energy(tree, q, after)
        np.testing.assert_allclose(lost, (1 - e * e) * cardan.kinetic_energy(tree, q, closed - v), atol=1e-11)
    assert np.abs(cardan.impact(model, q, closed).velocities - closed).max() < 1e-12 * np.abs(closed).max()


def test_a_rod_lands_on_its_end():
    m, L = 2.0, 1.2  # a slender rod: after its end is caught it turns about it with 3 v / (2 L)
    rod = cardan.Mechanism("rod")
    rod.add_body("rod", cardan.Inertia(m, (0, 0, 0), np.diag([m * L * L / 12] * 2 + [1e-3])))
    rod.add_joint("base", FreeFlyer(), "world", "rod")
    end = cardan.SE3(translation=(0.0, 0.0, L / 2))
    rod.add_joint("holds", Spherical(), "world", "rod", end, end)
    model = rod.model(closing=["holds"])
    q, v = model.neutral(), np.array([0.7, 0.0, 0.0, 0.0, 0.0, 0.0])  # along x, across the rod
    after, impulses = cardan.impact(model, q, v)
    np.testing.assert_allclose(after, [1.5 * 0.7 / L * L / 2, 0, 0, 0, -1.5 * 0.7 / L, 0], atol=1e-12)
    np.testing.assert_allclose(impulses[0], [m * (after[0] - v[0]), 0, 0, 0, 0, 0], atol=1e-12)


def test_batches_and_single_precision_and_a_model_without_loops():
    model, q, v, _ = state_of("four_bar")
    one = cardan.impact(model, q, v)
    np.testing.assert_array_equal(cardan.impact(model, np.tile(q, (2, 3, 1)), v).velocities[1, 2], one.velocities)
    single = cardan.impact(model, q.astype(np.float32), v.astype(np.float32)).velocities
    assert single.dtype == np.float32
    assert_close(single, one.velocities, 1e-5)
    with pytest.raises(MechanismError, match="closes a loop"):
        cardan.impact(model.spanning_tree(), q, v)


@pytest.mark.parametrize("e", [-0.1, 1.0 + 1e-6, 2, np.nan, np.inf])
def test_a_restitution_that_is_none_is_refused_at_every_call(e):
    model, q, v, _ = state_of("four_bar")
    by_v = cardan.derivative(cardan.impact, "v")
    bound, packed = cardan.impact.bind(model, "restitution"), cardan.impact.bind_packed(model, "restitution")
    said = r"impact: restitution: got .*expected a number from 0 to 1"
    for good in (0.0, 1.0, 1, np.float32(0.5)):  # whatever fast path there is, is there now
        assert np.isfinite(cardan.impact(model, q, v, good).velocities).all()
        bound(q, v, good), packed(q, v, good), by_v(model, q, v, good)
    for wrong in (e, np.float64(e), np.asarray(e)):
        for call in (cardan.impact, cardan.impact.on("numpy")):
            with pytest.raises(ParameterError, match=said):
                call(model, q, v, wrong)
            with pytest.raises(ParameterError, match=said):
                call(model, q, v, restitution=wrong)
        for call in (bound, packed):
            with pytest.raises(ParameterError, match=said):
                call(q, v, wrong)
        with pytest.raises(ParameterError, match="restitution"):
            by_v(model, q, v, wrong)
    many = np.full((2, 3), 0.5)
    many[1, 2] = e
    for dtype in (np.float64, np.float32):
        with pytest.raises(ParameterError, match=r"impact: restitution\[1, 2\]"):
            cardan.impact(model, q.astype(dtype), v.astype(dtype), many.astype(dtype))


def test_a_restitution_that_is_none_is_nan_in_a_program():
    model, q, v, _ = state_of("four_bar")

    @cardan.function(shapes={"e": ()})
    def inner(model, q, v, e):
        return cardan.impact(model, q, v, e).velocities

    after = inner(model, q, v, [-0.1, 0.0, 1.0, 1.5, np.nan])
    assert np.isnan(after).all(axis=-1).tolist() == [True, False, False, True, True]
