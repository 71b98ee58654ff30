"""To keep shapes apart: one smooth row for each pair, so that no row appears or goes as another point comes nearest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from cardan._algebra.checked_numbers import positive
from cardan._algebra.errors import ParameterError
from cardan._algebra.scalar import maximum, minimum
from cardan._motion.simulation.articulation import Pattern
from cardan._motion.simulation.clearance import Functions, Obstacles, functions_of, model_of
from cardan._motion.simulation.pairs import ContactPair
from cardan._motion.simulation.world_contents import WorldContents
from cardan._motion.tasks.task import Task
from cardan._robot.model import Model


@dataclass(frozen=True, eq=False)
class KeepApart(Task):
    """Shapes are to be farther apart than a distance.

    Error (P,), of each pair [m]: with x = target + band - d, how much the distance d is short,

        0 where x < 0,        x^2 / (2 band) up to x = band,        x - band / 2 from there on

    so that it begins smoothly, and pairs that are far apart move nothing. Where it converges, all are farther apart
    than the target.

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

    def __post_init__(self) -> None:
        super().__post_init__()
        positive("band of KeepApart", self.band)
        functions = functions_of(self.world, self.pairs, self.obstacles)
        for name, value in {"world": model_of(self.world), "pairs": functions.pairs, "obstacles": None}.items():
            object.__setattr__(self, name, value)

    def target_shape(self, model: Model) -> tuple[int, ...]:
        return ()

    def error(self, model: Model, q: Any, target: Any) -> Any:
        return [_hinge(target + self.band - d, self.band) for d in self._functions(model).clearance(model, q).distance]

    def jacobian(self, model: Model, q: Any, target: Any) -> Any:
        functions = self._functions(model)
        distances, J = functions.clearance(model, q).distance, functions.jacobian(model, q)
        slopes = [maximum(minimum((target + self.band - d) * (1.0 / self.band), 1.0), 0.0) for d in distances]
        return [[-slope * e for e in row] for slope, row in zip(slopes, J, strict=True)]

    @property
    def lengths(self) -> Sequence[int]:
        return range(len(functions_of(self.world, self.pairs).pairs))

    def _functions(self, model: Model) -> Functions:
        own = model_of(self.world)
        if model.joint_names != own.joint_names or model.nq != own.nq:
            raise ParameterError("KeepApart: world", got=self.world, expected=f"one of the robot {model.name!r}")
        return functions_of(self.world, self.pairs)


def _hinge(x: Any, band: float) -> Any:
    """Return 0, a parabola, or a line of slope 1."""
    bent = minimum(maximum(x, 0.0), band)
    return bent * bent * (0.5 / band) + maximum(x - band, 0.0)
