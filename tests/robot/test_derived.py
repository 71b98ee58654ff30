"""Joints defined by their transform alone: equal to the closed forms, and hardly more expensive."""

import numpy as np
import pytest

import cardan
from cardan import verify_joint
from cardan._compiler.program import Array, Instruction, Op, Program, trace
from cardan._compiler.program.value_numbering import merge_identities
from cardan._compiler.targets import NumpyProgram
from cardan._reach.verification.dynamics import program
from cardan._robot.joints.derivation.derived import subspace_program
from cardan.errors import JointError
from cardan.joints import CATALOGUE, Joint
from program_rules import verify

MOVABLE = [j for j in CATALOGUE if j.nv]


def named(joint):
    return type(joint).__name__


class Short(Joint):
    """Another joint, by its transform alone."""

    def __init__(self, joint):
        self.joint, self.manifold = joint, joint.manifold

    def transform(self, q):
        return self.joint.transform(q)


def rows(columns):
    return np.array([list(c.scalars()) for c in columns], dtype=float)


@pytest.mark.parametrize("joint", MOVABLE, ids=named)
def test_subspace_and_bias_are_those_in_closed_form(joint):
    short = Short(joint)
    for seed in range(5):
        q = joint.random_configuration(seed=seed).tolist()
        v = np.random.default_rng(seed).normal(size=joint.nv).tolist()
        S, expected = rows(short.motion_subspace(q)), rows(joint.motion_subspace(q))
        np.testing.assert_allclose(S, expected, atol=4e-15)
        bias, closed = rows([short.bias(q, v)]), rows([joint.bias(q, v)])
        np.testing.assert_allclose(bias, closed, atol=2e-14 * max(1.0, np.abs(v).max() ** 2))


def operations(joint):
    """Count what pose, subspace and bias take together."""
    return program(joint).operations


@pytest.mark.parametrize("joint", MOVABLE, ids=named)
def test_it_costs_hardly_more_operations(joint):
    assert operations(Short(joint)) <= 1.2 * operations(joint)


class Mirrored(Joint):
    """Products of reflections, which are no rotations: their entries are differentiated, not the factors."""

    manifold = cardan.manifolds.Euclidean(1)

    def transform(self, q):
        c, s = cardan.cos(q[0]), cardan.sin(q[0])
        mirror = cardan.spatial.Matrix3.diagonal(1.0, -1.0, 1.0)
        return cardan.SE3(mirror @ cardan.spatial.Matrix3((c, -s, 0.0, -s, -c, 0.0, 0.0, 0.0, 1.0)), (0.0, 0.0, q[0]))


def test_factors_that_are_no_rotations():
    S = Mirrored().motion_subspace([0.3])[0]
    np.testing.assert_allclose(S.scalars(), (0, 0, 1, 0, 0, 1), atol=1e-15)


class Sloping(Joint):
    """Three screws about sloping axes, each written as the inverse of a pose."""

    manifold = cardan.manifolds.Euclidean(3)

    def transform(self, q):
        X = cardan.SE3()
        for k, e in enumerate(q):
            R = cardan.spatial.rotations.rotation_about_axis((0.6, 0.0, 0.8) if k else (0.0, 0.6, 0.8), e)
            X = X @ cardan.SE3(R, (0.1 * k, e, 0.2)).inverse()
        return X


class Entries(Short):
    """Another joint by the entries of its transform, which do not tell how they came about."""

    def transform(self, q):
        X = self.joint.transform(q)
        return cardan.SE3(cardan.spatial.Matrix3(tuple(X.rotation.entries())), tuple(X.translation))


def test_products_are_differentiated_factor_by_factor():
    assert operations(Sloping()) < 0.8 * operations(Entries(Sloping()))
    assert subspace_program(Sloping()).operations < 0.6 * subspace_program(Entries(Sloping())).operations


@pytest.mark.full  # joints that ship and one of a user are certified always (test_verification.py)
def test_a_product_of_many_factors_has_its_certificate():
    assert verify_joint(Sloping(), samples=6).passed


