"""What a joint's transform alone determines: its motion subspace and its bias, by differentiation along the manifold.

    S_j = vee(X^-1 dX(q + e_j)):  linear R^T dp/de_j,  angular vee(R^T dR/de_j),     dq/de_j = J(q) e_j
    bias = (dS/dt) v:  linear R^T p'' - w x (S v)_linear,  angular w',       w = (S v)_angular, ' along dq/dt = J(q) v

J is the manifold's map from velocities to dq/dt. Transform and subspace are traced once for a joint, differentiated as
programs and freed of what is equal in disguise (`merge_identities`); then they run on scalars of any type. A transform
that is a product is differentiated factor by factor, too (`composed.py`), and the cheaper of the two is kept.

Source: Lynch and Park, Modern Robotics (2017), section 3.3; FACTS, section 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cardan.errors import JointError, TraceError
from cardan.joints.derivation.factors import (
    LEAVES,
    Moving,
    Part,
    is_composed,
    leaves,
    pose_leaf,
    put_together,
    rotation_leaf,
    taken_apart,
)
from cardan.joints.derivation.parameters import filled, opened, slots
from cardan.joints.state import kept_by_state
from cardan.program import Array, Graph, Op, Program, trace
from cardan.program.autodiff import assemble, pushforward
from cardan.program.replay import replay
from cardan.program.value_numbering import merge_identities
from cardan.scalar import is_zero
from cardan.spatial import Matrix3, Motion, Scalar, Vector3
from cardan.spatial.composition import listening
from cardan.spatial.rotations import matrix_from_rotation_vector, right_jacobian

if TYPE_CHECKING:
    from cardan.joints.joint import Joint

Scalars = Sequence[Scalar]
POSE = 12  # entries of a rotation matrix and a translation
SAMPLES = 3


def derived_subspace(joint: Joint, q: Scalars) -> list[Motion]:
    """Return the nv columns of S(q), from `joint.transform`."""
    template, parameters = opened(joint)
    program = subspace_program(template)
    values = replay(program, [*parameters, *q])
    flat = [values[r] for r in program.results[POSE:]]
    return [Motion.of(tuple(flat[6 * j : 6 * j + 6])) for j in range(joint.nv)]


def derived_bias(joint: Joint, q: Scalars, v: Scalars) -> Motion:
    """Return (dS/dt) v, from `joint.transform` and `joint.motion_subspace`."""
    template, parameters = opened(joint)
    program = bias_program(template)
    values = replay(program, [*parameters, *q, *v])
    return Motion.of(tuple(values[r] for r in program.results[-6:]))


@kept_by_state
def subspace_program(template: Joint) -> Program:
    """Return the program, of the scalars in the slots and q, of the pose, 12 numbers, and of S, column by column."""
    return _cheaper(template, _entrywise_subspace(template), _factorwise_subspace(template))


@kept_by_state
def bias_program(template: Joint) -> Program:
    """Return the program of the pose, of S, column by column, and of (dS/dt) v."""
    return _cheaper(template, _entrywise_bias(template), _factorwise_bias(template))


def _cheaper(template: Joint, entrywise: Program, factorwise: Program | None) -> Program:
    """Return the program with fewer operations, if both say the same.

    They do not where a factor is no rotation, such as a reflection: then the entries are right.
    """
    if factorwise is None or factorwise.operations >= entrywise.operations:
        return entrywise
    rng = np.random.default_rng(0)
    for _ in range(SAMPLES):
        own = rng.uniform(0.3, 1.3, size=slots(template)).tolist()
        q = template.manifold.random(rng, (), np.full(template.nv, -1.0), np.full(template.nv, 1.0)).tolist()
        inputs = [*own, *q, *rng.normal(size=template.nv).tolist()]
        a, b = (np.array([replay(p, inputs)[r] for r in p.results], dtype=float) for p in (entrywise, factorwise))
        if not np.allclose(a, b, rtol=1e-9, atol=1e-9 * np.abs(a).max()):
            return entrywise
    return factorwise


# --- by the entries of the transform ---


def _entrywise_subspace(template: Joint) -> Program:
    pose = _pose_program(template)
    graph = Graph()
    symbols = graph.symbols(pose.inputs)
    joint, first, (q,) = _given(template, symbols, template.nq)
    values = replay(pose, symbols)
    rates = pushforward(pose, values, _directions(joint, q, first))
    entries = [values[r] for r in pose.results]
    R = Matrix3(entries[:9])
    columns = []
    for j in range(joint.nv):
        d = [rates[r].get(j, 0.0) for r in pose.results]
        columns += [*R.transpose_apply(Vector3(*d[9:])), *_angular(R, Matrix3(d[:9]))]
    outputs = [Array("pose", (POSE,)), Array("subspace", (joint.nv, 6))]
    return merge_identities(assemble("subspace", graph, pose.inputs, outputs, [*entries, *columns]))


def _entrywise_bias(template: Joint) -> Program:
    motion = _motion_program(template)
    graph = Graph()
    symbols = graph.symbols(motion.inputs)
    joint, first, (q, v) = _given(template, symbols, template.nq, template.nv)
    values = replay(motion, symbols)
    found = pushforward(motion, values, _along(joint, q, v, first))
    pose, S, velocity = _split(motion.results, POSE, 6 * joint.nv)
    acceleration = [found[r].get(0, 0.0) for r in velocity]
    R, twist = Matrix3(values[r] for r in pose[:9]), _weighed([values[r] for r in S], v)
    w = twist.angular
    linear = R.transpose_apply(Vector3(*acceleration[:3])) - w.cross(twist.linear)
    outputs = [Array("pose", (POSE,)), Array("subspace", (joint.nv, 6)), Array("bias", (6,))]
    results = [*(values[r] for r in (*pose, *S)), *linear, *acceleration[3:]]
    return merge_identities(assemble("bias", graph, motion.inputs, outputs, results))


def _motion_program(template: Joint) -> Program:
    """Return the program, of q and v, of the pose, of S, and of dp/dt and the angular velocity."""
    pose = _pose_program(template)
    inputs = (*pose.inputs, Array("v", (template.nv,)))
    graph = Graph()
    symbols = graph.symbols(inputs)
    joint, first, (q, v) = _given(template, symbols, template.nq, template.nv)
    values = replay(pose, symbols)
    rates = pushforward(pose, values, _along(joint, q, v, first))
    S = [e for column in joint.motion_subspace(q) for e in column.scalars()]
    velocity = [*(rates[r].get(0, 0.0) for r in pose.results[9:]), *_weighed(S, v).angular]
    outputs = [Array("pose", (POSE,)), Array("subspace", (joint.nv, 6)), Array("velocity", (6,))]
    results = [*(values[r] for r in pose.results), *S, *velocity]
    return merge_identities(assemble("motion", graph, inputs, outputs, results))


# --- factor by factor ---


def _factors_program(template: Joint) -> tuple[Program, Part]:
    """Return the program of the entries of the factors the transform is made of, and how it is."""
    parts: list[Part] = []

    def entries(*arrays: Any) -> dict[str, np.ndarray]:
        joint, _, (q,) = _given(template, [e for array in arrays for e in array], template.nq)
        with listening() as history:
            part, found = taken_apart(joint.transform(q), history)
        parts.append(part)
        return {"factors": _array(found)}

    return trace("factors", entries, _inputs(template, q=template.nq)), parts[0]


def _factorwise_subspace(template: Joint) -> Program | None:
    factors, whole = _factors_program(template)
    if not is_composed(whole):
        return None
    graph = Graph()
    symbols = graph.symbols(factors.inputs)
    joint, first, (q,) = _given(template, symbols, template.nq)
    values = replay(factors, symbols)
    rates = pushforward(factors, values, _directions(joint, q, first))
    entries = [values[r] for r in factors.results]

    def change(start: int, count: int, j: int) -> list[Any]:
        return [rates[r].get(j, 0.0) for r in factors.results[start : start + count]]

    def leaf(part: Part, rotation: Moving | None) -> Moving:
        count = LEAVES[part.kind]
        own, changes = entries[part.start : part.start + count], [change(part.start, count, j) for j in range(joint.nv)]
        if rotation is None:
            return rotation_leaf(_rotation(part, own), [_angular_velocity(part, own, d) for d in changes])
        return pose_leaf(rotation, Vector3(*own), [Vector3(*d) for d in changes])

    X, columns, _ = put_together(whole, leaf)
    outputs = [Array("pose", (POSE,)), Array("subspace", (joint.nv, 6))]
    results = [*X.rotation.entries(), *X.translation, *(e for V in columns for e in V.scalars())]
    return merge_identities(assemble("subspace", graph, factors.inputs, outputs, results))


def _factorwise_bias(template: Joint) -> Program | None:
    factors, whole = _factors_program(template)
    if not is_composed(whole):
        return None
    motion, places = _factor_rates(template, factors, whole)
    graph = Graph()
    symbols = graph.symbols(motion.inputs)
    joint, first, (q, v) = _given(template, symbols, template.nq, template.nv)
    values = replay(motion, symbols)
    found = pushforward(motion, values, _along(joint, q, v, first))
    count = len(factors.results)
    entries = [values[r] for r in motion.results[:count]]
    rates = [values[r] for r in motion.results[count:]]
    biases = [found[r].get(0, 0.0) for r in motion.results[count:]]

    def leaf(part: Part, rotation: Moving | None) -> Moving:
        at = places[id(part)]
        rate, bias = Vector3(*rates[at : at + 3]), Vector3(*biases[at : at + 3])
        own = entries[part.start : part.start + LEAVES[part.kind]]
        if rotation is None:
            return rotation_leaf(_rotation(part, own), [rate], [bias])
        return pose_leaf(rotation, Vector3(*own), [rate], [bias])

    X, _, (total,) = put_together(whole, leaf)
    S = [e for column in joint.motion_subspace(q) for e in column.scalars()]
    outputs = [Array("pose", (POSE,)), Array("subspace", (joint.nv, 6)), Array("bias", (6,))]
    results = [*X.rotation.entries(), *X.translation, *S, *total.scalars()]
    return merge_identities(assemble("bias", graph, motion.inputs, outputs, results))


def _factor_rates(template: Joint, factors: Program, whole: Part) -> tuple[Program, dict[int, int]]:
    """Return the program, of q and v, of the factors' entries and of each leaf's rate, and where that of which is.

    The rate of a rotation is its angular velocity, that of a pose the velocity of its origin, in the outer frame.
    """
    inputs = (*factors.inputs, Array("v", (template.nv,)))
    graph = Graph()
    symbols = graph.symbols(inputs)
    joint, first, (q, v) = _given(template, symbols, template.nq, template.nv)
    values = replay(factors, symbols)
    changes = pushforward(factors, values, _along(joint, q, v, first))
    entries = [values[r] for r in factors.results]
    along = [changes[r].get(0, 0.0) for r in factors.results]
    rates: list[Any] = []
    places: dict[int, int] = {}
    for part in leaves(whole):
        places[id(part)] = len(rates)
        span = slice(part.start, part.start + LEAVES[part.kind])
        moved = along[span] if part.kind == "pose" else _angular_velocity(part, entries[span], along[span])
        rates.extend(moved)
    outputs = [Array("factors", (len(entries),)), Array("rates", (len(rates),))]
    return merge_identities(assemble("rates", graph, inputs, outputs, [*entries, *rates])), places


def _rotation(part: Part, entries: Scalars) -> Matrix3:
    """Return the rotation of a leaf."""
    return matrix_from_rotation_vector(Vector3(*entries)) if part.kind == "exponential" else Matrix3(entries)


def _angular_velocity(part: Part, entries: Scalars, rates: Scalars) -> Vector3:
    """Return the angular velocity of a leaf, in its own frame."""
    if part.kind == "exponential":
        return right_jacobian(Vector3(*entries)) @ Vector3(*rates)
    return Vector3(*_angular(Matrix3(entries), Matrix3(rates)))


# --- what both need ---


def _inputs(template: Joint, **sizes: int) -> tuple[Array, ...]:
    """Return the inputs of a joint's program: the scalars in its slots, if it has any, and vectors."""
    count = slots(template)
    own = (Array("parameters", (count,)),) if count else ()
    return (*own, *(Array(name, (size,)) for name, size in sizes.items()))


