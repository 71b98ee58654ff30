"""Verification of joints: the checklist every joint must pass, and the certificate it gets."""

from cardan._reach.verification.certificate import Certificate
from cardan._reach.verification.check import Check
from cardan._reach.verification.finding import Finding
from cardan._reach.verification.rank import Singularity
from cardan._reach.verification.speed import Speed
from cardan._reach.verification.verify import CHECKS, verify_joint

__all__ = ["CHECKS", "Certificate", "Check", "Finding", "Singularity", "Speed", "verify_joint"]
__dir__ = __all__.copy
