"""The public functions: arguments, errors, the user's own functions, symbols of other libraries."""

import functools
import inspect
import pickle
import re
import tracemalloc

import numpy as np
import pytest

import cardan
from cardan._dynamics.call.arguments import check_finite
from cardan.errors import DTypeError, MechanismError, NotFiniteError, ShapeError, TraceError, UnknownNameError
from cardan.joints import CATALOGUE
from mechanisms import central_difference, random_model, random_state


@pytest.fixture(scope="module")
def arm():
    return cardan.load(cardan.robots.urdf_path("arm7"))


@pytest.fixture
def state(arm):
    return random_state(arm, seed=0, shape=(5,))


@cardan.function
def energy(model, q, v):
    """The user's own."""
    return cardan.kinetic_energy(model, q, v) + cardan.potential_energy(model, q)


def test_the_users_own_function(arm, state):
    q, v, _ = state
    expected = cardan.kinetic_energy(arm, q, v) + cardan.potential_energy(arm, q)
    np.testing.assert_allclose(energy(arm, q, v), expected, rtol=1e-14)
    assert energy(arm, q[0], v[0]).shape == ()
    assert energy.__doc__ == "The user's own."


@pytest.mark.parametrize(
    "wrapper",
    [
        lambda g: lambda *args: 2.0 * g(*args),
        lambda g: lambda model, *args: 2.0 * g(model, *args),
        lambda g: lambda *args, **named: 2.0 * g(*args, **named),
        lambda g: lambda model, **named: 2.0 * g(model, **named),
        lambda g: lambda model, place, /, *args, **named: 2.0 * g(model, place, *args, **named),
    ],
)
def test_a_kernel_under_a_decorator(arm, state, wrapper):
    """Parameters with places are given by position, as the wrapper takes them."""

    def doubled(g):
        return functools.wraps(g)(wrapper(g))

    @cardan.function
    @doubled
    def moved(model, q, v, gain: float = 0.5):
        return q + gain * v

    q, v = state[:2]
    np.testing.assert_allclose(moved(arm, q, v), 2.0 * (q + 0.5 * v))
    np.testing.assert_allclose(moved(arm, v=v, q=q, gain=0.25), 2.0 * (q + 0.25 * v))


def test_own_function_with_numpy_inside_and_declared_arrays(arm, state):
    @cardan.function(shapes={"gain": ("nv",), "target": (3,)})
    def control(model, q, v, target, gain, *, frame="tool"):
        error = target - cardan.frame_transform(model, q, frame)[:3, 3]
        J = cardan.jacobian(model, q, frame)[:3]
        return {"tau": J.T @ error - gain * np.tanh(0.0) - gain * v, "distance": np.sqrt(error @ error)}

    q, v, _ = state
    target, gain = np.array([0.4, 0.1, 0.6]), np.full(arm.nv, 2.0)
    result = control(arm, q, v, target, gain)
    error = target - cardan.frame_transform(arm, q, "tool")[:, :3, 3]
    J = cardan.jacobian(arm, q, "tool")[:, :3]
    np.testing.assert_allclose(result["tau"], np.einsum("tki,tk->ti", J, error) - gain * v, atol=1e-13)
    np.testing.assert_allclose(result["distance"], np.linalg.norm(error, axis=1), rtol=1e-13)
    assert control.signature(arm) == "(7),(7),(3),(7)->(7),()"


def test_named_tuples_come_back_as_they_are(arm, state):
    from typing import NamedTuple

    class Energies(NamedTuple):
        kinetic: object
        potential: object

    @cardan.function
    def both(model, q, v):
        return Energies(cardan.kinetic_energy(model, q, v), cardan.potential_energy(model, q))

    result = both(arm, state[0], state[1])
    assert isinstance(result, Energies)
    np.testing.assert_array_equal(result.kinetic, cardan.kinetic_energy(arm, state[0], state[1]))


def test_arguments_broadcast(arm, state):
    q, v, a = state
    tau = cardan.inverse_dynamics(arm, q[:, None], v[0], a[None, :2])
    assert tau.shape == (5, 2, 7)
    np.testing.assert_array_equal(tau[3, 1], cardan.inverse_dynamics(arm, q[3], v[0], a[1]))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("rows", [1, 2, 5, 40_001])  # of which the last are several pieces of copies
def test_one_row_for_all_states_gives_the_bits_of_as_many_rows(arm, rows, dtype):
    q = arm.random_configuration((rows,), seed=0).astype(dtype)
    v, a = (np.linspace(-1.0, x, 7).astype(dtype) for x in (0.5, 2.0))
    many = [np.tile(x, (rows, 1)) for x in (v, a)]
    expected = cardan.inverse_dynamics(arm, q, *many)
    for one in ((v, a), (v[None], many[1]), (many[0], np.broadcast_to(a, (rows, 7))), (v[::-1][::-1], a.tolist())):
        found = cardan.inverse_dynamics(arm, q, *one)
        assert found.dtype == (dtype if not isinstance(one[1], list) else np.float64)
        if found.dtype == expected.dtype:
            assert found.tobytes() == expected.tobytes()
    both = cardan.inverse_dynamics_derivatives(arm, q, v, a)  # several results
    for x, y in zip(both, cardan.inverse_dynamics_derivatives(arm, q, *many), strict=True):
        assert x.tobytes() == y.tobytes()


def test_one_row_for_all_states_may_be_where_results_go(arm):
    q, fast = arm.random_configuration((500,), seed=0), cardan.inverse_dynamics.bind(arm)
    out = np.full((500, 7), 0.25)
    expected = fast(q, np.full(7, 0.25), np.zeros(7))
    assert fast(q, out[499], np.zeros(7), out=out) is out
    assert out.tobytes() == expected.tobytes()


def test_one_row_for_all_states_is_not_copied_for_each(arm):
    q, v = arm.random_configuration((200_000,), seed=0), np.zeros(7)
    cardan.inverse_dynamics(arm, q, v, v)
    tracemalloc.start()
    try:
        result = cardan.inverse_dynamics(arm, q, v, v)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < result.nbytes + 5e6  # two copies of at most 2 MB; each array has 11