def _given(template: Joint, symbols: Scalars, *sizes: int) -> tuple[Joint, int, list[Any]]:
    """Return the joint with its slots filled, how many symbols that took, and the vectors that follow."""
    count = slots(template)
    joint = filled(template, symbols[:count]) if count else template
    return joint, count, _split(symbols[count:], *sizes)[: len(sizes)]


def _directions(joint: Joint, q: Scalars, first: int) -> dict[int, dict[int, Any]]:
    """Return the rates of q along each direction of the tangent, as seeds of inputs from `first` on."""
    J = joint.velocity_to_configuration_derivative_jacobian(q)
    return {first + i: {j: e for j, e in enumerate(row) if not is_zero(e)} for i, row in enumerate(J)}


def _along(joint: Joint, q: Scalars, v: Scalars, first: int) -> dict[int, dict[int, Any]]:
    """Return the rates of q that belong to v, as seeds of direction 0."""
    qdot = joint.velocity_to_configuration_derivative(q, v)
    return {first + i: {0: e} for i, e in enumerate(qdot) if not is_zero(e)}


def _weighed(S: Scalars, v: Scalars) -> Motion:
    """Return S v, S column by column."""
    total = Motion.zero()
    for j, rate in enumerate(v):
        total = total + Motion.of(tuple(S[6 * j : 6 * j + 6])) * rate
    return total


