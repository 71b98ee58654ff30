"""The joint: the protocol on one page.

A joint connects a parent frame p and a child frame c. It is a manifold (how nv velocities move nq coordinates) and a
transform X_pc(q); its motion subspace S, in child coordinates, maps velocities to the twist of c relative to p:

    v_J = S(q) v                X_pc^-1 dX_pc/dt = [v_J]
    a_J = S(q) dv/dt + bias     bias = (dS/dt) v

A new joint is one subclass with a `manifold` and `transform`; `motion_subspace` and `bias` are derived from it, or
given where a closed form is known. All of it is bare mathematics over scalars of any type; q and v are sequences of
scalars. A method is given one state, in a tuple, a list or an array; `cardan.evaluate_joint(joint, name, Q)` evaluates
one for a batch of shape (..., nq). (Within a method each scalar may be a whole batch, as `list(Q.T)` has them.)

Source: Featherstone (2008), section 4.4; Duindam (2006), definition 2.9.
"""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from cardan._algebra.arrays import stack
from cardan._algebra.by_fields import computed
from cardan._algebra.checked_numbers import batch_shape, generator
from cardan._algebra.content import attributes
from cardan._algebra.errors import JointError
from cardan._algebra.explained import ExplainedABC
from cardan._algebra.manifolds import Manifold
from cardan._algebra.spatial import SE3, Force, ForceSubspace, Motion, MotionSubspace, Scalar
from cardan._algebra.spatial.motion import orthogonal_complement
from cardan._robot.joints.derivation.derived import derived_bias, derived_subspace, is_subspace_constant, subspace_rate
from cardan._robot.joints.inverse import check_reached, search_configuration
from cardan._robot.joints.limits import Limits, narrow_limits, neutral_within
from cardan._robot.joints.quantities import complete_methods, nearest_image, refuse_batches
from cardan._robot.joints.state import is_frozen

T = TypeVar("T")
Scalars = Sequence[Scalar]
Axis = Any  # three numbers, which become a unit `Vector3`


def _with_or_without_near(method: Callable[..., tuple[Scalar, ...]]) -> Callable[..., tuple[Scalar, ...]]:
    """Return a method as it is; type checkers then allow a joint's own to take fewer arguments."""
    return method