def test_gufunc_signatures(arm):
    assert cardan.inverse_dynamics.signature(arm) == "(7),(7),(7)->(7)"
    assert cardan.mass_matrix.signature(arm) == "(7)->(7,7)"
    assert cardan.frame_transform.signature(arm, frame="tool") == "(7)->(4,4)"
    vectorized = np.vectorize(lambda q: cardan.mass_matrix(arm, q), signature=cardan.mass_matrix.signature(arm))
    q = arm.random_configuration((3,), seed=0)
    np.testing.assert_array_equal(vectorized(q), cardan.mass_matrix(arm, q))


def test_explain_says_what_the_program_is_made_of(arm):
    text = cardan.inverse_dynamics.explain(arm)
    program = cardan.inverse_dynamics.program(arm)
    assert "(7),(7),(7)->(7)" in text
    assert f"{program.operations} operations" in text
    stages = [stage for stage, _ in program.history]
    left = [n for _, n in program.history]
    assert stages == ["written", "folding", "signs", "sharing", "fold_known_rows", "remove_dead_code"]
    assert left == sorted(left, reverse=True)
    assert left[-1] == program.operations
    assert "168 bytes read and 56 written" in text
    assert "numpy: " in cardan.inverse_dynamics.on("numpy").explain(arm)
    assert "states at a time" in cardan.inverse_dynamics.on("llvm").explain(arm)


def test_source_shows_the_program_in_every_form(arm):
    assert str(cardan.gravity_forces.program(arm)) == cardan.gravity_forces.source(arm)
    assert "void gravity_forces(const double q[7]" in cardan.gravity_forces.source(arm, "c")
    assert "define void @evaluate" in cardan.gravity_forces.source(arm, form="llvm")
    assert "__global__ void" in cardan.gravity_forces.source(arm, "cuda")
    with pytest.raises(UnknownNameError, match="'metal'"):
        cardan.gravity_forces.source(arm, "metal")


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"q": np.zeros(6)}, ShapeError, ["inverse_dynamics", "'q'", "(6,)", "(..., 7)"]),
        ({"q": np.zeros((7, 5))}, ShapeError, ["(7, 5)", "transposed"]),
        ({"v": np.zeros((4, 7))}, ShapeError, ["(5,)", "(4,)", "broadcast"]),
        ({"q": np.float64(1.0)}, ShapeError, ["()", "(..., 7)"]),
        ({"q": "seven"}, DTypeError, ["'q'", "text"]),
        ({"q": [1j] * 7}, DTypeError, ["complex"]),
        ({"q": [True] * 7}, DTypeError, ["truth values"]),
        ({"q": [[1.0], [2.0, 3.0]]}, DTypeError, ["ragged"]),
        ({"q": None}, DTypeError, ["'q'"]),
        ({"q": [None] * 7}, DTypeError, ["None"]),
        ({"q": np.ma.array(np.zeros(7), mask=np.arange(7) == 3)}, DTypeError, ["masked in places", "filled(...)"]),
        ({"external_forces": {"tool": np.zeros(6)}}, DTypeError, ["'external_forces'", "such as {'tool'"]),
    ],
)
def test_wrong_arrays(arm, state, change, error, words):
    arguments = dict(zip("qva", state, strict=True)) | change
    with pytest.raises(error) as info:
        cardan.inverse_dynamics(arm, **arguments)
    for word in words:
        assert word in str(info.value)
    assert isinstance(info.value, cardan.CardanError)


def test_wrong_model_and_names(arm, state):
    with pytest.raises(DTypeError, match=r"cardan\.load"):
        cardan.inverse_dynamics("panda.urdf", *state)
    with pytest.raises(UnknownNameError, match="did you mean 'tool'"):
        cardan.frame_transform(arm, state[0], "tol")
    with pytest.raises(UnknownNameError, match="frame"):
        cardan.jacobian(arm, state[0], "tool", expressed_in="word")
    with pytest.raises(TypeError, match="missing"):
        cardan.inverse_dynamics(arm, state[0])
    with pytest.raises(DTypeError, match="shapes="):
        cardan.function(lambda model, q, gain: q * gain)(arm, state[0], np.ones(7))
    with pytest.raises(cardan.errors.ParameterError, match="names among its arguments"):
        cardan.function(shapes={"gian": (1,)})(lambda model, q, gain: q)
    with pytest.raises(TraceError):
        cardan.function(lambda model, q: "no scalar")(arm, state[0])


def test_inputs_are_read_whatever_their_layout(arm, state):
    q, v, a = state
    expected = cardan.inverse_dynamics(arm, q, v, a)
    wide = np.zeros((10, 14))
    wide[::2, ::2] = q
    variants = [wide[::2, ::2], np.asfortranarray(q), q.astype(">f8"), q.tolist(), q[::-1].copy()[::-1]]
    for variant in variants:
        np.testing.assert_array_equal(cardan.inverse_dynamics(arm, variant, v, a), expected)
    whole = np.arange(7)
    np.testing.assert_array_equal(cardan.gravity_forces(arm, whole), cardan.gravity_forces(arm, whole.astype(float)))
    assert q.flags.writeable


def test_external_forces(arm, state):
    q, v, a = (x[0] for x in state)
    f = np.zeros((arm.nbodies, 6))
    f[-1, 2] = 10.0  # 10 N along the tool's own z axis
    felt = cardan.inverse_dynamics(arm, q, v, a) - cardan.inverse_dynamics(arm, q, v, a, f)
    J = cardan.jacobian(arm, q, "tool", expressed_in="frame")
    np.testing.assert_allclose(felt, 10.0 * J[2], atol=1e-12)
    with pytest.raises(ShapeError, match=r"\(\.\.\., 9, 6\)"):
        cardan.inverse_dynamics(arm, q, v, a, np.zeros(6))


