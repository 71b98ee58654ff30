"""A model that moves alike with fewer numbers: for what depends on joint coordinates alone.

Joint efforts, accelerations and the mass matrix do not depend on which frame a body is described in, nor on how inertia
is shared out between the two sides of a joint where no motion can tell. These freedoms serve to make numbers 0 or +-1,
which then vanish from the traced program:

- **joints** are what they do: whoever wrote a hinge, slide or screw (`joints/recognise.py`), it counts as one;
- **frames** of nodes turn about and slide along their own joint axis (which leaves the joint as it is), so that
  placements have few numbers that are neither 0 nor 1;
- **inertia** that a joint's motion neither moves nor sees goes to the parent: behind a revolute joint about u the mass,
  the first moment along u and one moment across it (J - k (1 - u u^T) about the joint); behind a prismatic joint the
  whole rotational inertia. What remains on the bodies are the base parameters. (What goes there and comes back in
  other coordinates leaves rounding errors of its own size, so that of a body that is too thin stays: `THINNEST`.)

Nodes' frames and inertias lose their physical meaning; bodies and frames stay where they are (`Model.attachments`).
Nodes with constants that are inputs (`Model.with_inputs`) stay as they are.

Source: Gautier and Khalil, Direct calculation of minimum set of inertial parameters of serial robots (1990); Khalil and
Kleinfinger, Minimum operations and minimum parameters of the dynamic models of tree structure robots (1987).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import wraps
from numbers import Real
from typing import Any, cast
from weakref import ref

import numpy as np

from cardan._algebra.by_identity import known_of_each
from cardan._algebra.content import apart
from cardan._algebra.scalar import atan2
from cardan._algebra.spatial import SE3, Inertia, Matrix3, Symmetric3, Vector3, snapped
from cardan._algebra.spatial.rotations import matrix_about_axis, rotation_about_axis
from cardan._robot.joints import Helical, Prismatic, Revolute, UnboundedRevolute
from cardan._robot.joints.catalogue.of_another import Follower
from cardan._robot.joints.derivation.programs import open_slots, replaced
from cardan._robot.joints.recognise import hinge_of
from cardan._robot.model.layout import Attachment, Node
from cardan._robot.model.model import Model

TURNING = (Revolute, UnboundedRevolute)
ABOUT_AN_AXIS = (*TURNING, Helical, Prismatic)  # exactly these: a class derived from them may do something else
# Below it, what rounding leaves of 0 and 1, as for `snapped`.
RESIDUE = 1e-15
JointBetween = tuple[Any, SE3, SE3]  # a joint, the pose before it and the pose after it
# The smallest inertia of a joint, relative to the moment that goes to the parent and comes back in it: rounding errors
# are of the moment's size, so no more than three digits are lost. Bodies of robots are thicker by far.
THINNEST = 1e-3


@known_of_each
def simplified_tree(model: Model) -> Model:
    """Return a model with the same joint-space dynamics and sparser nodes; names and coordinates are the same."""
    symbolic = list(map(_is_symbolic, model.nodes))
    nodes, moves = _turn_frames(model.nodes, symbolic)
    places = {
        name: at if at.node < 0 else Attachment(at.node, snapped(moves[at.node].inverse() @ at.pose))
        for name, at in model.attachments.items()
    }
    alone = [apart()]  # equal to no other: what is made of its nodes is of no use to the model itself
    asked = tuple(_asked_of(ref(model), f) for f in model.constraints)
    nodes = _move_inertias(nodes, symbolic)
    return replaced(model, nodes=nodes, attachments=places, constraints=asked, _content=alone)


def _asked_of(model: ref[Model], constraint: Callable[..., Any]) -> Callable[..., Any]:
    """Return a user's constraint, which may ask for anything of its model, of that model and not of its twin."""
    return wraps(constraint)(lambda _, *x: constraint(model(), *x))


def costly_numbers(model: Model) -> int:
    """Return how many numbers of the nodes' placements and inertias are neither 0 nor +-1, and so cost operations."""
    return sum(e not in (0.0, 1.0, -1.0) for node in model.nodes for e in _numbers(node) if isinstance(e, Real))


def _numbers(node: Node) -> tuple[Any, ...]:
    return *node.placement.rotation.entries(), *node.placement.translation, *node.inertia.parameters()


def _is_symbolic(node: Node) -> bool:
    """Return whether a node holds constants that are only known when the program runs, so that it stays as it is."""
    return not all(isinstance(e, Real) for e in _numbers(node)) or bool(open_slots(node.joint)[1])


