"""Contacts of many loose bodies by sweeps: block Gauss-Seidel on the impulses, begun with those of the step before.

The law is that of `contact/cone.py`. With A = J M^-1 J^T of one contact and D not less than it, along the normal and
across, a visit replaces its impulse g by the one that minimises the dual with D in place of A:

    g' = projection of  y = (D + R)^-1 (D g - u + v*)  on the cone, in the norm of D + R
    u  = u_0 + J (dt a + M^-1 J^T g),  a without contact;  what both bodies feel of g' - g is added at once

Everything is along the axes of the world, a body's twist at its centre of mass. A sweep visits all contacts of an
island in order. It costs little and moves far in a heap of balls; in a tall stack the load creeps down by one box a
sweep, which is why stacks are solved by a factor.

Source: Jourdan, Alart and Jean, A Gauss-Seidel like algorithm to solve frictional contact problems (1998).
Cost: 130 operations a visit.
"""

from __future__ import annotations

from cardan._compiler.kernels import F64, INT, REAL, TRUTH, kernel, sqrt
from cardan._motion.crowd.tables import Crowd

# pyright: analyzeUnannotatedFunctions=false

# The columns of a contact's row: levers from both centres of mass, normal, u_0, v*, mu, R_n, R_t, w, D_n, D_t, g.
LEVER_A, LEVER_B, NORMAL, FREE = 0, 3, 6, 9
WANTED, FRICTION, R_N, R_T, WEIGHT, D_N, D_T, IMPULSE = 12, 13, 14, 15, 16, 17, 18, 19
TINY = 1e-300


@kernel(R=F64[24], v=F64[3], found=F64[24], at=INT)
def turn(R, v, found, at):
    """found[at:] = R v for the rotation of a node row."""
    for i in range(3):
        found[at + i] = R[3 * i] * v[0] + R[3 * i + 1] * v[1] + R[3 * i + 2] * v[2]


@kernel(node=F64[24], J=F64[6], found=F64[6])
def turn_symmetric(node, J, found):
    """Find R J R^T, all symmetric matrices as xx, xy, xz, yy, yz, zz."""
    m = 0
    for i in range(3):
        a = node[3 * i]
        b = node[3 * i + 1]
        d = node[3 * i + 2]
        x = a * J[0] + b * J[1] + d * J[2]
        y = a * J[1] + b * J[3] + d * J[4]
        z = a * J[2] + b * J[4] + d * J[5]
        for j in range(i, 3):
            found[m] = x * node[3 * j] + y * node[3 * j + 1] + z * node[3 * j + 2]
            m += 1


@kernel(c=Crowd, t=INT)
def begin_body(c, t):
    """Find a body's centre of mass and inverse inertia along the world's axes, and its change without contact."""
    node = c.node[c.tree_node[t]]
    for i in range(3):
        own = node[3 * i] * c.tree_com[t, 0] + node[3 * i + 1] * c.tree_com[t, 1] + node[3 * i + 2] * c.tree_com[t, 2]
        c.body_centre[t, i] = node[9 + i] + own
    turn_symmetric(node, c.tree_inverse[t], c.body_inverse[t])
    b = c.tree_first[t]
    u = c.free[b, 3]
    v = c.free[b, 4]
    w = c.free[b, 5]
    x = c.free[b, 0] + v * c.tree_com[t, 2] - w * c.tree_com[t, 1]
    y = c.free[b, 1] + w * c.tree_com[t, 0] - u * c.tree_com[t, 2]
    z = c.free[b, 2] + u * c.tree_com[t, 1] - v * c.tree_com[t, 0]
    for i in range(3):
        c.body_change[t, i] = c.dt * (node[3 * i] * x + node[3 * i + 1] * y + node[3 * i + 2] * z)
        c.body_change[t, 3 + i] = c.dt * (node[3 * i] * u + node[3 * i + 1] * v + node[3 * i + 2] * w)


@kernel(c=Crowd, row=F64[24], t=INT, lever=INT, sign=REAL, dx=REAL, dy=REAL, dz=REAL)
def push(c, row, t, lever, sign, dx, dy, dz):
    """Change a body's velocity by an impulse at a lever."""
    m = sign * c.tree_inverse_mass[t]
    c.body_change[t, 0] += m * dx
    c.body_change[t, 1] += m * dy
    c.body_change[t, 2] += m * dz
    x = sign * (row[lever + 1] * dz - row[lever + 2] * dy)
    y = sign * (row[lever + 2] * dx - row[lever] * dz)
    z = sign * (row[lever] * dy - row[lever + 1] * dx)
    J = c.body_inverse[t]
    c.body_change[t, 3] += J[0] * x + J[1] * y + J[2] * z
    c.body_change[t, 4] += J[1] * x + J[3] * y + J[4] * z
    c.body_change[t, 5] += J[2] * x + J[4] * y + J[5] * z