def test_passive_forces():
    m = cardan.Mechanism("m")
    m.add_body("b", cardan.Inertia(1.0))
    m.add_joint("j", cardan.joints.Prismatic(), "world", "b", damping=[2.0], friction=[0.5])
    v = [[3.0], [-1.0], [0.0]]
    np.testing.assert_allclose(cardan.passive_forces(m.model(), np.zeros((3, 1)), v)[:, 0], [6.5, -2.5, 0.0])


def test_a_joint_that_moves_nothing_has_no_acceleration():
    m = cardan.Mechanism("m")
    m.add_body("b")
    m.add_joint("idle", cardan.joints.Revolute(), "world", "b")
    with pytest.raises(MechanismError, match="'idle' moves nothing that has inertia"):
        cardan.forward_dynamics(m.model(), [0.0], [0.0], [0.0])
    np.testing.assert_array_equal(cardan.inverse_dynamics(m.model(), [0.0], [0.0], [1.0]), [0.0])


def test_robot_without_degrees_of_freedom():
    m = cardan.Mechanism("rock")
    m.add_body("b", cardan.Inertia(2.0, (1.0, 0.0, 0.0)))
    model = m.model()
    empty = np.zeros((3, 0))
    assert cardan.inverse_dynamics(model, empty, empty, empty).shape == (3, 0)
    assert cardan.mass_matrix(model, empty).shape == (3, 0, 0)
    assert cardan.jacobian(model, empty, "b").shape == (3, 6, 0)
    np.testing.assert_array_equal(cardan.center_of_mass(model, empty), [[1.0, 0.0, 0.0]] * 3)


def test_programs_do_not_outlive_their_models():
    import gc
    import weakref

    model = random_model(0)
    cardan.center_of_mass(model, model.neutral())
    reference = weakref.ref(model)
    del model
    gc.collect()
    assert reference() is None


def test_sympy_gives_the_formulas():
    """The pendulum's torque, symbolically: m l^2 a + m g l sin q."""
    sp = pytest.importorskip("sympy")
    m = cardan.Mechanism("pendulum")
    m.add_body("b", cardan.Inertia(2.0, (0.0, 0.0, -0.5)))
    m.add_joint("j", cardan.joints.Revolute([0, 1, 0]), "world", "b")
    q, v, a = sp.symbols("q v a")
    (tau,) = cardan.inverse_dynamics(m.model(), [q], [v], [a])
    assert sp.simplify(sp.nsimplify(tau) - (a / 2 + sp.Rational(981, 100) * sp.sin(q))) == 0


def test_casadi_and_mpmath_run_the_same_algorithms(arm, state):
    q, v, a = (x[0] for x in state)
    expected = cardan.inverse_dynamics(arm, q, v, a)
    mp = pytest.importorskip("mpmath")
    with mp.workdps(40):
        exact = cardan.inverse_dynamics(arm, *([mp.mpf(float(e)) for e in x] for x in (q, v, a)))
    np.testing.assert_allclose(expected, [float(e) for e in exact], atol=1e-12)
    ca = pytest.importorskip("casadi", reason="needs the `oracles` extra: casadi")
    symbols = [ca.SX.sym(n, 7) for n in "qva"]
    tau = ca.Function("tau", symbols, [ca.vertcat(*cardan.inverse_dynamics(arm, *symbols))])
    np.testing.assert_allclose(np.ravel(tau(q, v, a).full()), expected, atol=1e-12)


def test_double_pendulum_by_hand():
    """Mass matrix, Coriolis and gravity terms of two rods, derived from the Lagrangian."""
    m1, l1, m2, l2 = 1.3, 0.6, 0.7, 0.45
    robot = cardan.robots.double_pendulum(m1, l1, m2, l2, radius=0.01).model()
    I1, I2 = (m * (3 * 0.01**2 + length**2) / 12 for m, length in ((m1, l1), (m2, l2)))
    q, v = np.array([0.4, -1.1]), np.array([0.9, -0.3])
    c, s, g = np.cos(q[1]), np.sin(q[1]), 9.81
    r1, r2 = l1 / 2, l2 / 2
    M22 = I2 + m2 * r2**2
    M12 = M22 + m2 * l1 * r2 * c
    M11 = I1 + m1 * r1**2 + m2 * l1**2 + M22 + 2 * m2 * l1 * r2 * c
    np.testing.assert_allclose(cardan.mass_matrix(robot, q), [[M11, M12], [M12, M22]], rtol=1e-13)
    h = m2 * l1 * r2 * s
    coriolis = np.array([-h * (2 * v[0] * v[1] + v[1] ** 2), h * v[0] ** 2])
    lower = m2 * r2 * g * np.sin(q.sum())
    gravity = np.array([(m1 * r1 + m2 * l1) * g * np.sin(q[0]) + lower, lower])
    np.testing.assert_allclose(cardan.gravity_forces(robot, q), gravity, rtol=1e-13)
    np.testing.assert_allclose(cardan.bias_forces(robot, q, v), coriolis + gravity, rtol=1e-12)


def test_derivative_of_a_pose_by_symbols(arm):
    """Symbols of SymPy pass through kinematics: the tool's height differentiates to the Jacobian's entry."""
    sp = pytest.importorskip("sympy")
    q = sp.symbols("q0:7")
    height = cardan.frame_transform(arm, list(q), "tool")[2, 3]
    at = arm.random_configuration(seed=3)
    slope = float(sp.diff(height, q[3]).subs(dict(zip(q, at, strict=True))))
    assert slope == pytest.approx(cardan.jacobian(arm, at, "tool")[2, 3], abs=1e-12)


def test_body_kinematics_match_frames(quick_target, arm, state):
    q, v, a = state
    twists, rates = cardan.body_velocities(arm, q, v), cardan.body_accelerations(arm, q, v, a)
    for k, body in enumerate(arm.body_names):
        np.testing.assert_allclose(twists[:, k], cardan.frame_velocity(arm, q, v, body), atol=1e-14)
        np.testing.assert_allclose(rates[:, k], cardan.frame_acceleration(arm, q, v, a, body), atol=1e-13)
    moved = central_difference(lambda s: cardan.body_velocities(arm, q + s * v + 0.5 * s * s * a, v + s * a))
    np.testing.assert_allclose(rates, moved, atol=1e-7)


