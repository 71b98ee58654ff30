"""Environments of Gymnasium, with many worlds in one step; importing this registers them (extra `gym`)."""

from cardan._algebra.errors import MissingExtraError

try:
    import gymnasium
except ImportError:
    raise MissingExtraError("environments of Gymnasium", "gym") from None

from cardan._reach.gym.tasks import ArmReach, CartPoleSwingUp, QuadrupedWalk, Start, Task
from cardan._reach.gym.vectorised import SingleWorld, VectorisedWorlds

__all__ = ["TASKS", "ArmReach", "CartPoleSwingUp", "QuadrupedWalk", "SingleWorld", "Start", "Task", "VectorisedWorlds"]

TASKS: dict[str, type[Task]] = {
    "cardan/CartPoleSwingUp-v0": CartPoleSwingUp,
    "cardan/QuadrupedWalk-v0": QuadrupedWalk,
    "cardan/ArmReach-v0": ArmReach,
}
"""Tasks by the names they are registered under; a new one adds a line."""

for _name, _task in TASKS.items():
    _made = {"entry_point": SingleWorld, "vector_entry_point": VectorisedWorlds, "kwargs": {"task": _task}}
    gymnasium.register(_name, max_episode_steps=_task.horizon, **_made)
__dir__ = __all__.copy
