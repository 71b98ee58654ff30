"""Derivatives of the dynamics of closed loops: against differences in 50 digits, laws, and what is refused."""

import mpmath as mp
import numpy as np
import pytest

import cardan
import linkages
import rolling
from cardan.errors import MechanismError, ParameterError, UnknownNameError
from cardan.robots import double_pendulum, five_bar, four_bar, stewart_platform

pytestmark = pytest.mark.usefixtures("quick_target")

MECHANISMS = {
    "four_bar": lambda: four_bar().model(),
    "five_bar": lambda: five_bar().model(),
    "tilted": lambda: linkages.tilted(four_bar()).model(),
    "slider_crank": lambda: linkages.slider_crank_of_bars().model(),
    "ankle": lambda: linkages.parallel_ankle().model(),
    "leg": lambda: linkages.leg().model(base="floating"),
    "sleigh": rolling.sleigh,
    "disc": rolling.disc,
    "pendulum": rolling.pendulum,
}
LARGE = ("five_bar", "ankle", "leg", "disc")
WITH_WRENCHES = ("ankle", "leg")  # whose rows are independent, so that the wrenches are the only ones
some = pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.full] * (n in LARGE)) for n in MECHANISMS])


def closed_state(model, seed=0, spread=0.1):
    rng = np.random.default_rng(seed)
    q = cardan.assemble(model)
    q = cardan.assemble(model, cardan.integrate(model, q, spread * rng.normal(size=model.nv)))
    return q, cardan.project_velocity(model, q, rng.normal(size=model.nv)), rng.normal(size=model.nv)


def independent_rows(K):
    """As many rows as the rank of K, those that stand out most."""
    rows, left = [], np.array(K)
    for _ in range(np.linalg.matrix_rank(K, tol=1e-9)):
        i = int(np.argmax(np.linalg.norm(left, axis=1)))
        rows.append(i)
        left = left - np.outer(left @ left[i], left[i]) / (left[i] @ left[i])
    return sorted(rows)


def dense_motion(model, rows, q, v, tau):
    """M a + h = tau + K^T l, K a + k = 0 in one system, as it stands."""
    M, h = cardan.mass_matrix.kernel(model, q), cardan.bias_forces.kernel(model, q, v)
    K = [cardan.loop_jacobian.kernel(model, q)[i] for i in rows]
    k = [cardan.loop_bias.kernel(model, q, v)[i] for i in rows]
    return bordered(M, K, [t - e for t, e in zip(tau, h, strict=True)], [-e for e in k], -1.0)


def dense_efforts(model, rows, q, v, a):
    """The efforts of all hinges with the least sum of squares: tau + K^T l = M a + h, K tau = 0."""
    tree = cardan.inverse_dynamics.kernel(model, q, v, a)
    K = [cardan.loop_jacobian.kernel(model, q)[i] for i in rows]
    return bordered(np.eye(model.nv).tolist(), K, tree, [0.0] * len(K), 1.0)


def bordered(A, K, b, k, sign):
    n, c = len(A), len(K)
    full = mp.zeros(n + c)
    for i in range(n):
        for j in range(n):
            full[i, j] = A[i][j]
        for j in range(c):
            full[i, n + j], full[n + j, i] = sign * K[j][i], K[j][i]
    return list(mp.lu_solve(full, mp.matrix([*b, *k])))


