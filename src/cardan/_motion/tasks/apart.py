"""To keep shapes apart: smooth rows, of which none appears or goes as another point comes nearest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from numpy.typing import ArrayLike

from cardan._algebra.checked_numbers import positive
from cardan._algebra.content import Content, content_of
from cardan._algebra.errors import ParameterError
from cardan._motion.contact.touching import ContactPair
from cardan._motion.simulation.articulation import Pattern
from cardan._motion.simulation.clearance import Obstacles, Pushed, functions_of, model_of, pushes, rows_of_pairs
from cardan._motion.simulation.world_contents import WorldContents
from cardan._motion.tasks.task import Task
from cardan._robot.model import Model


@dataclass(frozen=True, eq=False)
class KeepApart(Task):
    """Shapes are to be farther apart than a distance.

    Error (R,) [m], one row for each shape and all it may meet of the world, and one for each two shapes that move: with
    x = target + band - d, how much a distance d is short, the sum over the row's pairs of

        0 where x < 0,        x^2 / (2 band) up to x = band,        x - band / 2 from there on

    so that it begins smoothly, and pairs that are far apart move nothing and cost only their bounds. Where it
    converges, all are farther apart than the target.

    Args:
        world: as for `cardan.clearance`; a world, or the model itself.
        target: the distance [m], shape (...).
        band: how much farther apart the row begins [m].
        pairs: as for `cardan.clearance`. What is chosen is kept here, that of obstacles, too.
        obstacles: as for `cardan.clearance`.
        weight, gain, priority: as for `Task`, with its errors.

    Raises:
        ParameterError: for a band that is no length, a world of another robot, and as `cardan.clearance`.

    Examples:
        >>> from cardan.description import Sphere
        >>> dog = cardan.robots.quadruped().model(base="floating")
        >>> ball = Sphere(0.1), cardan.SE3(translation=(0.5, 0.0, 0.6))
        >>> cardan.tasks.KeepApart(dog, 0.02, pairs=[], obstacles=[ball]).target_shape(dog)
        ()
    """

    world: WorldContents | Model
    target: ArrayLike = 0.0
    band: float = 0.01
    pairs: Pattern | Sequence[ContactPair] | None = None
    obstacles: Obstacles | None = None

    _read: ClassVar[Content]  # of the pairs; of each task its own

    def __post_init__(self) -> None:
        super().__post_init__()
        positive("band of KeepApart", self.band)
        functions = functions_of(self.world, self.pairs, self.obstacles)
        for name, value in {"world": model_of(self.world), "pairs": functions.pairs, "obstacles": None}.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "_read", content_of(self.pairs))

    def __content__(self) -> Any:
        """Return what the task is made of: to read pairs takes long, and is done once."""
        return {f.name: self._read if f.name == "pairs" else getattr(self, f.name) for f in fields(self)}

    def target_shape(self, model: Model) -> tuple[int, ...]:
        return ()

    def error(self, model: Model, q: Any, target: Any) -> Any:
        return self.linearized(model, q, target)[0]

    def jacobian(self, model: Model, q: Any, target: Any) -> Any:
        return self.linearized(model, q, target)[1]

    def linearized(self, model: Model, q: Any, target: Any) -> tuple[Any, Any]:
        pushed = self._pushes(model, q, target)
        return [p.error for p in pushed], [p.row for p in pushed]

    @property
    def lengths(self) -> Sequence[int]:
        return range(rows_of_pairs(self._chosen))

    @property
    def is_guard(self) -> bool:
        return True

    @property
    def _chosen(self) -> Sequence[ContactPair]:
        return functions_of(self.world, self.pairs).pairs

    def _pushes(self, model: Model, q: Any, target: Any) -> list[Pushed]:
        own = model_of(self.world)
        if model.joint_names != own.joint_names or model.nq != own.nq:
            raise ParameterError("KeepApart: world", got=self.world, expected=f"one of the robot {model.name!r}")
        return pushes(model, q, self._chosen, target + self.band, self.band)
