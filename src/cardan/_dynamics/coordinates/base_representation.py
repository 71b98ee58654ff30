"""Velocity representations of the base: v' = T v with T = 1 but for the joints that leave a body free in the world.

With X = (R, p) the pose of such a joint's child frame in the world, its block of T is

    here           T                 also called           Pinocchio              iDynTree
    "body"         1                 left-trivialised      LOCAL                  BODY_FIXED_REPRESENTATION
    "inertial"     Ad(X)             right-trivialised     WORLD                  INERTIAL_FIXED_REPRESENTATION
    "mixed"        blkdiag(R, R)     hybrid                LOCAL_WORLD_ALIGNED    MIXED_REPRESENTATION

Frames have their twist, acceleration, Jacobian and wrenches in any of the three, too (`spatial.representations`);
`cardan.jacobian`, `frame_velocity` and their like name the same three by `at` and `expressed_in` (`REFERENCES`).

Source: Traversaro (2017), section 2.4 and appendix; FACTS, section 6.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cardan._algebra.spatial import SE3, Force, Representation, in_body, represented
from cardan._algebra.spatial.representations import checked_representation
from cardan._dynamics.algorithms.centroidal import center_of_mass, centroidal_momentum, centroidal_momentum_matrix
from cardan._dynamics.algorithms.jacobians import jacobian, jacobian_derivative
from cardan._dynamics.algorithms.kinematics import Frames, Kinematics, frame_acceleration, frame_velocity
from cardan._dynamics.algorithms.tree import Vector
from cardan._dynamics.call.signature import check_model
from cardan._dynamics.coordinates.change import Rows, difference, transposed
from cardan._dynamics.coordinates.chart import HERE, STILL, Chart, free_velocity
from cardan._dynamics.coordinates.other_coordinates import OtherCoordinates, compiled, rows_of
from cardan._dynamics.coordinates.peer_converter import is_free
from cardan._robot.model import WORLD, Connection, Model

REFERENCES: dict[Representation, tuple[str, str]] = {
    "body": ("frame", "frame"),
    "inertial": ("world", "world"),
    "mixed": ("frame", "world"),
}
"""Of each representation of a frame's twist, `at` and `expressed_in`."""


