"""What begins beyond its stops is told: degrees were taken for radians without a word."""

import numpy as np
import pytest

import cardan
from cardan.errors import ParameterError, StartWarning


def started(world, **given):
    with pytest.warns(StartWarning, match="beyond stops of joints.*radians") as caught:
        world.state(**given)
    return caught[0].message.things


@pytest.mark.filterwarnings("error")
def test_degrees_are_told_where_a_world_begins():
    """A joint with stops at 2.9 rad was at 90 rad, and a step threw it back at 174 rad/s."""
    world = cardan.robots.arm7().world()
    q = np.zeros((3, 7))
    q[2, 0] = 90.0
    assert started(world, worlds=3, q=q) == ("joint1",)
    world.state(q=np.zeros(7))
    world.state(q=world.model.upper)
    world.with_kinematic("joint1").state(worlds=3, q=q)  # whose stops do not count


@pytest.mark.filterwarnings("error")
def test_limits_of_each_world_are_those_that_count():
    world = cardan.robots.arm7().world().with_inputs("lower", "upper")
    q = np.full(7, 1.9)
    upper = np.tile(world.model.upper, (2, 1))
    world.state(worlds=2, q=q, upper=upper)
    upper[1, 3] = 1.0
    assert started(world, worlds=2, q=q, upper=upper) == ("joint4",)


def test_a_name_twice_in_a_list_of_a_view_is_refused():
    """One of the two was left out, and values for both did not fit."""
    world = cardan.robots.arm7().world()
    with pytest.raises(ParameterError, match="a list of names, each once"):
        world.view("*", joints=["joint1", "joint2", "joint1"])
    assert world.view("*", joints=["joint2", "joint1"]).joints == (("joint2", "joint1"),)


def test_a_geometry_that_is_none_is_named():
    builder = cardan.WorldBuilder()
    builder.add_body("crate")
    with pytest.raises(ParameterError, match=r"geometry of a shape of 'crate': got 'box', expected .*Box\("):
        builder.add_shape("crate", "box")
