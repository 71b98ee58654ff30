"""Trees of many alike joints are looped over: answers as written out, to rounding, and the same bits however cut."""

import inspect
import shutil
from dataclasses import replace

import numpy as np
import pytest

import cardan
from cardan._compiler.program import Array, autodiff
from cardan._compiler.program.expr import Graph
from cardan._compiler.program.ops import Op
from cardan._compiler.targets.c import c_text
from cardan._compiler.targets.cuda.text import cuda_text
from cardan._compiler.targets.llvm.compiler import host_text
from cardan._dynamics.algorithms import along, mass_inverse
from cardan._dynamics.algorithms.aba import articulated_inertias
from cardan._dynamics.algorithms.entries import (
    forward_dynamics_derivatives_entries,
    inverse_dynamics_derivatives_entries,
    inverse_dynamics_hessian_entries,
    mass_matrix_entries,
    mass_matrix_inverse_entries,
)
from cardan._dynamics.algorithms.tree import relative_kinematics
from cardan.errors import ProgramError
from cardan.joints import Mimic, Prismatic, Revolute, Spherical
from program_rules import verify
from programs import evaluated, run_c

HINGES, MIXED, BALLS = (Revolute([0, 0, 1]),), (Revolute([0, 0, 1]), Prismatic([0.6, 0.0, 0.8])), (Spherical(),)
FUNCTIONS = (cardan.inverse_dynamics, cardan.forward_dynamics, cardan.mass_matrix, cardan.coriolis_matrix)
FUNCTIONS = (*FUNCTIONS, cardan.mass_matrix_inverse)
SUMS = (cardan.center_of_mass, cardan.locked_inertia, cardan.center_of_mass_velocity, cardan.centroidal_momentum)
SUMS = (*SUMS, cardan.average_velocity, cardan.centroidal_momentum_rate)


@pytest.fixture(autouse=True)
def loops_from_fewer(monkeypatch):
    monkeypatch.setattr(along, "LOOP_FROM", 10)
    monkeypatch.setattr(mass_inverse, "MANY", 10)


def tree(kinds, n=32, back=5, base="fixed"):
    """Return a robot whose joints join one of the `back` bodies before."""
    return bodies_of(kinds, n, back, base).model(base=base)


def bodies_of(kinds, n, back, base):
    rng = np.random.default_rng(n + back)
    m = cardan.Mechanism("tree")
    for k in range(n):
        moment = np.diag(rng.uniform(0.02, 0.03, 3))
        m.add_body(f"b{k}", cardan.Inertia(mass=rng.uniform(0.5, 2.0), com=rng.normal(size=3) / 20, inertia=moment))
        joint, parent = kinds[k % len(kinds)], f"b{rng.integers(max(0, k - back), k)}" if k else "world"
        armature = rng.uniform(0.0, 0.1, joint.nv)
        pose = cardan.SE3.from_rpy(rng.normal(size=3), rng.normal(size=3) / 10)
        if k or base == "fixed":
            m.add_joint(f"j{k}", joint, parent, f"b{k}", pose, armature=armature)
    return m


def states(model, rows):
    rng = np.random.default_rng(5)
    return [model.random_configuration((rows,), seed=4), *rng.normal(size=(2, rows, model.nv))]


def arguments(function, model, rows):
    names = inspect.signature(function.kernel).parameters
    return states(model, rows)[: sum(name in names for name in ("q", "v", "a", "tau"))]


def is_near(found, expected, error=1e-10):
    return np.abs(found - expected).max() <= error * np.abs(expected).max()


OF_ONE_SORT = [pytest.param(kinds, marks=pytest.mark.full) for kinds in (MIXED, BALLS)]


