"""NumPy's functions on the arrays a kernel receives: what they give is what NumPy gives on numbers."""

import copy
import math
import pickle

import numpy as np
import pytest

import cardan
from cardan._algebra.arrays import SymbolicArray, symbolic
from cardan._algebra.arrays.symbolic import INSTEAD
from cardan._compiler.program import Array, Graph, trace
from cardan._compiler.program.autodiff import jacobian
from cardan._compiler.targets import evaluate
from cardan.errors import ParameterError, ShapeError, TraceError
from representatives import in_turn

RNG = np.random.default_rng(5)
Q, V = RNG.normal(size=4), RNG.normal(size=4)
M = RNG.normal(size=(4, 4))
TABLE = ([-1.0, 0.0, 0.5, 2.0], [3.0, -1.0, 4.0, 4.5])


def program(function, *values):
    """Return the program of a function of arrays with the shapes of the values."""
    inputs = [Array(f"x{k}", np.shape(value)) for k, value in enumerate(values)]
    return trace("f", lambda *arrays: {"y": function(*arrays)}, inputs)


def run(p, *values):
    columns = [np.float64(e) for value in values for e in np.ravel(value)]
    with np.errstate(all="ignore"):
        flat = np.array([float(e) for e in evaluate(p, columns, np.dtype(float))])
    return np.split(flat, np.cumsum([a.size for a in p.outputs])[:-1])[0].reshape(p.outputs[0].shape)


def traced(function, *values):
    """Return what a function of arrays gives when it is traced, and run on the values."""
    return run(program(function, *values), *values)


SAME = {
    # one argument of shape (4,), or two
    "where": lambda q, v: np.where(q > 0, q, v),
    "where_all": lambda q, v: np.where(np.all(q < 5), q, v),
    "where_any": lambda q, v: np.where(np.any((q > 5) | (v > 5)), q, 2 * v),
    "where_not": lambda q, v: np.where(~((q > 0) & (v > 0)), q, v),
    "clip": lambda q, v: np.clip(q, -0.5, 0.5) + np.clip(v, None, 0.1),
    "clip_method": lambda q, v: q.clip(-0.5, 0.5),
    "sign": lambda q, v: np.sign(q),
    "hyperbolic": lambda q, v: np.tanh(q) + np.sinh(v) * np.cosh(q),
    "inverse": lambda q, v: np.arctan(q) + np.arctan2(q, v) + np.arcsin(np.tanh(q)) + np.arccos(np.tanh(v)),
    "logs": lambda q, v: np.expm1(q) + np.log1p(v * v) + np.log(np.exp(q)),
    "roots": lambda q, v: np.sqrt(q * q) + np.hypot(q, v) + np.square(v) + np.abs(q) + np.fabs(v),
    "whole": lambda q, v: np.floor(q) + np.ceil(v) + q // 0.3 + v % 0.7 + np.remainder(q, 2 * np.pi),
    "angles": lambda q, v: np.deg2rad(q) + np.degrees(v),
    "extremes": lambda q, v: np.maximum(q, v) + np.minimum(q, 0.0) + np.max(q) - v.min(),
    "powers": lambda q, v: q**2 + np.abs(q) ** 1.5 + np.power(q, 3) + 2.0**v + np.abs(q) ** v,
    "sums": lambda q, v: np.array([np.sum(q), np.prod(v), np.mean(q), q.sum(), v.mean(), np.add.reduce(q)]),
    "cumulative": lambda q, v: np.cumsum(q) + np.cumprod(v) + np.diff(q, append=0.0),
    "products": lambda q, v: np.outer(q, v) @ (np.dot(q, v) * q) + np.einsum("i,j->ij", q, v)[0] * np.inner(q, v),
    "cross": lambda q, v: np.cross(q[:3], v[1:]),
    "norm": lambda q, v: np.array([np.linalg.norm(q), np.linalg.norm(v, axis=0), np.linalg.norm(np.outer(q, v))]),
    "norm_axis": lambda q, v: np.linalg.norm(np.stack([q, v]), axis=1, keepdims=True),
    "joined": lambda q, v: np.concatenate([q, np.hstack([v, 1.0]), np.stack([q, v]).ravel()]),
    "moved": lambda q, v: np.roll(np.flip(q), 1) + np.tile(v[:2], 2) + np.atleast_2d(q).T[:, 0] + np.repeat(v[:1], 4),
    "diagonal": lambda q, v: np.diag(q) + np.tril(np.outer(q, v)) + np.trace(np.outer(q, v)) * np.eye(4),
    "like": lambda q, v: np.zeros_like(q) + np.ones_like(v) * 2 + np.full_like(q, 3.0),
    "compared": lambda q, v: np.where((q >= v) & (q != v) | (q == 1.0), 1.0, 2.0) + np.where(np.less(q, v), q, 0),
    "polynomial": lambda q, v: np.polyval([0.1, 0.2, 3.0], q),
    "interp": lambda q, v: np.interp(2 * q, *TABLE),
    "not a number": lambda q, v: np.where(np.isnan(np.log(q)), 0.0, np.log(np.abs(q))),
    "mixed": lambda q, v: Q - q + (v - Q) * Q + np.float64(2.0) * q + q * np.float64(3.0) + [1, 2, 3, 4] * v,
    "scalars": lambda q, v: np.tanh(q[0]) * V + np.where(q[0] > 0, q[1], 0.0) + np.float64(2.0) * q[1] + V * q[2],
    "plain array": lambda q, v: np.sin(np.array([q[0], 2 * q[1]])) + np.tanh(np.array([q[0], q[1]])),
    "array like": lambda q, v: np.where(np.array([q[0], v[1]], like=q) > 0, 1.0, 2.0),
    "vectorized": lambda q, v: np.vectorize(lambda x: x * x + 1.0)(q),
    "broadcast": lambda q, v: q[:, None] * v + np.broadcast_to(q, (4, 4)),
    "fancy": lambda q, v: q[[2, 0]] + v[np.array([True, False, True, False])],
    "empty": lambda q, v: np.concatenate([q[:0], v, np.sin(q[2:2])]) + np.sum(q[:0]),
    "scalar": lambda q, v: np.dot(q, v) + np.tanh(q @ v),
}


