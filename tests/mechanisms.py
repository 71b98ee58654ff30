"""Random mechanisms for the laws: every joint type, awkward poses on both sides, asymmetric inertias."""

import numpy as np

from cardan import Inertia, Limits, Mechanism, Model, Motion
from cardan._robot.joints.catalogue.of_another import renamed_primaries
from cardan.joints import CATALOGUE
from cardan.spatial import exp_se3


def random_pose(rng):
    return exp_se3(Motion(0.4 * rng.normal(size=3), rng.normal(size=3)))


def random_inertia(rng):
    """A body's inertia that a real density could have: principal moments obey the triangle inequality."""
    second_moments = 0.02 * rng.uniform(0.2, 1.0, size=3)
    axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    moments = second_moments.sum() - second_moments
    return Inertia(float(rng.uniform(0.5, 2.0)), 0.2 * rng.normal(size=3), axes @ np.diag(moments) @ axes.T)


def random_mechanism(seed, joints=CATALOGUE, *, primary=None, armature=True, chain=False, inwards=False):
    """A tree in which every joint of `joints` occurs once; mimics copy the first joint with one angle.

    Joints are listed outwards, or `inwards`: then coordinates come before those that carry them.
    """
    rng = np.random.default_rng(seed)
    order = [joints[k] for k in rng.permutation(len(joints))]
    order.sort(key=lambda joint: bool(joint.primaries))  # so that the primary is there
    primary = primary or next((f"joint{k}" for k, j in enumerate(order) if type(j).__name__ == "Revolute"), None)
    m, listed = Mechanism(f"random{seed}"), []
    m.add_body("body", random_inertia(rng))
    for k, joint in enumerate(order):
        if joint.primaries:
            if primary is None:
                continue
            joint = renamed_primaries(joint, lambda _: primary)
        m.add_body(f"body{k}", random_inertia(rng))
        parent = rng.integers(-1, k) if not chain else k - 1
        rotor = rng.uniform(0.01, 0.1, size=joint.nv) if armature else None
        own = (
            f"joint{k}",
            joint,
            "body" if parent < 0 else f"body{parent}",
            f"body{k}",
            random_pose(rng),
            random_pose(rng),
        )
        listed.append((own, {"armature": rotor, "damping": rng.uniform(0.0, 0.2, size=joint.nv), "limits": Limits()}))
        m.add_frame(f"frame{k}", f"body{k}", random_pose(rng))
    for own, options in reversed(listed) if inwards else listed:
        m.add_joint(*own, **options)
    return m


def random_model(seed, *, base="floating", **options) -> Model:
    return random_mechanism(seed, **options).model(base=base)


def random_state(model, seed, shape=()):
    """Configuration, velocity, acceleration."""
    rng = np.random.default_rng(seed)
    size = (*shape, model.nv)
    return model.random_configuration(shape, seed=seed), rng.normal(size=size), rng.normal(size=size)


def central_difference(function, h=1e-6):
    """d function(s)/ds at s = 0."""
    return (function(h) - function(-h)) / (2.0 * h)


def times(matrix, vector):
    return np.einsum("...ij,...j->...i", matrix, vector)
