"""Functions of a robot in CasADi: values, derivatives beside its own, solvers, errors; compiled and called back."""

import ctypes
import gc
import shutil
import subprocess
import sys

import numpy as np
import pytest

import cardan
from cardan.errors import (
    CallbackWarning,
    DTypeError,
    MissingExtraError,
    ParameterError,
    TargetError,
    UnknownNameError,
)
from cardan.interop.casadi import source, wrap
from closeness import close
from mechanisms import random_inertia, random_pose
from representatives import represented

rng = np.random.default_rng(3)
PENDULUM = cardan.robots.double_pendulum().model()
ARM = cardan.robots.arm7().model()

COMPILED = pytest.param("cc", marks=pytest.mark.skipif(not shutil.which("cc"), reason="needs a C compiler"))
ways = pytest.mark.parametrize("compiler", [COMPILED, ""], ids=["compiled", "called back"])
pytestmark = pytest.mark.filterwarnings("ignore::cardan.errors.CallbackWarning")


@pytest.fixture
def ca():
    return pytest.importorskip("casadi", reason="needs casadi")


def symbolic(ca, function, model, sizes):
    """A function of CasADi's own symbols."""
    x = [ca.SX.sym(f"x{k}", n) for k, n in enumerate(sizes)]
    return ca.Function("symbolic", x, [ca.vertcat(*function(model, *map(ca.vertsplit, x)))])


def second(ca, F, args, weights):
    """The Hessian of weights . F, by CasADi from what F offers."""
    x = [ca.MX.sym(f"x{k}", *np.shape(a)) for k, a in enumerate(args)]
    gradients = [ca.gradient(ca.dot(F(*x), weights), e) for e in x]
    blocks = [[ca.jacobian(g, e) for e in x] for g in gradients]
    return np.array(ca.Function("H", x, [ca.blockcat(blocks)])(*args))


@ways
@pytest.mark.parametrize("states", represented([1, 3], by=[3].count))
@pytest.mark.parametrize("function", [cardan.forward_dynamics, cardan.inverse_dynamics], ids=lambda f: f.name)
def test_derivatives_are_those_of_casadis_own_symbols(ca, function, states, compiler):
    F = wrap(function, PENDULUM, states=states, compiler=compiler)
    own = symbolic(ca, function, PENDULUM, [2, 2, 2]).map(states)
    args, weights = list(rng.normal(size=(3, 2, states))), rng.normal(size=(2, states))
    close(np.array(F(*args)), np.array(own(*args)), 1e-13)
    for found, expected in zip(F.jacobian()(*args, 0), own.jacobian()(*args, 0), strict=True):
        close(np.array(found), np.array(expected), 1e-12)
    close(second(ca, F, args, weights), second(ca, own, args, weights), 1e-11)


@ways
@pytest.mark.parametrize("model", [PENDULUM, pytest.param(ARM, marks=pytest.mark.full)], ids=["pendulum", "arm"])
def test_recursions_of_the_dynamics_are_what_differentiation_gives(ca, model, compiler):
    """An own function around forward dynamics is differentiated as a program; the bare one has its recursions."""
    known, other = (wrap(f, model, name="F", compiler=compiler) for f in (cardan.forward_dynamics, around))
    args, weights = [*rng.normal(size=(3, model.nv))], rng.normal(size=model.nv)
    for found, expected in zip(known.jacobian()(*args, 0), other.jacobian()(*args, 0), strict=True):
        close(np.array(found), np.array(expected), 1e-11)
    close(second(ca, known, args, weights), second(ca, other, args, weights), 1e-10)


@cardan.function
def around(model, q, v, tau):
    """Forward dynamics, differentiated as a program."""
    return cardan.forward_dynamics(model, q, v, tau)


OTHERS = [j for j in cardan.joints.CATALOGUE if j.nv and not (j.primaries or isinstance(j, cardan.joints.Fixed))]


