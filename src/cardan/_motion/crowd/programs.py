"""What is computed for each row of a table, as programs: of a tree, of a pair of shapes, of a contact.

They are made of the pages that a step of one robot is made of, once for each kind of thing; their inputs and outputs are
columns. A *node row* holds where the frame of a node is and how it moves: R, p, V, and at zero joint acceleration the
acceleration of its origin and the rate of its angular velocity, gravity subtracted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.scalar import logical_and, where
from cardan._algebra.spatial import SE3, ArticulatedInertia, Force, Inertia, Matrix3, Motion, Symmetric3, Vector3
from cardan._compiler.program import Array, Program, trace
from cardan._dynamics.algorithms import stepping
from cardan._dynamics.algorithms.crba import mass_matrix
from cardan._dynamics.algorithms.gyroscopic import gyroscopic_efforts
from cardan._dynamics.algorithms.health import is_sound
from cardan._dynamics.algorithms.implicit import Snapshot, implicit_dynamics
from cardan._dynamics.algorithms.rnea import bias_forces
from cardan._dynamics.algorithms.spin import BodyMotion, Spin
from cardan._motion.collision import Candidate
from cardan._motion.collision.candidate import FAR
from cardan._motion.collision.table import PAIRS, of_sizes
from cardan._motion.contact.cone import Cone, Impulse
from cardan._motion.contact.moving_point import lever_rate
from cardan._motion.contact.point import Contact
from cardan._robot.model import Model

LANES, BLOCK = 8, 6  # entries of a column, and how many of them count
NODE = 24  # numbers of a node row
SURFACE = ("friction", "restitution", "stiffness", "dissipation", "torsional", "rolling")
LAW = ("friction", "inverse_mass", "R_n", "R_t", "wanted", "torsional", "rolling")

Columns = Mapping[str, int | tuple[int, ...]]


def program(name: str, columns: Columns, of: Callable[..., Mapping[str, Any]]) -> Program:
    """Return the program of a function of columns, which it takes by name."""
    inputs = [Array(key, (size,) if isinstance(size, int) else size) for key, size in columns.items()]

    def run(*arrays: np.ndarray) -> dict[str, np.ndarray]:
        given = {a.name: array for a, array in zip(inputs, arrays, strict=True)}
        return {key: np.array(value, dtype=object) for key, value in of(**given).items()}

    return trace(name, run, inputs, regions=True)


def pose_of(row: Sequence[Any]) -> SE3:
    """Return the pose of twelve numbers: a rotation, row by row, and a translation."""
    R = [row[3 * k : 3 * k + 3] for k in range(3)]
    return SE3(Matrix3(R), Vector3(*row[9:12]))


def numbers_of(X: SE3) -> list[Any]:
    return [*X.rotation.entries(), *X.translation]


class NodeRow(NamedTuple):
    """A node row as spatial objects."""

    X: SE3
    V: Motion
    motion: BodyMotion

    @staticmethod
    def of(row: Sequence[Any]) -> NodeRow:
        V = Motion(tuple(row[12:15]), tuple(row[15:18]))
        return NodeRow(pose_of(row), V, BodyMotion(Vector3(*row[18:21]), Spin(V.angular, Vector3(*row[21:24]))))

    @property
    def numbers(self) -> list[Any]:
        return [*numbers_of(self.X), *self.V.scalars(), *self.motion.origin, *self.motion.spin.rate]


# --- trees ----------------------------------------------------------------------------------------------------------


def blocks_of(nv: int) -> int:
    return -(-nv // BLOCK)


def start_of(model: Model, nodes: Sequence[int], dt: float, own: Columns) -> Program:
    """Return the program of what a step begins with, of q, v, efforts along v and the model's inputs.

    `nodes` are those whose rows and Jacobians are asked for. Matrices come in blocks, each as columns of eight:
    `mass` the lower half of M, a column of blocks after the other; `jacobian` of each node a block for six velocities.
    """
    count = blocks_of(model.nv)

    def start(q: Any, v: Any, effort: Any, **values: Any) -> dict[str, Any]:
        given = model.filled_with(values) if values else model
        moment = Snapshot(given, list(q), list(v))
        M, h = mass_matrix.kernel(given, list(q)), bias_forces.kernel(given, list(q), list(v))
        tau = [a + b for a, b in zip(effort, gyroscopic_efforts(moment, dt), strict=True)]
        rows = [NodeRow(moment.poses[i], moment.V[i], moment.motions[i]).numbers for i in nodes]
        found = {
            "mass": [_block(M, r, c, 1.0) for c in range(count) for r in range(c, count)],
            "force": _in_blocks([t - e for t, e in zip(tau, h, strict=True)]),
            "free": _in_blocks(implicit_dynamics(moment, tau).a),
            "node": rows,
        }
        J = [_rows_of(moment.columns(i), given.nv) for i in nodes]
        return found | {"jacobian": [[_block(rows, 0, c) for c in range(count)] for rows in J]}

    return program("start", {"q": model.nq, "v": model.nv, "effort": model.nv} | dict(own), start)


def _block(A: Sequence[Sequence[Any]], r: int, c: int, padding: float = 0.0) -> list[list[Any]]:
    """Return a block of a matrix, column by column; beyond its ends `padding` on the diagonal, and 0."""

    def entry(i: int, j: int) -> Any:
        if i < min(BLOCK * (r + 1), len(A)) and j < len(A[0]):
            return A[i][j]
        return padding if i == j and i < BLOCK * (r + 1) else 0.0

    return [[entry(BLOCK * r + i, BLOCK * c + j) for i in range(LANES)] for j in range(BLOCK)]


def _in_blocks(vector: Sequence[Any]) -> list[list[Any]]:
    padded = [*vector, *[0.0] * (-len(vector) % BLOCK)]
    return [[*padded[k : k + BLOCK], *[0.0] * (LANES - BLOCK)] for k in range(0, len(padded), BLOCK)]


def _rows_of(columns: Mapping[int, Motion], nv: int) -> list[list[Any]]:
    zero = [0.0] * BLOCK
    return np.array([list(columns[j].scalars()) if j in columns else zero for j in range(nv)], dtype=object).T.tolist()


def finish_of(model: Model, dt: float, own: Columns) -> Program:
    """Return the program of the state after a step with accelerations in blocks; `sound` is 1 if it is finite."""

    def finish(q: Any, v: Any, a: Any, **values: Any) -> dict[str, Any]:
        given = model.filled_with(values) if values else model
        rates = [e for block in a for e in block[:BLOCK]][: model.nv]
        after = stepping.implicit(given, list(q), list(v), rates, dt)
        sound = is_sound(after.q, after.v, rates)
        kept = [[where(sound, x, y) for x, y in zip(*both, strict=True)] for both in ((after.q, q), (after.v, v))]
        return {"q_after": kept[0], "v_after": kept[1], "sound": [where(sound, 1.0, 0.0)]}

    columns = {"q": model.nq, "v": model.nv, "a": (blocks_of(model.nv), LANES)}
    return program("finish", columns | dict(own), finish)


# --- pairs of shapes --------------------------------------------------------------------------------------------------


def pair_of(first: Any, second: Any, fixed: bool, swapped: bool) -> Program:
    """Return the program of the candidates of two shapes like these, in the frame of the first one's node.

    Inputs: poses of both shapes in the world, that of the first in its node, sizes. On ground that stands still also
    the angular velocity of the first one's node and its centre there, for how fast its lever turns (`moving_point`).
    """
    sizes = [number_of_sizes(first), number_of_sizes(second)]
    page = PAIRS[type(second), type(first)] if swapped else PAIRS[type(first), type(second)]

    def candidates(X_a: Any, X_b: Any, local: Any, size_a: Any, size_b: Any, **moving: Any) -> dict[str, Any]:
        world_a, world_b, X = pose_of(X_a), pose_of(X_b), pose_of(local)
        X_ab = SE3(world_a.rotation.T @ world_b.rotation, world_a.inverse_act(world_b.translation))
        a, b = with_sizes(first, size_a), with_sizes(second, size_b)
        own = page(a, SE3(), b, X_ab) if not swapped else [c.seen_from_b(X_ab) for c in page(b, SE3(), a, X_ab.inverse())]
        found = [Candidate(c.gap, X @ c.point, X.rotation @ c.normal) for c in own]
        result = {"gap": [c.gap for c in found], "point": [[*c.point] for c in found]}
        result["normal"] = [[*c.normal] for c in found]
        if fixed:
            w, centre, rate = Vector3(*moving["w"]), Vector3(*moving["centre"]), lever_rate(a, X)
            turned = [w.cross(rate(w, c.normal, c.point - centre)) if rate else Vector3.zero() for c in found]
            result["turning"] = [[*e] for e in turned]
        return result

    columns = {"X_a": 12, "X_b": 12, "local": 12, "size_a": sizes[0], "size_b": sizes[1]}
    return program("pair", columns | ({"w": 3, "centre": 3} if fixed else {}), candidates)


def sizes_of(shape: Any) -> list[float]:
    """Return the numbers that shapes of one kind differ in."""
    from dataclasses import fields

    from cardan._motion.collision.table import CONSTANT

    if isinstance(shape, CONSTANT):
        return []
    return np.ravel([getattr(shape, field.name) for field in fields(shape)]).astype(float).tolist()


def kind_of(shape: Any) -> Any:
    """Return what shapes that one program knows have in common."""
    from cardan._motion.collision.table import kind_of as of_constant

    return of_constant(shape)


def number_of_sizes(shape: Any) -> int:
    return len(sizes_of(shape))


def with_sizes(like: Any, numbers: Sequence[Any]) -> Any:
    from dataclasses import fields

    from cardan._motion.collision.table import CONSTANT

    if isinstance(like, CONSTANT):
        return like
    left, sizes = list(numbers), []
    for field in fields(like):
        own = getattr(like, field.name)
        n = np.size(own)
        sizes.append(tuple(left[:n]) if np.ndim(own) else left[0])
        del left[:n]
    return of_sizes(like, sizes)


# --- contacts -----------------------------------------------------------------------------------------------------------


def contact_of(dt: float, lengths: bool) -> Program:
    """Return the program of what is known of a contact as a step begins: its law, and the impulse to begin with.

    `a` and `b` are rows of its nodes; the world at rest is a row, too. `surface` has what `SURFACE` names, a negative
    dissipation for one that is not given.
    """

    def begin(
        a: Any, b: Any, gap: Any, point: Any, normal: Any, turning: Any, centres: Any, surface: Any, inverse_mass: Any
    ) -> dict[str, Any]:
        ends = [NodeRow.of(a), NodeRow.of(b)]
        moment: Any = SimpleNamespace(
            poses=[e.X for e in ends], V=[e.V for e in ends], motions=[e.motion for e in ends], q=[gap[0]]
        )
        both = Vector3(*centres[:3]), Vector3(*centres[3:])
        shared: Any = SimpleNamespace(nodes=(0, 1), centres=both, inverse_mass=inverse_mass[0], lever_rate=None)
        material: Any = SimpleNamespace(**dict(zip(SURFACE, surface, strict=True)))
        if not lengths:
            material.torsional = material.rolling = 0.0
        candidate = Candidate(gap[0], Vector3(*point), Vector3(*normal))
        contact = Contact(moment, shared, candidate, material)
        given = Cone.of(contact, dt)
        material.dissipation = None
        own, is_own = Cone.of(contact, dt), surface[3] < 0.0
        law = given._asdict() if hasattr(given, "_asdict") else {k: getattr(given, k) for k in LAW}
        law = {k: where(is_own, getattr(own, k), getattr(given, k)) if k in ("R_n", "wanted") else law[k] for k in LAW}
        cone = Cone(contact.normal, **law)
        twist = contact.ahead(dt)
        ahead = Motion(twist.linear + Vector3(*turning) * (0.5 * dt), twist.angular)
        test = cone.test(cone.first(contact.velocity), contact.velocity)
        return {"law": _law_row(cone, contact.place), "ahead": _twist(ahead, lengths), "test": _impulse(test, lengths)}

    columns = {"a": NODE, "b": NODE, "gap": 1, "point": 3, "normal": 3, "turning": 3, "centres": 6}
    return program("contact", columns | {"surface": len(SURFACE), "inverse_mass": 1}, begin)


def response_of(dt: float, lengths: bool) -> Program:
    """Return the program of what a contact does, on the part of its law that is decided on, at its node's origin.

    `answer` has the wrench without accelerations, then the impedance: its upper half, row by row.
    """

    def response(law: Any, ahead: Any, test: Any) -> dict[str, Any]:
        cone, place = _law_of(law, lengths)
        part = cone.part(_impulse_of(test, lengths))
        force = place @ (cone.wrench(part.at(_twist_of(ahead, lengths))) * (1.0 / dt))
        rows = (place @ part.impedance).rows()
        return {"answer": [*force.scalars(), *(rows[i][j] for i in range(6) for j in range(i, 6))]}

    return program("response", _of_contacts(lengths), response)


def reaction_of(dt: float, lengths: bool) -> Program:
    """Return the program of what a change of its node's acceleration, 6 numbers, does to a contact."""

    def reaction(law: Any, ahead: Any, test: Any, change: Any) -> dict[str, Any]:
        cone, place = _law_of(law, lengths)
        own = place.inverse_act(Motion(tuple(change[:3]), tuple(change[3:])))
        twist = _twist_of(ahead, lengths) + own * dt
        g = cone.part(_impulse_of(test, lengths)).at(twist)
        after = cone.test(g, twist)
        found = {"after": _impulse(after, lengths), "impulse": _impulse(g, lengths)}
        return found | {"error": [cone.squared_error(g, after)]}

    return program("reaction", _of_contacts(lengths) | {"change": 6}, reaction)


