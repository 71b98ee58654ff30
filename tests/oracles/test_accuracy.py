"""A part of `accuracy.py` in which every number is asserted: against differences in 100-digit arithmetic."""

import mpmath as mp
import numpy as np
import pytest

import cardan
from accuracy import measured
from accuracy_answers import joint_motion
from accuracy_robots import Robot, case_joints
from cardan.joints import Joint, Revolute, Universal
from cardan.spatial import Motion
from extended import DIGITS, JointOracle, Oracle, exact

pytestmark = pytest.mark.full

CASES = case_joints()
MOVING = [name for name, joint in CASES.items() if joint.nv]
CHOSEN = ["Mimic", "SphericalZYX", "Spherical", "Ellipsoid", "ConstantVelocity", "Cable"]
USUAL, EVEN_FAR = 1e-13, 1e-10  # measured: 5e-14 (an acceleration), 2e-11


def has_pin():
    return pytest.importorskip("pinocchio", reason="needs the `oracles` extra: pin", exc_type=ImportError)


def every_error(result, library="cardan"):
    """(quantity, kind, error) of all that was compared."""
    for name, values in result[library].items():
        yield from ((name, k, e) for k, e in zip(result["kinds"], values, strict=True) if e is not None)


@pytest.mark.parametrize("name", MOVING)
def test_pose_subspace_and_bias(name):
    robot = Robot(name, CASES[name], regular=1)
    found, alone = joint_motion(robot.model, robot.q, robot.v), JointOracle(robot.joint)
    with mp.workdps(DIGITS):
        for i, kind in enumerate(robot.kinds):
            q, v = exact(robot.q[i])[robot.own_q], exact(robot.v[i])[robot.own_v]
            true = {"X": alone.pose(q)[:3], "S": alone.subspace(q), "bias": alone.bias(q, v)}
            for what, value in true.items():
                value = np.array(value, dtype=object).astype(float)
                tolerance = 3e-15 if kind != "far" else 5e-11
                assert np.abs(found[what][i] - value).max() <= tolerance * max(1.0, np.abs(value).max()), (what, kind)


def test_singular_states_are_singular():
    found = 0
    for name in ("SphericalZYX", "Ellipsoid", "D6", "Composite", "ConstantVelocity", "Cable"):
        robot = Robot(name, CASES[name])
        for i in (i for i, kind in enumerate(robot.kinds) if kind == "singular"):
            S = np.array(robot.joint.subspace(robot.q[i][robot.own_q]).rows(), dtype=float)
            assert np.linalg.svd(S, compute_uv=False)[-1] < 1e-9, name
            found += 1
    assert found >= 6


@pytest.mark.parametrize("name", CHOSEN)
def test_dynamics_and_derivatives(name):
    result = measured(name, CASES[name], with_pin=False, regular=1, second=1, explained=False)
    assert len(result["cardan"]) == 37
    assert {"regular", "near"} < set(result["kinds"])
    for what, kind, error in every_error(result):
        assert error < (USUAL if kind != "far" else EVEN_FAR), (what, kind)


def test_pinocchio_and_the_oracle_agree_where_the_subspace_is_constant():
    has_pin()
    result = measured("Revolute", CASES["Revolute"], regular=1, second=0, explained=False)
    errors = list(every_error(result, "pin"))
    assert len({what for what, _, _ in errors}) == 20
    assert max(error for _, _, error in errors) < 1e-12


def test_pinocchio_errs_where_it_is_not():
    has_pin()
    result = measured("Universal", CASES["Universal"], regular=1, second=0, explained=False)
    worst = {what: 0.0 for what, _, _ in every_error(result, "pin")}
    for what, _, error in every_error(result, "pin"):
        worst[what] = max(worst[what], error)
    right = {"X", "S", "bias", "tau", "a", "dtau/da", "da/dtau"}
    assert all(worst[what] < 1e-12 for what in right)
    assert all(error > 1e-3 for what, error in worst.items() if what not in right)


class WithoutBias(Joint):
    """A universal joint with an error."""

    manifold = Universal.manifold

    def transform(self, q):
        return Universal().transform(q)

    def bias(self, q, v):
        return Motion.zero()


class TurnedSubspace(WithoutBias):
    """Another: S in the axes of the parent."""

    def motion_subspace(self, q):
        R = self.transform(q).rotation
        return [Motion(R @ s.linear, R @ s.angular) for s in Universal().motion_subspace(q)]


@pytest.mark.parametrize(
    ("joint", "wrong"),
    [
        (WithoutBias(), {"bias", "tau", "dtau/dv", "a", "dA/dv"}),
        (TurnedSubspace(), {"S", "dtau/da", "da/dtau", "dJ/dt", "dV/dq", "dT/dv", "dh/dq"}),
    ],
    ids=["bias", "subspace"],
)
def test_an_error_in_a_joint_shows(joint, wrong):
    result = measured("planted", joint, with_pin=False, regular=1, second=1, explained=False)
    found = {what for what, kind, error in every_error(result) if kind == "regular" and error > 1e-3}
    assert wrong <= found


def test_a_pendulum_by_hand():
    """The oracle itself: m l^2 + J, and m g l sin q."""
    m = cardan.Mechanism("pendulum")
    m.add_body("bob", cardan.Inertia(2.0, [0.0, 0.0, -0.5], np.diag([0.125, 0.125, 0.0625])))
    m.add_joint("pivot", Revolute((0.0, 1.0, 0.0)), "world", "bob", armature=[0.5])
    with mp.workdps(DIGITS):
        oracle, q, v = Oracle(m), exact([0.75]), exact([3.0])
        weight = 2 * mp.mpf(9.81) / 2
        assert abs(oracle.mass_matrix(q)[0, 0] - mp.mpf("1.125")) < 1e-30
        assert abs(oracle.bias_forces(q, v)[0] - weight * mp.sin(q[0])) < 1e-30
        assert abs(oracle.inverse_dynamics_by_q(q, v, v)[0, 0] - weight * mp.cos(q[0])) < 1e-20
        assert abs(oracle.potential_hessian(q)[0, 0] - weight * mp.cos(q[0])) < 1e-30
        assert abs(oracle.kinetic_energy(q, v) - mp.mpf("1.125") * 4.5) < 1e-30
        assert np.abs(oracle.jacobian(q)[:, 0] - np.array([0, 0, 0, 0, 1, 0])).max() < 1e-30
