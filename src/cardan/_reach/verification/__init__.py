"""Verification of joints: the checklist every joint must pass, and the certificate it gets.

`verify.py` has the checklist. A check is a function of a joint and its `Samples` that shows a `Ledger` pairs which must
be equal (`check.py`). The truth is what differences of the transform alone say; `motion.py` tries simple errors on it,
to name the one that was made. A new check is one function and one line in `verify.CHECKS`.
"""

from cardan._reach.verification.check import Check, Finding
from cardan._reach.verification.dynamics import Cost
from cardan._reach.verification.laws import Singularity
from cardan._reach.verification.verify import CHECKS, Certificate, verify_joint

__all__ = ["CHECKS", "Certificate", "Check", "Cost", "Finding", "Singularity", "verify_joint"]
__dir__ = __all__.copy
