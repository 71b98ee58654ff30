"""Problems of optimal control in Crocoddyl: derivatives beside differences, solutions beside our own, errors."""

import numpy as np
import pytest

import cardan
from cardan.errors import MissingExtraError, ShapeError, UnsupportedError
from cardan.interop.crocoddyl import shooting_problem
from closeness import close

ARM, DOG = cardan.robots.arm7().model(), cardan.robots.quadruped().model(base="floating")
H = 0.02  # [s]


@pytest.fixture
def crocoddyl():
    return pytest.importorskip("crocoddyl", reason="needs the `crocoddyl` extra")


@cardan.function(shapes={"u": ("nv",)})
def step(model, q, v, u):
    after = v + H * cardan.forward_dynamics(model, q, v, u)
    return cardan.integrate(model, q, H * after), after


@cardan.function(shapes={"u": ("nv",), "weight": ()}, returns=())
def cost(model, q, v, u, weight):
    return H * weight * (1e-3 * (u @ u) + v @ v + 1e-2 * u[0] * v[0])


@cardan.function(shapes={"goal": ("nq",)}, returns=())
def far(model, q, v, goal):
    e = cardan.difference(model, goal, q)
    return 50.0 * (e @ e) + v @ v


def made(model, T, lower=None, upper=None, **further):
    problem = cardan.optimal.Problem(model, step, cost, far, lower, upper, **further)
    goal = cardan.integrate(model, model.neutral(), 0.3 * np.ones(model.nv))
    parameters = {"goal": goal, "weight": np.linspace(1.0, 2.0, T + 1)}
    return problem, model.neutral(), np.zeros(model.nv), np.zeros((T, model.nv)), parameters


@pytest.mark.parametrize("model", [ARM, DOG], ids=["arm", "dog"])
def test_states_and_derivatives_are_those_of_differences(crocoddyl, model):
    shooting, rng = shooting_problem(*made(model, 3)), np.random.default_rng(0)
    state = shooting.terminalModel.state
    by_differences = crocoddyl.StateNumDiff(state)
    x, x1 = (np.concatenate([model.random_configuration(seed=k), rng.normal(size=model.nv)]) for k in range(2))
    dx = state.diff(x, x1)
    close(state.diff(state.integrate(x, dx), x1), np.zeros(2 * model.nv), 1e-13)
    for found, expected in zip(
        (*state.Jdiff(x, x1), *state.Jintegrate(x, dx)),
        (*by_differences.Jdiff(x, x1), *by_differences.Jintegrate(x, dx)),
        strict=True,
    ):
        close(found, expected, 1e-6)
    J = rng.normal(size=(2 * model.nv, 3))
    close(
        state.JintegrateTransport(x, dx, J.copy(), crocoddyl.Jcomponent.second), state.Jintegrate(x, dx)[1] @ J, 1e-13
    )
    for action, given, names in (
        (shooting.runningModels[1], (x, rng.normal(size=model.nv)), ("Fx", "Fu", "Lx", "Lu", "Lxx", "Lxu", "Luu")),
        (shooting.terminalModel, (x,), ("Lx",)),  # of whose Hessian differences of slopes have no symmetric part
    ):
        datas = []
        for own in (action, crocoddyl.ActionModelNumDiff(action)):
            datas.append(own.createData())
            own.calc(datas[-1], *given)
            own.calcDiff(datas[-1], *given)
        for name in names:
            found, expected = (getattr(data, name) for data in datas)
            close(found, expected, 1e-5 * max(np.abs(expected).max(), 1.0))


def test_solutions_are_those_of_our_own_solver(crocoddyl):
    given = made(ARM, 20, -25.0, 25.0)
    expected = cardan.optimal.solve(*given, tolerance=1e-10)
    solver = crocoddyl.SolverBoxFDDP(shooting_problem(*given))
    assert solver.solve([], [*given[3]], 200)
    assert expected.converged
    assert abs(solver.cost - expected.cost) < 1e-7 * expected.cost
    assert np.abs(expected.u).max() > 24.99  # on a bound
    close(np.array(solver.us), expected.u, 1e-2)


def test_what_is_refused():
    problem, q, *rest = made(ARM, 3)
    with pytest.raises(ShapeError, match="one problem"):
        shooting_problem(problem, np.tile(q, (2, 1)), *rest)

    @cardan.function
    def low(model, q, v):
        return q[:1]

    with pytest.raises(UnsupportedError, match="final_inequality"):
        shooting_problem(*made(ARM, 3, final_inequality=low))


def test_without_crocoddyl_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "crocoddyl", None)
    with pytest.raises(MissingExtraError, match=r"cardan\[crocoddyl\]"):
        shooting_problem(*made(ARM, 3))