@kernel(c=Crowd, row=F64[24], t=INT, lever=INT, x=REAL, y=REAL, z=REAL, returns=(REAL, REAL, REAL))
def answer_of(c, row, t, lever, x, y, z):
    """Return the velocity at a lever that an impulse there makes: A (x, y, z)."""
    m = c.tree_inverse_mass[t]
    u = row[lever + 1] * z - row[lever + 2] * y
    v = row[lever + 2] * x - row[lever] * z
    w = row[lever] * y - row[lever + 1] * x
    J = c.body_inverse[t]
    a = J[0] * u + J[1] * v + J[2] * w
    b = J[1] * u + J[3] * v + J[4] * w
    d = J[2] * u + J[4] * v + J[5] * w
    return (
        m * x + b * row[lever + 2] - d * row[lever + 1],
        m * y + d * row[lever] - a * row[lever + 2],
        m * z + a * row[lever + 1] - b * row[lever],
    )


@kernel(c=Crowd, row=F64[24], a=INT, b=INT, x=REAL, y=REAL, z=REAL, returns=(REAL, REAL, REAL))
def felt(c, row, a, b, x, y, z):
    """Return the relative velocity of two bodies, of which the second may be the world, that an impulse makes."""
    u, v, w = answer_of(c, row, a, LEVER_A, x, y, z)
    if b >= 0:
        p, q, r = answer_of(c, row, b, LEVER_B, x, y, z)
        u += p
        v += q
        w += r
    return u, v, w


@kernel(c=Crowd, row=F64[24], a=INT, b=INT)
def bound_answer(c, row, a, b):
    """Find D: along the normal and across, not less than A in any direction."""
    x = row[NORMAL]
    y = row[NORMAL + 1]
    z = row[NORMAL + 2]
    s = 1.0 if z >= 0.0 else -1.0  # two directions across: Duff et al., Building an orthonormal basis, revisited (2017)
    k = -1.0 / (s + z)
    m = x * y * k
    tx = 1.0 + s * x * x * k
    ty = s * m
    tz = -s * x
    px = m
    py = s + y * y * k
    pz = -y
    u, v, w = felt(c, row, a, b, x, y, z)
    nn = abs(x * u + y * v + z * w)
    nt = abs(tx * u + ty * v + tz * w)
    n_p = abs(px * u + py * v + pz * w)
    u, v, w = felt(c, row, a, b, tx, ty, tz)
    tt = abs(tx * u + ty * v + tz * w)
    tp = abs(px * u + py * v + pz * w)
    u, v, w = felt(c, row, a, b, px, py, pz)
    pp = abs(px * u + py * v + pz * w)
    row[D_N] = nn + nt + n_p
    row[D_T] = max(tt + tp + nt, pp + tp + n_p)


@kernel(c=Crowd, n=INT)
def begin_patch(c, n):
    """Fill the rows of the contacts of a patch, and apply the impulses to begin with."""
    p = c.patch_order[n]
    node = c.node[c.shape_node[c.found_shapes[p, 0]]]
    a = c.patch_trees[n, 0]
    b = c.patch_trees[n, 1]
    for m in range(c.patch_count[n]):
        k = c.patch_first[n] + m
        row = c.sweep[k]
        turn(node, c.row_point[k], row, LEVER_A)
        turn(node, c.row_normal[k], row, NORMAL)
        for e in range(3):
            row[LEVER_A + e] += node[9 + e]
            row[LEVER_B + e] = row[LEVER_A + e] - c.body_centre[b, e] if b >= 0 else 0.0
            row[LEVER_A + e] -= c.body_centre[a, e]
            row[FREE + e] = (
                node[3 * e] * c.ahead[3 * k]
                + node[3 * e + 1] * c.ahead[3 * k + 1]
                + node[3 * e + 2] * c.ahead[3 * k + 2]
            )
        row[FRICTION] = c.law[k, 6]
        row[WEIGHT] = c.law[k, 7]
        row[R_N] = c.law[k, 8]
        row[R_T] = c.law[k, 9]
        row[WANTED] = c.law[k, 10]
        bound_answer(c, row, a, b)
        x = c.found_impulse[c.found_first[p] + m, 0]
        y = c.found_impulse[c.found_first[p] + m, 1]
        z = c.found_impulse[c.found_first[p] + m, 2]
        row[IMPULSE] = x
        row[IMPULSE + 1] = y
        row[IMPULSE + 2] = z
        push(c, row, a, LEVER_A, 1.0, x, y, z)
        if b >= 0:
            push(c, row, b, LEVER_B, -1.0, x, y, z)


