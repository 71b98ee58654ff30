"""Derivatives against Pinocchio, on robots whose joints all have a constant motion subspace (where it is right)."""

import numpy as np
import pytest

import cardan
from robots_data import urdf_files

pin = pytest.importorskip("pinocchio", reason="needs the `oracles` extra: pin", exc_type=ImportError)
FILES = {file.name: file for file in urdf_files()}
if not FILES:
    pytest.skip("needs the `oracles` extra: example-robot-data", allow_module_level=True)

from closeness import close  # noqa: E402
from compare_pin import load_pair, random_states  # noqa: E402

pytestmark = pytest.mark.full

ROBOTS = ["ur5_robot.urdf", "anymal.urdf", "g1_29dof_rev_1_0.urdf", "talos_reduced.urdf", "romeo_small.urdf"]


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("name", [n for n in ROBOTS if n in FILES])
def test_derivatives_of_the_dynamics(name, floating):
    pair = load_pair(FILES[name], floating)
    if pair is None:
        pytest.skip("its root link is the world")
    q, v, a, pq, pv, pa = random_states(pair, 1)
    by = cardan.inverse_dynamics_derivatives(pair.ours, q, v, a)
    dq, dv, da = (np.array(x) for x in pin.computeRNEADerivatives(pair.theirs, pair.data, pq, pv, pa))
    da = np.triu(da) + np.triu(da, 1).T
    for ours, theirs in zip(by, (dq, dv, da), strict=True):
        close(ours, pair.matrix(theirs), 1e-11, model=pair.ours, equation="dID")
    tau = pin.rnea(pair.theirs, pair.data, pq, pv, pa)
    forward = cardan.forward_dynamics_derivatives(pair.ours, q, v, pair.vector(tau))
    dq, dv, dtau = (np.array(x) for x in pin.computeABADerivatives(pair.theirs, pair.data, pq, pv, tau))
    M = cardan.mass_matrix(pair.ours, q)
    for ours, theirs in zip(forward, (dq, dv, dtau), strict=True):
        close(M @ ours, M @ pair.matrix(theirs), 1e-9, model=pair.ours, equation="M dFD")