@pytest.mark.full
@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_models_of_short_joints_move_alike(base):
    def build(wrap):
        m = cardan.Mechanism("chain")
        rng, parent = np.random.default_rng(1), "world" if base == "fixed" else "trunk"
        if base == "floating":
            m.add_body("trunk", cardan.Inertia(2.0, (0.1, 0.0, 0.2), np.diag([0.1, 0.2, 0.15])))
        for joint in MOVABLE:
            if named(joint) in ("Mimic", "Coupled", "FreeFlyer", "FloatingMRP", "Distance"):
                continue
            name = f"{named(joint)}{len(m.bodies)}"
            m.add_body(name, cardan.Inertia(1.0, rng.normal(size=3) * 0.1, np.diag([0.03, 0.04, 0.05])))
            m.add_joint(name, wrap(joint), parent, name, cardan.SE3(translation=rng.normal(size=3)))
            parent = name
        return m.model(base=base)

    plain, short = build(lambda j: j), build(Short)
    rng = np.random.default_rng(2)
    q = plain.random_configuration((3,), seed=3)
    v, a = rng.normal(size=(2, 3, plain.nv))
    for function, arrays in [
        (cardan.inverse_dynamics, (q, v, a)),
        (cardan.forward_dynamics, (q, v, a)),
        (cardan.mass_matrix, (q,)),
        (cardan.coriolis_matrix, (q, v)),
        (cardan.center_of_mass, (q,)),
    ]:
        expected = function(plain, *arrays)
        np.testing.assert_allclose(function(short, *arrays), expected, atol=2e-9 * np.abs(expected).max())


def test_a_transform_that_branches_is_refused_with_the_reason():
    class Branching(Joint):
        manifold = cardan.manifolds.Euclidean(1)

        def transform(self, q):
            return cardan.SE3(translation=(q[0] if q[0] > 0.0 else 0.0, 0.0, 0.0))

    with pytest.raises(JointError, match=r"Branching: its pose cannot be differentiated.*cardan\.where"):
        Branching().motion_subspace([1.0])


def run(program, x):
    return NumpyProgram(program)([np.atleast_2d(x)], 1, np.dtype(float))[0]


def test_equal_values_are_merged_and_guards_are_not():
    from cardan.scalar import cos, sin, where

    def function(x):
        a, b = x[0], x[1]
        one = cos(a) * cos(a) + sin(a) * sin(a)
        twice = sin(a) * cos(b) + cos(a) * sin(b)
        guarded = where(a * a < 1e-6, a, sin(a))
        return {"y": np.array([one * b, twice - sin(a + b) + a, guarded, sin(a), -(sin(a) * one)], dtype=object)}

    program = trace("f", function, [Array("x", (2,))])
    merged = verify(merge_identities(program))
    assert merged.operations <= 9
    assert merged.operation_counts()["select"] == 1
    for x in ([0.3, 0.7], [1e-4, -2.0], [2.0, 5.0]):
        np.testing.assert_allclose(run(merged, x), run(program, x), rtol=1e-14, atol=1e-15)


def test_constants_lose_their_rounding():
    third = Instruction(Op.CONST, (), 1.0 / 3.0)
    x = Instruction(Op.INPUT, (), 0.0)
    instructions = (x, third, Instruction(Op.DIV, (0, 0)), Instruction(Op.MUL, (1, 2)))
    program = Program("f", (Array("x", (1,)),), instructions, (Array("y", (2,)),), (2, 3))
    merged = merge_identities(program)
    assert [i.value for i in merged.instructions] == [1.0, 1.0 / 3.0]
    assert merged.operations == 0


def test_small_values_are_not_constants():
    """Terms of a power series, each far below the rounding of the sum at the random points, still depend on x."""

    def function(x):
        total = 1e-30
        for k in range(12):
            total = 10.0 ** (-2.5 * (11 - k)) + (x[0] * 10.0) * total
        cancelled = (x[0] + x[1]) - x[1] - x[0]
        return {"y": np.array([total, 1e-20 * (x[0] * x[0] + 1.0) / (1.0 + x[0] * x[0]), cancelled], dtype=object)}

    program = trace("f", function, [Array("x", (2,))])
    merged = merge_identities(program)
    for x in ([0.3, 0.7], [31.0, -2.0]):
        expected = run(program, x)
        np.testing.assert_allclose(run(merged, x)[..., :2], expected[..., :2], rtol=1e-12)
    assert (run(merged, [0.3, 0.7])[..., 2] == 0.0).all()
