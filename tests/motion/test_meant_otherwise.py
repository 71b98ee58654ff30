"""What newcomers ask for and is not what they mean: numbers that move nothing, and degrees for radians."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import cardan
from cardan import robots
from cardan.errors import StartWarning, UndrivenWarning

NO_DRIVE = "world 'arm7' has no drive"


def goes_by_position(control):
    control.position = np.ones(7)


def goes_in_place(control):
    control.velocity[:] = 1.0


def goes_by_view(control):
    control.world.view("arm7").set_targets(control, np.ones(7))


@pytest.mark.parametrize("asks", [goes_by_position, goes_in_place, goes_by_view])
def test_a_target_in_a_world_without_drives_is_warned_of(asks):
    """It moved nothing, and nothing said so."""
    with pytest.warns(UndrivenWarning, match=NO_DRIVE):
        asks(robots.arm7().world().control())


def test_a_target_of_a_drive_is_not_warned_of():
    driven = robots.arm7().with_drives({"joint3": cardan.Drive(0.0, 1.0)}).mechanism.world()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        goes_by_position(driven.control())
        assert (driven.control(2)[:1].position == driven.targets).all()


def test_a_velocity_of_a_kinematic_joint_is_not_warned_of():
    """It went at that velocity, and was said to go nowhere."""
    control = robots.arm7().world().with_kinematic("joint1").control()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        goes_in_place(control)
    with pytest.warns(UndrivenWarning, match=NO_DRIVE):
        goes_by_position(control)


def test_efforts_in_a_world_without_drives_are_not_warned_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        control = robots.arm7().world().control(worlds=2)
        control.effort = np.ones(7)
        assert (control.copy().effort == 1.0).all()


@pytest.mark.parametrize("tables", [False, True])
def test_degrees_written_into_a_state_are_warned_of_at_the_first_step(tables):
    """Only `world.state(q=...)` said so."""
    world = robots.quadruped().world("floating", ground=True) if tables else robots.arm7().world()
    solver, state = cardan.solvers.Featherstone(world, dt=0.001, tables=tables), world.state()
    state.q[:, -1] = 90.0
    with pytest.warns(StartWarning, match=r"beyond stops of joints: \w+ by [89]\d.* Angles are in radians"):
        following = solver.step(state)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solver.step(following)
        solver.step(world.state())


def test_a_joint_that_is_locked_at_degrees_is_warned_of():
    with pytest.warns(StartWarning, match=r"joint 'joint1' is locked 87.1 rad or m beyond its stops.*radians"):
        robots.arm7().model().lock({"joint1": 90})
    with pytest.warns(StartWarning, match="joint1"):
        robots.arm7().lock({"joint1": 90})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        robots.arm7().model().lock({"joint1": 2.9})
        robots.quadruped().model(base="floating").lock({"root": [0, 0, 9, 0, 0, 0, 1]})
