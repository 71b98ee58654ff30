"""Laws of contact, one textbook page each; all are solved by one signature."""

from cardan.algorithms.contact.compliant import compliant
from cardan.algorithms.contact.convex import convex
from cardan.algorithms.contact.point import WORLD, Contact
from cardan.algorithms.contact.settings import Settings

__all__ = ["WORLD", "Contact", "Settings", "compliant", "convex"]