@pytest.mark.slow
@pytest.mark.parametrize("kinds", [*OF_ONE_SORT, (*MIXED, *BALLS)], ids=["hinges and slides", "balls", "all"])
@pytest.mark.parametrize("function", [*FUNCTIONS, *SUMS], ids=lambda f: f.name)
@pytest.mark.parametrize(("back", "base"), [(1, "fixed"), (5, "floating")], ids=["chain", "floating tree"])
def test_loops_answer_as_the_page_written_out(function, kinds, back, base):
    model = tree(kinds, back=back, base=base)
    given = arguments(function, model, 9)
    found = function(model, *given)
    assert function.program(model).regions
    for row in (0, 8):
        assert is_near(found[row], np.array(function.kernel(model, *(a[row].tolist() for a in given))))


@pytest.mark.slow
@pytest.mark.parametrize(("kinds", "base"), [(HINGES, "fixed"), ((*MIXED, *BALLS), "floating")], ids=["hinges", "all"])
@pytest.mark.parametrize(
    ("f", "places", "matrix"),
    [
        (cardan.inverse_dynamics_derivatives, inverse_dynamics_derivatives_entries, cardan.mass_matrix),
        (cardan.forward_dynamics_derivatives, forward_dynamics_derivatives_entries, cardan.mass_matrix_inverse),
        (cardan.inverse_dynamics_hessian, inverse_dynamics_hessian_entries, None),
    ],
    ids=["inverse", "forward", "second"],
)
def test_looped_derivatives_are_those_of_the_page_written_out(f, places, matrix, kinds, base):
    model = tree(kinds, back=3, base=base)
    given = states(model, 2)
    if matrix is None:
        given.append(np.random.default_rng(2).normal(size=(2, model.nv)))
    wrenches = np.random.default_rng(1).normal(size=(2, len(model.body_names), 6))
    program = f.program(model)
    assert program.regions
    assert not program.results
    found = f(model, *given, wrenches)
    expected = f.kernel(model, *(a[1].tolist() for a in (*given, wrenches)))
    packed = f(model, *given, wrenches, packed=True)
    for own, other, entries, at in zip(found, expected, packed, places(model), strict=True):
        assert is_near(own[1], np.array(other))
        assert np.array_equal(own[:, at.rows, at.columns], entries)
    if matrix is not None:
        assert is_near(found[2], matrix(model, given[0]))
    assert np.array_equal(found[2], found[2].swapaxes(1, 2))


def test_responses_of_several_trees_are_written_out():
    """Most of them are 0."""
    m = bodies_of(HINGES, 24, 1, "fixed")
    m.add_body("apart", cardan.Inertia(mass=1.0, com=(0.0, 0.1, 0.0), inertia=np.eye(3) / 50))
    m.add_joint("alone", HINGES[0], "world", "apart")
    assert not cardan.mass_matrix_inverse.program(m.model(base="fixed")).regions


def test_external_forces_act_on_looped_bodies():
    model = tree(HINGES)
    q, v, x = (a[0] for a in states(model, 1))
    f = np.random.default_rng(1).normal(size=(len(model.body_names), 6))
    for function in FUNCTIONS[:2]:
        expected = np.array(function.kernel(model, q.tolist(), v.tolist(), x.tolist(), f.tolist()))
        assert is_near(function(model, q, v, x, f), expected)


@pytest.mark.parametrize("dtype", [np.float64, pytest.param(np.float32, marks=pytest.mark.full)])
@pytest.mark.slow
def test_bits_hang_on_no_cut_of_the_batch(dtype):
    model = tree((*MIXED, *BALLS))
    for function in FUNCTIONS:
        given = [a.astype(dtype) for a in arguments(function, model, 70)]
        whole = function(model, *given)
        assert np.array_equal(function.on("llvm", threads=2)(model, *given), whole)
        for rows in (1, 7, 33):
            assert np.array_equal(function(model, *(a[:rows] for a in given)), whole[:rows])
        assert np.array_equal(function(model, *(a[69] for a in given)), whole[69])


