"""A selection of articulations, through which states of many worlds are read and written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

import cardan
from cardan.errors import MechanismError, ParameterError, ShapeError, UnknownNameError
from cardan.functions.arguments import check_configuration, check_finite, numeric_array
from cardan.model.inputs import ALONG_V, INERTIAL, POSES
from cardan.simulation.arrays import chosen_rows
from cardan.simulation.articulation import Articulation
from cardan.simulation.constants import check_range, is_limit
from cardan.simulation.kinematics import body_poses
from cardan.simulation.roots import move_root, turn_root
from cardan.simulation.selection import chosen, is_of, types

if TYPE_CHECKING:
    from cardan.simulation.control import Control
    from cardan.simulation.state import State
    from cardan.simulation.world import World


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class View:
    """Articulations of a world with some of their joints and links. Made by `World.view()`.

    Values have the shape (worlds, A, n): A articulations, n coordinates (degrees of freedom, links) of each. Where the
    articulations have different numbers of them it is (worlds, total), one articulation after the other. What is read
    is a copy; what is set is written into the state, for all worlds or for some (`worlds`: indices, or a mask).

    Attributes:
        world: the world.
        articulations: those selected.
        joints: of each, the names of its selected joints with coordinates, in document order.
        links: of each, the names of its selected moving links.
        q_indices: where the coordinates are in q, shape (A, n), or (total,).
        v_indices: where the degrees of freedom are in v, likewise.
        link_indices: where the links are in `World.links`, likewise.

    Throughout:
        state: of the world, read or written in place.
        control: of the world, read or written in place.
        values: what to write, of the shape that is read, or one that broadcasts to it; a row for each of `worlds`.
        worlds: indices of worlds, or a mask; all by default.
        name: of a constant, as `constants` lists them.

    Examples:
        >>> world = cardan.robots.arm7().world().with_inputs("mass")
        >>> view, state, control = world.view("arm7"), world.state(worlds=4), world.control(worlds=4)
        >>> view.set_positions(state, 0.1), view.set_velocities(state, np.zeros((4, 1, 7)))
        (None, None)
        >>> view.positions(state).shape, view.velocities(state).shape, view.limits().shape
        ((4, 1, 7), (4, 1, 7), (1, 7, 2))
        >>> view.set_efforts(control, 1.0), view.set_targets(control, 0.0), view.set_velocity_targets(control, 0.0)
        (None, None, None)
        >>> view.efforts(control).shape, view.targets(control).shape, view.velocity_targets(control).shape
        ((4, 1, 7), (4, 1, 7), (4, 1, 7))
        >>> view.centre(state, worlds=[0])
        >>> view.root_poses(state).shape, view.root_twists(state).shape
        ((4, 1, 7), (4, 1, 6))
        >>> view.link_poses(state).shape, view.link_twists(state).shape
        ((4, 1, 7, 7), (4, 1, 7, 6))
        >>> view.jacobian(state).shape, view.mass_matrix(state).shape
        ((4, 1, 7, 6, 7), (4, 1, 7, 7))
        >>> view.set_constants(state, "mass", 2.0 * view.constants(state, "mass"))
        >>> view.set_root_twists(state, np.zeros((4, 1, 6)))
    """

    world: World
    articulations: tuple[Articulation, ...]
    joints: tuple[tuple[str, ...], ...]
    links: tuple[tuple[str, ...], ...]
    q_indices: np.ndarray = field(init=False)
    v_indices: np.ndarray = field(init=False)
    link_indices: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        model, place = self.world.model, {link: k for k, link in enumerate(self.world.links)}
        rows = {
            "q_indices": [[i for j in own for i in range(model.nq)[model.q_slice(j)]] for own in self.joints],
            "v_indices": [[i for j in own for i in range(model.nv)[model.v_slice(j)]] for own in self.joints],
            "link_indices": [[place[link] for link in own] for own in self.links],
        }
        for name, indices in rows.items():
            object.__setattr__(self, name, _rectangle(indices))

    @property
    def shape(self) -> tuple[int, ...]:
        """(A, n), the number of articulations and of degrees of freedom of each; (total,) where these differ."""
        return self.v_indices.shape

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the articulations."""
        return tuple(a.name for a in self.articulations)

    # --- along q and v ---

    def positions(self, state: State) -> np.ndarray:
        """Return the coordinates, shape (worlds, A, nq) [rad, m]."""
        return self._of(state).q[:, self.q_indices]

    def set_positions(self, state: State, values: Any, worlds: Any = None) -> None:
        """Write the coordinates; a quaternion must not be 0."""
        q = self._of(state).q.copy()
        _write("positions", q, self.q_indices, values, worlds)
        check_configuration("view", "positions", q, self.world.model.unit_parts)
        state.q[...] = q

    def velocities(self, state: State) -> np.ndarray:
        """Return the velocities, shape (worlds, A, nv) [rad/s, m/s]."""
        return self._of(state).v[:, self.v_indices]

    def set_velocities(self, state: State, values: Any, worlds: Any = None) -> None:
        """Write the velocities."""
        _write("velocities", self._of(state).v, self.v_indices, values, worlds)

    def efforts(self, control: Control) -> np.ndarray:
        """Return the efforts that are added to those of the drives, shape (worlds, A, nv) [N m, N]."""
        return self._of(control).effort[:, self.v_indices]

    def set_efforts(self, control: Control, values: Any, worlds: Any = None) -> None:
        """Write the efforts."""
        _write("efforts", self._of(control).effort, self.v_indices, values, worlds)

    def targets(self, control: Control) -> np.ndarray:
        """Return what the drives go to, shape (worlds, A, nv) [rad, m]."""
        return self._of(control).position[:, self.v_indices]

    def set_targets(self, control: Control, values: Any, worlds: Any = None) -> None:
        """Write what the drives go to."""
        _write("targets", self._of(control).position, self.v_indices, values, worlds)

    def velocity_targets(self, control: Control) -> np.ndarray:
        """Return the velocities the drives go to, shape (worlds, A, nv) [rad/s, m/s]."""
        return self._of(control).velocity[:, self.v_indices]

    def set_velocity_targets(self, control: Control, values: Any, worlds: Any = None) -> None:
        """Write the velocities the drives go to."""
        _write("velocity targets", self._of(control).velocity, self.v_indices, values, worlds)

    def limits(self) -> np.ndarray:
        """Return the smallest and largest positions, shape (A, nv, 2) [rad, m], in the coordinates of limits."""
        return self.world.limits[self.v_indices]

    def centre(self, state: State, worlds: Any = None) -> None:
        """Put the joints at the middle of their limits; see `World.centre`."""
        centred = self.world.centre(self._of(state).q)
        self.set_positions(state, centred[:, self.q_indices], worlds)

    # --- roots ---

    def root_poses(self, state: State) -> np.ndarray:
        """Return the poses of the root links in the world, shape (worlds, A, 7): position [m], quaternion xyzw."""
        own = self._of(state)
        given: dict[str, Any] = {"bodies": self._all_roots(), **own.model_constants}
        return body_poses(self.world.model, own.q, **given)[:, self._places()]

    def set_root_poses(self, state: State, values: Any, worlds: Any = None) -> None:
        """Move whole articulations: the root links to poses in the world, and with them all that hangs on them.

        Of one that floats the root's coordinates are written. One that is fixed on the world is moved by moving its
        joints there, which `WorldBuilder.finalize(movable_bases=True)` allows.

        Raises:
            MechanismError: if one cannot be moved.

        Examples:
            >>> dog = cardan.robots.quadruped().world("floating")
            >>> root, state = dog.view(), dog.state()
            >>> root.set_root_poses(state, root.root_poses(state) + np.array([0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 0.0]))
        """
        rows, poses = self._of_roots(state, "root poses", values, worlds, 7)
        if not (np.linalg.norm(poses[..., 3:], axis=-1) > 0.0).all():
            raise ParameterError("root poses", got="a quaternion of norm 0", expected="position and quaternion xyzw")
        for k, a in enumerate(self.articulations):
            move_root(state, a, rows, poses[:, k])

    def root_twists(self, state: State) -> np.ndarray:
        """Return the twists of the root links at their origins, each in its own axes, (worlds, A, 6) [m/s, rad/s]."""
        own = self._of(state)
        given: dict[str, Any] = {"frame": self._all_roots(), "expressed_in": "frame", **own.model_constants}
        return cardan.frame_velocity(self.world.model, own.q, own.v, **given)[:, self._places()]

    def set_root_twists(self, state: State, values: Any, worlds: Any = None) -> None:
        """Write the velocities of floating roots; what is fixed on the world can only be given 0.

        Raises:
            MechanismError: if another is given.
        """
        rows, twists = self._of_roots(state, "root twists", values, worlds, 6)
        for k, a in enumerate(self.articulations):
            turn_root(state, a, rows, twists[:, k])

    def _all_roots(self) -> tuple[str, ...]:
        """Return the roots of the world: one program serves all its views."""
        return tuple(a.root for a in self.world.articulations.values())

    def _places(self) -> list[int]:
        return [list(self.world.articulations).index(name) for name in self.names]

    def _of_roots(self, state: State, name: str, values: Any, worlds: Any, size: int) -> tuple[np.ndarray, np.ndarray]:
        count = len(self._of(state))
        return _given(name, values, count, worlds, (len(self.articulations), size))

    # --- links ---

    def link_poses(self, state: State) -> np.ndarray:
        """Return the poses of the links in the world, shape (worlds, A, links, 7): position [m], quaternion xyzw."""
        return self._of(state).poses[:, self.link_indices]

    def link_twists(self, state: State) -> np.ndarray:
        """Return the twists of the links at their origins, each in its own axes, (worlds, A, links, 6) [m/s, rad/s]."""
        return self._of(state).twists[:, self.link_indices]

    def jacobian(self, state: State) -> np.ndarray:
        """Return the Jacobians of the links, (worlds, A, links, 6, nv): velocities of their origins, in world axes.

        Columns are the selected degrees of freedom. Articulations must have equal numbers of links and of these.

        Returns:
            Rows [m/s, rad/s] for each velocity of one.

        Raises:
            MechanismError: if they have not.
        """
        own = self._of(state)
        if self.v_indices.ndim == 1 or self.link_indices.ndim == 1:
            raise MechanismError("jacobian: the articulations selected differ in size; take a view of each kind.")
        frames = [link for links in self.links for link in links]
        shape = (len(own), *self.link_indices.shape, 6)
        if not frames:
            return np.zeros((*shape, self.v_indices.shape[1]), own.dtype)
        J = cardan.jacobian(self.world.model, own.q, frames, **own.model_constants)
        J = J.reshape(*shape, self.world.model.nv)
        return np.stack([J[:, k][..., columns] for k, columns in enumerate(self.v_indices)], axis=1)

    def mass_matrix(self, state: State) -> np.ndarray:
        """Return the articulations' own mass matrices [kg m^2, kg], (worlds, A, nv, nv), or (worlds, total, total)."""
        own, i = self._of(state), self.v_indices
        M = cardan.mass_matrix(self.world.model, own.q, **own.model_constants)
        return M[:, i[..., :, None], i[..., None, :]]

    # --- constants ---

    def constants(self, state: State, name: str) -> np.ndarray:
        """Return constants of the selected links (`"mass"`, `"com"`, `"inertia"`), joints (`"parent_pose"`,
        `"child_pose"`) or degrees of freedom (`"armature"`, `"damping"`, `"friction"`, `"drive_stiffness"`,
        `"drive_damping"`, `"spring_stiffness"`, `"spring_rest"`, `"lower"`, `"upper"`, `"effort_lower"`,
        `"effort_upper"`), shape (worlds, A, n, ...) [in their units].

        Raises:
            UnknownNameError: for another name.
        """  # noqa: D205
        own = self._of(state).constants.get(name)
        indices = self._indices_of(name)
        if own is None:
            nominal = self.world.model.with_inputs(name).input_values()[name]
            own = np.broadcast_to(nominal, (len(state), *nominal.shape))
        return own[:, indices]

    def set_constants(self, state: State, name: str, values: Any, worlds: Any = None) -> None:
        """Write constants that are inputs of the world's model; nothing is compiled anew.

        Raises:
            MechanismError: if they are no inputs.
            ParameterError: for a value that nothing can have, such as a negative mass.
        """
        indices = self._indices_of(name)
        if name not in self._of(state).constants:
            hint = f"take the states from world.with_inputs({name!r})"
            raise MechanismError(f"{name!r} is written into the program of world {self.world.name!r}: {hint}.")
        limit = is_limit(state.world, name)
        if not limit:
            check_range("view", state.world, name, numeric_array("view", name, values))
        array = state.constants[name].copy()
        _write(name, array, indices, values, worlds, infinite=limit)
        state.constants[name] = array

    def _indices_of(self, name: str) -> np.ndarray:
        model = self.world.model
        if name in ALONG_V:
            return self.v_indices
        if name in INERTIAL and name != "inertial_parameters":
            return _rectangle([[model.body_names.index(link) for link in own] for own in self.links])
        if name in POSES:
            return _rectangle([[model.joint_names.index(joint) for joint in own] for own in self.joints])
        known = [n for n in (*INERTIAL, *POSES, *ALONG_V) if n != "inertial_parameters"]
        hint = "what belongs to the world or to one owner is in state.constants" if name in model.inputs else ""
        raise UnknownNameError("constant", name, known, where="view", hint=hint)

    def _of(self, thing: Any) -> Any:
        """Return a state or control, or raise `ParameterError` if it is one of another world."""
        theirs = getattr(thing, "world", None)
        if theirs is not self.world and (theirs is None or theirs.model.joint_names != self.world.model.joint_names):
            raise ParameterError("state or control", got=thing, expected=f"one of {self.world!r}")
        return thing

    def __repr__(self) -> str:
        return f"<View of {len(self.articulations)} articulations ({', '.join(self.names[:4])}): shape {self.shape}>"


