"""What earlier versions pickled is read: modules have moved since, and the names in a pickle are those of then."""

import importlib
import inspect
import lzma
import pickle
from pathlib import Path

import numpy as np
import pytest

import cardan

# Written by the last version with 29 rooms, on 22 November 2026: {name: pickle}.
KEPT = pickle.loads(lzma.decompress(Path(__file__).with_name("earlier.pickles.xz").read_bytes()))
OLD = [joint for joint in cardan.joints.CATALOGUE if not isinstance(joint, cardan.joints.Coupled)]
MADE_NOW = {
    "mechanism": cardan.robots.quadruped,
    "loops": cardan.robots.stewart_platform,
    "model four_bar": lambda: cardan.robots.four_bar().model(),
    "function": lambda: cardan.inverse_dynamics,
    **{f"joint {type(joint).__name__}": lambda joint=joint: joint for joint in reversed(OLD)},
}


@pytest.mark.parametrize("name", MADE_NOW)
def test_what_was_pickled_equals_what_is_made_now(name):
    assert pickle.loads(KEPT[name]) == MADE_NOW[name]()


@pytest.mark.parametrize("name", sorted(set(KEPT) - set(MADE_NOW)))
def test_what_was_pickled_works(name, reference_target):
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


def test_earlier_paths_answer_for_no_file_of_their_own():
    """A module of one convention answered `__file__` by the function: then `inspect`, and `import torch`, failed."""
    drake = importlib.import_module("cardan.coordinates.peers.drake")

    assert callable(drake.convention)
    assert not hasattr(drake, "__file__")
    assert inspect.getmodule(test_earlier_paths_answer_for_no_file_of_their_own).__name__ == __name__


def test_classes_of_gym_and_readers_of_srdf_are_found_where_they_were():
    pytest.importorskip("gymnasium")
    for module, name, found in (
        ("gym.arm_reach", "ArmReach", cardan.gym.ArmReach),
        ("gym.single_world", "SingleWorld", cardan.gym.SingleWorld),
        ("gym.task", "Start", cardan.gym.Start),
        ("gym.vectorised", "VectorisedWorlds", cardan.gym.VectorisedWorlds),
        ("formats.srdf.contacts", "disabled_contacts", cardan.formats.disabled_contacts),
    ):
        assert pickle.loads(f"ccardan.{module}\n{name}\n.".encode()) is found
    assert "ArmReach" in cardan.gym.__all__
    assert set(dir(cardan.gym)) == set(cardan.gym.__all__)


def test_a_builder_of_an_earlier_version_goes_on():
    """It kept the inertias of bodies beside their mechanism."""
    builder = cardan.WorldBuilder()
    builder.add_body("ball")
    builder.add_shape("ball", cardan.description.Sphere(0.1))
    state = dict(vars(builder))
    state["_parts"] = cardan.Mechanism("world")
    state["_parts"].add_body("ball")
    for joint in state["_mechanism"].joints:
        state["_parts"].add_joint(joint.name, joint.joint, joint.parent, joint.child)
    state["_inertia"] = {body.name: body.inertia for body in state.pop("_mechanism").bodies}
    earlier = cardan.WorldBuilder.__new__(cardan.WorldBuilder)
    earlier.__setstate__(state)
    assert earlier.finalize().model.mass == builder.finalize().model.mass > 0.0
