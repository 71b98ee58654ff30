"""The model: a rooted tree (or forest) of bodies, ready for the algorithms. Immutable."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from cardan._algebra.checked_numbers import batch_shape, generator
from cardan._algebra.content import Content, UnknownContentError, apart, content_of
from cardan._algebra.errors import MechanismError, UnknownNameError, check_known
from cardan._algebra.explained import Explained, explained_keywords
from cardan._algebra.manifolds import Product
from cardan._algebra.spatial import Inertia
from cardan._robot.joints import Joint
from cardan._robot.model import inputs as constants
from cardan._robot.model import layout
from cardan._robot.model.annotations import Annotations, kinds_of
from cardan._robot.model.inputs import Input
from cardan._robot.model.layout import Attachment, Node, explain_word, layout_table
from cardan._robot.model.user_constraints import check_constraint, name_of
from cardan._robot.records import (
    EARTH_GRAVITY,
    WORLD,
    Actuator,
    Body,
    Connection,
    ContactSurface,
    Frame,
    Group,
    checked_gravity,
)
from cardan._robot.registered import render

if TYPE_CHECKING:
    from cardan._robot.geometry.shapes import Shape

_NOTHING = Annotations()


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Model(Explained):
    """A mechanism with a root: bodies and joints in document order, coordinates assigned.

    Built by `Mechanism.model()` or `cardan.load`. Everything is addressed by name. Models are equal if they are made
    of the same, annotations included, as a copy or one read from the same file is; `cardan.compare` says what differs.

    Attributes:
        nq: number of configuration coordinates.
        nv: number of degrees of freedom.
        manifold: the configuration space: the product of the joints', in document order.
        nodes: the movable joints, topologically ordered; what the algorithms run over.
        unit_parts: where, (start, stop), q holds quaternions and the like: only their direction counts, they are not 0.

    Args:
        name: name of the robot.
        bodies: the bodies, in document order, without the world.
        connections: the joints, in document order; every body is the child of exactly one.
        frames: further frames.
        gravity: acceleration of gravity in world axes [m/s^2].
        closures: joints between bodies of the tree, which close loops: they constrain its coordinates and have none.
        inputs: constants that are given at every call (`with_inputs`).
        annotations: shapes, actuators, groups, named configurations and disabled contacts, which the dynamics does not
            read.
        constraints: functions of the user's that the `constrained_*` functions hold at 0 (`with_constraints`).

    Throughout:
        joint: name of a joint.
        body: name of a body.
        frame: name of a body or frame.
        shape: leading dimensions.
        gravity: [m/s^2], in world axes.
        seed: of `numpy.random.default_rng`; the same seed gives the same configurations.

    Raises:
        MechanismError: if bodies and joints do not form a forest on the world.
        DuplicateNameError, UnknownNameError: if a name is used twice, or not defined.

    Examples:
        >>> arm.nq, arm.nv, arm.nbodies
        (7, 7, 9)
        >>> arm.joint_names[:2], "tool" in arm.frame_names
        (('root', 'joint1'), True)
        >>> pair = arm.neutral(), arm.random_configuration((100,), seed=0)
        >>> arm.q_slice("joint3"), arm.v_slice("joint3")
        (slice(2, 3, None), slice(2, 3, None))
        >>> arm.connection("joint3").child, arm.joint("joint3").nv, arm.attachment("tool").node
        ('upper_arm_roll', 1, 6)
        >>> arm.body("upper_arm_roll").inertia.mass > 0.0, arm.world_inertia().mass > 0.0
        (True, True)
        >>> len(arm.passive("damping")), arm.inertial_parameters().shape
        (7, (90,))
        >>> arm.with_gravity((0.0, 0.0, -1.62)).gravity
        (0.0, 0.0, -1.62)
        >>> linkage = cardan.robots.four_bar().model()
        >>> len(linkage.closures), len(linkage.spanning_tree().closures)
        (1, 0)
        >>> varied = arm.with_inputs("gravity")
        >>> varied.input_values()
        {'gravity': array([ 0.  ,  0.  , -9.81])}
        >>> varied.filled_with({"gravity": (0.0, 0.0, -1.62)}).gravity
        (0.0, 0.0, -1.62)
        >>> heavier = arm.with_values(mass=2.0 * arm.with_inputs("mass").input_values()["mass"])
        >>> round(heavier.mass / arm.mass, 12), arm.lock({"joint3": 0.0, "joint5": 1.0}).nv
        (2.0, 5)

    Peers: Pinocchio `Model`.
    """

    name: str
    bodies: tuple[Body, ...]
    connections: tuple[Connection, ...]
    frames: tuple[Frame, ...] = ()
    gravity: Any = EARTH_GRAVITY
    closures: tuple[Connection, ...] = ()
    inputs: Mapping[str, Input] = field(default_factory=dict)
    annotations: Annotations = _NOTHING
    constraints: tuple[Callable[..., Any], ...] = ()
    nodes: tuple[Node, ...] = field(init=False)
    attachments: Mapping[str, Attachment] = field(init=False)
    slices: Mapping[str, tuple[slice, slice]] = field(init=False)
    manifold: Product = field(init=False)
    nq: int = field(init=False)
    nv: int = field(init=False)
    unit_parts: tuple[tuple[int, int], ...] = field(init=False)
    _named: Mapping[str, Connection] = field(init=False, repr=False)
    _content: list[Content] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        # Names come first: all that follows addresses by name, and would blame another fault.
        layout.check_unique(self.bodies, self.frames, (*self.connections, *self.closures))
        layout.check_closures(self.bodies, self.closures)
        if self.annotations is not _NOTHING:
            self.annotations.check(self.body_names, kinds_of((*self.connections, *self.closures)))
        # Nodes stand in the order of the tree, coordinates in that of the document: files and users know the latter.
        order = layout.ordered_tree(self.bodies, self.connections)
        slices = layout.coordinate_slices(self.connections)
        mimics = layout.resolve_mimics(self.connections)
        nodes, attachments = layout.place(self.bodies, self.frames, order, slices, mimics)
        manifold = Product(tuple(c.joint.manifold for c in self._owners()))
        derived = {"nodes": nodes, "attachments": attachments, "slices": slices, "manifold": manifold}
        derived |= {"nq": manifold.nq, "nv": manifold.nv, "gravity": checked_gravity(self.gravity)}
        derived |= {"inputs": dict(self.inputs), "unit_parts": manifold.unit_parts()}
        derived |= {"_named": {c.name: c for c in self.connections}}
        for key, value in derived.items():
            object.__setattr__(self, key, value)

    @property
    def digest(self) -> str | None:
        """What it is made of, annotations included, as 64 hexadecimal digits: the same in every process.

        None for a model with symbols in it, or with a joint whose class is a user's: nobody else knows its code.
        """
        return self.__content__().digest

    def __content__(self) -> Content:
        """Return what it is made of: equal models have the same programs."""
        if not self._content:
            made_of = (self.name, self.bodies, self.connections, self.frames, self.gravity, self.closures, self.inputs)
            try:
                self._content[:] = [content_of(*made_of, self.annotations, self.constraints)]
            except UnknownContentError:  # a joint was given something since it was looked at
                self._content[:] = [apart()]
        return self._content[0]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Model):
            return NotImplemented
        return self is other or self.__content__() == other.__content__()

    def __hash__(self) -> int:
        return hash(self.__content__())

    # --- sizes and names ---

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints, fixed and mimic ones included, in document order."""
        return tuple(c.name for c in self.connections)

    @property
    def closure_names(self) -> tuple[str, ...]:
        """Names of the joints that close loops, in document order."""
        return tuple(c.name for c in self.closures)

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """Names of all that constrains its coordinates: joints that close loops, then functions of the user's."""
        closing = (c.name for c in self.closures if c.joint.num_constraints)
        return (*closing, *map(name_of, self.constraints))

    @property
    def body_names(self) -> tuple[str, ...]:
        """Names of the bodies in document order, without the world."""
        return tuple(b.name for b in self.bodies)

    @property
    def nbodies(self) -> int:
        """Number of bodies, without the world."""
        return len(self.bodies)

    @property
    def link_names(self) -> tuple[str, ...]:
        """Names of the moving links, the bodies that are children of movable joints, in document order of these."""
        return tuple(c.child for c in self.connections if c.joint.nv)

    @property
    def nlinks(self) -> int:
        """Number of moving links."""
        return len(self.link_names)

    @property
    def frame_names(self) -> tuple[str, ...]:
        """Names of everything with a pose: the world, the bodies, the frames."""
        return tuple(self.attachments)

    def q_slice(self, joint: str) -> slice:
        """Return where the joint's own coordinates are in q; empty for fixed and mimic joints."""
        return self._own(joint, 0)

    def v_slice(self, joint: str) -> slice:
        """Return where the joint's own velocities are in v; empty for fixed and mimic joints.

        Raises:
            MechanismError: for a dependent joint of a cluster (`cardan.clustered`), which has none.
        """
        return self._own(joint, 1)

    def _own(self, joint: str, along: int) -> slice:
        """Return a joint's part of q or of v; `slices` has those of a cluster as a whole, at its first joint."""
        given = self.joint(joint)
        own = given._own_part(along)  # pyright: ignore[reportPrivateUsage]
        if own is None:
            return self.slices[joint][along]
        start = self.slices[(given.primaries or (joint,))[0]][along].start
        return slice(start + own.start, start + own.stop)

    def connection(self, joint: str) -> Connection:
        """Return the joint with its bodies, poses and limits."""
        check_known("joint", joint, self._named, f"model {self.name!r}")
        return self._named[joint]

    def joint(self, joint: str) -> Joint:
        """Return the joint itself."""
        return self.connection(joint).joint

    def body(self, body: str) -> Body:
        """Return a body, or raise `UnknownNameError`."""
        check_known("body", body, self.body_names, f"model {self.name!r}")
        return next(b for b in self.bodies if b.name == body)

    def attachment(self, frame: str) -> Attachment:
        """Return where a body or frame rides: its node, and its pose in the node's frame.

        Raises:
            UnknownNameError: if there is no such frame.
        """
        if not isinstance(frame, str) or frame not in self.attachments:
            hint = explain_word(frame, self.connections)
            raise UnknownNameError("frame", frame, self.attachments, where=f"model {self.name!r}", hint=hint)
        return self.attachments[frame]

    # --- what the dynamics does not read ---

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """Visual and collision shapes, in document order."""
        return self.annotations.shapes

    @property
    def actuators(self) -> tuple[Actuator, ...]:
        """What drives the joints, as the description states it."""
        return self.annotations.actuators

    @property
    def groups(self) -> Mapping[str, Group]:
        """Groups of bodies and joints by name."""
        return MappingProxyType({group.name: group for group in self.annotations.groups})

    @property
    def disabled_contacts(self) -> tuple[tuple[str, str], ...]:
        """Pairs of bodies whose shapes do not touch."""
        return self.annotations.disabled_contacts

    @property
    def contact_surfaces(self) -> tuple[ContactSurface, ...]:
        """What the contact of two bodies feels, in place of what their surfaces combine to."""
        return self.annotations.contact_surfaces

    @property
    def named_configurations(self) -> Mapping[str, np.ndarray]:
        """Configurations by name, such as `"home"`: read-only, (nq,) [rad, m]; joints not named are neutral."""
        found = {}
        for configuration in self.annotations.configurations:
            q = layout.configuration_of(self, configuration)
            q.setflags(write=False)
            found[configuration.name] = q
        return MappingProxyType(found)

    # --- configuration space ---

    def _owners(self) -> list[Connection]:
        return [c for c in self.connections if not c.joint.primaries]

    def neutral(self) -> np.ndarray:
        """Return the reference configuration, shape (nq,) [rad, m].

        Peers: Pinocchio `neutral`, RigidBodyDynamics.jl `zero_configuration`.
        """
        return np.array([e for c in self._owners() for e in c.joint.neutral()], dtype=float)

    def start_configuration(self) -> np.ndarray:
        """Return where the robot begins in worlds and viewers, shape (nq,) [rad, m].

        Joints that the named configuration `"initial"` has begin there, others where `"qpos0"` has them, which an MJCF
        file gives. The rest are neutral. Where limits exclude that, they are at the middle of them, or at the limit if
        there is one alone. Joints of loops stay neutral, as the description draws them.

        Examples:
            >>> dog = cardan.load(cardan.robots.urdf_path("quadruped"))  # the knee's limits are -2.7 and -0.3
            >>> dog.start_configuration()[:3]
            array([ 0. ,  0. , -1.5])

        Peers: MuJoCo `qpos0`, Drake `SetDefaultPositions`.
        """
        return layout.start_configuration(self)

    @explained_keywords
    def random_configuration(self, shape: int | Sequence[int] = (), *, seed: Any = None) -> np.ndarray:
        """Return random configurations within the position limits, shape (*shape, nq) [rad, m].

        Unlimited angles are uniform in [-pi, pi], unlimited lengths in [-1, 1] m, orientations uniform.

        Peers: Pinocchio `randomConfiguration`, RigidBodyDynamics.jl `rand_configuration`.
        """
        size = batch_shape("shape of random configurations", shape)
        return self.manifold.random(generator("seed of random configurations", seed), size, self.lower, self.upper)

    # --- limits and passive properties, along v ---

    def _limit(self, name: str) -> np.ndarray:
        ends = [e for c in self._owners() for e in getattr(c.limits, name)]
        # Limits that are inputs are symbols while a program is traced.
        array = np.array(ends, dtype=float if all(isinstance(e, Real) for e in ends) else object)
        # It is made anew at every access: what somebody wrote into it would be lost without a word.
        array.setflags(write=False)
        return array

    @property
    def lower(self) -> np.ndarray:
        """Smallest positions, shape (nv,), in the sense of `Manifold.limit_coordinates` [rad, m]."""
        return self._limit("lower")

    @property
    def upper(self) -> np.ndarray:
        """Largest positions, shape (nv,) [rad, m]."""
        return self._limit("upper")

    @property
    def velocity_lower(self) -> np.ndarray:
        """Smallest velocities, shape (nv,) [rad/s, m/s]."""
        return self._limit("velocity_lower")

    @property
    def velocity_upper(self) -> np.ndarray:
        """Largest velocities, shape (nv,) [rad/s, m/s]."""
        return self._limit("velocity")

    @property
    def effort_lower(self) -> np.ndarray:
        """Smallest efforts, shape (nv,) [N m, N]."""
        return self._limit("effort_lower")

    @property
    def effort_upper(self) -> np.ndarray:
        """Largest efforts, shape (nv,) [N m, N]."""
        return self._limit("effort")

    @property
    def has_mimics(self) -> bool:
        """Whether joints share velocities, as one that copies another does, so that they are not independent."""
        return sum(len(node.v) for node in self.nodes) > self.nv

    @property
    def has_loops(self) -> bool:
        """Whether its coordinates are constrained: by joints that close loops, or by functions of the user's."""
        return bool(self.constraint_names)

    def passive(self, name: str) -> tuple[float, ...]:
        """Return a property along v, nv floats, those of mimic joints but their drives included, not of coupled ones.

        Args:
            name: `"armature"`, `"damping"`, `"friction"`, `"drive_stiffness"`, `"drive_damping"`, `"spring_stiffness"`
                or `"spring_rest"`, where all springs of a degree of freedom together do not pull.

        Returns:
            By velocity: armature [kg m^2, kg], damping [N m s/rad, N s/m], friction [N m, N], stiffness [N m/rad, N/m],
            rest [rad, m].
        """
        if name == "spring_rest":
            return layout.rest_along_v(self.nodes, self.nv)
        total: list[Any] = [0.0] * self.nv
        for node in self.nodes:
            node.scatter(total, getattr(node, name))
        return tuple(total)

    # --- masses ---

    @property
    def mass(self) -> float:
        """Mass of all bodies [kg]."""
        masses: list[Any] = [b.inertia.mass for b in self.bodies if b.inertia is not None]  # symbols, with inputs
        return sum(masses, 0.0)

    def world_inertia(self) -> Inertia:
        """Return the inertia of the bodies fixed on the world, in the world frame."""
        total = Inertia.zero()
        for body in self.bodies:
            at = self.attachments[body.name]
            if at.node < 0 and body.inertia is not None:
                total = total + at.pose @ body.inertia
        return total

    def inertial_parameters(self) -> np.ndarray:
        """Return the `Inertia.parameters` [kg, kg m, kg m^2] of all bodies, as in `body_names`: (10 nbodies,)."""
        rows = [(b.inertia or Inertia.zero()).parameters() for b in self.bodies]
        return np.array(rows, dtype=float).reshape(-1)

    # --- other models of the same robot ---

    def with_gravity(self, gravity: Sequence[float]) -> Model:
        """Return the same model under another gravity."""
        return replace(self, gravity=gravity)

    def spanning_tree(self) -> Model:
        """Return the model without what constrains it, such as joints that close loops: its tree, as it stands."""
        closing = [c.name for c in self.closures]
        return replace(self, closures=(), constraints=(), annotations=self.annotations.without(joints=closing))

    def with_constraints(self, *constraints: Callable[..., Any]) -> Model:
        """Return the model with constraints that are functions of yours, for the `constrained_*` functions.

        A function returns numbers that are to be 0, one or several. What it is a function of says what it constrains:

        - `c(model, q)`: configurations, as a point that stays on a curve (holonomic);
        - `c(model, q, v)`: velocities, as a blade or a wheel does. c is affine in v, A(q) v - b(q);
        - `c(model, q, v, a)`: accelerations. c is affine in a, A(q) a - b(q, v).

        They are traced and differentiated as functions of `cardan.function` are. Closed loops, held points and these
        are solved together; their rows come after those of the closing joints.

        Args:
            constraints: functions. Names of bodies and frames serve every root and `clustered`, indices into q do not.

        Raises:
            ParameterError: for what is no such function, is not affine, or constrains nothing.

        Examples:
            >>> def blade(model, q, v):
            ...     return cardan.frame_velocity(model, q, v, "skate", expressed_in="frame")[1]  # m/s across it
            >>> m = cardan.Mechanism("sleigh")
            >>> skate = m.add_body("skate", cardan.Inertia(mass=2.0, com=(0.4, 0.0, 0.0), inertia=0.3 * np.eye(3)))
            >>> moves = m.add_joint("moves", cardan.joints.Planar(), "world", "skate")
            >>> sleigh = m.model().with_constraints(blade)
            >>> q, v = sleigh.neutral(), [0.7, 0.0, -1.0]
            >>> cardan.constrained_forward_dynamics(sleigh, q, v, np.zeros(3)).accelerations.round(9).tolist()
            [0.4, 0.0, 0.903225806]

        Peers: Simbody `Constraint::Custom`.
        """
        of_numbers = replace(self, inputs={})
        for constraint in constraints:
            check_constraint(of_numbers, constraint)
        return replace(self, constraints=(*self.constraints, *constraints))

    def with_inputs(self, *names: str, **owned: tuple[str, str]) -> ModelWithInputs:
        """Return the model with some of its constants given at every call, for every state of a batch its own.

        The functions of such a model take them by keyword, compile once for all values, and have derivatives by them:

            varied = arm.with_inputs("mass", tool_com=("tool", "com"))
            tau = cardan.inverse_dynamics(varied, q, v, a, mass=masses, tool_com=coms)
            by_mass = cardan.derivative(cardan.inverse_dynamics, "mass")(varied, q, v, a, mass=masses, tool_com=coms)

        Args:
            names: constants of all bodies (in the order of `body_names`), joints (`joint_names`), frames or degrees of
                freedom: `"mass"` [kg], shape (nbodies,); `"com"` [m], (nbodies, 3); `"inertia"` about the centre of
                mass [kg m^2], (nbodies, 3, 3), of which the symmetric part counts; or, instead of the three,
                `"inertial_parameters"`, (10 nbodies,), as `inertial_parameters()` and `torque_regressor` have them;
                `"parent_pose"`, `"child_pose"`, (joints, 4, 4); `"frame_pose"`, (frames, 4, 4); `"armature"`,
                `"damping"`, `"friction"`, `"drive_stiffness"`, `"drive_damping"`, `"spring_stiffness"`,
                `"spring_rest"`, `"lower"`, `"upper"`, `"effort_lower"`, `"effort_upper"`, (nv,); `"gravity"`, (3,).
            owned: constants of one body, joint or frame by a name of your choice: `name=(owner, constant)`. The
                constant is one of those above but gravity, `"pose"` of a frame (for `"frame_pose"`), or a parameter of
                the joint such as `"radii"` (`"joint.radii"` for a joint within a `Reversed`).

        Values are taken as they are given: poses must be rigid, axes of unit length, masses not negative. A derivative
        by poses is along six directions each, X exp(twist).

        Returns:
            A model whose functions take the inputs by keyword.

        Raises:
            UnknownNameError, ParameterError: for a constant that does not exist, or is asked for twice.

        Examples:
            >>> varied = arm.with_inputs("mass")
            >>> masses = np.linspace(1.0, 2.0, 100)[:, None] * varied.input_values()["mass"]
            >>> cardan.inverse_dynamics(varied, q, v, a, mass=masses).shape
            (100, 7)
        """
        return cast("ModelWithInputs", replace(self, inputs=constants.find_inputs(self, names, owned)))

    def input_values(self) -> dict[str, np.ndarray]:
        """Return the model's own values of what `with_inputs` made inputs, by name [in its unit, see `with_inputs`]."""
        return {name: constants.nominal(self, given) for name, given in self.inputs.items()}

    def with_values(self, **values: Any) -> Model:
        """Return the model with other numbers for its inputs, or for the constants `with_inputs` takes by name.

        Args:
            values: numbers in the shapes of `with_inputs`.

        Raises:
            UnknownNameError, ShapeError, ParameterError: for a constant that does not exist, a wrong shape, a value
                that a body, pose or joint refuses.
        """
        new = [name for name in values if name not in self.inputs]
        # A constant that is no input becomes one for a moment: there is one way to put constants in their places.
        open_model = self.with_inputs(*new) if new else self
        return constants.with_numbers(open_model, values)

    def filled_with(self, values: Mapping[str, Any]) -> Model:
        """Return the model with all its inputs' values, numbers or symbols, in their places, unchecked.

        Args:
            values: of each of its inputs, by name.
        """
        return constants.with_constants(self, values)

    def lock(self, configurations: Mapping[str, Any]) -> Model:
        """Return the model with joints fixed at given configurations, and nothing else changed.

        Joints that mimic a locked joint are fixed with it. Names, order, frames and the other joints stay.

        Args:
            configurations: for each joint to lock, its own nq coordinates (a number where nq = 1).

        Raises:
            UnknownNameError, ShapeError, MechanismError: for an unknown joint, a wrong number of coordinates, a mimic.

        Peers: Pinocchio `buildReducedModel`.
        """
        if self.inputs:
            raise MechanismError(f"model {self.name!r} has inputs ({', '.join(self.inputs)}): lock, then with_inputs.")
        joints = layout.locked(self.connections, configurations)
        still = [new.name for new, old in zip(joints, self.connections, strict=True) if new is not old]
        return replace(self, connections=joints, annotations=self.annotations.without(still=still))

    def __str__(self) -> str:
        return layout_table(self)

    def _repr_html_(self) -> str:
        return render(self)

    def __repr__(self) -> str:
        given = f", inputs {', '.join(self.inputs)}" if self.inputs else ""
        return f"<Model {self.name!r}: {len(self.bodies)} bodies, nq={self.nq}, nv={self.nv}{given}>"


if TYPE_CHECKING:

    class ModelWithInputs(Model):
        """For type checkers: a model whose functions take further keywords, the inputs' names."""


__all__ = ["WORLD", "Model"]