@pytest.mark.slow
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.name)
def test_other_targets_agree(function, tmp_path):
    # entries of a matrix grow with the square of the joints, and NumPy takes milliseconds for each
    model = tree(MIXED, 16) if function in FUNCTIONS[2:] else tree((*MIXED, *BALLS))
    given = [np.ascontiguousarray(a) for a in arguments(function, model, 3)]
    own = verify(function.program(model))
    (native,), (plain,) = evaluated(own, "llvm", given), evaluated(own, "numpy", given)
    assert is_near(native, plain, 1e-9)
    if shutil.which("gcc"):
        made = np.empty_like(plain)
        run_c(tmp_path, own, given, [made])
        assert is_near(made, plain, 1e-9)


def test_entries_that_are_packed_are_those_of_the_matrix():
    model = tree((*MIXED, *BALLS))
    q = states(model, 3)[0]
    M, (rows, columns) = cardan.mass_matrix(model, q), mass_matrix_entries(model)
    assert np.array_equal(cardan.mass_matrix(model, q, packed=True), M[:, rows, columns])
    assert np.array_equal(M, M.swapaxes(1, 2))


@pytest.mark.slow
def test_entries_that_are_packed_are_right_in_whatever_order_joints_are_listed():
    rng, n = np.random.default_rng(2), 24
    m = cardan.Mechanism("shuffled")
    for k in range(n):
        m.add_body(f"b{k}", cardan.Inertia(mass=1.0, com=rng.normal(size=3) / 20, inertia=np.eye(3) / 50))
    for k in rng.permutation(n):
        pose = cardan.SE3.from_rpy(rng.normal(size=3), rng.normal(size=3) / 10)
        m.add_joint(f"j{k}", HINGES[0], f"b{k - 1}" if k else "world", f"b{k}", pose)
    model = m.model(base="fixed")
    q, v, a = (x[0] for x in states(model, 1))
    by = cardan.inverse_dynamics_derivatives(model, q, v, a)
    packed = cardan.inverse_dynamics_derivatives(model, q, v, a, packed=True)
    places = [mass_matrix_entries(model), mass_matrix_inverse_entries(model)]
    places += inverse_dynamics_derivatives_entries(model)
    whole = [f(model, q) for f in (cardan.mass_matrix, cardan.mass_matrix_inverse)]
    own = [f(model, q, packed=True) for f in (cardan.mass_matrix, cardan.mass_matrix_inverse)]
    for matrix, entries, at in zip([*whole, *by], [*own, *packed], places, strict=True):
        assert is_near(entries, matrix[at.rows, at.columns], 1e-14)


def test_programs_do_not_grow_with_the_number_of_joints():
    few, many = (cardan.forward_dynamics.program(tree(HINGES, n, 1)) for n in (30, 120))
    assert few.operations == many.operations
    assert many.work > 3.5 * few.work
    assert cuda_text(many).count("\n") < 1.2 * cuda_text(few).count("\n") + 1000


def test_children_give_before_it_is_read():
    """Loops in no direction and inwards follow each other: what children add is no part of the first."""
    model = tree(MIXED, back=3)
    q = model.random_configuration(seed=2).tolist()

    def inertias(model, q):
        bodies = articulated_inertias(model, relative_kinematics(model, q, loops=True))
        return np.array([bodies[k].D.inverse_diagonal[0] for k in range(len(model.nodes))], dtype=object)

    looped = cardan.function(inertias)
    assert looped.program(model).regions
    assert is_near(looped(model, q), inertias(model, q).astype(float))


def test_robots_that_ship_are_written_out(monkeypatch):
    monkeypatch.undo()
    for name in ("arm7", "quadruped", "humanoid"):
        model = getattr(cardan.robots, name)().model()
        assert not any(function.program(model).regions for function in FUNCTIONS)


def pages():
    """Return the functions of a tree alone."""
    found = [
        f
        for f in (getattr(cardan, name) for name in cardan.__all__)
        if isinstance(f, cardan.Function) and hasattr(f, "kernel")
    ]
    return [f for f in found if not f.name.startswith(("loop_", "constrained_", "impact", "eval_ik"))]


