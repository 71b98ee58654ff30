"""Laws of contact, one textbook page each; all are solved by one signature."""

from functools import partial

from cardan._motion.contact.compliant import compliant
from cardan._motion.contact.convex import convex
from cardan._motion.contact.point import WORLD, Contact
from cardan._motion.contact.touching import contacts

# The laws by name. Each takes the state, the forces along the joints, what touches or may, the step [s], and how many
# passes it makes (None for its own number); it returns the accelerations of an implicit step as `Solved`.
LAWS = {"convex": convex, "coulomb": partial(convex, lifts=[0.0]), "compliant": compliant}

__all__ = ["LAWS", "WORLD", "Contact", "compliant", "contacts", "convex"]
