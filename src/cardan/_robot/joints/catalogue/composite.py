"""The composite joint: several joints, one after the other, without bodies in between."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cardan._algebra.errors import ParameterError
from cardan._algebra.manifolds import Product
from cardan._algebra.spatial import SE3, checked_pose
from cardan._robot.joints.joint import Joint, computed
from cardan._robot.joints.limits import Limits, is_bounded
from cardan._robot.joints.serial import ChainJoint, Links


@dataclass(frozen=True, slots=True)
class Composite(ChainJoint):
    """A chain of joints seen as one. q and v: those of the joints, one after the other.

    X = P_1 X_1(q_1) P_2 X_2(q_2) ...

    Args:
        joints: the joints, from parent to child; at most six degrees of freedom together.
        placements: the pose P_i before each joint, in the frame behind the one before; identities by default.

    Examples:
        >>> bolt = [cardan.joints.Revolute((0.0, 0.0, 1.0)), cardan.joints.Prismatic((1.0, 0.0, 0.0))]
        >>> cardan.joints.Composite(bolt).nv
        2
    """

    joints: Sequence[Joint]
    placements: Sequence[SE3] | None = None

    def __post_init__(self) -> None:
        joints = tuple(self.joints) if isinstance(self.joints, Iterable) else ()
        if not joints or not all(isinstance(j, Joint) for j in joints):
            expected = "at least one joint, all in one list; poses before them go to placements="
            raise ParameterError("joints of a composite joint", got=self.joints, expected=expected)
        if sum(j.nv for j in joints) > 6:
            raise ParameterError("joints of a composite joint", got=joints, expected="at most 6 degrees of freedom")
        placements = tuple(SE3.identity() for _ in joints) if self.placements is None else tuple(self.placements)
        if len(placements) != len(joints):
            expected = f"{len(joints)} poses, one before each joint"
            raise ParameterError("placements of a composite joint", got=placements, expected=expected)
        object.__setattr__(self, "joints", joints)
        poses = tuple(checked_pose(f"placement {i} of a composite joint", P) for i, P in enumerate(placements))
        object.__setattr__(self, "placements", poses)

    @computed
    def manifold(self) -> Product:
        """The product of the joints' manifolds."""
        return Product(tuple(joint.manifold for joint in self.joints))

    @computed
    def domain(self) -> Limits:
        """Those of the joints, one after the other."""
        if not any(map(is_bounded, self.joints)):
            return Limits()
        own = [joint.domain.resolved(joint.nv) for joint in self.joints]
        return Limits(*([e for part in own for e in getattr(part, side)] for side in ("lower", "upper")))

    @property
    def links(self) -> Links:
        # An identity is left out: a product with it is operations for nothing.
        identity = SE3.identity()
        pairs = zip(self.joints, self.placements or (), strict=True)
        return tuple((joint, None if identity == P else P) for joint, P in pairs)

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        return tuple(f"{i}.{name}" for i, joint in enumerate(self.joints) for name in joint.coordinate_names)

    @property
    def velocity_names(self) -> tuple[str, ...]:
        return tuple(f"{i}.{name}" for i, joint in enumerate(self.joints) for name in joint.velocity_names)
