"""Laws of contact, one textbook page each; all are solved by one signature."""

from cardan._motion.contact.compliant import compliant
from cardan._motion.contact.convex import Minimum, convex, minimum
from cardan._motion.contact.point import WORLD, Contact
from cardan._motion.contact.projected import projected
from cardan._motion.contact.touching import contacts

LAWS = {"convex": convex, "compliant": compliant, "hard": projected}
"""The laws by name: each takes moment, elements, contacts, dt, iterations and returns `Solved`."""

__all__ = ["LAWS", "WORLD", "Contact", "Minimum", "compliant", "contacts", "convex", "minimum", "projected"]
