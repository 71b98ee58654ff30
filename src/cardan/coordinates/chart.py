"""How one joint's q and v are written elsewhere: the chart, and the rules that make one for a joint.

A chart maps the joint's q to q' and back, and has T with v' = T v, the joint's block of a `Change`. A rule is a
function of a model and one of its joints; it returns None for a joint it does not fit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from cardan.algorithms.tree import Vector
from cardan.coordinates import forms
from cardan.coordinates.change import Block, Indices, Rows, rate_of, transposed, unit_rows
from cardan.coordinates.forms import ONE, Circle, Quaternion, Scalars, as_circle, as_rotation
from cardan.joints import Joint, Mimic
from cardan.model import WORLD, Connection, Model
from cardan.spatial import SE3, Matrix3, Motion, Representation, Scalar, Vector3, in_body, represented
from cardan.spatial.rotations import matrix_from_quaternion_xyzw

Axes = Literal["child", "parent"]
STILL = Vector3.zero()


@dataclass(frozen=True, slots=True)
class Chart:
    """A joint's coordinates there.

    Args:
        nq: number of coordinates there.
        nv: number of velocities there.
        there: q' of q; by default the same.
        here: q of q'.
        matrix: the rows of T at q; None where v' = v.
        inverse: the rows of T^-1 at q.
        note: what is written otherwise there, in words; empty if nothing is.
        effort_in_world: whether the effort there is a wrench in world axes though the velocity is in the parent's.
        follows: whether these are a mimic joint's coordinates, of which there are none here.
    """

    nq: int
    nv: int
    there: Callable[[Scalars], list[Scalar]] = list
    here: Callable[[Scalars], list[Scalar]] = list
    matrix: Callable[[Scalars], Rows] | None = None
    inverse: Callable[[Scalars], Rows] | None = None
    note: str = ""
    effort_in_world: bool = False
    follows: bool = False

    def block(self, joint: Joint, here: Indices, there: Indices, q: Vector, v: Vector | None) -> Block:
        """Return the joint's block of T at its own q, with its rate if v is given."""
        if self.matrix is None or self.inverse is None:
            return Block(here, there, unit_rows(self.nv), unit_rows(self.nv), [])
        moving = v is not None
        rate = rate_of(self.matrix, q, joint.velocity_to_configuration_derivative(q, v)) if moving else []
        return Block(here, there, self.matrix(q), self.inverse(q), rate)


Rule = Callable[[Model, Connection], Chart | None]


def same(model: Model, c: Connection) -> Chart:
    """Return the chart of the same coordinates."""
    return Chart(c.joint.nq, c.joint.nv)


def follower(mimic: Mimic, inner: Chart) -> Chart:
    """Return the chart of a mimic joint with coordinates of its own there; q and v here are those of its primary."""

    def rows(q: Scalars) -> Rows:
        T = inner.matrix(mimic.inner_configuration(q)) if inner.matrix else unit_rows(inner.nv)
        return [[mimic.multiplier * e for e in row] for row in T]

    return Chart(
        inner.nq,
        inner.nv,
        lambda q: inner.there(mimic.inner_configuration(q)),
        lambda q: [],
        rows,
        lambda q: [[0.0] * inner.nv for _ in range(mimic.nv)],  # the primary's velocity is taken from the primary
        f"coordinates of its own: {mimic.multiplier:g} {mimic.primary} + {mimic.offset:g}" + inner.note,
        follows=True,
    )


def circle(form: Circle) -> Rule:
    """Return the rule of a turn about an axis, whose velocity is the angle's rate however the angle is written."""

    def chart(model: Model, c: Connection) -> Chart:
        own = forms.circle_form(c.joint.manifold)
        note = "" if form == own else f"{forms.NAMES[form]} for {forms.NAMES[own]}"
        there, here = _both_ways(as_circle, own, form)
        return Chart(forms.SIZES[form], 1, there, here, note=note)

    return chart


