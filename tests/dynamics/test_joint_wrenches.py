"""The wrench through every joint: laws on random trees, derivatives, and Pinocchio's data.f."""

import numpy as np
import pytest

import cardan
from cardan.errors import MechanismError
from cardan.joints import CATALOGUE, FreeFlyer
from mechanisms import central_difference, random_model, random_state

pytestmark = pytest.mark.usefixtures("reference_target")
JOINTS = (*CATALOGUE[:3], *CATALOGUE[4:16:3], CATALOGUE[-2])


def of_joint(model, wrenches, name):
    return wrenches[..., model.joint_names.index(name), :]


def along_freedoms(model, q, a, wrenches):
    """Return S^T f + armature a, of every node."""
    tau = np.zeros_like(a)
    for node in model.nodes:
        S = cardan.evaluate_joint(node.joint, "subspace", q[..., list(node.q)])
        own = np.einsum("...ij,...i->...j", S, of_joint(model, wrenches, node.name))
        tau[..., list(node.v)] += own + np.array(node.armature) * a[..., list(node.v)]
    return tau


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_along_the_freedoms_it_is_inverse_dynamics(base):
    model = random_model(3, joints=JOINTS, base=base)
    q, v, a = random_state(model, seed=5, shape=(3,))
    pushes = np.random.default_rng(1).normal(size=(3, model.nbodies, 6))
    for given in ((q, v, a), (q, v, a, pushes)):
        f = cardan.joint_wrenches(model, *given)
        assert f.shape == (3, len(model.joint_names), 6)
        np.testing.assert_allclose(along_freedoms(model, q, a, f), cardan.inverse_dynamics(model, *given), atol=1e-11)


def test_every_body_obeys_newton_and_euler():
    model = random_model(4, joints=JOINTS, base="floating")
    q, v, a = random_state(model, seed=6)
    pushes = np.random.default_rng(1).normal(size=(model.nbodies, 6))
    f = cardan.joint_wrenches(model, q, v, a, pushes)
    twists = cardan.body_velocities(model, q, v, expressed_in="frame")
    accelerations = cardan.body_accelerations(model, q, v, a, expressed_in="frame")
    poses = cardan.forward_kinematics(model, q)
    total = np.zeros((model.nbodies, 6))
    for c in model.connections:
        wrench = cardan.Force.of(of_joint(model, f, c.name))
        k = model.body_names.index(c.child)
        on_child = c.child_pose @ wrench
        total[k] += np.array(on_child)
        if c.parent != "world":
            i = model.body_names.index(c.parent)
            total[i] -= np.array(cardan.SE3.of(np.linalg.inv(poses[i]) @ poses[k]) @ on_child)
    for k, body in enumerate(model.bodies):
        V, A = cardan.Motion.of(twists[k]), cardan.Motion.of(accelerations[k])
        weight = cardan.Motion(poses[k, :3, :3].T @ model.gravity, np.zeros(3))
        asked = body.inertia @ (A - weight) + V.cross(body.inertia @ V)
        np.testing.assert_allclose(total[k] + pushes[k], np.array(asked), atol=1e-11)


def test_a_fixed_joint_bears_what_a_free_one_would_be_driven_with():
    mechanism = cardan.robots.arm7()
    arm = mechanism.model()
    loose = mechanism.replace_joint("flange", FreeFlyer()).mechanism.model()
    q, v, a = random_state(arm, seed=2)
    still = np.zeros(6)
    at_rest = (np.concatenate([q, [0, 0, 0, 0, 0, 0, 1]]), np.concatenate([v, still]), np.concatenate([a, still]))
    tau = cardan.inverse_dynamics(loose, *at_rest)
    np.testing.assert_allclose(of_joint(arm, cardan.joint_wrenches(arm, q, v, a), "flange"), tau[7:], atol=1e-12)


