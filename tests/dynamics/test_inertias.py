"""Articulated, locked inertias and average velocity: by the mass matrix, by momentum, and by Pinocchio and iDynTree."""

import numpy as np
import pytest

import cardan
from cardan.errors import MechanismError
from cardan.joints import CATALOGUE
from mechanisms import random_model, random_state

pytestmark = pytest.mark.usefixtures("reference_target")
JOINTS = tuple(j for j in (*CATALOGUE[:3], *CATALOGUE[4:16:3]) if not j.primaries)


@pytest.fixture(scope="module", params=["fixed", "floating"])
def model(request):
    return random_model(3, joints=JOINTS, base=request.param)


def test_articulated_inertias_of_the_last_link_is_its_own(model):
    q, _, _ = random_state(model, seed=1, shape=(2,))
    inertia, U, D = cardan.articulated_inertias(model, q)
    assert inertia.shape == (2, model.nlinks, 6, 6)
    assert U.shape == (2, 6, model.nv)
    assert D.shape == (2, model.nv, model.nv)
    parents = {node.parent for node in model.nodes}
    for node in model.nodes:
        k, own = model.link_names.index(model.connection(node.name).child), list(node.v)
        if node.index not in parents:
            np.testing.assert_allclose(inertia[:, k], np.broadcast_to(node.inertia.matrix(), (2, 6, 6)), atol=1e-14)
        S = cardan.evaluate_joint(node.joint, "subspace", q[:, list(node.q)])
        np.testing.assert_allclose(inertia[:, k] @ S, U[..., own], atol=1e-13)
        block = np.swapaxes(S, -1, -2) @ U[..., own] + np.diag(node.armature)
        np.testing.assert_allclose(D[:, own][..., own], block, atol=1e-13)
    mask = np.ones((model.nv, model.nv), dtype=bool)
    for node in model.nodes:
        mask[np.ix_(node.v, node.v)] = False
    assert (D[:, mask] == 0.0).all()


def test_the_determinant_of_the_mass_matrix_is_that_of_all_blocks(model):
    q, _, _ = random_state(model, seed=2)
    D = cardan.articulated_inertias(model, q).D
    np.testing.assert_allclose(np.linalg.slogdet(D)[1], np.linalg.slogdet(cardan.mass_matrix(model, q))[1], rtol=1e-12)


def test_a_free_base_resists_a_push_with_its_articulated_inertia():
    dog = cardan.robots.quadruped().model(base="floating").with_gravity((0.0, 0.0, 0.0))
    q, _, _ = random_state(dog, seed=3)
    I_A = cardan.articulated_inertias(dog, q).inertia[0]
    push = np.arange(1.0, 7.0)
    a = cardan.forward_dynamics(dog, q, np.zeros(dog.nv), np.concatenate([push, np.zeros(dog.nv - 6)]))
    np.testing.assert_allclose(I_A @ a[:6], push, rtol=1e-10)


def test_articulated_inertias_refuse_joints_that_move_together():
    both = random_model(3, joints=(CATALOGUE[1], CATALOGUE[-1]))
    with pytest.raises(MechanismError, match=r"articulated_inertias: model 'random3' has joints that move together"):
        cardan.articulated_inertias(both, both.neutral())
    linkage = cardan.robots.four_bar().model()
    with pytest.raises(MechanismError, match="closed loops"):
        cardan.articulated_inertias(linkage, linkage.neutral())


def test_articulated_inertias_are_those_of_pinocchio():
    pin = pytest.importorskip("pinocchio")
    text = cardan.to_urdf(cardan.robots.arm7())
    theirs, arm = pin.buildModelFromXML(text), cardan.load_mechanism(text).model()
    theirs.armature = np.array(arm.passive("armature"))
    q, v, _ = random_state(arm, seed=4)
    data = theirs.createData()
    pin.aba(theirs, data, q, v, np.zeros(7))
    inertia, U, D = cardan.articulated_inertias(arm, q)
    for k in range(1, 8):
        scaled = U[:, k - 1 : k] / D[k - 1, k - 1]
        own = inertia[k - 1] - scaled @ U[:, k - 1 : k].T if k > 1 else inertia[0]
        np.testing.assert_allclose(np.array(data.Yaba[k]), own, atol=1e-9 * np.abs(own).max())


@pytest.mark.parametrize(("at", "axes"), [("center_of_mass", "world"), ("world", "world"), ("body2", "body1")])
def test_the_locked_robot_has_the_momentum_of_the_moving_one(model, at, axes):
    q, v, _ = random_state(model, seed=5, shape=(2,))
    inertia = cardan.locked_inertia(model, q, at=at, expressed_in=axes)
    V = cardan.average_velocity(model, q, v, at=at, expressed_in=axes)
    momentum = np.zeros((2, 6))
    origin = cardan.center_of_mass(model, q) if at == "center_of_mass" else None
    for i in range(2):
        pose = lambda name, i=i: cardan.SE3.of(cardan.frame_transform(model, q[i], name))  # noqa: E731
        reference = cardan.SE3(pose(axes).rotation, pose(at).translation if origin is None else origin[i])
        twists = cardan.body_velocities(model, q[i], v[i], expressed_in="frame")
        for body, twist in zip(model.bodies, twists, strict=True):
            X = reference.inverse() @ pose(body.name)
            momentum[i] += np.array(X @ (body.inertia @ cardan.Motion.of(twist)))
    np.testing.assert_allclose(np.einsum("bij,bj->bi", inertia, V), momentum, atol=1e-11)