@kernel(c=Crowd, row=F64[24], a=INT, b=INT, returns=REAL)
def visit(c, row, a, b):
    """Replace the impulse of a contact; return the square of by how much its velocity was wrong [m^2/s^2]."""
    V = c.body_change[a]
    u = row[FREE] + V[0] + V[4] * row[LEVER_A + 2] - V[5] * row[LEVER_A + 1]
    v = row[FREE + 1] + V[1] + V[5] * row[LEVER_A] - V[3] * row[LEVER_A + 2]
    w = row[FREE + 2] + V[2] + V[3] * row[LEVER_A + 1] - V[4] * row[LEVER_A]
    if b >= 0:
        U = c.body_change[b]
        u -= U[0] + U[4] * row[LEVER_B + 2] - U[5] * row[LEVER_B + 1]
        v -= U[1] + U[5] * row[LEVER_B] - U[3] * row[LEVER_B + 2]
        w -= U[2] + U[3] * row[LEVER_B + 1] - U[4] * row[LEVER_B]
    x = row[NORMAL]
    y = row[NORMAL + 1]
    z = row[NORMAL + 2]
    D_n = row[D_N]
    D_t = row[D_T]
    E_n = D_n + row[R_N]
    E_t = D_t + row[R_T]
    u_n = x * u + y * v + z * w
    g_n = x * row[IMPULSE] + y * row[IMPULSE + 1] + z * row[IMPULSE + 2]
    y_n = (D_n * g_n - u_n + row[WANTED]) / E_n
    yx = (D_t * (row[IMPULSE] - x * g_n) - (u - x * u_n)) / E_t
    yy = (D_t * (row[IMPULSE + 1] - y * g_n) - (v - y * u_n)) / E_t
    yz = (D_t * (row[IMPULSE + 2] - z * g_n) - (w - z * u_n)) / E_t
    size = sqrt(yx * yx + yy * yy + yz * yz)
    mu = row[FRICTION]
    share = 1.0
    if size > mu * y_n:
        m = mu * E_t / E_n
        y_n = max((y_n + m * size) / (1.0 + mu * m), 0.0)
        share = mu * y_n / (size + TINY)
    dx = x * y_n + share * yx - row[IMPULSE]
    dy = y * y_n + share * yy - row[IMPULSE + 1]
    dz = z * y_n + share * yz - row[IMPULSE + 2]
    row[IMPULSE] += dx
    row[IMPULSE + 1] += dy
    row[IMPULSE + 2] += dz
    push(c, row, a, LEVER_A, 1.0, dx, dy, dz)
    if b >= 0:
        push(c, row, b, LEVER_B, -1.0, dx, dy, dz)
    return (dx * dx + dy * dy + dz * dz) * row[WEIGHT] * row[WEIGHT]


@kernel(c=Crowd, i=INT, returns=REAL)
def sweep_once(c, i):
    """Visit all contacts of an island; return the square of the largest error."""
    worst = 0.0
    for n in range(c.island_patches[i], c.island_patches[i + 1]):
        for k in range(c.patch_first[n], c.patch_first[n] + c.patch_count[n]):
            error = visit(c, c.sweep[k], c.patch_trees[n, 0], c.patch_trees[n, 1])
            worst = error if error > worst or error != error else worst
    return worst


@kernel(c=Crowd, t=INT)
def accelerate_body(c, t):
    """Find a body's acceleration, in its own axes at its origin."""
    node = c.node[c.tree_node[t]]
    V = c.body_change[t]
    u = node[0] * V[3] + node[3] * V[4] + node[6] * V[5]
    v = node[1] * V[3] + node[4] * V[4] + node[7] * V[5]
    w = node[2] * V[3] + node[5] * V[4] + node[8] * V[5]
    x = node[0] * V[0] + node[3] * V[1] + node[6] * V[2] - (v * c.tree_com[t, 2] - w * c.tree_com[t, 1])
    y = node[1] * V[0] + node[4] * V[1] + node[7] * V[2] - (w * c.tree_com[t, 0] - u * c.tree_com[t, 2])
    z = node[2] * V[0] + node[5] * V[1] + node[8] * V[2] - (u * c.tree_com[t, 1] - v * c.tree_com[t, 0])
    rate = 1.0 / c.dt
    b = c.tree_first[t]
    c.change[b, 0] = rate * x
    c.change[b, 1] = rate * y
    c.change[b, 2] = rate * z
    c.change[b, 3] = rate * u
    c.change[b, 4] = rate * v
    c.change[b, 5] = rate * w
    c.change[b, 6] = 0.0
    c.change[b, 7] = 0.0


@kernel(c=Crowd, i=INT)
def begin_sweeps(c, i):
    """Fill the rows of an island's contacts, with the impulses of the step before."""
    for m in range(c.island_trees[i], c.island_trees[i + 1]):
        begin_body(c, c.members[m])
    for n in range(c.island_patches[i], c.island_patches[i + 1]):
        begin_patch(c, n)


@kernel(c=Crowd, i=INT, most=INT, tolerance=REAL, returns=TRUTH)
def sweep_island(c, i, most, tolerance):
    """Sweep until velocities are right to a tolerance [m/s], or so often in all; return whether they are."""
    while c.island_count[i] < most:
        worst = sweep_once(c, i)
        c.island_residual[i] = sqrt(worst)
        c.island_count[i] += 1
        if worst <= tolerance * tolerance:
            return True
    return c.island_count[i] > 0 and c.island_residual[i] <= tolerance


@kernel(c=Crowd, i=INT)
def keep_sweep(c, i):
    """Note the impulses of an island."""
    for n in range(c.island_patches[i], c.island_patches[i + 1]):
        p = c.patch_order[n]
        for m in range(c.patch_count[n]):
            for e in range(3):
                c.found_impulse[c.found_first[p] + m, e] = c.sweep[c.patch_first[n] + m, IMPULSE + e]