@pytest.mark.parametrize("target", ["llvm", "numpy"])
def test_bound_functions(arm, state, target):
    q, v, a = state
    function = cardan.inverse_dynamics.on(target)
    fast, expected = function.bind(arm), function(arm, q, v, a)
    np.testing.assert_array_equal(fast(q, v, a), expected)
    np.testing.assert_array_equal(fast(q[1], v[1], a[1]), expected[1])
    np.testing.assert_array_equal(fast(q, v[0], a.tolist()), function(arm, q, v[0], a))
    out = np.empty(7)
    assert fast(q[2], v[2], a[2], out=out) is out
    np.testing.assert_array_equal(out, expected[2])
    aliased = a.copy()
    fast(q, v, aliased, out=aliased)  # the result may replace an input
    np.testing.assert_array_equal(aliased, expected)
    single = fast(*(x.astype(np.float32) for x in state))
    assert single.dtype == np.float32


def test_what_a_bound_function_takes_can_be_asked_of_it(arm):
    """Failed before; redteam.md, 12."""
    assert str(inspect.signature(cardan.inverse_dynamics.bind(arm))) == "(q, v, a, *, out=None)"
    assert list(inspect.signature(cardan.jacobian.bind(arm, frame="tool")).parameters) == ["q", "out"]


def test_bound_functions_with_options(arm, state):
    fast = cardan.jacobian.bind(arm, frame="tool", expressed_in="frame")
    np.testing.assert_array_equal(fast(state[0]), cardan.jacobian(arm, state[0], "tool", expressed_in="frame"))
    f = np.ones((arm.nbodies, 6))
    pushed = cardan.inverse_dynamics.bind(arm, "external_forces")
    np.testing.assert_array_equal(pushed(*state, f), cardan.inverse_dynamics(arm, *state, f))


@pytest.mark.parametrize(
    ("out", "error", "words"),
    [
        (np.empty(6), ShapeError, "'out' has shape (6,), expected (7,)"),
        (np.empty(7, np.float32), DTypeError, "expected an array of float64"),
        (np.empty(14)[::2], DTypeError, "not contiguous"),
        ([0.0] * 7, DTypeError, "list"),
    ],
)
def test_wrong_out(arm, state, out, error, words):
    fast = cardan.inverse_dynamics.bind(arm)
    with pytest.raises(error) as info:
        fast(*(x[0] for x in state), out=out)
    assert words in str(info.value)


@pytest.mark.parametrize("target", ["llvm", "numpy"])
@pytest.mark.parametrize("packed", [False, True])
def test_a_bound_function_has_its_model_and_takes_arrays_by_position_and_by_keyword(arm, target, packed):
    """It said that `Bound.__call__()` got an unexpected keyword argument, or one array too many."""
    function = cardan.mass_matrix.on(target)
    fast, q = function.bind_packed(arm) if packed else function.bind(arm), arm.neutral()
    np.testing.assert_array_equal(fast(q=q), fast(q))
    out = np.empty_like(fast(q))
    assert fast(q=q, out=out) is out
    assert fast(q=q, out=None).tobytes() == fast(q, out=None).tobytes() == out.tobytes()
    for call, words in (
        (lambda: fast(arm, q), "2, the model among them: it is bound to arm7"),
        (lambda: fast(arm), "1, the model among them: it is bound to arm7"),
        (lambda: fast(x=q), "1; there is no argument 'x'; missing q"),
        (lambda: fast(q, q=q), "2; q is given twice"),
        (lambda: fast(), "0; missing q"),
    ):
        with pytest.raises(TypeError, match=rf"mass_matrix takes 1 arrays \(q\), got {re.escape(words)}"):
            call()


@cardan.function(shapes={"target": (3,)})
def pulls(model, q, v, target=(0, 0, 1), stiffness: float = 400.0, *, damping=60.0):
    J = cardan.jacobian(model, q, model.body_names[-1])[:3]
    x = cardan.frame_transform(model, q, model.body_names[-1])[:3, 3]
    return J.T @ (stiffness * (target - x) - damping * (J @ v))


@pytest.mark.parametrize("target", ["llvm", "numpy"])
def test_a_bound_function_keeps_its_defaults_and_keywords(arm, state, target):
    """It wanted all arguments, by position; values given to `bind` for them were thrown away."""
    q, v, _ = (x[0] for x in state)
    function, place = pulls.on(target), np.array([0.1, 0.2, 0.3])
    fast, other = function.bind(arm), function.bind(arm, stiffness=100.0)
    expected = function(arm, q, v, place, 300.0, damping=50.0)
    for found in (
        fast(q, v, place, 300.0, 50.0),
        fast(q, v, place, 300.0, damping=50.0),
        fast(damping=50, stiffness=np.float64(300.0), target=place.tolist(), v=v, q=q),
        function.bind(arm, stiffness=300.0, damping=50.0)(q, v, place),
        pickle.loads(pickle.dumps(function.bind(arm, stiffness=300.0, damping=50.0)))(q, v, place),
    ):
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(fast(q, v), function(arm, q, v))
    np.testing.assert_array_equal(fast(q, v, damping=1.0), function(arm, q, v, damping=1.0))
    np.testing.assert_array_equal(other(q, v), function(arm, q, v, stiffness=100.0))
    said = "(q, v, target=(0, 0, 1), stiffness=400.0, damping=60.0, *, out=None)"
    assert str(inspect.signature(fast)) == said
    assert repr(other).startswith("<pulls(q, v, target=(0, 0, 1), stiffness=100.0, damping=60.0) of one model")
    with pytest.raises(DTypeError, match=r"pulls\.bind: argument 'stiffness' is an array of text"):
        function.bind(arm, stiffness="100")
    with pytest.raises(TypeError, match=r"there is no argument 'stifness'; did you mean 'stiffness'"):
        fast(q, v, stifness=1.0)
    with pytest.raises(TypeError, match="missing v"):
        fast(q)


