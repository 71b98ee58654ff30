"""What a world holds, for all that reads it: states, controls, views, contacts. `World` makes these of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cardan._algebra.errors import ParameterError
from cardan._algebra.explained import Explained
from cardan._algebra.manifolds.product import scalar_coordinates
from cardan._motion.contact.compliant import DISSIPATION
from cardan._motion.simulation.articulation import Articulation
from cardan._motion.simulation.pairs import PairList
from cardan._robot.description import Mechanism, Shape
from cardan._robot.model import Model

_GIVEN = ("friction", "restitution", "stiffness", "dissipation", "surface_velocity")
CONTACT_INPUTS = {f"contact_{name}": name for name in _GIVEN}
"""What can be given for each world of each pair of shapes, and what its `Material` calls it, or the pair itself."""


def contact_value(pair: Any, name: str) -> Any:
    """Return what a pair has of what an input of contacts gives, under the name it has there."""
    return pair.surface_velocity if name == "surface_velocity" else getattr(pair.material, name)


@dataclass(frozen=True, eq=False, repr=False, slots=True, weakref_slot=True)
class WorldContents(Explained):
    """The record that a `World` is, and what follows from it alone; `World` says what each field is."""

    model: Model
    mechanism: Mechanism
    articulations: Mapping[str, Articulation]
    pairs: PairList
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
        if not isinstance(self.pairs, PairList):
            hint = "Choose some by world.with_contacts(...); builder.set_contact(...) gives two bodies a surface."
            raise ParameterError("pairs of a world", got=self.pairs, expected="those that it was made with", hint=hint)

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
        limits = np.column_stack([self.model.lower, self.model.upper])
        limits.setflags(write=False)  # of what somebody wrote into it the world would not know
        return limits

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
        own = {name: [contact_value(p, CONTACT_INPUTS[name]) for p in self.pairs] for name in self.contact_inputs}
        given = {name: [DISSIPATION if e is None else e for e in values] for name, values in own.items()}
        return {name: np.array(values, dtype=float) for name, values in given.items()} | self.model.input_values()