def _turn_frames(nodes: Sequence[Node], symbolic: Sequence[bool]) -> tuple[list[Node], list[SE3]]:
    """Return the nodes with frames turned about and slid along their joint axes where that makes numbers vanish.

    With them goes, for each node, X from its new frame to its old one.
    """
    changed: list[Node] = []
    moves: list[SE3] = []
    below: dict[int, list[Node]] = {}
    for node in nodes:
        below.setdefault(node.parent, []).append(node)
    for node in nodes:
        children = below.get(node.index, [])
        above = moves[node.parent] if node.parent >= 0 else SE3.identity()
        placement = above.inverse() @ node.placement
        if any(symbolic[other.index] for other in (node, *children)):
            moves.append(SE3.identity())
            changed.append(replace(node, placement=placement))
            continue
        own = _moving(node)
        # No hinge says what it follows within a cluster, or what acts along coordinates that are a follower's own.
        is_hinge = not own.primaries or (own is node.joint and not own.own)
        joint, before, after = _align((is_hinge and hinge_of(own)) or (own, SE3.identity(), SE3.identity()))
        placement = placement @ before
        beyond = [after @ child.placement for child in children]
        move = _best_move(joint, placement, beyond)
        moves.append(after.inverse() @ move)
        inertia = moves[-1].inverse() @ node.inertia
        inertia = _clear(inertia, inertia)
        joint = cast("Follower", node.joint).around(joint) if own is not node.joint else joint
        changed.append(replace(node, joint=joint, placement=snapped(placement @ move), inertia=inertia))
    return changed, moves


def _moving(node: Node) -> Any:
    """Return the joint that moves a node: of a follower that says so, the joint within, without what acts along it."""
    return node.joint.bare if isinstance(node.joint, Follower) and node.joint.simplified else node.joint


def _align(placed: JointBetween) -> JointBetween:
    """Return a joint about an axis as one about a coordinate axis; X = before @ joint.transform(q) @ after."""
    joint, before, after = placed
    if type(joint) not in ABOUT_AN_AXIS or max(abs(e) for e in joint.axis) == 1.0:
        return placed
    k = max(range(3), key=lambda i: abs(joint.axis[i]))
    unit = Vector3(*(math.copysign(1.0, joint.axis[k]) if i == k else 0.0 for i in range(3)))
    normal = unit.cross(joint.axis)
    sine = math.sqrt(normal.dot(normal))
    if sine == 0.0:  # it is the coordinate axis, but for a last digit or numbers whose squares vanish
        return replace(joint, axis=unit), before, after
    X = SE3(rotation_about_axis(normal * (1.0 / sine), atan2(sine, unit.dot(joint.axis))))
    return replace(joint, axis=unit), before @ X, X.inverse() @ after


def _best_move(joint: Any, placement: SE3, beyond: Sequence[SE3]) -> SE3:
    """Return the displacement that commutes with the joint's motion and leaves the fewest numbers; the first of equals.

    It turns about the axis and slides along it. All turns with all slides are weighed at once.
    """
    if type(joint) not in (*TURNING, Helical):
        return SE3.identity()
    axis = joint.axis
    along, p = placement.rotation @ axis, placement.translation
    # Slides that make an entry of the translation 0; where the axis is far from that direction, they would be long.
    slides = [0.0, *(-p[i] / along[i] for i in range(3) if abs(along[i]) > 0.7 and p[i] != 0.0)]
    rows = _rows_to_turn(axis, placement.rotation)
    turns = np.array(matrix_about_axis(axis, *np.array([(1.0, 0.0), *_quarters(rows)]).T))
    back, shifts = (
        turns.swapaxes(1, 2),
        np.multiply.outer(slides, np.array(axis))[:, None, :, None],
    )  # (slides, 1, 3, 1)
    (R, d), further = _arrays(placement), map(_arrays, beyond)
    own = _weights(_times(R, turns), _times(R, shifts) + d)
    others = sum(_weights(_times(back, R), _times(back, d) - _times(back, shifts)) for R, d in further)
    slide, turn = divmod(int(np.argmin(own + 0.9 * others)), len(turns))
    return SE3(rotation_about_axis(axis, _angle(rows, turn - 1)) if turn else None, axis * slides[slide])


def _arrays(X: SE3) -> tuple[np.ndarray, np.ndarray]:
    return np.array(X.rotation.entries(), float).reshape(3, 3), np.array(X.translation, float)[:, None]


