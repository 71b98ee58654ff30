"""Tracing, the intermediate representation, its rules, and the NumPy target that defines it."""

import pickle

import numpy as np
import pytest

import cardan
from cardan._compiler.program import SPEC, Array, Graph, Instruction, Instructions, Op, Program, trace
from cardan._compiler.program.ops import ENTRIES, ROWS
from cardan._compiler.program.program import Nesting, Region, passes, phases, stretches
from cardan._compiler.targets import NumpyProgram
from cardan.errors import ProgramError, TraceError
from cardan.joints import CATALOGUE
from mechanisms import random_model
from program_rules import verify


def traced(function, n=3, name="f"):
    return trace(name, lambda x: {"y": np.array(function(x), dtype=object)}, [Array("x", (n,))])


def run(program, *arrays):
    flat = [np.atleast_2d(np.asarray(a, dtype=float)) for a in arrays]
    return NumpyProgram(program)(flat, flat[0].shape[0], np.dtype(float))


def test_at_most_31_operations_each_specified():
    marks = {Op.CARRIED, Op.HELD, Op.CALLED}  # they mark or name a value, and do nothing
    assert len(set(Op) - ROWS - ENTRIES - marks) <= 31
    assert set(SPEC) == set(Op)


@pytest.mark.parametrize(
    ("function", "operations"),
    [
        (lambda x: x[0] * 0.0 + x[1] * 1.0, 0),
        (lambda x: 0.0 + x[0] - 0, 0),
        (lambda x: -(0.0 - x[0]), 0),
        (lambda x: x[0] - x[0] + x[1], 0),
        (lambda x: (x[0] - x[1]) + (x[1] - x[0]), 1),  # one difference, with its sign beside it, cancels
        (lambda x: x[0] * x[1] + x[1] * x[0], 2),
        (lambda x: (-x[0]) * x[1] + x[0] * x[1], 0),
        (lambda x: (-x[0]) * (-x[1]), 1),
        (lambda x: cardan.sin(-x[0]) + cardan.sin(x[0]), 0),
        (lambda x: cardan.cos(-x[0]) - cardan.cos(x[0]), 0),
        (lambda x: x[0] / 2.0 - x[0] * 0.5, 0),
        (lambda x: x[0] ** 4, 2),
        (lambda x: cardan.where(x[0] < 1.0, x[1], x[1]), 0),
        (lambda x: cardan.where(True, x[0], x[1]), 0),
        (lambda x: -cardan.where(-x[0] < -x[1], -x[1], -x[0]), 2),  # signs of both sides go outside
        (lambda x: cardan.where(-x[0] <= -x[1], x[0], x[1]) - cardan.where(x[1] <= x[0], x[0], x[1]), 2),
    ],
)
def test_folding_and_sharing(function, operations):
    program = verify(traced(lambda x: [function(x)]))
    x = np.array([0.3, -1.7, 2.2])
    np.testing.assert_allclose(run(program, x)[0, 0], float(function(x)), atol=1e-15)
    assert program.operations <= operations


def test_what_is_chosen_beside_nan_is_shared_whoever_writes_the_nan():
    def function(x):
        chosen = [cardan.where(x[0] < 0.5, x[1], float(text)) for text in ("nan", "nan", "-nan")]
        return [cardan.sin(chosen[0]), cardan.sin(chosen[1]), cardan.sin(chosen[2])]

    program = verify(traced(function))
    assert program.operations == 3  # less, chosen, sine
    np.testing.assert_array_equal(run(program, [[0.3, 0.0, 0.0], [0.7, 0.0, 0.0]]), [[0.0] * 3, [np.nan] * 3])


def test_printed_form():
    text = str(traced(lambda x: [cardan.sin(x[1]) * x[0] - 2.0], n=2, name="g"))
    assert text.splitlines() == [
        "program g(x[2]) -> y[1]",
        "  %0 = input x[0]",
        "  %1 = input x[1]",
        "  %2 = sin %1",
        "  %3 = mul %0 %2",
        "  %4 = const 2.0",
        "  %5 = sub %3 %4",
        "  y[0] <- %5",
    ]


