"""Verification of joints: the checklist every joint must pass, and the certificate it gets."""

from typing import TYPE_CHECKING

from cardan._algebra.lazy import show_folder as _show

if TYPE_CHECKING:
    from cardan._reach.verification import *

_show(__name__, "cardan._reach.verification")
