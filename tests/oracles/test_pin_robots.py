"""Every URDF of example-robot-data against Pinocchio, fixed and floating base."""

import warnings

import numpy as np
import pytest

import cardan
from robots_data import short, urdf_files

pin = pytest.importorskip("pinocchio", reason="needs the `oracles` extra: pin", exc_type=ImportError)
FILES = urdf_files()
if not FILES:
    pytest.skip("needs the `oracles` extra: example-robot-data", allow_module_level=True)

from compare_pin import differences, load_pair, some_frames  # noqa: E402

pytestmark = pytest.mark.full

REFUSED = {  # files with a real fault, and what is said about it
    "alex_description/urdf/alex_psyonic_hands.urdf": "mimics 'index_q1', which does not exist",
    "ur_description/urdf/ur3.urdf": "<robot> needs a non-empty attribute 'name'",
}
ILL_CONDITIONED = {"ABA", "M inverse, weighed"}  # tiny link inertias: M of the iCub has a condition number of 1e9


def test_there_are_69_files():
    assert len(FILES) == 69


@pytest.mark.parametrize("file", FILES, ids=short)
def test_loads_or_names_a_real_fault(file):
    if short(file) in REFUSED:
        with pytest.raises(cardan.DescriptionError) as info:
            cardan.load(file)
        assert REFUSED[short(file)] in str(info.value)
        assert all(fault.line > 0 for fault in info.value.faults)
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", cardan.errors.DescriptionWarning)
            assert cardan.load(file).nv >= 0


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("file", [f for f in FILES if short(f) not in REFUSED], ids=short)
def test_agrees_with_pinocchio(file, floating):
    pair = load_pair(file, floating)
    if pair is None:
        pytest.skip("Pinocchio refuses it, it has no degree of freedom, or its root is the world")
    assert (pair.ours.nq, pair.ours.nv) == (pair.theirs.nq, pair.theirs.nv)
    _check_limits_and_masses(pair)
    for name, error in differences(pair, frames=some_frames(pair)).items():
        assert error < (1e-6 if name in ILL_CONDITIONED else 1e-10), name


def _check_limits_and_masses(pair):
    ours, theirs = pair.ours, pair.theirs
    assert ours.mass == pytest.approx(sum(inertia.mass for inertia in theirs.inertias), rel=1e-12)
    for name, joint in zip(list(theirs.names)[1:], list(theirs.joints)[1:], strict=True):
        if (joint.nq, joint.nv) == (1, 1):
            iv, q, v = ours.v_slice(name), joint.idx_q, joint.idx_v
            mine = ours.lower[iv], ours.upper[iv], ours.velocity_upper[iv], ours.effort_upper[iv]
            limits = (theirs.lowerPositionLimit, theirs.upperPositionLimit)
            yours = [x[q] for x in limits] + [theirs.upperVelocityLimit[v], theirs.upperEffortLimit[v]]
            np.testing.assert_allclose(np.ravel(mine), yours, rtol=1e-15)
