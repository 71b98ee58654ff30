"""Environments of Gymnasium, with many worlds in one step; importing this registers them (extra `gym`)."""

from typing import Any

from cardan._algebra.errors import MissingExtraError

try:
    import gymnasium
except ImportError:
    raise MissingExtraError("environments of Gymnasium", "gym") from None

from cardan._reach.gym.tasks import SCAN, ArmReach, CartPoleSwingUp, QuadrupedWalk, Start, Task
from cardan._reach.gym.vectorised import SingleWorld, VectorisedWorlds

__all__ = ["TASKS", "ArmReach", "CartPoleSwingUp", "QuadrupedWalk", "SingleWorld", "Start", "Task", "VectorisedWorlds"]

TASKS: dict[str, dict[str, Any]] = {
    "cardan/CartPoleSwingUp-v0": {"task": CartPoleSwingUp},
    "cardan/QuadrupedWalk-v0": {"task": QuadrupedWalk},
    "cardan/QuadrupedRough-v0": {"task": QuadrupedWalk, "terrain_seed": 0, "scan": SCAN},
    "cardan/ArmReach-v0": {"task": ArmReach},
}
"""Tasks and their arguments, by the names they are registered under; a new one adds a line."""

_ENTRIES = {"entry_point": SingleWorld, "vector_entry_point": VectorisedWorlds}
for _name, _made in TASKS.items():
    gymnasium.register(_name, max_episode_steps=_made["task"].horizon, **_ENTRIES, kwargs=_made)
__dir__ = __all__.copy
