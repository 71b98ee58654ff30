"""Tasks as users write them, for tests."""

from dataclasses import dataclass
from typing import Any

import cardan
from cardan.tasks import Task


@dataclass(frozen=True, eq=False)
class Height(Task):
    """A user's task: how high a frame is."""

    frame: str
    target: Any = None

    def target_shape(self, model):
        return ()

    def error(self, model, q, target):
        return cardan.frame_transform(model, q, self.frame)[2, 3] - target
