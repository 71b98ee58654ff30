"""Masses as `<compiler fusestatic="true"/>` leaves them, for bodies that all stay.

MuJoCo then joins bodies without joints to what they are fixed to before it weighs them: what it joins to the world
counts no more in `settotalmass`, and geoms that change their body count there in `inertiafromgeom`. A description is
compiled both ways, and what moves together is compared: mass, centre and moments.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cardan._algebra.errors import quoted
from cardan._reach.formats.report import Report

CLOSE = 1e-6
"""How far masses may differ, relative: products are rounded in another order."""


def weigh_as_fused(mj: Any, fused: Any, m: Any, report: Report) -> None:
    """Give a compiled model the masses of another one of the same description, whose bodies are fused.

    Args:
        mj: the package.
        fused: the model with fused bodies.
        m: the one with all bodies; its masses are scaled where all of them differ by one factor.
        report: takes an error where they differ otherwise.
    """
    wanted, found = _moving(mj, fused), _moving(mj, m)
    masses = [(new[0], old[0]) for new, old in zip(wanted, found, strict=True) if old[0] > 0.0]
    factor = masses[0][0] / masses[0][1] if masses else 1.0
    for body, new, old in zip(_movers(m), wanted, found, strict=True):
        if not np.allclose(new, factor * old, rtol=CLOSE, atol=CLOSE * abs(new[0])):
            name = quoted(m.body(body).name)
            told = f"fusestatic: MuJoCo gives body {name}, with what is fixed to it, a mass of {new[0]:.6g} kg"
            report.error(0, f'{told}, and without it {old[0]:.6g} kg, or other moments; write fusestatic="false"')
            return
    if abs(factor - 1.0) > CLOSE:
        m.body_mass[:] *= factor
        m.body_inertia[:] *= factor


def _movers(m: Any) -> list[int]:
    """Return the bodies that have joints, in the order of the file."""
    return [body for body in range(1, m.nbody) if m.body_jntnum[body]]


def _moving(mj: Any, m: Any) -> list[np.ndarray]:
    """Return of each body with joints, and all that is fixed to it, 10 numbers in world axes at the model's rest.

    They are its mass, first moments and moments about the body's origin: they scale as the mass does.
    """
    d = mj.MjData(m)
    mj.mj_kinematics(m, d)
    mj.mj_comPos(m, d)
    found = {body: np.zeros(10) for body in _movers(m)}
    for body in range(1, m.nbody):
        if (root := int(m.body_weldid[body])) in found:
            mass, axes = m.body_mass[body], d.ximat[body].reshape(3, 3)
            r = d.xipos[body] - d.xpos[root]
            moments = axes @ np.diag(m.body_inertia[body]) @ axes.T + mass * (r @ r * np.eye(3) - np.outer(r, r))
            found[root] += [mass, *(mass * r), *moments[np.triu_indices(3)]]
    return list(found.values())
