"""Exact kinematics, dynamics and their derivatives, from the joints' transforms alone: the oracle of `accuracy.py`.

Nothing of cardan is used but `joint.transform` and `joint.integrate`, on mpmath numbers of 100 digits: no motion
subspace, no bias, no recursion, no automatic differentiation. A body is its 4x4 second moments J = sum m [x; 1][x; 1]^T
(in its joint's child frame, whose pose in the world is X), that is, a cloud of particles, for which Newton's law and
the virtual displacements D_j X = dX(integrate(q, e_j)) give

    M_ij = sum tr(D_i X J D_j X^T)      tau = M a + sum tr(D_j X J (X'' - [0 g])^T)      X'' = d2X/dt2 at a = 0

along integrate(q, v t + a t^2 / 2). All derivatives are central differences, nested where they are of higher order: in
poses with steps of 1e-25 (error 1e-50), in what is made of them with 1e-12 (error 1e-24; by rounding 1e-26).

Source: Uicker (1965) for the dynamics in homogeneous matrices.
"""

import mpmath as mp
import numpy as np

from cardan.joints import Mimic

DIGITS = 100
FINE, COARSE = mp.mpf(2) ** -83, mp.mpf(2) ** -40  # 1e-25 and 1e-12, without rounding


def exact(values):
    """Floats as they are, as a tuple."""
    return tuple(mp.mpf(float(e)) for e in values)


class Matrix(tuple):
    """A small matrix of mpmath numbers, by rows."""

    __slots__ = ()

    def __matmul__(self, other):
        columns = list(zip(*other, strict=True))
        return Matrix([mp.fdot(row, column) for column in columns] for row in self)

    def __add__(self, other):
        return Matrix([a + b for a, b in zip(r, s, strict=True)] for r, s in zip(self, other, strict=True))

    def __sub__(self, other):
        return Matrix([a - b for a, b in zip(r, s, strict=True)] for r, s in zip(self, other, strict=True))

    def __truediv__(self, divisor):
        return Matrix([a / divisor for a in row] for row in self)

    @property
    def T(self):
        return Matrix(zip(*self, strict=True))

    def dot(self, other):
        """tr(A B^T)."""
        return mp.fdot([e for row in self for e in row], [e for row in other for e in row])


def homogeneous(X):
    """A pose of cardan as a 4x4 matrix."""
    rows = [[*row, p] for row, p in zip(X.rotation.rows(), X.translation, strict=True)]
    return Matrix([mp.mpf(e) for e in row] for row in [*rows, (0, 0, 0, 1)])


def inverse(X):
    R, p = Matrix(row[:3] for row in X[:3]).T, [row[3] for row in X[:3]]
    rows = [[*row, -sum(a * b for a, b in zip(row, p, strict=True))] for row in R]
    return Matrix([*rows, X[3]])


def in_own_axes(X, D):
    """R^T of a derivative D of a pose, 3x4."""
    return Matrix(row[:3] for row in X[:3]).T @ Matrix(D[:3])


def vee(W):
    """[linear; angular] of a matrix 3x4 whose left part is skew."""
    return [*(row[3] for row in W), (W[2][1] - W[1][2]) / 2, (W[0][2] - W[2][0]) / 2, (W[1][0] - W[0][1]) / 2]


def difference(f, h=COARSE):
    """f'(0) of a function with a nested list or an array as value."""
    ahead, behind = np.array(f(h), dtype=object), np.array(f(-h), dtype=object)
    return (ahead - behind) / (2 * h)


def columns(parts, rows):
    return np.array(parts, dtype=object).reshape(len(parts), rows).T


def unit(n, j):
    return [mp.mpf(int(i == j)) for i in range(n)]


def times(v, t):
    return [t * e for e in v]


def solved(M, b):
    """M^-1 b."""
    return np.array(list(mp.lu_solve(mp.matrix(M.tolist()), mp.matrix(list(b)))), dtype=object)


def second_moments(inertia):
    """sum m [x; 1][x; 1]^T of a body: its inertia about the origin is tr(A) 1 - A for the upper block A."""
    m, c = mp.mpf(inertia.mass), exact(inertia.com)
    about_com = [exact(row) for row in inertia.inertia_at_com.matrix().rows()]
    half = sum(about_com[i][i] for i in range(3)) / 2
    A = [[half * (i == j) - about_com[i][j] + m * c[i] * c[j] for j in range(3)] for i in range(3)]
    return Matrix([*([*row, m * x] for row, x in zip(A, c, strict=True)), [*(m * x for x in c), m]])


