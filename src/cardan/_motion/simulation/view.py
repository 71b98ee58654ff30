"""A selection of articulations, through which states of many worlds are read and written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np

from cardan._algebra.errors import MechanismError, ParameterError, ShapeError, UnknownNameError
from cardan._algebra.explained import Explained
from cardan._dynamics.algorithms.crba import mass_matrix
from cardan._dynamics.algorithms.jacobians import jacobian
from cardan._dynamics.algorithms.kinematics import frame_velocity
from cardan._dynamics.call.arguments import check_configuration, check_finite, numeric_array
from cardan._motion.simulation.arrays import check_range, chosen_rows, is_limit
from cardan._motion.simulation.articulation import Articulation, select_names
from cardan._motion.simulation.control import Control
from cardan._motion.simulation.links import body_poses
from cardan._motion.simulation.standing import move_root, turn_root
from cardan._motion.simulation.state import State
from cardan._motion.simulation.world_contents import WorldContents
from cardan._robot.joints import Joint, Reversed
from cardan._robot.model import Model
from cardan._robot.model.inputs import ALONG_V, INERTIAL, POSES


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class View(Explained):
    """Articulations of a world with some of their joints and links. Made by `World.view()`.

    Values have the shape (worlds, A, n): A articulations, n coordinates (degrees of freedom, links) of each. Where the
    articulations have different numbers of them it is (worlds, total), one articulation after the other. What is read
    is a copy; what is set is written into the state, for all worlds or for some (`worlds`: indices, or a mask), or for
    some articulations in each (a mask of shape (worlds, A)).

    Attributes:
        world: the world.
        articulations: those selected.
        joints: of each, the names of its selected joints with coordinates: in the order of a list of names, otherwise
            in document order.
        links: of each, the names of its selected links: by default those that move on joints of their own, and by
            a pattern also those that are fixed to another, as a tool or foot. These stand last, but in a list of names.
        q_indices: where the coordinates are in q, shape (A, n), or (total,).
        v_indices: where the degrees of freedom are in v, likewise.
        body_indices: where the links are in `World.model.body_names`, and in `Control.wrenches`, likewise.

    Throughout:
        state: of the world, read or written in place.
        control: of the world, read or written in place.
        values: what to write, of the shape that is read, or one that broadcasts to it; a row for each of `worlds`.
        worlds: indices of worlds, a mask of them, or one of worlds and articulations, (worlds, A); all by default. A
            mask is of bools: of whole numbers [1, 0] are worlds 1 and 0.
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
        >>> movable = cardan.robots.arm7().world(movable_bases=True)
        >>> root, begun = movable.view(), movable.state()
        >>> root.set_root_poses(begun, root.root_poses(begun) + np.array([0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 0.0]))
        >>> tool = world.view("arm7", links="tool")  # fixed to the last link
        >>> tool.link_poses(state).shape, tool.set_wrenches(control, (0.0, 0.0, -5.0, 0.0, 0.0, 0.0))
        ((4, 1, 1, 7), None)
        >>> tool.wrenches(control).shape, view.link_indices.shape
        ((4, 1, 1, 6), (1, 7))
    """

    world: WorldContents
    articulations: tuple[Articulation, ...]
    joints: tuple[tuple[str, ...], ...]
    links: tuple[tuple[str, ...], ...]
    q_indices: np.ndarray = field(init=False)
    v_indices: np.ndarray = field(init=False)
    body_indices: np.ndarray = field(init=False)
    _counts: dict[str, list[int]] = field(init=False)
    _places: dict[str, tuple[np.ndarray, slice | None]] = field(init=False)  # a slice of what lies beside one another

    def __post_init__(self) -> None:
        model, place = self.world.model, {body: k for k, body in enumerate(self.world.model.body_names)}
        indices = {
            "q_indices": [[i for j in own for i in range(model.nq)[model.q_slice(j)]] for own in self.joints],
            "v_indices": [[i for j in own for i in _velocities(model, j)] for own in self.joints],
            "body_indices": [[place[link] for link in own] for own in self.links],
        }
        for name, rows in indices.items():
            object.__setattr__(self, name, _rectangle(rows))
        places = {name: (getattr(self, name), _slice([*chain(*rows)])) for name, rows in indices.items()}
        object.__setattr__(self, "_places", {name.split("_")[0]: own for name, own in places.items()})
        counts = {name.split("_")[0]: [len(own) for own in rows] for name, rows in indices.items()}
        object.__setattr__(self, "_counts", counts | {"joint": [len(own) for own in self.joints]})

    @property
    def link_indices(self) -> np.ndarray:
        """Where the links are in `World.links` [-], shape (A, links), or (total,).

        Raises:
            MechanismError: where one of them is fixed to another link, so that it is not there; see `body_indices`.
        """
        place = {link: k for k, link in enumerate(self.world.links)}
        fixed = [link for own in self.links for link in own if link not in place]
        if fixed:
            message = f"link {fixed[0]!r} moves on no joint of its own, so it is not in World.links: use body_indices."
            raise MechanismError(message)
        return _rectangle([[place[link] for link in own] for own in self.links])

    @property
    def shape(self) -> tuple[int, ...]:
        """(A, n), the number of articulations and of degrees of freedom of each; (total,) where these differ."""
        return self.v_indices.shape

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the articulations."""
        return tuple(a.name for a in self.articulations)

    def positions(self, state: State) -> np.ndarray:
        """Return the coordinates, shape (worlds, A, nq) [rad, m]."""
        return self._of(state).q[:, self.q_indices]

    def set_positions(self, state: State, values: Any, worlds: Any = None) -> None:
        """Write the coordinates; a quaternion must not be 0."""
        q = self._of(state).q.copy()  # nothing is written if a quaternion is 0
        self._write("q", "positions", q, values, worlds)
        check_configuration("view", "positions", q, self.world.model.unit_parts)
        state.q[...] = q

    def velocities(self, state: State) -> np.ndarray:
        """Return the velocities, shape (worlds, A, nv) [rad/s, m/s]."""
        return self._of(state).v[:, self.v_indices]

    def set_velocities(self, state: State, values: Any, worlds: Any = None) -> None:
        """Write the velocities."""
        self._write("v", "velocities", self._of(state).v, values, worlds)

    def efforts(self, control: Control) -> np.ndarray:
        """Return the efforts that are added to those of the drives, shape (worlds, A, nv) [N m, N]."""
        return self._of(control).effort[:, self.v_indices]

    def set_efforts(self, control: Control, values: Any, worlds: Any = None) -> None:
        """Write the efforts."""
        self._write("v", "efforts", self._of(control).effort, values, worlds)

    def targets(self, control: Control) -> np.ndarray:
        """Return what the drives go to, shape (worlds, A, nv) [rad, m]."""
        return self._of(control).position[:, self.v_indices]

    def set_targets(self, control: Control, values: Any, worlds: Any = None) -> None:
        """Write what the drives go to."""
        self._write("v", "targets", self._of(control).position, values, worlds)

    def velocity_targets(self, control: Control) -> np.ndarray:
        """Return the velocities the drives go to, shape (worlds, A, nv) [rad/s, m/s]."""
        return self._of(control).velocity[:, self.v_indices]

    def set_velocity_targets(self, control: Control, values: Any, worlds: Any = None) -> None:
        """Write the velocities the drives go to."""
        self._write("v", "velocity targets", self._of(control).velocity, values, worlds)

    def limits(self) -> np.ndarray:
        """Return the smallest and largest positions, shape (A, nv, 2) [rad, m], in the coordinates of limits."""
        return self.world.limits[self.v_indices]

    def centre(self, state: State, worlds: Any = None) -> None:
        """Put the joints at the middle of their limits; see `World.centre`."""
        centred = self.world.centre(self._of(state).q)
        self.set_positions(state, centred[:, self.q_indices], worlds)

    def root_poses(self, state: State) -> np.ndarray:
        """Return the poses of the root links in the world, shape (worlds, A, 7): position [m], quaternion xyzw."""
        own = self._of(state)
        given: dict[str, Any] = {"bodies": self._all_roots(), **own.model_constants}
        return body_poses(self.world.model, own.q, **given)[:, self._root_indices()]

    def set_root_poses(self, state: State, values: Any, worlds: Any = None) -> None:
        """Move whole articulations: the root links to poses in the world, and with them all that hangs on them.

        Of one that floats the root's coordinates are written. One that is fixed on the world is moved by moving its
        joints there, which `WorldBuilder.finalize(movable_bases=True)` allows.

        Raises:
            MechanismError, ParameterError: if one cannot be moved; for a quaternion of norm 0.
        """
        each = self._of_roots(state, "root poses", values, worlds, 7)
        if not all((np.linalg.norm(poses[..., 3:], axis=-1) > 0.0).all() for _, _, poses in each):
            raise ParameterError("root poses", got="a quaternion of norm 0", expected="position and quaternion xyzw")
        for a, rows, poses in each:
            move_root(state, a, rows, poses)

    def root_twists(self, state: State) -> np.ndarray:
        """Return the twists of the root links at their origins, each in its own axes, (worlds, A, 6) [m/s, rad/s]."""
        own = self._of(state)
        given: dict[str, Any] = {"frame": self._all_roots(), "expressed_in": "frame", **own.model_constants}
        return frame_velocity(self.world.model, own.q, own.v, **given)[:, self._root_indices()]

    def set_root_twists(self, state: State, values: Any, worlds: Any = None) -> None:
        """Write the velocities of floating roots; another than 0 of one that is fixed raises `MechanismError`."""
        for a, rows, twists in self._of_roots(state, "root twists", values, worlds, 6):
            turn_root(state, a, rows, twists)

    def _all_roots(self) -> tuple[str, ...]:
        """Return the roots of the world: one program serves all its views."""
        return tuple(a.root for a in self.world.articulations.values())

    def _root_indices(self) -> list[int]:
        return [list(self.world.articulations).index(name) for name in self.names]

    def _of_roots(
        self, state: State, name: str, values: Any, worlds: Any, size: int
    ) -> list[tuple[Articulation, np.ndarray, np.ndarray]]:
        """Return for each articulation the worlds to write in, and the values there."""
        count = len(self._of(state))  # refuses what is of another world
        mask = self._mask(worlds, count)
        rows, full = _given(name, values, count, None if mask is not None else worlds, (len(self.articulations), size))
        chosen = [np.arange(len(rows)) if mask is None else np.flatnonzero(mask[:, k]) for k in range(full.shape[1])]
        return [(a, rows[own], full[own, k]) for k, (a, own) in enumerate(zip(self.articulations, chosen, strict=True))]

    def link_poses(self, state: State) -> np.ndarray:
        """Return the poses of the links in the world, shape (worlds, A, links, 7): position [m], quaternion xyzw."""
        own = self._of(state)
        if self._all_move():  # by the program that State.poses has already
            return own.poses[:, self.link_indices]
        given: dict[str, Any] = {"bodies": self.world.model.body_names, **own.model_constants}
        return body_poses(self.world.model, own.q, **given)[:, self.body_indices]

    def link_twists(self, state: State) -> np.ndarray:
        """Return the twists of the links at their origins, each in its own axes, (worlds, A, links, 6) [m/s, rad/s]."""
        own = self._of(state)
        if self._all_move():
            return own.twists[:, self.link_indices]
        given: dict[str, Any] = {"frame": self.world.model.body_names, "expressed_in": "frame", **own.model_constants}
        return frame_velocity(self.world.model, own.q, own.v, **given)[:, self.body_indices]

    def _all_move(self) -> bool:
        return {link for own in self.links for link in own} <= set(self.world.links)

    def wrenches(self, control: Control) -> np.ndarray:
        """Return the wrenches on the links, (worlds, A, links, 6) [N, N m]; see `Control.wrenches`."""
        return self._of(control).wrenches[:, self.body_indices]

    def set_wrenches(self, control: Control, values: Any, worlds: Any = None) -> None:
        """Write the wrenches on the links: force, then moment at the centre of mass, in world axes [N, N m]."""
        wrenches = self._of(control).wrenches.copy()
        self._write("body", "wrenches", wrenches, values, worlds)
        control.wrenches = wrenches

    def jacobian(self, state: State) -> np.ndarray:
        """Return the Jacobians of the links, (worlds, A, links, 6, nv): velocities of their origins, in world axes.

        Rows are [m/s, rad/s] for each velocity of one; columns are the selected degrees of freedom.

        Raises:
            MechanismError: if articulations have different numbers of links or of degrees of freedom.
        """
        own = self._of(state)
        if self.v_indices.ndim == 1 or self.body_indices.ndim == 1:
            raise MechanismError("jacobian: the articulations selected differ in size; take a view of each kind.")
        frames = [link for links in self.links for link in links]
        shape = (len(own), *self.body_indices.shape, 6)
        if not frames:
            return np.zeros((*shape, self.v_indices.shape[1]), own.dtype)
        J = jacobian(self.world.model, own.q, frames, **own.model_constants)
        J = J.reshape(*shape, self.world.model.nv)
        return np.stack([J[:, k][..., columns] for k, columns in enumerate(self.v_indices)], axis=1)

    def mass_matrix(self, state: State) -> np.ndarray:
        """Return the articulations' own mass matrices [kg m^2, kg], (worlds, A, nv, nv), or (worlds, total, total)."""
        own, i = self._of(state), self.v_indices
        M = mass_matrix(self.world.model, own.q, **own.model_constants)
        return M[:, i[..., :, None], i[..., None, :]]

    def constants(self, state: State, name: str) -> np.ndarray:
        """Return constants of the selected links (`"mass"`, `"com"`, `"inertia"`), joints (`"parent_pose"`,
        `"child_pose"`) or degrees of freedom (`"armature"`, `"damping"`, `"friction"`, `"drive_stiffness"`,
        `"drive_damping"`, `"spring_stiffness"`, `"spring_rest"`, `"lower"`, `"upper"`, `"effort_lower"`,
        `"effort_upper"`), shape (worlds, A, n, ...) [in their units].

        Raises:
            UnknownNameError: for another name.
        """  # noqa: D205
        own = self._of(state).constants.get(name)
        _, indices = self._indices_of(name)
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
        kind, indices = self._indices_of(name)
        if name not in self._of(state).constants:
            hint = f"take the states from world.with_inputs({name!r})"
            raise MechanismError(f"{name!r} is written into the program of world {self.world.name!r}: {hint}.")
        limit = is_limit(self.world.model, name)
        if not limit:
            check_range("view", self.world.model, name, numeric_array("view", name, values))
        array = state.constants[name].copy()  # written as a whole below, which checks it against the other limits
        self._write(kind, name, array, values, worlds, indices, limit)
        state.constants[name] = array

    def _indices_of(self, name: str) -> tuple[str, np.ndarray]:
        """Return what constants belong to, and where those of the view are."""
        model = self.world.model
        if name in ALONG_V:
            return "v", self.v_indices
        if name in INERTIAL and name != "inertial_parameters":
            return "body", self.body_indices
        if name in POSES:
            place = {name: k for k, name in enumerate(model.joint_names)}
            return "joint", _rectangle([[place[joint] for joint in own] for own in self.joints])
        known = [n for n in (*INERTIAL, *POSES, *ALONG_V) if n != "inertial_parameters"]
        hint = "what belongs to the world or to one owner is in state.constants" if name in model.inputs else ""
        raise UnknownNameError("constant", name, known, where="view", hint=hint)

    def _write(
        self, kind: str, name: str, array: np.ndarray, values: Any, worlds: Any, at: Any = None, infinite: bool = False
    ) -> None:
        """Write values at the view's places of an array (worlds, ...): `kind` tells what these belong to."""
        at, beside = self._places[kind] if at is None else (at, None)
        if kind == "v" and not at.size:
            for joint in chain(*self.joints):
                self.world.model.v_slice(joint)  # raises for one that follows others, and names these
        core, count = at.shape + array.shape[2:], len(array)
        if worlds is None and beside is not None:  # a sixth of what places one by one take
            _fill(array[:, beside].reshape(count, *core), name, values, infinite)
            return
        mask = self._mask(worlds, count)
        rows, full = _given(name, values, count, worlds if mask is None else None, core, infinite)
        if mask is not None:
            owners = np.repeat(np.arange(len(self.articulations)), self._counts[kind]).reshape(at.shape)
            chosen = mask[:, owners].reshape(*full.shape[: 1 + at.ndim], *(1,) * (full.ndim - 1 - at.ndim))
            full = np.where(chosen, full, array[:, at])
        chosen = slice(None) if worlds is None or mask is not None else rows.reshape(-1, *(1,) * at.ndim)
        array[chosen, at] = full

    def _mask(self, worlds: Any, count: int) -> np.ndarray | None:
        """Return a mask of worlds and articulations, (worlds, A); None if worlds are chosen as wholes."""
        mask = None if worlds is None else np.asarray(worlds)
        if mask is None or mask.ndim != 2:
            return None
        if mask.dtype != bool or mask.shape != (count, len(self.articulations)):
            expected = f"a mask of worlds and articulations, of shape {(count, len(self.articulations))}"
            raise ParameterError("worlds", got=worlds, expected=expected)
        return mask

    def _of(self, thing: Any) -> Any:
        """Return a state or control, or raise `ParameterError` if it is one of another world."""
        theirs = getattr(thing, "world", None)
        if theirs is not self.world and (theirs is None or theirs.model.joint_names != self.world.model.joint_names):
            raise ParameterError("state or control", got=thing, expected=f"one of {self.world!r}")
        return thing

    def __repr__(self) -> str:
        return f"<View of {len(self.articulations)} articulations ({', '.join(self.names[:4])}): shape {self.shape}>"


