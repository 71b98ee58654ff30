"""Verification of joints: the checklist every joint must pass, and the certificate it gets."""

from cardan.verification.certificate import Certificate
from cardan.verification.check import Check
from cardan.verification.finding import Finding
from cardan.verification.rank import Singularity
from cardan.verification.speed import Speed
from cardan.verification.verify import CHECKS, verify_joint

__all__ = ["CHECKS", "Certificate", "Check", "Finding", "Singularity", "Speed", "verify_joint"]
__dir__ = __all__.copy
