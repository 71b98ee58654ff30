"""What follows from a joint's own code by differentiation along its manifold: subspace, bias, rates, slopes of efforts.

    S_j = vee(X^-1 dX(q + e_j)):  linear R^T dp/de_j,  angular vee(R^T dR/de_j),     dq/de_j = J(q) e_j
    bias = (dS/dt) v:  linear R^T p'' - w x (S v)_linear,  angular w',       w = (S v)_angular, ' along dq/dt = J(q) v

J is the manifold's map from velocities to dq/dt. Transform and subspace are traced once for a joint, differentiated as
programs and freed of what is equal in disguise (`merge_identities`); then they run on scalars of any type. A transform
that is a product of rotations and poses is differentiated factor by factor, too (`factors.py`), and of the two the one
with fewer operations is kept.

Source: Lynch and Park, Modern Robotics (2017), section 3.3; FACTS, section 2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from cardan._algebra.arrays.made_once import made_once
from cardan._algebra.errors import JointError, TraceError
from cardan._algebra.scalar import absolute, is_zero
from cardan._algebra.spatial import SE3, Matrix3, Motion, Scalar, Vector3
from cardan._algebra.spatial.composition import History, listening
from cardan._algebra.spatial.rotations import right_jacobian
from cardan._compiler.program import Array, Graph, Op, Program
from cardan._compiler.program.autodiff import assemble, jacobian_vector_product
from cardan._compiler.program.exact import evaluate_exactly
from cardan._compiler.program.forward_sweep import pushforward
from cardan._compiler.program.replay import replay
from cardan._compiler.program.value_numbering import merge_identities
from cardan._robot.joints.derivation.factors import Factor, Moving, leaves, moving_leaf, put_together, take_apart
from cardan._robot.joints.derivation.programs import (
    inputs,
    is_zero_as_written,
    joint_program,
    keep_by_joint,
    open_slots,
    pose_entries,
    split,
    split_inputs,
)

Scalars = Sequence[Scalar]
Joints = tuple[Any, ...]  # with the same coordinates
POSE = 12  # entries of a rotation matrix and a translation


def derived_subspace(joint: Any, q: Scalars) -> list[Motion]:
    """Return the nv columns of S(q), from `joint.transform`."""
    return _motions(_evaluated(subspace_program, joint, q)[POSE:])


def derived_bias(joint: Any, q: Scalars, v: Scalars) -> Motion:
    """Return (dS/dt) v, from `joint.transform` and `joint.motion_subspace`."""
    return _motions(_evaluated(bias_program, joint, q, v)[POSE:])[-1]


def _evaluated(make: Callable[[Any], Program], joint: Any, *arguments: Scalars) -> list[Any]:
    """Return what a program made of a joint's template gives at the joint's own parameters and these arguments."""
    template, parameters = open_slots(joint)
    program = make(template)
    values = replay(program, [*parameters, *chain(*arguments)])
    return [values[r] for r in program.results]


def _motions(numbers: Scalars) -> list[Motion]:
    return [Motion.of(tuple(numbers[k : k + 6])) for k in range(0, len(numbers), 6)]


@keep_by_joint("transform")
def subspace_program(template: Any) -> Program:
    """Return the program, of the scalars in the slots and q, of the pose, 12 numbers, and of S, column by column."""
    # Both forms are exact. A single rotation has fewer operations by its entries, a product of several by factors.
    return min((_subspace(template, form) for form in _forms(template)), key=lambda p: p.operations)


@keep_by_joint("transform", "motion_subspace")
def bias_program(template: Any) -> Program:
    """Return the program of the pose, of S, column by column, and of (dS/dt) v."""
    return min((_bias(template, form) for form in _forms(template)), key=lambda p: p.operations)


# --- how the transform is written ---


class PoseForm(NamedTuple):
    """A way to write a joint's pose: the program of the entries of its factors, and how it is made of them."""

    program: Program
    whole: Factor


@keep_by_joint("transform")
def _forms(template: Any) -> list[PoseForm]:
    """Return the ways to write the transform: by its entries, and by its factors where these are rotations.

    Rates of a product follow from those of its factors only if each is a rotation; of a product of two reflections,
    which is a rotation, too, only the entries can be differentiated.
    """
    entries, factors = (_form(template, by_factors) for by_factors in (False, True))
    return [entries, factors] if factors.whole.is_composed() and _has_rotations(factors) else [entries]