def test_inputs_of_a_model_follow_defaults_by_keyword():
    """Python has no positional argument without a default behind one with a default; by position it goes, too."""
    model = cardan.robots.cart_pole().model().with_inputs("gravity")
    swing = cardan.function(lambda model, q, v, kp=3.0: kp * q + cardan.gravity_forces(model, q))
    fast, (q, g) = swing.bind(model), (np.array([0.1, 0.2]), np.array([0.0, 0.0, -9.0]))
    assert str(inspect.signature(fast)) == "(q, v, kp=3.0, *, gravity, out=None)"
    expected = swing(model, q, q, gravity=g)
    np.testing.assert_array_equal(fast(q, q, gravity=g), expected)
    np.testing.assert_array_equal(fast(q, q, 3.0, g), expected)
    with pytest.raises(TypeError, match="missing gravity"):
        fast(q, q)


def test_wrong_use_of_bound_functions(arm, state):
    fast = cardan.inverse_dynamics.bind(arm)
    with pytest.raises(TypeError, match=r"takes 3 arrays \(q, v, a\), got 2"):
        fast(state[0], state[1])
    with pytest.raises(ShapeError):
        fast(state[0], state[1], np.zeros(6))
    frozen = np.zeros(7)
    frozen.setflags(write=False)
    with pytest.raises(DTypeError, match="read-only"):
        fast(*(x[0] for x in state), out=frozen)
    with pytest.raises(
        TypeError, match=r"bound functions take it: inverse_dynamics\.bind\(model\)\(\.\.\., out=array\)"
    ):
        cardan.inverse_dynamics(arm, *state, out=frozen)
    with pytest.raises(cardan.errors.ParameterError, match="frame"):
        cardan.jacobian.bind(arm)
    with pytest.raises(UnknownNameError, match="did you mean 'external_forces'"):
        cardan.inverse_dynamics.bind(arm, "external_force")
    with pytest.raises(UnknownNameError, match="did you mean 'frame'"):
        cardan.jacobian.explain(arm, fram="tool")


def test_random_layouts_and_types_against_the_reference(arm):
    """Shapes, strides, dtypes and byte orders at random: never misread."""
    rng = np.random.default_rng(0)
    fast, reference = cardan.inverse_dynamics.bind(arm), cardan.inverse_dynamics.on("numpy")

    def awkward(shape):
        big = rng.normal(size=(*(2 * s for s in shape[:-1]), 14))
        x = big[(*(slice(0, 2 * s, 2) for s in shape[:-1]), slice(0, 14, 2))]
        forms = [np.asfortranarray(x), x.astype(">f8"), x[..., ::-1], (10 * x).astype(int), x.copy(), x.tolist(), x]
        return forms[rng.integers(len(forms))]

    for _ in range(300):
        batch = tuple(rng.integers(1, 5, size=rng.integers(0, 3)))
        arrays = [awkward((*batch[rng.integers(0, len(batch) + 1) :], 7)) for _ in range(3)]
        np.testing.assert_allclose(fast(*arrays), reference(arm, *arrays), atol=1e-9)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda arm, q: cardan.inverse_dynamics(arm, q, q, q, q=q), "multiple values for argument 'q'"),
        (lambda arm, q: cardan.inverse_dynamics(arm, q, q), "missing a required argument: 'a'"),
        (lambda arm, q: cardan.inverse_dynamics(arm, q, q, q, None, q), "too many positional arguments"),
        (lambda arm, q: cardan.jacobian(arm, q, "tool", "world"), "too many positional arguments"),
        (lambda arm, q: cardan.jacobian(arm, q, "tool", expressed="world"), "unexpected keyword argument 'expressed'"),
    ],
)
def test_arguments_missing_unknown_or_given_twice(arm, call, words):
    with pytest.raises(TypeError, match=words):
        call(arm, np.zeros(7))


def test_one_program_however_the_arguments_are_written(arm, state):
    q, v, _ = state
    traced = []

    @cardan.function
    def function(model, q, v, frame, *, at="frame"):
        traced.append(at)
        return cardan.frame_velocity(model, q, v, frame, at=at)

    results = [
        function(arm, q, v, "tool"),
        function(arm, v=v, q=q, frame="tool"),
        function(arm, q, frame="tool", at="frame", v=v),
        function.bind(arm, frame="tool")(q, v),
    ]
    for result in results:
        np.testing.assert_array_equal(result, results[0])
    assert traced == ["frame"]


def test_siblings_on_another_target_share_their_programs(arm, state):
    traced = []

    @cardan.function
    def function(model, q):
        traced.append(model)
        return cardan.center_of_mass(model, q)

    for _ in range(3):
        function.on("numpy")(arm, state[0])
        function.on("llvm", threads=1)(arm, state[0])
    assert len(traced) <= 2


def test_options_that_python_calls_equal_are_told_apart():
    model = cardan.robots.cart_pole().model()

    @cardan.function(options=("by",))
    def kind(model, q, by=1):
        return [q[0] * 0.0 + {bool: 1.0, int: 2.0, float: 3.0}[type(by)] * (-1.0 if str(by) == "-0.0" else 1.0)]

    q = model.neutral()
    for _ in range(2):
        found = [kind(model, q, by)[0] for by in (True, 1, 1.0, 0.0, -0.0)]
        assert found == [1.0, 2.0, 3.0, 3.0, -3.0]
        assert [kind(model, q, by=by)[0] for by in (True, 1, 1.0, 0.0, -0.0)] == found


def test_complex_zeros_of_either_sign_are_options_of_their_own():
    """A program made for 0j served -0j, which Python calls equal."""

    @cardan.function
    def sign(model, q, by):
        return q.sum() * 0.0 + np.copysign(1.0, by.imag) + 10.0 * np.copysign(1.0, by.real)

    model = cardan.robots.arm7().model()
    for _ in range(2):
        found = [sign(model, model.neutral(), complex(x, y)) for x in (0.0, -0.0) for y in (0.0, -0.0)]
        assert found == [11.0, 9.0, -9.0, -11.0]


