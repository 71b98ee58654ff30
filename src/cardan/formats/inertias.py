"""Whether an inertia can be: what readers of XML ask of the numbers a file states."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from cardan.errors import quoted
from cardan.formats.report import At, Report
from cardan.spatial import Inertia, Symmetric3

NO_INERTIA = 1e-15
"""Inertias below are taken for zero: rounding of one that was meant to be zero [kg m^2]."""


def doubt_impossible(report: Report, at: At, link: str, entries: Sequence[float]) -> None:
    """Note a tensor no body can have, judged as it is written: ixx, ixy, ixz, iyy, iyz, izz [kg m^2]."""
    if max(map(abs, entries)) < NO_INERTIA or report.has_enough_doubts:
        return
    with np.errstate(over="ignore", invalid="ignore"):
        faults = Inertia(1.0, (0.0, 0.0, 0.0), Symmetric3(entries)).faults()
    for fault in faults:
        report.doubt(at, f"link {quoted(link)}: {fault}")


def finite(report: Report, at: At, inertia: Inertia) -> Inertia | None:
    """Return an inertia; None, with an error, where about the link's origin it is no number any more."""
    if all(math.isfinite(e) for e in inertia.parameters()):
        return inertia
    report.error(at, "the inertia about the link's origin is too large for a number; are the units right?")
    return None
