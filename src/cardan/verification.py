"""Verification of joints: the checklist every joint must pass, and the certificate it gets."""

from typing import TYPE_CHECKING

from cardan._algebra.lazy import show

if TYPE_CHECKING:
    from cardan._reach.verification import *

show(__name__, "cardan._reach.verification")
