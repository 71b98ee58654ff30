"""What earlier versions pickled is read: modules have moved since, and the names in a pickle are those of then."""

import lzma
import pickle
from pathlib import Path

import numpy as np
import pytest

import cardan

# Written by the last version with 29 rooms, on 22 November 2026: {name: pickle}.
KEPT = pickle.loads(lzma.decompress(Path(__file__).with_name("earlier.pickles.xz").read_bytes()))
MADE_NOW = {
    "mechanism": cardan.robots.quadruped,
    "loops": cardan.robots.stewart_platform,
    "model four_bar": lambda: cardan.robots.four_bar().model(),
    "function": lambda: cardan.inverse_dynamics,
    **{f"joint {type(joint).__name__}": lambda joint=joint: joint for joint in reversed(cardan.joints.CATALOGUE)},
}


@pytest.mark.parametrize("name", MADE_NOW)
def test_what_was_pickled_equals_what_is_made_now(name):
    assert pickle.loads(KEPT[name]) == MADE_NOW[name]()


@pytest.mark.parametrize("name", sorted(set(KEPT) - set(MADE_NOW)))
def test_what_was_pickled_works(name):
    found = pickle.loads(KEPT[name])
    if name.startswith("solver"):
        state = found.world.state()
        assert np.isfinite(found.step(state).q).all()
    else:
        assert pickle.loads(pickle.dumps(found)) is not None


def test_paths_of_earlier_modules_lead_to_the_modules_of_today():
    from cardan.joints.catalogue.revolute import Revolute
    from cardan.model.model import Model

    assert Revolute is cardan.joints.Revolute
    assert Model is cardan.Model
