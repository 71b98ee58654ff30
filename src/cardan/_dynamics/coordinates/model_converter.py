"""The same motion in the coordinates of another tree of the same mechanism.

A joint both trees have keeps its coordinates. Every other joint of the target (a base joint elsewhere, one that closes
a loop in the source or is locked there, one of another type) lies between two bodies whose motion the source knows:

    X = X_wp^-1 X_wc           q = the joint's configuration with this transform
    V = V_c - X^-1 V_p         v = S^+ V
    A = A_c - X^-1 A_p - V_c x V        a = S^+ (A - bias)

with p and c the joint's own frames, S^+ = (S^T S)^-1 S^T. Efforts go by virtual work.

Source: Traversaro (2017), section 3.2, for the free base; FACTS, section 4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cardan._algebra.errors import DTypeError, MechanismError
from cardan._algebra.spatial import SE3, Force, Motion, Scalar
from cardan._dynamics.algorithms.kinematics import Kinematics, forward_kinematics
from cardan._dynamics.algorithms.linear import coordinates, gram
from cardan._dynamics.algorithms.tree import Vector, along_joints
from cardan._dynamics.call.arguments import check_core, numeric_array, shaped_array
from cardan._dynamics.call.signature import refuse_inputs
from cardan._dynamics.coordinates.other_coordinates import Compiled, compiled
from cardan._dynamics.coordinates.unfolded import Unfolding, unfolded
from cardan._robot.model import WORLD, Connection, Model

SAMPLES = 2  # random configurations: two mechanisms that differ agree at one by chance, at two hardly ever
TOLERANCE = 1e-7  # of places, relative to their size: searches of the inverse end at 1e-9 or better
RANK_TOLERANCE = 1e-9  # of singular values, relative to the largest: far above rounding, far below any lever arm


def owners(model: Model) -> list[Connection]:
    """Return the joints that have coordinates of their own."""
    return [c for c in model.connections if not c.joint.primaries and c.joint.nv > 0]


def shared_joints(source: Model, target: Model) -> frozenset[str]:
    """Return the names of the joints both have, whichever way round."""
    known = {c.name: c for c in owners(source)}
    return frozenset(c.name for c in owners(target) if c.name in known and is_same(known[c.name], c))


def is_same(a: Connection, b: Connection) -> bool:
    """Return whether two joints are of one kind, between the same bodies at the same places, either way round."""
    b = b if a.parent == b.parent else b.reversed()
    mine, theirs = (a.parent, a.child, a.joint), (b.parent, b.child, b.joint)
    return mine == theirs and a.parent_pose == b.parent_pose and a.child_pose == b.child_pose


def converted_configuration(source: Model, target: Model, q: Vector) -> list[Scalar]:
    kinematics = Kinematics(source, q)
    return _converted(source, target, lambda c: q[source.slices[c.name][0]], lambda c: Between(kinematics, c).q)


def converted_velocity(source: Model, target: Model, q: Vector, v: Vector) -> list[Scalar]:
    kinematics = Kinematics(source, q, v)
    return _converted(
        source, target, lambda c: v[source.slices[c.name][1]], lambda c: Between(kinematics, c).velocity()
    )


def converted_acceleration(source: Model, target: Model, q: Vector, v: Vector, a: Vector) -> list[Scalar]:
    kinematics = Kinematics(source, q, v, a)
    return _converted(
        source, target, lambda c: a[source.slices[c.name][1]], lambda c: Between(kinematics, c).acceleration()
    )


def _converted(
    source: Model, target: Model, copied: Callable[[Connection], Vector], found: Callable[[Connection], Vector]
) -> list[Scalar]:
    """Return what is copied of the joints both have, and found of the target's others, in the target's order."""
    shared = shared_joints(source, target)
    return [e for c in owners(target) for e in (copied(c) if c.name in shared else found(c))]


def converted_effort(source: Model, target: Model, q: Vector, tau: Vector) -> list[Scalar]:
    """Return the target's efforts, of the same virtual work.

    Of a joint the target does not have, the efforts tau are those of the wrench S (S^T S)^-1 tau across it, which the
    target's own joints feel as one on each of its two bodies. S is that of the source's own q: coordinates of the same
    pose on another branch (a pitch beyond pi/2) have other rates, and other efforts.
    """
    shared = shared_joints(source, target)
    there = Kinematics(target, converted_configuration(source, target, q))
    wrenches = [Force.zero() for _ in target.nodes]
    found: list[Scalar] = [0.0] * target.nv
    for c in owners(source):
        own = tau[source.slices[c.name][1]]
        if c.name in shared:
            found[target.slices[c.name][1]] = own
            continue
        S = c.joint.subspace(q[source.slices[c.name][0]])
        across = Force(*(S @ gram([column.scalars() for column in S]).solve(own)))
        _add(target, wrenches, c.child, c.child_pose @ across)
        _add(target, wrenches, c.parent, c.parent_pose @ -(_pose(there, c) @ across))
    return along_joints(target, there.relative, wrenches, found)


def _add(model: Model, wrenches: list[Force], body: str, wrench: Force) -> None:
    at = model.attachment(body)
    if at.node >= 0:
        wrenches[at.node] = wrenches[at.node] + at.pose @ wrench


class Between:
    """What a joint between two bodies does, while these move as a tree has them move."""

    def __init__(self, kinematics: Kinematics, connection: Connection) -> None:
        self.kinematics, self.connection, self.joint = kinematics, connection, connection.joint
        self.X = _pose(kinematics, connection)
        self.q = self.joint.nearest_configuration(self.X)

    def velocity(self) -> list[Scalar]:
        return coordinates(self.joint.motion_subspace(self.q), self._twists()[1])

    def acceleration(self) -> list[Scalar]:
        c, kinematics, (V_c, V) = self.connection, self.kinematics, self._twists()
        A_c = c.child_pose.inverse_act(kinematics.acceleration(c.child))
        A_p = c.parent_pose.inverse_act(kinematics.acceleration(c.parent))
        A, S = A_c - self.X.inverse_act(A_p) - V_c.cross(V), self.joint.motion_subspace(self.q)
        return coordinates(S, A - self.joint.bias(self.q, coordinates(S, V)))

    def _twists(self) -> tuple[Motion, Motion]:
        """Return the twist of the child frame, and that relative to the parent frame."""
        c, kinematics = self.connection, self.kinematics
        V_c = c.child_pose.inverse_act(kinematics.twist(c.child))
        return V_c, V_c - self.X.inverse_act(c.parent_pose.inverse_act(kinematics.twist(c.parent)))


def _pose(kinematics: Kinematics, c: Connection) -> SE3:
    """Return the pose of the joint's child frame in its parent frame."""
    parent, child = kinematics.pose(c.parent) @ c.parent_pose, kinematics.pose(c.child) @ c.child_pose
    return parent.inverse() @ child


