"""The shipped robots against MuJoCo, read by both from the same URDF text."""

import numpy as np
import pytest

import cardan

mujoco = pytest.importorskip("mujoco", reason="needs the `oracles` extra: mujoco", exc_type=ImportError)

ROBOTS = ("double_pendulum", "cart_pole", "chain", "arm7", "quadruped", "humanoid")


@pytest.mark.parametrize("name", ROBOTS)
def test_mass_matrix_bias_and_poses(name):
    text = cardan.to_urdf(cardan.robots.ROBOTS[name]())
    # MuJoCo merges fixed bodies by itself and refuses moving ones without mass; ours all have some
    theirs = mujoco.MjModel.from_xml_string(text)
    data, ours = mujoco.MjData(theirs), cardan.load(text)
    iq = np.array([ours.q_slice(theirs.joint(k).name).start for k in range(theirs.njnt)])
    assert (theirs.nq, theirs.nv) == (ours.nq, ours.nv)
    rng = np.random.default_rng(0)
    for seed in range(3):
        q, v = ours.random_configuration(seed=seed), rng.normal(size=ours.nv)
        data.qpos[:], data.qvel[:] = q[iq], v[iq]
        mujoco.mj_forward(theirs, data)
        M = np.zeros((theirs.nv, theirs.nv))
        mujoco.mj_fullM(theirs, data, M)
        expected = cardan.mass_matrix(ours, q)[np.ix_(iq, iq)] + np.diag(theirs.dof_armature)
        np.testing.assert_allclose(M, expected, atol=1e-10 * np.abs(expected).max())
        bias = cardan.bias_forces(ours, q, v)[iq]
        np.testing.assert_allclose(data.qfrc_bias, bias, atol=1e-9 * (1 + np.abs(bias).max()))
        for k in range(1, theirs.nbody):
            pose = cardan.frame_transform(ours, q, theirs.body(k).name)
            np.testing.assert_allclose(data.xpos[k], pose[:3, 3], atol=1e-12)
            np.testing.assert_allclose(data.xmat[k].reshape(3, 3), pose[:3, :3], atol=1e-12)
