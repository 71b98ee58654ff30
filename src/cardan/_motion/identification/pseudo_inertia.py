"""The pseudo-inertia: a symmetric 4x4 matrix that is positive definite just where a body could be built.

    P = [[Sigma, h], [h^T, m]],   Sigma = tr(I) / 2 1 - I     (I about the body's origin, h = m c)

is the integral of [x; 1] [x; 1]^T over the body's mass: a positive density makes it positive definite, and every
positive definite P is that of some ellipsoid. It is linear in the ten parameters.

Source: Wensing, Kim and Slotine, Linear matrix inequalities for physically consistent inertial parameter
identification (2018), equation 13.
"""

from __future__ import annotations

import numpy as np

FLOOR = 1e-8  # least eigenvalue of a pseudo-inertia, relative to its trace in units in which the body's size is 1


def pseudo_inertia(p: np.ndarray) -> np.ndarray:
    """Return P, shape (n, 4, 4), of ten parameters each (`Inertia.parameters`), shape (n, 10)."""
    m, h, xx, xy, xz, yy, yz, zz = p[:, 0], p[:, 1:4], *p[:, 4:].T
    half = 0.5 * (xx + yy + zz)
    P = np.empty((len(p), 4, 4))
    P[:, 0, 0], P[:, 1, 1], P[:, 2, 2], P[:, 3, 3] = half - xx, half - yy, half - zz, m
    for (i, j), value in zip(((0, 1), (0, 2), (1, 2)), (-xy, -xz, -yz), strict=True):
        P[:, i, j] = P[:, j, i] = value
    P[:, :3, 3] = P[:, 3, :3] = h
    return P


def inertial_parameters(P: np.ndarray) -> np.ndarray:
    """Return ten parameters each, shape (..., 10), of P, shape (..., 4, 4)."""
    xx, yy, zz = P[..., 0, 0], P[..., 1, 1], P[..., 2, 2]
    moments = [yy + zz, -P[..., 0, 1], -P[..., 0, 2], xx + zz, -P[..., 1, 2], xx + yy]
    return np.stack([P[..., 3, 3], P[..., 0, 3], P[..., 1, 3], P[..., 2, 3], *moments], axis=-1)


def made_definite(P: np.ndarray) -> np.ndarray:
    """Return P with its eigenvalues not below `FLOOR`, in each body's own unit of length; definite ones as they are."""
    size = np.sqrt(np.abs(P[:, 0, 0] + P[:, 1, 1] + P[:, 2, 2]) / P[:, 3, 3])
    unit = np.ones((len(P), 4))
    unit[:, :3] = np.where(size > 0.0, size, 1.0)[:, None]
    scaled = P / (unit[:, :, None] * unit[:, None, :])
    values, vectors = np.linalg.eigh(scaled)
    least = FLOOR * np.trace(scaled, axis1=1, axis2=2)[:, None]
    # A negative one counts by its size: who is wrong by so much knows it no better. Near 0 it would be a body known to
    # be flat, from which a fit does not get away.
    raised = (vectors * np.maximum(np.abs(values), least)[:, None, :]) @ np.swapaxes(vectors, 1, 2)
    fine = (values >= least).all(axis=1)
    return np.where(fine[:, None, None], P, raised * (unit[:, :, None] * unit[:, None, :]))
