"""Second derivatives, weighed and summed: the recursions beside differentiation of the program, laws, exact zeros."""

import numpy as np
import pytest

import cardan
from closeness import close
from mechanisms import random_inertia, random_model, random_pose, random_state

DOG = cardan.robots.quadruped().model(base="floating")
ARM = cardan.robots.arm7().model()
SEEDS = pytest.mark.parametrize("seed", [9, *(pytest.param(k, marks=pytest.mark.full) for k in range(3))])
PLAIN = [j for j in cardan.joints.CATALOGUE if j.nv and not j.primaries]


def trees(seed):
    """A tree of a third of the joint types, for seeds above 2 of a twelfth."""
    parts = 3 if seed < 3 else 12
    return random_model(seed, joints=PLAIN[seed % parts :: parts])


def state(model, seed, shape=()):
    """q, v, a (or tau), weights, wrenches."""
    rng = np.random.default_rng(seed)
    return *random_state(model, seed, shape), rng.normal(size=(*shape, model.nv)), rng.normal(size=(model.nbodies, 6))


@cardan.function(shapes={"weights": ("nv",)}, returns=())
def weighed_efforts(model, q, v, a, weights, external_forces):
    return weights @ cardan.inverse_dynamics(model, q, v, a, external_forces)


@cardan.function(shapes={"weights": ("nv",)}, returns=())
def weighed_accelerations(model, q, v, tau, weights, external_forces):
    return weights @ cardan.forward_dynamics(model, q, v, tau, external_forces)


def compare(of, weighed, model, args, tolerance=1e-13):
    """A recursion, block by block, with the Hessian of the program, in which all others vanish."""
    found = of(model, *args)
    by = [name for name in ("q", "v", "a", "tau") if name in weighed.interface.shapes]
    whole = cardan.hessian(weighed, by).on("numpy")(model, *args)
    for name, block in zip(found._fields, found, strict=True):
        first, second = name.split("_")
        close(block, getattr(getattr(whole, first), second), tolerance, model=model, equation=name)
    last = f"d{by[-1]}"
    for first in ("dv", last):
        np.testing.assert_allclose(getattr(getattr(whole, first), last), 0.0, atol=1e-12)


@pytest.mark.slow
@pytest.mark.usefixtures("quick_target")
@SEEDS
def test_of_inverse_dynamics_for_joints_of_every_kind(seed):
    model = trees(seed)
    compare(cardan.inverse_dynamics_hessian, weighed_efforts, model, state(model, seed))


@pytest.mark.slow
@pytest.mark.usefixtures("quick_target")
@SEEDS
def test_of_forward_dynamics(seed):
    model = trees(seed)
    args = state(model, seed)
    condition = np.linalg.cond(cardan.mass_matrix(model, args[0]))
    compare(cardan.forward_dynamics_hessian, weighed_accelerations, model, args, 1e-14 * condition + 1e-13)


def own_block(joint):
    """The joint between two hinges."""
    rng, m, above = np.random.default_rng(0), cardan.Mechanism("own"), "world"
    hinges = cardan.joints.Revolute((0.48, 0.6, 0.64)), cardan.joints.Revolute((0.36, -0.48, 0.8))
    for name, kind in zip("abc", (hinges[0], joint, hinges[1]), strict=True):
        m.add_body(name, random_inertia(rng))
        m.add_joint(f"to {name}", kind, above, name, random_pose(rng), random_pose(rng))
        above = name
    return m.model()


KINDS = {type(j).__name__: j for j in PLAIN}
LIGHT = ("Universal", "Spherical")  # S depends on q, and tangents do not commute


@pytest.mark.usefixtures("quick_target")
@pytest.mark.parametrize("name", [pytest.param(k, marks=[] if k in LIGHT else pytest.mark.full) for k in KINDS])
def test_within_a_joint_of_every_kind(name):
    model = own_block(KINDS[name])
    compare(cardan.inverse_dynamics_hessian, weighed_efforts, model, state(model, 3))


def copied():
    """A branch, and in another one a hinge that copies one of it: its blocks meet those of its primary."""
    m, rng = cardan.Mechanism("copied"), np.random.default_rng(2)
    for name, above in (("trunk", "world"), ("a", "trunk"), ("b", "a"), ("c", "trunk"), ("d", "c")):
        m.add_body(name, random_inertia(rng))
        hinge = cardan.joints.Revolute((0.0, 0.6, 0.8))
        joint = cardan.joints.Mimic(hinge, "to b", -0.7, 0.1) if name == "c" else hinge
        m.add_joint(f"to {name}", joint, above, name, random_pose(rng), random_pose(rng))
    return m.model()


@pytest.mark.slow
def test_mimic_joints_and_their_primaries(quick_target):
    model = copied()
    args = state(model, 4)
    compare(cardan.inverse_dynamics_hessian, weighed_efforts, model, args)
    compare(cardan.forward_dynamics_hessian, weighed_accelerations, model, args, 1e-12)


