"""Whether an inertia can be: what readers of XML ask of the numbers a file states."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from cardan._algebra.errors import quoted
from cardan._algebra.spatial import SE3, Inertia, Symmetric3
from cardan._reach.formats.report import At, Report

NO_INERTIA = 1e-15
"""Inertias below are taken for zero: rounding of one that was meant to be zero [kg m^2]."""


def stated(report: Report, at: At, link: str, mass: float, pose: SE3, entries: Sequence[float]) -> Inertia | None:
    """Return the inertia of a link from what a file says about the centre of mass; None, with a fault, if it is none.

    The entries, ixx, ixy, ixz, iyy, iyz, izz [kg m^2], are in the axes of the pose. A tensor no body can have, judged
    as it is written, is doubted.
    """
    if max(map(abs, entries)) >= NO_INERTIA and not report.has_enough_doubts:
        with np.errstate(over="ignore", invalid="ignore"):
            faults = Inertia(1.0, (0.0, 0.0, 0.0), Symmetric3(entries)).faults()
        for fault in faults:
            report.doubt(at, f"link {quoted(link)}: {fault}")
    with report.blamed(at):
        return finite(report, at, Inertia(mass, pose.translation, Symmetric3(entries).rotated(pose.rotation)))
    return None


def finite(report: Report, at: At, inertia: Inertia) -> Inertia | None:
    """Return an inertia; None, with an error, where about the link's origin it is no number any more."""
    if all(math.isfinite(e) for e in inertia.parameters()):
        return inertia
    report.error(at, "the inertia about the link's origin is too large for a number; are the units right?")
    return None
