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


HELD = {
    "dynamics": "inverse_dynamics joint_wrenches forward_dynamics mass_matrix bias_forces wrench_at",
    "derivatives": "derivative inverse_dynamics_derivatives forward_dynamics_derivatives",
    "named_derivatives": "difference_derivatives integrate_derivatives frame_velocity_derivatives",
    "configuration": "integrate limit_coordinates is_same_configuration",
    "kinematics": "frame_transform jacobian_derivative",
    "momentum": "center_of_mass kinetic_energy",
    "inertias": "articulated_inertias locked_inertia",
    "loops": "loop_bias constrained_forward_dynamics",
    "maximal": "eval_fk eval_ik",
    "regressors": "kinetic_energy_regressor",
    "all_joints": "joint_quantities",
}
"""Functions by the module of `cardan.functions` that held them: a pickle says where a function was."""


@pytest.mark.parametrize("module", HELD)
def test_functions_are_found_where_they_were(module):
    for name in HELD[module].split():
        found = pickle.loads(f"ccardan.functions.{module}\n{name}\n.".encode())
        assert found is getattr(cardan, name)


def test_paths_of_earlier_modules_lead_to_the_modules_of_today():
    from cardan.joints.catalogue.revolute import Revolute
    from cardan.model.model import Model

    assert Revolute is cardan.joints.Revolute
    assert Model is cardan.Model