def test_the_base_carries_the_weight():
    dog = cardan.robots.quadruped().model(base="fixed")
    still = np.zeros(dog.nv)
    f = of_joint(dog, cardan.joint_wrenches(dog, dog.neutral(), still, still), "root")
    np.testing.assert_allclose(f[:3], (0.0, 0.0, 9.81 * dog.mass), atol=1e-10)


def test_batches_dtypes_and_derivatives():
    arm = cardan.robots.arm7().model()
    q, v, a = random_state(arm, seed=3)
    one = cardan.joint_wrenches(arm, q, v, a)
    for shape in ((), (1,), (3, 1, 2)):
        got = cardan.joint_wrenches(arm, np.broadcast_to(q, (*shape, 7)), v, a)
        np.testing.assert_allclose(got, np.broadcast_to(one, got.shape), rtol=1e-14)
    assert cardan.joint_wrenches(arm, *(e.astype(np.float32) for e in (q, v, a))).dtype == np.float32
    dq = cardan.derivative(cardan.joint_wrenches, "q")(arm, q, v, a)
    moved = [central_difference(lambda h, e=e: cardan.joint_wrenches(arm, q + h * e, v, a)) for e in np.eye(7)]
    np.testing.assert_allclose(dq, np.moveaxis(moved, 0, -1), atol=1e-6 * np.abs(dq).max())


def test_a_loop_is_refused():
    linkage = cardan.robots.four_bar().model()
    state = (linkage.neutral(), *np.zeros((2, linkage.nv)))
    with pytest.raises(MechanismError, match=r"joint_wrenches: .*closed loops"):
        cardan.joint_wrenches(linkage, *state)
    assert np.isfinite(cardan.joint_wrenches(linkage.spanning_tree(), *state)).all()


@pytest.mark.slow
def test_a_cluster_is_refused_and_what_closes_its_loop_goes_through_its_joints():
    """The wrench of the closing joint was left out, and the error for loops leads to clusters."""
    loops = cardan.robots.four_bar().model()
    model = cardan.clustered(loops, independent=["crank_joint"])
    q, v, a = model.random_configuration(seed=0), np.array([2.0]), np.array([0.5])
    with pytest.raises(MechanismError, match="what closes these goes through them"):
        cardan.joint_wrenches(model, q, v, a)
    out, tree = cardan.converter(model, loops), loops.spanning_tree()
    x, xd, xdd = out.configuration(q), out.velocity(q, v), out.acceleration(q, v, a)
    drive = cardan.constrained_inverse_dynamics(loops, x, xd, xdd, actuated=["crank_joint"])
    (closing,) = loops.closures
    X_parent, X_child = (cardan.SE3.of(cardan.frame_transform(tree, x, c)) for c in (closing.parent, closing.child))
    wrench = closing.child_pose @ cardan.spatial.Force.of(drive.wrenches[0])
    pushes = np.zeros((loops.nbodies, 6))
    pushes[loops.body_names.index(closing.child)] = wrench.scalars()
    pushes[loops.body_names.index(closing.parent)] = (X_parent.inverse() @ X_child @ -wrench).scalars()
    f = cardan.joint_wrenches(tree, x, xd, xdd, pushes)
    axis = np.array([0.0, 0.0, 0.0, *tree.joint("crank_joint").axis])
    along = [axis @ f[tree.joint_names.index(c.name)] for c in tree.connections if c.joint.nv]
    np.testing.assert_allclose(along, drive.efforts, atol=1e-10)  # the crank's, and none at the others


def test_pinocchio_has_the_same():
    pin = pytest.importorskip("pinocchio")
    text = cardan.to_urdf(cardan.robots.arm7())
    theirs = pin.buildModelFromXML(text)
    arm = cardan.load_mechanism(text).model()
    q, v, a = random_state(arm, seed=4)
    data = theirs.createData()
    pin.rnea(theirs, data, q, v, a)
    f = cardan.joint_wrenches(arm, q, v, a)
    for name in list(theirs.names)[1:]:
        expected = data.f[theirs.getJointId(name)].vector
        np.testing.assert_allclose(of_joint(arm, f, name), expected, atol=1e-11)
