"""Two robots at random states: how far their mass matrices and bias forces are apart, whatever their frames are."""

import numpy as np

import cardan

STATES, SEED = 3, 5
M_OF, H_OF = (function.on(target="numpy") for function in (cardan.mass_matrix, cardan.bias_forces))


def states_apart(a, b):
    """Return the largest relative difference of two mechanisms with the same joints; 0 if they have others."""
    moving = [{c.name for c in m.joints if c.joint.nv} for m in (a, b)]
    if moving[0] != moving[1] or {body.name for body in a.bodies} != {body.name for body in b.bodies}:
        return 0.0
    try:  # floating, where both can: a body fixed on the world would have no influence
        one, two = (m.model(base="floating") for m in (a, b))
    except cardan.errors.MechanismError:
        one, two = a.model(), b.model()
    q, v = one.random_configuration(STATES, seed=SEED), np.random.default_rng(SEED).normal(size=(STATES, one.nv))
    r, w = states_of(one, two, q, v)
    order = [k for name in moving_joints(one) for k in range(two.nv)[two.v_slice(name)]]
    M, N = M_OF(one, q), M_OF(two, r)[:, order][:, :, order]
    h, k = H_OF(one, q, v), H_OF(two, r, w)[:, order]
    pairs = ((M, N), (h, k))
    return max(float(np.abs(x - y).max(initial=0.0) / max(np.abs(x).max(initial=0.0), 1e-12)) for x, y in pairs)


def states_of(one, two, q, v):
    """Return the same states of the second model: by the joints' names; where coordinates are others, by converting."""
    same = {c.name: type(c.joint) for c in one.connections} == {c.name: type(c.joint) for c in two.connections}
    if not same:
        to = cardan.converter(one, two)
        return to.configuration(q), to.velocity(q, v)
    r, w = np.empty((STATES, two.nq)), np.empty((STATES, two.nv))
    for name in moving_joints(one):
        r[:, two.q_slice(name)], w[:, two.v_slice(name)] = q[:, one.q_slice(name)], v[:, one.v_slice(name)]
    return r, w


def moving_joints(model):
    return [c.name for c in model.connections if c.joint.nv]
