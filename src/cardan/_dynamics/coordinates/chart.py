"""How one joint's q and v are written elsewhere: the chart, and the rules that make one for a joint.

A chart maps the joint's q to q' and back, and has T with v' = T v, the joint's block of a `Change`. A rule is a
function of a model and one of its joints; it returns None for a joint it does not fit.

One and the same turn is written in several forms:

angle    cos_sin    sin_cos            about a given axis
xyzw    wxyz    mrp    zyx    rpy      quaternions, Rodrigues parameters, the angles of Rz(yaw) Ry(pitch) Rx(roll)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from cardan._algebra.manifolds import MRP, Manifold, UnitComplex, UnitQuaternion
from cardan._algebra.manifolds.manifold import identity_rows
from cardan._algebra.scalar import atan2, cos, sin
from cardan._algebra.spatial import SE3, Matrix3, Motion, Representation, Scalar, Vector3, in_body, represented
from cardan._algebra.spatial.rotations import (
    matrix_from_quaternion_xyzw,
    matrix_from_zyx,
    quaternion_multiply_xyzw,
    quaternion_xyzw_from_matrix,
    zyx_from_matrix,
)
from cardan._dynamics.algorithms.tree import Vector
from cardan._dynamics.coordinates.change import Block, Indices, Rows, rate_of, transposed
from cardan._robot.joints import Joint
from cardan._robot.model import WORLD, Connection, Model
from cardan._robot.model.layout import kind_of

Scalars = Sequence[Scalar]
Circle = Literal["angle", "cos_sin", "sin_cos"]
Quaternion = Literal["xyzw", "wxyz"]
Rotation = Literal["xyzw", "wxyz", "mrp", "zyx", "rpy"]
ONE = Matrix3.identity()

SIZES = {"angle": 1, "cos_sin": 2, "sin_cos": 2, "xyzw": 4, "wxyz": 4, "mrp": 3, "zyx": 3, "rpy": 3}
NAMES = {
    "angle": "the angle",
    "cos_sin": "(cos, sin)",
    "sin_cos": "(sin, cos)",
    "xyzw": "quaternion (x, y, z, w)",
    "wxyz": "quaternion (w, x, y, z)",
    "mrp": "Rodrigues parameters",
    "rpy": "roll, pitch, yaw",
}


def form_of(space: Manifold) -> Any:
    """Return how a configuration space of joints that turn writes its turn; of three numbers, it is zyx."""
    turn = getattr(space, "orientation", getattr(space, "heading", space))
    if isinstance(turn, UnitComplex):
        return turn.order
    if isinstance(turn, UnitQuaternion):
        return "xyzw"
    if isinstance(turn, MRP):
        return "mrp"
    return "zyx" if turn.nq > 1 else "angle"


def rewritten(q: Scalars, form: str, other: str, left: Matrix3 = ONE, right: Matrix3 = ONE) -> list[Scalar]:
    """Return a turn in another form, a rotation R as left R right; equal forms and identities cost nothing."""
    if left == right == ONE:
        if form == other:
            return list(q)
        if {form, other} == {"zyx", "rpy"}:
            return list(q)[::-1]
    turn = _READ[form](q)
    if left != ONE:
        turn = quaternion_multiply_xyzw(quaternion_xyzw_from_matrix(left), turn)
    if right != ONE:
        turn = quaternion_multiply_xyzw(turn, quaternion_xyzw_from_matrix(right))
    return list(_WRITE[other](turn))


def _zyx(quaternion: Scalars) -> Scalars:
    return tuple(zyx_from_matrix(matrix_from_quaternion_xyzw(quaternion)))


_READ: dict[str, Callable[[Scalars], Scalars]] = {
    "angle": lambda q: (cos(q[0]), sin(q[0])),
    "cos_sin": tuple,
    "sin_cos": lambda q: (q[1], q[0]),
    "xyzw": tuple,
    "wxyz": lambda q: (*q[1:], q[0]),
    "mrp": MRP().quaternion_xyzw,
    "zyx": lambda q: quaternion_xyzw_from_matrix(matrix_from_zyx(q)),
    "rpy": lambda q: quaternion_xyzw_from_matrix(matrix_from_zyx(q[::-1])),
}
"""(cos, sin) or a quaternion (x, y, z, w) from each form."""
_WRITE: dict[str, Callable[[Scalars], Scalars]] = {
    "angle": lambda q: (atan2(q[1], q[0]),),
    "cos_sin": tuple,
    "sin_cos": lambda q: (q[1], q[0]),
    "xyzw": tuple,
    "wxyz": lambda q: (q[3], *q[:3]),
    "mrp": MRP().from_quaternion_xyzw,
    "zyx": _zyx,
    "rpy": lambda q: _zyx(q)[::-1],
}


Axes = Literal["child", "parent"]
STILL = Vector3.zero()
HERE = SE3.identity()


@dataclass(frozen=True, slots=True)
class Chart:
    nq: int  # there
    nv: int  # there
    there: Callable[[Scalars], list[Scalar]] = list  # q' of q; by default the same
    here: Callable[[Scalars], list[Scalar]] = list  # q of q'
    matrix: Callable[[Scalars], Rows] | None = None  # the rows of T at q; None if v' = v
    inverse: Callable[[Scalars], Rows] | None = None  # the rows of T^-1 at q
    note: str = ""  # what is written differently there, in words
    effort_in_world: bool = False  # whether the effort is a wrench in world axes though the velocity is in the parent's
    follows: bool = False  # whether these are a mimic joint's coordinates, of which there are none here

    def block(self, joint: Joint, here: Indices, there: Indices, q: Vector, v: Vector | None) -> Block:
        """Return the joint's block of T at its own q, with its rate if v is given."""
        if self.matrix is None or self.inverse is None:
            return Block(here, there, identity_rows(self.nv), identity_rows(self.nv), [])
        moving = v is not None
        rate = rate_of(self.matrix, q, joint.velocity_to_configuration_derivative(q, v)) if moving else []
        return Block(here, there, self.matrix(q), self.inverse(q), rate)


