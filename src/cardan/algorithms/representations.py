"""Velocity representations of the base: v' = T v with T = 1 but for the joints that leave a body free in the world.

With X = (R, p) the pose of such a joint's child frame in the world, its block of T is

    1 ("body", what v is here)        Ad(X) ("inertial")        blkdiag(R, R) ("mixed")

Frames have their twist, acceleration, Jacobian and wrenches in any of the three, too (`spatial.representations`).

Source: Traversaro (2017), section 2.4 and appendix; FACTS, section 6.
"""

from __future__ import annotations

from cardan.algorithms.centroidal import center_of_mass, centroidal_momentum, centroidal_momentum_matrix
from cardan.algorithms.coordinates import Block, Coordinates, Rows
from cardan.algorithms.kinematics import Kinematics
from cardan.algorithms.tree import Vector
from cardan.joints.catalogue.floating import FloatingJoint
from cardan.model import WORLD, Connection, Model
from cardan.spatial import SE3, Force, Motion, Representation, Vector3, in_body, represented

REFERENCES: dict[Representation, tuple[str, str]] = {
    "body": ("frame", "frame"),
    "inertial": ("world", "world"),
    "mixed": ("frame", "world"),
}
"""Of each representation of a frame's twist, `at` and `expressed_in`."""


def floating_joints(model: Model) -> list[Connection]:
    """Return the joints that leave a body free in the world, their velocity being its twist."""
    return [c for c in model.connections if c.parent == WORLD and isinstance(c.joint, FloatingJoint)]


def base_coordinates(model: Model, q: Vector, v: Vector | None, representation: Representation) -> Coordinates:
    """Return the change of velocity coordinates, with its rate if v is given."""
    blocks: list[Block] = []
    floating = floating_joints(model)
    for c in floating:
        own = list(q[model.q_slice(c.name)])
        indices = tuple(range(model.nv)[model.v_slice(c.name)])
        X = c.parent_pose @ c.joint.transform(own)
        inverse = columns(in_body(e, X, representation) for e in units())
        matrix = columns(represented(e, X, representation) for e in units())
        rate: Rows = []
        if v is not None and representation != "body":
            V = c.joint.twist(own, v[model.v_slice(c.name)])
            turning = V if representation == "inertial" else Motion(Vector3.zero(), V.angular)
            rate = columns(represented(turning.cross(e), X, representation) for e in units())
        blocks.append(Block(indices, indices, matrix, inverse, rate))
    taken = {i for b in blocks for i in b.here}
    blocks += [Block((i,), (i,), [[1.0]], [[1.0]], []) for i in range(model.nv) if i not in taken]
    return Coordinates(model.nv, model.nv, blocks)


def units() -> list[Motion]:
    """Return the six unit twists."""
    return [Motion.of(tuple(float(i == j) for i in range(6))) for j in range(6)]


def columns(motions: object) -> Rows:
    """Return the rows of the matrix with these columns."""
    return [list(row) for row in zip(*(m.scalars() for m in motions), strict=True)]  # pyright: ignore


def base_pose(model: Model, q: Vector) -> SE3:
    """Return the pose of the first floating joint's child frame in the world; the world itself if there is none."""
    floating = floating_joints(model)
    if not floating:
        return SE3.identity()
    first = floating[0]
    return first.parent_pose @ first.joint.transform(q[model.q_slice(first.name)])


def momentum(model: Model, q: Vector, v: Vector, representation: Representation) -> Force:
    """Return the total momentum, as a wrench on the base is represented."""
    return _about_base(model, q, centroidal_momentum(model, q, v), representation)


def momentum_matrix(model: Model, q: Vector, representation: Representation) -> Rows:
    """Return A (6 x nv): the total momentum is A v."""
    A = centroidal_momentum_matrix(model, q)
    forces = [_about_base(model, q, Force.of(column), representation) for column in zip(*A, strict=True)]
    return columns(forces) if forces else [[] for _ in range(6)]


def _about_base(model: Model, q: Vector, centroidal: Force, representation: Representation) -> Force:
    at_origin = SE3(translation=center_of_mass(model, q)) @ centroidal
    X = base_pose(model, q)
    return represented(X.inverse_act(at_origin), X, representation)


def wrench(model: Model, q: Vector, force: Force, frame: str, representation: Representation) -> Force:
    """Return a wrench on a frame, given in its own axes at its origin, in a representation."""
    return represented(force, Kinematics(model, q).pose(frame), representation)


def wrench_back(model: Model, q: Vector, force: Force, frame: str, representation: Representation) -> Force:
    """Return a wrench on a frame in its own axes at its origin, given in a representation."""
    return in_body(force, Kinematics(model, q).pose(frame), representation)