def broken(**changes):
    good = traced(lambda x: [x[0] + x[1], cardan.where(x[0] < x[1], x[0], x[1])])
    return Program(**{f: changes.get(f, getattr(good, f)) for f in good.__slots__})


def replaced(k, instruction):
    instructions = list(broken().instructions)
    instructions[k] = instruction
    return broken(instructions=tuple(instructions))


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (replaced(2, Instruction(Op.ADD, (0, 3))), "does not come before"),
        (replaced(2, Instruction(Op.ADD, (0,))), "1 operands, expected 2"),
        (replaced(2, Instruction(Op.NOT, (0,))), "is real, expected bool"),
        (replaced(1, Instruction(Op.INPUT, (), 0.0)), "repeats"),
        (replaced(1, Instruction(Op.INPUT, (), 9.0)), "no input number 9"),
        (broken(results=(2,)), "do not fill"),
        (broken(results=(2, 3)), "not a real value"),
        (broken(results=(2, 2)), "dead"),
    ],
)
def test_verify_finds_every_kind_of_fault(program, message):
    with pytest.raises(ProgramError, match=message):
        verify(program)


@pytest.mark.parametrize(
    "branch", [lambda x: 1.0 if x[0] > 0 else 2.0, lambda x: max(x[0], x[1]), lambda x: not x[0] < 1]
)
def test_branching_is_refused_with_the_way_out(branch):
    with pytest.raises(TraceError, match=r"cardan\.where"):
        traced(lambda x: [branch(x)])


def test_pythons_math_is_refused_with_the_way_out():
    import math

    with pytest.raises(TraceError, match=r"cardan\.sin"):
        traced(lambda x: [math.sin(x[0])])


def test_values_of_another_trace_and_foreign_objects_are_refused():
    kept = Graph().input(0)
    with pytest.raises(TraceError, match="another"):
        traced(lambda x: [x[0] + kept])
    with pytest.raises(TraceError, match="no scalar"):
        traced(lambda x: ["text"])


def test_conditions_are_not_numbers():
    with pytest.raises(TraceError, match="not a real value"):
        traced(lambda x: [cardan.sin(x[0] < x[1])])
    with pytest.raises(TraceError, match="not a real value"):
        traced(lambda x: [2.0 * (x[0] < x[1])])
    with pytest.raises(TraceError, match="not a condition"):
        traced(lambda x: [cardan.where(x[0], x[1], x[2])])


def test_every_operation_on_edge_values_equals_numpy():
    x = np.array([0.0, -0.0, 0.5, -2.0, 1e-300, 1e300, np.inf, -np.inf, np.nan])
    unary = ["sin", "cos", "tan", "asin", "acos", "sqrt", "exp", "log", "absolute", "sign", "floor"]
    program = verify(traced(lambda s: [getattr(cardan, f)(s[0]) for f in unary], n=1))
    with np.errstate(all="ignore"):
        names = {"asin": "arcsin", "acos": "arccos"}
        expected = [getattr(np, names.get(f, f))(x) for f in unary]
    np.testing.assert_array_equal(run(program, x[:, None]), np.stack(expected, -1))


def test_programs_of_real_functions_verify_and_print(all_joints_or):
    model = random_model(0, joints=all_joints_or(CATALOGUE[2::4]))
    for function in (cardan.inverse_dynamics, cardan.mass_matrix, cardan.coriolis_matrix, cardan.integrate):
        program = verify(function.program(model))
        assert str(program).startswith(f"program {function.name}(q[{model.nq}]")


