"""Velocity representations: public compiled functions.

    here          also called           Pinocchio              iDynTree
    "body"        left-trivialised      LOCAL                  BODY_FIXED_REPRESENTATION
    "inertial"    right-trivialised     WORLD                  INERTIAL_FIXED_REPRESENTATION
    "mixed"       hybrid                LOCAL_WORLD_ALIGNED    MIXED_REPRESENTATION

`cardan.jacobian`, `frame_velocity` and their like speak of the same three, of a frame, by `at` and `expressed_in`:
("frame", "frame"), ("world", "world"), ("frame", "world").
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cardan import algorithms
from cardan.algorithms import REFERENCES, Coordinates
from cardan.errors import UnknownNameError
from cardan.functions.coordinates import OtherCoordinates
from cardan.functions.function import Function
from cardan.model import Model
from cardan.spatial import REPRESENTATIONS, Force, Representation


class BaseRepresentation(OtherCoordinates):
    """A model whose base velocity is in another representation; made by `cardan.representation`.

    q is the same on both sides. v', accelerations, efforts and everything along v have the base's six entries changed:
    its twist, the time derivative of the twist's components, the wrench on it. Functions of a state take v', too, and
    not v, where their name says `frame_` or `momentum`.

    Attributes:
        representation: `"body"`, `"inertial"` or `"mixed"`.
        base_joints: names of the joints it concerns: those that leave a body free in the world. None: v' = v.
    """

    def __init__(self, model: Model, representation: Representation) -> None:
        super().__init__(model, model.nq, model.nv)
        self.representation: Representation = representation
        self.base_joints = tuple(c.name for c in algorithms.floating_joints(model))

    def _there(self, model: Model, q: Sequence[Any]) -> list[Any]:
        return list(q)

    def _here(self, model: Model, q: Sequence[Any]) -> list[Any]:
        return list(q)

    def _coordinates(self, model: Model, q: Sequence[Any], v: Sequence[Any] | None) -> Coordinates:
        return algorithms.base_coordinates(model, q, v, self.representation)

    def frame_velocity(self, q: Any, v: Any, frame: str, representation: Representation | None = None) -> Any:
        """Return the twist of a frame, shape (..., 6), from q and v'.

        Args:
            q: configurations.
            v: velocities v', in this representation.
            frame: name of a body or frame.
            representation: that of the frame's twist; by default the same.
        """
        at, axes = self._reference(representation)

        def frame_velocity(model: Model, q: Any, v: Any) -> Any:
            return algorithms.frame_velocity(model, q, self._state(model, q, v)[1], frame, at, axes)

        return self._of_frame("frame_velocity", frame_velocity, frame, at, axes)(self.model, q, v)

    def frame_acceleration(
        self, q: Any, v: Any, a: Any, frame: str, representation: Representation | None = None
    ) -> Any:
        """Return the time derivative of `frame_velocity`'s components, shape (..., 6), from q, v' and dv'/dt."""
        at, axes = self._reference(representation)

        def frame_acceleration(model: Model, q: Any, v: Any, a: Any) -> Any:
            q, v = self._state(model, q, v)
            a = self._coordinates(model, q, v).acceleration_back(v, a)
            return algorithms.frame_acceleration(model, q, v, a, frame, at, axes)

        return self._of_frame("frame_acceleration", frame_acceleration, frame, at, axes)(self.model, q, v, a)

    def frame_jacobian(self, q: Any, frame: str, representation: Representation | None = None) -> Any:
        """Return J', shape (..., 6, nv): the frame's twist is J' v'."""
        at, axes = self._reference(representation)

        def frame_jacobian(model: Model, q: Any) -> Any:
            return self._coordinates(model, q, None).jacobian(algorithms.jacobian(model, q, frame, at, axes))

        return self._of_frame("frame_jacobian", frame_jacobian, frame, at, axes)(self.model, q)

    def frame_jacobian_derivative(
        self, q: Any, v: Any, frame: str, representation: Representation | None = None
    ) -> Any:
        """Return dJ'/dt, shape (..., 6, nv), from q and v': the frame's acceleration is J' dv'/dt + dJ'/dt v'."""
        at, axes = self._reference(representation)

        def frame_jacobian_derivative(model: Model, q: Any, v: Any) -> Any:
            q, v = self._state(model, q, v)
            J = algorithms.jacobian(model, q, frame, at, axes)
            rate = algorithms.jacobian_derivative(model, q, v, frame, at, axes)
            return self._coordinates(model, q, v).jacobian_rate(J, rate)

        name = "frame_jacobian_derivative"
        return self._of_frame(name, frame_jacobian_derivative, frame, at, axes)(self.model, q, v)

    def momentum(self, q: Any, v: Any) -> Any:
        """Return the total momentum [linear; angular], shape (..., 6) [N s, N m s], from q and v'.

        Written as a wrench on the first base is: in base axes about its origin, in world axes about the world's, or in
        world axes about the base's. Without a floating base, the world's axes and origin.
        """

        def momentum(model: Model, q: Any, v: Any) -> Any:
            return algorithms.momentum(model, q, self._state(model, q, v)[1], self.representation)

        return self._run("momentum", momentum, {})(self.model, q, v)

    def momentum_matrix(self, q: Any) -> Any:
        """Return A', shape (..., 6, nv): `momentum` is A' v'."""

        def momentum_matrix(model: Model, q: Any) -> Any:
            A = algorithms.momentum_matrix(model, q, self.representation)
            return self._coordinates(model, q, None).jacobian(A)

        return self._run("momentum_matrix", momentum_matrix, {})(self.model, q)

    def wrench(self, q: Any, force: Any, frame: str) -> Any:
        """Return a wrench on a frame in this representation, shape (..., 6), from one in its own axes at its origin."""

        def wrench(model: Model, q: Any, force: Any) -> Any:
            return algorithms.wrench(model, q, Force.of(tuple(force)), frame, self.representation)

        return self._of_frame("wrench", wrench, frame, shapes={"force": (6,)})(self.model, q, force)

    def from_wrench(self, q: Any, force: Any, frame: str) -> Any:
        """Return a wrench on a frame in its own axes at its origin, shape (..., 6), from one in this representation."""

        def from_wrench(model: Model, q: Any, force: Any) -> Any:
            return algorithms.wrench_back(model, q, Force.of(tuple(force)), frame, self.representation)

        return self._of_frame("from_wrench", from_wrench, frame, shapes={"force": (6,)})(self.model, q, force)

    def _of_frame(self, name: str, kernel: Any, *key: str, shapes: Any = None) -> Function:
        self.model.attachment(key[0])  # refuses an unknown frame
        return self._run(name, kernel, shapes or {}, key)

    def _reference(self, representation: Representation | None) -> tuple[str, str]:
        return REFERENCES[_checked(representation or self.representation)]

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
        UnknownNameError: if there is no such representation.
    """
    return BaseRepresentation(model, _checked(representation))


def _checked(representation: Any) -> Representation:
    if representation not in REPRESENTATIONS:
        raise UnknownNameError("representation", representation, REPRESENTATIONS)
    return representation