Rule = Callable[[Model, Connection], Chart | None]


def same(model: Model, c: Connection) -> Chart:
    return Chart(c.joint.nq, c.joint.nv)


def follower(mimic: Any, inner: Chart) -> Chart:
    """Return the chart of a mimic joint with coordinates of its own there; q and v here are those of its primary."""

    def matrix(q: Scalars) -> Rows:
        T = inner.matrix(mimic.inner_configuration(q)) if inner.matrix else identity_rows(inner.nv)
        columns = transposed(mimic.slopes(q))
        return [[sum((a * b for a, b in zip(row, column, strict=True)), 0.0) for column in columns] for row in T]

    def inverse(q: Scalars) -> Rows:
        return [[0.0] * inner.nv for _ in range(mimic.nv)]  # the primary's velocity is taken from the primary

    def there(q: Scalars) -> list[Scalar]:
        if isinstance(mimic.manifold, UnitComplex) and inner.nq == 1:  # an angle, which has no seam
            return [mimic.multiplier * e + mimic.offset for e in inner.there(q)]
        return inner.there(mimic.inner_configuration(q))

    note = f"coordinates of its own: {kind_of(mimic).partition(' = ')[2]}{inner.note}"
    return Chart(inner.nq, inner.nv, there, lambda q: [], matrix, inverse, note, follows=True)


def circle(form: Circle) -> Rule:
    """Return the rule of a turn about an axis, whose velocity is the angle's rate however the angle is written."""

    def chart(model: Model, c: Connection) -> Chart:
        own = form_of(c.joint.manifold)
        note = "" if form == own else f"{NAMES[form]} for {NAMES[own]}"
        return Chart(SIZES[form], 1, *_both_ways(own, form), note=note)

    return chart


