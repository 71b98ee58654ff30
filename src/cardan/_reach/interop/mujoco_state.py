"""States of a model in MuJoCo, whatever `to_mjspec` had to cut there.

A model it can say has the coordinates of `cardan.conventions.to("mujoco", model)`. Of any other, the model that
is there has more of them, behind its own: those of joints that were cut are found from the motion of the bodies.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from cardan._algebra.spatial import SE3, Inertia, Scalar
from cardan._dynamics.algorithms.kinematics import Kinematics
from cardan._dynamics.algorithms.tree import Vector
from cardan._dynamics.coordinates import conventions
from cardan._dynamics.coordinates.compiled_methods import Compiled, compiled
from cardan._dynamics.coordinates.convention import kind_of, turn_of
from cardan._dynamics.coordinates.model_converter import Between
from cardan._reach.interop.mujoco_joints import placed
from cardan._robot import joints as J
from cardan._robot.joints import Fixed
from cardan._robot.joints.recognise import hinge_of
from cardan._robot.model import Annotations, Body, Connection, Model

# --- loops cut through a body instead of a joint, for libraries that close loops by balls, hinges and welds alone ---
#
# The joint that closed the loop moves a *half* of its child, which has half of the inertia, and the halves are welded:
#
#     a --joint-- b          a --joint-- b/2 = weld = b/2
#
# Two halves held together are the body: nothing is approximated, and no light body spoils the numbers. A half that
# is welded to what does not move, does not: its inertia makes no difference.

UNMOVED = Inertia(1.0, (0.0, 0.0, 0.0), ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)))
"""Of a half that cannot move; any would do."""


def half_of(joint: str) -> str:
    return f"{joint}:half"


def opened(model: Model, can_close: Callable[[Connection], bool]) -> Model:
    """Return a model of the same motions whose loops are closed only by joints that can close them.

    Closing joints that cannot are in its tree, after the others and by their names; each moves the body
    `half_of(name)`, which the weld `"<name>:weld"` holds on the joint's own child.
    """
    cut = [c for c in model.closures if not can_close(c)]
    if not cut:
        return model
    halves = _halves(model, cut)
    taken: dict[str, list[Inertia]] = {}
    for c in cut:
        taken.setdefault(c.child, []).append(c.child_pose @ halves[c.name])
    # As where they close the loops, nothing resists or limits them.
    in_tree = [Connection(c.name, c.joint, c.parent, half_of(c.name), c.parent_pose) for c in cut]
    bodies = tuple(replace(b, inertia=_without(b.inertia, taken.get(b.name, []))) for b in model.bodies)
    return replace(
        model,
        bodies=bodies + tuple(Body(half_of(name), inertia) for name, inertia in halves.items()),
        connections=model.connections + tuple(in_tree),
        closures=tuple(c for c in model.closures if can_close(c)) + tuple(_weld(c) for c in cut),
    )


def _halves(model: Model, cut: list[Connection]) -> dict[str, Inertia]:
    """Return what each half has, in the joint's child frame: equal shares of all that moves with the child."""
    nodes = {c.name: model.attachments[c.child].node for c in cut}
    shares = Counter(nodes.values())
    found = {}
    for c in cut:
        node = nodes[c.name]
        if node < 0:
            found[c.name] = UNMOVED
            continue
        X = (model.attachments[c.child].pose @ c.child_pose).inverse()
        share = 1.0 / (1 + shares[node])
        found[c.name] = Inertia.from_parameters([share * e for e in (X @ model.nodes[node].inertia).parameters()])
    return found


def _without(inertia: Inertia | None, parts: list[Inertia]) -> Inertia | None:
    """Return what is left of a body; together with what is fixed to it, that is no less than nothing."""
    for part in parts:
        rest = [a - b for a, b in zip((inertia or Inertia.zero()).parameters(), part.parameters(), strict=True)]
        inertia = Inertia.from_parameters(rest)
    return inertia


def _weld(c: Connection) -> Connection:
    return Connection(f"{c.name}:weld", Fixed(), c.child, half_of(c.name), c.child_pose)


# --- mimic joints and loops as MuJoCo's equality constraints, as stiff as it lets them be ---
#
# A ball joint is one point held (`connect`), a hinge two points of its axis, a fixed joint a `weld`; `opened` leaves no
# others. MuJoCo's constraints are springs and dampers with a time constant of at least two steps, in parallel with
# (1 - d)/d of the mass they feel, d <= 0.9999: gaps and errors of accelerations are of that order.
#
# Source: MuJoCo documentation, "Computation: constraint model"; "Modeling: solver parameters".

TIME_CONSTANT = 1e-3  # of an equality [s]; MuJoCo raises it to two steps
STIFFEST = [0.9999, 0.9999, 0.001, 0.5, 2.0]
"""Impedances d at and away from 0, how far away, and the curve between: the largest MuJoCo has."""

ARM = 0.1  # half the distance of the two points of a hinge's axis [m], where the child has no size of its own


def can_close(c: Connection) -> bool:
    """Return whether a joint that closes a loop is one of MuJoCo's constraints."""
    return c.joint.nv == 0 or kind_of(c.joint) in (J.Spherical, J.Revolute, J.UnboundedRevolute)