class Converter(Compiled):
    """Maps states of one model of a mechanism to those of another; made by `cardan.converter`.

    All methods are compiled and take batches, as every function of cardan.

    Attributes:
        source: the model states come from.
        target: the model they go to.
        shared: names of the joints whose coordinates are copied; all others are found from the motion of bodies.
        dropped: names of the source's joints whose motion the target cannot show.

    Throughout:
        q: the source's configurations [rad, m], shape (..., nq).
        v: the source's velocities [rad/s, m/s], shape (..., nv).
        a: the source's accelerations [rad/s^2, m/s^2], shape (..., nv).
        tau: the source's efforts [N m, N], shape (..., nv).
        forces: wrenches on the source's bodies [N, N m], shape (..., nbodies, 6).

    Examples:
        >>> there = cardan.converter(arm, mechanism.model(base="floating"))
        >>> there.configuration(q).shape, there.velocity(q, v).shape, there.acceleration(q, v, a).shape
        ((14,), (13,), (13,))
        >>> there.effort(q, tau).shape, there.limits(arm.upper, np.inf).shape
        ((13,), (13,))
        >>> there.external_forces(np.zeros((arm.nbodies, 6))).shape[-1]
        6
        >>> locked = cardan.converter(arm, arm.lock({"joint7": 0.0}), drop=["joint7"])
        >>> locked.configuration(q).shape
        (6,)
        >>> same = cardan.converter(arm, mechanism.model())
        >>> bool(np.allclose(same.inverse().configuration(q), q))
        True
    """

    def __init__(self, source: Model, target: Model, dropped: tuple[str, ...]) -> None:
        super().__init__(source, (Converter, (source, target, dropped)))
        self.source = source
        self.target = target
        self.dropped = dropped
        self._here, self._there = Unfolding(source), Unfolding(target)
        self.shared: frozenset[str] = shared_joints(self._here.tree, self._there.tree)

    @compiled()
    def configuration(self, q: Any) -> Any:
        """Return the target's configurations, shape (..., nq), from the source's."""
        here, there = self._here, self._there
        return there.folded_configuration(converted_configuration(here.tree, there.tree, here.configuration(q)))

    @compiled()
    def velocity(self, q: Any, v: Any) -> Any:
        """Return the target's velocities, shape (..., nv), from the source's q and v."""
        here, there = self._here, self._there
        of_tree = here.configuration(q), here.velocity(q, v)
        return there.folded_velocity(converted_velocity(here.tree, there.tree, *of_tree))

    @compiled()
    def acceleration(self, q: Any, v: Any, a: Any) -> Any:
        """Return the target's accelerations dv/dt, shape (..., nv), from the source's q, v and a."""
        here, there = self._here, self._there
        of_tree = here.configuration(q), here.velocity(q, v), here.acceleration(q, v, a)
        return there.folded_velocity(converted_acceleration(here.tree, there.tree, *of_tree))

    @compiled()
    def effort(self, q: Any, tau: Any) -> Any:
        """Return the target's efforts, shape (..., nv), that do the same virtual work as the source's tau.

        The wrench a floating base feels is among them. What locks a joint or holds a base does no work: an effort on
        a joint the target does not have is lost, one on a joint the source does not have is 0.
        """
        here, there, of_tree = self._here, self._there, self._here.configuration(q)
        found = converted_effort(here.tree, there.tree, of_tree, here.effort(tau))
        return there.folded_effort(
            there.folded_configuration(converted_configuration(here.tree, there.tree, of_tree)), found
        )

    def external_forces(self, forces: Any) -> np.ndarray:
        """Return wrenches on bodies [N, N m], shape (..., nbodies, 6), in the order of the target's `body_names`.

        Raises:
            ShapeError: for other rows than bodies.
        """
        core = self.source.nbodies, 6
        array = numeric_array("converter", "external_forces", forces)  # of its own precision
        check_core("converter", "external_forces", array.shape, core)
        names = self.source.body_names
        return array[..., [names.index(body) for body in self.target.body_names], :]

    def limits(self, values: Any, missing: float) -> np.ndarray:
        """Return what is given for each degree of freedom (bounds, gains, weights) in the target's order [in its unit].

        Joints keep their limits whichever way round they are (`model.lower`, ... of the target have those of its
        description); this is for values of your own.

        Args:
            values: shape (..., nv) of the source.
            missing: [the same unit] stands for joints that are not `shared`, such as a floating base: `inf`, 0.0.

        Raises:
            ShapeError, DTypeError: for values that do not fit.
        """
        array = shaped_array("converter", "values", values, (..., self.source.nv), finite=False)
        here, there = self._here, self._there
        given, found = (np.full((*array.shape[:-1], m.tree.nv), missing, dtype=float) for m in (here, there))
        given[..., here.free] = array
        for name in self.shared:
            found[..., there.tree.v_slice(name)] = given[..., here.tree.v_slice(name)]
        return found[..., there.free]

    def inverse(self) -> Converter:
        """Return the converter the other way.

        Raises:
            MechanismError: if the target has motions the source cannot show.
        """
        return converter(self.target, self.source)

    def __repr__(self) -> str:
        return f"<Converter {self.source!r} -> {self.target!r}: {len(self.shared)} joints shared>"