@pytest.mark.parametrize("model", [ARM, pytest.param(DOG, marks=pytest.mark.full)], ids=["arm", "dog"])
def test_an_expansion_is_all_of_them(model, quick_target):
    args = state(model, 5, shape=(2,))[:-1]
    found = cardan.forward_dynamics_expansion(model, *args)
    close(found.a, cardan.forward_dynamics(model, *args[:3]), 1e-12)
    for by, other in zip(found[1:4], cardan.forward_dynamics_derivatives(model, *args[:3]), strict=True):
        close(by, other, 1e-12)
    for block, other in zip(found[4:], cardan.forward_dynamics_hessian(model, *args), strict=True):
        close(block, other, 1e-13)
    packed = cardan.forward_dynamics_expansion(model, *args, packed=True)
    of = cardan.forward_dynamics_derivatives, cardan.forward_dynamics_hessian
    places = [e for f in of for e in cardan.packed_indices(f, model)]
    for values, matrix, (rows, columns) in zip(packed[1:], found[1:], places, strict=True):
        np.testing.assert_array_equal(values, matrix[..., rows, columns])


def test_rows_and_columns_of_blocks(quick_target):
    """Row i is by the first argument: weights . M changes with q, and so does its inverse."""
    q, v, a, w, _ = state(ARM, 6)
    H = cardan.inverse_dynamics_hessian(ARM, q, v, a, w)
    close(H.dq_da, np.einsum("i,ijk->kj", w, cardan.derivative(cardan.mass_matrix, "q")(ARM, q)))
    H = cardan.forward_dynamics_hessian(ARM, q, v, a, w)
    close(H.dq_dtau, np.einsum("i,ijk->kj", w, cardan.derivative(cardan.mass_matrix_inverse, "q")(ARM, q)), 1e-12)
    assert (H.dq_dq == H.dq_dq.T).all()
    assert (H.dv_dv == H.dv_dv.T).all()


def test_a_floating_base_has_no_part_in_what_joints_do(quick_target):
    """Exact zeros: where a base is, and how fast it moves along, changes nothing but its own acceleration."""
    pattern = cardan.forward_dynamics_hessian.sparsity(DOG)
    assert not pattern.dq_dq[:6, 6:].any()
    assert not pattern.dq_dv[:, :3].any()
    assert not pattern.dq_dtau[:6].any()
    assert pattern.dq_dq[3:6, 3:6].any()  # gravity, seen from the base
    assert not cardan.inverse_dynamics_hessian.sparsity(DOG).dq_da[:6].any()


def test_without_degrees_of_freedom_they_are_empty():
    m = cardan.Mechanism("still")
    m.add_body("stone", cardan.Inertia(1.0))
    m.add_joint("lies", cardan.joints.Fixed(), "world", "stone")
    model, none = m.model(), np.zeros(0)
    for of in (cardan.inverse_dynamics_hessian, cardan.forward_dynamics_hessian):
        assert all(block.shape == (0, 0) for block in of(model, none, none, none, none))


def test_closed_loops_are_refused():
    model = cardan.robots.four_bar().model()
    args = [np.zeros(n) for n in (model.nq, model.nv, model.nv, model.nv)]
    for of in (cardan.forward_dynamics_hessian, cardan.forward_dynamics_expansion):
        with pytest.raises(cardan.errors.MechanismError, match=of.name):
            of(model, *args)


# --- frames and momentum ---


@pytest.mark.full
@pytest.mark.parametrize("options", [{}, {"expressed_in": "frame"}, {"at": "world", "expressed_in": "rear_left_foot"}])
def test_of_frames(options):
    q, v, a, *_ = state(DOG, 7)
    w, frame = np.random.default_rng(0).normal(size=6), "rear_right_foot"
    by = cardan.derivative(cardan.frame_acceleration, ("q", "v", "a"))(DOG, q, v, a, frame, **options)
    H = cardan.frame_acceleration_hessian(DOG, q, v, a, w, frame, **options)
    twice = cardan.derivative(cardan.derivative(cardan.frame_acceleration, "q"), ("q", "v", "a"))
    again = twice(DOG, q, v, a, frame, **options)
    by_q = np.einsum("i,ijk->jk", w, again.dq)
    close(H.dq_dq, 0.5 * (by_q + by_q.T), 1e-12)
    close(H.dq_dv, np.einsum("i,ijk->jk", w, again.dv), 1e-12)
    close(H.dq_da, np.einsum("i,ijk->jk", w, again.da), 1e-12)
    H = cardan.frame_velocity_hessian(DOG, q, v, w, frame, **options)
    J = cardan.derivative(cardan.jacobian, "q")(DOG, q, frame, **options)
    close(H.dq_dv, np.einsum("i,ijk->kj", w, J), 1e-12)
    assert by.da.shape == (6, DOG.nv)


@pytest.mark.full
def test_of_momentum():
    q, v, *_ = state(DOG, 8)
    w = np.random.default_rng(1).normal(size=6)
    H = cardan.centroidal_momentum_hessian(DOG, q, v, w)
    close(H.dq_dv, np.einsum("i,ijk->kj", w, cardan.derivative(cardan.centroidal_momentum_matrix, "q")(DOG, q)), 1e-12)
    by_q = cardan.derivative(cardan.derivative(cardan.centroidal_momentum, "q"), "q")(DOG, q, v)
    by_q = np.einsum("i,ijk->jk", w, by_q)
    close(H.dq_dq, 0.5 * (by_q + by_q.T), 1e-12)