def law_size() -> int:
    return 6 + len(LAW)


def impulse_size(lengths: bool) -> int:
    return 7 if lengths else 4


def twist_size(lengths: bool) -> int:
    return 6 if lengths else 3


def _of_contacts(lengths: bool) -> dict[str, Any]:
    return {"law": law_size(), "ahead": twist_size(lengths), "test": impulse_size(lengths)}


def _law_row(cone: Cone, place: SE3) -> list[Any]:
    return [*cone.normal, *place.translation, *(getattr(cone, key) for key in LAW)]


def _law_of(row: Any, lengths: bool) -> tuple[Cone, SE3]:
    values = dict(zip(LAW, row[6:], strict=True))
    if not lengths:
        values |= {"torsional": 0.0, "rolling": 0.0}
    return Cone(Vector3(*row[:3]), **values), SE3(None, Vector3(*row[3:6]))


def _twist(V: Motion, lengths: bool) -> list[Any]:
    return list(V.scalars()) if lengths else [*V.linear]


def _twist_of(row: Any, lengths: bool) -> Motion:
    return Motion(tuple(row[:3]), tuple(row[3:6]) if lengths else (0.0, 0.0, 0.0))


def _impulse(g: Impulse, lengths: bool) -> list[Any]:
    return [g.normal, *(g.slip.scalars() if lengths else g.slip.linear)]


def _impulse_of(row: Any, lengths: bool) -> Impulse:
    slip = Force(tuple(row[1:4]), tuple(row[4:7]) if lengths else (0.0, 0.0, 0.0))
    return Impulse(row[0], slip)