def select_joints(
    model: Model, joints: Sequence[str], pattern: Any, excluded: Any, include: Any, exclude: Any
) -> list[str]:
    """Return which of some joints with coordinates a view is of, by names and by types; see `World.view`."""
    kinds, others = ((given,) if isinstance(given, type) else tuple(given) for given in (include, exclude))
    for what, given in (("include", kinds), ("exclude", others)):
        if not all(isinstance(kind, type) and issubclass(kind, Joint) for kind in given):
            raise ParameterError(what, got=given, expected="classes of joints, such as cardan.joints.Revolute")
    kept: list[str] = []
    for name in pick("joint", joints, joints, pattern, excluded):
        own = model.joint(name)
        inner = own.joint if isinstance(own, Reversed) else own  # a reversed joint is what it reverses
        if (not kinds or isinstance(inner, kinds)) and not isinstance(inner, others):
            kept.append(name)
    if joints and not kept:
        raise UnknownNameError("joint of the types asked for", [k.__name__ for k in kinds or others], joints, "view")
    return kept


def pick(kind: str, names: Sequence[str], usual: Sequence[str], pattern: Any, excluded: Any) -> list[str]:
    """Return the names a pattern chooses, the usual ones without one, but for those another pattern excludes."""
    found = list(usual) if pattern is None else select_names(kind, names, pattern)
    if excluded is None:
        return found
    left_out = set(select_names(f"excluded {kind}", names, excluded))
    kept = [name for name in found if name not in left_out]
    if found and not kept:
        raise UnknownNameError(f"{kind} that is left when those are excluded", str(excluded), names, where="view")
    return kept


def _velocities(model: Model, joint: str) -> range:
    """Return where the velocities of a joint are in v: nowhere, if it is a dependent one of a cluster."""
    try:
        return range(model.nv)[model.v_slice(joint)]
    except MechanismError:
        return range(0)


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
    if worlds is not None and array.shape == (count, *core):
        array = array[rows]
    full = np.empty((len(rows), *core))
    _fill(full, name, array, infinite)
    return rows, full


def _fill(rows: np.ndarray, name: str, values: Any, infinite: bool) -> None:
    """Write what was given into rows of the view, broadcast."""
    array = numeric_array("view", name, values)
    check_finite("view", name, np.where(np.isinf(array), 0.0, array) if infinite else array)
    try:
        rows[...] = array
    except ValueError:
        expected = f"{rows.shape}, or what broadcasts to it"
        raise ShapeError("view", name, got=array.shape, expected=expected) from None


def _slice(indices: Sequence[int]) -> slice | None:
    """Return the places as a slice, if they follow one another."""
    first = indices[0] if indices else 0
    return slice(first, first + len(indices)) if [*indices] == [*range(first, first + len(indices))] else None
