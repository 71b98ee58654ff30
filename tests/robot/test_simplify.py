"""The simplified_tree twin of a model: fewer operations, the same dynamics in joint coordinates."""

import numpy as np
import pytest

import cardan
from cardan._robot.model import simplified_tree
from cardan.errors import MechanismError
from cardan.joints import CATALOGUE, Mimic, Revolute
from mechanisms import random_inertia, random_model, random_pose
from representatives import represented


def evaluated(function, model, *arrays):
    """Run an algorithm on floats."""
    return np.array(function(model, *[list(map(float, a)) for a in arrays]), dtype=float)


@pytest.mark.parametrize("seed", represented(range(30), by=range(0, 30, 15).count))
def test_the_same_dynamics_on_random_trees(seed):
    model = random_model(seed)
    twin = simplified_tree(model)
    rng = np.random.default_rng(seed)
    q = model.random_configuration(seed=seed)
    v, a = rng.normal(size=model.nv), rng.normal(size=model.nv)
    M, M_twin = (evaluated(cardan.mass_matrix.kernel, m, q) for m in (model, twin))
    np.testing.assert_allclose(M_twin, M, atol=1e-13 * np.abs(M).max())
    tau, tau_twin = (evaluated(cardan.inverse_dynamics.kernel, m, q, v, a) for m in (model, twin))
    np.testing.assert_allclose(tau_twin, tau, atol=1e-12 * np.abs(tau).max())
    back, back_twin = (evaluated(cardan.forward_dynamics.kernel, m, q, v, tau) for m in (model, twin))
    condition = np.linalg.cond(M)
    np.testing.assert_allclose(M @ back_twin, M @ back, atol=1e-15 * condition * np.abs(tau).max() + 1e-12)


@pytest.mark.usefixtures("quick_target")
@pytest.mark.parametrize("seed", represented(range(10), by=[0].count))
def test_external_forces_act_where_they_did(seed, all_joints_or):
    model = random_model(seed, joints=all_joints_or(CATALOGUE[1::4]))
    rng = np.random.default_rng(seed)
    q, v = model.random_configuration(seed=seed), rng.normal(size=model.nv)
    wrenches = rng.normal(size=(model.nbodies, 6))
    with_forces = cardan.inverse_dynamics(model, q, v, v, wrenches) - cardan.inverse_dynamics(model, q, v, v)
    felt = sum(
        cardan.jacobian(model, q, body, expressed_in=body).T @ f
        for body, f in zip(model.body_names, wrenches, strict=True)
    )
    np.testing.assert_allclose(with_forces, -felt, atol=1e-11 * np.abs(felt).max())


def test_bodies_stay_where_they_are():
    model = cardan.robots.humanoid().model(base="floating")
    twin = simplified_tree(model)
    q = model.random_configuration(seed=0)
    for name in model.frame_names:
        poses = (cardan.frame_transform.kernel(m, list(q), name).homogeneous() for m in (model, twin))
        X, X_twin = (np.array(X, dtype=float) for X in poses)
        np.testing.assert_allclose(X_twin, X, atol=1e-14)


@pytest.mark.parametrize(
    ("robot", "base", "saving"),
    [
        ("arm7", "fixed", 0.15),
        ("humanoid", "floating", 0.1),
    ],
)
def test_it_saves_operations(robot, base, saving):
    from cardan._compiler.program import Array, trace

    model = getattr(cardan.robots, robot)().model(base=base)
    inputs = [Array("q", (model.nq,)), Array("v", (model.nv,)), Array("a", (model.nv,))]

    def operations(m):
        return trace(
            "rnea", lambda q, v, a: {"tau": np.array(cardan.inverse_dynamics.kernel(m, q, v, a), dtype=object)}, inputs
        ).operations

    assert operations(simplified_tree(model)) < (1.0 - saving) * operations(model)


def test_what_is_left_are_the_base_parameters():
    """Seven a revolute joint, of which the first joint of a fixed base sees three (Gautier and Khalil, 1990)."""
    model = random_model(3, joints=[cardan.joints.Revolute((0.0, 0.0, 1.0))] * 7, chain=True, base="fixed")
    rng = np.random.default_rng(0)
    q, v, a = rng.uniform(-3.0, 3.0, size=(3, 200, model.nv))
    Y = cardan.torque_regressor(model, q, v, a)
    rank = np.linalg.matrix_rank(Y.reshape(-1, Y.shape[-1]), tol=1e-9)
    left = sum(e != 0.0 for node in simplified_tree(model).nodes for e in node.inertia.parameters())
    assert (model.nv, rank, left) == (7, 45, 49)