class BaseRepresentation(OtherCoordinates):
    """A model whose base velocity is in another representation; made by `cardan.representation`.

    q is the same on both sides. v', accelerations, efforts and everything along v have the base's six entries changed:
    its twist, the time derivative of the twist's components, the wrench on it. Functions of a state take v', too, and
    not v, where their name says `frame_` or `momentum`.

    Attributes:
        representation: `"body"`, `"inertial"` or `"mixed"`.
        base_joints: names of the joints it concerns: those that leave a body free in the world. None: v' = v.

    Args:
        model: the robot.

    Throughout:
        q: configurations [rad, m], shape (..., nq).
        v: velocities v' in this representation [rad/s, m/s], shape (..., nv); of `coriolis_matrix`, `velocity` and
            other methods not named `frame_` or `momentum`, v.
        a: accelerations dv'/dt [rad/s^2, m/s^2], shape (..., nv).
        force: a wrench [force; moment] [N, N m], shape (..., 6).
        frame: a body or frame by name or index, or, but for wrenches, several: then a leading axis counts them.
        representation: of the frame's twist; by default this one.

    Examples:
        >>> dog = cardan.robots.quadruped().model(base="floating")
        >>> mixed = cardan.representation(dog, "mixed")
        >>> q, v, a = dog.neutral(), np.ones(dog.nv), np.zeros(dog.nv)
        >>> J = mixed.frame_jacobian(q, "front_left_foot")
        >>> bool(np.allclose(mixed.frame_velocity(q, v, "front_left_foot"), J @ v))
        True
        >>> rate = mixed.frame_jacobian_derivative(q, v, "front_left_foot")
        >>> bool(np.allclose(mixed.frame_acceleration(q, v, a, "front_left_foot"), J @ a + rate @ v))
        True
        >>> bool(np.allclose(mixed.momentum(q, v), mixed.momentum_matrix(q) @ v))
        True
        >>> f = mixed.wrench(q, np.ones(6), "front_left_foot")
        >>> bool(np.allclose(mixed.from_wrench(q, f, "front_left_foot"), np.ones(6)))
        True
    """

    def __init__(self, model: Model, representation: Representation) -> None:
        check_model("representation", model)
        self.representation: Representation = checked_representation(representation)
        self._bases = [c for c in model.connections if _leaves_free(c)]
        self.base_joints: tuple[str, ...] = tuple(c.name for c in self._bases)
        nodes = {node.name: node for node in model.nodes if not node.joint.primaries}
        own = [c for c in model.connections if c.name in nodes]
        rows = rows_of([(c, nodes[c.name], self._chart(c)) for c in own])
        super().__init__(model, rows, (BaseRepresentation, (model, self.representation)))

    def _chart(self, c: Connection) -> Chart:
        base, kind = _leaves_free(c), self.representation
        matrix, inverse = free_velocity(c.joint, c.parent_pose, HERE, STILL, kind, kind) if base else (None, None)
        return Chart(c.joint.nq, c.joint.nv, matrix=matrix, inverse=inverse)

    @compiled()
    def frame_velocity(self, q: Any, v: Any, frame: Frames, representation: Representation | None = None) -> Any:
        """Return the twist of a frame, shape (..., 6), from q and v'."""
        q, v = self._state(q, v)
        return frame_velocity(self.model, q, v, frame, **self._reference(representation))

    @compiled()
    def frame_acceleration(
        self, q: Any, v: Any, a: Any, frame: Frames, representation: Representation | None = None
    ) -> Any:
        """Return the time derivative of `frame_velocity`'s components, shape (..., 6), from q, v' and dv'/dt."""
        q, v = self._state(q, v)
        a = self._a_here(q, v, a)
        return frame_acceleration(self.model, q, v, a, frame, **self._reference(representation))

    @compiled()
    def frame_jacobian(self, q: Any, frame: Frames, representation: Representation | None = None) -> Any:
        """Return J', shape (..., 6, nv): the frame's twist is J' v'."""
        J = jacobian(self.model, q, frame, **self._reference(representation))
        return _by_rows(lambda J: J @ self._change(q).inverse, J)

    @compiled()
    def frame_jacobian_derivative(
        self, q: Any, v: Any, frame: Frames, representation: Representation | None = None
    ) -> Any:
        """Return dJ'/dt, shape (..., 6, nv), from q and v': the frame's acceleration is J' dv'/dt + dJ'/dt v'."""
        q, v = self._state(q, v)
        reference, change = self._reference(representation), self._change(q, v)
        J = jacobian(self.model, q, frame, **reference)
        rate = jacobian_derivative(self.model, q, v, frame, **reference)
        return _by_rows(lambda J, rate: map(difference, rate, J @ change.K) @ change.inverse, J, rate)

    @compiled()
    def momentum(self, q: Any, v: Any) -> Any:
        """Return the total momentum [linear; angular], shape (..., 6) [N s, N m s], from q and v'.

        Written as a wrench on the first base is: in base axes about its origin, in world axes about the world's, or in
        world axes about the base's. Without a floating base, the world's axes and origin.
        """
        return self._about_base(q, centroidal_momentum.kernel(self.model, *self._state(q, v)))

    @compiled()
    def momentum_matrix(self, q: Any) -> Any:
        """Return A', shape (..., 6, nv): `momentum` is A' v'."""
        A = centroidal_momentum_matrix.kernel(self.model, q)
        forces = [self._about_base(q, Force.of(column)).scalars() for column in zip(*A, strict=True)]
        rows: Rows = transposed(forces) if forces else [[] for _ in range(6)]
        return rows @ self._change(q).inverse

    @compiled(force=(6,))
    def wrench(self, q: Any, force: Any, frame: str) -> Any:
        """Return a wrench on a frame in this representation, shape (..., 6), from one in its own axes at its origin."""
        return represented(Force.of(tuple(force)), Kinematics(self.model, q).pose(frame), self.representation)

    @compiled(force=(6,))
    def from_wrench(self, q: Any, force: Any, frame: str) -> Any:
        """Return a wrench on a frame in its own axes at its origin, shape (..., 6), from one in this representation."""
        return in_body(Force.of(tuple(force)), Kinematics(self.model, q).pose(frame), self.representation)

    def _state(self, q: Vector, v: Vector) -> Any:
        return q, self._change(q).inverse @ v

    def _about_base(self, q: Vector, centroidal: Force) -> Force:
        at_origin = SE3(translation=center_of_mass.kernel(self.model, q)) @ centroidal
        X = SE3.identity()
        for base in self._bases[:1]:
            X = base.parent_pose @ base.joint.transform(q[self.model.q_slice(base.name)])
        return represented(X.inverse_act(at_origin), X, self.representation)

    def _reference(self, representation: Representation | None) -> dict[str, Any]:
        at, axes = REFERENCES[checked_representation(representation or self.representation)]
        return {"at": at, "expressed_in": axes}

    def __repr__(self) -> str:
        bases = ", ".join(map(repr, self.base_joints)) or "no floating base"
        return f"<BaseRepresentation {self.representation!r} of {self.model.name!r}: {bases}>"


def representation(model: Model, representation: Representation) -> BaseRepresentation:
    """Return the model's dynamics with the base velocity in another representation.

    Args:
        model: the robot.
        representation: `"body"` (the base's twist in its own axes at its origin: what v is here), `"inertial"` (in
            world axes at the world's origin) or `"mixed"` (in world axes at the base's origin).

    Raises:
        DTypeError: if the model is no model.
        UnknownNameError: if there is no such representation.

    Examples:
        >>> dog = cardan.robots.quadruped().model(base="floating")
        >>> mixed = cardan.representation(dog, "mixed")
        >>> mixed.velocity(dog.neutral(), np.ones(dog.nv)).shape == (dog.nv,)
        True
    """
    return BaseRepresentation(model, representation)


def _by_rows(changed: Callable[..., Rows], *matrices: np.ndarray) -> np.ndarray:
    """Return matrices of several frames changed as one below another, in their shape."""
    rows = changed(*(matrix.reshape(-1, matrix.shape[-1]) for matrix in matrices))
    return np.array(rows, dtype=object).reshape(matrices[0].shape)


def _leaves_free(c: Connection) -> bool:
    """Return whether a joint leaves a body free in the world, its velocity being its twist."""
    return c.parent == WORLD and is_free(c.joint)