def converter(source: Model, target: Model, *, drop: Sequence[str] = ()) -> Converter:
    """Return the converter of states between two models of one mechanism.

    They may differ in root, base, locked joints, direction of joints, kinds of coordinates (an angle or its cosine
    and sine, a quaternion or three angles) and in which joints close loops. That they are of one mechanism is seen
    from their joints. If these are not the same, all bodies must be in the same places at random configurations.

    Args:
        source: where states come from.
        target: where they go.
        drop: names of the source's joints whose motion may be lost: those the target has locked, or a base it has not.

    Raises:
        DTypeError: if one of them is no model.
        MechanismError: if a model has inputs; if the models are not of one mechanism; if motions would be lost that
            are not in `drop`, or names in `drop` are not lost.

    Examples:
        >>> floating = mechanism.model(base="floating")
        >>> there = cardan.converter(arm, floating)
        >>> there.configuration(q).shape
        (14,)
    """
    for name, model in (("source", source), ("target", target)):
        if not isinstance(model, Model):
            got = repr(model) if isinstance(model, str) else f"a {type(model).__name__}"
            hint = f"For another library's conventions: cardan.conventions.to({got}, model)." * isinstance(model, str)
            raise DTypeError("converter", name, got=got, expected="a cardan.Model", hint=hint)
        refuse_inputs(model, ", which may move bodies; convert between models with numbers: with_values(...).")
    if set(source.body_names) != set(target.body_names):
        different = sorted(set(source.body_names) ^ set(target.body_names))
        raise MechanismError(
            f"{source.name!r} and {target.name!r} are not of one mechanism: bodies {different[:6]} are in one only."
        )
    lost = _lost(unfolded(source), unfolded(target))
    if unsaid := [name for name in lost if name not in drop]:
        raise MechanismError(
            f"{target.name!r} has no motion for what joint{'s' * (len(unsaid) > 1)} {', '.join(map(repr, unsaid))} of "
            f"the source can do; if that may be lost: drop={unsaid}."
        )
    if kept := [name for name in drop if name not in lost]:
        raise MechanismError(f"drop: the motion of {', '.join(map(repr, kept))} is not lost here; leave it out.")
    _check_alike(unfolded(source), unfolded(target))
    return Converter(source, target, tuple(lost))


