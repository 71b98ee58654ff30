"""What a world holds, for all that reads it: articulations and how they are named, pairs that may touch, constants."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from cardan._algebra.errors import Explained, MechanismError, ParameterError, UnknownNameError
from cardan._algebra.manifolds.product import scalar_coordinates
from cardan._motion.contact.compliant import DISSIPATION
from cardan._motion.simulation.pairs import ContactPair
from cardan._robot.description import Mechanism, Shape
from cardan._robot.model import WORLD, Model

Pattern = str | re.Pattern[str] | Sequence[str]
"""Names as file names are matched (`"robot*"`), a list of such, or a compiled regular expression for whole names."""


@dataclass(frozen=True, slots=True)
class Articulation:
    """Bodies connected by joints, as one thing: a robot.

    Attributes:
        name: its name.
        joints: names of its joints, fixed and mimic ones included, in document order.
        bodies: names of its bodies, in document order.
        links: names of those of its bodies that move on joints of their own, in the order of `World.links`.
        root: the body its first joint attaches to the world.
        q_slice: where its coordinates are in q.
        v_slice: where its velocities are in v.
        is_floating: whether its root moves freely.

    Examples:
        >>> world = cardan.robots.arm7().world()
        >>> world.articulations["arm7"].q_slice
        slice(0, 7, None)
    """

    name: str
    joints: tuple[str, ...]
    bodies: tuple[str, ...]
    links: tuple[str, ...]
    root: str
    q_slice: slice
    v_slice: slice
    is_floating: bool

    @property
    def nq(self) -> int:
        """Number of its coordinates."""
        return self.q_slice.stop - self.q_slice.start

    @property
    def nv(self) -> int:
        """Number of its degrees of freedom."""
        return self.v_slice.stop - self.v_slice.start


def articulation(model: Model, name: str, joints: Sequence[str]) -> Articulation:
    """Return some joints of a model as an articulation; those of them that close loops have no coordinates."""
    chosen = set(joints)
    own = [c for c in model.connections if c.name in chosen]
    moving = [c.name for c in model.connections if c.joint.nv]
    at = [k for k, joint in enumerate(moving) if joint in chosen]
    between = [joint for joint in moving[at[0] : at[-1]] if joint not in chosen] if at else []
    if not own or between:
        what = f"joints {between[:6]} stand between its own" if own else "has no joint"
        raise MechanismError(f"articulation {name!r}: {what}; add the joints of an articulation one after the other.")
    bodies = {c.child for c in own}
    roots = [c for c in own if c.parent not in bodies]
    on_world = [c for c in roots if c.parent == WORLD]
    if not on_world or len(on_world) < len(roots):
        got = ", ".join(repr(c.name) for c in roots if c.parent != WORLD)
        raise MechanismError(
            f"articulation {name!r} does not begin at the world: {got} moves on a body whose joint is not among its "
            "joints. Name all joints from the world on."
        )
    q, v = zip(*(model.slices[c.name] for c in own), strict=True)
    return Articulation(
        name=name,
        joints=tuple(c.name for c in own),
        bodies=tuple(b.name for b in model.bodies if b.name in bodies),
        links=tuple(link for link in model.link_names if link in bodies),
        root=on_world[0].child,
        q_slice=slice(q[0].start, q[-1].stop),
        v_slice=slice(v[0].start, v[-1].stop),
        is_floating=on_world[0].joint.is_floating and len(on_world) == 1,
    )


def select_names(kind: str, names: Sequence[str], pattern: Any, where: str = "view") -> list[str]:
    """Return those of the names of a kind of things that a `Pattern` matches, in their own order.

    Raise `UnknownNameError` if nothing matches; for a list, if something in it matches nothing.
    """
    tests = list(pattern) if isinstance(pattern, (list, tuple, set, frozenset)) else [pattern]
    if not tests or not all(isinstance(test, (str, re.Pattern)) for test in tests):
        expected = "a pattern such as 'leg*', a list of names, or a compiled regular expression"
        raise ParameterError(f"pattern of {kind}", got=pattern, expected=expected)
    matched: set[str] = set()
    for test in tests:
        matches = test.fullmatch if isinstance(test, re.Pattern) else partial(fnmatch.fnmatchcase, pat=test)
        found = {name for name in names if matches(name)}
        if not found:
            shown = test if isinstance(test, str) else test.pattern
            raise UnknownNameError(f"{kind} that matches the pattern, nor one", shown, names, where)
        matched |= found
    return [name for name in names if name in matched]


# --- the world ---

CONTACT_INPUTS = {f"contact_{name}": name for name in ("friction", "restitution", "stiffness", "dissipation")}
"""What can be given for each world of each pair of shapes, and what a `Material` calls it."""


@dataclass(frozen=True, eq=False, repr=False, slots=True, weakref_slot=True)
class WorldContents(Explained):
    """The record that a `World` is, and what follows from it alone; `World` says what each field is."""

    model: Model
    mechanism: Mechanism
    articulations: Mapping[str, Articulation]
    pairs: tuple[ContactPair, ...]
    overlapping: tuple[str, ...]
    orphans: tuple[str, ...]
    initial: np.ndarray
    initial_velocity: np.ndarray
    targets: np.ndarray
    movable: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    contact_inputs: tuple[str, ...] = ()
    kinematic: tuple[str, ...] = ()
    links: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "links", self.model.link_names)
        for pair in self.pairs:
            # One that is given by hand may be of shapes fixed to one another: laws divide by how a force moves them.
            if self.model.attachment(pair.a).node == self.model.attachment(pair.b).node:
                raise MechanismError(
                    f"contact pair {pair.name!r}: its shapes, on {pair.a!r} and {pair.b!r}, do not move relative to "
                    "one another, so that no force between them has an effect; leave the pair out."
                )

    @property
    def name(self) -> str:
        """Its name."""
        return self.model.name

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """Visual and collision shapes, in document order."""
        return self.mechanism.shapes

    @property
    def limits(self) -> np.ndarray:
        """Smallest and largest positions [rad, m], shape (nv, 2), in the coordinates `cardan.limit_coordinates`."""
        return np.column_stack([self.model.lower, self.model.upper])

    def centre(self, q: Any = None) -> np.ndarray:
        """Return configurations at the middle of the limits [rad, m], shape (..., nq).

        Coordinates that are their own limit coordinates (angles and lengths) are put between two finite limits; the
        others stay: those of orientations, (cos, sin) pairs, and where there is no limit.

        Args:
            q: the configuration the others are taken from, shape (..., nq); by default `initial`.
        """
        centred = np.array(self.initial if q is None else q, dtype=float)
        lower, upper = self.model.lower, self.model.upper
        for iq, iv in scalar_coordinates(self.model.manifold):
            if np.isfinite([lower[iv], upper[iv]]).all():
                centred[..., iq] = 0.5 * lower[iv] + 0.5 * upper[iv]
        return centred

    def moves_like(self, other: WorldContents) -> bool:
        """Return whether states and controls of the other world are this one's, too: it is made of the same.

        So is a world that was pickled.

        Args:
            other: a world.
        """
        if self is other:
            return True
        mine, theirs = ((w.contact_inputs, w.kinematic, w.pairs) for w in (self, other))
        return mine == theirs and self.model == other.model

    def constants(self) -> dict[str, np.ndarray]:
        """Return this world's own values of what is given for each world, by name [in its unit, see `with_inputs`].

        Those of contacts come first, then those of the model.
        """
        surfaces = [p.material for p in self.pairs]
        surfaces = [replace(s, dissipation=DISSIPATION) if s.dissipation is None else s for s in surfaces]
        own = {name: [getattr(surface, CONTACT_INPUTS[name]) for surface in surfaces] for name in self.contact_inputs}
        return {name: np.array(values, dtype=float) for name, values in own.items()} | self.model.input_values()
