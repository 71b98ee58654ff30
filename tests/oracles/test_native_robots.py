"""Native code on real robots: equal to the reference target, which the other tests compare with Pinocchio."""

import warnings

import numpy as np
import pytest

import cardan
from mechanisms import random_state
from robots_data import short, urdf_files

pytestmark = pytest.mark.full

SMALL = [f for f in urdf_files() if f.stat().st_size < 60_000]


@pytest.mark.skipif(not SMALL, reason="needs the `oracles` extra: example-robot-data")
@pytest.mark.parametrize("file", SMALL or [None], ids=lambda f: short(f) if f else "none")
def test_native_equals_reference(file):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cardan.errors.DescriptionWarning)
        try:
            model = cardan.load(file)
        except cardan.DescriptionError:
            pytest.skip("a faulty file")
    q, v, a = random_state(model, seed=0, shape=(19,))
    for function, arrays in ((cardan.inverse_dynamics, (q, v, a)), (cardan.mass_matrix, (q,))):
        native, reference = (function.on(target)(model, *arrays) for target in ("llvm", "numpy"))
        scale = max(1.0, np.abs(reference).max(initial=0.0))
        assert np.abs(native - reference).max(initial=0.0) < 1e-14 * scale
