"""Singular poses of loops that a search finds, beside geometry."""

import numpy as np
import pytest

import cardan
import linkages
from cardan._dynamics.functions.singular_poses import singular_poses


def found_in(mechanism, independent=(), limits=None):
    m = mechanism
    if limits is not None:
        m = cardan.Mechanism(mechanism.name)
        for body in mechanism.bodies:
            m.add_body(body.name, body.inertia)
        for c in mechanism.joints:
            m.add_joint(c.name, c.joint, c.parent, c.child, c.parent_pose, c.child_pose, limits=limits.get(c.name))
    model = m.model()
    joints = [c.joint for c in cardan.clustered(model, independent=independent).connections if c.joint.is_placed]
    return model, [pose for joint in joints if not joint.by for pose in singular_poses(joint.closed)]


def configuration(model, pose):
    return np.concatenate([pose.coordinates[name] for name in model.joint_names if name in pose.coordinates])


@pytest.mark.slow
def test_a_rocker_leads_no_further_where_crank_and_coupler_are_one_line():
    model, found = found_in(cardan.robots.four_bar(), ["rocker_joint"])
    assert {pose.what for pose in found} == {"the rest no longer follows from rocker_joint (a toggle)"}
    lengths = []
    for pose in found:
        q = configuration(model, pose)
        places = cardan.forward_kinematics(model.spanning_tree(), q)
        (closing,) = model.closures
        crank, coupler = (places[model.body_names.index(name)] for name in ("crank", "coupler"))
        end = coupler @ np.append(np.array(closing.parent_pose.translation), 1.0)
        if closing.parent != "coupler":
            end = coupler @ np.append(np.array(closing.child_pose.translation), 1.0)
        one, two = coupler[:3, 3] - crank[:3, 3], end[:3] - coupler[:3, 3]
        assert np.linalg.norm(np.cross(one, two)) < 1e-4 * np.linalg.norm(one) * np.linalg.norm(two)
        lengths.append(np.sign(one @ two))
    assert sorted(lengths) == [-1.0, 1.0]  # folded, and stretched
    assert found_in(cardan.robots.four_bar(), ["crank_joint"])[1] == []  # the crank goes round


@pytest.mark.slow
def test_dead_points_of_a_slider_and_a_parallelogram_that_lies_flat():
    model, found = found_in(linkages.slider_crank_of_bars(angle=0.8), ["slide"])
    turned = sorted(pose.coordinates["crank_joint"][0] for pose in found)
    np.testing.assert_allclose(turned, [-0.8, np.pi - 0.8], atol=1e-4)
    model, found = found_in(linkages.parallelogram(2))
    assert [pose.what for pose in found] == 2 * ["constraints lose rank"]
    for pose in found:
        assert pose.loops == ("high1",)
        q = configuration(model, pose)
        assert cardan.loop_rank(model, q, tolerance=1e-3) < cardan.loop_rank(model, model.neutral())
    near = {"low0": cardan.Limits([-1.0], [1.0])}
    assert found_in(linkages.parallelogram(2), limits=near)[1] == []


@pytest.mark.slow
def test_poses_of_a_robot_of_three_freedoms_are_singular():
    model, found = found_in(linkages.delta())
    (first, *_) = [c.joint for c in cardan.clustered(model).connections if c.joint.is_placed]
    dependent = [j for j in range(model.nv) if j not in first.closed.free]
    assert {pose.what for pose in found} >= {"constraints lose rank"}
    assert any("(a toggle)" in pose.what for pose in found)
    for pose in found:
        q = cardan.integrate(model, model.neutral(), configuration(model, pose))  # of balls, rotation vectors
        assert np.abs(cardan.loop_residual(model, q)).max() < 1e-8
        s = np.linalg.svd(cardan.loop_jacobian(model, q)[:, dependent], compute_uv=False)
        assert s[-1] < 1e-4 * s[0]