def differences(function, model, state, wrt, digits=50):
    """Central differences, column j as coordinate j moves."""
    with mp.workdps(digits):
        at = {name: [mp.mpf(float(e)) for e in x] for name, x in state.items()}
        h, columns = mp.mpf(10) ** (-digits // 3), []
        for j in range(model.nv):
            ends = []
            for sign in (1, -1):
                step = [sign * h if i == j else mp.mpf(0) for i in range(model.nv)]
                moved = [a + b for a, b in zip(at[wrt], step, strict=False)]
                moved = list(model.manifold.integrate(at["q"], step)) if wrt == "q" else moved
                ends.append(function(model, *{**at, wrt: moved}.values()))
            columns.append([float((a - b) / (2 * h)) for a, b in zip(*ends, strict=True)])
        return np.array(columns).T


def assert_close(found, expected, tolerance=1e-12):
    np.testing.assert_allclose(found, expected, atol=tolerance * np.abs(expected).max())


@pytest.mark.slow
@some
def test_derivatives_of_motions_are_differences_in_fifty_digits(name):
    model = MECHANISMS[name]()
    q, v, tau = closed_state(model)
    rows = independent_rows(cardan.loop_jacobian(model, q))
    by = cardan.constrained_forward_dynamics_derivatives(model, q, v, tau)
    state = {"q": q, "v": v, "tau": tau}
    for wrt in state:
        expected = differences(lambda *args: dense_motion(args[0], rows, *args[1:]), model, state, wrt)
        assert_close(getattr(by, f"d{wrt}"), expected[: model.nv], 1e-11)
        if name in WITH_WRENCHES:  # T has the unit vectors of forces: the multipliers are the forces
            forces = getattr(by, f"wrenches_d{wrt}")[:, :3].reshape(-1, model.nv)
            assert_close(forces, expected[model.nv :], 1e-11)


@pytest.mark.parametrize("name", ["four_bar", "tilted", pytest.param("five_bar", marks=pytest.mark.full)])
def test_derivatives_of_efforts_are_differences_in_fifty_digits(name):
    model = MECHANISMS[name]()  # hinges alone, so that all efforts weigh the same
    q, v, tau = closed_state(model)
    a = cardan.constrained_forward_dynamics(model, q, v, tau).accelerations
    rows = independent_rows(cardan.loop_jacobian(model, q))
    by = cardan.constrained_inverse_dynamics_derivatives(model, q, v, a)
    state = {"q": q, "v": v, "a": a}
    for wrt in state:
        expected = differences(lambda *args: dense_efforts(args[0], rows, *args[1:]), model, state, wrt)
        assert_close(getattr(by, f"d{wrt}"), expected[: model.nv], 1e-12)


@pytest.mark.parametrize(
    ("name", "actuated"),
    [("four_bar", ("crank_joint",)), ("slider_crank", ("slide",)), ("ankle", ("left_motor", "right_motor"))],
)
def test_efforts_of_some_drives_against_what_is_differentiated_as_it_is_found(name, actuated):
    model = MECHANISMS[name]()
    q, v, tau = closed_state(model)
    a = cardan.constrained_forward_dynamics(model, q, v, tau).accelerations
    by = cardan.constrained_inverse_dynamics_derivatives(model, q, v, a, actuated=actuated)
    steps = np.concatenate([h * np.eye(model.nv) for h in (1e-6, -1e-6)])
    found = cardan.constrained_inverse_dynamics(model, cardan.integrate(model, q, steps), v, a, actuated=actuated)
    for exact, values in ((by.dq, found.efforts), (by.wrenches_dq, found.wrenches)):
        ahead, behind = np.split(values, 2)
        expected = np.moveaxis((ahead - behind) / 2e-6, 0, -1)
        assert_close(exact, expected, 2e-7)
    others = [j for j in range(model.nv) if j not in [i for n in actuated for i in range(model.nv)[model.v_slice(n)]]]
    assert not by.dq[others].any()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["four_bar", "tilted", "ankle"])
def test_laws(name):
    model = MECHANISMS[name]()
    q, v, tau = closed_state(model)
    by = cardan.constrained_forward_dynamics_derivatives(model, q, v, tau)
    K = cardan.loop_jacobian(model, q)
    assert_close(by.dtau, by.dtau.T)
    assert np.abs(K @ by.dtau).max() < 1e-12 * np.abs(by.dtau).max() * np.abs(K).max()
    # what loops add to efforts moves nothing, and is held: K^T of any multipliers
    held = K.T @ np.random.default_rng(0).normal(size=len(K))
    assert np.abs(by.dtau @ held).max() < 1e-12 * np.abs(by.dtau).max() * np.abs(held).max()
    # an effort that makes a motion makes it again: a by tau by a is the identity on closed accelerations
    a = cardan.constrained_forward_dynamics(model, q, v, tau).accelerations
    back = cardan.constrained_inverse_dynamics_derivatives(model, q, v, a).da
    closed = by.dtau @ np.random.default_rng(1).normal(size=model.nv)
    assert_close(by.dtau @ back @ closed, closed, 1e-10)


def test_batches_dtypes_and_the_general_derivative():
    model = MECHANISMS["four_bar"]()
    q, v, tau = closed_state(model)
    one = cardan.constrained_forward_dynamics_derivatives(model, q, v, tau)
    many = cardan.constrained_forward_dynamics_derivatives(model, np.tile(q, (2, 3, 1)), v, tau)
    general = cardan.derivative(cardan.constrained_forward_dynamics, ("q", "v", "tau"))(model, q, v, tau)
    single = cardan.constrained_forward_dynamics_derivatives(model, *(e.astype(np.float32) for e in (q, v, tau)))
    for name in one._fields:
        part, by = name.rpartition("_")[::2]
        exact = getattr(one, name)
        np.testing.assert_array_equal(getattr(many, name)[1, 2], exact)
        assert_close(getattr(general, by)[part or "accelerations"], exact)
        assert getattr(single, name).dtype == np.float32
        assert_close(getattr(single, name), exact, 2e-4)


