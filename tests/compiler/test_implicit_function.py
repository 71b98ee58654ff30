"""Solutions with the derivatives of the equations they solve: no iteration is differentiated, at any order."""

import numpy as np
import pytest

import cardan
from cardan._compiler.program.ops import Op
from cardan.errors import ParameterError
from cardan.robots import double_pendulum
from program_rules import verify

MODEL = double_pendulum().model()
B = np.array([0.5, 2.0, 4.0, 30.0])


def by_newton(b):
    """The square root, by an iteration that ends early; no derivative of it would be right."""
    start = cardan.where(b > 10.0, 8.0, 1.0)
    return cardan.repeat_while(40, lambda x: abs(x * x - b) > 1e-13 * b, lambda x: 0.5 * (x + b / x), start)


@cardan.function(shapes={"b": ()})
def root(model, b):
    return cardan.implicit(by_newton(b), lambda x: [x * x - b], lambda x, d: [d[0] / (2.0 * x)])


DERIVATIVES = [
    lambda b: np.sqrt(b),
    lambda b: 0.5 / np.sqrt(b),
    lambda b: -0.25 * b**-1.5,
    lambda b: 0.375 * b**-2.5,
]


@pytest.mark.parametrize("order", range(4))
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_derivatives_of_every_order(order, mode):
    function = root
    for _ in range(order):
        function = cardan.derivative(function, "b", mode=mode)
    np.testing.assert_allclose(function(MODEL, B), DERIVATIVES[order](B), rtol=1e-11)
    program = verify(function.program(MODEL))
    assert [r.passes for r in program.regions if r.passes > 1] == [40]  # the iteration stays, once
    assert program.instructions.count_of(Op.HELD) == 0
    assert program.operations < 20 + 10 * 2**order


def test_every_way_of_differentiating():
    np.testing.assert_allclose(cardan.gradient(root, "b")(MODEL, B), DERIVATIVES[1](B), rtol=1e-12)
    np.testing.assert_allclose(cardan.hessian(root, "b")(MODEL, B), DERIVATIVES[2](B), rtol=1e-12)
    along = cardan.jacobian_vector_product(root, "b")(MODEL, B, direction=2.0)
    np.testing.assert_allclose(along, 2.0 * DERIVATIVES[1](B), rtol=1e-12)

    @cardan.function(returns=(), shapes={"b": ()})
    def one(model, b):
        return root(model, b)

    back = cardan.vector_jacobian_product(one, "b")
    np.testing.assert_allclose(back(MODEL, B, weights=3.0), 3.0 * DERIVATIVES[1](B), rtol=1e-12)


def test_within_others():
    @cardan.function(shapes={"b": ()})
    def outer(model, b):
        return b * cardan.derivative(root, "b")(model, b) + root(model, b) ** 2

    np.testing.assert_allclose(outer(MODEL, B), 0.5 * np.sqrt(B) + B, rtol=1e-12)
    expected = DERIVATIVES[1](B) + B * DERIVATIVES[2](B) + 1.0
    np.testing.assert_allclose(cardan.derivative(outer, "b")(MODEL, B), expected, rtol=1e-12)
    many = root.repeated(3, {"b": "result"})
    np.testing.assert_allclose(many(MODEL, B), B**0.125, rtol=1e-12)
    np.testing.assert_allclose(cardan.derivative(many, "b")(MODEL, B), 0.125 * B**-0.875, rtol=1e-12)


def test_a_solution_within_the_equation_of_another():
    """x of x^2 = b, y of y^3 + y = x b: dy/db = (x + b dx/db) / (3 y^2 + 1)."""

    @cardan.function(shapes={"b": ()})
    def inner_and_outer(model, b):
        y = cardan.repeat(60, lambda y: y - (y * y * y + y - root(model, b) * b) / (3.0 * y * y + 1.0), 1.0 + 0.0 * b)
        return cardan.implicit(
            y, lambda y: [y * y * y + y - root(model, b) * b], lambda y, d: [d[0] / (3.0 * y * y + 1.0)]
        )

    y, h = inner_and_outer(MODEL, B), 1e-5
    first = 1.5 * np.sqrt(B) / (3.0 * y * y + 1.0)
    np.testing.assert_allclose(cardan.derivative(inner_and_outer, "b")(MODEL, B), first, rtol=1e-12)
    by_first = cardan.derivative(inner_and_outer, "b")
    second = (by_first(MODEL, B + h) - by_first(MODEL, B - h)) / (2.0 * h)
    np.testing.assert_allclose(cardan.derivative(by_first, "b")(MODEL, B), second, rtol=1e-8)


