"""The universal (Cardan) joint: two rotations, one after the other."""

from __future__ import annotations

from dataclasses import dataclass

from cardan._algebra.errors import ParameterError
from cardan._algebra.manifolds import Euclidean
from cardan._algebra.spatial import SE3, Scalar, Vector3, unit_vector
from cardan._algebra.spatial.davenport import angles_about_axes
from cardan._robot.joints.catalogue.revolute import Revolute
from cardan._robot.joints.joint import Axis
from cardan._robot.joints.serial import ChainJoint, Links


@dataclass(frozen=True, slots=True)
class Universal(ChainJoint):
    """Rotation about a first axis, then about a second one carried along. q: two angles [rad], v: their rates.

    Args:
        axis1: first axis, in the parent frame; normalised.
        axis2: second axis, in the child frame; normalised. Not parallel to the first; usually orthogonal.

    Examples:
        >>> cardan.joints.Universal(axis1=(1.0, 0.0, 0.0), axis2=(0.0, 1.0, 0.0)).nv
        2
    """

    axis1: Axis = Vector3(1.0, 0.0, 0.0)
    axis2: Axis = Vector3(0.0, 1.0, 0.0)
    manifold = Euclidean(2)
    _names_of_q = ("angle1", "angle2")

    def __post_init__(self) -> None:
        for name in ("axis1", "axis2"):
            object.__setattr__(self, name, unit_vector(getattr(self, name), f"{name} of a universal joint"))
        if self.axis1.cross(self.axis2).norm_squared() < 1e-12:
            axes = (tuple(self.axis1), tuple(self.axis2))
            raise ParameterError("axes of a universal joint", got=axes, expected="two axes that are not parallel")

    @property
    def links(self) -> Links:
        return ((Revolute(self.axis1), None), (Revolute(self.axis2), None))

    def nearest_configuration(self, X_pc: SE3) -> tuple[Scalar, ...]:
        return angles_about_axes((self.axis1, self.axis2), X_pc.rotation)