def _form(template: Any, by_factors: bool) -> PoseForm:
    parts: list[Factor] = []

    def entries(joint: Any, q: Scalars) -> dict[str, list[Any]]:
        with listening() as history:
            part, found = take_apart(joint.transform(q), history if by_factors else History())
        parts.append(part)
        return {"factors": found}

    try:
        return PoseForm(joint_program("factors", template, entries, q=template.nq), parts[0])
    except TraceError as error:
        raise JointError(f"{type(template).__name__}: its pose cannot be differentiated: {error}") from error


def _has_rotations(form: PoseForm) -> bool:
    """Return whether all matrices among the factors are proper rotations: numbers nearly, all else exactly."""
    graph = Graph()
    values = replay(form.program, graph.symbols(form.program.inputs))
    entries = [values[r] for r in form.program.results]
    residues = []
    for part in leaves(form.whole):
        if part.kind == "rotation":
            x, y, z = Matrix3(part.own(entries)).columns()
            residues += [*(z - x.cross(y)), x.dot(x) - 1.0, y.dot(y) - 1.0, x.dot(y)]
    # Numbers are rounded, as of an axis given to nine digits; symbols must vanish identically, or nothing is proved.
    known = [e for e in residues if isinstance(e, float)]
    others = [e for e in residues if not isinstance(e, float)]
    check = assemble("check", graph, form.program.inputs, [Array("residues", (len(others),))], others)
    numbers = evaluate_exactly(check).numbers
    return all(abs(e) < 1e-9 for e in known) and all(numbers[r] == 0.0 for r in check.results)


# --- differentiation of a form ---


def _subspace(template: Any, form: PoseForm) -> Program:
    graph = Graph()
    symbols = graph.symbols(form.program.inputs)
    joint, first, (q,) = split_inputs(template, symbols, template.nq)
    entries, changes = _changes(form.program, joint, symbols, q, first)

    def leaf(part: Factor, rotation: Moving | None) -> Moving:
        own = part.own(entries)
        return moving_leaf(part, own, rotation, [_rate(part, own, part.own(along)) for along in changes])

    X, columns, _ = put_together(form.whole, leaf)
    outputs = [Array("pose", (POSE,)), Array("subspace", (joint.nv, 6))]
    results = [*pose_entries(X), *(e for V in columns for e in V.scalars())]
    return merge_identities(assemble("subspace", graph, form.program.inputs, outputs, results))


def _bias(template: Any, form: PoseForm) -> Program:
    motion, places = _motion(template, form)
    graph = Graph()
    symbols = graph.symbols(motion.inputs)
    joint, first, (q, v) = split_inputs(template, symbols, template.nq, template.nv)
    values = replay(motion, symbols)
    # One direction, the velocity itself, suffices: the bias is a derivative along the motion.
    qdot = enumerate(joint.velocity_to_configuration_derivative(q, v))
    found = pushforward(motion, values, {first + i: {0: e} for i, e in qdot if not is_zero(e)})
    entries, rates = split([values[r] for r in motion.results], len(form.program.results))
    accelerations = [found[r].get(0, 0.0) for r in motion.results[len(entries) :]]

    def leaf(part: Factor, rotation: Moving | None) -> Moving:
        at = places[id(part)]
        rate, acceleration = Vector3(*rates[at : at + 3]), Vector3(*accelerations[at : at + 3])
        return moving_leaf(part, part.own(entries), rotation, [rate], [acceleration])

    X, _, (total,) = put_together(form.whole, leaf)
    S = [e for column in joint.motion_subspace(q) for e in column.scalars()]
    outputs = [Array("pose", (POSE,)), Array("subspace", (joint.nv, 6)), Array("bias", (6,))]
    results = [*pose_entries(X), *S, *total.scalars()]
    return merge_identities(assemble("bias", graph, motion.inputs, outputs, results))


def _motion(template: Any, form: PoseForm) -> tuple[Program, dict[int, int]]:
    """Return the program, of q and v, of the factors' entries and of each leaf's rate, and where that of which is."""
    arguments = (*form.program.inputs, Array("v", (template.nv,)))
    graph = Graph()
    symbols = graph.symbols(arguments)
    joint, first, (q, v) = split_inputs(template, symbols, template.nq, template.nv)
    entries, changes = _changes(form.program, joint, symbols, q, first)
    rates: list[Any] = []
    places: dict[int, int] = {}
    for part in leaves(form.whole):
        places[id(part)] = len(rates)
        own, along = part.own(entries), [part.own(change) for change in changes]
        if part.kind == "rotation":
            rates.extend(_weighed([_rate(part, own, change) for change in along], v, 3))
        else:
            rates.extend(_rate(part, own, _weighed(along, v, len(own))))
    outputs = [Array("factors", (len(entries),)), Array("rates", (len(rates),))]
    return merge_identities(assemble("motion", graph, arguments, outputs, [*entries, *rates])), places


