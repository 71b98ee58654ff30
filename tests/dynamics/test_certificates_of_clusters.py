"""Joints of clusters pass all checks of a joint (`verify_joint`), within the range in which their loops close."""

import pytest

import cardan
import linkages
from cardan._dynamics.algorithms.cluster import ClusterMember

CLUSTERS = {
    "four_bar": cardan.robots.four_bar,
    "five_bar": cardan.robots.five_bar,
    "watt": linkages.watt,
    "peaucellier": linkages.peaucellier,
    "excavator": linkages.excavator,
    "ankle": linkages.parallel_ankle,
    "slider_crank": linkages.slider_crank_of_bars,
    "parallelogram": linkages.parallelogram,
    "bennett": linkages.bennett,
    "delta": linkages.delta,
    "stewart": cardan.robots.stewart_platform,
    "cassie": linkages.leg,
    "leg": linkages.leg_with_ankle,
    "humanoid": linkages.humanoid_with_ankles,
    "scissor": lambda: linkages.scissor(10),
}


@pytest.mark.full
@pytest.mark.parametrize("name", CLUSTERS)
def test_joints_of_a_cluster_pass(name):
    """Of each kind of cluster the joint that has the coordinates, and the last one of those that follow."""
    model = cardan.clustered(CLUSTERS[name]().model())
    moving = [c for c in model.connections if isinstance(c.joint, ClusterMember) and c.joint.nv]
    kinds = {c.joint.closed.plain(): c for c in moving if not c.joint.primaries}
    for first in kinds.values():
        last = [c for c in moving if c.joint.primaries == (first.name,)][-1]
        for c in (first, last):
            found = cardan.verify_joint(c.joint, samples=4)
            assert found.passed, (c.name, str(found))
