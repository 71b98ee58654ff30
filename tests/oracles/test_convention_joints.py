"""The joints a URDF cannot say, in the conventions of the libraries that have them, against those libraries."""

import numpy as np
import pytest

import cardan
from cardan import conventions
from compare_convention_joints import TREES, tree
from mechanisms import random_state

pytestmark = pytest.mark.full

CASES = [(name, {}) for name in TREES] + [("idyntree", {"representation": r}) for r in ("body", "inertial")]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("library", "options"), CASES, ids=lambda x: x if isinstance(x, str) else "-".join(x.values()))
@pytest.mark.filterwarnings("ignore")
def test_random_trees(library, options, seed):
    pytest.importorskip(TREES[library].module, reason=f"needs {library}", exc_type=ImportError)
    ours = tree(library, seed)
    theirs = TREES[library](ours, **options)
    order = theirs.joint_names if library == "idyntree" else None
    there = conventions.to(library, ours, order=order, **options)
    q, v, a = random_state(ours, seed)
    p, w, b = there.configuration(q), there.velocity(q, v), there.acceleration(q, v, a)

    def close(x, y):
        np.testing.assert_allclose(x, y, rtol=0, atol=theirs.tolerance * max(1.0, np.abs(y).max()))

    for body in ours.body_names:
        close(theirs.pose(p, body), cardan.frame_transform(ours, q, body))
    M, tau = cardan.mass_matrix(ours, q), cardan.inverse_dynamics(ours, q, v, a)
    close(theirs.mass_matrix(p), there.mass_matrix(q))
    close(there.from_mass_matrix(p, theirs.mass_matrix(p)), M)
    close(theirs.inverse_dynamics(p, w, b), there.effort(q, tau))
    close(there.from_effort(p, theirs.inverse_dynamics(p, w, b)), tau)


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("seed", range(3))
def test_random_trees_of_every_joint_pinocchio_has(seed, floating):
    pin = pytest.importorskip("pinocchio", reason="needs the `oracles` extra: pin", exc_type=ImportError)
    from test_pin_random import pair_of

    pair = pair_of(seed, floating)
    ours, model, data = pair.ours, pair.theirs, pair.data
    there = conventions.to("pinocchio", ours, order=list(model.names)[1:], continuous="angle")
    assert (there.nq, there.nv) == (model.nq, model.nv)
    q, v, a = random_state(ours, seed)
    p, w, b = there.configuration(q), there.velocity(q, v), there.acceleration(q, v, a)
    tau = there.effort(q, cardan.inverse_dynamics(ours, q, v, a))
    np.testing.assert_allclose(pin.rnea(model, data, p, w, b), tau, atol=1e-11 * np.abs(tau).max())
    moved = there.configuration(cardan.integrate(ours, q, 0.1 * v))
    np.testing.assert_allclose(pin.integrate(model, p, 0.1 * w), moved, atol=1e-12)
