"""A model's vectors as another library writes them, joint by joint, both ways."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from cardan.algorithms import Block, Coordinates
from cardan.algorithms.kinematics import Kinematics
from cardan.errors import MechanismError, ParameterError
from cardan.functions import OtherCoordinates
from cardan.interop.chart import Chart, Follower
from cardan.interop.convention import Convention
from cardan.interop.free_chart import Free
from cardan.joints import Mimic
from cardan.model import WORLD, Connection, Model
from cardan.program import Array, trace
from cardan.program.autodiff import jacobian_vector_product
from cardan.program.replay import replay
from cardan.scalar import is_zero
from cardan.spatial import SE3, Force, Matrix3, Representation, Vector3, in_body, represented

HEADER = ("joint", "type", "q here", "q there", "v here", "v there", "what changes")


class Row(NamedTuple):
    """One joint there.

    Attributes:
        connection: the joint.
        chart: how it is written there.
        q: its coordinates here; those of its primary, if it only follows.
        v: its velocities here.
        q_there: its coordinates there.
        v_there: its velocities there.
    """

    connection: Connection
    chart: Chart
    q: range
    v: range
    q_there: range
    v_there: range


class PeerConverter(OtherCoordinates):
    """A model's q, v and what goes along them as another library writes them; made by `cardan.conventions.to`.

    Printing it shows a table, joint by joint: where it is here, where it is there, what is written otherwise.

    Attributes:
        model: the model.
        title: the library's name.
        joint_names: the joints with coordinates there, in the order there.
        nq: number of configuration coordinates there.
        nv: number of velocities there.
        followers: names of the mimic joints, if they have coordinates of their own there.
    """

    def __init__(self, model: Model, convention: Convention, order: Sequence[str] | None, mimics: bool) -> None:
        self.convention, self.title = convention, convention.title
        self.rows = _rows(model, convention, order, mimics)
        self.joint_names = tuple(row.connection.name for row in self.rows)
        nq, nv = sum(r.chart.nq for r in self.rows), sum(r.chart.nv for r in self.rows)
        followers = tuple(r.connection.name for r in self.rows if isinstance(r.chart, Follower))
        super().__init__(model, nq, nv, followers)

    def _there(self, model: Model, q: Sequence[Any]) -> list[Any]:
        return [e for row in self.rows for e in row.chart.there([q[i] for i in row.q])]

    def _here(self, model: Model, q: Sequence[Any]) -> list[Any]:
        found: list[Any] = [0.0] * model.nq
        for row in self.rows:
            if not isinstance(row.chart, Follower):
                for i, e in zip(row.q, row.chart.here([q[i] for i in row.q_there]), strict=True):
                    found[i] = e
        return found

    def _coordinates(self, model: Model, q: Sequence[Any], v: Sequence[Any] | None) -> Coordinates:
        blocks = []
        for row in self.rows:
            own = [q[i] for i in row.q]
            rate: list[list[Any]] = []
            if v is not None:
                joint = row.connection.joint
                qdot = joint.velocity_to_configuration_derivative(own, [v[i] for i in row.v])
                rate = _matrix_rate(row.chart, own, qdot)
            there, here = tuple(row.v_there), tuple(row.v)
            blocks.append(Block(here, there, row.chart.matrix(own), row.chart.inverse(own), rate))
        return Coordinates(model.nv, self.nv, blocks)

    def _effort_there(self, model: Model, q: Sequence[Any], tau: list[Any]) -> list[Any]:
        return self._turned_efforts(model, q, tau, to_world=True)

    def _effort_here(self, model: Model, q: Sequence[Any], tau: list[Any]) -> list[Any]:
        return self._turned_efforts(model, q, tau, to_world=False)

    def _turned_efforts(self, model: Model, q: Sequence[Any], tau: Sequence[Any], *, to_world: bool) -> list[Any]:
        """Return efforts with those that are wrenches in world axes turned there, or back."""
        found, kinematics = list(tau), None
        for row in self.rows:
            if isinstance(row.chart, Free) and row.chart.effort_in_world:
                c = row.connection
                if c.parent == WORLD and c.parent_pose.rotation == Matrix3.identity():
                    continue
                kinematics = kinematics or Kinematics(model, q)
                R = kinematics.pose(c.parent).rotation @ c.parent_pose.rotation
                for part in (row.v_there[:3], row.v_there[3:]):
                    own = Vector3(*(found[i] for i in part))
                    for i, e in zip(part, R @ own if to_world else R.transpose_apply(own), strict=True):
                        found[i] = e
        return found

    # --- wrenches on bodies ---

    def external_forces(self, q: Any, external_forces: Any) -> Any:
        """Return wrenches on the bodies as they are written there, shape (..., nbodies, 6), rows as in `body_names`.

        Args:
            q: configurations, here.
            external_forces: [force; moment] in each body's own axes at its origin, shape (..., nbodies, 6).
        """

        def forces_there(model: Model, q: Any, external_forces: Any) -> Any:
            places = self._places(model, q)
            return [self._wrench(Force.of(tuple(f)), *at) for f, at in zip(external_forces, places, strict=True)]

        return self._run("external_forces", forces_there, {})(self.model, q, external_forces)

    def from_external_forces(self, q: Any, external_forces: Any) -> Any:
        """Return wrenches [force; moment] in the bodies' own axes at their origins, from q' and those there."""

        def forces_here(model: Model, q: Any, external_forces: Any) -> Any:
            places = self._places(model, self._here(model, q))
            return [self._wrench_back(tuple(f), *at) for f, at in zip(external_forces, places, strict=True)]

        return self._run("from_external_forces", forces_here, self._sizes("q"))(self.model, q, external_forces)

    def _places(self, model: Model, q: Any) -> list[tuple[SE3, SE3]]:
        """Return, of each body, where in it its wrench is taken, and its pose in the world."""
        kinematics, found = Kinematics(model, q), []
        for body in model.bodies:
            form, place = self.convention.wrench, SE3.identity()
            if form.point == "joint":
                place = model.attachment(body.name).pose.inverse()
            elif form.point == "com" and body.inertia is not None and body.inertia.mass > 0.0:
                place = SE3(translation=body.inertia.com)
            found.append((place, kinematics.pose(body.name)))
        return found

    def _wrench(self, force: Force, place: SE3, pose: SE3) -> Any:
        f = place.inverse_act(force)
        f = represented(f, pose, self._wrench_representation)
        return [*f.angular, *f.linear] if self.convention.wrench.moment_first else list(f.scalars())

    def _wrench_back(self, values: Any, place: SE3, pose: SE3) -> Force:
        f = Force.of((*values[3:], *values[:3]) if self.convention.wrench.moment_first else values)
        return place @ in_body(f, pose, self._wrench_representation)

    @property
    def _wrench_representation(self) -> Representation:
        form = self.convention.wrench
        if form.axes != "world":
            return "body"
        return "inertial" if form.point == "world" else "mixed"

    # --- what goes where ---

    @property
    def q_permutation(self) -> np.ndarray:
        """Of each coordinate there, the index of the one here that it copies; -1 where it is computed, shape (nq',)."""
        samples = self.model.random_configuration((2,), seed=0)
        moved = [self._there(self.model, q.tolist()) for q in samples]
        return self._copies("q", lambda i, k: all(there[k] == q[i] for there, q in zip(moved, samples, strict=True)))

    @property
    def v_permutation(self) -> np.ndarray:
        """Of each velocity there, the index of the one here that it copies; -1 where it is computed, shape (nv',)."""
        samples = [q.tolist() for q in self.model.random_configuration((2,), seed=0)]
        T = [self._coordinates(self.model, q, None) for q in samples]
        units = np.eye(self.model.nv).tolist()
        columns = np.array([[c.forward(e) for e in units] for c in T], dtype=float)
        columns = columns.reshape(len(T), self.model.nv, self.nv)
        plain = (columns == 1.0).all(axis=0) & (np.count_nonzero(columns, axis=1) == 1).all(axis=0)
        return self._copies("v", lambda i, k: bool(plain[i, k]))

    def _copies(self, what: str, is_copy: Any) -> np.ndarray:
        found = np.full(self.nq if what == "q" else self.nv, -1)
        for row in self.rows:
            here, there = (row.q, row.q_there) if what == "q" else (row.v, row.v_there)
            for k in there:
                found[k] = next((i for i in here if is_copy(i, k)), -1)
        return found

    def __str__(self) -> str:
        sizes = f"nq {self.model.nq} -> {self.nq}, nv {self.model.nv} -> {self.nv}"
        rows = [HEADER, *(_line(row) for row in self.rows)]
        widths = [max(len(row[k]) for row in rows) for k in range(len(HEADER))]
        lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]
        return "\n".join([f"{self.model.name} in {self.title}: {sizes}", lines[0], "-" * len(lines[0]), *lines[1:]])

    def __repr__(self) -> str:
        return f"<PeerConverter of {self.model.name!r} to {self.title}: nq = {self.nq}, nv = {self.nv}>"


