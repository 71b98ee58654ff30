"""The world: one model with its articulations, from which states and controls are made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cardan._algebra.errors import ParameterError, first_of, visible
from cardan._algebra.explained import explained_keywords
from cardan._dynamics.algorithms.tree import supports
from cardan._motion.simulation.articulation import Pattern, select_names
from cardan._motion.simulation.carried_over import carried_over
from cardan._motion.simulation.collide import collide
from cardan._motion.simulation.control import Control
from cardan._motion.simulation.standing import warn_of_state
from cardan._motion.simulation.state import State
from cardan._motion.simulation.view import View, pick, select_joints
from cardan._motion.simulation.world_contents import CONTACT_INPUTS, WorldContents
from cardan._robot.geometry.touching import Contacts
from cardan._robot.model import WORLD, Model
from cardan._robot.model.layout import aligned


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class World(WorldContents):
    """Everything that moves and touches, made by `WorldBuilder.finalize()` or `Mechanism.world()`. Immutable.

    Many worlds of this kind are the leading axis of a `State`.

    Joints are in document order (`model.joint_names`). What belongs to joints is told by starts: joint k's coordinates
    are q[q_starts[k] : q_starts[k + 1]], its velocities, efforts, axes, targets and limits those from v_starts[k] on,
    the linear ones first.

    Attributes:
        model: the rooted tree (or forest) all algorithms run over.
        mechanism: the description it was made of.
        articulations: its trees, by name, in document order.
        shapes: visual and collision shapes.
        pairs: the shapes that may touch, two by two.
        overlapping: names of pairs that are left out because they overlap where the world begins (`OverlapWarning`).
        orphans: names of the joints that are in no articulation.
        initial: the configuration states begin with, shape (nq,) [rad, m].
        initial_velocity: the velocities states begin with, shape (nv,) [rad/s, m/s].
        targets: what drives go to by default, shape (nv,) [rad, m], in the coordinates of limits.
        movable: for each articulation that can be moved as a whole by `View.set_root_poses` although it hangs on
            the world by joints of its own: its joints on the world, by the inputs that hold their parent poses.
        contact_inputs: which properties of contacts are given for each world: of `CONTACT_INPUTS`.
        kinematic: names of the joints that move as they are told (`with_kinematic`).
        links: the bodies that move on joints of their own, in document order of the joints.

    Throughout:
        worlds: how many.
        dtype: float64 or float32.
        pattern: which: a pattern as file names have them (`"robot*"`), a list of names or patterns, or a compiled
            regular expression, which must match the whole name.

    Examples:
        >>> world = cardan.robots.quadruped().world("floating", ground=True)
        >>> state, control = world.state(worlds=4), world.control(worlds=4)
        >>> state.q.shape, control.effort.shape
        ((4, 19), (4, 18))
        >>> world.centre().shape, world.moves_like(world), world.constants()
        ((19,), True, {})
        >>> world.view("quad*").names
        ('quadruped',)
        >>> world.collide(state).gap.shape[0], len(world.with_contacts("*_foot").pairs)
        (4, 4)
        >>> world.with_kinematic("*_hip_joint").kinematic[:1]
        ('front_left_hip_joint',)
        >>> varied = world.with_inputs("mass")
        >>> varied.state(worlds=4).constants["mass"].shape == (4, world.model.nbodies)
        True
    """

    @property
    def q_starts(self) -> np.ndarray:
        """Where each joint's coordinates begin in q, and after them nq [-]: shape (njoints + 1,)."""
        return np.array([0, *(self.model.slices[joint][0].stop for joint in self.model.joint_names)])

    @property
    def v_starts(self) -> np.ndarray:
        """Where each joint's velocities begin in v, and after them nv [-]: shape (njoints + 1,)."""
        return np.array([0, *(self.model.slices[joint][1].stop for joint in self.model.joint_names)])

    @property
    def axes(self) -> np.ndarray:
        """Axes of the degrees of freedom, each in the joint's parent frame at its neutral configuration: (nv, 3) [-].

        Of a degree of freedom that turns it is the axis it turns about, and of one that only shifts the direction.
        """
        rows = [axis for joint in self.model.joint_names for axis in _axes(self.model, joint)]
        return np.array([axis for axis, _ in rows], dtype=float).reshape(-1, 3)

    @property
    def num_linear(self) -> np.ndarray:
        """For each joint, how many of its degrees of freedom only shift [-]: shape (njoints,)."""
        counts = [sum(not turns for _, turns in _axes(self.model, joint)) for joint in self.model.joint_names]
        return np.array(counts, dtype=int)

    @property
    def num_angular(self) -> np.ndarray:
        """For each joint, how many of its degrees of freedom turn [-]: shape (njoints,)."""
        return np.diff(self.v_starts) - self.num_linear

    def state(self, worlds: int = 1, dtype: Any = "float64", q: Any = None, v: Any = None, **constants: Any) -> State:
        """Return a state of a number of worlds.

        Args:
            q: configurations to begin with, shape (nq,) or (worlds, nq); by default `initial`, where what floats stands
                on level ground.
            v: velocities, likewise; by default `initial_velocity`.
            constants: values of the model's inputs, of one world or of each; by default those of the model.

        Raises:
            ShapeError, DTypeError, ParameterError, ConfigurationError: for values that do not fit.

        Warns:
            StartWarning: if q has shapes more than 1 cm deep in a plane or terrain of the world, loops that are open by
                more than 1 mm or 1 mrad, or joints beyond their stops by more than 1 cm or 0.01 rad.
        """
        state = State(self, worlds, dtype, q, v, constants)
        if q is not None or constants:  # where it begins by itself was looked at when it was made
            warn_of_state(state)
        return state

    def state_from(self, state: State) -> State:
        """Return the state of this world in which all goes on that a state of another world has in common with it.

        So bodies come and go between two steps. What has the same name goes on: joints with their coordinates,
        velocities and accelerations, constants that are given for each world, impulses at contacts. So do time and
        flags. What is new begins as in `state`. Bodies asleep wake up.

        Args:
            state: of any world; it is left as it is.

        Raises:
            ParameterError: for a joint that is of one kind there and of another here; for constants of the state that
                are no inputs here.

        Examples:
            >>> b = cardan.WorldBuilder()
            >>> names = [b.add_body(name, inertia=cardan.Inertia(1.0, (0, 0, 0), np.eye(3))) for name in "ab"]
            >>> before = b.finalize().state(worlds=3)
            >>> before.v[:, 6] = 0.5  # of b
            >>> b.remove("a"), b.add_body("c", inertia=cardan.Inertia(1.0, (0, 0, 0), np.eye(3)))
            (('a', 'a_free'), 'c')
            >>> after = b.finalize().state_from(before)
            >>> after.v[0].tolist()
            [0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
        """
        return carried_over(self, state)

    @explained_keywords
    def control(self, worlds: int = 1, dtype: Any = "float64") -> Control:
        """Return a control of a number of worlds: no effort, drives at their default targets."""
        return Control(self, worlds, dtype)

    def with_inputs(self, *names: str, **owned: tuple[str, str]) -> World:
        """Return the world with some of its constants given for every world: `State.constants` holds them.

        Args:
            names: as for `Model.with_inputs`: `"mass"`, `"gravity"`, `"friction"`, `"drive_stiffness"`, `"lower"`,
                `"upper"`, `"effort_upper"`, ...; and, of each of `pairs`, `"contact_friction"`,
                `"contact_restitution"`, `"contact_stiffness"` [N/m], `"contact_dissipation"` [s/m], and
                `"contact_surface_velocity"`, how many times as fast as they say surfaces of its shapes run.
            owned: constants of one body, joint or frame, likewise.

        Raises:
            UnknownNameError, ParameterError: for a constant that does not exist, or is asked for twice.
        """
        touching = tuple(name for name in names if name in CONTACT_INPUTS)
        if len(set(touching) | set(self.contact_inputs)) < len(touching) + len(self.contact_inputs):
            raise ParameterError("inputs of contacts", got=touching, expected="each of them once")
        runs = "contact_surface_velocity"
        if runs in touching and not any(any(pair.surface_velocities) for pair in self.pairs):
            expected = "a pair of shapes one of which has a surface_velocity"
            raise ParameterError(f"input {runs!r}", got="none in this world", expected=expected)
        others = [name for name in names if name not in CONTACT_INPUTS]
        # Else the same model, so that programs made for it serve on.
        model = self.model.with_inputs(*others, **owned) if others or owned else self.model
        turns = any(given.is_of_motion for given in model.inputs.values())
        pairs = self.pairs.on_joints_that_turn() if turns else self.pairs
        return replace(self, model=model, pairs=pairs, contact_inputs=(*self.contact_inputs, *touching))

    def with_constraints(self, *constraints: Callable[..., Any]) -> World:
        """Return the world with constraints that are functions of yours of its model: see `Model.with_constraints`.

        `Featherstone` takes them: what they say holds at the end of each step.

        Args:
            constraints: functions of (model, q), (model, q, v) or (model, q, v, a), which return what is to be 0.

        Raises:
            ParameterError: for what is no such function, is not affine, or constrains nothing.

        Examples:
            >>> def upright(model, q, v):
            ...     return cardan.frame_velocity(model, q, v, "trunk")[3:5]  # rad/s
            >>> world = cardan.robots.quadruped().world("floating").with_constraints(upright)
            >>> world.model.constraint_names
            ('upright',)
        """
        return replace(self, model=self.model.with_constraints(*constraints))

    def collide(self, state: State) -> Contacts:
        """Return where the shapes of `pairs` touch, or nearly, at the present coordinates of a state.

        Args:
            state: of this world.

        Returns:
            Contacts: gap (worlds, C), point and normal (worlds, C, 3) in world axes, and pair (C,), which of `pairs`.

        Raises:
            UnsupportedError: for a pair of shapes cardan's own collision does not know, such as meshes; for more pairs
                than one program has.
            ParameterError: for a state of another world.
        """
        return collide(self, state)

    def with_contacts(self, pattern: Pattern) -> World:
        """Return the world with some of its pairs of shapes alone; the others pass through one another.

        A pair is chosen by its names in either order (`"left_sole/ground"`), or by that of one of its shapes or bodies,
        so that `"*_foot"` are all contacts of the feet; an empty list chooses none.

        Raises:
            UnknownNameError: if nothing is selected.
        """
        return replace(self, pairs=self.pairs.selected(pattern, f"contacts of world {self.name!r}"))

    def with_kinematic(self, pattern: Pattern) -> World:
        """Return the world with some joints that move as they are told, whatever pushes: belts, lifts, cranks.

        In every step such a joint has the velocity `Control.velocity` at its end (0 without a control), and its
        coordinates go along. What rides on it or touches it feels that; it feels nothing: no effort, drive, friction or
        limit of its own counts, and what it moves never touches the world or another such thing. It is one of the tree
        that has coordinates of its own.

        Raises:
            UnknownNameError: if nothing is selected.
        """
        model = self.model
        own = [c.name for c in model.connections if c.joint.nv and not c.joint.primaries]
        chosen = select_names("joint", own, pattern, where=f"kinematic joints of world {self.name!r}")
        kinematic = tuple(joint for joint in own if joint in {*self.kinematic, *chosen})
        # What no other joints move feels nothing: two such bodies, or one and the world, need not touch.
        above = {body: supports(model, model.attachment(body).node) for body in model.body_names}
        still = {WORLD, *(b for b, own in above.items() if all(model.nodes[i].name in kinematic for i in own))}
        return replace(self, kinematic=kinematic, pairs=self.pairs.but_between(still))

    def view(
        self,
        pattern: Pattern = "*",
        joints: Pattern | None = None,
        links: Pattern | None = None,
        include: Sequence[type[Any]] = (),
        exclude: Sequence[type[Any]] = (),
        *,
        exclude_joints: Pattern | None = None,
        exclude_links: Pattern | None = None,
    ) -> View:
        """Return a selection of articulations, and of their joints and links, to read and write states through.

        Args:
            joints: which of their joints, likewise; by default all that have coordinates. A list of names is in its
                own order, what patterns match in document order.
            links: which of their links, likewise, those that are fixed to others included; by default all that move
                on joints of their own.
            include: types of joints, of which others are left out.
            exclude: types of joints that are left out.
            exclude_joints: joints that are left out, by names and patterns.
            exclude_links: links that are left out, likewise.

        Raises:
            UnknownNameError: if nothing is selected, or nothing to exclude is found.

        Peers: Newton `ArticulationView`.
        """
        own = [self.articulations[name] for name in select_names("articulation", tuple(self.articulations), pattern)]
        moving = [j for a in own for j in a.joints if self.model.joint(j).nv]
        picked = select_joints(self.model, moving, joints, exclude_joints, include, exclude)
        ordered = [(*a.links, *(body for body in a.bodies if body not in a.links)) for a in own]
        bodies, usual = [body for each in ordered for body in each], [link for a in own for link in a.links]
        wanted = pick("link", bodies, usual, links, exclude_links)
        parts = []
        for chosen, each in ((picked, [a.joints for a in own]), (wanted, ordered)):
            place = {name: k for k, name in enumerate(chosen)}
            parts.append(tuple(tuple(sorted(place.keys() & names, key=place.__getitem__)) for names in each))
        return View(self, tuple(own), *parts)

    def __str__(self) -> str:
        """The articulations with their places in q and v, what may touch, and what is in no articulation."""
        rows: list[tuple[str, ...]] = [("articulation", "root", "joints", "links", "q", "v")]
        for a in self.articulations.values():
            kind = "floating" if a.is_floating else "movable" if a.name in self.movable else "fixed"
            root = f"{visible(a.root)} ({kind})"
            counts = (str(len(a.joints)), str(len(a.links)))
            spans = (f"{s.start}:{s.stop}" for s in (a.q_slice, a.v_slice))
            rows.append((visible(a.name), root, *counts, *spans))
        more = {"may touch": [p.name for p in self.pairs], "overlap": self.overlapping, "orphans": self.orphans}
        more["move as they are told"] = self.kinematic
        lists = [f"{what}: {first_of(names, 8)}" for what, names in more.items() if names]
        return "\n".join([f"{visible(self.name)}: nq = {self.model.nq}, nv = {self.model.nv}", *aligned(rows), *lists])

    def __deepcopy__(self, memo: Any) -> World:
        return self  # it cannot change, and states and solvers know theirs by identity

    def __repr__(self) -> str:
        counts = f"{len(self.articulations)} articulations, {len(self.links)} moving links, {len(self.pairs)} pairs"
        return f"<World {self.name!r}: {counts}, nq={self.model.nq}, nv={self.model.nv}>"


def _axes(model: Model, name: str) -> list[tuple[Any, bool]]:
    """Return for each degree of freedom its axis in the joint's parent frame, and whether it turns."""
    iv = model.slices[name][1]
    if iv.start == iv.stop:
        return []
    joint, found = model.joint(name), []
    q = tuple(float(e) for e in joint.neutral())
    R = joint.transform(q).rotation
    for column in joint.motion_subspace(q):
        turns = bool(np.linalg.norm(tuple(map(float, column.angular))) > 0.0)
        # Of a screw the axis it turns about.
        axis = np.array(tuple(R @ (column.angular if turns else column.linear)), dtype=float)
        length = np.linalg.norm(axis)
        found.append((axis / length if length > 0.0 else axis, turns))
    return found