def test_a_tuple_is_several_results_and_a_list_is_stacked(arm, state):
    """`return q, v` once stacked: of a batch of two, a, b = f(...) were rows, without a word."""
    q, v, _ = (x[:2] for x in state)

    @cardan.function
    def two(model, q, v):
        return q, v[:3]

    @cardan.function
    def stacked(model, q, v):
        return [q[0], v[0], 2.0]

    first, second = two(arm, q, v)
    np.testing.assert_array_equal(first, q)
    np.testing.assert_array_equal(second, v[:, :3])
    np.testing.assert_array_equal(two.bind(arm)(q, v)[1], v[:, :3])
    np.testing.assert_array_equal(stacked(arm, q, v), np.stack([q[:, 0], v[:, 0], [2.0, 2.0]], axis=-1))
    by_q = cardan.derivative(two, "q")(arm, q, v)
    np.testing.assert_array_equal(by_q[0], np.broadcast_to(np.eye(7), (2, 7, 7)))
    np.testing.assert_array_equal(by_q[1], np.zeros((2, 3, 7)))


@pytest.mark.parametrize("target", ["llvm", "numpy"])
def test_packed_results_are_those_of_the_function_side_by_side(arm, state, target):
    @cardan.function
    def several(model, q, v):
        M = cardan.mass_matrix(model, q)
        return {"M": M, "energy": 0.5 * sum(a * b for a, b in zip(v, M @ v, strict=True)), "v": v}

    q, v = state[0], state[1]
    packed = several.on(target).bind_packed(arm)
    for rows in (slice(None), slice(0), 0):
        expected, flat = several(arm, q[rows], v[rows]), packed(q[rows], v[rows])
        assert flat.shape == (*q[rows].shape[:-1], arm.nv**2 + 1 + arm.nv)
        for name, value in expected.items():
            found = flat[packed.places[name]].reshape(np.shape(value))
            np.testing.assert_allclose(found, value, rtol=1e-14, atol=1e-14)
    assert packed(q.tolist(), v).shape == packed(q, v).shape  # the long way
    out = np.empty_like(packed(q, v))
    assert packed(q, v, out=out) is out
    np.testing.assert_array_equal(out, packed(q, v))
    with pytest.raises(ShapeError, match="'out'"):
        packed(q, v, out=np.empty((3, 4)))
    one = pickle.loads(pickle.dumps(cardan.mass_matrix.bind_packed(arm)))  # a matrix, in a row
    assert one(q).shape == (len(q), arm.nv**2)
    np.testing.assert_array_equal(one(q)[one.places["result"]].reshape(-1, arm.nv, arm.nv), cardan.mass_matrix(arm, q))


def test_ragged_and_misdeclared_results_are_refused(arm, state):
    ragged = cardan.function(lambda model, q: [q, q[:2]])
    with pytest.raises(TraceError, match=r"shapes \(7,\), \(2,\)"):
        ragged(arm, state[0])
    turned = cardan.function(lambda model, q: [[q[0], q[1], q[2]]] * 2, returns=(3, 2))
    with pytest.raises(TraceError, match=r"got a result of shape \(2, 3\), expected \(3, 2\)"):
        turned(arm, state[0])


def test_a_float_is_an_argument_and_compiles_once(arm, state, monkeypatch):
    traced = []

    @cardan.function
    def pd(model, q, v, kp: float, kd=2.0):
        traced.append(1)
        return kp * q - kd * v

    q, v, _ = state
    for k in range(5):
        kp = 100.0 + k
        np.testing.assert_allclose(pd(arm, q, v, kp), kp * q - 2.0 * v)
        np.testing.assert_allclose(pd(arm, q, v, kp=kp), kp * q - 2.0 * v)
        np.testing.assert_allclose(pd(arm, q, v, np.float32(kp), kd=k), np.float32(kp) * q - k * v)
        np.testing.assert_allclose(pd(arm, q[0], v[0], np.float64(kp)), kp * q[0] - 2.0 * v[0])
        np.testing.assert_allclose(pd(arm, v=v, q=q, kp=np.full(5, kp)), kp * q - 2.0 * v)
    assert len(traced) == 1
    by_kp = cardan.derivative(pd, "kp")(arm, q, v, 3.0)
    np.testing.assert_allclose(by_kp, q)


def test_many_values_of_an_option_are_said_once(arm, state):
    function = cardan.function(lambda model, q, n: n * q)
    for n in range(3):
        function(arm, state[0], n)
    with pytest.warns(cardan.errors.RecompilationWarning, match="'n' is a program of its own"):
        function(arm, state[0], 3)
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        function(arm, state[0], 7)


@pytest.mark.parametrize("zeros", [np.zeros(19), np.zeros((3, 19)), [0.0] * 19])
def test_a_quaternion_of_norm_zero_is_refused(zeros):
    dog = cardan.robots.quadruped().model(base="floating")
    assert dog.nq == 19
    for function in (cardan.potential_energy, cardan.potential_energy.bind):
        call = (
            function if function is cardan.potential_energy else lambda model, q: cardan.potential_energy.bind(model)(q)
        )
        with pytest.raises(cardan.errors.ConfigurationError, match=r"entries 3 to 6 .* model\.neutral\(\)"):
            call(dog, zeros)
    rows = np.stack([dog.neutral(), np.zeros(19), dog.neutral()])
    with pytest.raises(cardan.errors.ConfigurationError, match=r"in 1 rows of the batch \(1\)"):
        cardan.mass_matrix(dog, rows)


@pytest.mark.parametrize("packed", ["no", "", 0, 1, 1.0, None])
def test_a_truth_value_is_one(arm, packed):
    """Text counted as true, and 1 made a program of its own."""
    for use in (cardan.mass_matrix, cardan.mass_matrix.bind):
        with pytest.raises(DTypeError, match=r"argument 'packed' is .*, expected True or False"):
            use(arm, *[arm.neutral()] * (use is cardan.mass_matrix), packed=packed)
    assert cardan.mass_matrix(arm, arm.neutral(), packed=np.True_).shape == (28,)