def _changes(
    program: Program, joint: Any, symbols: Scalars, q: Scalars, first: int
) -> tuple[list[Any], list[list[Any]]]:
    """Return a program's results, and how they change along each direction of the tangent."""
    values = replay(program, symbols)
    rates = pushforward(program, values, directions(joint, q, first))
    changes = [[rates[r].get(j, 0.0) for r in program.results] for j in range(joint.nv)]
    return [values[r] for r in program.results], changes


def _rate(part: Factor, entries: Scalars, rates: Scalars) -> Vector3:
    """Return how a leaf moves: a rotation's angular velocity in its own frame, a pose's origin in the outer frame."""
    if part.kind == "pose":
        return Vector3(*rates)
    if part.kind == "exponential":
        return right_jacobian(Vector3(*entries)) @ Vector3(*rates)
    x, y, z = Matrix3(entries).columns()
    dx, dy, dz = Matrix3(rates).columns()
    return Vector3(z.dot(dy), x.dot(dz), y.dot(dx))  # vee(R^T dR)


def directions(joint: Any, q: Scalars, first: int) -> dict[int, dict[int, Any]]:
    """Return the rates of q along each direction of the tangent, as seeds of inputs from `first` on."""
    J = joint.manifold.velocity_to_configuration_derivative_jacobian(q)
    return {first + i: {j: e for j, e in enumerate(row) if not is_zero(e)} for i, row in enumerate(J)}


def _weighed(vectors: Sequence[Scalars], weights: Scalars, size: int) -> list[Any]:
    """Return the sum of weight times vector, of so many entries even where there is nothing to sum."""
    return [sum((x[i] * w for x, w in zip(vectors, weights, strict=True)), 0.0) for i in range(size)]


# --- coordinates that are functions of others ---


def coupling_slopes(joint: Any, q: Scalars) -> list[Any]:
    """Return df/dq_i of the function f by which a joint's single coordinate, `inner_configuration(q)`, follows q."""
    return _evaluated(_coupling_program, joint, q)


def coupling_curvature(joint: Any, q: Scalars, v: Scalars) -> Any:
    """Return sum f_ij v_i v_j of that function."""
    rates = _evaluated(_coupling_rates_program, joint, q, v)
    return sum((rate * e for rate, e in zip(rates, v, strict=True)), 0.0)


@keep_by_joint("transform")
def _coupling_rates_program(template: Any) -> Program:
    """Return the program of the rates of the slopes, of q and dq/dt."""
    return jacobian_vector_product(_coupling_program(template), ["q"])


@keep_by_joint("transform")
def _coupling_program(template: Any) -> Program:
    value = joint_program("coupling", template, lambda joint, q: {"x": joint.inner_configuration(q)}, q=template.nq)
    graph, nv = Graph(), template.nv
    symbols = graph.symbols(value.inputs)
    first = len(symbols) - nv
    found = pushforward(value, replay(value, symbols), {first + i: {i: 1.0} for i in range(nv)})[value.results[0]]
    slopes = [found.get(i, 0.0) for i in range(nv)]
    return merge_identities(assemble("slopes", graph, value.inputs, [Array("slopes", (nv,))], slopes))


# --- how the motion changes ---


class JointRates(NamedTuple):
    """How a joint's motion changes along its own tangent directions j and with its velocities, in child coordinates."""

    subspace_by_q: list[list[Motion]]  # d_j S, its nv columns, for each j
    velocity_by_q: list[Motion]  # d_j (S v)
    acceleration_by_q: list[Motion]  # d_j (S a + bias)
    bias_by_v: list[Motion]  # d bias / d v_j

    def in_frame(self, X: SE3) -> JointRates:
        """Return the same in another frame's coordinates; X is the pose of the child in that."""
        subspace = [[X @ s for s in columns] for columns in self.subspace_by_q]
        return JointRates(subspace, *([X @ e for e in part] for part in self[1:]))


