"""Named configurations of the SRDFs of example-robot-data equal those Pinocchio reads."""

import warnings
from pathlib import Path

import numpy as np
import pytest

import cardan
from robots_data import robots_folder

pin = pytest.importorskip("pinocchio")
FOLDER = robots_folder() or Path()
PAIRS = {
    "panda": ("panda_description/urdf/panda.urdf", "panda_description/srdf/panda.srdf"),
    "talos": ("talos_data/robots/talos_full_v2.urdf", "talos_data/srdf/talos.srdf"),
    "solo": ("solo_description/robots/solo.urdf", "solo_description/srdf/solo.srdf"),
    "hyq": ("hyq_description/robots/hyq_no_sensors.urdf", "hyq_description/srdf/hyq.srdf"),
    "a1": ("a1_description/urdf/a1.urdf", "a1_description/srdf/a1.srdf"),
    "icub": ("icub_description/robots/icub.urdf", "icub_description/srdf/icub.srdf"),
    "kinova": ("kinova_description/robots/kinova.urdf", "kinova_description/srdf/kinova.srdf"),
    "pr2": ("pr2_description/urdf/pr2.urdf", "pr2_description/srdf/pr2.srdf"),
}


@pytest.mark.parametrize(("urdf", "srdf"), PAIRS.values(), ids=PAIRS.keys())
def test_configurations(urdf, srdf):
    if not ((FOLDER / urdf).is_file() and (FOLDER / srdf).is_file()):
        pytest.skip("example-robot-data has not this robot")
    theirs = pin.buildModelFromUrdf(str(FOLDER / urdf))
    pin.loadReferenceConfigurations(theirs, str(FOLDER / srdf), False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = cardan.load(FOLDER / urdf, srdf=FOLDER / srdf, continuous="unit_complex")
    assert len(ours.groups) > 0
    states = {entry.key(): entry.data() for entry in theirs.referenceConfigurations}
    names = set(states) & set(ours.named_configurations)
    assert names or not states
    for name in names:
        q = ours.named_configurations[name]
        for k in range(1, theirs.njoints):
            joint = theirs.joints[k]
            expected = states[name][joint.idx_q : joint.idx_q + joint.nq]
            found = q[ours.q_slice(theirs.names[k])]
            if found.size:  # Pinocchio does not let joints mimic others
                np.testing.assert_allclose(found, expected, atol=1e-12)
