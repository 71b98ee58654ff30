"""A model's vectors in other coordinates, joint by joint, compiled both ways: what representations and peers share."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar, cast

from cardan._algebra.errors import MechanismError
from cardan._algebra.manifolds.manifold import identity_rows
from cardan._algebra.spatial import Scalar
from cardan._dynamics.algorithms.coriolis import coriolis_matrix
from cardan._dynamics.algorithms.crba import mass_matrix
from cardan._dynamics.algorithms.kinematics import Kinematics
from cardan._dynamics.algorithms.rnea import inverse_dynamics
from cardan._dynamics.algorithms.tree import Vector
from cardan._dynamics.call.arguments import is_symbolic, shaped_array
from cardan._dynamics.call.function import Function
from cardan._dynamics.call.signature import refuse_inputs
from cardan._dynamics.coordinates.change import Blocks, Change, difference
from cardan._dynamics.coordinates.chart import Chart
from cardan._robot.joints import Joint
from cardan._robot.model import Connection, Model, Node, simplified_tree

Method = TypeVar("Method", bound=Callable[..., Any])
ROWS = "rows"


class Compiled:
    """What has compiled methods: a model, and the functions made so far.

    `made` is the function that makes one like this, and its arguments: all that the methods depend on. This is what is
    pickled, and what tells programs on disk from others of the same methods.
    """

    def __init__(self, model: Model, made: tuple[Callable[..., Any], tuple[Any, ...]]) -> None:
        self.model = model
        self._made = made
        self._functions: dict[Any, Function] = {}

    def __reduce__(self) -> Any:
        return self._made

    def __content__(self) -> Any:
        return self._made


def compiled(**shapes: tuple[int | str, ...]) -> Callable[[Method], Method]:
    """Make a method, written over scalars, compiled on first use; it takes batches, as every function of cardan.

    Args:
        shapes: core shapes of arrays, as `cardan.function` has them. `"nq'"` and `"nv'"` are the object's own `nq` and
            `nv`, not the model's; `"rows"` is any number.
    """
    open_arrays = [name for name, shape in shapes.items() if ROWS in shape]

    def decorate(body: Method) -> Method:
        parameters = inspect.signature(body)

        @functools.wraps(body)
        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            known = {name: tuple(_size(self, e) for e in shape) for name, shape in shapes.items()}
            for name in open_arrays:
                value = parameters.bind(self, *args, **kwargs).arguments[name]
                known[name] = (_count_rows(self, body.__name__, name, value, known[name]), *known[name][1:])
            key = body.__name__, *known.items()
            if key not in self._functions:
                self._functions[key] = Function(_kernel(self, body, parameters), known)
            return self._functions[key](self.model, *args, **kwargs)

        return cast("Method", method)

    return decorate


def _kernel(owner: Any, body: Callable[..., Any], parameters: inspect.Signature) -> Callable[..., Any]:
    def kernel(model: Model, *args: Any, **kwargs: Any) -> Any:
        return body(owner, *args, **kwargs)

    first, *rest = parameters.parameters.values()
    kernel.__name__, kernel.__doc__ = body.__name__, body.__doc__
    kernel.__signature__ = parameters.replace(parameters=[first.replace(name="model"), *rest])
    return kernel


def _size(owner: Any, entry: int | str) -> int | str:
    return getattr(owner, entry[:-1]) if isinstance(entry, str) and entry.endswith("'") else entry


def _count_rows(owner: Any, where: str, name: str, value: Any, shape: tuple[int | str, ...]) -> int:
    if is_symbolic(value):
        return len(value)
    columns = getattr(owner.model, shape[1]) if isinstance(shape[1], str) else shape[1]
    return shaped_array(where, name, value, (..., ROWS, columns), finite=False).shape[-2]


class ChartedJoint(NamedTuple):
    """One joint there: how it is written, and where its coordinates are."""

    connection: Connection
    joint: Joint  # a mimic joint as one of its primary, however many it copies it through
    chart: Chart
    q: range  # here; those of its primary, if it only follows
    v: range  # here
    q_there: range
    v_there: range


def rows_of(charted: Sequence[tuple[Connection, Node, Chart]]) -> tuple[ChartedJoint, ...]:
    """Return the joints of a model in the order they are numbered there."""
    rows: list[ChartedJoint] = []
    iq = iv = 0
    for c, node, chart in charted:
        q, v = (range(i[0], i[-1] + 1) for i in (node.q, node.v))
        rows.append(ChartedJoint(c, node.joint, chart, q, v, range(iq, iq + chart.nq), range(iv, iv + chart.nv)))
        iq, iv = iq + chart.nq, iv + chart.nv
    return tuple(rows)


class OtherCoordinates(Compiled):
    """The model's q, v and what goes along them, in other coordinates "there" (a dash marks them: q', v').

    Methods are compiled on first use and take batches, as every function of cardan. Those that begin with `from_` take
    everything as it is there and return it as it is here. Efforts do the same work: tau' . v' = tau . v. Accelerations
    are time derivatives of the velocities' components.

    Attributes:
        model: the model.
        rows: its joints, as they are numbered there.
        nq: number of configuration coordinates there.
        nv: number of velocities there.
        followers: names of the joints with coordinates there and none here: mimic joints.

    Args:
        made: the call that makes it, which tells its compiled functions from others.

    Throughout:
        q: configurations [rad, m], shape (..., nq); of `from_` methods q', those there.
        v: velocities [rad/s, m/s], shape (..., nv); of `from_` methods v'.
        a: accelerations [rad/s^2, m/s^2], shape (..., nv); of `from_` methods dv'/dt.
        tau: efforts [N m, N], shape (..., nv); of `from_` methods tau'.
        M: a mass matrix [kg m^2, kg], shape (..., nv, nv).
        J: any matrix along v, shape (..., rows, nv).

    Examples:
        >>> there = cardan.conventions.to("mujoco", cardan.robots.quadruped().model(base="floating"))
        >>> q = there.model.random_configuration(seed=0)
        >>> v = a = tau = np.ones(there.model.nv)
        >>> there_q, there_v = there.configuration(q), there.velocity(q, v)
        >>> back = there.from_configuration(there_q), there.from_velocity(there_q, there_v)
        >>> bool(np.allclose(back[0], q) and np.allclose(back[1], v))
        True
        >>> bool(np.allclose(there.from_acceleration(there_q, there_v, there.acceleration(q, v, a)), a))
        True
        >>> bool(np.allclose(there.from_effort(there_q, there.effort(q, tau)), tau))
        True
        >>> bool(np.allclose(there.from_mass_matrix(there_q, there.mass_matrix(q)), cardan.mass_matrix(there.model, q)))
        True
        >>> there.coriolis_matrix(q, v).shape == 2 * there.bias_forces(q, v).shape
        True
        >>> J = cardan.jacobian(there.model, q, "front_left_foot")
        >>> bool(np.allclose(there.from_jacobian(there_q, there.jacobian(q, J)), J))
        True
    """

    def __init__(self, model: Model, rows: Sequence[ChartedJoint], made: Any) -> None:
        refuse_inputs(model, ": convert with the model without them, or model.with_values(...).")
        super().__init__(model, made)
        self.rows: tuple[ChartedJoint, ...] = tuple(rows)
        self.nq: int = sum(r.chart.nq for r in rows)
        self.nv: int = sum(r.chart.nv for r in rows)
        self.followers: tuple[str, ...] = tuple(r.connection.name for r in rows if r.chart.follows)

    def _there(self, q: Vector) -> list[Scalar]:
        return [e for row in self.rows for e in row.chart.there([q[i] for i in row.q])]

    def _here(self, q: Vector) -> list[Scalar]:
        found: list[Scalar] = [0.0] * self.model.nq
        for row in self.rows:
            own = row.chart.here([q[i] for i in row.q_there])
            for i, e in zip(row.q, own, strict=not row.chart.follows):
                found[i] = e
        return found

    def _change(self, q: Vector, v: Vector | None = None) -> Change:
        """Return the change of velocity coordinates at the state q, v here, without rates if v is None."""
        blocks = []
        for row in self.rows:
            rates = None if v is None else [v[i] for i in row.v]
            blocks.append(row.chart.block(row.joint, row.v, row.v_there, [q[i] for i in row.q], rates))
        return Change.of(self.model.nv, self.nv, blocks)

    def _state(self, q: Vector, v: Vector) -> tuple[list[Scalar], list[Scalar]]:
        q = self._here(q)
        return q, self._change(q).inverse @ v

    def _a_here(self, q: Vector, v: Vector, a: Vector) -> list[Scalar]:
        change = self._change(q, v)
        return change.inverse @ difference(a, change.rate @ v)

    def _effort_axes(self, q: Vector) -> Blocks:
        """Return the rotations of efforts along v' to those axes they are taken in there; 1 nearly always."""
        kinematics = Kinematics(self.model, q) if any(r.chart.effort_in_world for r in self.rows) else None
        blocks = []
        for row in self.rows:
            rotation = identity_rows(row.chart.nv)
            if kinematics and row.chart.effort_in_world:
                c = row.connection
                R = [list(e) for e in (kinematics.pose(c.parent).rotation @ c.parent_pose.rotation).rows()]
                rotation = [[*e, 0.0, 0.0, 0.0] for e in R] + [[0.0, 0.0, 0.0, *e] for e in R]
            blocks.append((row.v_there, row.v_there, rotation))
        return Blocks(self.nv, self.nv, tuple(blocks))

    @compiled()
    def configuration(self, q: Any) -> Any:
        """Return q', shape (..., nq'), from q."""
        return self._there(q)

    @compiled(q=("nq'",))
    def from_configuration(self, q: Any) -> Any:
        """Return q, shape (..., nq), from q'."""
        return self._here(q)

    @compiled()
    def velocity(self, q: Any, v: Any) -> Any:
        """Return v', shape (..., nv'), from q and v."""
        return self._change(q).T @ v

    @compiled(q=("nq'",), v=("nv'",))
    def from_velocity(self, q: Any, v: Any) -> Any:
        """Return v, shape (..., nv), from q' and v'."""
        return self._state(q, v)[1]

    @compiled()
    def acceleration(self, q: Any, v: Any, a: Any) -> Any:
        """Return dv'/dt, shape (..., nv'), from q, v and a."""
        change = self._change(q, v)
        return [x + y for x, y in zip(change.T @ a, change.rate @ v, strict=True)]

    @compiled(q=("nq'",), v=("nv'",), a=("nv'",))
    def from_acceleration(self, q: Any, v: Any, a: Any) -> Any:
        """Return a, shape (..., nv), from q', v' and dv'/dt."""
        return self._a_here(*self._state(q, v), a)

    @compiled()
    def effort(self, q: Any, tau: Any) -> Any:
        """Return tau', shape (..., nv'), of the same work, from q and tau. Followers get none."""
        return self._effort_axes(q) @ (self._change(q).inverse.T @ tau)

    @compiled(q=("nq'",), tau=("nv'",))
    def from_effort(self, q: Any, tau: Any) -> Any:
        """Return tau, shape (..., nv), from q' and tau'. Those on followers are felt by what they follow."""
        q = self._here(q)
        return self._change(q).T.T @ (self._effort_axes(q).T @ tau)

    @compiled(M=("nv", "nv"))
    def mass_matrix(self, q: Any, M: Any = None) -> Any:
        """Return M', shape (..., nv', nv'), from q and M, shape (..., nv, nv); by default the model's own M.

        Raises:
            MechanismError: if there are followers: M does not know what M' is.
        """
        self._refuse_followers("mass_matrix")
        M = mass_matrix.kernel(simplified_tree(self.model), q) if M is None else M
        return self._change(q).inverse.congruent(M)

    @compiled(q=("nq'",), M=("nv'", "nv'"))
    def from_mass_matrix(self, q: Any, M: Any) -> Any:
        """Return M, shape (..., nv, nv), from q' and M'."""
        return self._change(self._here(q)).T.congruent(M)

    @compiled()
    def coriolis_matrix(self, q: Any, v: Any) -> Any:
        """Return C', shape (..., nv', nv'), at q and v: C' v' + g' = `bias_forces`, and dM'/dt - 2 C' is skew.

        Raises:
            MechanismError: if there are followers.
        """
        self._refuse_followers("coriolis_matrix")
        change, M = self._change(q, v), mass_matrix.kernel(self.model, q)
        C = coriolis_matrix.kernel(self.model, q, v)
        return change.inverse.congruent(map(difference, C, M @ change.K))

    @compiled()
    def bias_forces(self, q: Any, v: Any) -> Any:
        """Return C' v' + g', shape (..., nv'), at q and v: the efforts tau' at dv'/dt = 0.

        Raises:
            MechanismError: if there are followers.
        """
        self._refuse_followers("bias_forces")
        change = self._change(q, v)
        still = change.inverse @ [-e for e in change.rate @ v]
        tau = inverse_dynamics.kernel(simplified_tree(self.model), q, v, still)
        return self._effort_axes(q) @ (change.inverse.T @ tau)

    @compiled(J=("rows", "nv"))
    def jacobian(self, q: Any, J: Any) -> Any:
        """Return J', shape (..., rows, nv'), from q and J, shape (..., rows, nv): J' v' = J v.

        Raises:
            MechanismError: if there are followers.
        """
        self._refuse_followers("jacobian")
        return J @ self._change(q).inverse

    @compiled(q=("nq'",), J=("rows", "nv'"))
    def from_jacobian(self, q: Any, J: Any) -> Any:
        """Return J, shape (..., rows, nv), from q' and J', shape (..., rows, nv')."""
        return J @ self._change(self._here(q)).T

    def _refuse_followers(self, what: str) -> None:
        if self.followers:
            names = ", ".join(map(repr, self.followers))
            raise MechanismError(
                f"{what}: {names} mimic other joints, but have coordinates of their own there, for which this model "
                f"knows no {what}. The other way, from_{what}, is defined where there is one."
            )
