"""Worlds and their states: what a solver moves."""

from typing import TYPE_CHECKING

from cardan.lazy import fetcher

if TYPE_CHECKING:
    from cardan.simulation import solvers
    from cardan.simulation.articulation import Articulation
    from cardan.simulation.builder import WorldBuilder
    from cardan.simulation.collide import ContactPoints, Contacts, contact_points
    from cardan.simulation.compliant import compliant
    from cardan.simulation.control import Control
    from cardan.simulation.pairs import ContactPair, contact_pairs
    from cardan.simulation.standing import stand
    from cardan.simulation.state import State
    from cardan.simulation.view import View
    from cardan.simulation.world import World

__all__ = [
    "Articulation",
    "ContactPair",
    "ContactPoints",
    "Contacts",
    "Control",
    "State",
    "View",
    "World",
    "WorldBuilder",
    "compliant",
    "contact_pairs",
    "contact_points",
    "solvers",
    "stand",
]

_HOMES = {
    ".articulation": "Articulation",
    ".builder": "WorldBuilder",
    ".collide": "ContactPoints Contacts contact_points",
    ".compliant": "compliant",
    ".control": "Control",
    ".pairs": "ContactPair contact_pairs",
    ".standing": "stand",
    ".state": "State",
    ".view": "View",
    ".world": "World",
}
__getattr__ = fetcher(__name__, _HOMES, modules="solvers")
__dir__ = __all__.copy