@pytest.mark.parametrize(
    "joint",
    [
        pytest.param(j, id=type(j).__name__, marks=[pytest.mark.full] * (type(j).__name__ != "Spherical"))
        for j in OTHERS
    ],
)
def test_recursions_are_along_tangents_and_results_are_not(ca, joint):
    """Along entries of quaternions of any length, and of every other chart, they are what differentiation gives."""
    m = cardan.Mechanism("two")
    m.add_body("base", random_inertia(np.random.default_rng(0)))
    m.add_body("link", random_inertia(np.random.default_rng(1)))
    m.add_joint("moves", joint, "world", "base", random_pose(np.random.default_rng(2)))
    m.add_joint("turns", cardan.joints.Revolute((0.6, 0.0, 0.8)), "base", "link", random_pose(np.random.default_rng(3)))
    model = m.model()
    known, other = (wrap(f, model, name="F", compiler="") for f in (cardan.forward_dynamics, around))
    q = model.random_configuration(seed=0)
    for start, stop in model.unit_parts:
        q[start:stop] *= 1.3
    args, weights = [q, *rng.normal(size=(2, model.nv))], rng.normal(size=model.nv)
    for found, expected in zip(known.jacobian()(*args, 0), other.jacobian()(*args, 0), strict=True):
        close(np.array(found), np.array(expected), 1e-10)
    close(second(ca, known, args, weights), second(ca, other, args, weights), 1e-9)


@cardan.function(shapes={"W": (2, 3)})
def several(model, q, v, W, dt: float = 0.1, frame="lower_arm"):
    """Results of every kind: a matrix, a vector named as an argument is, a number, constants."""
    X = cardan.frame_transform(model, q, frame)
    energy = cardan.kinetic_energy(model, q, v)
    return {
        "X": X[:3],
        "q": cardan.integrate(model, q, dt * v),
        "e": W @ X[:3, 3],
        "k": energy * W[0, 1],
        "c": np.eye(2),
    }


@ways
def test_matrices_numbers_and_several_states(ca, compiler):
    frame = PENDULUM.body_names[-1]
    F = wrap(several, PENDULUM, states=2, compiler=compiler, frame=frame)
    assert [F.name_in(k) for k in range(4)] == ["q", "v", "W", "dt"]
    assert [F.name_out(k) for k in range(5)] == ["X", "q_next", "e", "k", "c"]
    q, v, W, dt = (rng.normal(size=(n, 2 * m)) for n, m in ((2, 1), (2, 1), (2, 3), (1, 1)))
    found = F(q, v, W, dt)
    for s in range(2):
        expected = several(PENDULUM, q[:, s], v[:, s], W[:, 3 * s : 3 * s + 3], float(dt[0, s]), frame=frame)
        for part, other in zip(found, expected.values(), strict=True):
            columns = np.reshape(other, (np.shape(other)[0] if np.ndim(other) else 1, -1))
            width = columns.shape[1]
            close(np.array(part)[:, s * width : (s + 1) * width], columns, 1e-13)
    x = [ca.MX.sym(n, *a.shape) for n, a in zip("qvWd", (q, v, W, dt), strict=True)]
    value = ca.sumsqr(ca.vertcat(*map(ca.vec, F(*x))))
    point, h = [q, v, W, dt], 1e-6
    for k, own in enumerate(x):
        gradient = ca.Function("g", x, [ca.vec(ca.gradient(value, own))])
        hessian = np.array(ca.Function("h", x, [ca.jacobian(ca.vec(ca.gradient(value, own)), ca.vec(x[0]))])(*point))
        for i, j in ((0, 0), (1, 1)):
            ahead, behind = ([a.copy() for a in point] for _ in range(2))
            ahead[0][i, j] += h
            behind[0][i, j] -= h
            column = (np.array(gradient(*ahead)) - np.array(gradient(*behind))) / (2 * h)
            np.testing.assert_allclose(hessian[:, [2 * j + i]], column, atol=1e-6, err_msg=f"{k} {i} {j}")