def test_batch_dimensions_as_many_as_numpy_broadcasts(arm, reference_target):
    q = arm.neutral()
    assert cardan.mass_matrix(arm, q.reshape((1,) * 32 + (7,))).shape == (1,) * 32 + (7, 7)
    with pytest.raises(ShapeError, match=r"'q' .*, expected at most 32 leading .*reshape\(-1"):
        cardan.mass_matrix(arm, q.reshape((1,) * 33 + (7,)))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_quaternion_of_norm_zero_is_refused_by_later_calls_too(dtype):
    """Machine code looks at every state of a batch, as the first call does."""
    dog = cardan.robots.quadruped().model(base="floating")
    q, zeros = dog.neutral().astype(dtype), np.zeros(dog.nq, dtype)
    fast = cardan.potential_energy.bind(dog)
    for call in (fast, lambda q: cardan.potential_energy(dog, q), lambda q: cardan.potential_energy(dog, q=q)):
        for _ in range(3):
            assert np.isfinite(call(q))
        for bad in (zeros, -zeros, np.stack([zeros, q]), np.stack([q, q, -zeros])):
            with pytest.raises(cardan.errors.ConfigurationError, match=r"model\.neutral"):
                call(bad)
        for at in range(3, 7):
            turned = q.copy()
            turned[3:7] = 0.0
            turned[at] = -1e-10
            assert np.isfinite(call(np.stack([q, turned]))).all()


def test_models_of_the_same_content_share_programs(arm, state):
    import pickle

    function = cardan.function(lambda model, q: cardan.center_of_mass(model, q))
    expected = function(arm, state[0])
    for twin in (pickle.loads(pickle.dumps(arm)), cardan.load(cardan.robots.urdf_path("arm7"))):
        assert twin.digest == arm.digest
        assert function.compiled(twin, ("q",), ()) is function.compiled(arm, ("q",), ())
        np.testing.assert_array_equal(function(twin, state[0]), expected)
    heavier = arm.with_values(mass=2.0 * arm.with_inputs("mass").input_values()["mass"])
    assert heavier.digest != arm.digest


def test_keywords_mean_what_positions_mean(arm, state):
    q, v, a = state
    expected = cardan.inverse_dynamics(arm, q, v, a)
    for _ in range(3):
        np.testing.assert_array_equal(cardan.inverse_dynamics(arm, a=a, q=q, v=v), expected)
        np.testing.assert_array_equal(cardan.inverse_dynamics(arm, q, a=a, v=v), expected)
        np.testing.assert_array_equal(cardan.inverse_dynamics(arm, q, v, a, None), expected)
        np.testing.assert_array_equal(cardan.inverse_dynamics(arm, q, v, a, external_forces=None), expected)
        np.testing.assert_array_equal(cardan.inverse_dynamics(arm, q[0], v=v[0], a=a[0].tolist()), expected[0])
        with pytest.raises(ShapeError, match="'v'"):
            cardan.inverse_dynamics(arm, q, a=a, v=v[:, :3])


def test_shapes_of_robots_without_degrees_of_freedom():
    m = cardan.Mechanism("rock")
    m.add_body("b", cardan.Inertia(2.0, (1.0, 0.0, 0.0)))
    m.add_joint("bolt", cardan.joints.Fixed(), "world", "b")
    model = m.model()
    for lead in ((), (4,)):
        none = np.zeros((*lead, 0))
        assert cardan.torque_regressor(model, none, none, none).shape == (*lead, 0, 10)
        for function in (cardan.inverse_dynamics_derivatives, cardan.forward_dynamics_derivatives):
            assert {part.shape for part in function(model, none, none, none)} == {(*lead, 0, 0)}


def test_a_centre_of_mass_needs_a_mass():
    m = cardan.Mechanism("ghost")
    m.add_body("b")
    m.add_joint("turn", cardan.joints.Revolute((0, 0, 1)), "world", "b")
    model = m.model()
    for function, arguments in (
        (cardan.center_of_mass_velocity, ([0.0], [1.0])),
        (cardan.center_of_mass_jacobian, ([0.0],)),
    ):
        with pytest.raises(MechanismError, match=r"'ghost' has no mass.*give a body an inertia"):
            function(model, *arguments)


def test_arrays_of_indices_are_options_and_not_one_program():
    """The fast path that the first array opened served all others with its program."""
    model = cardan.robots.arm7().model()
    q = model.random_configuration(seed=1)

    @cardan.function
    def some(model, q, places):
        return [q[k] for k in places]

    for places in ([0, 1], [2, 3], [4, 5]):
        np.testing.assert_array_equal(some(model, q, np.array(places)), q[places])
        np.testing.assert_array_equal(some(model, q, places=np.array(places)), q[places])
        np.testing.assert_array_equal(some(model, q, places), q[places])
    assert some(model, q, np.array(places)[:1]) == q[places[0]]


class Setting:
    """An option that can be changed, and that Python calls equal to all others of its class."""

    def __init__(self, gain):
        self.gain = gain

    def __eq__(self, other):
        return type(other) is Setting

    def __hash__(self):
        return 0


def test_options_are_told_apart_by_what_they_hold_now():
    model = cardan.robots.arm7().model()
    q = model.random_configuration(seed=1)

    @cardan.function
    def scaled(model, q, setting):
        return setting.gain * q[0]

    setting = Setting(2.0)
    assert scaled(model, q, setting) == 2.0 * q[0]
    assert scaled(model, q, Setting(3.0)) == 3.0 * q[0]
    setting.gain = 5.0
    assert scaled(model, q, setting) == 5.0 * q[0]
    np.testing.assert_array_equal(scaled(model, [q.tolist()] * 2, Setting(2.0)), 2.0 * q[[0, 0]])


def test_arguments_without_a_name_are_refused():
    """Both were left out in silence: the result was that of a call without them."""

    def by_keyword(model, q, **more):
        return more.get("gain", 1.0) * q[0]

    def by_position(model, q, *more):
        return q[0]

    def position_only(model, q, /, v):
        return q[0]

    for kernel in (by_keyword, by_position, position_only):
        with pytest.raises(cardan.errors.ParameterError, match=rf"arguments of {kernel.__name__}.*a name for each"):
            cardan.function(kernel)