def given_to(f, model):
    """Return arrays and options of a page, drawn at random; frames are that of the last body."""
    rng, numbers = np.random.default_rng(3), []
    for name, parameter in f.interface.arguments.items():
        if parameter.default is parameter.empty:
            core = f.interface.cores(model)[name]
            numbers.append(model.body_names[-1] if name == "frame" else rng.uniform(-0.6, 0.6, core))
    return numbers


COSTLY = {"frame_velocity_hessian", "frame_acceleration_hessian", "centroidal_momentum_hessian"}
COSTLY |= {"forward_dynamics_hessian", "forward_dynamics_expansion", "forward_dynamics_derivatives"}


@pytest.mark.parametrize("back", [1, pytest.param(10, marks=pytest.mark.slow)], ids=["chain", "bush"])
@pytest.mark.parametrize(
    "f", [pytest.param(f, id=f.name, marks=pytest.mark.slow if f.name in COSTLY else ()) for f in pages()]
)
def test_every_page_answers_as_written_out(f, back, monkeypatch):
    """Pages go on from results of others, which are columns in long trees."""
    model = tree(HINGES, 10, back)
    given = given_to(f, model)
    found = f(model, *given)
    monkeypatch.setattr(along, "LOOP_FROM", 1000)
    expected = f.on("numpy")(replace(model, name="written out"), *given)
    for own, other in zip(*(x if isinstance(x, tuple) else (x,) for x in (found, expected)), strict=True):
        assert is_near(own, other, 1e-9)


