"""Random trees with every joint Pinocchio has, built in both libraries from the same numbers."""

import numpy as np
import pytest

import cardan
from cardan import joints as J
from cardan.spatial.rotations import matrix_from_zyx
from mechanisms import random_inertia, random_pose

pin = pytest.importorskip("pinocchio", reason="needs the `oracles` extra: pin", exc_type=ImportError)

from compare_pin import Pair, differences  # noqa: E402

pytestmark = pytest.mark.full

AXIS = np.array([0.36, 0.48, 0.8])
OFFSET = cardan.SE3(matrix_from_zyx((0.3, -0.5, 0.8)), (0.1, -0.2, 0.3))


def composite():
    model = pin.JointModelComposite(pin.JointModelRevoluteUnaligned(AXIS))
    model.addJoint(pin.JointModelPrismaticUnaligned(AXIS), to_pin(OFFSET))
    model.addJoint(pin.JointModelSpherical(), to_pin(OFFSET))
    return model


JOINTS = [
    (J.Revolute(AXIS), lambda: pin.JointModelRevoluteUnaligned(AXIS)),
    (J.Revolute([1, 0, 0]), lambda: pin.JointModelRX()),
    (J.Revolute([0, 1, 0]), lambda: pin.JointModelRY()),
    (J.Prismatic(AXIS), lambda: pin.JointModelPrismaticUnaligned(AXIS)),
    (J.Prismatic([0, 0, 1]), lambda: pin.JointModelPZ()),
    (J.Helical(AXIS, 0.3), lambda: pin.JointModelHelicalUnaligned(AXIS, 0.3)),
    (J.Helical([0, 1, 0], -0.2), lambda: pin.JointModelHY(-0.2)),
    (J.UnboundedRevolute([1, 0, 0]), lambda: pin.JointModelRUBX()),
    (J.UnboundedRevolute([0, 0, 1]), lambda: pin.JointModelRUBZ()),
    (J.Universal([1, 0, 0], [0, 1, 0]), lambda: pin.JointModelUniversal(np.eye(3)[0], np.eye(3)[1])),
    (J.Spherical(), lambda: pin.JointModelSpherical()),
    (J.SphericalZYX(), lambda: pin.JointModelSphericalZYX()),
    (J.Translation(), lambda: pin.JointModelTranslation()),
    (J.Planar(), lambda: pin.JointModelPlanar()),
    (J.FreeFlyer(), lambda: pin.JointModelFreeFlyer()),
    (J.Ellipsoid((0.5, 0.7, 1.1)), lambda: pin.JointModelEllipsoid(0.5, 0.7, 1.1)),
    (J.Composite([J.Revolute(AXIS), J.Prismatic(AXIS), J.Spherical()], [cardan.SE3(), OFFSET, OFFSET]), composite),
]


def to_pin(X):
    return pin.SE3(X.matrix())


def pair_of(seed, floating):
    rng = np.random.default_rng(seed)
    ours, theirs = cardan.Mechanism("tree"), pin.Model()
    ours.add_body("b", random_inertia(rng))
    if floating:
        root = theirs.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root")
        add_inertia(theirs, root, ours.bodies[0].inertia, cardan.SE3())
    places = [(root if floating else 0, cardan.SE3())]
    branch = [0]  # Pinocchio's crba needs joints numbered depth first: a parent is on the last joint's branch
    for k, index in enumerate(rng.permutation(len(JOINTS))):
        mine, yours = JOINTS[index]
        inertia, P, C, parent = random_inertia(rng), random_pose(rng), random_pose(rng), rng.choice(branch)
        ours.add_body(f"b{k}", inertia)
        ours.add_joint(f"j{k}", mine, "b" if parent == 0 else f"b{parent - 1}", f"b{k}", P, C)
        body, X_joint_body = places[parent]
        joint = theirs.addJoint(int(body), yours(), to_pin(X_joint_body @ P), f"j{k}")
        add_inertia(theirs, joint, inertia, C.inverse())
        theirs.addFrame(pin.Frame(f"b{k}", joint, 0, to_pin(C.inverse()), pin.FrameType.BODY))
        places.append((joint, C.inverse()))
        branch = [*branch[: branch.index(parent) + 1], k + 1]
    model = ours.model(base="floating" if floating else "fixed")
    return Pair(model, theirs, {})


def add_inertia(model, joint, inertia, X_joint_body):
    matrix = np.array([list(row) for row in inertia.inertia_at_com.matrix().rows()])
    body = pin.Inertia(inertia.mass, np.array(list(inertia.com)), matrix)
    model.appendBodyToJoint(joint, body, to_pin(X_joint_body))


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("seed", range(3))
def test_random_tree_with_every_joint(seed, floating):
    pair = pair_of(seed, floating)
    frames = [(f"b{k}", f"b{k}") for k in (0, 5, 11, 16)]
    for name, error in differences(pair, seed=seed, frames=frames).items():
        assert error < 1e-10, name


@pytest.mark.parametrize(("mine", "yours"), JOINTS, ids=lambda x: type(x).__name__ if isinstance(x, J.Joint) else "")
def test_joint_kinematics_and_limits(mine, yours):
    """Transform, S, bias, neutral and integrate of each joint by itself."""
    model = pin.Model()
    model.addJoint(0, yours(), pin.SE3.Identity(), "j")
    jmodel, jdata = model.joints[1], model.joints[1].createData()
    rng = np.random.default_rng(0)
    np.testing.assert_allclose(mine.neutral(), pin.neutral(model), atol=0)
    for k in range(5):
        q, v = mine.random_configuration(seed=k), rng.normal(size=mine.nv)
        jmodel.calc(jdata, q, v)
        np.testing.assert_allclose(mine.transform(q).matrix(), jdata.M.homogeneous, atol=3e-15)
        S = np.array(mine.subspace(q).rows()).reshape(6, mine.nv)
        np.testing.assert_allclose(S, np.array(jdata.S).reshape(6, mine.nv), atol=3e-15)
        np.testing.assert_allclose(mine.bias(q, v).scalars(), jdata.c.vector, atol=3e-14)
        np.testing.assert_allclose(mine.integrate(q, v), pin.integrate(model, q, v), atol=3e-15)
        q1 = mine.random_configuration(seed=100 + k)
        np.testing.assert_allclose(mine.difference(q, q1), pin.difference(model, q, q1), atol=1e-12)