def test_one_argument_missing_and_another_unknown_are_both_seen():
    model = cardan.robots.arm7().model()
    q = model.neutral()
    with pytest.raises(TypeError, match=r"^inverse_dynamics\(model.*missing a required argument: 'a'"):
        cardan.inverse_dynamics(model, q, q, acceleration=q)


def test_checked_reaches_bound_functions_and_derivatives():
    """`bind` and `derivative` left it behind, and CARDAN_CHECK=1 with it."""
    model = cardan.robots.cart_pole().model()
    q, nan = model.neutral(), np.full(model.nv, np.nan)
    checked = cardan.inverse_dynamics.on(checked=True)
    bound, by_q = checked.bind(model), cardan.derivative(checked, "q")
    for call in (bound, lambda *a: bound(*a, out=np.zeros(model.nv)), by_q.bind(model), lambda *a: by_q(model, *a)):
        with pytest.raises(cardan.errors.NotFiniteError, match=r"v\[0\] is nan"):
            call(q, nan, q)
    np.testing.assert_array_equal(bound(q, q, q), cardan.inverse_dynamics(model, q, q, q))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("count", [2, 16, 17, 999, 1000])
def test_numbers_that_are_not_finite_are_told_from_large_ones(count, dtype):
    """Few are summed by Python, more by their squares, many are looked at one by one."""
    array = np.full((1, count), np.finfo(dtype).max)
    check_finite("f", "v", array)
    array[0, -1] = -np.inf
    with pytest.raises(NotFiniteError, match=rf"v\[0, {count - 1}\] is -inf"):
        check_finite("f", "v", array)
    array[0, 0] = np.inf  # their sum is NaN
    with pytest.raises(NotFiniteError, match=r"v\[0, 0\] is inf"):
        check_finite("f", "v", array)


def test_a_product_of_a_product_says_which_name_is_taken():
    for made, name in ((cardan.jacobian_vector_product, "direction"), (cardan.vector_jacobian_product, "weights")):
        with pytest.raises(
            cardan.errors.ParameterError, match=f"argument '{name}': got 'one of inverse_dynamics_.* itself'"
        ):
            made(made(cardan.inverse_dynamics, "q"), "q")


def test_no_frame_is_no_name_of_one():
    model = cardan.robots.arm7().model()
    with pytest.raises(cardan.errors.ParameterError, match="frame: got None, expected a name"):
        cardan.frame_transform(model, model.neutral(), None)


def test_results_by_name_have_texts_as_names():
    """Two keys of the same text were an error of zip(); numbers came back as texts."""
    model = cardan.robots.cart_pole().model()
    numbered = cardan.function(lambda model, q: {1: q[0], "1": q[1]})
    with pytest.raises(cardan.errors.ResultError, match="a dictionary with the key 1, expected texts"):
        numbered(model, model.neutral())


@pytest.mark.parametrize("threads", [0, -1, "2"])
def test_numbers_of_threads_are_checked(threads):
    with pytest.raises(cardan.errors.ParameterError, match="number of threads"):
        cardan.inverse_dynamics.on(threads=threads)


# --- all joints at once ----------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("reference_target")
@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_joint_quantities_are_those_of_each_joint(base):
    model = random_model(3, joints=(*CATALOGUE[:16:3], CATALOGUE[1], CATALOGUE[-2]), base=base)
    q, v, _ = random_state(model, seed=1, shape=(2,))
    found = cardan.joint_quantities(model, q, v)
    joints = len(model.joint_names)
    width = max(len(node.v) for node in model.nodes)
    shapes = [(2, joints, 4, 4), (2, joints, 6, width), (2, joints, 6), (2, joints, 6)]
    assert [part.shape for part in found] == shapes
    for node in model.nodes:
        k, own, rates = model.joint_names.index(node.name), q[:, list(node.q)], v[:, list(node.v)]
        for name, part in zip(found._fields, found, strict=True):
            got = part[:, k, :, : len(node.v)] if name == "motion_subspace" else part[:, k]
            arrays = (own, rates) if name in ("twist", "bias") else (own,)
            np.testing.assert_allclose(got, cardan.evaluate_joint(node.joint, name, *arrays), atol=1e-13, err_msg=name)
        assert not found.motion_subspace[:, k, :, len(node.v) :].any()
    still = [k for k, c in enumerate(model.connections) if c.name not in {node.name for node in model.nodes}]
    assert still
    np.testing.assert_array_equal(found.transform[:, still], np.broadcast_to(np.eye(4), (2, len(still), 4, 4)))
    assert not found.twist[:, still].any()


def test_joint_quantities_of_one_body():
    m = cardan.Mechanism("block")
    m.add_body("block", cardan.Inertia(1.0))
    m.add_joint("glue", cardan.joints.Fixed(), "world", "block")
    found = cardan.joint_quantities(m.model(), [], [])
    assert [part.shape for part in found] == [(1, 4, 4), (1, 6, 0), (1, 6), (1, 6)]


def test_symbols_have_the_shape_of_the_numbers_in_their_place():
    """A transposed matrix of objects was read row by row, and one of CasADi by columns, both without a word."""
    model = cardan.robots.double_pendulum().model()
    q, wrenches = np.array([0.3, 0.4]), np.arange(18.0).reshape(3, 6)
    expected = cardan.inverse_dynamics(model, q, q, q, wrenches)
    symbols = [e.astype(object) for e in (q, q, q, wrenches)]
    np.testing.assert_allclose(cardan.inverse_dynamics(model, *symbols).astype(float), expected)
    for other in (symbols[3].T, symbols[3].ravel()):
        with pytest.raises(ShapeError, match=r"'external_forces' has shape .*expected \(3, 6\).*astype"):
            cardan.inverse_dynamics(model, *symbols[:3], other)
    casadi = pytest.importorskip("casadi")
    F = casadi.SX.sym("F", 3, 6)
    found = cardan.inverse_dynamics(model, *map(casadi.SX, (q, q, q)), F)
    np.testing.assert_allclose(np.array(casadi.Function("f", [F], [casadi.vertcat(*found)])(wrenches))[:, 0], expected)
