"""One mechanism rooted at every body: how far the physics differs. `python tests/rerooting.py` prints the table.

Everything is computed by the algorithms on plain floats, so that nothing is compiled for any root.
"""

import sys

import numpy as np

import cardan
from cardan import joints, load_mechanism
from cardan._dynamics.algorithms.kinematics import Kinematics
from cardan._dynamics.coordinates import model_converter as paths
from cardan.joints import CATALOGUE
from cardan.manifolds import Euclidean
from cardan.spatial import SE3
from cardan.spatial.rotations import matrix_from_xyz
from mechanisms import random_mechanism
from robots_data import urdf_files


class Bowl(joints.Joint):
    """A joint of a user: the child rolls in a bowl, written by its transform alone."""

    manifold = Euclidean(2)

    def __init__(self, radius=0.4):
        self.radius = radius

    def transform(self, q):
        R = matrix_from_xyz((q[0], q[1], 0.3 * q[0] * q[1]))
        return SE3(R, (self.radius, 0.5 * self.radius, self.radius) * R[:, 2])


QUANTITIES = (
    "body poses", "body twists", "kinetic energy", "potential energy", "centre of mass", "mass matrix congruence",
    "accelerations (ABA)", "body accelerations", "efforts, from RNEA", "round trip of q", "round trip of v, a, tau",
)  # fmt: skip


def state(model, seed):
    rng = np.random.default_rng(seed)
    return model.random_configuration(seed=seed).tolist(), *rng.normal(size=(3, model.nv)).tolist()


def described(model, q, v, a):
    """What does not depend on the root, in the world."""
    k = Kinematics(model, q, v, a)
    frames = sorted(model.frame_names)
    return {
        "body poses": [k.pose(f).homogeneous() for f in frames],
        "body twists": [k.twist(f).scalars() for f in frames],
        "body accelerations": [k.acceleration(f).scalars() for f in frames],
        "kinetic energy": cardan.kinetic_energy.kernel(model, q, v),
        "potential energy": cardan.potential_energy.kernel(model, q),
        "centre of mass": cardan.center_of_mass.kernel(model, q),
    }


def relative(a, b):
    """Largest difference over the largest value, but at least 1."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    return float(np.abs(a - b).max(initial=0.0) / max(1.0, np.abs(a).max(initial=0.0)))


def compare(a, b, seed):
    """Return the worst relative difference of each quantity between two models of a mechanism."""
    q, v, tau, _ = state(a, seed)
    M = np.array(cardan.mass_matrix.kernel(a, q), dtype=float)
    acc = cardan.forward_dynamics.kernel(a, q, v, tau)
    q_b, v_b = paths.converted_configuration(a, b, q), paths.converted_velocity(a, b, q, v)
    acc_b, tau_b = paths.converted_acceleration(a, b, q, v, acc), paths.converted_effort(a, b, q, tau)
    M_b = np.array(cardan.mass_matrix.kernel(b, q_b), dtype=float)
    G = np.array([paths.converted_velocity(a, b, q, e) for e in np.eye(a.nv).tolist()], dtype=float).T
    ours, theirs = described(a, q, v, acc), described(b, q_b, v_b, acc_b)
    errors = {name: relative(ours[name], theirs[name]) for name in ours}
    errors["mass matrix congruence"] = relative(M, G.T @ M_b @ G)
    errors["accelerations (ABA)"] = relative(acc_b, cardan.forward_dynamics.kernel(b, q_b, v_b, tau_b))
    errors["efforts, from RNEA"] = relative(tau_b, cardan.inverse_dynamics.kernel(b, q_b, v_b, acc_b))
    back = paths.converted_configuration(b, a, q_b)
    errors["round trip of q"] = relative(np.zeros(a.nv), a.manifold.difference(q, back))
    backs = [
        paths.converted_velocity(b, a, q_b, v_b),
        paths.converted_acceleration(b, a, q_b, v_b, acc_b),
        paths.converted_effort(b, a, q_b, tau_b),
    ]
    errors["round trip of v, a, tau"] = max(map(relative, (v, acc, tau), backs))
    return errors


def worst(mechanism, roots, seed=0):
    """Return the worst differences between the first body as the root and all roots given."""
    first = mechanism.model(root=mechanism.bodies[0].name, base="floating")
    total = dict.fromkeys(QUANTITIES, 0.0)
    for root in roots:
        for name, error in compare(first, mechanism.model(root=root, base="floating"), seed).items():
            total[name] = max(total[name], error)
    return total


def small_mechanisms(count):
    """Random mechanisms of eight joints each: all types of the catalogue and a user's joint come round."""
    kinds = [*CATALOGUE, Bowl()]
    for seed in range(count):
        some = [kinds[(seed * 7 + 3 * k) % len(kinds)] for k in range(7)]
        yield random_mechanism(seed, joints=[joints.Revolute(axis=(0.0, 0.6, 0.8)), *some])


ROBOTS = (
    "a1", "allegro_left_hand", "anymal-kinova", "bolt", "borinot_flying_arm_2", "b1-z1", "g1_29dof_rev_1_0", "go2",
    "hyq_no_sensors", "icub_reduced", "kinova", "laikago", "panda", "romeo_small", "simple_humanoid", "so101", "solo12",
    "talos_reduced", "tiago", "ur5_robot",
)  # fmt: skip


def robots(names=ROBOTS):
    """Mechanisms of real robots, by name."""
    files = {file.stem: file for file in urdf_files()}
    for name in names:
        yield name, load_mechanism(files[name], on_inertia="ignore")


def main(count=200):
    rows, total, models = {}, dict.fromkeys(QUANTITIES, 0.0), 0
    for k, mechanism in enumerate(small_mechanisms(count)):
        names = [b.name for b in mechanism.bodies]
        found = worst(mechanism, names, seed=k)
        models += len(names)
        total = {n: max(total[n], found[n]) for n in total}
    rows[f"{count} random mechanisms, {models} roots"] = total
    for name, mechanism in robots():
        roots = [b.name for b in mechanism.bodies]
        rows[f"{name}, {len(roots)} roots"] = worst(mechanism, roots)
    print("| mechanism | " + " | ".join(QUANTITIES) + " |")
    print("|---" * (len(QUANTITIES) + 1) + "|")
    for name, found in rows.items():
        print(f"| {name} | " + " | ".join(f"{found[q]:.1e}" for q in QUANTITIES) + " |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