def add_polynomial(mj: Any, spec: Any, joint: str, other: str, coefficients: Sequence[float]) -> None:
    """Hold one coordinate at a polynomial, constant first, of another."""
    equality = _equality(mj, spec, f"{joint}:follows", mj.mjtEq.mjEQ_JOINT, mj.mjtObj.mjOBJ_JOINT, joint, other)
    equality.data[:5] = [*coefficients, *(0.0,) * (5 - len(coefficients))]


def add_loop(mj: Any, spec: Any, bodies: dict[str, Any], model: Model, c: Connection) -> None:
    kind = mj.mjtEq.mjEQ_WELD if c.joint.nv == 0 else mj.mjtEq.mjEQ_CONNECT
    hinge = (hinge_of(c.joint) or turn_of(c.joint)) if c.joint.nv else None
    if hinge is None:
        held = {"": (c.joint.transform(()) if c.joint.nv == 0 else SE3.identity(), SE3.identity())}
    else:
        points = [SE3(translation=hinge.joint.axis * side) for side in (-_arm(model, c), _arm(model, c))]
        held = {f":{k}": (hinge.before @ X, hinge.after.inverse() @ X) for k, X in enumerate(points)}
    for end, places in held.items():
        ends = _sites(c, bodies, end, *places)
        _equality(mj, spec, f"{c.name}{end}", kind, mj.mjtObj.mjOBJ_SITE, *ends)


def _equality(mj: Any, spec: Any, name: str, kind: Any, of: Any, name1: str, name2: str) -> Any:
    equality = spec.add_equality(name=name, type=kind, objtype=of, name1=name1, name2=name2)
    equality.solref, equality.solimp = [TIME_CONSTANT, 1.0], STIFFEST
    return equality


def _sites(c: Connection, bodies: dict[str, Any], end: str, at_parent: SE3, at_child: SE3) -> tuple[str, str]:
    """Mark where a joint's frames are in its bodies, and return the names of the marks."""
    names = f"{c.name}{end}:parent", f"{c.name}{end}:child"
    bodies[c.parent].add_site(name=names[0], **placed(c.parent_pose @ at_parent))
    bodies[c.child].add_site(name=names[1], **placed(c.child_pose @ at_child))
    return names


def _arm(model: Model, c: Connection) -> float:
    """Return half the distance of the two points of a hinge: the child's radius of gyration."""
    node = model.attachments[c.child].node
    inertia = model.nodes[node].inertia if node >= 0 else None
    if inertia is None or inertia.mass <= 0.0:
        return ARM
    J_c = inertia.inertia_at_com
    return math.sqrt(max(J_c[0] + J_c[3] + J_c[5], 0.0) / (2.0 * inertia.mass)) or ARM


class MujocoState:
    """Maps states of a model to MuJoCo's and back; all methods take batches.

    Of the model `there`, as cardan has it, are `nq` and `nv`.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.there = opened(model, can_close)
        self._to = conventions.to("mujoco", self.there)
        self._extended = None if self.there is model else _Extended(model, self.there)
        self.nq, self.nv = self._to.nq, self._to.nv

    def to_mujoco(self, q: Any, v: Any) -> tuple[Any, Any]:
        if self._extended:
            q, v = self._extended.state(q, v)
        return self._to.configuration(q), self._to.velocity(q, v)

    def from_mujoco(self, qpos: Any, qvel: Any) -> tuple[Any, Any]:
        q, v = self._to.from_configuration(qpos), self._to.from_velocity(qpos, qvel)
        return q[..., : self.model.nq], v[..., : self.model.nv]

    def effort(self, q: Any, tau: Any) -> Any:
        """Return forces along qvel that do the work of tau."""
        if self._extended:
            q, tau = self._extended.effort(q, tau)
        return self._to.effort(q, tau)


class _Extended(Compiled):
    """States and efforts with those of the joints that were cut, along which no effort acts."""

    def __init__(self, model: Model, there: Model) -> None:
        super().__init__(model, (_Extended, (model, there)))
        self.nq, self.nv = there.nq, there.nv
        self._cut = there.connections[len(model.connections) :]
        # The bodies of `opened`, each half held by a fixed joint: it has the model's own q and v.
        self._tree = replace(
            model,
            bodies=model.bodies + tuple(Body(half_of(c.name)) for c in self._cut),
            connections=model.connections + tuple(_weld(c) for c in model.closures if not can_close(c)),
            closures=(),
            annotations=Annotations(),
        )

    @compiled()
    def state(self, q: Any, v: Any) -> Any:
        return self._state(q, v)

    @compiled()
    def effort(self, q: Any, tau: Any) -> Any:
        there, none = self._state(q, [0.0] * self.model.nv)
        return there, [*tau, *none[self.model.nv :]]

    def _state(self, q: Vector, v: Vector) -> tuple[list[Scalar], list[Scalar]]:
        kinematics = Kinematics(self._tree, q, v)
        found = [Between(kinematics, c) for c in self._cut]
        return [*q, *(e for b in found for e in b.q)], [*v, *(e for b in found for e in b.velocity())]
