"""Files list joints in any order: results are the same, and elimination goes along the tree all the same."""

import numpy as np
import pytest

import cardan
from cardan.joints import FreeFlyer, Mimic, Spherical
from closeness import close


def dog(base_first, loops=(), mimic=False):
    source, m = cardan.robots.quadruped(), cardan.Mechanism("dog")
    for body in source.bodies:
        m.add_body(body.name, body.inertia)
    if base_first:
        m.add_joint("base", FreeFlyer(), "world", "trunk")
    for c in source.joints:
        joint = Mimic(c.joint, "rear_left_shank_joint") if mimic and c.name == "rear_right_shank_joint" else c.joint
        m.add_joint(c.name, joint, c.parent, c.child, c.parent_pose, c.child_pose)
    if not base_first:
        m.add_joint("base", FreeFlyer(), "world", "trunk")
    for leg in loops:
        m.add_joint(f"{leg}_holds", Spherical(), "world", f"{leg}_foot")
    return m.model(closing=[f"{leg}_holds" for leg in loops])


def both(**options):
    """The robot with its base first, and last; and where the entries of the second's v are in the first's."""
    first, last = dog(True, **options), dog(False, **options)
    order = [i for c in last.connections for i in range(first.nv)[first.v_slice(c.name)]]
    q = first.random_configuration(seed=0)
    return first, last, order, q, cardan.converter(first, last).configuration(q)


@pytest.mark.slow
def test_elimination_goes_along_the_tree():
    first, last, order, q, q_last = both(loops=("front_left", "rear_right"))
    v, tau = np.random.default_rng(0).normal(size=(2, first.nv))
    a = cardan.constrained_forward_dynamics(first, q, v, tau).accelerations
    close(cardan.constrained_forward_dynamics(last, q_last, v[order], tau[order]).accelerations, a[order], 1e-9)
    one, other = (cardan.constrained_forward_dynamics.program(model).operations for model in (first, last))
    assert other < 1.1 * one  # 2.1 times as many where v says the order


@pytest.mark.full
def test_derivatives_do_not_depend_on_the_order():
    first, last, order, q, q_last = both()
    v, tau, weights = np.random.default_rng(1).normal(size=(3, first.nv))
    square = np.ix_(order, order)
    for function, more in ((cardan.forward_dynamics_derivatives, []), (cardan.forward_dynamics_hessian, [weights])):
        one = function(first, q, v, tau, *more)
        other = function(last, q_last, v[order], tau[order], *(w[order] for w in more))
        for a, b in zip(one, other, strict=True):
            close(b, a[square], 1e-9)
    close(cardan.mass_matrix_inverse(last, q_last), cardan.mass_matrix_inverse(first, q)[square], 1e-9)


@pytest.mark.slow
def test_mimics_of_a_robot_whose_base_is_last():
    first, last, order, q, q_last = both(mimic=True)
    v, tau = np.random.default_rng(2).normal(size=(2, first.nv))
    a = cardan.forward_dynamics(first, q, v, tau)
    close(cardan.forward_dynamics(last, q_last, v[order], tau[order]), a[order], 1e-9)
    close(cardan.mass_matrix_inverse(last, q_last), cardan.mass_matrix_inverse(first, q)[np.ix_(order, order)], 1e-9)