def test_fixed_zeros_of_a_robot_leave_no_trace():
    """A planar arm's torques need no third dimension: far fewer operations than a tilted one's."""
    from cardan.spatial.rotations import matrix_from_zyx

    def arm(tilt):
        m = cardan.Mechanism("arm")
        pose = cardan.SE3(matrix_from_zyx((tilt, tilt, tilt)), (0.5, 0.0, 0.0))
        for k in range(3):
            m.add_body(f"b{k}", cardan.Inertia(1.0, (0.25, 0.0, 0.0), np.diag([0.01, 0.02, 0.02])))
            m.add_joint(f"j{k}", cardan.joints.Revolute([0, 0, 1]), "world" if k == 0 else f"b{k - 1}", f"b{k}", pose)
        return cardan.inverse_dynamics.program(m.model()).operations

    assert arm(0.0) < 0.3 * arm(0.3)


def by_three_instructions():
    x, one = Instruction(Op.INPUT, (), 0.0), Instruction(Op.CONST, (), 1.0)
    return Instructions([x, one, Instruction(Op.ADD, (0, 1)), Instruction(Op.SELECT, (2, 0, 1))])


def test_instructions_are_a_sequence():
    all_of_them = by_three_instructions()
    listed = list(all_of_them)
    assert [type(i) for i in listed] == [Instruction] * 4
    assert [all_of_them[k] for k in range(4)] == [all_of_them[k - 4] for k in range(4)] == listed
    assert all_of_them[1:3] == tuple(listed[1:3])
    assert all_of_them[::-2] == tuple(listed[::-2])
    assert all_of_them.ops == [i.op for i in listed]
    assert all_of_them.args == [i.args for i in listed]
    assert all_of_them.values == [i.value for i in listed]
    assert Instruction(Op.ADD, (0, 1)) in all_of_them
    for k in (4, -5):
        with pytest.raises(IndexError):
            all_of_them[k]


def test_instructions_are_equal_by_their_bits():
    one, other = by_three_instructions(), by_three_instructions()
    assert one == other == pickle.loads(pickle.dumps(one))
    assert hash(one) == hash(other)
    zero, negative, nan = (Instructions([Instruction(Op.CONST, (), x)]) for x in (0.0, -0.0, float("nan")))
    assert zero != negative
    assert nan == Instructions([Instruction(Op.CONST, (), float("nan"))])
    assert Instructions([(Op.ADD, (0, 1), 0.0), (Op.NEG, (2,), 0.0)]) != Instructions(
        [(Op.ADD, (0,), 0.0), (Op.NEG, (1, 2), 0.0)]
    )


def test_columns_are_read_only():
    """They were views that wrote through: a program, its hash and what was compiled for it fell apart."""
    for column in by_three_instructions().columns()[1:]:
        with pytest.raises(ValueError, match="read-only"):
            column[-1] = 0


def test_programs_hold_their_instructions_in_little_memory():
    """Some 20 bytes each; objects take 170, and those of a humanoid's derivatives are a hundred thousand."""
    program = cardan.inverse_dynamics.program(cardan.robots.quadruped().model(base="floating"))
    assert len(pickle.dumps(program.instructions)) < 30 * len(program.instructions)


def test_regions_around_an_instruction_are_those_that_hold_it():
    rng, regions = np.random.default_rng(0), []

    def nest(start, stop):
        while stop - start > 3:
            a = start + int(rng.integers(3))
            b = int(rng.integers(a + 1, min(stop, a + 80)))
            regions.append(Region(a, b, 2, ()))
            nest(a + 1, b)
            start = b

    nest(0, 400)
    regions = sorted(regions, key=lambda r: r.start)
    nesting = Nesting(regions)
    assert len(regions) > 20
    for k in range(400):
        around = [r for r in regions if k in r.instructions]
        assert list(nesting.around(k)) == around[::-1]
    program = Program("f", (), Instructions([(Op.CONST, (), float(k)) for k in range(400)]), (), (), tuple(regions))
    assert [k for part in stretches(program) for k in part] == list(range(400))
    times = {part.start: times for part, times in passes(program)}
    assert all(times[part.start] == 2 ** len(list(nesting.around(part.start))) for part in stretches(program))
    inner = [part for own in phases(program).values() for part in own]
    assert sorted(part.start for part in inner if isinstance(part, range)) == [s.start for s in stretches(program)]
