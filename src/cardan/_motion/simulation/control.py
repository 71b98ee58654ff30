"""What acts on many worlds: efforts, targets of the drives, wrenches on the bodies."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from cardan._algebra.by_identity import known_of_each
from cardan._algebra.checked_numbers import whole
from cardan._algebra.errors import ParameterError, UndrivenWarning, check_known, levels_inside
from cardan._algebra.explained import Explained
from cardan._motion.simulation.arrays import checked_dtype, chosen_rows, filled, fitting
from cardan._motion.simulation.links import mass_centers
from cardan._motion.simulation.state import State
from cardan._motion.simulation.world_contents import WorldContents

NAMES = ("effort", "position", "velocity")


class Control(Explained):
    """Efforts, targets and wrenches of a number of worlds. Made by `World.control()`.

    The arrays are the control's own: what is assigned is copied into them, and must be finite. They can be written in
    place, which nobody looks at: a solver flags the worlds that numbers which are none then spoil.

    Attributes:
        world: what it drives.
        arrays: the arrays themselves, in the order of `names` [their units].

    Examples:
        >>> control = cardan.robots.arm7().world().control(worlds=4)
        >>> control.effort[:] = 1.0
        >>> control.copy().effort.shape
        (4, 7)
        >>> control.apply_force("tool", force=(0.0, 0.0, 5.0))
        >>> control.wrenches.shape, control.names
        ((4, 9, 6), ('effort', 'position', 'velocity', 'wrenches'))
        >>> control.hold()
    """

    __slots__ = ("_held", "_is_driven", "arrays", "world")

    def __init__(self, world: WorldContents, worlds: int = 1, dtype: Any = "float64") -> None:
        shape, kind = (whole("number of worlds", worlds, 0), world.model.nv), checked_dtype(dtype)
        self.world: WorldContents = world
        self._is_driven = _is_driven(world)
        # drives stay where the world says until somebody asks for more
        position = np.array(np.broadcast_to(world.targets, shape), kind, order="C")
        self.arrays: tuple[np.ndarray, ...] = np.zeros(shape, kind), position, np.zeros(shape, kind)
        self._held = False  # whether a stepper reads its arrays

    @property
    def worlds(self) -> int:
        """How many worlds."""
        return len(self.arrays[0])

    @property
    def dtype(self) -> np.dtype:
        """float64 or float32."""
        return self.arrays[0].dtype

    def __len__(self) -> int:
        return len(self.arrays[0])

    @property
    def effort(self) -> np.ndarray:
        """Efforts that are added to those of the drives [N m, N], shape (worlds, nv)."""
        return self.arrays[0]

    @effort.setter
    def effort(self, value: Any) -> None:
        self.arrays[0][...] = fitting("control", "effort", value, self.arrays[0])

    @property
    def position(self) -> np.ndarray:
        """What the drives go to [rad, m], shape (worlds, nv), in the coordinates limits are stated in.

        Joints without a drive do not follow: `mechanism.with_drives({"knee": cardan.Drive(100.0, 10.0)})`. In a world
        without a single one, an `UndrivenWarning` says so.
        """
        return self._aims(1)

    @position.setter
    def position(self, value: Any) -> None:
        self._aims(1)[...] = fitting("control", "position", value, self.arrays[1])

    @property
    def velocity(self) -> np.ndarray:
        """The velocities the drives go to [rad/s, m/s], shape (worlds, nv)."""
        return self._aims(2)

    @velocity.setter
    def velocity(self, value: Any) -> None:
        self._aims(2)[...] = fitting("control", "velocity", value, self.arrays[2])

    def _aims(self, which: int) -> np.ndarray:
        # kinematic joints go at the velocity that is asked for
        if not self._is_driven and not (which == 2 and self.world.kinematic):
            drives = "mechanism.with_drives({'*': cardan.Drive(100.0, 10.0)}).mechanism.world()"
            told = f"has no drive, and goes nowhere by itself: {drives}"
            warnings.warn(UndrivenWarning(f"world {self.world.name!r} {told}"), stacklevel=levels_inside())
        return self.arrays[which]

    @property
    def wrenches(self) -> np.ndarray:
        """Wrenches on the bodies, shape (worlds, bodies, 6): force [N], then moment [N m], both in world axes.

        Bodies as in `World.model.body_names`; each wrench acts at its body's centre of mass (the origin of a body
        without inertia), and goes on until it is changed. Those on bodies that are fixed on the world do nothing.

        There are none before they are first asked for: steps read them from then on, by a program of their own.
        """
        if len(self.arrays) == len(NAMES):
            if self._held:
                hint = "ask for control.wrenches once before solver.stepper(state, control)"
                got = "the first of them, under a stepper that was made without"
                raise ParameterError("control: wrenches", got=got, expected="them when it was made", hint=hint)
            self.arrays += (np.zeros((len(self), self.world.model.nbodies, 6), self.dtype),)
        return self.arrays[-1]

    @wrenches.setter
    def wrenches(self, value: Any) -> None:
        like = np.empty((len(self), self.world.model.nbodies, 6), self.dtype)
        self.wrenches[...] = filled("control", "wrenches", value, like)  # checked before there are any

    def apply_force(
        self,
        body: str,
        force: Any = (0.0, 0.0, 0.0),
        torque: Any = (0.0, 0.0, 0.0),
        *,
        at: Any = None,
        state: State | None = None,
        worlds: Any = None,
    ) -> None:
        """Let a force and a torque act on a body from now on, instead of what acted on it before.

        Args:
            body: its name.
            force: in world axes [N], shape (3,), or (worlds, 3): of those chosen, in their order, or of all where fewer
                are chosen.
            torque: likewise [N m].
            at: where the force acts, in the world [m], likewise; by default at the centre of mass. The moment that it
                has there in `state` is what goes on acting.
            state: where the bodies are; needed for `at` alone.
            worlds: indices of worlds, or a mask of bools; all by default.

        Raises:
            UnknownNameError: for an unknown body.
            ParameterError: for a point without a state, a body that is fixed on the world, other worlds.
            ShapeError, NotFiniteError: for values that are no such numbers.

        Examples:
            >>> world = cardan.robots.quadruped().world("floating")
            >>> state, control = world.state(worlds=2), world.control(worlds=2)
            >>> control.apply_force("trunk", (40.0, 0.0, 0.0), at=state.poses[:, 0, :3], state=state, worlds=[1])
            >>> control.wrenches[:, 0, 0].tolist()
            [0.0, 40.0]
        """
        model = self.world.model
        check_known("body", body, model.body_names, f"world {self.world.name!r}")
        if model.attachment(body).node < 0:
            got = f"{body!r}, which is fixed on the world"
            raise ParameterError("control: body to push", got=got, expected="a body that moves")
        rows = chosen_rows(worlds, len(self))
        F, T = self._vectors("force", force, rows), self._vectors("torque", torque, rows)
        if at is not None:
            T = T + np.cross(self._vectors("at", at, rows) - self._mass_centers(body, state)[rows], F)
        self.wrenches[rows, model.body_names.index(body)] = np.concatenate([F, T], axis=-1)

    def _vectors(self, name: str, value: Any, rows: np.ndarray) -> np.ndarray:
        array = np.asarray(value)
        # As many rows as worlds may be meant for all of them, of which some are chosen.
        is_of_all = array.shape == (len(self), 3) and len(rows) < len(self)
        own = array[rows] if is_of_all else value
        return filled("control", name, own, np.empty((len(rows), 3), self.dtype))

    def _mass_centers(self, body: str, state: State | None) -> np.ndarray:
        """Return where a body's centre of mass is, shape (worlds, 3)."""
        if state is None or not self.world.moves_like(state.world) or len(state) not in (1, len(self)):
            got = "at= without a state" if state is None else state
            expected = f"state=, a state of {len(self)} worlds {self.world.name!r}, which tells where {body!r} is"
            raise ParameterError("control: state", got=got, expected=expected)
        found = mass_centers(state.world.model, state.q, bodies=(body,), **state.model_constants)
        return np.broadcast_to(found[:, 0], (len(self), 3))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of its arrays: `wrenches` is among them once it has been asked for."""
        return (*NAMES, "wrenches")[: len(self.arrays)]

    def hold(self) -> None:
        """Let no array be added: a stepper reads those there are."""
        self._held = True

    def copy(self) -> Control:
        """Return a control that can be changed without changing this one."""
        return self[:]

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> Control:
        return self.copy()

    def __getitem__(self, rows: Any) -> Control:
        """Return the control of some of the worlds: a copy. Rows by slice, indices or mask."""
        own = np.atleast_1d(np.arange(len(self))[rows])
        return _rebuilt(self.world, *(array[own] for array in self.arrays))

    def __reduce__(self) -> Any:
        return _rebuilt, (self.world, *self.arrays)

    def __repr__(self) -> str:
        return f"<Control of {len(self)} worlds {self.world.name!r}, {self.dtype}>"


def _rebuilt(world: WorldContents, *arrays: np.ndarray) -> Control:
    """Return the control that holds these very arrays, in the order of `Control.names`."""
    control = Control.__new__(Control)
    control.world, control.arrays, control._held, control._is_driven = world, arrays, False, _is_driven(world)
    return control


@known_of_each
def _is_driven(world: WorldContents) -> bool:
    """Return whether a world has a drive, or inputs, of which some may be gains."""
    return bool(world.model.inputs) or any(any((*c.drive_stiffness, *c.drive_damping)) for c in world.mechanism.joints)
