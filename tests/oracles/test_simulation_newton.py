"""The robots that Newton simulates in the benchmark are ours; times are not tested."""

import sys
from pathlib import Path

import numpy as np
import pytest

import cardan
from robots_data import robots_folder

newton = pytest.importorskip("newton", reason="needs the `more-oracles` extra: newton", exc_type=ImportError)
if robots_folder() is None:
    pytest.skip("needs the `oracles` extra: example-robot-data", allow_module_level=True)
sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks import simulation_newton  # noqa: E402
from benchmarks.scenes import SCENES  # noqa: E402

pytestmark = [pytest.mark.full, pytest.mark.filterwarnings("ignore")]
FLOAT32 = 1e-5


@pytest.mark.parametrize("name", SCENES)
def test_newton_has_our_robot(name):
    scene = SCENES[name]
    ours, theirs = scene.world.model, simulation_newton.replicated(scene, 1)
    state = theirs.state()
    newton.eval_fk(theirs, theirs.joint_q, theirs.joint_qd, state)
    conventions = cardan.conventions.to("newton", ours, merged_bodies=True)
    M = conventions.mass_matrix(scene.standing, cardan.mass_matrix(ours, scene.standing))
    np.testing.assert_allclose(newton.eval_mass_matrix(theirs, state).numpy()[0], M, atol=FLOAT32)
    np.testing.assert_allclose(state.body_q.numpy()[:, :3], positions(theirs, ours, scene.standing), atol=FLOAT32)


def positions(theirs, ours, q):
    """Of Newton's bodies, by our kinematics, shape (nbodies, 3)."""
    poses = dict(zip(ours.body_names, cardan.forward_kinematics(ours, q), strict=True))
    return np.array([poses[label.split("/")[-1]][:3, 3] for label in theirs.body_label])


@pytest.mark.parametrize("name", SCENES)
def test_newton_has_our_drives_in_every_world(name):
    scene, worlds = SCENES[name], 3
    theirs = simulation_newton.replicated(scene, worlds)
    gains = [theirs.joint_target_ke.numpy(), theirs.joint_target_kd.numpy()]
    for name, found in zip(("drive_stiffness", "drive_damping"), gains, strict=True):
        np.testing.assert_array_equal(found, np.tile(scene.world.model.passive(name), worlds))


def test_what_is_not_finite_diverges():
    scene = SCENES["panda"]
    steady, explicit = simulation_newton.mujoco_warp, newton.solvers.SolverFeatherstone
    assert simulation_newton.is_finite_after(scene, explicit, 2e-4, 0.01)
    assert not simulation_newton.is_finite_after(scene, explicit, 2e-3, 0.2)
    pytest.importorskip("mujoco_warp", reason="Newton's MuJoCo solver needs it")
    assert simulation_newton.is_finite_after(scene, steady, 2e-3, 0.2)