def _lost(source: Model, target: Model) -> list[str]:
    """Return the source's joints across which not everything can move in the target that moves in the source."""
    shared = shared_joints(source, target)
    rest = [c for c in owners(source) if c.name not in shared]
    if not rest:
        return []
    q = target.random_configuration(seed=0).tolist()
    directions = list(np.eye(target.nv))  # of each velocity its entries in all directions: one pass for all
    rows = converted_velocity(target, source, q, directions)
    full = [np.broadcast_to(np.asarray(row, dtype=float), target.nv) for row in rows]
    H = np.array(full).reshape(source.nv, target.nv)
    return [c.name for c in rest if _rank(H[source.slices[c.name][1]]) < c.joint.nv]


def _rank(H: np.ndarray) -> int:
    sizes = np.linalg.svd(H, compute_uv=False) if H.size else np.zeros(0)
    return int((sizes > RANK_TOLERANCE * max(1.0, sizes.max(initial=0.0))).sum())


def _check_alike(source: Model, target: Model) -> None:
    """Raise unless all bodies are in the same places, seen from the model with fewer freedoms."""
    small, large = (source, target) if source.nv <= target.nv else (target, source)
    different = _different_joints(small, large)
    if not different and _follows(small, large):
        return
    if set(small.closure_names) != set(large.closure_names):
        for name in different[:1]:
            raise MechanismError(f"{small.name!r} and {large.name!r} are not of one mechanism: joint {name!r} differs.")
        return
    for q in small.random_configuration((SAMPLES,), seed=0).tolist():
        here = forward_kinematics.kernel(small, q)
        there = forward_kinematics.kernel(large, converted_configuration(small, large, q))
        places = dict(zip(large.body_names, there, strict=True))
        for body, X in zip(small.body_names, here, strict=True):
            off = abs(X.matrix() - places[body].matrix()).max()
            if not off <= TOLERANCE * max(1.0, max(map(abs, X.translation))):
                raise MechanismError(
                    f"{source.name!r} and {target.name!r} are not of one mechanism: in the same configuration, body "
                    f"{body!r} is off by {off:.3g} m or rad. (Two bases fixed on different bodies are not, either.)"
                )


def _different_joints(a: Model, b: Model) -> list[str]:
    """Return the joints between bodies that are not the same, on whatever side of a loop; bases may be elsewhere."""
    mine, theirs = ({c.name: c for c in _joints(m) if WORLD not in (c.parent, c.child)} for m in (a, b))
    both = mine.keys() & theirs.keys()
    return [n for n in {**mine, **theirs} if n not in both or not is_same(mine[n], theirs[n])]


def _follows(small: Model, large: Model) -> bool:
    """Return whether the large model's bases can be wherever the small one's bodies are: free, or the same."""
    known = {c.name: c for c in _joints(small)}
    bases = [c for c in _joints(large) if WORLD in (c.parent, c.child)]
    tree = set(large.joint_names)
    return all((c.joint.nv == 6 and c.name in tree) or (c.name in known and is_same(known[c.name], c)) for c in bases)


def _joints(model: Model) -> tuple[Connection, ...]:
    return (*model.connections, *model.closures)
