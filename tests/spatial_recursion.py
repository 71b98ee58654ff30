"""The outward recursion in spatial form, as Featherstone (2008) has it: what pages by `spin` are compared with."""

from typing import NamedTuple

from cardan._algebra.spatial import Motion
from cardan._dynamics.algorithms.tree import relative_kinematics, twists


def velocity_products(model, relative, q, v, V):
    """Return c_i = bias_i + V_i x S_i v_i of every node: its relative acceleration at zero joint acceleration."""

    def product(node):
        rates = node.velocity(v)
        return node.joint.bias(node.configuration(q), rates) + V[node.index].cross(relative.S[node.index] @ rates)

    return relative.nodes(model).each(product)


def accelerations(model, relative, c, a, world):
    """Return A_i of every node; `world` is the acceleration of the world, minus gravity in dynamics."""

    def acceleration(node, above):
        own = relative.S[node.index] @ node.velocity(a) + c[node.index]
        return relative.X[node.index].inverse_act(above) + own  # (5.8)

    return relative.nodes(model).outwards(acceleration, world or Motion.zero())


class Outward(NamedTuple):
    """The outward recursion of a motion: X_i and S_i, V_i, c_i, A_i of every node."""

    relative: object
    V: object
    c: object
    A: object

    def body_forces(self, model):
        """Return f_i = I_i A_i + V_i x* I_i V_i of every node: equation 5.9."""

        def force(node):
            inertia, V = node.inertia, self.V[node.index]
            return inertia @ self.A[node.index] + V.cross(inertia @ V)

        return self.relative.nodes(model).each(force)


def outward(model, q, v, a=None, world=None, loops=False):
    """Return the outward recursion. Without a, A is empty."""
    relative = relative_kinematics(model, q, loops)
    V = twists(model, relative, v)
    c = velocity_products(model, relative, q, v, V)
    return Outward(relative, V, c, [] if a is None else accelerations(model, relative, c, a, world))