@in_turn("name", SAME)
def test_what_numpy_gives_on_numbers(name):
    with np.errstate(invalid="ignore"):
        expected = SAME[name](Q, V)
    np.testing.assert_allclose(traced(SAME[name], Q, V), expected, rtol=1e-13, atol=1e-14)


@in_turn("name", SAME)
def test_derivatives_are_those_of_differences(name):
    """Away from kinks, of which these points are none."""
    p = program(lambda q: SAME[name](q, V), Q)
    got = run(jacobian(p, "x0"), Q)
    steps = 1e-6 * np.eye(4)
    expected = np.stack([(run(p, Q + e) - run(p, Q - e)) / 2e-6 for e in steps], axis=-1)
    np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-7)


def test_results_stay_symbolic_whatever_the_order():
    q, plain = symbolic(Graph().symbols([Array("q", (3,))]), (3,)), np.arange(3.0)
    for result in (q + plain, plain + q, plain - q, 2.0 * q, np.float64(2.0) * q, q / plain[1:2], q[1:], q > plain):
        assert type(result) is SymbolicArray
    assert type(np.float64(2.0) * q[0]) is type(plain[1] * q[0]) is type(q[0])
    assert type(plain * q[0]) is SymbolicArray
    assert type(np.stack([q[0], q[1]])) is SymbolicArray


def test_entries_can_be_assigned():
    def kernel(q, v):
        out = np.zeros_like(q)
        out[0], out[1:3] = q[0] * v[0], v[1:3]
        out[2] += q[3]
        return out

    np.testing.assert_allclose(traced(kernel, Q, V), [Q[0] * V[0], V[1], V[2] + Q[3], 0.0])


def test_arguments_changed_in_place_leave_no_trace_outside():
    @cardan.function
    def inner(model, q, v):
        q += 1.0
        v[0] = 0.0
        return q + v

    @cardan.function
    def outer(model, q, v):
        return np.concatenate([inner(model, q, v), q, v])

    arm = cardan.robots.arm7().model()
    q, v = np.arange(7.0), np.ones(7)
    np.testing.assert_array_equal(outer(arm, q, v), np.concatenate([q + 1 + (np.arange(7) > 0), q, v]))
    np.testing.assert_array_equal(q, np.arange(7.0))


def test_copies_belong_to_the_same_trace():
    def kernel(q):
        return copy.deepcopy(q) + copy.copy(q) + q.copy()

    np.testing.assert_allclose(traced(kernel, Q), 3 * Q)