def power(X, D, wrench):
    """The power of a wrench in a frame's own axes, of a pose X that moves with D."""
    return sum(x * f for x, f in zip(vee(in_own_axes(X, D)), wrench, strict=True))


class JointOracle:
    """One joint by itself, in child coordinates; q is a tuple of mpmath numbers."""

    def __init__(self, joint):
        self.joint = joint

    def pose(self, q):
        return homogeneous(self.joint.transform(q))

    def twist(self, q, v):
        ahead, behind = (self.pose(self.joint.integrate(q, times(v, t))) for t in (FINE, -FINE))
        return vee(in_own_axes(self.pose(q), (ahead - behind) / (2 * FINE)))

    def subspace(self, q):
        return columns([self.twist(q, unit(self.joint.nv, j)) for j in range(self.joint.nv)], 6)

    def subspace_rate(self, q, v):
        return difference(lambda t: self.subspace(self.joint.integrate(q, times(v, t))))

    def bias(self, q, v):
        return difference(lambda t: self.twist(self.joint.integrate(q, times(v, t)), v))


class Oracle:
    """The robot of a mechanism that is a tree on the world; q, v, a are tuples of mpmath numbers.

    Args:
        mechanism: the robot.
        nudged: applied to every number of its placements, second moments and armature.
        gravity: of the world.
    """

    def __init__(self, mechanism, nudged=lambda x: x, gravity=(0.0, 0.0, -9.81)):
        self.gravity = Matrix([[mp.mpf(0)] * 3 + [mp.mpf(g)] for g in gravity] + [[mp.mpf(0)] * 4])
        self.links, self.X_node_body, self.armature = [], [], []
        inertias = {b.name: b.inertia for b in mechanism.bodies}
        places, slices = {"world": (-1, Matrix(unit(4, i) for i in range(4)))}, {}
        nq = nv = 0
        for k, c in enumerate(mechanism.joints):
            joint, mimic = c.joint, isinstance(c.joint, Mimic)
            own = slices[joint.primary] if mimic else (range(nq, nq + joint.nq), range(nv, nv + joint.nv))
            if not mimic:
                nq, nv = nq + joint.nq, nv + joint.nv
                self.armature += map(nudged, exact(c.armature))
            parent, X_parent = places[c.parent]
            X = inverse(homogeneous(c.child_pose))
            placement = Matrix([nudged(e) for e in row] for row in X_parent @ homogeneous(c.parent_pose))
            self.links.append((joint, mimic, parent, placement, *own))
            self.X_node_body.append(X)
            places[c.child], slices[c.name] = (k, X), own
        moments = [
            X @ second_moments(inertias[c.child]) @ X.T for X, c in zip(self.X_node_body, mechanism.joints, strict=True)
        ]
        halves = [Matrix([nudged(e) / 2 for e in row] for row in J) for J in moments]
        self.J = [half + half.T for half in halves]
        self.mass = sum(J[3][3] for J in self.J)
        self.nv = nv
        self.forget()

    def forget(self):
        """Forget what was computed."""
        self._transforms, self._poses, self._places, self._efforts = {}, {}, {}, {}

    def integrate(self, q, step):
        moved = list(q)
        for joint, mimic, _, _, iq, iv in self.links:
            if not mimic and any(step[i] for i in iv):
                own = joint.integrate([q[i] for i in iq], [step[i] for i in iv])
                moved[iq.start : iq.stop] = own
        return tuple(moved)

    def poses(self, q):
        """X of every joint's child frame in the world."""
        if q not in self._poses:
            X = self._poses[q] = []
            for k, (joint, _, parent, placement, iq, _) in enumerate(self.links):
                key = k, q[iq.start : iq.stop]
                if key not in self._transforms:
                    self._transforms[key] = placement @ homogeneous(joint.transform(key[1]))
                above = X[parent] if parent >= 0 else None
                key = key, id(above)
                if key not in self._transforms:
                    self._transforms[key] = above @ self._transforms[key[0]] if above else self._transforms[key[0]]
                X.append(self._transforms[key])
        return self._poses[q]

    def rates(self, q, v, a=None):
        """X' and X'' along integrate(q, v t + a t^2 / 2)."""
        a = a or [0] * self.nv
        steps = ([x * t + y * t * t / 2 for x, y in zip(v, a, strict=True)] for t in (FINE, -FINE))
        ahead, behind = (self.poses(self.integrate(q, step)) for step in steps)
        trio = list(zip(ahead, self.poses(q), behind, strict=True))
        return [(x - z) / (2 * FINE) for x, _, z in trio], [((x - y) - (y - z)) / FINE**2 for x, y, z in trio]

    # --- dynamics ---

    def place(self, q):
        """(D_j X for every j, D_j X J, M)."""
        if q not in self._places:
            D = [self.rates(q, unit(self.nv, j))[0] for j in range(self.nv)]
            DJ = [[d @ J for d, J in zip(row, self.J, strict=True)] for row in D]
            M = np.array([[sum(x.dot(y) for x, y in zip(r, s, strict=True)) for s in D] for r in DJ], dtype=object)
            self._places[q] = D, DJ, M + np.diag(np.array(self.armature, dtype=object))
        return self._places[q]

    def mass_matrix(self, q):
        return self.place(q)[2]

    def bias_forces(self, q, v):
        """The efforts at zero acceleration."""
        key = (q, tuple(v))
        if key not in self._efforts:
            _, DJ, _ = self.place(q)
            fall = [X - self.gravity for X in self.rates(q, v)[1]]
            powers = [sum(x.dot(y) for x, y in zip(row, fall, strict=True)) for row in DJ]
            self._efforts[key] = np.array(powers, dtype=object)
        return self._efforts[key]

    def efforts(self, q, v, a, wrenches=None):
        tau = self.mass_matrix(q) @ np.array(a, dtype=object) + self.bias_forces(q, v)
        return tau if wrenches is None else tau - self.work(q, wrenches)

    def work(self, q, wrenches):
        """The efforts of wrenches on the bodies, in the bodies' own frames."""
        places = list(zip(self.poses(q), self.X_node_body, wrenches, strict=True))
        return np.array(
            [sum(power(X @ B, D @ B, f) for (X, B, f), D in zip(places, row, strict=True)) for row in self.place(q)[0]]
        )

    def along_q(self, f, q):
        """The derivative of f(q) along the tangent, nv columns last."""
        units = [unit(self.nv, j) for j in range(self.nv)]
        return np.stack([difference(lambda s, e=e: f(self.integrate(q, times(e, s)))) for e in units], axis=-1)

    def along_v(self, f, v):
        def moved(j, s):
            return tuple(e + s * (i == j) for i, e in enumerate(v))

        return np.stack([difference(lambda s, j=j: f(moved(j, s))) for j in range(self.nv)], axis=-1)

    def along_q_twice(self, f, q, h=COARSE):
        """The Hessian of a number f(q): second differences along geodesics, polarised."""
        n = self.nv

        def bend(i, j):
            u = [mp.mpf((k == i) + (k == j)) for k in range(n)]
            ahead, here, behind = (f(self.integrate(q, times(u, t))) for t in (h, 0, -h))
            return ((ahead - here) - (here - behind)) / h**2

        square = [bend(i, i) / 4 for i in range(n)]
        H = [[(bend(i, j) - square[i] - square[j]) / 2 if i != j else square[i] for j in range(n)] for i in range(n)]
        return np.array(H, dtype=object).reshape(n, n)

    def inverse_dynamics_by_q(self, q, v, a, wrenches=None):
        return self.along_q(lambda moved: self.efforts(moved, v, a, wrenches), q)

    def inverse_dynamics_by_v(self, q, v):
        return self.along_v(lambda moved: self.bias_forces(q, moved), v)

    def second_derivatives(self, q, v, a, u):
        """d(dtau/dq) along u in q, and along u in v."""
        by_q = difference(lambda s: self.inverse_dynamics_by_q(self.integrate(q, times(u, s)), v, a))
        by_v = difference(
            lambda s: self.inverse_dynamics_by_q(q, tuple(x + s * y for x, y in zip(v, u, strict=True)), a)
        )
        return by_q, by_v

    def inverse_dynamics_twice(self, q, v, a, weights):
        """The second derivatives of weights . tau: by q twice, q and v, v twice, q and a."""
        w = np.array(weights, dtype=object)
        by_v = self.along_q(lambda x: w @ self.inverse_dynamics_by_v(x, v), q).T
        by_v_twice = self.along_v(lambda x: w @ self.inverse_dynamics_by_v(q, x), v)
        by_a = self.along_q(lambda x: w @ self.mass_matrix(x), q).T
        return self.along_q_twice(lambda x: w @ self.efforts(x, v, a), q), by_v, by_v_twice, by_a

    def accelerations(self, q, v, tau):
        return solved(self.mass_matrix(q), np.array(tau, dtype=object) - self.bias_forces(q, v))

    def forward_dynamics_twice(self, q, v, tau, weights):
        """The second derivatives of weights . a: by q twice, q and v, v twice, q and tau."""
        w = np.array(weights, dtype=object)

        def by_v(x, y):
            return self.along_v(lambda z: w @ self.accelerations(x, z, tau), y)

        by_q = self.along_q_twice(lambda x: w @ self.accelerations(x, v, tau), q)
        by_tau = self.along_q(lambda x: solved(self.mass_matrix(x), w), q).T
        return by_q, self.along_q(lambda x: by_v(x, v), q).T, self.along_v(lambda y: by_v(q, y), v), by_tau

    def coriolis(self, q, v):
        """(C v, C + C^T): what any Coriolis matrix must have."""
        still = self.bias_forces(q, v) - self.bias_forces(q, [mp.mpf(0)] * self.nv)
        return still, difference(lambda t: self.mass_matrix(self.integrate(q, times(v, t))))

    # --- the last body, in its own axes ---

    def jacobian(self, q):
        X, B = self.poses(q)[-1], self.X_node_body[-1]
        return columns([vee(in_own_axes(X @ B, D[-1] @ B)) for D in self.place(q)[0]], 6)

    def jacobian_rate(self, q, v):
        return difference(lambda t: self.jacobian(self.integrate(q, times(v, t))))

    def velocity(self, q, v):
        X, B = self.poses(q)[-1], self.X_node_body[-1]
        return vee(in_own_axes(X @ B, self.rates(q, v)[0][-1] @ B))

    def acceleration(self, q, v, a):
        X, B = self.poses(q)[-1] @ self.X_node_body[-1], self.X_node_body[-1]
        first, second = (Y[-1] @ B for Y in self.rates(q, v, a))
        turning = Matrix(row[:3] for row in first[:3]).T @ Matrix([row[3]] for row in first[:3])
        spatial = vee(in_own_axes(X, second))
        return [*(x + y[0] for x, y in zip(spatial[:3], turning, strict=True)), *spatial[3:]]

    # --- all bodies ---

    def kinetic_energy(self, q, v):
        rotors = sum(r * x * x for r, x in zip(self.armature, v, strict=True))
        return (sum((D @ J).dot(D) for D, J in zip(self.rates(q, v)[0], self.J, strict=True)) + rotors) / 2

    def potential_energy(self, q):
        return -sum(X.dot(self.gravity @ J) for X, J in zip(self.poses(q), self.J, strict=True))

    def potential_hessian(self, q):
        return self.along_q_twice(self.potential_energy, q, FINE)

    def momentum(self, q, v):
        """[linear; angular about the centre of mass], in world axes."""
        p, L, c = [mp.mpf(0)] * 3, [mp.mpf(0)] * 3, [mp.mpf(0)] * 3
        for X, D, J in zip(self.poses(q), self.rates(q, v)[0], self.J, strict=True):
            XJ = X @ J
            A = XJ @ D.T  # sum m x x'^T
            for k in range(3):
                i, j = (k + 1) % 3, (k + 2) % 3
                p[k] += A[3][k]
                c[k] += XJ[k][3] / self.mass
                L[k] += A[i][j] - A[j][i]
        for k in range(3):
            i, j = (k + 1) % 3, (k + 2) % 3
            L[k] -= c[i] * p[j] - c[j] * p[i]
        return [*p, *L]

    def momentum_rate(self, q, v, a):
        def later(t):
            step = [x * t + y * t * t / 2 for x, y in zip(v, a, strict=True)]
            return self.momentum(self.integrate(q, step), tuple(x + y * t for x, y in zip(v, a, strict=True)))

        return difference(later)