def _times(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return a @ b with the bits of `Matrix3`: a BLAS sums in an order of its own."""
    x, y, z = (a[..., :, k, None] * b[..., None, k, :] for k in range(3))
    return x + y + z


def _weights(R: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return what the numbers of poses cost that `snapped` leaves."""
    size = np.abs(p)
    moving = (size > RESIDUE * size.max(axis=-2, keepdims=True)).sum((-2, -1))
    return 2.0 * (np.abs(R - np.rint(R)) > RESIDUE).sum((-2, -1)) + moving


def _rows_to_turn(axis: Vector3, R: Matrix3) -> list[tuple[float, float]]:
    """Return what rows of a rotation have across the axis, which angles about it make 0 in part."""
    k = next(i for i in range(3) if axis[i] != 0.0)
    a, b, sign = (k + 1) % 3, (k + 2) % 3, axis[k]
    return [(row[a], sign * row[b]) for row in R.rows() if math.hypot(row[a], row[b]) > 1e-9]


def _quarters(rows: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return cosines and sines of the angles of rows, and of these turned by quarters."""
    units = [(x / size, y / size) for x, y in rows for size in [math.sqrt(x * x + y * y)]]
    return [quarter for c, s in units for quarter in ((c, s), (-s, c), (-c, -s), (s, -c))]


def _angle(rows: Sequence[tuple[float, float]], turn: int) -> float:
    """Return one of these angles."""
    x, y = rows[turn // 4]
    return atan2(y, x) + (0.0, math.pi / 2, math.pi, -math.pi / 2)[turn % 4]


def _move_inertias(nodes: Sequence[Node], symbolic: Sequence[bool]) -> tuple[Node, ...]:
    """Return the nodes with all inertia that may go to the parent gone there."""
    inertias, least = [node.inertia for node in nodes], _least_inertias(nodes, symbolic)
    for node in reversed(nodes):
        part = None if symbolic[node.index] else _unseen_part(node, inertias[node.index])
        if part is None or THINNEST * max(map(abs, part.inertia_at_origin)) > least[node.index]:
            continue
        whole = inertias[node.index]
        rest = [a - b for a, b in zip(whole.parameters(), part.parameters(), strict=True)]
        inertias[node.index] = _clear(Inertia.from_parameters(rest), whole)  # what cancels is exactly 0
        if node.parent >= 0:
            inertias[node.parent] = inertias[node.parent] + node.placement @ part
    return tuple(replace(node, inertia=inertias[node.index]) for node in nodes)


def _unseen_part(node: Node, inertia: Inertia) -> Inertia | None:
    """Return the part of a node's inertia that its joint neither moves nor changes; None if there is no such part."""
    (mass, h, J), joint = inertia, _moving(node)
    if type(joint) is Prismatic:
        return Inertia.from_origin(0.0, Vector3.zero(), J)
    if type(joint) not in TURNING:
        return None
    u = joint.axis
    across = Symmetric3.isotropic(1.0) + Symmetric3.of(u.outer(u)) * -1.0
    k = next((i for i in (3, 0, 5) if across[i] == 1.0), None)
    moment = 0.0 if k is None else J[k]
    return Inertia.from_origin(mass, u * u.dot(h), across * moment)


def _least_inertias(nodes: Sequence[Node], symbolic: Sequence[bool]) -> list[float]:
    """Return, for each node, the least rotational inertia any joint before it may feel of it, wherever it turns.

    That is what the body of that joint has about its axis, and the least moments of all bodies from the node on.
    """
    least = [_least(node.inertia.inertia_at_com) if not symbolic[node.index] else 0.0 for node in nodes]
    for node in reversed(nodes):
        if node.parent >= 0:
            least[node.parent] += least[node.index]
    before: list[float] = []  # the least of the joints before a node
    for node in nodes:
        p = node.parent
        before.append(min(before[p], _own(nodes[p], symbolic[p])) if p >= 0 else math.inf)
    return [a + b for a, b in zip(before, least, strict=True)]


def _own(node: Node, symbolic: bool) -> float:
    """Return the least rotational inertia of a joint's own body and drive about it."""
    if type(_moving(node)) is Prismatic:
        return math.inf
    if symbolic:
        return 0.0
    J, joint = node.inertia.inertia_at_origin, _moving(node)
    if type(joint) not in TURNING:
        return _least(J)
    u = joint.axis
    return max(u.dot(J @ u), 0.0) + sum(e for e in node.armature if isinstance(e, Real))


def _least(J: Symmetric3) -> float:
    """Return a lower bound of the principal moments, equal to the least for rods and half of it for discs.

    From det J = abc and bc <= ((b + c) / 2)^2 <= (tr J / 2)^2, for moments a <= b <= c.
    """
    trace = sum(row[k] for k, row in enumerate(J.matrix().rows()))
    if not trace > 0.0:
        return 0.0
    # of J / tr J, which has no scale: the third power of a small inertia is 0
    x, y, z = (row / trace for row in J.matrix().rows())
    return max(float(4.0 * trace * x.dot(y.cross(z))), 0.0)


def _clear(inertia: Inertia, size: Inertia) -> Inertia:
    """Return an inertia whose rounding errors are 0, relative to the largest number of each kind in another."""
    (m, h, J), largest = inertia, [max(map(abs, part)) for part in ((size.mass,), *size[1:])]
    parts = zip(((m,), h, J), largest, strict=True)
    return Inertia.from_parameters([e if abs(e) > 1e-15 * most else 0.0 for part, most in parts for e in part])
