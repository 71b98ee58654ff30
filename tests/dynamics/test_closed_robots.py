"""Robots whose joints are not a tree's alone, beside analysis. Where each of them is shown:

four-bar, five-bar, Stewart platform   Pinocchio (test_closed_loops), Lagrange's equations (test_loops)
delta, Watt's and Peaucellier's        Pinocchio; a straight line (test_clusters)
hand with coupled fingers              Pinocchio (test_closed_loops)
humanoid, ankles and knees by rods     Pinocchio; clusters beside constraints (test_clusters)
excavator                              Pinocchio; clusters beside constraints; forces of its cylinders (here)
differential wrist                     here
car                                    test_user_constraints
"""

import math

import numpy as np
import pytest

import cardan
import linkages
from cardan.joints import Coupled, Linear, Revolute
from closeness import close

CYLINDERS = ("cylinder1", "cylinder2", "cylinder3")


@pytest.mark.slow
def test_cylinders_of_an_excavator_hold_what_triangles_say():
    """The boom rises, with all that it carries: dV / d(length of the cylinder), length by the law of cosines."""
    model = linkages.excavator().model()
    tree, rest, still = model.spanning_tree(), np.zeros(model.nv), np.zeros(model.nv)
    hold = cardan.constrained_inverse_dynamics(model, rest, still, still, actuated=("swing", *CYLINDERS))
    np.testing.assert_allclose(hold.unbalanced, 0.0, atol=1e-9)
    force = hold.efforts[tree.v_slice("cylinder1")][0]
    pivot, base, end = np.array([0.2, 0.1]), np.array([0.6, -0.2]), np.array([1.3, 1.2])
    carried = [b for b in model.body_names if b not in ("house", "barrel1", "rod1")]
    poses, g = dict(zip(model.body_names, cardan.forward_kinematics(tree, rest), strict=True)), 9.81
    own = {b: model.body(b).inertia for b in model.body_names}
    centres = {b: (poses[b] @ np.append(np.array(own[b].com), 1.0))[[0, 2]] for b in own}

    def energy(angle):
        c, s = math.cos(angle), math.sin(angle)
        turn = np.array([[c, -s], [s, c]])
        raised = sum(own[b].mass * (pivot + turn @ (centres[b] - pivot))[1] for b in carried)
        way = pivot + turn @ (end - pivot) - base
        length, first = np.linalg.norm(way), np.linalg.norm(end - base)
        along = way / length
        u, w = (end - base) / first, np.array([-(end - base)[1], (end - base)[0]]) / first
        for body, extra in (("barrel1", 0.0), ("rod1", length - first)):  # they turn with the cylinder
            x, y = (centres[body] - base) @ u + extra, (centres[body] - base) @ w
            raised += own[body].mass * (base + x * along + y * np.array([-along[1], along[0]]))[1]
        return g * raised, length

    h = 1e-5
    (up, long), (down, short) = energy(h), energy(-h)
    close(force, (up - down) / (long - short), 1e-8)


def test_a_differential_wrist():
    """Two motors on bevel gears: alike they pitch, against each other they roll; with rotors."""
    rotor, pitching, rolling = 0.02, 0.3, 0.1
    m = cardan.Mechanism("wrist")
    for name, moments in (
        ("left", (0.01, rotor, 0.01)),
        ("right", (0.01, rotor, 0.01)),
        ("cross", (0.05, 0.1, 0.05)),
        ("hand", (rolling, 0.2, 0.2)),
    ):
        m.add_body(name, cardan.Inertia(mass=1.0, com=(0.0, 0.0, 0.0), inertia=np.diag(moments)))
    for name in ("left", "right"):
        m.add_joint(f"{name}_motor", Revolute((0.0, 1.0, 0.0)), "world", name)
    by = ("left_motor", "right_motor")
    m.add_joint("pitch", Coupled(Revolute((0.0, 1.0, 0.0)), by, Linear([0.5, 0.5])), "world", "cross")
    m.add_joint("roll", Coupled(Revolute((1.0, 0.0, 0.0)), by, Linear([0.5, -0.5])), "cross", "hand")
    model = m.model()
    a, b = rotor + 0.25 * (pitching + rolling), 0.25 * (pitching - rolling)
    close(cardan.mass_matrix(model, [0.4, 0.4]), [[a, b], [b, a]], 1e-14)
    close(cardan.forward_dynamics(model, [0.4, 0.4], [0.0, 0.0], [1.0, 1.0]), 2 * [2.0 / (2 * rotor + pitching)], 1e-14)
    roll = cardan.forward_dynamics(model, [0.4, 0.4], [0.0, 0.0], [1.0, -1.0])
    close(roll, np.array([1.0, -1.0]) * 2.0 / (2 * rotor + rolling), 1e-14)
