"""The ground: errors, scalars of several types, arrays of symbols, spatial algebra, manifolds.

Here belongs what knows nothing of robots: numbers of any type (`scalar`, `elementary`), arrays of them (`arrays`),
poses, motions, forces and inertias (`spatial`), configuration spaces (`manifolds`), the errors (`errors`), what a
value is made of (`content`).

May import: NumPy and the standard library. Nothing of the other wings.
Begin with `spatial/se3.py`, `manifolds/manifold.py` and `scalar.py`.
"""
