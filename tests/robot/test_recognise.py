"""A hinge is a hinge, whoever wrote it: found from what the transform is, exactly."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import cardan
from cardan import SE3, Inertia, Mechanism, Motion
from cardan._robot.joints.recognise import hinge_of
from cardan.joints import Helical, Mimic, Prismatic, Reversed, Revolute, UnboundedRevolute
from cardan.manifolds import Euclidean
from cardan.spatial.rotations import matrix_from_quaternion_xyzw, matrix_from_zyx, rotation_about_axis
from representatives import represented

AXIS = (0.36, 0.48, 0.8)
TILTED = SE3(matrix_from_zyx((0.3, -0.5, 0.8)), (0.1, -0.2, 0.3))
BEHIND = SE3(matrix_from_zyx((1.3, 0.2, -0.4)), (0.4, 0.1, -0.2))


class User(cardan.Joint):
    manifold = Euclidean(1)

    def __init__(self, f):
        self.f = f

    def transform(self, q):
        return self.f(q[0])


def by_numpy(q):
    R = np.array([[np.cos(q), 0, np.sin(q)], [0, 1, 0], [-np.sin(q), 0, np.cos(q)]])
    return SE3(R, R @ np.array([0.0, 0.0, 0.05]))


def by_quaternion(q):
    c, s = cardan.cos(0.5 * q), cardan.sin(0.5 * q)
    return SE3(matrix_from_quaternion_xyzw((*(s * e for e in AXIS), c)))


def turning(q):
    return SE3(rotation_about_axis(AXIS, q))


def sliding(q):
    return SE3(translation=tuple(q * e for e in AXIS))


HINGES = {
    "about z": (lambda q: SE3(rotation_about_axis((0.0, 0.0, 1.0), q)), Revolute),
    "oblique": (turning, Revolute),
    "by numpy, off the origin": (by_numpy, Revolute),
    "by a quaternion": (by_quaternion, Revolute),
    "with a zero elsewhere": (lambda q: SE3(rotation_about_axis(AXIS, q + 0.4)), Revolute),
    "counted backwards": (lambda q: SE3(rotation_about_axis(AXIS, -q)), Revolute),
    "between poses": (lambda q: TILTED @ turning(q) @ BEHIND, Revolute),
    "its inverse": (lambda q: (TILTED @ turning(q) @ BEHIND).inverse(), Revolute),
    "in two parts": (lambda q: turning(0.25 * q) @ turning(0.75 * q), Revolute),
    "slide": (sliding, Prismatic),
    "slide between poses": (lambda q: TILTED @ sliding(q) @ BEHIND, Prismatic),
    "screw": (lambda q: turning(q) @ sliding(0.1 * q), Helical),
    "screw between poses": (lambda q: TILTED @ turning(q) @ sliding(-0.3 * q) @ BEHIND, Helical),
}


def entries(X):
    return np.array([*X.rotation.entries(), *X.translation], dtype=float)


@pytest.mark.parametrize("name", HINGES)
def test_what_turns_or_slides_is_found_with_its_frames(name):
    f, kind = HINGES[name]
    for joint, pose in ((User(f), f), (Reversed(User(f)), lambda q: f(q).inverse())):
        hinge = hinge_of(joint)
        assert hinge is not None
        assert type(hinge.joint) is kind
        for q in (-1e3, -2.0, 0.0, 0.7, 40.0):
            X = hinge.before @ hinge.joint.transform((q,)) @ hinge.after
            np.testing.assert_allclose(entries(X), entries(pose(q)), atol=3e-15 * (1.0 + abs(q)))


OTHERS = {
    "twice as fast": lambda q: SE3(rotation_about_axis(AXIS, 2.0 * q)),
    "a cam": lambda q: SE3(translation=(0.0, 0.0, cardan.sin(q))),
    "sampled like a slide at whole numbers": lambda q: SE3(translation=(0.0, 0.0, q + cardan.sin(2.0 * np.pi * q))),
    "jumps, S constant": lambda q: SE3(translation=(0.0, 0.0, q - cardan.floor(q))),
    "wraps, S constant": lambda q: SE3(translation=(0.0, 0.0, cardan.atan2(cardan.sin(q), cardan.cos(q)))),
    "chooses, S constant": lambda q: SE3(translation=(0.0, 0.0, cardan.where(q > 2.0, q + 1.0, q))),
    "a detent far away": lambda q: SE3(translation=(0.0, 0.0, q + 0.01 * cardan.exp(-(((q - 9.0) * 20.0) ** 2)))),
    "wobbles by a nanometre": lambda q: SE3(rotation_about_axis(AXIS, q), (0.0, 0.0, 1e-9 * cardan.sin(q))),
    "wobbles by an attometre times 1e5": lambda q: SE3(rotation_about_axis(AXIS, q), (0.0, 0.0, 1e-13 * cardan.sin(q))),
    "turns with a slip": lambda q: SE3(rotation_about_axis(AXIS, q + 1e-9 * cardan.sin(q))),
    "rolls": lambda q: SE3(rotation_about_axis((0.0, 1.0, 0.0), 2.5 * q), (cardan.sin(q), 0.0, cardan.cos(q))),
    "wobbles by 10 nm, 6400 km from the origin": lambda q: SE3(translation=(q, 1e-8 * cardan.sin(5.0 * q), 6.4e6)),
    "falls off at 1e8": lambda q: SE3(rotation_about_axis(AXIS, q), (1e16 / (1e16 + q * q), 0.0, 0.0)),
    "grows at 3e7": lambda q: SE3(rotation_about_axis(AXIS, q), (cardan.sqrt(1.0 + 1e-15 * q * q), 0.0, 0.0)),
    "a constant": lambda q: SE3(),
    "not defined at 0": lambda q: SE3(translation=(0.0, 0.0, q * q / q)),
}


@pytest.mark.parametrize("name", OTHERS)
def test_nothing_else_is_taken_for_a_hinge(name):
    assert hinge_of(User(OTHERS[name])) is None


class Broken(Revolute):
    """Below a class that ships, with another transform."""

    def transform(self, q):
        return SE3(rotation_about_axis(self.axis, q[0]), (0.0, 0.0, cardan.sin(q[0])))


class WrongSubspace(User):
    def motion_subspace(self, q):
        return [Motion((0.0, 0.0, 0.0), tuple(-e for e in AXIS))]


class OwnSubspace(User):
    def motion_subspace(self, q):
        return [Motion((0.0, 0.0, 0.0), AXIS)]


class WrongBias(OwnSubspace):
    def bias(self, q, v):
        return Motion((0.0, 0.0, v[0] * v[0]), (0.0, 0.0, 0.0))


class OtherRates(Euclidean):
    def velocity_to_configuration_derivative(self, q, v):
        return tuple(2.0 * e for e in v)


class WrongRates(User):
    manifold = OtherRates(1)


def test_no_closed_form_of_the_users_is_trusted_without_proof():
    assert hinge_of(OwnSubspace(turning)) is not None
    for joint in (WrongSubspace(turning), WrongBias(turning), WrongRates(turning), Broken(AXIS)):
        assert hinge_of(joint) is None
    assert hinge_of(Revolute(AXIS)).joint == Revolute(AXIS)
    assert hinge_of(UnboundedRevolute(AXIS)) is None  # its coordinates are two


class Cam(Revolute):
    """Below a class that ships, and something else altogether."""

    motion_subspace, bias = cardan.Joint.motion_subspace, cardan.Joint.bias

    def transform(self, q):
        return SE3(translation=(0.0, 0.0, cardan.sin(q[0])))


def test_a_class_below_revolute_that_moves_otherwise_moves_as_it_says():
    m = Mechanism("m")
    m.add_body("b", Inertia(1.0, (0.1, 0.2, 0.3), np.diag([0.1, 0.2, 0.25])))
    m.add_joint("j", Cam((0.0, 0.0, 1.0)), "world", "b")
    np.testing.assert_allclose(cardan.gravity_forces(m.model(), [0.3]), 9.81 * np.cos(0.3))
    np.testing.assert_allclose(cardan.mass_matrix(m.model(), [0.3]), np.cos(0.3) ** 2)


# --- what comes of it --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MyHinge(cardan.Joint):
    axis: Any
    start: SE3 = field(default_factory=SE3.identity)
    manifold = Euclidean(1)

    def transform(self, q):
        return self.start @ SE3(rotation_about_axis(self.axis, q[0]))


def rebuilt(mechanism, change):
    """Return a mechanism with other joints: `change(joint, parent_pose)` returns a joint and its pose."""
    twin = Mechanism(mechanism.name)
    for body in mechanism.bodies:
        twin.add_body(body.name, body.inertia)
    for c in mechanism.joints:
        joint, pose = change(c.joint, c.parent_pose)
        drive = {"limits": c.limits, "armature": c.armature, "damping": c.damping, "friction": c.friction}
        twin.add_joint(c.name, joint, c.parent, c.child, pose, c.child_pose, **drive)
    return twin


CHANGES = {
    "own": lambda j, X: (MyHinge(j.axis), X) if type(j) is Revolute else (j, X),
    "with the pose in it": lambda j, X: (MyHinge(j.axis, X), None) if type(j) is Revolute else (j, X),
}


ROBOTS = [("arm7", "fixed"), ("quadruped", "floating"), ("humanoid", "floating")]


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize(("robot", "base"), represented(ROBOTS, by=lambda case: case[0] != "humanoid"))
def test_a_users_hinge_costs_what_a_revolute_costs_to_the_bit(robot, base, change):
    mechanism = getattr(cardan.robots, robot)()
    ours, theirs = mechanism.model(base=base), rebuilt(mechanism, CHANGES[change]).model(base=base)
    q = ours.random_configuration((3,), seed=1)
    v, a = np.random.default_rng(0).normal(size=(2, 3, ours.nv))
    for function, arrays in (
        (cardan.inverse_dynamics, (q, v, a)),
        (cardan.forward_dynamics, (q, v, a)),
        (cardan.mass_matrix, (q,)),
    ):
        assert function.program(theirs).operations == function.program(ours).operations
        np.testing.assert_array_equal(function(theirs, *arrays), function(ours, *arrays))


@pytest.mark.slow
def test_a_users_hinge_is_written_as_urdf():
    m = Mechanism("arm")
    for name in ("a", "b", "c", "d"):
        m.add_body(name, Inertia(1.0, (0.1, 0.0, 0.2), np.diag([0.1, 0.2, 0.25])))
    m.add_joint("ab", MyHinge(AXIS, TILTED), "a", "b", BEHIND, TILTED, limits=cardan.Limits([-1.0], [2.0]))
    m.add_joint("cb", User(lambda q: TILTED @ sliding(q) @ BEHIND), "c", "b", limits=cardan.Limits([-1.0], [2.0]))
    m.add_joint("cd", Mimic(MyHinge(AXIS), "ab", 2.0, 0.1), "c", "d", TILTED)
    with pytest.warns(cardan.errors.DescriptionWarning, match="the frames of 'b' moved"):
        back = cardan.load_mechanism(cardan.to_urdf(m))
    assert [type(c.joint) for c in back.joints] == [Revolute, Prismatic, Mimic]
    ours, theirs = (x.model(root="a", base="fixed") for x in (m, back))
    q = ours.random_configuration((4,), seed=0)
    np.testing.assert_allclose(
        cardan.inverse_dynamics(theirs, q, q, q), cardan.inverse_dynamics(ours, q, q, q), atol=1e-12
    )
    with pytest.raises(cardan.errors.UnsupportedError, match="URDF cannot take joint 'ab', User"):
        cardan.to_urdf(rebuilt(m, lambda j, X: (User(lambda q: SE3(translation=(0, 0, cardan.sin(q)))), X)))