def view(world: World, pattern: Any, joints: Any, links: Any, include: Any, exclude: Any) -> View:
    """Return a selection; see `World.view`."""
    names = chosen("articulation", tuple(world.articulations), pattern)
    own = [world.articulations[name] for name in names]
    kinds, others = types("include", include), types("exclude", exclude)
    model = world.model
    moving = [j for a in own for j in a.joints if model.v_slice(j).stop > model.v_slice(j).start]
    picked = moving if joints is None else chosen("joint", moving, joints)
    picked = [j for j in picked if (not kinds or is_of(model, j, kinds)) and not is_of(model, j, others)]
    if not picked and moving:
        raise UnknownNameError("joint of the types asked for", [k.__name__ for k in kinds or others], moving, "view")
    all_links = [link for a in own for link in a.links]
    wanted = all_links if links is None else chosen("link", all_links, links)
    return View(
        world,
        tuple(own),
        tuple(tuple(j for j in a.joints if j in set(picked)) for a in own),
        tuple(tuple(link for link in a.links if link in set(wanted)) for a in own),
    )


def _rectangle(rows: Sequence[Sequence[int]]) -> np.ndarray:
    """Return rows of indices as an array, or one after the other if their lengths differ."""
    if len({len(row) for row in rows}) == 1:
        return np.array(rows, dtype=int).reshape(len(rows), -1)
    return np.array([i for row in rows for i in row], dtype=int)


def _given(
    name: str, values: Any, count: int, worlds: Any, core: tuple[int, ...], infinite: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows to write and the values for them, (rows, *core), broadcast from what was given."""
    rows = chosen_rows(worlds, count)
    array = numeric_array("view", name, values)
    if array.shape == (count, *core):
        array = array[rows]
    try:
        full = np.broadcast_to(array, (len(rows), *core))
    except ValueError:
        expected = f"{(len(rows), *core)}, or what broadcasts to it"
        raise ShapeError("view", name, got=array.shape, expected=expected) from None
    check_finite("view", name, np.where(np.isinf(full), 0.0, full) if infinite else np.asarray(full), full.shape[:1])
    return rows, full


def _write(
    name: str, array: np.ndarray, indices: np.ndarray, values: Any, worlds: Any, *, infinite: bool = False
) -> None:
    rows, full = _given(name, values, len(array), worlds, (*indices.shape, *array.shape[2:]), infinite)
    array[rows.reshape(-1, *(1,) * indices.ndim), indices] = full