def swing_up(ca, F, knots=12):
    """The least effort that brings a pendulum up, by ipopt with exact Hessians: the cost, and the iterations."""
    opti, h = ca.Opti(), 0.08
    q, v, u = (opti.variable(2, n) for n in (knots + 1, knots + 1, knots))
    opti.minimize(ca.sumsqr(u))
    opti.subject_to(ca.vec(q[:, 1:] - q[:, :-1] - h * v[:, 1:]) == 0)
    opti.subject_to(ca.vec(v[:, 1:] - v[:, :-1] - h * F(q[:, :-1], v[:, :-1], u)) == 0)
    for given, value in ((q[:, 0], [0, 0]), (v[:, 0], [0, 0]), (q[:, -1], [1.0, 0.5]), (v[:, -1], [0, 0])):
        opti.subject_to(given == value)
    opti.solver("ipopt", {"print_time": False}, {"print_level": 0, "sb": "yes"})
    solution = opti.solve()
    return solution.value(opti.f), solution.stats()["iter_count"]


@ways
def test_ipopt_takes_the_same_iterations_as_with_casadis_own_symbols(ca, compiler):
    own = symbolic(ca, cardan.forward_dynamics, PENDULUM, [2, 2, 2]).map(12)
    cost, iterations = swing_up(ca, own)
    mapped = wrap(cardan.forward_dynamics, PENDULUM, compiler=compiler)
    for F in (mapped.map(12), wrap(cardan.forward_dynamics, PENDULUM, states=12, compiler=compiler)):
        found = swing_up(ca, F)
        np.testing.assert_allclose(found[0], cost, rtol=1e-8)
        assert found[1] == iterations


@ways
def test_a_map_has_jacobians_and_hessians(ca, compiler):
    """CasADi asks it for several directions at once, which callbacks gave the shape of one."""

    of = cardan.forward_dynamics
    x = [ca.MX.sym(name, 2, 3) for name in ("q", "v", "tau")]
    values, found = ca.vertcat(*map(ca.vec, x)), []
    numbers = [ca.DM(a) for a in np.random.default_rng(4).normal(size=(3, 2, 3))]
    for F in (wrap(of, PENDULUM, compiler=compiler).map(3), wrap(of, PENDULUM, states=3, compiler=compiler)):
        y = ca.vec(F(*x))
        both = ca.jacobian(y, values), ca.hessian(ca.sumsqr(y), values)[0]
        found.append([np.array(a) for a in ca.Function("f", x, both)(*numbers)])
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12 * np.abs(b).max())


def test_zeros_are_left_out(ca):
    """Nothing is written for what no state makes other than 0: the angle of the first joint, say, which is upright."""
    jacobian = wrap(cardan.forward_dynamics, ARM, compiler="").jacobian()
    pattern = cardan.forward_dynamics_derivatives.sparsity(ARM)
    for k, name in enumerate(pattern._fields):
        assert jacobian.nnz_out(k) == np.count_nonzero(getattr(pattern, name))
    assert jacobian.nnz_out(0) == 42


def test_derivatives_of_quaternions_are_plain(ca):
    m = cardan.Mechanism("ball")
    m.add_body("stone", cardan.Inertia(mass=2.0, com=[0.1, 0.2, -0.3], inertia=np.diag([0.5, 0.4, 0.3])))
    m.add_joint("turns", cardan.joints.Spherical(), "world", "stone")
    model = m.model()
    F = wrap(cardan.forward_dynamics, model, compiler="")
    own = symbolic(ca, cardan.forward_dynamics, model, [4, 3, 3])
    args, weights = [rng.normal(size=n) for n in (4, 3, 3)], rng.normal(size=3)
    for found, expected in zip(F.jacobian()(*args, 0), own.jacobian()(*args, 0), strict=True):
        close(np.array(found), np.array(expected), 1e-12)
    close(second(ca, F, args, weights), second(ca, own, args, weights), 1e-11)


