"""Verification of joints: the checklist every joint must pass, and the certificate it gets."""

from cardan._algebra.lazy import imported_later as _later

with _later(globals()):
    from cardan._reach.verification import *
