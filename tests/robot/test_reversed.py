"""Joints with parent and child exchanged."""

import numpy as np
import pytest

import cardan
from cardan import SE3
from cardan._reach.verification.dynamics import program
from cardan.errors import ParameterError
from cardan.joints import (
    CATALOGUE,
    Cable,
    Composite,
    Ellipsoid,
    FloatingMRP,
    FreeFlyer,
    Helical,
    Joint,
    Mimic,
    Reversed,
    Revolute,
    Spherical,
    SphericalZYX,
    reverse,
)
from mechanisms import random_inertia, random_pose
from representatives import represented


class Custom(Joint):
    """Slides on a parabola."""

    manifold = cardan.manifolds.Euclidean(1)

    def transform(self, q):
        return cardan.SE3(translation=(q[0], 0.0, q[0] * q[0]))


JOINTS = [*CATALOGUE, Custom(), Composite([Spherical(), Custom()]), Mimic(Revolute(), "other", 2.0)]
every = pytest.mark.parametrize("joint", JOINTS, ids=lambda j: type(j).__name__)


def rows(columns):
    return np.array([list(c.scalars()) for c in columns], dtype=float)


@every
def test_reversing_twice_gives_the_joint_back(joint):
    assert reverse(reverse(joint)) == joint
    assert reverse(joint).manifold == joint.manifold


@pytest.mark.slow
@every
def test_the_closed_form_is_the_wrapper(joint):
    quick, wrapper = reverse(joint), Reversed(joint)
    q = joint.random_configuration(seed=1).tolist()
    v = np.random.default_rng(1).normal(size=joint.nv).tolist()
    X = [np.array(j.transform(q).homogeneous(), dtype=float) for j in (quick, wrapper)]
    np.testing.assert_allclose(X[0], X[1], atol=1e-15)
    np.testing.assert_allclose(X[0] @ np.array(joint.transform(q).homogeneous(), dtype=float), np.eye(4), atol=1e-14)
    np.testing.assert_allclose(rows(quick.motion_subspace(q)), rows(wrapper.motion_subspace(q)), atol=1e-15)
    np.testing.assert_allclose(rows([quick.bias(q, v)]), rows([wrapper.bias(q, v)]), atol=1e-14)


def test_only_joints_are_reversed():
    with pytest.raises(ParameterError, match="joint to reverse"):
        Reversed(Revolute)


def pair(joint, poses, inertias, root, base="floating"):
    """Two bodies and a joint, described from either side."""
    m = cardan.Mechanism("pair")
    m.add_body("a", inertias[0])
    m.add_body("b", inertias[1])
    if root == "a":
        m.add_joint("joint", joint, "a", "b", poses[0], poses[1])
    else:
        m.add_joint("joint", reverse(joint), "b", "a", poses[1], poses[0])
    return m.model(base=base)


MOVING = [j for j in [*CATALOGUE, Custom()] if j.nv and not j.primaries]
OF_EACH_KIND = (Revolute, Helical, SphericalZYX, FloatingMRP, Ellipsoid, Cable, Custom)


@pytest.mark.parametrize(
    "joint", represented(MOVING, by=lambda j: isinstance(j, OF_EACH_KIND)), ids=lambda j: type(j).__name__
)
@pytest.mark.usefixtures("quick_target")
def test_the_motion_is_the_same_from_either_side(joint):
    rng = np.random.default_rng(4)
    poses, inertias = [random_pose(rng), random_pose(rng)], [random_inertia(rng), random_inertia(rng)]
    a, b = (pair(joint, poses, inertias, root) for root in "ab")
    q_joint, v_joint = joint.random_configuration(seed=2), rng.normal(size=joint.nv)
    tau = rng.normal(size=joint.nv)
    q = a.neutral()
    q[:7] = a.random_configuration(seed=5)[:7]
    q[a.q_slice("joint")] = q_joint
    v = np.concatenate([rng.normal(size=6), v_joint])
    X = cardan.frame_transform(a, q, "b")
    base = cardan.joints.FreeFlyer().configuration_from_transform(X)
    twist = cardan.frame_velocity(a, q, v, "b", at="frame", expressed_in="b")
    q_b, v_b = np.concatenate([base, q_joint]), np.concatenate([twist, v_joint])
    for function in (cardan.kinetic_energy, cardan.potential_energy, cardan.center_of_mass):
        arguments = ((q, v), (q_b, v_b)) if function is cardan.kinetic_energy else ((q,), (q_b,))
        np.testing.assert_allclose(function(b, *arguments[1]), function(a, *arguments[0]), rtol=1e-11, atol=1e-12)
    no_wrench = np.zeros(6)
    accelerations = [
        cardan.forward_dynamics(m, *state, np.concatenate([no_wrench, tau]))[6:]
        for m, state in ((a, (q, v)), (b, (q_b, v_b)))
    ]
    scale = np.abs(accelerations[0]).max()
    np.testing.assert_allclose(accelerations[1], accelerations[0], atol=1e-8 * scale)


def test_a_reversed_ellipsoid_stays_an_ellipsoid():
    joint = Ellipsoid(radii=(0.5, 0.7, 1.1))
    q = [0.3, -0.4, 0.9]
    p = np.array(list(reverse(joint).transform(q).inverse().translation), dtype=float)
    assert ((p / joint.radii) ** 2).sum() == pytest.approx(1.0, abs=1e-15)


@pytest.mark.parametrize(
    "joint",
    [
        Ellipsoid(radii=(0.5, 0.7, 1.1)),
        SphericalZYX(),
        FreeFlyer(),
        Composite([Revolute((0, 0, 1)), Ellipsoid(radii=(0.5, 0.7, 1.1))], [SE3(), SE3(translation=(0.1, 0.2, 0.3))]),
    ],
    ids=lambda x: type(x).__name__,
)
def test_a_reversed_joint_is_its_own_mapped_to_the_other_side(joint):
    """S = -Ad(X) S_joint, bias = -Ad(X) bias_joint: the rate of Ad adds v_J x v_J = 0. To map takes no less."""

    class Mapped(Reversed):
        def motion_subspace(self, q):
            X = self.joint.transform(q)
            return [-(X @ s) for s in self.joint.motion_subspace(q)]

        def bias(self, q, v):
            return -(self.joint.transform(q) @ self.joint.bias(q, v))

    ours, mapped = (program(form(joint)).operations for form in (Reversed, Mapped))
    assert ours <= mapped
    q, v = joint.random_configuration(seed=1), np.linspace(0.3, 1.0, joint.nv)
    for quantity, arrays in (("motion_subspace", (q,)), ("bias", (q, v))):
        values = [cardan.evaluate_joint(form(joint), quantity, *arrays) for form in (Reversed, Mapped)]
        np.testing.assert_allclose(*values, atol=1e-13)
