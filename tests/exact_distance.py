"""Distances of convex shapes to 50 digits: Newton's method on points of the features that are nearest, by mpmath.

Independent of cardan's own: here points are unknown, not normals. On which feature of each shape its nearest point lies
is read from a distance in double precision. Corners that lie in the supporting plane span an edge or a face.
"""

import mpmath as mp
import numpy as np

from cardan.description import Box, Capsule, Cone, Cylinder, Ellipsoid, Sphere

DIGITS = 50
TOUCHES = 1e-7  # of the sizes: how far from a supporting plane a corner that is in it may be


def corners(shape):
    match shape:
        case Sphere():
            return np.zeros((1, 3))
        case Capsule(length=length):
            return np.array([[0.0, 0.0, -length / 2], [0.0, 0.0, length / 2]])
        case Box(size=size):
            signs = np.array(np.meshgrid(*[[-0.5, 0.5]] * 3)).reshape(3, -1).T
            return signs * np.array(size)
    return np.array(shape.vertices)


def radius(shape):
    return mp.mpf(shape.radius) if isinstance(shape, (Sphere, Capsule)) else mp.mpf(0)


def vector(x):
    return mp.matrix([mp.mpf(e) if not isinstance(e, float) else mp.mpf(float(e)) for e in x])


def feature(shape, d, p):
    """A parametrised piece of the surface around p, whose outward normal is d: x(u), dx/du, and u at p."""
    match shape:
        case Ellipsoid(radii=radii):
            u = [float(np.arctan2(p[1] / radii[1], p[0] / radii[0])), float(np.arcsin(np.clip(p[2] / radii[2], -1, 1)))]

            def point(u, v):
                units = mp.cos(u) * mp.cos(v), mp.sin(u) * mp.cos(v), mp.sin(v)
                return mp.matrix([mp.mpf(r) * e for r, e in zip(radii, units, strict=True)])

            def slopes(u, v):
                along = -mp.sin(u) * mp.cos(v), mp.cos(u) * mp.cos(v), 0
                up = -mp.cos(u) * mp.sin(v), -mp.sin(u) * mp.sin(v), mp.cos(v)
                return [mp.matrix([mp.mpf(r) * e for r, e in zip(radii, way, strict=True)]) for way in (along, up)]

            return point, slopes, u
        case Cylinder(radius=r, length=length):
            r, h = mp.mpf(r), mp.mpf(length) / 2
            if np.hypot(d[0], d[1]) < 1e-9 and np.hypot(p[0], p[1]) < r * (1 - TOUCHES):
                top = mp.sign(d[2]) * h
                return (
                    lambda x, y: mp.matrix([x, y, top]),
                    lambda x, y: [vector((1, 0, 0)), vector((0, 1, 0))],
                    [*p[:2]],
                )
            angle = float(np.arctan2(p[1], p[0]))

            def around(u):
                return mp.matrix([-r * mp.sin(u), r * mp.cos(u), 0])

            if abs(d[2]) < 1e-9 and abs(p[2]) < h * (1 - TOUCHES):
                return (
                    lambda u, z: mp.matrix([r * mp.cos(u), r * mp.sin(u), z]),
                    lambda u, z: [around(u), vector((0, 0, 1))],
                    [angle, float(p[2])],
                )
            end = mp.sign(p[2]) * h
            return lambda u: mp.matrix([r * mp.cos(u), r * mp.sin(u), end]), lambda u: [around(u)], [angle]
        case Cone(radius=r, length=length):
            r, h = mp.mpf(r), mp.mpf(length)
            out, rho, tip = np.hypot(d[0], d[1]), np.hypot(p[0], p[1]), mp.matrix([0, 0, h / 2])
            if rho < TOUCHES * r and d[2] > 0.0:
                return lambda: tip, lambda: [], []
            if out < 1e-9 and rho < r * (1 - TOUCHES):
                return lambda x, y: mp.matrix([x, y, -h / 2]), lambda x, y: [vector(e) for e in np.eye(3)[:2]], [*p[:2]]
            angle = float(np.arctan2(p[1], p[0]))

            def rim(u):
                return mp.matrix([r * mp.cos(u), r * mp.sin(u), -h / 2])

            def along(u):
                return mp.matrix([-r * mp.sin(u), r * mp.cos(u), 0])

            if abs(shape.radius * out - shape.length * d[2]) < 1e-9 and p[2] > -shape.length / 2 * (1 - TOUCHES):
                part = float(p[2] / shape.length + 0.5)
                return (
                    lambda u, s: tip * s + rim(u) * (1 - s),
                    lambda u, s: [along(u) * (1 - s), tip - rim(u)],
                    [angle, part],
                )
            return rim, lambda u: [along(u)], [angle]
    points = corners(shape)
    near = points @ d >= (points @ d).max() - TOUCHES * np.ptp(points)
    base, *others = points[near][np.argsort(np.linalg.norm(points[near] - p, axis=1))]
    ways = []
    for other in others:  # a face may have many corners
        if np.linalg.matrix_rank(np.array([*ways, other - base]), tol=1e-6) > len(ways):
            ways.append(other - base)
    ways_mp, base_mp = [vector(way) for way in ways], vector(base)
    u = list(np.linalg.lstsq(np.array(ways).T, p - base, rcond=None)[0]) if ways else []

    def spanned(*u):
        return base_mp + sum((e * t for e, t in zip(ways_mp, u, strict=True)), mp.matrix([0, 0, 0]))

    return spanned, lambda *u: ways_mp, u