def wire(length, radius):
    """A thin wire that hangs from a turning head without inertia of its own."""
    m = cardan.Mechanism("wire")
    across, along = length**2 / 12.0 + radius**2 / 4.0, radius**2 / 2.0
    m.add_body("head", cardan.Inertia(0.0))
    m.add_body("wire", cardan.Inertia(1.0, (0.0, 0.0, -0.5 * length), np.diag([across, across, along])))
    m.add_joint("yaw", cardan.joints.Revolute((0.0, 0.0, 1.0)), "world", "head")
    m.add_joint("pitch", cardan.joints.Revolute((0.0, 1.0, 0.0)), "head", "wire")
    return m.model()


@pytest.mark.parametrize("length", [1.0, 10.0])
@pytest.mark.parametrize("radius", represented([1e-1, 1e-2, 1e-3, 1e-4], by=(1e-1, 1e-4).count))
def test_a_thin_body_keeps_its_inertia(length, radius):
    """M_zz is that of the wire about itself, however much smaller than the moments that go to the head."""
    for dtype, tolerance in ((np.float64, 1e-12), (np.float32, 1e-4)):
        M = cardan.mass_matrix(wire(length, radius), np.zeros(2, dtype))
        np.testing.assert_allclose(M[0, 0], 0.5 * radius**2, rtol=tolerance)


@pytest.mark.parametrize("radius", [1e-2, 1e-4])
@pytest.mark.parametrize("away", [1e-2, 1e-4, 1e-6])
def test_a_thin_body_that_is_turned_keeps_its_inertia(radius, away):
    """Near a gimbal lock its least moment is all that is felt: it is no difference of those that turn away."""
    m = cardan.Mechanism("wire")
    along, across = radius**2 / 2.0, 1.0 / 12.0 + radius**2 / 4.0
    m.add_body("head", cardan.Inertia(0.0))
    m.add_body("neck", cardan.Inertia(0.0))
    m.add_body("wire", cardan.Inertia(1.0, (-0.5, 0.0, 0.0), np.diag([along, across, across])))
    m.add_joint("yaw", cardan.joints.Revolute((0.0, 0.0, 1.0)), "world", "head")
    m.add_joint("pitch", cardan.joints.Revolute((0.0, 1.0, 0.0)), "head", "neck")
    m.add_joint("roll", cardan.joints.Revolute((1.0, 0.0, 0.0)), "neck", "wire")
    model = m.model(gravity=(0.0, 0.0, 0.0))
    for dtype, tolerance in ((np.float64, 1e-9), (np.float32, 1e-2)):
        q = np.array([0.0, np.pi / 2.0 - away, 0.3], dtype)
        sine, cosine = np.sin(float(q[1])), np.cos(float(q[1]))
        M_zz, felt = along * sine**2 + (across + 0.25) * cosine**2, (across + 0.25) * cosine**2
        np.testing.assert_allclose(cardan.mass_matrix(model, q)[0, 0], M_zz, rtol=tolerance)
        if dtype == np.float64:  # as roll gives way; in single precision the angle is not known so well
            a = cardan.forward_dynamics(model, q, np.zeros(3), np.array([1.0, 0.0, 0.0]))
            np.testing.assert_allclose(a[0], 1.0 / felt, rtol=1e-4)


def test_the_inertia_of_the_joint_before_a_thin_body_allows_it_to_go():
    """A head that is heavy enough loses no digits: then operations are saved as ever."""

    def chain(head):
        m = cardan.Mechanism("wire")
        m.add_body("head", cardan.Inertia(1.0, inertia=np.diag([head] * 3)))
        m.add_body("wire", cardan.Inertia(1.0, (0.0, 0.0, -0.5), np.diag([0.08, 0.08, 1e-9])))
        m.add_joint("yaw", cardan.joints.Revolute((0.0, 0.0, 1.0)), "world", "head")
        m.add_joint("pitch", cardan.joints.Revolute((0.0, 1.0, 0.0)), "head", "wire")
        return cardan.mass_matrix.program(m.model()).operations

    assert chain(0.01) < chain(1e-9)