def test_several_unknowns_of_any_form():
    """A x = b with symmetric A(q), as an array and as a list with a nested tuple."""

    def equations(model, q, b):
        M = cardan.mass_matrix(model, q)
        return M, cardan.solve(M, b)

    @cardan.function(shapes={"b": ("nv",)})
    def as_array(model, q, b):
        M, x = equations(model, q, b)
        return cardan.implicit(x, lambda x: M @ x - b, lambda x, d: cardan.solve(M, np.array(d, dtype=object)))

    @cardan.function(shapes={"b": ("nv",)})
    def nested(model, q, b):
        M, x = equations(model, q, b)

        def residual(parts):
            (first,), second = parts
            return [M[i, 0] * first + M[i, 1] * second - b[i] for i in range(2)]

        (first,), second = cardan.implicit([(x[0],), x[1]], residual, lambda x, d: cardan.solve(M, np.array(d)))
        return np.array([first, second])

    rng = np.random.default_rng(0)
    q, b = rng.normal(size=(2, 3, MODEL.nv))
    exact = cardan.derivative(cardan.function(shapes={"b": ("nv",)})(lambda m, q, b: equations(m, q, b)[1]), ("q", "b"))
    for function in (as_array, nested):
        found, expected = cardan.derivative(function, ("q", "b"))(MODEL, q, b), exact(MODEL, q, b)
        np.testing.assert_allclose(found.dq, expected.dq, atol=1e-12 * np.abs(expected.dq).max())
        np.testing.assert_allclose(found.db, expected.db, atol=1e-12 * np.abs(expected.db).max())


def test_configurations_move_on_their_manifold():
    """The pose of a free body at a point and an attitude: q itself, found by nothing, moves with what it shall be."""
    m = cardan.Mechanism("body")
    m.add_body("body", cardan.Inertia(1.0, inertia=np.eye(3)))
    model = m.model(base="floating")

    @cardan.function(shapes={"goal": ("nq",)}, returns=("nq",))
    def reached(model, q, goal):
        return cardan.implicit(
            q,
            lambda q: cardan.difference(model, goal, q),
            lambda q, d: d,
            lambda q, d: cardan.integrate(model, q, np.array(d, dtype=object)),
        )

    q = model.random_configuration((4,), seed=1)
    np.testing.assert_array_equal(reached(model, q, q), q)
    found = cardan.derivative(reached, "goal", tangent=True)(model, q, q)
    np.testing.assert_allclose(found, np.broadcast_to(np.eye(6), (4, 6, 6)), atol=1e-14)


def test_numbers_do_not_change_and_single_precision_stays():
    @cardan.function(shapes={"b": ()})
    def plain(model, b):
        return by_newton(b)

    for dtype in (np.float64, np.float32):
        b = B.astype(dtype)
        np.testing.assert_array_equal(root(MODEL, b), plain(MODEL, b))
        found = cardan.derivative(root, "b")(MODEL, b)
        assert found.dtype == dtype
        np.testing.assert_allclose(found, DERIVATIVES[1](B), rtol=200 * np.finfo(dtype).eps)
    assert root.program(MODEL) == plain.program(MODEL).__class__(**{**_fields(plain.program(MODEL)), "name": "root"})
    assert cardan.implicit(3.0, lambda x: [x], lambda x, d: d) == 3.0


def _fields(program):
    return {name: getattr(program, name) for name in ("inputs", "instructions", "outputs", "results", "regions")}


def test_an_iteration_that_did_not_end_has_the_derivative_of_a_solution_nearby():
    @cardan.function(shapes={"b": ()})
    def rough(model, b):
        x = cardan.repeat(2, lambda x: 0.5 * (x + b / x), 1.0 + 0.0 * b)
        return cardan.implicit(x, lambda x: [x * x - b], lambda x, d: [d[0] / (2.0 * x)])

    x = rough(MODEL, B)
    np.testing.assert_allclose(cardan.derivative(rough, "b")(MODEL, B), 0.5 / x, rtol=1e-14)


def test_symbols_of_other_libraries_are_what_they_are():
    sympy = pytest.importorskip("sympy")
    x = sympy.Symbol("x")
    assert cardan.implicit(x, lambda x: [x], lambda x, d: d) is x


def test_residuals_of_another_length_are_refused():
    def wrong(model, b):
        return cardan.implicit(by_newton(b), lambda x: [x * x - b, b], lambda x, d: [d[0] / (2.0 * x)])

    with pytest.raises(ParameterError, match="of r"):
        cardan.derivative(cardan.function(shapes={"b": ()})(wrong), "b")(MODEL, 4.0)
