"""Bodies of closed loops that move by themselves, beside what freedoms a mechanism has without them."""

import numpy as np
import pytest

import cardan
import linkages
from cardan._dynamics.algorithms.dependent import closed_places
from cardan._dynamics.functions.inner_freedoms import inner_freedoms
from cardan._reach.cli.check import clusters_of
from cardan.errors import MechanismError
from cardan.joints import Spherical, Universal


def with_joints(mechanism, old, new):
    """The same mechanism, with other joints in the place of those of a kind."""
    m = cardan.Mechanism(mechanism.name)
    for body in mechanism.bodies:
        m.add_body(body.name, body.inertia)
    for c in mechanism.joints:
        joint = new() if isinstance(c.joint, old) else c.joint
        m.add_joint(c.name, joint, c.parent, c.child, c.parent_pose, c.child_pose)
    return m


def inner(model):
    """Inner freedoms of a mechanism of which all joints are in loops."""
    return inner_freedoms(model, next(closed_places(model)))


pytestmark = pytest.mark.slow
RODS = {(f"rod{k}_{side}",) for k in range(3) for side in ("left", "right")}
LEGS = {(f"cylinder{k}", f"piston{k}") for k in range(1, 7)}


@pytest.mark.parametrize(("make", "bodies"), [(linkages.delta, RODS), (cardan.robots.stewart_platform, LEGS)])
def test_rods_and_legs_between_two_balls_turn_about_themselves(make, bodies):
    """A rod and a leg of a cylinder and a piston; a universal joint takes one freedom of each away."""
    held, loose = make().model(), with_joints(make(), Universal, Spherical).model()
    assert inner(held) == {}
    assert {tuple(sorted(names)): count for names, count in inner(loose).items()} == dict.fromkeys(bodies, 1)
    more = cardan.mobility(loose, cardan.assemble(loose)) - cardan.mobility(held, cardan.assemble(held))
    assert more == len(bodies) == 6


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_bodies_that_move_with_others_are_not_named(scale):
    made = (cardan.robots.four_bar, cardan.robots.five_bar, linkages.watt, linkages.peaucellier)
    for make in (*made, linkages.parallelogram, linkages.parallel_ankle, linkages.bennett):
        model = linkages.scaled(make(), scale).model()
        assert inner(model) == {}, model


def test_who_asks_for_clusters_is_told_which_rods_to_hold():
    """It was said that orientations should be independent as a whole, which no choice could have them."""
    balls = with_joints(linkages.delta(), Universal, Spherical).model()
    told = r"Inner freedoms: 6, of 'rod\d_\w+', .*A Universal joint in place of a ball"
    for independent in ((), ["motor0", "motor1", "motor2"]):
        with pytest.raises(MechanismError, match=told):
            cardan.clustered(balls, independent)
    assert any("Inner freedoms: 6" in line for line in clusters_of(balls))


def test_a_cluster_with_an_inner_freedom_is_told_so():
    """A sleeve on a rod that turns about it, between the rod and its ball: one freedom more than the ankle's two."""
    m = cardan.Mechanism("ankle")
    for body in (ankle := linkages.parallel_ankle()).bodies:
        m.add_body(body.name, body.inertia)
    m.add_body("sleeve", cardan.Inertia(0.1, (0.0, 0.0, -0.1), 1e-4 * np.eye(3)))
    for c in ankle.joints:
        parent = "sleeve" if c.name == "left_ball" else c.parent
        m.add_joint(c.name, c.joint, parent, c.child, c.parent_pose, c.child_pose)
    m.add_joint("turns", cardan.joints.Revolute(), "left_rod", "sleeve")
    assert cardan.clustered(m.model()).nv == 3
    assert [line for line in clusters_of(m.model()) if "Inner freedoms: 1, of 'sleeve'" in line]
