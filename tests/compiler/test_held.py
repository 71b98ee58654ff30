"""Values with the derivative of something else, and loops in which nothing has one: they stay loops."""

import numpy as np
import pytest

import cardan
from cardan._algebra.scalar import held
from cardan._compiler.program.ops import Op
from cardan._compiler.program.passes import without_tangents
from cardan.robots import double_pendulum
from program_rules import verify

PENDULUM = double_pendulum().model()
Q = np.array([[0.7, -0.4], [-0.3, 0.2], [1e-9, 3.0]])


@cardan.function(returns=())
def searched(_, q):
    """A root, a search that ends early, and rows of a block, of what is held."""
    x = held(q[0] * q[1])
    root = cardan.repeat(12, lambda y: 0.5 * (y + (x * x + 1.0) / y), 1.0 + x * x)
    large = cardan.repeat_while(30, lambda y: y < 5.0, lambda y: 2.0 * y, 0.3 + x * x)
    rows = cardan.each(lambda a: cardan.repeat(9, lambda b: 0.9 * b + a * cardan.cos(b), a), [x, x + 1.0, root])
    far = cardan.when(x > 0.0, lambda: cardan.repeat(9, lambda b: b * x + cardan.sin(b), root), -3.0)
    return root * q[0] * q[0] + large * q[1] + sum(rows) * q[0] * q[1] - far * cardan.sin(q[1])


def by_hand(q):
    x = q[..., 0] * q[..., 1]
    root, large = np.sqrt(x * x + 1.0), 0.3 + x * x
    while (large < 5.0).any():
        large = np.where(large < 5.0, 2.0 * large, large)
    total = 0.0
    for a in (x, x + 1.0, root):
        b = a
        for _ in range(9):
            b = 0.9 * b + a * np.cos(b)
        total = total + b
    far = root
    for _ in range(9):
        far = far * x + np.sin(far)
    return root, large, total, np.where(x > 0.0, far, -3.0)


@pytest.mark.parametrize("target", ["numpy", "llvm"])
def test_what_is_held_has_no_derivative(target):
    root, large, total, far = by_hand(Q)
    found = cardan.gradient(searched, "q").on(target)(PENDULUM, Q)
    first, second = Q.T
    np.testing.assert_allclose(found[:, 0], 2.0 * root * first + total * second, rtol=1e-12)
    np.testing.assert_allclose(found[:, 1], large + total * first - far * np.cos(second), rtol=1e-12)
    H = cardan.hessian(searched, "q").on(target)(PENDULUM, Q)
    np.testing.assert_allclose(H[:, 0, 0], 2.0 * root, rtol=1e-12)
    np.testing.assert_allclose(H[:, 0, 1], total, rtol=1e-12)


def test_loops_without_derivatives_are_not_written_out():
    written = searched.program(PENDULUM)
    for function in (cardan.gradient(searched, "q"), cardan.hessian(searched, "q"), cardan.derivative(searched, "q")):
        program = verify(function.program(PENDULUM))
        assert program.operations < written.operations + 40
        assert {region.passes for region in program.regions} >= {9, 12}

    @cardan.function
    def within(model, q):
        """A derivative within a function of one's own."""
        return [2.0 * e for e in cardan.gradient(searched, "q")(model, q)]

    assert verify(within.program(PENDULUM)).operations < written.operations + 60
    np.testing.assert_allclose(within(PENDULUM, Q), 2.0 * cardan.gradient(searched, "q")(PENDULUM, Q), rtol=1e-12)


@cardan.function(returns=())
def cube_of_sine(_, q):
    """A value that comes from elsewhere, with its derivative in a formula that machine code has no use for."""
    x = held(q[0] * q[1])
    sine = cardan.repeat(3, lambda y: y - (y * y * y - cardan.sin(x)) / (3.0 * y * y), 1.0 + 0.1 * x)
    return held(sine * sine * sine, cardan.sin(q[0] * q[1]))


def test_a_value_has_the_derivative_of_another():
    q = Q[:2] * [1.0, -1.0]
    x = q[:, 0] * q[:, 1]
    np.testing.assert_allclose(cube_of_sine(PENDULUM, q), np.sin(x), atol=0.2)
    gradient = cardan.gradient(cube_of_sine, "q")(PENDULUM, q)
    np.testing.assert_allclose(gradient, np.cos(x)[:, None] * q[:, ::-1], rtol=1e-12)
    H = cardan.hessian(cube_of_sine, "q")(PENDULUM, q)
    np.testing.assert_allclose(H[:, 0, 0], -np.sin(x) * q[:, 1] ** 2, rtol=1e-12)


def test_machine_code_leaves_out_what_only_derivatives_need():
    program = cube_of_sine.program(PENDULUM)
    bare = verify(without_tangents(program))
    assert bare.instructions.count_of(Op.HELD) == 0
    assert bare.operations < program.operations
    assert without_tangents(bare) is bare
    assert "held" not in cube_of_sine.source(PENDULUM, "c")
    assert cube_of_sine.source(PENDULUM, "c").count("sin(") == 1


def test_numbers_and_symbols_of_others_are_themselves():
    sympy = pytest.importorskip("sympy")
    x = sympy.Symbol("x")
    assert held(2.0) == 2.0
    assert held(x) is x
    np.testing.assert_array_equal(held(Q, 3.0), Q)
