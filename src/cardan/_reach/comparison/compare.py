"""`cardan.compare(a, b)`: two robots part by part, each difference where it arises."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cardan._algebra.checked_numbers import positive
from cardan._algebra.spatial import SE3, Inertia
from cardan._reach.comparison import matching, records
from cardan._reach.comparison.differences import Comparison, Difference
from cardan._reach.comparison.matching import ComparedRobot, JointChain, Robot, inertia, is_fixed, order
from cardan._reach.comparison.motion import JointPlacing, compare_placing, pose, shift
from cardan._robot.model import WORLD, Connection
from cardan._robot.model.user_constraints import name_of


def compare(a: Robot, b: Robot, *, tolerance: float = 1e-9, **options: Any) -> Comparison:
    """Return what differs between two robots, and where first.

    Bodies and coordinates are matched by their names.

    Args:
        a: a mechanism, a model, or a robot description (path, text, bytes).
        b: another.
        tolerance: how far numbers may differ, relative to the largest of their kind [-]: rounding that a format forces.
        options: how descriptions are read, as for `cardan.load`.

    Returns:
        The comparison: true if there is no difference; printed, a report.

    Raises:
        DescriptionError: for a description with errors.
        DTypeError, ParameterError: for another thing; for a tolerance that is not positive.

    Examples:
        >>> changed = mechanism.lock({"joint3": 0.0}).mechanism
        >>> bool(cardan.compare(mechanism, mechanism)), bool(cardan.compare(mechanism, changed))
        (True, False)
    """
    positive("tolerance", tolerance)
    first, second = matching.alike(matching.open_robot(a, options), matching.open_robot(b, options))
    return _Comparing(first, second, tolerance).result()


@dataclass(slots=True)
class _Comparing:
    """A comparison as it goes on: the offsets of B's frames in A's, and what was found."""

    a: ComparedRobot
    b: ComparedRobot
    tolerance: float
    offsets: dict[str, np.ndarray] = field(default_factory=dict)
    found: list[Difference] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def result(self) -> Comparison:
        a, b = self.a, self.b
        if a.name != b.name:
            self.notes.append(f"the robots are called {a.name!r} and {b.name!r}")
        if (own := a.thing.annotations.self_collision) != b.thing.annotations.self_collision:
            self.notes.append(
                f"shapes of the robot may touch one another in {'a' if own else 'b'} alone (self_collision)"
            )
        # No coordinate depends on the name of a fixed joint: it is a note, and no difference.
        both = matching.joints_of_both(a, b)
        renamed = [f"{c.name!r} ({d.name!r} in b)" for c, d in both if c.name != d.name and is_fixed(c)]
        if renamed:
            self.notes.append(f"fixed joints are called otherwise: {', '.join(renamed)}")
        self.found += matching.compare_structure(a, b)
        self._gravity()
        self._tree()  # before loops and records: it finds the offsets of frames, in which those are compared
        self._loops()
        self.found += records.compare_records(a, b, self.offsets, self.tolerance)
        return Comparison(a.name, b.name, tuple(self.found), tuple(self.notes))

    def _add(self, kind: str, where: str, what: str, a: Any = None, b: Any = None, cause: str = "") -> None:
        self.found.append(Difference(kind, where, what, a, b, cause))

    def _gravity(self) -> None:
        a, b = (np.array(tuple(view.thing.gravity), dtype=float) for view in (self.a, self.b))
        if np.abs(a - b).max() > self.tolerance * max(1.0, np.abs(a).max(), np.abs(b).max()):
            self._add("gravity", self.a.name, "gravity", tuple(a), tuple(b))

    # --- the tree ---

    def _tree(self) -> None:
        common = {WORLD, *self.a.bodies} & {WORLD, *self.b.bodies}
        mine, theirs = matching.chains(self.a, common), matching.chains(self.b, common)
        self.offsets = {WORLD: np.eye(4)}
        for body in order(self.a):
            if body not in common:
                continue
            self.offsets[body] = np.eye(4)
            one, two = mine.get(body), theirs.get(body)
            if one is not None and two is not None:
                self._joint(body, one, two)
            elif one is not None or two is not None:
                self._hanging(body, one or two, "a" if one is not None else "b")
            self._body(body, common)

    def _hanging(self, body: str, chain: JointChain | None, where: str) -> None:
        """Note a body that only one robot holds; fixed on the world it is what `Mechanism.model` makes of the other."""
        if chain is None or chain.above != WORLD or not is_fixed(chain.moving):
            self._add("structure", body, f"hangs on a joint in {where} alone")
            return
        self.notes.append(f"{body!r} is fixed on the world in {where}, and hangs on nothing in the other")
        if way := shift(np.eye(4), pose(chain, _neutral(chain.moving)), self.tolerance):
            what = f"is fixed in {where} elsewhere than at the world's origin, where a base is that hangs on nothing"
            self._add("motion", chain.moving.name, what, cause="it" + way)

    def _joint(self, body: str, mine: JointChain, theirs: JointChain) -> None:
        if mine.above != theirs.above:
            self._add("structure", body, "hangs on another body", mine.above, theirs.above)
            return
        if not (mine.is_single and theirs.is_single):
            between = f"the joints between {mine.above!r} and {body!r}"
            self.notes.append(f"{between} are not compared: their bodies are missing")
            return
        if (is_fixed(mine.moving), is_fixed(theirs.moving)) in ((True, False), (False, True)):
            names = [type(chain.moving.joint).__name__ for chain in (mine, theirs)]
            self._add("motion", mine.moving.name, "another kind of joint", *names)
            return
        motion = compare_placing(mine, theirs, self.offsets[mine.above], self.tolerance)
        self._note_placing(body, mine, motion)
        if motion.note:
            self.notes.append(motion.note)
        self.found += records.of_joint(mine.moving, theirs.moving, self.tolerance)

    def _loops(self) -> None:
        mine, theirs = (getattr(view.thing, "constraints", ()) for view in (self.a, self.b))
        if mine != theirs:
            a, b = (", ".join(map(name_of, functions)) or None for functions in (mine, theirs))
            self._add("structure", self.a.name, "constraints that are functions", a, b)
        theirs = {c.name: c for c in self.b.closures}
        for c in self.a.closures:
            if c.name not in theirs or not {c.parent, c.child} <= self.offsets.keys():
                continue
            d = theirs[c.name]
            if (d.parent, d.child) == (c.child, c.parent):
                d = d.reversed()
            if (d.parent, d.child) != (c.parent, c.child):
                ends = [f"{e.parent} and {e.child}" for e in (c, d)]
                self._add("structure", c.name, "closes a loop between other bodies", *ends)
            else:
                self._loop(c, d)

    def _loop(self, c: Connection, d: Connection) -> None:
        mine, theirs = JointChain(c.parent, (c,)), JointChain(d.parent, (d,))
        motion = compare_placing(mine, theirs, self.offsets[c.parent], self.tolerance)
        self.notes += [motion.note] if motion.note else []
        if motion.difference is not None:
            self.found.append(motion.difference)
        elif way := shift(self.offsets[c.child], motion.offset, self.tolerance):
            cause = f"its place on the second body{way}"
            self._add("motion", c.name, "this joint closes the loop elsewhere", cause=cause)
        self.found += records.of_joint(c, d, self.tolerance)

    def _note_placing(self, body: str, mine: JointChain, motion: JointPlacing) -> None:
        """Note what differs about a joint; a body's frame that was moved is told from a body that was moved."""
        if motion.difference is not None:
            self.found.append(motion.difference)
        way = shift(np.eye(4), motion.offset, self.tolerance)
        if not way:
            return
        if self._is_reframed(body, motion.offset):
            # All below is compared in the moved frame, so that nothing is reported twice.
            self.offsets[body] = motion.offset
            cause = f"the robot is the same: b's frame{way}, and what is on it with it"
            self._add("frame", body, "the frame of this body is elsewhere on it", cause=cause)
        elif motion.difference is None:
            cause = f"what is below{way}, in its own axes"
            self._add("motion", mine.moving.name, "its joint frame is turned or moved", cause=cause)

    def _is_reframed(self, body: str, offset: np.ndarray) -> bool:
        """Return whether the body fits better where its frame was moved back: its mass, or the joints below."""
        a, b = inertia(self.a, body), inertia(self.b, body)
        if a.mass and b.mass:
            return _distance(a, _seen(b, offset)) < _distance(a, b)
        below = [(c, d) for c, d in matching.joints_of_both(self.a, self.b) if c.parent == body]
        fits = 0
        for c, d in below:
            X, Y = pose(JointChain(body, (c,)), _neutral(c)), pose(JointChain(body, (d,)), _neutral(d))
            fits += 1 if np.abs(offset @ Y - X).max() < np.abs(Y - X).max() else -1
        return fits > 0

    # --- bodies ---

    def _body(self, body: str, common: set[str]) -> None:
        a, b = self._whole(self.a, body, common), self._whole(self.b, body, common)
        if abs(a.mass - b.mass) > FITS * max(a.mass, b.mass):  # what is missing did not become part of it
            a, b = inertia(self.a, body), inertia(self.b, body)
        b = _seen(b, self.offsets[body])
        scale = max(float(a.mass), float(b.mass))
        if abs(a.mass - b.mass) > self.tolerance * scale:
            self._add("inertia", body, "mass", float(a.mass), float(b.mass))
        c, d = (np.array(tuple(i.com), dtype=float) if i.mass else np.zeros(3) for i in (a, b))
        if np.abs(c - d).max() > self.tolerance * max(0.01, np.abs(c).max(), np.abs(d).max()) and a.mass and b.mass:
            self._add("inertia", body, "centre of mass", tuple(c), tuple(d))
        J, K = at_com(a), at_com(b)
        of_centres = float(a.mass) * (c @ c), float(b.mass) * (d @ d)  # what the masses add about the origin
        size = max(1e-12, np.abs(J).max(), np.abs(K).max(), *of_centres)
        # Ten roundings: moving to the centre of mass subtracts large numbers.
        if np.abs(J - K).max() > 10.0 * self.tolerance * size:
            entries = [tuple(float(M[i, j]) for i, j in _ENTRIES) for M in (J, K)]
            what = "inertia about the centre of mass (xx, yy, zz, xy, xz, yz)"
            self._add("inertia", body, what, entries[0], entries[1])

    def _whole(self, view: ComparedRobot, body: str, common: set[str]) -> Inertia:
        """Return the inertia of a body with those that are fixed on it and that the other robot has not."""
        whole = inertia(view, body)
        for c in () if common.issuperset(view.bodies) else view.tree.values():
            if c.parent == body and c.child not in common and is_fixed(c):
                whole += _seen(self._whole(view, c.child, common), pose(JointChain(body, (c,)), _neutral(c)))
        return whole


# How well masses have to fit to be those of several bodies, relative: files have six digits or more.
FITS = 1e-6
_ENTRIES = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))


def at_com(inertia: Inertia) -> np.ndarray:
    return np.array([list(row) for row in inertia.inertia_at_com.matrix().rows()], dtype=float)


def _neutral(c: Any) -> tuple[float, ...]:
    return tuple(map(float, c.joint.neutral()))


def _seen(inertia: Inertia, offset: np.ndarray) -> Inertia:
    """Return an inertia in the frame its own is placed in."""
    return inertia if np.array_equal(offset, np.eye(4)) else SE3.of(offset) @ inertia


def _distance(a: Inertia, b: Inertia) -> float:
    """Return how far two inertias are apart: centres and moments, each relative to the first's."""
    c, d = (np.array(tuple(i.com), dtype=float) for i in (a, b))
    J, K = at_com(a), at_com(b)
    return float(np.abs(c - d).max() / max(0.01, np.abs(c).max()) + np.abs(J - K).max() / max(1e-12, np.abs(J).max()))