@pytest.mark.parametrize(
    ("axis", "com"),
    [((0.0, 0.0, 1.0), (0.0, 0.0, 0.1)), ((0.6, 0.0, 0.8), (0.06, 0.0, 0.08)), ((1.0, 2.0, 3.0), (0.1, 0.2, 0.3))],
)
def test_a_point_mass_on_the_axis_has_no_acceleration(axis, com):
    """Its inertia about the axis is a rounding error, and the acceleration would be 1e17."""
    m = cardan.Mechanism("top")
    m.add_body("b", cardan.Inertia(1.0, com))
    m.add_joint("j", cardan.joints.Revolute(axis), "world", "b")
    m.add_body("c", cardan.Inertia(1.0, com))
    m.add_joint("k", cardan.joints.Revolute(axis), "b", "c", cardan.SE3(translation=(0.1, 0.2, 0.3)))
    for function, count in ((cardan.forward_dynamics, 3), (cardan.mass_matrix_inverse, 1)):
        with pytest.raises(MechanismError, match="moves nothing that has inertia"):
            function(m.model(), *[[0.1, 0.2]] * count)
    driven = m.remove("k", "c").mechanism.replace_joint("j", cardan.joints.Revolute(axis), armature=[0.1]).mechanism
    np.testing.assert_allclose(cardan.forward_dynamics(driven.model(gravity=(0, 0, 0)), [0.0], [0.0], [1.0]), 10.0)


@pytest.mark.parametrize("base", [cardan.joints.FreeFlyer(), cardan.joints.FloatingMRP()])
@pytest.mark.parametrize("com", [(0.0, 0.0, 0.0), (0.1, 0.0, 0.0), (0.1, 0.2, 0.3)])
def test_a_floating_point_mass_has_no_acceleration(base, com):
    m = cardan.Mechanism("point")
    m.add_body("b", cardan.Inertia(1.0, com))
    model = m.model(root="b", base=base)
    for function, arrays in ((cardan.forward_dynamics, (np.zeros(6), np.ones(6))), (cardan.mass_matrix_inverse, ())):
        with pytest.raises(MechanismError, match="moves nothing that has inertia"):
            function(model, model.neutral(), *arrays)


@pytest.mark.parametrize("scale", represented([1e-9, 1e-3, 1e3, 1e9], by=[1e-9, 1e9].count))
def test_scales_of_mass_and_length_are_no_singularity(scale):
    for length in (1e-3, 1.0, 1e3):
        m = cardan.Mechanism("rod")
        m.add_body("b", cardan.Inertia(scale, (0.0, 0.0, length), np.diag([1.0, 1.0, 1e-3]) * scale * length**2))
        free = m.model(root="b", base="floating", gravity=(0, 0, 0))
        q, v, tau = free.neutral(), np.zeros(6), np.ones(6)
        a = cardan.forward_dynamics(free, q, v, tau)
        np.testing.assert_allclose(cardan.inverse_dynamics(free, q, v, a), tau, rtol=1e-9)


def test_a_joint_that_copies_another_still_shares_its_velocity_in_the_simplified_tree():
    m = cardan.Mechanism("gripper")
    rng = np.random.default_rng(0)
    for body in ("palm", "left", "right"):
        m.add_body(body, random_inertia(rng))
    m.add_joint("wrist", Revolute([0, 0, 1]), "world", "palm")
    m.add_joint("finger", Revolute([0, 1, 0]), "palm", "left", random_pose(rng))
    m.add_joint("copy", Mimic(Revolute([0, 1, 0]), "finger", multiplier=-1.0), "palm", "right", random_pose(rng))
    model = m.model()
    q, v, tau = model.random_configuration((), seed=1), rng.normal(size=2), rng.normal(size=2)
    a = cardan.forward_dynamics(model, q, v, tau)
    np.testing.assert_allclose(cardan.inverse_dynamics(model, q, v, a), tau, atol=1e-12)
    M = cardan.mass_matrix(model, q)
    np.testing.assert_allclose(cardan.mass_matrix_inverse(model, q) @ M, np.eye(2), atol=1e-12)
    assert simplified_tree(model).has_mimics


@pytest.mark.parametrize("axis", [(0.0, 0.9999999999999998, 0.0), (1e-170, 0.0, 0.9999999999999998)])
def test_an_axis_a_digit_off_a_coordinate_axis_is_that_axis(axis):
    m = cardan.Mechanism("hinge")
    m.add_body("b", cardan.Inertia(1.0, (0.1, 0.2, 0.3)))
    m.add_joint("j", Revolute(axis), "world", "b")
    M = cardan.mass_matrix(m.model(), [0.0])
    np.testing.assert_allclose(M, [[0.1]] if axis[1] else [[0.05]], rtol=1e-12)


def test_a_body_of_almost_no_mass_is_no_division_by_zero():
    """The square of its inertia is 0: an arm with a body of 1e-300 kg raised a bare ZeroDivisionError."""
    m = cardan.Mechanism("light")
    m.add_body("base")
    m.add_body("bob", cardan.Inertia(1e-300, (0.0, 0.0, 0.0), 1e-300 * np.eye(3)))
    m.add_joint("hinge", Revolute((0, 1, 0)), "base", "bob")
    np.testing.assert_allclose(cardan.forward_dynamics(m.model(), [0.1], [0.0], [1e-300]), [1.0], rtol=1e-14)
