"""Tasks of the whole robot: its centre of mass, its posture, its loops, and to keep still."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cardan._algebra.manifolds.manifold import identity_rows
from cardan._algebra.spatial import Vector3
from cardan._dynamics.algorithms.centroidal import center_of_mass, center_of_mass_jacobian
from cardan._dynamics.algorithms.loops import loop_residual, with_loops
from cardan._dynamics.call.arguments import check_configuration
from cardan._motion.tasks.task import PlaceTask, Task
from cardan._robot.model import Model


@dataclass(frozen=True, eq=False)
class CenterOfMass(PlaceTask):
    """The centre of mass of all bodies is to be at a place in the world.

    Error (3,): where it is minus where it is to be [m], along the axes of the world.

    Args:
        target: places [m], shape (..., 3).
        weight, gain, priority: as for `Task`, with its errors; weight=(1, 1, 0) leaves the height free.

    Raises:
        MechanismError: when it is used, if no body has mass.

    Examples:
        >>> stand = cardan.tasks.CenterOfMass((0.0, 0.0, 0.5), weight=(1.0, 1.0, 0.0))
        >>> stand.target_shape(arm)
        (3,)
    """

    target: ArrayLike | None = None

    def error(self, model: Model, q: Any, target: Any) -> Any:
        return list(center_of_mass.kernel(model, q) - Vector3.of(target))

    def jacobian(self, model: Model, q: Any, target: Any) -> Any:
        return center_of_mass_jacobian.kernel(model, q)


@dataclass(frozen=True, eq=False)
class Posture(Task):
    """The robot is to have a configuration.

    Error (nv,): `difference(target, q)`, the shortest way from there to where it is [rad, m].

    Args:
        target: configurations, shape (..., nq) [rad, m].
        weight, gain, priority: as for `Task`, with its errors; a weight of 0 for the joints that do not matter.

    Examples:
        >>> cardan.tasks.Posture(arm.neutral(), weight=0.01).target_shape(arm)
        (7,)

    Peers: pink `PostureTask`, mink `PostureTask`.
    """

    target: ArrayLike | None = None

    def target_shape(self, model: Model) -> tuple[int, ...]:
        return (model.nq,)

    def error(self, model: Model, q: Any, target: Any) -> Any:
        return list(model.manifold.difference(target, q))

    def jacobian(self, model: Model, q: Any, target: Any) -> Any:
        return model.manifold.difference_rate_jacobian(model.manifold.difference(target, q))

    def check_target(self, model: Model, target: np.ndarray) -> None:
        rows = target.reshape(math.prod(target.shape[:-1]), model.nq)
        check_configuration("Posture", "target", rows, model.unit_parts)


@dataclass(frozen=True, eq=False)
class Damping(Task):
    """The robot is to move as little as it can: a velocity costs, where the robot is does not.

    Error (nv,): 0, and it changes by v [rad/s, m/s].

    Args:
        weight, gain, priority: as for `Task`, with its errors; the gain has no effect.

    Examples:
        >>> cardan.tasks.Damping(weight=0.1).priority
        0
    """

    def error(self, model: Model, q: Any, target: Any) -> Any:
        return [0.0] * model.nv

    def jacobian(self, model: Model, q: Any, target: Any) -> Any:
        return identity_rows(model.nv)


@dataclass(frozen=True, eq=False)
class ClosedLoops(Task):
    """The joints that close loops are to be closed.

    Error (nc,): `loop_residual` [m, rad].

    Args:
        weight, gain, priority: as for `Task`, with its errors.

    Raises:
        MechanismError: when it is used, if the model has no loops.

    Examples:
        >>> linkage = cardan.robots.four_bar().model()
        >>> closed = cardan.inverse_kinematics(linkage, [cardan.tasks.ClosedLoops()])
        >>> bool(closed.converged)
        True
    """

    def error(self, model: Model, q: Any, target: Any) -> Any:
        return loop_residual.kernel(with_loops(model, "ClosedLoops"), q)