def _rows(model: Model, convention: Convention, order: Sequence[str] | None, mimics: bool) -> tuple[Row, ...]:
    """Return the joints with coordinates there, in their order there."""
    movable = {c.name: c for c in model.connections if c.joint.nv > 0 and (mimics or not isinstance(c.joint, Mimic))}
    names = [n for n in convention.order(model) if n in movable] if order is None else list(order)
    if sorted(names) != sorted(movable):
        wrong = sorted(set(names) ^ set(movable)) or sorted({n for n in names if names.count(n) > 1})
        expected = f"the names of the {len(movable)} joints with coordinates, each once"
        raise ParameterError("order", got=names, expected=expected, hint=f"Missing, unknown or twice: {wrong}.")
    nodes = {node.name: node for node in model.nodes}
    rows: list[Row] = []
    iq = iv = 0
    for name in names:
        c, node = movable[name], nodes[name]
        chart = _chart(model, convention, c, node.joint)
        q, v = _range(node.q), _range(node.v)
        rows.append(Row(replace(c, joint=node.joint), chart, q, v, range(iq, iq + chart.nq), range(iv, iv + chart.nv)))
        iq, iv = iq + chart.nq, iv + chart.nv
    return tuple(rows)


def _chart(model: Model, convention: Convention, c: Connection, joint: Any) -> Chart:
    inner = joint.joint if isinstance(joint, Mimic) else joint
    chart = convention.chart(model, replace(c, joint=inner))
    if chart is None:
        where = f" between {c.parent!r} and {c.child!r}"
        raise MechanismError(
            f"joint {c.name!r}{where}, a {type(inner).__name__}, has no counterpart in {convention.title}; it has "
            f"{convention.joints}. Lock it (model.lock), or replace it."
        )
    return Follower(joint, chart) if isinstance(joint, Mimic) else chart


def _range(indices: tuple[int, ...]) -> range:
    return range(indices[0], indices[-1] + 1)


def _line(row: Row) -> tuple[str, ...]:
    places = (_slice(r) for r in (row.q, row.q_there, row.v, row.v_there))
    return row.connection.name, type(row.connection.joint).__name__, *places, row.chart.note or "-"


def _slice(r: range) -> str:
    return str(r.start) if len(r) == 1 else f"{r.start}:{r.stop}"


def _matrix_rate(chart: Chart, q: Sequence[Any], qdot: Sequence[Any]) -> list[list[Any]]:
    """Return the rows of the time derivative of a chart's matrix; none if it does not change."""

    def matrix(q: np.ndarray) -> dict[str, np.ndarray]:
        return {"matrix": np.array(chart.matrix(q.tolist()), dtype=object)}

    program = jacobian_vector_product(trace("chart", matrix, [Array("q", (len(q),))]), ["q"])
    values, columns = replay(program, [*q, *qdot]), program.outputs[0].shape[-1]
    flat = [values[r] for r in program.results]
    rows = [flat[k : k + columns] for k in range(0, len(flat), columns)]
    return [] if all(is_zero(e) for row in rows for e in row) else rows