def test_arrays_of_other_symbols_pickle():
    sympy = pytest.importorskip("sympy")
    q = symbolic(sympy.symbols("a b"), (2,))
    back = pickle.loads(pickle.dumps(q))
    assert type(back) is SymbolicArray
    assert back.tolist() == q.tolist()


# --- linear algebra --------------------------------------------------------------------------------------------------

MATRICES = {
    "random": M,
    "zero pivot": np.array([[0.0, 1, 2, 0], [1, 0, 0, 1], [0, 0, 1, 3], [2, 1, 0, 0]]),
    "permutation": np.eye(4)[[2, 3, 0, 1]],
    "scales": np.diag([1e-9, 1e9, 1e-3, 1.0]) @ M,
    "equal columns up to a step": np.array([[1e-20, 1.0, 0, 0], [1.0, 1.0, 0, 0], [0, 0, 0, 1.0], [0, 0, 1.0, 0]]),
}


@pytest.mark.parametrize("name", MATRICES)
def test_systems_are_solved_whatever_their_zeros(name):
    """The entries are inputs: the program must find its pivots as it runs."""
    A, B = MATRICES[name], np.stack([Q, V], axis=1)
    np.testing.assert_allclose(traced(np.linalg.solve, A, Q), np.linalg.solve(A, Q), rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(traced(cardan.solve, A, B), np.linalg.solve(A, B), rtol=1e-11, atol=1e-12)
    inverse = np.linalg.inv(A)
    np.testing.assert_allclose(traced(cardan.inverse, A), inverse, rtol=1e-11, atol=1e-12 * abs(inverse).max())
    np.testing.assert_allclose(traced(np.linalg.det, A), np.linalg.det(A), rtol=1e-12)


def test_known_zeros_of_a_matrix_cost_nothing():
    def kernel(q):
        return cardan.solve([[0.0, q[0]], [q[1], 0.0]], q[:2])

    p = program(kernel, Q)
    np.testing.assert_allclose(run(p, Q), [1.0, 1.0])
    assert p.operations <= 4


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_determinants_of_any_size_with_derivatives(n):
    A = RNG.normal(size=(n, n))
    p = program(np.linalg.det, A)
    np.testing.assert_allclose(run(p, A), np.linalg.det(A), rtol=1e-12)
    slope = np.linalg.det(A) * np.linalg.inv(A).T  # Jacobi's formula
    np.testing.assert_allclose(run(jacobian(p, "x0"), A), slope, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("rank", [0, 1, 2])
def test_a_singular_determinant_has_its_derivatives(rank):
    A = np.diag([1.0, 1.0, 1.0][:rank] + [0.0] * (3 - rank))
    p = program(np.linalg.det, A)
    cofactors = np.diag([0.0, 0.0, 1.0]) if rank == 2 else np.zeros((3, 3))
    assert run(p, A) == 0.0
    np.testing.assert_array_equal(run(jacobian(p, "x0"), A), cofactors)


@pytest.mark.parametrize("name", ["random", "zero pivot"])
def test_first_and_second_derivatives_of_a_solution(name):
    A = MATRICES[name]
    p = program(lambda t: np.linalg.solve(A + t[0] * M.T, Q), np.zeros(1))
    first = jacobian(p, "x0")
    inverse = np.linalg.inv(A)
    x = inverse @ Q
    rate = -inverse @ M.T @ x
    np.testing.assert_allclose(run(first, [0.0])[:, 0], rate, rtol=1e-10)
    np.testing.assert_allclose(run(jacobian(first, "x0"), [0.0])[:, 0, 0], -2 * inverse @ M.T @ rate, rtol=1e-10)


def test_a_positive_definite_system_takes_fewer_operations():
    A = M @ M.T + np.eye(4)
    p = program(lambda A, b: cardan.solve(A, b, positive_definite=True), A, Q)
    np.testing.assert_allclose(run(p, A, Q), np.linalg.solve(A, Q), rtol=1e-12)
    assert p.operations < program(cardan.solve, A, Q).operations / 2


def test_stacks_of_matrices_broadcast_as_in_numpy():
    A, b = RNG.normal(size=(2, 3, 3)), RNG.normal(size=(3, 2))
    np.testing.assert_allclose(traced(np.linalg.solve, A, b), np.linalg.solve(A, b), rtol=1e-11)
    np.testing.assert_allclose(traced(np.linalg.solve, A, b[:, 0]), np.linalg.solve(A, b[:, 0]), rtol=1e-11)
    np.testing.assert_allclose(traced(np.linalg.det, A), np.linalg.det(A), rtol=1e-11)


def test_numbers_are_left_to_numpy():
    np.testing.assert_array_equal(cardan.solve(M, Q), np.linalg.solve(M, Q))
    np.testing.assert_array_equal(cardan.inverse(M), np.linalg.inv(M))
    assert cardan.determinant(M) == np.linalg.det(M)
    assert cardan.norm(Q) == np.linalg.norm(Q)
    assert cardan.interp(0.3, *TABLE) == np.interp(0.3, *TABLE)


def test_a_solved_system_inside_a_function_of_a_robot():
    arm = cardan.robots.arm7().model()

    @cardan.function
    def acceleration(model, q, v, tau):
        M = cardan.mass_matrix(model, q)
        return np.linalg.solve(M, tau - cardan.bias_forces(model, q, v))

    q, v, tau = arm.random_configuration(seed=1), RNG.normal(size=7), RNG.normal(size=7)
    np.testing.assert_allclose(acceleration(arm, q, v, tau), cardan.forward_dynamics(arm, q, v, tau), rtol=1e-9)


def test_the_length_of_nothing_has_slope_zero():
    p = program(np.linalg.norm, Q)
    assert run(p, np.zeros(4)) == 0.0
    np.testing.assert_array_equal(run(jacobian(p, "x0"), np.zeros(4)), np.zeros(4))
    assert math.isnan(run(p, [math.nan, 0, 0, 0]))


def test_wrong_shapes_are_refused():
    q = symbolic(Graph().symbols([Array("q", (6,))]), (6,))
    with pytest.raises(ShapeError, match=r"\(\.\.\., n, n\)"):
        np.linalg.solve(q.reshape(2, 3), q[:2])
    with pytest.raises(ShapeError, match=r"\(2,\) or"):
        np.linalg.solve(q[:4].reshape(2, 2), q[:3])
    with pytest.raises(ShapeError, match="at most 32"):
        np.linalg.inv(np.outer(np.ones(40), np.ones(40)) * q[0])


# --- tables ----------------------------------------------------------------------------------------------------------


def test_tables_are_numpys_to_the_bit_with_slopes_inside_and_none_beyond():
    x = np.array([-math.inf, -3.0, -1.0, -0.5, 0.0, 0.2, 0.5, 1.7, 2.0, 9.0, math.inf])
    p = program(lambda x: np.interp(x, *TABLE), x)
    np.testing.assert_array_equal(run(p, x), np.interp(x, *TABLE))
    slope = np.diag(run(jacobian(p, "x0"), x))
    np.testing.assert_array_equal(slope[[1, 3, 5, 7, 9]], [0.0, -4.0, 10.0, 0.5 / 1.5, 0.0])
    assert math.isnan(run(program(lambda x: np.interp(x[0], *TABLE), [0.0]), [math.nan]))


@pytest.mark.parametrize("table", [([0, 0, 1], [1, 2, 3]), ([1, 0], [1, 2]), ([], []), ([0, 1], [1, 2, 3])])
def test_a_table_must_increase(table):
    with pytest.raises(ParameterError, match="increasing xp"):
        cardan.interp(0.5, *table)


# --- other libraries' symbols ----------------------------------------------------------------------------------------


def kernel(q):
    return (
        np.where(q > 0.1, np.tanh(q), np.arctan(q)) + np.clip(q, -0.5, 0.5) + np.interp(q, *TABLE) * np.linalg.norm(q)
    )


def test_sympy():
    sympy = pytest.importorskip("sympy")
    q = symbolic(sympy.symbols("a b", real=True), (2,))
    got = [float(e.subs(dict(zip(q.tolist(), Q[:2], strict=True)))) for e in kernel(q)]
    np.testing.assert_allclose(got, kernel(Q[:2]), rtol=1e-12)


def test_casadi():
    casadi = pytest.importorskip("casadi")
    x = casadi.SX.sym("x", 2)
    f = casadi.Function("f", [x], [casadi.vertcat(*kernel(symbolic([x[0], x[1]], (2,))))])
    np.testing.assert_allclose(np.array(f(Q[:2])).ravel(), kernel(Q[:2]), rtol=1e-12)


def test_mpmath():
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(40):
        got = kernel(symbolic([mpmath.mpf(float(e)) for e in Q[:2]], (2,)))
        assert all(isinstance(e, mpmath.mpf) for e in got)
    np.testing.assert_allclose(got.astype(float), kernel(Q[:2]), rtol=1e-14)


def test_jax():
    jax = pytest.importorskip("jax")
    f = jax.jit(lambda x: jax.numpy.stack(list(kernel(symbolic(list(x), (2,))))))
    np.testing.assert_allclose(f(Q[:2]), kernel(Q[:2]), rtol=1e-5)


# --- what cannot be --------------------------------------------------------------------------------------------------


def curve(q):
    interpolate = pytest.importorskip("scipy.interpolate")
    return interpolate.CubicSpline([0, 1, 2], [0, 0.1, 0])(q[0])


def rotation(q):
    return pytest.importorskip("scipy.spatial.transform").Rotation.from_euler("y", q[0]).as_matrix()


def assigned(q):
    T = np.eye(4)
    T[0, 3] = q[0]
    return T


def filled(q):
    T = np.eye(4)
    T[:3, :3] = np.outer(q[:3], q[:3])
    return T


def accumulated(q):
    x = np.zeros(4)
    x += q
    return x


def until_small(q):
    x = q[0]
    while abs(x) > 1e-12:
        x = x / 2
    return x


REFUSED = {
    # a line of a user's kernel, and what the message must say
    "branch": (lambda q: q if q[0] > 0 else -q, "cardan.where"),
    "loop": (until_small, "cardan.where"),
    "array branch": (lambda q: q if q > 0 else -q, "np.where"),
    "any branch": (lambda q: q if np.any(q > 0) else -q, "cardan.where"),
    "builtin max": (lambda q: max(q[0], q[1]), "cardan.maximum"),
    "plain comparison": (lambda q: np.where(np.array([q[0], q[1]]) > 0, 1, 2), "np.stack"),
    "float": (lambda q: float(q[0]), "cardan.sin"),
    "math": (lambda q: math.sin(q[0]), "cardan.sin"),
    "item": (assigned, "np.zeros_like"),
    "block": (filled, "np.zeros_like"),
    "in place": (accumulated, "x = x + q"),
    "mask": (lambda q: q[q > 0], "np.where"),
    "index": (lambda q: [1, 2, 3][q[0]], "cardan.sin"),
    "plain array of both": (lambda q: np.sin(np.array([q[0], 0.5])), "np.stack"),
    "round": (lambda q: np.round(q), "np.floor"),
    "isclose": (lambda q: np.isclose(q, 0), "np.abs"),
    "sort": (lambda q: np.sort(q), "np.minimum"),
    "argmax": (lambda q: np.argmax(q), "np.where"),
    "eigenvalues": (lambda q: np.linalg.eigvalsh(np.outer(q, q)), "argument"),
    "cholesky": (lambda q: np.linalg.cholesky(np.outer(q, q)), "positive_definite"),
    "least squares": (lambda q: np.linalg.lstsq(np.outer(q, q), q), "cardan.solve"),
    "unknown elementwise": (lambda q: np.arcsinh(q), "np.log"),
    "one entry": (lambda q: np.cbrt(q[0]), "np.abs"),
    "traced table": (lambda q: np.interp(0.3, [0, 1, 2], q[:3]), "numbers"),
    "cubic spline": (curve, "NaturalSpline"),
    "scipy rotation": (rotation, "cardan.spatial.rotations"),
    "1-norm": (lambda q: np.linalg.norm(q, 1), "np.sum"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_needs_numbers_names_the_line_and_the_way_out(name):
    function, word = REFUSED[name]
    with pytest.raises(TraceError) as caught:
        program(function, Q)
    message = str(caught.value)
    first = function.__code__.co_firstlineno
    lines = range(first, first + 6)
    assert word in message
    assert any(f"{__file__}:{line}" in message for line in lines), message


# What a hint says to write, and what it stands for, at x or A and b.
WRITTEN_INSTEAD = {
    "round": np.round,
    "trunc": np.trunc,
    "modf": lambda x: np.modf(x)[1],
    "arcsinh": np.arcsinh,
    "cbrt": np.cbrt,
    "log10": lambda x: np.log10(x),
    "std": np.std,
    "var": np.var,
    "ptp": np.ptp,
    "linalg.norm(ord=1)": lambda x: [np.linalg.norm(x, 1), np.linalg.norm(x, np.inf)],
}


@pytest.mark.parametrize("name", WRITTEN_INSTEAD)
def test_what_is_written_instead_gives_the_same(name):
    """floor(x + 0.5) stood for trunc, and an arcsinh that is -inf at -1e9."""
    written = INSTEAD[name].removeprefix("use ").removesuffix(" for inf")
    for x in (np.array([1.7, 0.3, 12.2, 1e-9]), np.array([-1e9, -0.3, -1.7, -1e-9])):
        if name != "log10" or x[0] > 0:
            found = eval(written, {"np": np, "x": x})
            np.testing.assert_allclose(found, WRITTEN_INSTEAD[name](x), rtol=1e-12)


@pytest.mark.parametrize("shape", [(6, 4), (4, 6)])
def test_least_squares_are_written_for_tall_and_wide_matrices(shape):
    A, b = np.random.default_rng(0).normal(size=shape), np.arange(1.0, shape[0] + 1.0)
    tall, wide = INSTEAD["linalg.lstsq"].removeprefix("use ").split(", of a wide A with independent rows ")
    found = eval(tall if shape[0] > shape[1] else wide, {"cardan": cardan, "A": A, "b": b})
    np.testing.assert_allclose(found, np.linalg.pinv(A) @ b, atol=1e-12)


# --- in joints -------------------------------------------------------------------------------------------------------


class Cam(cardan.Joint):
    """A follower on a profile, written as one writes NumPy."""

    manifold = cardan.manifolds.Euclidean(2)

    def transform(self, q):
        lift = np.where(q > 0, 0.02 * (1 - np.cos(q)), np.interp(q, *TABLE) * 0.0)
        R = cardan.spatial.rotations.rotation_about_axis((0, 1, 0), np.tanh(q[0]))
        return cardan.SE3(np.eye(3) @ R, R[:, 2] * np.linalg.norm(lift + 1.0) + lift[1] * np.ones(3))


@pytest.mark.slow
@pytest.mark.parametrize("wrap", [lambda j: j, cardan.joints.Reversed, lambda j: cardan.joints.Composite((j, j))])
def test_a_joint_written_with_numpy(wrap):
    joint = wrap(Cam())
    m = cardan.Mechanism("m")
    m.add_body("b", cardan.Inertia(1.0, (0, 0, 0.1), np.diag([0.1, 0.1, 0.1])))
    m.add_joint("cam", joint, "world", "b")
    model = m.model()
    q, v = RNG.uniform(0.2, 1.0, joint.nq), RNG.normal(size=joint.nv)
    J = cardan.jacobian(model, q, "b")
    step = 1e-6 * v
    X, ahead = (cardan.frame_transform(model, q + s * step, "b") for s in (-1, 1))
    twist = np.array(cardan.spatial.log_se3(cardan.SE3.of(np.linalg.inv(X) @ ahead)).scalars()) / 2e-6
    back = cardan.frame_transform(model, q, "b")
    local = np.concatenate([back[:3, :3].T @ (J @ v)[:3], back[:3, :3].T @ (J @ v)[3:]])
    np.testing.assert_allclose(local, twist, atol=1e-7)


@pytest.mark.slow
def test_a_transform_receives_an_array_whoever_calls_it():
    joint = Cam()
    poses = [joint.transform(q) for q in ((0.3, 0.4), [0.3, 0.4], np.array([0.3, 0.4]), symbolic((0.3, 0.4), (2,)))]
    assert all(pose == poses[0] for pose in poses)
    assert joint.configuration_from_transform(poses[0]) is not None
    back = pickle.loads(pickle.dumps(joint))
    assert back == joint


def test_functions_of_numpy_on_vectors_and_matrices_of_symbols():
    def kernel(q):
        R = cardan.spatial.rotations.rotation_about_axis((0, 0, 1), q[0])
        w = np.where(np.cross(R[0], R[:, 1]) > 0, 1.0, 2.0)
        return np.linalg.solve(R, R[2]) * np.linalg.det(R) + w + np.linalg.norm(R[1]) + np.stack([R[0], R[1]])[1]

    np.testing.assert_allclose(traced(kernel, Q), kernel(Q), rtol=1e-14, atol=1e-15)


def scalar_wanted(q):
    return cardan.SE3(translation=(0, 0, np.cos(q)))


def test_an_array_where_a_scalar_is_needed_is_named():
    with pytest.raises(ShapeError, match=rf"translation.*\(4,\).*{__file__}:.*np\.cos\(q\[0\]\)"):
        program(scalar_wanted, Q)