class Joint(ExplainedABC):
    """A joint. Implementations are immutable; equal type and parameters make equal joints.

    Methods take one state: tuples, lists or arrays of shape (nq,) and (nv,). For a batch Q of shape (..., nq):
    `cardan.evaluate_joint(joint, "transform", Q)`, and so for every method that is a function of the state.

    Throughout:
        q, q0, q1: coordinates, nq numbers or symbols of any library [rad, m].
        v: velocities, nv of them [rad/s, m/s].
        a: accelerations, nv of them [rad/s^2, m/s^2].
        qdot: time derivatives of the coordinates, nq of them [rad/s, m/s].
        wrench: a `Force` on the child at its frame's origin, in its axes [N, N m].
        phi: local coordinates around q0, nv of them [rad, m].
        fv: what is dual to v, nv numbers: the gradient of a number by v.
        shape: leading dimensions.
        seed: of `numpy.random.default_rng`.
        limits: of the joint; none by default.

    Attributes:
        manifold: how velocities move coordinates.
        domain: where the transform is defined, as the positions of a `Limits`: everywhere by default. A linkage that
            cannot be closed beyond an angle has `domain = cardan.Limits([-0.3], [0.3])` in its class. Limits, random
            configurations, the neutral one and searches of the inverse keep within it.

    Examples:
        >>> hinge = cardan.joints.Revolute(axis=(0.0, 0.0, 1.0))
        >>> X = hinge.transform([0.5])
        >>> S = hinge.motion_subspace([0.5]), hinge.subspace([0.5]), hinge.constraint_wrench_subspace([0.5])
        >>> rates = hinge.bias([0.5], [1.0]), hinge.motion_subspace_rate([0.5], [1.0])
        >>> V, A = hinge.twist([0.5], [1.0]), hinge.spatial_acceleration([0.5], [1.0], [2.0])
        >>> hinge.torque([0.5], cardan.Force((0.0, 0.0, 0.0), (0.0, 0.0, 3.0)))
        (3.0,)
        >>> hinge.nearest_configuration(X), hinge.configuration_from_transform(X)
        ((0.5,), (0.5,))
        >>> hinge.parameters(), hinge.neutral(), hinge.efforts([0.5], [1.0])
        ({'axis': (0.0, 0.0, 1.0)}, (0.0,), (0.0,))
        >>> hinge.random_configuration((10,), seed=0).shape
        (10, 1)
        >>> ball = cardan.joints.Spherical()
        >>> q = ball.integrate(ball.neutral(), [0.1, 0.0, 0.0])
        >>> ball.normalize(q) == ball.principal_value(q), len(ball.difference(ball.neutral(), q))
        (True, 3)
        >>> phi, rate = ball.local_coordinates(ball.neutral(), q, [0.0, 0.0, 1.0])
        >>> bool(np.allclose(ball.global_coordinates(ball.neutral(), phi), q))
        True
        >>> qdot = ball.velocity_to_configuration_derivative(q, [0.0, 0.0, 1.0])
        >>> bool(np.allclose(ball.configuration_derivative_to_velocity(q, qdot), [0.0, 0.0, 1.0]))
        True
        >>> J = ball.velocity_to_configuration_derivative_jacobian(q)
        >>> K = ball.configuration_derivative_to_velocity_jacobian(q)
        >>> bool(np.allclose(K @ J, np.eye(3)))
        True
        >>> len(ball.configuration_derivative_to_velocity_adjoint(q, [0.0, 0.0, 1.0]))
        4
    """

    manifold: Manifold
    domain: Limits = Limits()
    is_placed: bool = False  # whether it is made for the places of bodies as they are, as a cluster's joints
    _names_of_q: tuple[str, ...] = ()  # where all joints of a class call their coordinates alike; else a property
    _names_of_v: tuple[str, ...] = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Let the class's own methods take one state in any form, and return what callers expect (`quantities.py`)."""
        super().__init_subclass__(**kwargs)
        complete_methods(cls)

    @abstractmethod
    def transform(self, q: Scalars) -> SE3:
        """Return X_pc, the pose of the child frame in the parent frame, at configuration q (nq scalars)."""

    def motion_subspace(self, q: Scalars) -> Sequence[Motion]:
        """Return the nv columns of S(q), twists in child coordinates: a `MotionSubspace`.

        This one is derived from `transform` (`joints/derivation/derived.py`). Your own may return them in a list.
        """
        return MotionSubspace(derived_subspace(self, q))

    def bias(self, q: Scalars, v: Scalars) -> Motion:
        """Return (dS/dt) v, in child coordinates.

        This one is derived from `motion_subspace`.
        """
        return derived_bias(self, q, v)

    @_with_or_without_near
    def nearest_configuration(self, X_pc: SE3, near: Scalars | None = None) -> tuple[Scalar, ...]:
        """Return q with transform(q) = X_pc, or of a pose nearby if no q has that transform.

        This one searches; joints with a closed form have their own, of (X_pc) or (X_pc, near). Whose it is, of the
        coordinates of the same pose (turns of an angle, signs of a quaternion) those nearest to `near` are returned.

        Args:
            X_pc: pose of the child frame in the parent.
            near: a configuration, nq scalars, such as the last one: where a search begins.
        """
        q = search_configuration(self, X_pc, near)
        return q if near is None else nearest_image(self, q, near)

    def efforts(self, q: Scalars, v: Scalars) -> Sequence[Scalar]:
        """Return the nv efforts [N m, N] that the joint itself exerts, by springs and dampers in it; none by default.

        Their power is the sum of effort times velocity: a spring pulls back by -stiffness q. No algorithm of rigid-body
        dynamics feels them; `cardan.passive_forces` has them, and the steps of a simulation do.
        """
        return (0.0,) * self.nv

    @property
    def has_efforts(self) -> bool:
        """Whether the joint may exert efforts of its own."""
        return self._has_own("efforts")

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """The nq coordinates' names, for layout tables."""
        numbered = ("q",) if self.nq == 1 else tuple(f"q{i}" for i in range(self.nq))
        return self._names_of_q or numbered

    @property
    def velocity_names(self) -> tuple[str, ...]:
        """The nv velocities' names, for layout tables."""
        rates = self.coordinate_names if self.nq == self.nv else ()
        return self._names_of_v or tuple(f"d{n}" for n in rates) or tuple(f"v{i}" for i in range(self.nv))

    @property
    def primaries(self) -> tuple[str, ...]:
        """Names of the joints whose coordinates are its q, one after another; none for a joint that has its own."""
        return ()

    # What follows is the same for every joint.

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        return self.manifold.nq

    @property
    def nv(self) -> int:
        """Number of degrees of freedom."""
        return self.manifold.nv

    @property
    def num_constraints(self) -> int:
        """Number of constraints on the relative twist, 6 - nv."""
        return 6 - self.nv

    @property
    def is_floating(self) -> bool:
        """Whether the joint imposes no constraint at all."""
        return self.num_constraints == 0

    @property
    def has_constant_motion_subspace(self) -> bool:
        """Whether S is the same at every configuration: dS/dt is written as 0."""
        return is_subspace_constant(self)

    def subspace(self, q: Scalars) -> MotionSubspace:
        """Return S(q), with `S @ v` and `S.T @ f`; the same as `motion_subspace`."""
        return MotionSubspace(self.motion_subspace(q))

    def motion_subspace_rate(self, q: Scalars, v: Scalars) -> MotionSubspace:
        """Return dS/dt while q moves with velocity v, by differentiating `motion_subspace` exactly."""
        return MotionSubspace(subspace_rate(self, q, v))

    def twist(self, q: Scalars, v: Scalars) -> Motion:
        """Return the twist of the child relative to the parent, in child coordinates."""
        return self.subspace(q) @ v

    def spatial_acceleration(self, q: Scalars, v: Scalars, a: Scalars) -> Motion:
        """Return the spatial acceleration of the child relative to the parent, in child coordinates."""
        return self.subspace(q) @ a + self.bias(q, v)

    def torque(self, q: Scalars, wrench: Force) -> tuple[Scalar, ...]:
        """Return the nv joint torques S^T f of the wrench f across the joint onto the child, in child coordinates."""
        return self.subspace(q).T @ wrench

    def constraint_wrench_subspace(self, q: Scalars) -> ForceSubspace:
        """Return T (6 x 6 - nv): orthonormal wrenches, in child coordinates, that no motion feels, T^T S = 0."""
        return orthogonal_complement(self.motion_subspace(q))

    def configuration_from_transform(self, X_pc: Any, tolerance: float = 1e-7) -> tuple[Scalar, ...]:
        """Return q (nq scalars) with transform(q) = X_pc: the inverse of `transform`.

        Args:
            X_pc: pose of the child frame in the parent, an `SE3` or a homogeneous matrix of shape (..., 4, 4).
            tolerance: largest accepted distance [m or rad] between X_pc and the pose of the result.

        Raises:
            ReachError: if X_pc is numeric and no configuration has this transform.
        """
        X = SE3.of(X_pc)
        q = self.nearest_configuration(X)
        check_reached(self, X, q, tolerance)
        return q

    def neutral(self) -> tuple[float, ...]:
        """Return the reference configuration, nq floats [rad, m]: the manifold's, or one in the domain's middle."""
        return neutral_within(self)

    def integrate(self, q: Scalars, v: Scalars) -> tuple[Scalar, ...]:
        """Return the configuration after moving with v for unit time: global coordinates of v around q."""
        return self.manifold.integrate(q, v)

    def difference(self, q0: Scalars, q1: Scalars) -> tuple[Scalar, ...]:
        """Return the shortest v that leads from q0 to q1: local coordinates of q1 around q0."""
        return self.manifold.difference(q0, q1)

    def local_coordinates(self, q0: Scalars, q: Scalars, v: Scalars) -> tuple[tuple[Scalar, ...], tuple[Scalar, ...]]:
        """Return the local coordinates of q around q0 and their time derivative at velocity v."""
        return self.manifold.local_coordinates(q0, q, v)

    def global_coordinates(self, q0: Scalars, phi: Scalars) -> tuple[Scalar, ...]:
        """Return the configuration with local coordinates phi around q0; the same as `integrate`."""
        return self.manifold.integrate(q0, phi)

    def normalize(self, q: Scalars) -> tuple[Scalar, ...]:
        """Return the configuration on the manifold nearest to q."""
        return self.manifold.normalize(q)

    def principal_value(self, q: Scalars) -> tuple[Scalar, ...]:
        """Return the preferred coordinates of the same configuration (quaternion w >= 0, |MRP| <= 1)."""
        return self.manifold.principal_value(q)

    def velocity_to_configuration_derivative(self, q: Scalars, v: Scalars) -> tuple[Scalar, ...]:
        """Return dq/dt, nq scalars."""
        return self.manifold.velocity_to_configuration_derivative(q, v)

    def velocity_to_configuration_derivative_jacobian(self, q: Scalars) -> np.ndarray:
        """Return J, shape (nq, nv), with dq/dt = J v [by the units of both]; dtype object if q are symbols."""
        # Without coordinates there is no row, and no shape to be read from rows.
        rows = self.manifold.velocity_to_configuration_derivative_jacobian(q)
        return stack(rows) if self.nq and self.nv else np.zeros((self.nq, self.nv))

    def configuration_derivative_to_velocity(self, q: Scalars, qdot: Scalars) -> tuple[Scalar, ...]:
        """Return v, nv scalars, from dq/dt."""
        return self.manifold.configuration_derivative_to_velocity(q, qdot)

    def configuration_derivative_to_velocity_jacobian(self, q: Scalars) -> np.ndarray:
        """Return K, shape (nv, nq), with v = K dq/dt [by the units of both]; dtype object if q are symbols."""
        rows = self.manifold.configuration_derivative_to_velocity_jacobian(q)
        return stack(rows) if self.nq and self.nv else np.zeros((self.nv, self.nq))

    def configuration_derivative_to_velocity_adjoint(self, q: Scalars, fv: Scalars) -> tuple[Scalar, ...]:
        """Return fq with <fq, dq/dt> = <fv, v>."""
        return self.manifold.configuration_derivative_to_velocity_adjoint(q, fv)

    def random_configuration(
        self, shape: int | Sequence[int] = (), *, seed: Any = None, limits: Limits | None = None
    ) -> np.ndarray:
        """Return random configurations [rad, m], (*shape, nq), within the position limits and the domain.

        They are distributed as `Manifold.random` says.
        """
        lower, upper = narrow_limits(self, limits)
        size = batch_shape("shape of random configurations", shape)
        return self.manifold.random(generator("seed of random configurations", seed), size, lower, upper)

    def parameters(self) -> dict[str, Any]:
        """Return the joint's own parameters by name."""
        if dataclasses.is_dataclass(self):
            return {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        return attributes(self)

    def _own_part(self, along: int) -> slice | None:
        """Return its coordinates (0) or velocities (1) among those that it shares; None if it shares none."""
        return None

    @property
    def _siblings(self) -> tuple[tuple[Joint, ...], int]:
        """Joints with whose motions this one's has most operations in common, and which of them it is."""
        return (self,), 0

    def _has_own(self, method: str) -> bool:
        """Return whether a method is another than the one every joint has, which derives its result from others."""
        return getattr(getattr(self, method), "__func__", None) is not getattr(Joint, method)

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute; the public ones of a joint that a mechanism keeps cannot be changed any more."""
        # Private attributes are a class's own affair, such as what it keeps; parameters are public.
        if is_frozen(self) and not name.startswith("_"):
            raise JointError(
                f"{type(self).__name__}.{name} cannot be set: this joint is part of a mechanism, which read its "
                "parameters when it was added. Take another: mechanism.replace_joint(name, joint), or vary it at every "
                "call: model.with_inputs(...)."
            )
        object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other) or not isinstance(other, Joint):
            return NotImplemented
        mine, theirs = self.parameters(), other.parameters()
        return mine.keys() == theirs.keys() and all(np.array_equal(mine[k], theirs[k]) for k in mine)

    def __hash__(self) -> int:
        # Parameters may be arrays, lists or symbols, which have no hash; few joints of a class are in one table.
        return hash(type(self))

    def __repr__(self) -> str:
        inside = ", ".join(f"{k}={v!r}" for k, v in self.parameters().items())
        return f"{type(self).__name__}({inside})"


refuse_batches(Joint)


class ConstantSubspaceJoint(Joint):
    """A joint whose motion subspace does not depend on q, so that its bias vanishes."""

    def bias(self, q: Scalars, v: Scalars) -> Motion:
        """Return zero."""
        return Motion.zero()


class JointOfAnother(Joint):
    """A joint made of another one, `joint`, whose coordinates and domain it has unless it says otherwise."""

    joint: Joint

    @computed
    def manifold(self) -> Manifold:
        """That of the joint within."""
        return self.joint.manifold

    @computed
    def domain(self) -> Limits:
        """That of the joint within."""
        return self.joint.domain

    def efforts(self, q: Scalars, v: Scalars) -> Sequence[Scalar]:
        return self.joint.efforts(q, v)

    @property
    def has_efforts(self) -> bool:
        return self.joint.has_efforts

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        return self.joint.coordinate_names

    @property
    def velocity_names(self) -> tuple[str, ...]:
        return self.joint.velocity_names