def joint_rates(joint: Any, q: Scalars, v: Scalars, a: Scalars) -> JointRates | None:
    """Return the derivatives of the joint's motion; None where S is constant, so that all of them vanish."""
    return _with_siblings("rates", joint, (q, v, a), _rates_of)


def joint_rates_by_q(joint: Any, q: Scalars, v: Scalars, a: Scalars) -> list[JointRates]:
    """Return, for each tangent direction k of the joint, how all of `joint_rates` changes along it."""
    return _with_siblings("rates by q", joint, (q, v, a), _rates_by_q_of)


def _with_siblings(name: str, joint: Any, state: tuple[Scalars, ...], make: Callable[..., Sequence[Any]]) -> Any:
    """Return what is made of a joint: of traced values for all its siblings together, once."""
    siblings, k = joint._siblings
    if len(siblings) == 1:
        return make(siblings, *state)[0]
    together, alone = lambda: make(siblings, *state), lambda: {k: make((joint,), *state)[0]}
    return made_once((name, siblings), chain(*state), together, alone)[k]


def _rates_of(joints: Joints, q: Scalars, v: Scalars, a: Scalars) -> list[JointRates | None]:
    program, motions = rates_program(open_slots(joints)[0]), _motions(_evaluated(rates_program, joints, q, v, a))
    found = (program.instructions[r] for r in program.results)
    # by the program and not by the class: whoever wrote a joint, no operation is spent on it
    zero = [i.op is Op.CONST and i.value == 0.0 for i in found]
    nv, size = joints[0].nv, len(motions) // len(joints)
    own = [range(k * size, (k + 1) * size) for k in range(len(joints))]
    return [None if all(zero[6 * s.start : 6 * s.stop]) else _rates(motions[s.start : s.stop], nv) for s in own]