KINEMATICS = (cardan.forward_kinematics, cardan.body_velocities, cardan.body_accelerations)
WAYS = [{}, {"at": "frame", "expressed_in": "frame"}, {"at": "world"}, {"at": "b3", "expressed_in": "b5"}]


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS, ids=["default", "own", "world", "of others"])
@pytest.mark.parametrize("f", KINEMATICS, ids=lambda f: f.name)
def test_looped_kinematics_are_those_of_each_frame(f, way):
    """Bodies that are fixed on others and on the world ride on nodes, too."""
    mechanism = bodies_of((*MIXED, *BALLS), 32, 3, "fixed")
    for k, at in enumerate(("world", "b7", "b31")):
        mechanism.add_body(f"fixed{k}")
        pose = cardan.SE3.from_rpy((0.1, 0.2, 0.3), (0.4, 0.5, 0.6))
        mechanism.add_joint(f"weld{k}", cardan.joints.Fixed(), at, f"fixed{k}", pose)
    model = mechanism.model(base="fixed")
    given = given_to(f, model)
    of_frame = {cardan.body_velocities: cardan.frame_velocity, cardan.body_accelerations: cardan.frame_acceleration}
    way = {} if f is cardan.forward_kinematics else way
    assert f.program(model, **way).regions
    found = f(model, *given, **way)
    expected = of_frame.get(f, cardan.frame_transform)(model, *given, list(model.body_names), **way)
    assert np.allclose(found, expected, 1e-12, 1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("f", [cardan.joint_wrenches, cardan.joint_quantities], ids=lambda f: f.name)
def test_looped_joints_are_those_of_each_joint(f, monkeypatch):
    """Fixed joints, of bodies on others, on one another and on the world, are no nodes, and stand between others."""
    mechanism = cardan.Mechanism("welded")
    tree_of = bodies_of((*MIXED, *BALLS), 32, 2, "fixed").model(base="fixed")
    rng = np.random.default_rng(7)
    for body in tree_of.bodies:
        mechanism.add_body(body.name, body.inertia)
    for k, at in enumerate(("world", "fixed0", "b7", "b20", "fixed3")):
        moment = np.diag(rng.uniform(0.02, 0.03, 3))
        mechanism.add_body(f"fixed{k}", cardan.Inertia(mass=0.5, com=rng.normal(size=3) / 20, inertia=moment))
        pose = cardan.SE3.from_rpy((0.1, 0.2, 0.3), (0.4, 0.5, 0.6))
        mechanism.add_joint(f"weld{k}", cardan.joints.Fixed(), at, f"fixed{k}", pose)
    for k in rng.permutation(len(tree_of.connections)):
        c = tree_of.connections[k]
        parent = "fixed4" if c.parent == "b20" else c.parent  # joints that move, carried by one that does not
        mechanism.add_joint(c.name, c.joint, parent, c.child, c.parent_pose, c.child_pose)
    model = mechanism.model(base="fixed")
    assert any(c.parent == "fixed4" for c in model.connections)
    given = given_to(f, model)
    given += [rng.normal(size=(model.nbodies, 6))] if f is cardan.joint_wrenches else []
    found = f(model, *given)
    assert f.program(model).regions
    monkeypatch.setattr(along, "LOOP_FROM", 1000)
    other = replace(model, name="written out")
    expected = f(other, *given)
    assert not f.program(other).regions
    for own, wanted in zip(*(x if isinstance(x, tuple) else (x,) for x in (found, expected)), strict=True):
        assert is_near(own, wanted)


@pytest.mark.parametrize(("back", "base"), [(1, "fixed"), (5, "floating")], ids=["chain", "floating tree"])
def test_looped_regressors_times_the_parameters_are_the_efforts(back, base):
    model = tree((*MIXED, *BALLS), back=back, base=base)
    q, v, a = states(model, 9)
    assert cardan.torque_regressor.program(model).regions
    Y, tau = cardan.torque_regressor(model, q, v, a), cardan.inverse_dynamics(model, q, v, a)
    assert is_near(Y @ model.inertial_parameters(), tau - model.passive("armature") * a)
    assert np.array_equal(cardan.torque_regressor(model, q[8], v[8], a[8]), Y[8])


@pytest.mark.slow
def test_zeros_of_a_matrix_that_loops_write_are_known_to_pages_that_go_on_from_it():
    few, many = (cardan.forward_dynamics_hessian.program(tree(HINGES, 12, back)) for back in (1, 12))
    assert many.operations < few.operations


@pytest.mark.parametrize(("last", "kind"), [(HINGES[0], along.NodeRows), (Mimic(HINGES[0], "j1"), along.Nodes)])
def test_joints_that_share_a_coordinate_are_gone_over_one_by_one(last, kind):
    m, count = cardan.Mechanism("hand"), 2 * along.ALIKE
    for k in range(count):
        m.add_body(f"b{k}", cardan.Inertia(mass=1.0, com=(0.0, 0.1, 0.0), inertia=np.eye(3) / 50))
        m.add_joint(f"j{k}", last if k == count - 1 else HINGES[0], f"b{k - 1}" if k else "world", f"b{k}")
    model, graph = m.model(base="fixed"), Graph(regions=True)
    assert type(along.nodes_of(model, [graph.input(k) for k in range(model.nq)], 1)) is kind


@pytest.mark.slow
def test_loops_run_again_on_their_results():
    model = tree(HINGES)
    q, v, a = states(model, 5)
    once = cardan.inverse_dynamics
    expected = once(model, q, v, once(model, q, v, once(model, q, v, a)))
    thrice = once.repeated(3, carry={"a": "result"})
    assert np.array_equal(thrice(model, q, v, a), expected)
    assert is_near(thrice.on("numpy")(model, q, v, a), expected)


@pytest.mark.slow
def test_derivatives_are_those_of_what_is_written_out():
    """Forward, traced anew without loops; in reverse, of a program that has them."""
    model, f = tree(HINGES, 10, 1), cardan.inverse_dynamics
    given = [*states(model, 1), np.ones((1, model.nv))]
    backwards = verify(autodiff.vector_jacobian_product(f.program(model), ["v"]))
    ((found,),) = evaluated(backwards, "llvm", given)
    slopes = cardan.derivative(f, "v")(model, *(x[0] for x in given[:3]))
    assert is_near(found, slopes.sum(axis=0))


@pytest.mark.slow
def test_derivatives_of_loops_within_loops_read_rows_of_both(monkeypatch):
    """Entries of the inverse are `behind` the first of their row, by the pass of the outer loop."""
    model, f = tree(HINGES, 10, 1), cardan.mass_matrix_inverse
    q = states(model, 1)[0]
    slopes = cardan.derivative(f, "q")(model, q[0])
    for name in ("LONG", "LONGEST"):
        monkeypatch.setattr(autodiff, name, 0)
    backwards = verify(autodiff.vector_jacobian_product(f.program(model), ["q"]))
    assert Op.BEHIND in backwards.instructions.ops
    weights = np.random.default_rng(1).normal(size=(1, model.nv, model.nv))
    for target in ("llvm", "numpy"):
        ((found,),) = evaluated(backwards, target, [q, weights])
        assert is_near(found, np.einsum("ij,ijk", weights[0], slopes), 1e-9)


@pytest.mark.slow
def test_articulated_inertias_of_a_long_tree_are_those_of_the_page_written_out(monkeypatch):
    model, f = tree((*MIXED, *BALLS), base="floating"), cardan.articulated_inertias
    q = states(model, 1)[0][0]
    looped = f(model, q)
    assert f.program(model).regions
    monkeypatch.setattr(along, "LOOP_FROM", 1000)
    other = replace(model, name="written out")
    written_out = f(other, q)
    assert not f.program(other).regions
    for found, expected in zip(looped, written_out, strict=True):
        assert is_near(found, expected)


@pytest.mark.slow
def test_momentum_of_a_long_chain_has_the_slopes_of_its_matrix():
    model = tree((*MIXED, *BALLS), base="floating")
    q, v, _ = (a[0] for a in states(model, 1))
    assert cardan.centroidal_momentum.program(model).regions
    slopes = cardan.derivative(cardan.centroidal_momentum, "v")(model, q, v)
    assert is_near(slopes, cardan.centroidal_momentum_matrix(model, q))
    rates = cardan.derivative(cardan.center_of_mass, "q")(model, q)
    assert is_near(rates, cardan.center_of_mass_jacobian(model, q))


@pytest.mark.slow
def test_a_matrix_is_its_column_whatever_the_number_of_joints():
    """No instruction for any entry, in the program or in what targets write."""
    for options in ({}, {"packed": True}):
        few, many = (cardan.mass_matrix.program(tree(HINGES, n, 1), **options) for n in (12, 60))
        assert len(few.instructions) == len(many.instructions)
        assert not many.results
        (column,) = (c for c in many.columns if c.result is not None)
        assert (column.rows, column.results) == (many.entries, range(many.entries))
        lines = [host_text(verify(p)).count("\n") for p in (few, many)]
        assert lines[1] < lines[0] + 100  # what is left of a row of the matrix where vectors are full
        lines = [c_text(p).count("\n") for p in (few, many)]
        assert lines[1] - lines[0] < sum(len(table) // 8 + 3 for table in many.tables)
        places, larger = many.columns.index(column), column._replace(rows=column.rows + 1)
        columns = (*many.columns[:places], larger, *many.columns[places + 1 :])
        longer = replace(many, columns=columns, outputs=(Array("result", (larger.rows,)),))
        with pytest.raises(ProgramError, match=f"row {column.rows} of column {places} is read"):
            verify(longer)


@pytest.mark.slow
def test_a_matrix_may_be_looked_at_or_returned_twice():
    model = tree(HINGES)

    @cardan.function
    def both(model, q):
        M = cardan.mass_matrix(model, q)
        return {"M": M, "again": M, "trace": sum(M[k, k] for k in range(model.nv))}

    q = states(model, 3)[0]
    M, found = cardan.mass_matrix(model, q), both(model, q)
    assert np.array_equal(found["M"], M)
    assert np.array_equal(found["again"], M)
    assert is_near(found["trace"], np.trace(M, axis1=1, axis2=2))
    assert np.array_equal(cardan.mass_matrix.sparsity(model), np.ones((model.nv, model.nv), bool))