def plane(form: Circle, axes: Axes) -> Rule:
    """Return the rule of a motion in a plane.

    Args:
        form: how the heading is written there.
        axes: of the linear velocity there, in the child's or the parent's axes; in the parent's it is dx/dt, dy/dt.
    """

    def chart(model: Model, c: Connection) -> Chart:
        space: Any = c.joint.manifold
        own: Circle = "cos_sin" if space.nq == 4 else "angle"

        def matrix(q: Scalars) -> Rows:
            c, s = space.cos_sin(q)
            return [[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]

        told = [] if form == own else [f"heading as {form.replace('_', ', ')}"]
        told += ["linear velocity in parent axes"] if axes == "parent" else []
        there, here = _both_ways(as_circle, own, form, after=2)
        turning = (matrix, lambda q: transposed(matrix(q))) if axes == "parent" else (None, None)
        return Chart(2 + forms.SIZES[form], 3, there, here, *turning, "; ".join(told))

    return chart


def ball(form: Quaternion | Literal["rpy"], axes: Axes = "child", of_body: bool = False) -> Rule:
    """Return the rule of a rotation about a point.

    Args:
        form: how it is written there.
        axes: of the angular velocity there, in the child's or the parent's axes.
        of_body: whether axes there are those of the child body, where these are not the joint's.
    """

    def chart(model: Model, c: Connection) -> Chart:
        joint, own, turn = c.joint, forms.rotation_form(c.joint), c.child_pose.rotation if of_body else ONE

        def axes_there(q: Scalars) -> Matrix3:
            return turn if axes == "child" else turn @ joint.transform(q).rotation

        def rates(q: Scalars) -> Matrix3:
            return Matrix3.from_columns(*(s.angular for s in joint.motion_subspace(q)))

        def inverse(q: Scalars) -> Rows:
            back = axes_there(q).T
            return _matrix_rows(back if own == "xyzw" else _inverse(rates(q)) @ back)

        told = [] if form == own else [forms.NAMES[form]]
        told += ["angular velocity in parent axes"] if axes == "parent" else []
        told += ["axes of the child body"] if turn != ONE else []
        return Chart(
            forms.SIZES[form],
            3,
            lambda q: as_rotation(q, own, form, turn, turn.T),
            lambda q: as_rotation(q, form, own, turn.T, turn),
            lambda q: _matrix_rows(axes_there(q) @ rates(q)),
            inverse,
            "; ".join(told),
        )

    return chart


@dataclass(frozen=True, slots=True)
class Free:
    """The rule of a free motion: X' = left X right, its twist taken at a point of the child, written part by part.

    Args:
        form: of the orientation there; by default as it is here.
        linear: representation of the linear part of the velocity there.
        angular: representation of the angular part there.
        position_first: whether the position comes before the orientation there.
        linear_first: whether the linear part comes before the angular part there.
        of_base: whether X' is the pose of the child body in the world, and nothing else is free there; else it is the
            pose of the joint's own frames.
        point: where the velocity is taken, in the child body: a function of a model and a body.
        effort_in_world: whether the effort there is a wrench in world axes though the velocity is in the parent's.
        outer: what to call the axes that are not the body's.
    """

    form: forms.Rotation | None = None
    linear: Representation = "body"
    angular: Representation = "body"
    position_first: bool = True
    linear_first: bool = True
    of_base: bool = False
    point: Callable[[Model, str], Vector3] | None = None
    effort_in_world: bool = False
    outer: Literal["world", "parent"] = "world"

    def __call__(self, model: Model, c: Connection) -> Chart | None:
        """Return the chart of a joint."""
        if self.of_base and c.parent != WORLD:
            return None
        left, right = (c.parent_pose, c.child_pose.inverse()) if self.of_base else (SE3.identity(), SE3.identity())
        point = self.point(model, c.child) if self.point else STILL
        point = point if self.of_base or point == STILL else c.child_pose.inverse_act(point)
        own = forms.rotation_form(c.joint)
        form = self.form or own
        there, here = _poses(c.joint, own, form, left, right, self.position_first)
        matrix, inverse = self.velocity_maps(c.joint, left, right, point)
        told = [] if form == own else [forms.NAMES[form]]
        told += [] if self.position_first else ["orientation before position"]
        told += self._velocity_notes()
        told += ["velocity of the centre of mass"] if point != STILL else []
        told += [] if left == right == SE3.identity() else ["pose of the child body"]
        told += ["effort in world axes"] if self.effort_in_world else []
        size = 3 + forms.SIZES[form]
        return Chart(size, 6, there, here, matrix, inverse, "; ".join(told), self.effort_in_world)

    def velocity_maps(self, joint: Joint, left: SE3, right: SE3, point: Vector3) -> tuple[Any, Any]:
        """Return the functions of q that give T and its inverse; none where T = 1."""
        if self.linear == self.angular == "body" and self.linear_first and right == SE3.identity() and point == STILL:
            return None, None

        def velocity(twist: Motion, X: SE3) -> tuple[Scalar, ...]:
            V = right.inverse_act(twist)
            V = Motion(V.linear + V.angular.cross(point), V.angular)
            linear, angular = represented(V, X, self.linear).linear, represented(V, X, self.angular).angular
            return (*linear, *angular) if self.linear_first else (*angular, *linear)

        def twist(velocity: Scalars, X: SE3) -> tuple[Scalar, ...]:
            first, second = Vector3(*velocity[:3]), Vector3(*velocity[3:])
            linear, angular = (first, second) if self.linear_first else (second, first)
            w = in_body(Motion(STILL, angular), X, self.angular).angular
            along = angular if self.linear == self.angular else represented(Motion(STILL, w), X, self.linear).angular
            v = in_body(Motion(linear, along), X, self.linear).linear
            return (right @ Motion(v - w.cross(point), w)).scalars()

        def matrix(q: Scalars) -> Rows:
            X = left @ joint.transform(q) @ right
            return transposed(velocity(Motion.of(tuple(e)), X) for e in unit_rows(6))

        def inverse(q: Scalars) -> Rows:
            X = left @ joint.transform(q) @ right
            return transposed(twist(e, X) for e in unit_rows(6))

        return matrix, inverse

    def _velocity_notes(self) -> list[str]:
        axes = {"body": "", "mixed": f"in {self.outer} axes", "inertial": f"in {self.outer} axes at its origin"}
        told = [] if self.linear_first else ["angular velocity before linear"]
        parts = (("linear", self.linear), ("angular", self.angular))
        return told + [f"{part} velocity {axes[how]}" for part, how in parts if axes[how]]


def _poses(
    joint: Joint, own: forms.Rotation, form: forms.Rotation, left: SE3, right: SE3, position_first: bool
) -> tuple[Any, Any]:
    """Return the maps of q = (position, orientation) to those of left X right, in another form and order, and back."""
    moved = not left == right == SE3.identity()
    size = 3 if position_first else forms.SIZES[form]

    def there(q: Scalars) -> list[Scalar]:
        position = list((left @ joint.transform(q) @ right).translation if moved else q[:3])
        orientation = as_rotation(q[3:], own, form, left.rotation, right.rotation)
        return position + orientation if position_first else orientation + position

    def here(q: Scalars) -> list[Scalar]:
        position, orientation = (q[:size], q[size:]) if position_first else (q[size:], q[:size])
        if moved:
            R = matrix_from_quaternion_xyzw(as_rotation(orientation, form, "xyzw"))
            position = (left.inverse() @ SE3(R, Vector3(*position)) @ right.inverse()).translation
        return [*position, *as_rotation(orientation, form, own, left.rotation.T, right.rotation.T)]

    return there, here


def _both_ways(rewritten: Any, own: str, form: str, after: int = 0) -> tuple[Any, Any]:
    """Return the maps of q and q' whose entries after the first few are a turn in one form and another."""
    return (
        lambda q: [*q[:after], *rewritten(q[after:], own, form)],
        lambda q: [*q[:after], *rewritten(q[after:], form, own)],
    )


def _inverse(A: Matrix3) -> Matrix3:
    """Return A^-1 by cross products; where Euler angles are singular, it does not exist."""
    a, b, c = A.columns()
    rows = (b.cross(c), c.cross(a), a.cross(b))
    scale = 1.0 / a.dot(rows[0])
    return Matrix3.from_columns(*(row * scale for row in rows)).T


def _matrix_rows(matrix: Matrix3) -> Rows:
    return [list(row) for row in matrix.rows()]