@pytest.mark.full
@ways
def test_solutions_are_differentiated_as_what_they_solve(ca, compiler):
    """Not pass by pass: `integrate` of a cluster took 341 154 operations for its second derivatives."""
    model = cardan.clustered(cardan.robots.four_bar().model(), ["crank_joint"])
    text = source(cardan.integrate, model)
    assert text.count("\n") < 4000
    F = wrap(cardan.integrate, model, compiler=compiler)
    args, weights = (cardan.integrate(model, model.neutral(), [0.3]), np.array([0.4])), rng.normal(size=3)
    close(np.array(F(*args)).ravel(), cardan.integrate(model, *args), 1e-14)
    slopes, h = np.array(F.jacobian()(*args, 0)[1]).ravel(), 1e-3
    around = cardan.integrate(model, args[0], args[1] + h * np.array([[-2.0], [-1.0], [1.0], [2.0]]))
    close(slopes, np.array([1.0, -8.0, 8.0, -1.0]) @ around / (12 * h), 1e-9)
    middle = 30 * cardan.integrate(model, *args)
    bends = (np.array([-1.0, 16.0, 16.0, -1.0]) @ around - middle) / (12 * h * h)
    close(second(ca, F, args, weights)[3, 3], weights @ bends, 1e-6)


@pytest.mark.full
@pytest.mark.parametrize("function", [cardan.forward_dynamics, cardan.inverse_dynamics], ids=lambda f: f.name)
def test_derivatives_of_clusters_are_by_every_entry_of_q(ca, function):
    """Off the closed set, too: there dependent coordinates count, which no motion changes by themselves."""
    model = cardan.clustered(cardan.robots.four_bar().model(), ["crank_joint"])
    F = wrap(function, model, compiler="", order=1)
    q, v, x = cardan.integrate(model, model.neutral(), [0.3]), [0.7], [0.2]
    ahead, behind = (function(model, q + h * np.eye(3), v, x) for h in (1e-6, -1e-6))
    close(np.array(F.jacobian()(q, v, x, 0)[0]), (ahead - behind).T / 2e-6, 1e-7)


def test_arguments_may_have_any_name(ca):
    """Weights of results were called so."""

    @cardan.function(shapes={"result_bar": (2,)})
    def scaled(model, q, result_bar):
        return q * q * result_bar

    F, x = wrap(scaled, PENDULUM, compiler=""), ca.MX.sym("x", 2)
    slope = ca.Function("slope", [x], [ca.gradient(ca.dot(F(x, [3.0, 4.0]), [5.0, 6.0]), x)])
    assert np.array(slope([1.0, 2.0])).ravel().tolist() == [30.0, 96.0]


def test_inputs_of_a_model_are_arguments(ca):
    model = PENDULUM.with_inputs(load=(PENDULUM.body_names[-1], "mass"))
    F = wrap(cardan.gravity_forces, model, order=1, compiler="")
    q, load = rng.normal(size=2), 3.0
    close(np.array(F(q, load)).ravel(), cardan.gravity_forces(model, q, load=load), 1e-14)
    close(
        np.array(F.jacobian()(q, load, 0)[1]).ravel(),
        cardan.derivative(cardan.gravity_forces, "load")(model, q, load=load),
    )


def test_wrenches_are_an_argument_if_they_are_asked_for(ca):
    F = wrap(cardan.forward_dynamics, PENDULUM, "external_forces", compiler="", order=1)
    q, v, tau = rng.normal(size=(3, 2))
    wrenches = rng.normal(size=(PENDULUM.nbodies, 6))
    close(np.array(F(q, v, tau, wrenches)).ravel(), cardan.forward_dynamics(PENDULUM, q, v, tau, wrenches), 1e-13)


def test_a_number_among_the_options_is_a_constant(ca):
    F = wrap(several, PENDULUM, compiler="", order=0, dt=0.5, frame=PENDULUM.body_names[-1])
    q, v = rng.normal(size=(2, 2))
    assert F.n_in() == 3
    close(np.array(F(q, v, np.ones((2, 3)))[1]).ravel(), q + 0.5 * v, 1e-15)


@pytest.mark.parametrize("order", [0, 1])
def test_lower_orders_offer_no_more(ca, order):
    F = wrap(cardan.gravity_forces, PENDULUM, order=order, compiler="")
    x = ca.MX.sym("x", 2)
    if order:
        assert ca.jacobian(F(x), x).shape == (2, 2)
    else:
        with pytest.raises(RuntimeError):
            ca.Function("J", [x], [ca.jacobian(F(x), x)])


