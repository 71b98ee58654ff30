"""What drives many worlds: efforts, and targets of the drives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.checked_numbers import whole
from cardan.simulation.arrays import checked_dtype, filled
from cardan.words import Explained

if TYPE_CHECKING:
    from cardan.simulation.world import World

NAMES = ("effort", "position", "velocity")


class Control(Explained):
    """Efforts and targets of a number of worlds. Made by `World.control()`.

    The arrays are the control's own: what is assigned is copied into them, and must be finite. They can be written in
    place, which nobody looks at: a solver flags the worlds that numbers which are none then spoil.

    Attributes:
        world: what it drives.
        effort: [N m, N], shape (worlds, nv): what is added to the drives' efforts.
        position: what the drives go to [rad, m], shape (worlds, nv), in the coordinates limits are stated in.
        velocity: the velocities the drives go to, shape (worlds, nv).

    Examples:
        >>> control = cardan.robots.arm7().world().control(worlds=4)
        >>> control.effort[:] = 1.0
        >>> control.copy().effort.shape
        (4, 7)
    """

    __slots__ = ("_effort", "_position", "_velocity", "world")

    def __init__(self, world: World, worlds: int = 1, dtype: Any = "float64") -> None:
        shape, kind = (whole("number of worlds", worlds, 0), world.model.nv), checked_dtype(dtype)
        self.world = world
        self._effort, self._velocity = np.zeros(shape, kind), np.zeros(shape, kind)
        self._position = np.empty(shape, kind)
        self._position[...] = world.targets

    @property
    def worlds(self) -> int:
        """How many worlds."""
        return len(self._effort)

    @property
    def dtype(self) -> np.dtype:
        """float64 or float32."""
        return self._effort.dtype

    def __len__(self) -> int:
        return len(self._effort)

    @property
    def effort(self) -> np.ndarray:
        """Efforts that are added to those of the drives [N m, N], shape (worlds, nv)."""
        return self._effort

    @effort.setter
    def effort(self, value: Any) -> None:
        self._effort[...] = filled("control", "effort", value, self._effort)

    @property
    def position(self) -> np.ndarray:
        """What the drives go to [rad, m], shape (worlds, nv)."""
        return self._position

    @position.setter
    def position(self, value: Any) -> None:
        self._position[...] = filled("control", "position", value, self._position)

    @property
    def velocity(self) -> np.ndarray:
        """The velocities the drives go to [rad/s, m/s], shape (worlds, nv)."""
        return self._velocity

    @velocity.setter
    def velocity(self, value: Any) -> None:
        self._velocity[...] = filled("control", "velocity", value, self._velocity)

    def copy(self) -> Control:
        """Return a control that can be changed without changing this one."""
        return self[:]

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> Control:
        return self.copy()

    def __getitem__(self, rows: Any) -> Control:
        """Return the control of some of the worlds: a copy. Rows by slice, indices or mask."""
        chosen = np.atleast_1d(np.arange(len(self))[rows])
        return _rebuilt(self.world, *(getattr(self, name)[chosen] for name in NAMES))

    def __reduce__(self) -> Any:
        return _rebuilt, (self.world, *(getattr(self, name) for name in NAMES))

    def __repr__(self) -> str:
        return f"<Control of {len(self)} worlds {self.world.name!r}, {self.dtype}>"


def _rebuilt(world: World, effort: np.ndarray, position: np.ndarray, velocity: np.ndarray) -> Control:
    control = Control.__new__(Control)
    control.world, control._effort, control._position, control._velocity = world, effort, position, velocity
    return control