def _split(numbers: Sequence[Any], *sizes: int) -> list[Any]:
    parts, start = [], 0
    for size in sizes:
        parts.append(numbers[start : start + size])
        start += size
    return [*parts, numbers[start:]]


def _pose_program(template: Joint) -> Program:
    def entries(*arrays: Any) -> dict[str, np.ndarray]:
        joint, _, (q,) = _given(template, [e for array in arrays for e in array], template.nq)
        X = joint.transform(q)
        return {"pose": _array([*X.rotation.entries(), *X.translation])}

    try:
        return trace("pose", entries, _inputs(template, q=template.nq))
    except TraceError as error:
        raise JointError(f"{type(template).__name__}: its pose cannot be differentiated: {error}") from error


def _array(entries: list[Any]) -> np.ndarray:
    array = np.empty(len(entries), dtype=object)
    array[:] = entries
    return array


def _angular(R: Matrix3, dR: Matrix3) -> tuple[Any, Any, Any]:
    """Return vee(R^T dR): its entries (2,1), (0,2), (1,0), each a product of two columns."""
    x, y, z = R.columns()
    dx, dy, dz = dR.columns()
    return z.dot(dy), x.dot(dz), y.dot(dx)


class JointRates(NamedTuple):
    """How a joint's motion changes along its own tangent directions j, and with its velocities, in child coordinates.

    Attributes:
        subspace_by_q: d_j S, its nv columns, for each j.
        velocity_by_q: d_j (S v).
        acceleration_by_q: d_j (S a + bias).
        bias_by_v: d bias / d v_j.
    """

    subspace_by_q: list[list[Motion]]
    velocity_by_q: list[Motion]
    acceleration_by_q: list[Motion]
    bias_by_v: list[Motion]


