"""Building outwards, link by link: `m.at("world").add("upper", Revolute(), ...).add("fore", ...).frame("tool", X)`."""

from __future__ import annotations

from typing import Any, Literal

from cardan._algebra.errors import CardanError
from cardan._algebra.spatial import SE3, Inertia
from cardan._robot.geometry.shapes import Shape
from cardan._robot.joints import Fixed, Joint
from cardan._robot.model import WORLD


class ChainBuilder:
    """A body of a mechanism under construction, to build on from. Made by `Mechanism.at`.

    Attributes:
        mechanism: the `Mechanism` (whose module imports this one).
        body: name of the body.
    """

    __slots__ = ("body", "mechanism")

    def __init__(self, mechanism: Any, body: str) -> None:
        self.mechanism: Any = mechanism
        self.body: str = body

    def add(
        self,
        body: str,
        joint: Joint | None = None,
        *,
        name: str | None = None,
        inertia: Inertia | None = None,
        pose: Any = None,
        child_pose: Any = None,
        **properties: Any,
    ) -> ChainBuilder:
        """Add a body with the joint that connects it with this one, and return the place on the new body.

        Args:
            body: its name.
            joint: what kind of joint; `Fixed()` by default.
            name: the joint's name; by default the two bodies' with `_` between, of the new one alone on the world.
            inertia: the new body's.
            pose: the joint's parent frame on this body.
            child_pose: the joint's child frame on the new body.
            properties: limits, damping, friction, armature, drive, compliance, spring, as for `Mechanism.add_joint`.

        Raises:
            As `Mechanism.add_body` and `add_joint`; then nothing is added.
        """
        chosen = name or (body if self.body == WORLD else f"{self.body}_{body}")
        m = self.mechanism
        m.add_body(body, inertia)
        try:
            m.add_joint(chosen, joint or Fixed(), self.body, body, pose, child_pose, **properties)
        except (CardanError, TypeError):
            m.discard_body(body)
            raise
        return ChainBuilder(m, body)

    def frame(
        self, name: str, pose: SE3 | None = None, kind: Literal["operational", "sensor"] = "operational"
    ) -> ChainBuilder:
        """Add a frame on this body; return this place."""
        self.mechanism.add_frame(name, self.body, pose, kind)
        return self

    def shape(self, shape: Shape) -> ChainBuilder:
        """Add a shape, which names this body; return this place."""
        self.mechanism.add_shape(shape)
        return self

    def __repr__(self) -> str:
        return f"<{self.body!r} of {self.mechanism!r}>"
