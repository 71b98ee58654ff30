"""Verification of joints: the checklist every joint must pass, and the certificate it gets."""

from typing import TYPE_CHECKING

from cardan._algebra.lazy import shown

if TYPE_CHECKING:
    from cardan._reach.verification import *

__getattr__, __dir__ = shown(__name__, "cardan._reach.verification")