def _rates_by_q_of(joints: Joints, q: Scalars, v: Scalars, a: Scalars) -> list[list[JointRates]]:
    motions, nv = _motions(_evaluated(_rates_by_q_program, joints, q, v, a)), joints[0].nv
    parts = split(motions, *[len(motions) // (nv * len(joints))] * nv * len(joints))[:-1]
    return [[_rates(own, nv) for own in parts[j :: len(joints)]] for j in range(len(joints))]


def _rates(motions: Sequence[Motion], nv: int) -> JointRates:
    subspace, velocity, acceleration, bias, _ = split(motions, nv * nv, nv, nv, nv)
    return JointRates(split(subspace, *[nv] * nv)[:nv], velocity, acceleration, bias)


@keep_by_joint("transform", "motion_subspace", "bias")
def _rates_by_q_program(template: Joints) -> Program:
    """Return the program of how the rates of joints change along each direction, of q, v and a."""
    rates, graph = rates_program(template), Graph()
    symbols = graph.symbols(rates.inputs)
    joints, first, (q,) = split_inputs(template, symbols, template[0].nq)
    found = pushforward(rates, replay(rates, symbols), directions(joints[0], q, first))
    results = [found[r].get(k, 0.0) for k in range(template[0].nv) for r in rates.results]
    outputs = [Array("rates_by_q", (len(results),))]
    return merge_identities(assemble("rates_by_q", graph, rates.inputs, outputs, results))


@keep_by_joint("transform", "motion_subspace", "bias")
def rates_program(template: Joints) -> Program:
    """Return the program of the rates of joints with the same q and v, one after the other, of q, v and a."""
    nq, nv = template[0].nq, template[0].nv

    def motions(joints: Joints, q: Scalars, v: Scalars) -> dict[str, list[Any]]:
        own = (s for joint in joints for s in (*joint.motion_subspace(q), joint.bias(q, v)))
        return {"columns": [e for s in own for e in s.scalars()]}

    program = joint_program("motion", template, motions, q=nq, v=nv)
    graph = Graph()
    arguments = inputs(template, q=nq, v=nv, a=nv)
    symbols = graph.symbols(arguments)
    joints, first, (q, v, a) = split_inputs(template, symbols, nq, nv, nv)
    # All directions go through the program at once: what they have in common is computed once.
    seeds = directions(joints[0], q, first) | {first + nq + j: {nv + j: 1.0} for j in range(nv)}
    found = pushforward(program, replay(program, symbols), seeds)

    def rates(own: Sequence[int]) -> list[Any]:
        """Return the rates of the joint that has these results."""
        parts = split(own, *[6] * (nv + 1))[:-1]
        by_q, by_v = (
            [[[found[r].get(j, 0.0) for r in part] for part in parts] for j in range(n, n + nv)] for n in (0, nv)
        )
        subspace = [e for dS in by_q for column in dS[:nv] for e in column]
        velocity = [e for dS in by_q for e in _weighed(dS[:nv], v, 6)]
        acceleration = [e for dS in by_q for e in _weighed(dS, [*a, 1.0], 6)]
        return [*subspace, *velocity, *acceleration, *(e for dS in by_v for e in dS[nv])]

    results = [e for own in split(program.results, *[6 * (nv + 1)] * len(joints))[:-1] for e in rates(own)]
    outputs = [Array("rates", (len(joints), nv * (nv + 3), 6))]
    return merge_identities(assemble("rates", graph, arguments, outputs, results))


def subspace_rate(joint: Any, q: Scalars, v: Scalars) -> list[Motion]:
    """Return the columns of dS/dt while q moves with velocity v, from `joint.motion_subspace`."""
    qdot = joint.velocity_to_configuration_derivative(q, v)
    return _motions(_evaluated(_subspace_rate_program, joint, q, qdot))


@keep_by_joint("transform", "motion_subspace")
def _subspace_rate_program(template: Any) -> Program:
    """Return the program of dS/dt, of q and dq/dt."""

    def columns(joint: Any, q: Scalars) -> dict[str, list[Any]]:
        return {"subspace": [e for column in joint.motion_subspace(q) for e in column.scalars()]}

    return jacobian_vector_product(joint_program("subspace", template, columns, q=template.nq), ["q"])


@keep_by_joint("transform", "motion_subspace")
def is_subspace_constant(joint: Any) -> bool:
    """Return whether dS/dt is 0 as it is written, whatever q and v: then S is the same at every configuration."""
    rate = lambda joint, q, v: {"rate": [e for S in subspace_rate(joint, q, v) for e in S.scalars()]}  # noqa: E731
    return is_zero_as_written(joint_program("rate", joint, rate, q=joint.nq, v=joint.nv))


# --- how the efforts that it exerts change ---


class LinearisedEfforts(NamedTuple):
    """What a joint exerts at a state, and by how much less with its coordinates and velocities; nv numbers each.

        stiffness_i = -d efforts_i / d x_i + sum_j |d efforts_i / d x_j|        damping_i likewise by v,  j not i

    What an implicit step takes along each degree of freedom by itself may not be less than what the whole matrix of
    slopes is, or the step is unstable where it is stiff: a diagonal of such sums is never less (Gershgorin's circles).
    """

    efforts: list[Scalar]
    stiffness: list[Scalar]
    damping: list[Scalar]


def linearised_efforts(joint: Any, q: Sequence[Scalar], v: Sequence[Scalar]) -> LinearisedEfforts:
    """Return the efforts of a joint at a state, and their slopes."""
    found, nv = _evaluated(_linearised, joint, q, v), joint.nv
    return LinearisedEfforts(found[:nv], found[nv : 2 * nv], found[2 * nv :])


@keep_by_joint("efforts")
def _linearised(template: Any) -> Program:
    try:
        of_state = lambda joint, q, v: {"efforts": list(joint.efforts(q, v))}  # noqa: E731
        efforts = joint_program("efforts", template, of_state, q=template.nq, v=template.nv)
    except TraceError as error:
        raise JointError(f"{type(template).__name__}: its efforts cannot be differentiated: {error}") from error
    graph = Graph()
    symbols = graph.symbols(efforts.inputs)
    nq, nv = template.nq, template.nv
    joint, first, (q,) = split_inputs(template, symbols, nq)
    seeds = directions(joint, q, first) | {first + nq + j: {nv + j: 1.0} for j in range(nv)}
    values = replay(efforts, symbols)
    slopes = pushforward(efforts, values, seeds)
    own = [values[r] for r in efforts.results]
    falls = [_fall(slopes[r], range(k, k + nv), k + i) for k in (0, nv) for i, r in enumerate(efforts.results)]
    outputs = [Array(name, (nv,)) for name in LinearisedEfforts._fields]
    return assemble("efforts", graph, efforts.inputs, outputs, [*own, *falls])


def _fall(slopes: Mapping[int, Any], along: Iterable[int], own: int) -> Any:
    across = (absolute(slopes[j]) for j in along if j != own and j in slopes)
    return sum(across, -slopes.get(own, 0.0))