def test_what_is_made_of_a_callback_outlives_it(ca):
    def made():
        F, x = wrap(cardan.gravity_forces, PENDULUM, compiler=""), ca.MX.sym("x", 2)
        return ca.Function("made", [x], [ca.hessian(ca.sumsqr(F(x)), x)[0]])

    F = made()
    gc.collect()
    assert np.isfinite(np.array(F([0.3, -0.2]))).all()


# --- what is written ---


@pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc")
@pytest.mark.parametrize("language", ["c99", "c++17"])
def test_source_is_strict_c(tmp_path, language):
    text = source(cardan.forward_dynamics, PENDULUM, states=4)
    file = tmp_path / ("f.cpp" if "+" in language else "f.c")
    file.write_text(text)
    flags = ["-Wall", "-Wextra", "-Werror", "-O1", "-c"]
    if language == "c99":
        flags.append("-pedantic")
    subprocess.run(["gcc", f"-std={language}", *flags, "-o", tmp_path / "f.o", file], check=True)


@pytest.mark.skipif(not shutil.which("cc"), reason="needs a C compiler")
def test_what_casadi_writes_around_it_runs_as_in_acados(ca, tmp_path, monkeypatch):
    """acados lets CasADi write rates and sensitivities, with numbers that are `int`, and links the library."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dynamics.c").write_text(source(cardan.forward_dynamics, ARM, name="dynamics", order=1))
    make = ["cc", "-O1", "-fPIC", "-shared", f"-Wl,-rpath,{tmp_path}", "-L.", "-o"]
    subprocess.run([*make, "libdynamics.so", "dynamics.c", "-lm"], check=True)
    n, shapes = ARM.nv, [(14, 1), (14, 14), (14, 7), (7, 1)]
    x, Sx, Su, u = (ca.MX.sym(name, *shape) for name, shape in zip(("x", "Sx", "Su", "u"), shapes, strict=True))
    f = ca.vertcat(x[n:], ca.external("dynamics", "./libdynamics.so")(x[:n], x[n:], u))
    rates = [f, ca.jtimes(f, x, Sx), ca.jacobian(f, u) + ca.jtimes(f, x, Su)]
    vde = ca.Function("expl_vde_forw", [x, Sx, Su, u], [ca.densify(rate) for rate in rates])
    vde.generate("expl_vde_forw", {"casadi_int": "int"})
    subprocess.run([*make, "ocp.so", "expl_vde_forw.c", "-ldynamics", "-lm"], check=True)

    library, sizes = ctypes.CDLL("./ocp.so"), (ctypes.c_int * 4)()
    assert library.expl_vde_forw_work(*(ctypes.byref(sizes, 4 * k) for k in range(4))) == 0
    given = [np.asfortranarray(rng.normal(size=shape)) for shape in shapes]
    found = [np.zeros(shape, order="F") for shape in shapes[:3]]
    pointers = [(ctypes.c_void_p * sizes[k])(*(a.ctypes.data for a in side)) for k, side in enumerate((given, found))]
    assert library.expl_vde_forw(*pointers, (ctypes.c_int * sizes[2])(), (ctypes.c_double * sizes[3])(), 0) == 0
    (q, v), tau = given[0].reshape(2, n), given[3].ravel()
    by = cardan.forward_dynamics_derivatives(ARM, q, v, tau)
    A, B = np.block([[np.zeros((n, n)), np.eye(n)], [by.dq, by.dv]]), np.vstack([np.zeros((n, n)), by.dtau])
    close(found[0].ravel(), np.concatenate([v, cardan.forward_dynamics(ARM, q, v, tau)]), 1e-12)
    close(found[1], A @ given[1], 1e-12)
    close(found[2], B + A @ given[2], 1e-12)


def test_source_is_the_same_each_time():
    assert source(cardan.forward_dynamics, PENDULUM) == source(cardan.forward_dynamics, PENDULUM)


# --- errors ---


def test_a_callback_says_so(ca, monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CC", raising=False)
    with pytest.warns(CallbackWarning, match="gravity_forces is a callback"):
        wrap(cardan.gravity_forces, PENDULUM, order=0)


@pytest.mark.parametrize(
    ("given", "error", "match"),
    [
        ({"states": 0}, ParameterError, "number of states"),
        ({"states": True}, ParameterError, "number of states"),
        ({"order": 3}, ParameterError, "order"),
        ({"name": "a b"}, ParameterError, "name"),
        ({"name": "a__b"}, ParameterError, "name"),
        ({"name": "sin"}, ParameterError, "name"),
        ({"name": "jac"}, ParameterError, "name"),
        ({"compiler": "no-such-compiler"}, TargetError, "no-such-compiler"),
        ({"frame": "tool"}, UnknownNameError, "frame"),
    ],
)
def test_what_is_refused(ca, given, error, match):
    with pytest.raises(error, match=match):
        wrap(cardan.gravity_forces, PENDULUM, **given)


def test_functions_and_models_that_are_none(ca):
    with pytest.raises(ParameterError, match=r"cardan\.function"):
        wrap(lambda q: q, PENDULUM)
    with pytest.raises(DTypeError, match="model"):
        wrap(cardan.gravity_forces, "arm")

    @cardan.function
    def still(model):
        return cardan.gravity_forces(model, model.neutral())

    with pytest.raises(ParameterError, match="arguments of still"):
        wrap(still, PENDULUM)


@pytest.mark.parametrize("compiler", [None, ""])
@pytest.mark.filterwarnings("ignore::cardan.errors.CallbackWarning")
@pytest.mark.parametrize("given", [lambda rows: rows, np.ravel])
def test_loops_over_rows_of_a_matrix_read_its_rows(ca, compiler, given):
    """They read the columns one after the other as if these were rows. Of all entries in one row, too."""

    @cardan.function(shapes={"rows": (7, 2)}, returns=())
    def polynomial(model, q, rows):
        def step(x, row):
            x = 0.7 * x + cardan.sin(x) * row[0] if np.ndim(row) else 0.7 * x + cardan.sin(x) * row
            return x + (0.3 * row[1] * x if np.ndim(row) else 0.0), None

        return cardan.scan(step, q[0], given(rows))[0]

    arm, rng = cardan.robots.double_pendulum().model(), np.random.default_rng(0)
    q, rows = rng.normal(size=2), rng.normal(size=(7, 2))
    made = wrap(polynomial, arm, compiler=compiler)
    np.testing.assert_allclose(float(made(q, rows)), polynomial(arm, q, rows), rtol=1e-12)
    x, y = ca.MX.sym("q", 2), ca.MX.sym("rows", 7, 2)
    slope = ca.Function("slope", [x, y], [ca.gradient(made(x, y), y)])
    expected = cardan.gradient(polynomial, "rows")(arm, q, rows)
    np.testing.assert_allclose(np.array(slope(q, rows)), expected, rtol=1e-9)


def test_arrays_of_three_dimensions_are_refused(ca):
    with pytest.raises(ParameterError, match="two dimensions"):
        wrap(cardan.derivative(cardan.jacobian, "q"), ARM, frame="tool")


@pytest.mark.skipif(not shutil.which("cc"), reason="needs a C compiler")
def test_a_compiler_that_fails_is_shown(ca, tmp_path):
    broken = tmp_path / "cc"
    broken.write_text('#!/bin/sh\n[ "$1" = --version ] && exit 0\necho it is broken >&2\nexit 3\n')
    broken.chmod(0o700)
    with pytest.raises(TargetError, match=r"status 3.*\n.*it is broken"):
        wrap(cardan.gravity_forces, PENDULUM, order=0, compiler=str(broken))


def test_without_casadi_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "casadi", None)
    with pytest.raises(MissingExtraError, match=r"cardan\[casadi\]"):
        wrap(cardan.gravity_forces, PENDULUM)
