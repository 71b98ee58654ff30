"""Robots whose joints are not a tree's alone, beside analysis. Where each of them is shown:

four-bar, five-bar, Stewart platform   Pinocchio (test_closed_loops), Lagrange's equations (test_loops)
delta, Watt's and Peaucellier's        Pinocchio; a straight line (test_clusters)
hand with coupled fingers              Pinocchio (test_closed_loops)
humanoid, ankles and knees by rods     Pinocchio; clusters beside constraints (test_clusters)
its ankle, serial and true             here
excavator                              Pinocchio; clusters beside constraints; forces of its cylinders (here)
differential wrist                     here
car                                    test_user_constraints
"""

import math

import numpy as np
import pytest

import cardan
import linkages
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
    model = linkages.wrist(rotor, pitching, rolling).model()
    a, b = rotor + 0.25 * (pitching + rolling), 0.25 * (pitching - rolling)
    close(cardan.mass_matrix(model, [0.4, 0.4]), [[a, b], [b, a]], 1e-14)
    close(cardan.forward_dynamics(model, [0.4, 0.4], [0.0, 0.0], [1.0, 1.0]), 2 * [2.0 / (2 * rotor + pitching)], 1e-14)
    roll = cardan.forward_dynamics(model, [0.4, 0.4], [0.0, 0.0], [1.0, -1.0])
    close(roll, np.array([1.0, -1.0]) * 2.0 / (2 * rotor + rolling), 1e-14)


def load_on_the_toes(model, q):
    """The ground pushes the foot with 400 N upwards, 0.1 m before the ankle, 0.02 m to the left, 0.08 m below it."""
    foot = model.body_names.index("foot")
    R, p = np.array(cardan.forward_kinematics(model, q))[foot, :3, :3], np.array([0.1, 0.02, -0.08])
    force = R.T @ np.array([0.0, 0.0, 400.0])
    wrenches = np.zeros((len(model.body_names), 6))
    wrenches[foot] = [*force, *np.cross(p, force)]
    return wrenches


def serial_ankle():
    whole, m = linkages.parallel_ankle(), cardan.Mechanism("serial")
    for name in ("shank", "foot"):
        m.add_body(name, next(b.inertia for b in whole.bodies if b.name == name))
    (ankle,) = [c for c in whole.joints if c.name == "ankle"]
    m.add_joint(ankle.name, ankle.joint, ankle.parent, ankle.child, ankle.parent_pose, ankle.child_pose)
    return m.model()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pitch", "roll", "serial", "motors"),
    [  # N m, the table of docs/loops.md
        (-0.5, 0.0, (-8.00, 50.00), (27.42, 36.60)),
        (0.0, 0.0, (-8.00, 39.71), (14.95, 24.95)),
        (0.5, 0.0, (-8.00, 19.69), (3.72, 12.45)),
        (0.5, 0.15, (-14.90, 19.47), (0.06, 17.10)),
    ],
)
def test_efforts_of_a_serial_and_a_true_ankle(pitch, roll, serial, motors):
    """Virtual work: J^T of the motors' efforts are those of the ankle, J their rates by its own; rods weigh 0.2 N m."""
    loops, alone, still = linkages.parallel_ankle().model(), serial_ankle(), np.zeros(2)
    foot, driven = (cardan.clustered(loops, by) for by in (["ankle"], ["left_motor", "right_motor"]))
    to = cardan.converter(foot, driven)
    q = cardan.integrate(foot, foot.neutral(), [roll, pitch])
    there = to.configuration(q)
    efforts = cardan.inverse_dynamics(driven, there, still, still, load_on_the_toes(driven, there))
    of_foot = cardan.inverse_dynamics(foot, q, still, still, load_on_the_toes(foot, q))
    J = np.array([to.velocity(q, e) for e in np.eye(2)]).T
    close(J.T @ efforts, of_foot, 1e-12)
    at = np.array([roll, pitch])
    found = cardan.inverse_dynamics(alone, at, still, still, load_on_the_toes(alone, at))
    np.testing.assert_allclose(found, serial, atol=0.006)
    np.testing.assert_allclose(efforts, motors, atol=0.006)
    assert np.abs(of_foot - found).max() < 0.25
