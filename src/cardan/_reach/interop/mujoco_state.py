"""States of a model in MuJoCo, whatever `to_mjspec` had to cut or emulate there.

A model it can say has the coordinates of `cardan.conventions.to("mujoco", model)`. Of any other, the model that
is there has more of them: those of joints that were cut are found from the motion of the bodies, those of emulated
joints are functions of the joint's own.
"""

from __future__ import annotations

from typing import Any

from cardan._algebra.manifolds.manifold import identity_rows
from cardan._algebra.spatial import Scalar
from cardan._dynamics.algorithms.kinematics import Kinematics
from cardan._dynamics.algorithms.tree import Vector
from cardan._dynamics.coordinates import conventions
from cardan._dynamics.coordinates.compiled_methods import Compiled, compiled
from cardan._dynamics.coordinates.model_converter import Between, owners
from cardan._reach.interop.emulated import Emulated, emulated, kind_of_emulation
from cardan._reach.interop.mujoco_equalities import can_close
from cardan._reach.interop.opened_loops import closed_again, opened
from cardan._robot.joints.recognise import hinge_of
from cardan._robot.model import Connection, Model


class MujocoState:
    """Maps states of a model to MuJoCo's and back; all methods are compiled and take batches.

    Attributes:
        model: the model.
        there: the model that is there, as cardan has it.
        nq: number of coordinates there.
        nv: number of velocities there.

    Args:
        model: the model.
        emulate: as it was given to `to_mjspec`.
    """

    def __init__(self, model: Model, emulate: bool = False) -> None:
        self.model = model
        self.there = opened((emulated(model) if emulate else Emulated(model)).model, can_close)
        self._to = conventions.to("mujoco", self.there)
        self._extended = None if self.there is model else _Extended(model, self.there)
        self.nq, self.nv = self._to.nq, self._to.nv

    def to_mujoco(self, q: Any, v: Any) -> tuple[Any, Any]:
        """Return qpos and qvel of q and v."""
        if self._extended:
            q, v = self._extended.state(q, v)
        return self._to.configuration(q), self._to.velocity(q, v)

    def from_mujoco(self, qpos: Any, qvel: Any) -> tuple[Any, Any]:
        """Return q and v of qpos and qvel."""
        q, v = self._to.from_configuration(qpos), self._to.from_velocity(qpos, qvel)
        return self._extended.from_state(q, v) if self._extended else (q, v)

    def effort(self, q: Any, tau: Any) -> Any:
        """Return forces along qvel that do the work of tau."""
        if self._extended:
            q, tau = self._extended.effort(q, tau)
        return self._to.effort(q, tau)


class _Extended(Compiled):
    """States of a model as those of one with more coordinates for the same motions."""

    def __init__(self, model: Model, there: Model) -> None:
        super().__init__(model, (_Extended, (model, there)))
        self.there, self.nq, self.nv = there, there.nq, there.nv
        self._source = {c.name: c for c in (*model.connections, *model.closures)}
        self._tree = closed_again(model, can_close)

    @compiled()
    def state(self, q: Any, v: Any) -> Any:
        """Return q and v there."""
        return self._state(q, v)

    @compiled(q=("nq'",), v=("nv'",))
    def from_state(self, q: Any, v: Any) -> Any:
        """Return q and v from those there."""
        return self._from_state(q, v)

    @compiled()
    def effort(self, q: Any, tau: Any) -> Any:
        """Return q and tau there: tau of the same work, by the columns of v = T v'."""
        there, _ = self._state(q, [0.0] * self.model.nv)
        columns = [self._from_state(there, e)[1] for e in identity_rows(self.nv)]
        return there, [sum((a * b for a, b in zip(column, tau, strict=True)), 0.0) for column in columns]

    def _state(self, q: Vector, v: Vector) -> tuple[list[Scalar], list[Scalar]]:
        kinematics = Kinematics(self._tree, q, v)
        parts = [self._part(kinematics, c, q, v) for c in owners(self.there)]
        return [e for x, _ in parts for e in x], [e for _, rate in parts for e in rate]

    def _part(self, kinematics: Kinematics, there: Connection, q: Vector, v: Vector) -> tuple[Vector, Vector]:
        c, model = self._source[there.name], self.model
        if c in model.closures or kind_of_emulation(c) in ("free", "distance"):
            between = Between(kinematics, there)
            return between.q, between.velocity()
        x, rate = q[model.q_slice(c.name)], v[model.v_slice(c.name)]
        return _emulating(c, x), _emulating(c, rate)

    def _from_state(self, q: Vector, v: Vector) -> tuple[list[Scalar], list[Scalar]]:
        kinematics = Kinematics(self.there.spanning_tree(), q, v)
        parts = [self._part_back(kinematics, c, q, v) for c in owners(self.model)]
        return [e for x, _ in parts for e in x], [e for _, rate in parts for e in rate]

    def _part_back(self, kinematics: Kinematics, c: Connection, q: Vector, v: Vector) -> tuple[Vector, Vector]:
        kind, there = kind_of_emulation(c), self.there
        if kind in ("free", "distance"):
            between = Between(kinematics, c)
            return between.q, between.velocity()
        x, rate = q[there.q_slice(c.name)], v[there.v_slice(c.name)]
        if kind == "helical":
            return x[1:], rate[1:]
        return (x[:2], rate[:2]) if kind == "constant velocity" else (x, rate)


def _emulating(c: Connection, x: Vector) -> list[Scalar]:
    """Return the coordinates, or velocities, of the joints that emulate one."""
    kind = kind_of_emulation(c)
    if kind == "helical":
        hinge: Any = hinge_of(c.joint)
        return [hinge.joint.pitch * x[0], x[0]]
    return [x[0], x[1], x[1], x[0]] if kind == "constant velocity" else list(x)