def test_a_rigid_robot_moves_with_its_average_velocity():
    dog = cardan.robots.quadruped().model(base="floating")
    q, v, _ = random_state(dog, seed=6)
    v[6:] = 0.0
    base = dog.body_names[0]
    got = cardan.average_velocity(dog, q, v, at=base, expressed_in=base)
    np.testing.assert_allclose(got, v[:6], atol=1e-12)
    inertia = cardan.locked_inertia(dog, q, at=base, expressed_in=base)
    np.testing.assert_allclose(inertia, cardan.mass_matrix(dog, q)[:6, :6], atol=1e-12)


def test_the_locked_inertia_of_a_robot_far_away_keeps_its_digits():
    dog = cardan.robots.quadruped().model(base="floating")
    q, v, _ = random_state(dog, seed=6)
    away = q.copy()
    away[:3] += 1e5
    np.testing.assert_allclose(cardan.locked_inertia(dog, away), cardan.locked_inertia(dog, q), atol=1e-8)
    np.testing.assert_allclose(cardan.average_velocity(dog, away, v), cardan.average_velocity(dog, q, v), atol=1e-8)


def test_average_velocity_refuses_what_it_cannot_know():
    m = cardan.Mechanism("point")
    m.add_body("mass", cardan.Inertia(1.0))
    m.add_joint("slide", cardan.joints.Prismatic((0, 0, 1)), "world", "mass")
    with pytest.raises(MechanismError, match=r"average_velocity: .*no inertia about some axis"):
        cardan.average_velocity(m.model(), [0.0], [1.0])


def test_locked_inertia_and_average_velocity_are_those_of_idyntree():
    iDynTree = pytest.importorskip("idyntree.bindings")
    text = cardan.to_urdf(cardan.robots.quadruped())
    dog = cardan.load_mechanism(text).model(base="floating")
    loader = iDynTree.ModelLoader()
    assert loader.loadModelFromString(text, "urdf")
    kin = iDynTree.KinDynComputations()
    assert kin.loadRobotModel(loader.model())
    base = kin.getFloatingBase()
    kin.setFrameVelocityRepresentation(iDynTree.BODY_FIXED_REPRESENTATION)
    q, v, _ = random_state(dog, seed=7)
    X = cardan.frame_transform(dog, q, base)
    names = [kin.model().getJointName(i) for i in range(kin.model().getNrOfDOFs())]
    own = [dog.q_slice(n).start for n in names], [dog.v_slice(n).start for n in names]
    twist = cardan.frame_velocity(dog, q, v, base, expressed_in="frame")
    kin.setRobotState(X, q[own[0]], twist, v[own[1]], np.array([0, 0, -9.81]))
    found = kin.getRobotLockedInertia().asMatrix().toNumPy()
    np.testing.assert_allclose(cardan.locked_inertia(dog, q, at=base, expressed_in=base), found, atol=1e-11)
    found = kin.getAverageVelocity().toNumPy()
    np.testing.assert_allclose(cardan.average_velocity(dog, q, v, at=base, expressed_in=base), found, atol=1e-11)
    kin.setFrameVelocityRepresentation(iDynTree.MIXED_REPRESENTATION)
    found = kin.getCentroidalAverageVelocity().toNumPy()
    np.testing.assert_allclose(cardan.average_velocity(dog, q, v), found, atol=1e-11)


SOLID, POINT = (cardan.Inertia(1.0, (0.2, 0.3, 0.4), turns) for turns in (np.eye(3), np.zeros((3, 3))))


@pytest.mark.parametrize("function", ["forward_dynamics", "mass_matrix_inverse", "forward_dynamics_derivatives"])
@pytest.mark.parametrize(
    ("hinges", "inertia", "armature", "refused"),
    [(6, SOLID, 0.0, False), (7, SOLID, 0.0, True), (7, SOLID, 0.1, False), (4, POINT, 0.0, True)],
)
def test_more_hinges_than_a_body_resists_are_refused(function, hinges, inertia, armature, refused):
    """No efforts determine their accelerations. The nodes of a simplified tree hid that: 1e16 came without a word."""
    m = cardan.Mechanism("row")
    for k in range(hinges):
        m.add_body(f"b{k}", inertia if k == hinges - 1 else None)
        at = cardan.SE3(translation=(0.1, 0.05 * k, 0.2))
        hinge = cardan.joints.Revolute(np.eye(3)[k % 3] + 0.1)
        m.add_joint(f"j{k}", hinge, f"b{k - 1}" if k else "world", f"b{k}", at, armature=[armature * (k == 0)])
    model = m.model()
    x = np.full(hinges, 0.3)
    given = (x,) if function == "mass_matrix_inverse" else (x, x, x)
    if refused:
        with pytest.raises(MechanismError, match="joint 'j0' moves nothing that has inertia"):
            getattr(cardan, function)(model, *given)
    elif function == "forward_dynamics":
        a = cardan.forward_dynamics(model, *given)
        np.testing.assert_allclose(cardan.inverse_dynamics(model, x, x, a), x, rtol=1e-6)
    else:
        getattr(cardan, function)(model, *given)