def plane(form: Circle, axes: Axes) -> Rule:
    """Return the rule of a motion in a plane, its heading in some form.

    The linear velocity is in the child's or the parent's axes; in the parent's it is dx/dt, dy/dt.
    """

    def chart(model: Model, c: Connection) -> Chart:
        space: Any = c.joint.manifold
        own = form_of(space)

        def matrix(q: Scalars) -> Rows:
            c, s = space.cos_sin(q)
            return [[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]

        notes = [] if form == own else [f"heading as {form.replace('_', ', ')}"]
        notes += ["linear velocity in parent axes"] if axes == "parent" else []
        turning = (matrix, lambda q: transposed(matrix(q))) if axes == "parent" else (None, None)
        return Chart(2 + SIZES[form], 3, *_both_ways(own, form, after=2), *turning, "; ".join(notes))

    return chart


def ball(form: Quaternion | Literal["rpy"], axes: Axes = "child", of_body: bool = False) -> Rule:
    """Return the rule of a rotation about a point, its angular velocity in the child's or the parent's axes.

    If `of_body`, the child's axes are those of the child body, not of the joint.
    """

    def chart(model: Model, c: Connection) -> Chart:
        joint, own, turn = c.joint, form_of(c.joint.manifold), c.child_pose.rotation if of_body else ONE

        def axes_there(q: Scalars) -> Matrix3:
            return turn if axes == "child" else turn @ joint.transform(q).rotation

        def rates(q: Scalars) -> Matrix3:
            return Matrix3.from_columns(*(s.angular for s in joint.motion_subspace(q)))

        def inverse(q: Scalars) -> Rows:
            back = axes_there(q).T
            return _rows(back if own == "xyzw" else _inverse(rates(q)) @ back)

        notes = [] if form == own else [NAMES[form]]
        notes += ["angular velocity in parent axes"] if axes == "parent" else []
        notes += ["axes of the child body"] if turn != ONE else []
        maps = _both_ways(own, form, left=turn, right=turn.T)
        return Chart(SIZES[form], 3, *maps, lambda q: _rows(axes_there(q) @ rates(q)), inverse, "; ".join(notes))

    return chart


@dataclass(frozen=True, slots=True)
class Free:
    """The rule of a free motion, its pose X', its twist taken at a point of the child and written part by part."""

    form: Rotation  # of the orientation there
    linear: Representation = "body"  # that of the linear part of the velocity there
    angular: Representation = "body"  # that of the angular part
    reverse: bool = False  # whether orientation comes before position there, and angular before linear velocity
    # whether X' is the pose of the child body in the world, and nothing else is free there; else of the joint's frames
    of_base: bool = False
    point: Callable[[Model, str], Vector3] | None = None  # where the velocity is taken, in the child body
    effort_in_world: bool = False  # whether the effort is a wrench in world axes though the velocity is in the parent's
    outer: Literal["world", "parent"] = "world"  # what to call the axes that are not the body's

    def __call__(self, model: Model, c: Connection) -> Chart | None:
        if self.of_base and c.parent != WORLD:
            return None
        left, right = (c.parent_pose, c.child_pose.inverse()) if self.of_base else (HERE, HERE)
        point = self.point(model, c.child) if self.point else STILL
        point = point if self.of_base or point == STILL else c.child_pose.inverse_act(point)
        velocities = free_velocity(c.joint, left, right, point, self.linear, self.angular, self.reverse)
        note = self._note(form_of(c.joint.manifold), point != STILL, not left == right == HERE)
        return Chart(
            3 + SIZES[self.form], 6, *self._poses(c.joint, left, right), *velocities, note, self.effort_in_world
        )

    def _poses(self, joint: Joint, left: SE3, right: SE3) -> tuple[Any, Any]:
        """Return the maps of q = (position, orientation) to X' = left X right, as it is written there, and back."""
        moved, own = not left == right == HERE, form_of(joint.manifold)
        turned, back = _both_ways(own, self.form, left=left.rotation, right=right.rotation)

        def there(q: Scalars) -> list[Scalar]:
            position = list((left @ joint.transform(q) @ right).translation if moved else q[:3])
            return turned(q[3:]) + position if self.reverse else position + turned(q[3:])

        def here(q: Scalars) -> list[Scalar]:
            position, orientation = (q[-3:], q[:-3]) if self.reverse else (q[:3], q[3:])
            if moved:
                R = matrix_from_quaternion_xyzw(rewritten(orientation, self.form, "xyzw"))
                position = (left.inverse() @ SE3(R, Vector3(*position)) @ right.inverse()).translation
            return [*position, *back(orientation)]

        return there, here

    def _note(self, own: str, at_point: bool, moved: bool) -> str:
        axes = {"body": "", "mixed": f"in {self.outer} axes", "inertial": f"in {self.outer} axes at its origin"}
        notes = [] if self.form == own else [NAMES[self.form]]
        notes += ["orientation before position", "angular velocity before linear"] if self.reverse else []
        parts = (("linear", self.linear), ("angular", self.angular))
        notes += [f"{part} velocity {axes[how]}" for part, how in parts if axes[how]]
        notes += ["velocity of the centre of mass"] if at_point else []
        notes += ["pose of the child body"] if moved else []
        notes += ["effort in world axes"] if self.effort_in_world else []
        return "; ".join(notes)


def free_velocity(
    joint: Joint,
    left: SE3,
    right: SE3,
    point: Vector3,
    linear: Representation,
    angular: Representation,
    reverse: bool = False,
) -> tuple[Any, Any]:
    """Return the functions of q that give T and its inverse for the twist of left X right; none where T = 1."""
    if linear == angular == "body" and not reverse and right == HERE and point == STILL:
        return None, None

    def velocity(twist: Vector, X: SE3) -> tuple[Scalar, ...]:
        v, w = right.inverse_act(Motion.of(tuple(twist)))
        V = Motion(v + w.cross(point), w)
        first, second = represented(V, X, linear).linear, represented(V, X, angular).angular
        return (*second, *first) if reverse else (*first, *second)

    def twist(velocity: Vector, X: SE3) -> tuple[Scalar, ...]:
        first, second = Vector3(*velocity[:3]), Vector3(*velocity[3:])
        v, turning = (second, first) if reverse else (first, second)
        w = in_body(Motion(STILL, turning), X, angular).angular
        along = turning if linear == angular else represented(Motion(STILL, w), X, linear).angular
        v = in_body(Motion(v, along), X, linear).linear
        return (right @ Motion(v - w.cross(point), w)).scalars()

    def matrix_of(column: Callable[[Vector, SE3], tuple[Scalar, ...]]) -> Callable[[Scalars], Rows]:
        def matrix(q: Scalars) -> Rows:
            X = left @ joint.transform(q) @ right
            return transposed([column(e, X) for e in identity_rows(6)])

        return matrix

    return matrix_of(velocity), matrix_of(twist)


def _both_ways(own: str, form: str, after: int = 0, left: Matrix3 = ONE, right: Matrix3 = ONE) -> tuple[Any, Any]:
    """Return the maps of q and q', whose last entries are a turn R in one form, left R right in another."""
    return (
        lambda q: [*q[:after], *rewritten(q[after:], own, form, left, right)],
        lambda q: [*q[:after], *rewritten(q[after:], form, own, left.T, right.T)],
    )


def _inverse(A: Matrix3) -> Matrix3:
    """Return A^-1 by cross products; where Euler angles are singular, it does not exist."""
    a, b, c = A.columns()
    rows = (b.cross(c), c.cross(a), a.cross(b))
    scale = 1.0 / a.dot(rows[0])
    return Matrix3.from_columns(*(row * scale for row in rows)).T


def _rows(matrix: Matrix3) -> Rows:
    return [list(row) for row in matrix.rows()]