def test_stabilization_is_differentiated_too():
    model = MECHANISMS["four_bar"]()
    q, v, tau = closed_state(model)
    by = cardan.constrained_forward_dynamics_derivatives(model, q, v, tau, stabilization=20.0)
    ends = [cardan.integrate(model, q, h * np.eye(model.nv)) for h in (1e-6, -1e-6)]
    ends = [cardan.constrained_forward_dynamics(model, e, v, tau, stabilization=20.0).accelerations for e in ends]
    assert_close(by.dq, ((ends[0] - ends[1]) / 2e-6).T, 1e-7)


@pytest.mark.full
@pytest.mark.parametrize("name", ["four_bar", "tilted", "five_bar"])
def test_second_derivatives_are_differences_of_the_first(name):
    model, w = MECHANISMS[name](), np.random.default_rng(2)
    q, v, tau = closed_state(model)
    a = cardan.constrained_forward_dynamics(model, q, v, tau).accelerations
    w, h = w.normal(size=model.nv), 1e-5 * np.eye(model.nv)
    for of, last in (("forward", "tau"), ("inverse", "a")):
        state = {"q": q, "v": v, last: {"tau": tau, "a": a}[last]}
        H = getattr(cardan, f"constrained_{of}_dynamics_hessian")(model, *state.values(), w)
        first = getattr(cardan, f"constrained_{of}_dynamics_derivatives")
        for wrt, blocks in (("q", ("q", "v", last)), ("v", ("v",))):
            ends = [first(model, *({**state, wrt: state[wrt] + s * h}.values())) for s in (1.0, -1.0)]
            for by in blocks:
                ahead, behind = (w @ getattr(end, f"d{by}") for end in ends)
                assert_close(getattr(H, f"d{wrt}_d{by}"), (ahead - behind) / 2e-5, 1e-7)
    assert_close(H.dq_dq, H.dq_dq.T)


def test_what_is_refused():
    model = MECHANISMS["five_bar"]()
    q, v, tau = closed_state(model)
    name = model.connections[0].name
    with pytest.raises(ParameterError, match="cannot make all motions"):
        cardan.constrained_inverse_dynamics_derivatives(model, q, v, tau, actuated=(name,))
    loose = cardan.robots.four_bar()
    loose.add_body("clapper", linkages.inertia(3, 0.1, 1.0))
    loose.add_joint("clapper_joint", cardan.joints.Revolute((0, 1, 0)), "coupler", "clapper")
    loose = loose.model()
    beside = ("crank_joint", "rocker_joint")
    with pytest.raises(ParameterError, match="cannot make all motions"):
        cardan.constrained_inverse_dynamics_derivatives(
            loose, cardan.assemble(loose), *np.zeros((2, 4)), actuated=beside
        )
    with pytest.raises(UnknownNameError):
        cardan.constrained_inverse_dynamics_derivatives(model, q, v, tau, actuated=("nobody",))
    with pytest.raises(ParameterError, match="stabilization"):
        cardan.constrained_forward_dynamics_derivatives(model, q, v, tau, stabilization=-1.0)
    tree = double_pendulum().model()
    for function in (
        cardan.constrained_forward_dynamics_derivatives,
        cardan.constrained_inverse_dynamics_derivatives,
    ):
        with pytest.raises(MechanismError, match="no joint that closes a loop"):
            function(tree, np.zeros(2), np.zeros(2), np.zeros(2))
    bennett = linkages.bennett().model()
    with pytest.raises(MechanismError, match="depend on one another where they are closed"):
        cardan.constrained_inverse_dynamics_derivatives(bennett, cardan.assemble(bennett), *np.zeros((2, 3)))


@pytest.mark.full
def test_programs_are_short():
    """Of no iteration: Stewart's derivatives were 491 593 operations, those of its drives 6.4 million."""
    model = stewart_platform().model()
    assert cardan.constrained_forward_dynamics_derivatives.program(model).operations < 60_000
    assert cardan.constrained_inverse_dynamics_derivatives.program(model).operations < 46_000
