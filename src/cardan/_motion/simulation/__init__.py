"""Worlds and their states: what a solver moves."""

from cardan._algebra.lazy import imported_later

with imported_later(globals()):
    from cardan._motion.contact.touching import ContactPair
    from cardan._motion.simulation import solvers
    from cardan._motion.simulation.articulation import Articulation
    from cardan._motion.simulation.builder import WorldBuilder
    from cardan._motion.simulation.collide import ContactPoints, Contacts, contact_points
    from cardan._motion.simulation.compliance import compliant
    from cardan._motion.simulation.control import Control
    from cardan._motion.simulation.cutting import cut_bodies
    from cardan._motion.simulation.pairs import contact_pairs
    from cardan._motion.simulation.raycasting import RayHits, raycast
    from cardan._motion.simulation.standing import stand
    from cardan._motion.simulation.state import State
    from cardan._motion.simulation.view import View
    from cardan._motion.simulation.world import World

__all__ = [
    "Articulation", "ContactPair", "ContactPoints", "Contacts", "Control", "RayHits", "State", "View", "World",
    "WorldBuilder", "compliant", "contact_pairs", "contact_points", "cut_bodies", "raycast", "solvers", "stand",
]  # fmt: skip
