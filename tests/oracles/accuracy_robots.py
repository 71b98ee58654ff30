"""The robots and states of `accuracy.py`: every joint between two others, at states of all kinds."""

import numpy as np

import cardan
from cardan import joints as J
from cardan._reach.verification.check import Samples
from cardan._reach.verification.laws import singularities
from cardan.joints import CATALOGUE, Mimic
from cardan.manifolds import MRP, SE3, Euclidean, UnitComplex, UnitQuaternion
from cardan.spatial.rotations import quaternion_xyzw_from_rotation_vector
from mechanisms import random_inertia, random_pose

KINDS = ("regular", "near", "singular", "special", "far")
DISTANCES = (1e-3, 1e-6, 1e-9)
FAR = 1e3


def case_joints():
    """Every joint of the catalogue, by a name for the table."""
    found = {}
    for joint in CATALOGUE:
        name = type(joint).__name__
        if isinstance(joint, J.UnboundedRevolute):
            name, joint = f"{name} {joint.order}", replaced_axis(joint)
        elif isinstance(joint, J.Reversed):
            name = f"Reversed {type(joint.joint).__name__}"
        found[name] = Mimic(joint.joint, "first", joint.multiplier, joint.offset) if isinstance(joint, Mimic) else joint
    return found


def replaced_axis(joint):
    """Pinocchio's unbounded joint can only be made about a coordinate axis."""
    return J.UnboundedRevolute((0.0, 0.0, 1.0)) if joint.order == "cos_sin" else joint


def singular_configurations(joint, count=2):
    """Some, with multiples of pi / 2 made exact; the coordinates that do not matter are taken at random."""
    found, rng = [], np.random.default_rng(1)
    for s in singularities(joint, Samples(joint, 12))[:count]:
        q = np.array(s.q)
        turns = np.round(q / (np.pi / 2))
        if joint.nq == joint.nv:
            q = np.where(np.abs(q - turns * np.pi / 2) < 1e-6, turns * np.pi / 2, q)
            q[list(s.free)] += rng.normal(size=joint.nv)[list(s.free)]
        found.append(q)
    return found


def special_configurations(joint):
    """Where charts and formulas change: the neutral one, half a turn, where a series ends."""
    found = [np.array(joint.neutral())]
    half_turn = quaternion_xyzw_from_rotation_vector(tuple(np.pi * np.array([0.36, 0.48, 0.8])))
    manifold = joint.manifold
    if isinstance(manifold, UnitQuaternion):
        found.append(np.array(half_turn))
    elif isinstance(manifold, SE3):
        orientation = manifold.orientation.from_quaternion_xyzw(half_turn)
        found.append(np.array([0.3, -0.2, 0.5, *map(float, orientation)]))
    elif isinstance(manifold, UnitComplex):
        found.append(-np.array(joint.neutral()))
    elif isinstance(joint, J.Planar):
        found.append(np.array([0.4, -0.3, -1.0, 0.0]))
    return found


def far_configurations(joint, rng):
    """Coordinates of a thousand radians, metres or units."""
    manifold = joint.manifold
    far = joint.random_configuration(seed=5)
    away = FAR * rng.uniform(0.5, 1.0, size=joint.nq) * rng.choice([-1.0, 1.0], size=joint.nq)
    if isinstance(manifold, Euclidean):
        return [far + away]
    if isinstance(manifold, SE3):
        keep = 6 if isinstance(manifold.orientation, MRP) else 3
        far[:keep] += away[:keep]
        return [far]
    if joint.nq > joint.nv and isinstance(joint, J.Planar):
        far[:2] += away[:2]
        return [far]
    if isinstance(joint, J.PlanarAngle):
        return [far + away]
    return []


def configurations(joint, regular=3):
    """(kind, distance to what is singular or special, q of the joint).

    A state of each kind, the first ones, if `regular` is 1.
    """
    rng = np.random.default_rng(7)
    found = [("regular", None, q) for q in joint.random_configuration((regular,), seed=3)]
    singular, special = singular_configurations(joint), special_configurations(joint)
    found += [("singular", 0.0, q) for q in singular] + [("special", 0.0, q) for q in special]
    series = [np.array([0.1, 1.2, 1.6])] if isinstance(joint, J.Cable) else []  # ends at |bend| = 2, to the 17th digit
    for around in [*singular[:1], *special, *series]:
        for distance in DISTANCES:
            u = rng.normal(size=joint.nv)
            step = distance * u / max(float(np.linalg.norm(u)), 1e-300)
            found.append(("near", distance, np.array([float(e) for e in joint.integrate(tuple(around), tuple(step))])))
    found += [("far", None, q) for q in far_configurations(joint, rng)]
    if regular == 1:
        usual = [s for s in found if s[0] != "near" or s[1] == DISTANCES[1]]
        kinds = [kind for kind, _, _ in usual]
        return [s for k, s in enumerate(usual) if kinds.index(s[0]) == k]
    return found


class Robot:
    """A chain of a revolute joint, the joint, and another revolute joint, and its states."""

    def __init__(self, name, joint, regular=3, second=3):
        rng = np.random.default_rng(abs(hash_of(name)))
        self.name, self.joint = name, joint
        chain = (J.Revolute((0.48, 0.6, 0.64)), joint, J.Revolute((0.36, -0.48, 0.8)))
        m = self.mechanism = cardan.Mechanism("chain")
        parent = "world"
        for body, one in zip(("first", "second", "third"), chain, strict=True):
            m.add_body(body, random_inertia(rng))
            rotor = () if isinstance(one, Mimic) else rng.uniform(0.02, 0.1, size=one.nv)
            P, C = random_pose(rng), random_pose(rng)
            m.add_joint(body, one, parent, body, P, C, armature=None if isinstance(one, Mimic) else rotor)
            parent = body
        self.model = m.model()
        nv, states = self.model.nv, configurations(joint, regular)
        self.kinds, self.distances = [s[0] for s in states], [s[1] for s in states]
        ends = rng.uniform(-np.pi, np.pi, size=(len(states), 2))
        self.q = np.array([self._whole(own, end) for (_, _, own), end in zip(states, ends, strict=True)])
        self.v, self.a, self.direction = rng.normal(size=(3, len(states), nv))
        mimic = isinstance(joint, Mimic)  # which reads the first joint's coordinates
        self.own_q, self.own_v = (slice(0, 1),) * 2 if mimic else (slice(1, -1),) * 2
        self.weights = np.random.default_rng(11).normal(size=(len(states), nv))
        self.wrenches = rng.normal(size=(len(states), len(self.model.body_names), 6))
        self.tau = np.zeros((len(states), nv))
        self.twice = self._some_of_each(second)

    def _whole(self, own, end):
        if isinstance(self.joint, Mimic):
            return [float(own[0]), end[1]]
        return [end[0], *own, end[1]]

    def _some_of_each(self, count):
        """The states at which second derivatives are compared."""
        near = [i for i, d in enumerate(self.distances) if d in DISTANCES[1:2]]
        return sorted({0, *(self.kinds.index(k) for k in KINDS if k in self.kinds), *near[:1]})[: count + 2]


def hash_of(name):
    return sum(ord(c) * (k + 1) for k, c in enumerate(name))