def joint_rates(joint: Joint, q: Scalars, v: Scalars, a: Scalars) -> JointRates | None:
    """Return the derivatives of the joint's motion; None where S is constant, so that all of them vanish."""
    template, parameters = opened(joint)
    program = rates_program(template)
    if all(i.op is Op.CONST and i.value == 0.0 for i in program.instructions):
        return None
    values = replay(program, [*parameters, *q, *v, *a])
    flat, nv = [values[r] for r in program.results], joint.nv
    motions = [Motion.of(tuple(flat[k : k + 6])) for k in range(0, len(flat), 6)]
    subspace = [motions[nv * j : nv * (j + 1)] for j in range(nv)]
    velocity, acceleration, bias = (motions[nv * nv + k * nv : nv * nv + (k + 1) * nv] for k in range(3))
    return JointRates(subspace, velocity, acceleration, bias)


@kept_by_state
def rates_program(template: Joint) -> Program:
    """Return the program of the joint's rates, of q, v and a."""
    nq, nv = template.nq, template.nv

    def motion(*arrays: Any) -> dict[str, np.ndarray]:
        joint, _, (q, v) = _given(template, [e for array in arrays for e in array], nq, nv)
        columns = [e for s in joint.motion_subspace(q) for e in s.scalars()]
        return {"subspace": _array(columns), "bias": _array(list(joint.bias(q, v).scalars()))}

    program = trace("motion", motion, _inputs(template, q=nq, v=nv))
    graph = Graph()
    inputs = _inputs(template, q=nq, v=nv, a=nv)
    symbols = graph.symbols(inputs)
    joint, first, (q, v, a) = _given(template, symbols, nq, nv, nv)
    values = replay(program, symbols)
    seeds = _directions(joint, q, first) | {first + nq + j: {nv + j: 1.0} for j in range(nv)}
    found = pushforward(program, values, seeds)
    S, bias = program.results[: 6 * nv], program.results[6 * nv :]
    subspace, velocity, acceleration, by_v = [], [], [], []
    for j in range(nv):
        dS = [found[r].get(j, 0.0) for r in S]
        subspace += dS
        velocity += _weighed(dS, v).scalars()
        acceleration += (_weighed(dS, a) + Motion.of(tuple(found[r].get(j, 0.0) for r in bias))).scalars()
        by_v += [found[r].get(nv + j, 0.0) for r in bias]
    outputs = [Array("subspace", (nv, nv, 6)), *(Array(n, (nv, 6)) for n in ("velocity", "acceleration", "bias"))]
    return merge_identities(assemble("rates", graph, inputs, outputs, [*subspace, *velocity, *acceleration, *by_v]))