def turned(w):
    """exp [w]."""
    x, y, z = w
    return mp.expm(mp.matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]]))


class ExactDistance:
    """The distance of A, at R and p, from B at the origin, near a pose whose nearest points are known in double."""

    def __init__(self, a, R, p, b, normal, on_a, on_b):
        self.radii = radius(a) + radius(b)
        self.R, self.p = mp.matrix(R.tolist()), vector(p)
        n = np.asarray(normal)
        core_a, core_b = on_a + n * float(radius(a)), on_b - n * float(radius(b))
        self.a, self.slopes_a, u = feature(a, -R.T @ n, R.T @ (core_a - p))
        self.b, self.slopes_b, w = feature(b, n, core_b)
        self.count, self.start = len(u), [mp.mpf(float(e)) for e in (*u, *w)]
        self.sign = 1 if n @ (core_a - core_b) > 0.0 else -1

    def __call__(self, twist=(0,) * 6):
        """The distance after A has moved along a twist [linear; angular] of its own."""
        (a, b, c), (x, y, z) = twist[:3], twist[3:]
        moved = a + (y * c - z * b) / 2, b + (z * a - x * c) / 2, c + (x * b - y * a) / 2  # to second order
        R, p = self.R * turned((x, y, z)), self.p + self.R * mp.matrix([mp.mpf(e) for e in moved])

        def between(*u):
            return R * self.a(*u[: self.count]) + p - self.b(*u[self.count :])

        def conditions(*u):
            x = between(*u)
            ways = [R * e for e in self.slopes_a(*u[: self.count])] + list(self.slopes_b(*u[self.count :]))
            return [(x.T * e)[0] for e in ways]

        u = mp.findroot(conditions, self.start, tol=1e-80, maxsteps=60) if self.start else []
        return self.sign * mp.norm(between(*u)) - self.radii

    def slope(self, k):
        """The derivative along entry k of a twist, by differences: good to some 25 digits."""
        h = mp.mpf(10) ** -15
        step = [h if j == k else mp.mpf(0) for j in range(6)]
        return (self(step) - self([-e for e in step])) / (2 * h)

    def second(self, j, k):
        """The derivative along entries j and k of a twist."""
        total, h = mp.mpf(0), mp.mpf(10) ** -12
        for s, t in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
            step = [s * h * (i == j) + t * h * (i == k) for i in range(6)]
            total += s * t * self(step)
        return total / (4 * h * h)
