"""Mechanisms with closed loops for the tests: redundant, overconstrained, three-dimensional."""

import dataclasses

import numpy as np

import cardan
from cardan.joints import Prismatic, Revolute, Spherical, Universal
from cardan.spatial import SE3
from cardan.spatial.rotations import matrix_from_zyx, rotation_about_axis
from mechanisms import random_inertia, random_pose


@dataclasses.dataclass(frozen=True)
class WattSlider(cardan.Joint):
    """The coupler of Watt's linkage, whose middle goes almost straight along z. q: angle of the left arm [rad].

    Two arms turn about pivots at x = -arm and x = arm; the coupler joins their ends. Beyond 0.5 rad or so it cannot be
    closed: there the transform is no number. Nothing says so here; `WattWithin` does.
    """

    arm: float = 0.4
    half: float = 0.06
    manifold = cardan.manifolds.Euclidean(1)

    def transform(self, q):
        r, h = self.arm, self.half
        x, z = -r + r * cardan.cos(q[0]), h + r * cardan.sin(q[0])  # end of the left arm
        dx, dz = r - x, -h - z  # from there to the right pivot
        square = dx * dx + dz * dz
        along = (square + 4.0 * h * h - r * r) / (2.0 * square)
        across = cardan.sqrt(4.0 * h * h / square - along * along)
        end = (x + along * dx + across * dz, z + along * dz - across * dx)  # of the right arm
        up = ((x - end[0]) / (2.0 * h), (z - end[1]) / (2.0 * h))
        R = [[up[1], 0.0, up[0]], [0.0, 1.0, 0.0], [-up[0], 0.0, up[1]]]
        return SE3(R, (0.5 * (x + end[0]), 0.0, 0.5 * (z + end[1])))


class WattWithin(WattSlider):
    """The same, which says where it can be closed."""

    domain = cardan.Limits([-0.3], [0.3])


def inertia(seed, size=0.1, mass=1.0):
    """A random asymmetric inertia of a body of about this size."""
    base = random_inertia(np.random.default_rng(seed))
    return cardan.Inertia(
        mass * base.mass, size * np.array(base.com), size**2 * np.array(base.inertia_at_com.matrix().rows())
    )


def pose(x=0.0, y=0.0, z=0.0, *, zyx=(0.0, 0.0, 0.0)):
    return SE3(matrix_from_zyx(zyx), (x, y, z))


def bennett(a=0.3, alpha=0.9, b=0.5):
    """Bennett's linkage: four hinges in space, opposite sides alike, a / sin(alpha) = b / sin(beta).

    It moves though its constraints outnumber its freedoms. Closed where tan(q1 / 2) tan(q2 / 2) fits; `assemble`.
    """
    beta = np.arcsin(b * np.sin(alpha) / a) if b * np.sin(alpha) <= a else np.arcsin(a * np.sin(alpha) / b)
    sides = ((a, alpha), (b, beta)) * 2 if b * np.sin(alpha) <= a else ((b, alpha), (a, beta)) * 2
    m = cardan.Mechanism("bennett")
    for k in range(3):
        m.add_body(f"link{k}", inertia(k, 0.3))
    bodies = ("world", "link0", "link1", "link2", "world")
    steps = [pose(length) @ SE3(rotation_about_axis((1.0, 0.0, 0.0), twist)) for length, twist in sides]
    for k in range(4):
        ahead = steps[k - 1] if k else SE3.identity()
        if k == 3:
            m.add_joint("hinge3", Revolute((0, 0, 1)), "link2", "world", ahead, steps[3].inverse())
        else:
            m.add_joint(f"hinge{k}", Revolute((0, 0, 1)), bodies[k], bodies[k + 1], ahead)
    return m


def parallelogram(rods=3, tilt=(0.0, 0.0, 0.0)):
    """A bar on parallel cranks, one of them more than needed: redundant in the plane, too."""
    m = cardan.Mechanism("parallelogram")
    m.add_body("bar", inertia(9, 0.4, 2.0))
    world = SE3(matrix_from_zyx(tilt))
    axis = Revolute((0, 1, 0))
    for k in range(rods):
        x = 0.3 * k
        m.add_body(f"crank{k}", inertia(k, 0.2))
        m.add_joint(f"low{k}", axis, "world", f"crank{k}", world @ pose(x, zyx=(0.0, 0.5, 0.0)))
        m.add_joint(f"high{k}", axis, f"crank{k}", "bar", pose(0.0, 0.0, 0.4, zyx=(0.0, -0.5, 0.0)), pose(x))
    return m


def leg():
    """A leg like Cassie's: hip and knee driven, shin and tarsus held by rods on ball joints, two loops in space."""
    m = cardan.Mechanism("leg")
    for k, name in enumerate(("pelvis", "thigh", "shin", "tarsus", "rod", "drive", "push")):
        m.add_body(name, inertia(k, 0.2))
    y, x = Revolute((0, 1, 0)), Revolute((1, 0, 0))
    m.add_body("hip", inertia(8, 0.1))
    m.add_joint("roll", x, "pelvis", "hip", pose(0.0, 0.1, 0.0))
    m.add_joint("pitch", y, "hip", "thigh", pose(0.0, 0.02, -0.05))
    m.add_joint("knee", y, "thigh", "shin", pose(0.1, 0.0, -0.4), child_pose=None)
    m.add_joint("ankle", y, "shin", "tarsus", pose(-0.05, 0.0, -0.4))
    # the achilles rod: thigh to tarsus, a universal joint and a ball joint
    m.add_joint("rod_top", Universal(), "thigh", "rod", pose(-0.05, 0.03, -0.05))
    m.add_joint("rod_end", Spherical(), "rod", "tarsus", pose(0.0, 0.0, -0.75), pose(-0.1, 0.02, 0.05))
    # the drive: a crank on the shin pushes the tarsus through a second rod
    m.add_joint("crank", y, "shin", "drive", pose(0.02, -0.03, -0.1))
    m.add_joint("push_top", Universal(), "drive", "push", pose(0.06, 0.0, 0.0))
    m.add_joint("push_end", Spherical(), "push", "tarsus", pose(0.0, 0.0, -0.3), pose(0.02, -0.03, -0.02))
    return m


def spherical_four_bar():
    """Four hinges whose axes meet in one point, where the closing joint is: no force there is determined by motion."""
    m = cardan.Mechanism("spherical_four_bar")
    arcs = (1.2, 0.5, 1.0)
    axes = [SE3(rotation_about_axis((1.0, 0.0, 0.0), arc)) for arc in arcs]
    m.add_body("a", inertia(1, 0.3))
    m.add_body("b", inertia(2, 0.3))
    m.add_body("c", inertia(3, 0.3))
    tilt = pose(0.3, -0.2, 0.5, zyx=(0.3, 0.7, -0.4))
    z = Revolute((0, 0, 1))
    m.add_joint("first", z, "world", "a", tilt)
    m.add_joint("second", z, "a", "b", axes[1])
    m.add_joint("third", z, "b", "c", axes[2])
    m.add_joint("fourth", z, "world", "c", tilt @ axes[0], SE3(rotation_about_axis((1.0, 0.0, 0.0), 0.9)))
    return m


def slides():
    """Three slides that close a triangle without any turning."""
    m = cardan.Mechanism("slides")
    m.add_body("a", inertia(1, 0.3))
    m.add_body("b", inertia(2, 0.3))
    m.add_joint("first", Prismatic((1, 0.2, 0)), "world", "a", pose(0.1, 0.2, 0.3))
    m.add_joint("second", Prismatic((0.3, 1, 0)), "a", "b")
    m.add_joint("third", Prismatic((1, 1, 0)), "world", "b", pose(0.1, 0.2, 0.3))
    return m


def tilted(mechanism, seed=0):
    """The same mechanism in frames turned as CAD programs leave them: no axis is along a coordinate axis."""
    rng = np.random.default_rng(seed)
    turns = {b.name: random_pose(rng) if b.inertia is not None else SE3.identity() for b in mechanism.bodies}
    turns |= {"world": SE3.identity()}
    m = cardan.Mechanism(mechanism.name)
    for b in mechanism.bodies:
        m.add_body(b.name, b.inertia and turns[b.name] @ b.inertia)
    for c in mechanism.joints:
        own = SE3(random_pose(rng).rotation)
        turned = c.joint
        if isinstance(c.joint, (Revolute, Prismatic)):
            turned = type(c.joint)(tuple(own.rotation.transpose_apply(c.joint.axis)))
        else:
            own = SE3.identity()
        poses = (pose or SE3.identity() for pose in (c.parent_pose, c.child_pose))
        parent, child = (turns[body] @ pose @ own for body, pose in zip((c.parent, c.child), poses, strict=True))
        m.add_joint(c.name, turned, c.parent, c.child, parent, child)
    return m


def scaled(mechanism, scale):
    """The same bodies, as many times as far apart."""

    def larger(pose):
        return SE3(pose.rotation, [scale * e for e in pose.translation])

    m = cardan.Mechanism("scaled")
    for b in mechanism.bodies:
        m.add_body(b.name, b.inertia)
    for c in mechanism.joints:
        poses = (larger(pose or SE3.identity()) for pose in (c.parent_pose, c.child_pose))
        m.add_joint(c.name, c.joint, c.parent, c.child, *poses)
    return m


def four_bar_too_far_apart(between):
    """The four-bar that ships, of 0.85 m, with so many metres between its pivots: nothing closes it."""
    whole, m = cardan.robots.four_bar(), cardan.Mechanism("far")
    for b in whole.bodies:
        m.add_body(b.name, b.inertia)
    for c in whole.joints:
        at = pose(between) if c.name == "rocker_joint" else c.parent_pose
        m.add_joint(c.name, c.joint, c.parent, c.child, at, c.child_pose)
    return m


def slider_crank_of_bars(crank=0.15, rod=0.4, angle=0.8):
    """A crank turns, a rod pushes a slider along x; in the xz plane, closed at q = 0."""
    m = cardan.Mechanism("slider_crank")
    m.add_body("base")
    for name, length in (("crank", crank), ("rod", rod)):
        m.add_body(name, cardan.Inertia(2.0 * length, (length / 2, 0, 0), np.diag([1e-4, *[length**3 / 6] * 2])))
    m.add_body("slider", cardan.Inertia(0.5, (0.0, 0.0, 0.0), np.diag([1e-3] * 3)))
    y = Revolute((0, -1, 0))
    end = (crank * np.cos(angle), crank * np.sin(angle))
    lean = np.arcsin(end[1] / rod)  # of the rod, downwards
    m.add_joint("crank_joint", y, "base", "crank", pose(zyx=(0.0, -angle, 0.0)))
    m.add_joint("rod_joint", y, "crank", "rod", pose(crank, zyx=(0.0, angle + lean, 0.0)))
    m.add_joint("slide", Prismatic((1, 0, 0)), "base", "slider", pose(end[0] + rod * np.cos(lean)))
    m.add_joint("pin", y, "rod", "slider", pose(rod, zyx=(0.0, -lean, 0.0)))
    return m


def add_ankle(m, shank, foot, prefix="", height=0.25, at=(0.0, 0.0, 0.0)):
    """Two cranks on a shank, rods from them to both sides of a heel that a universal joint holds."""
    for side, y in (("left", 0.04), ("right", -0.04)):
        name, length = f"{prefix}{side}", height + 0.02
        m.add_body(f"{name}_crank", cardan.Inertia(0.1, (-0.025, 0, 0), np.diag([3e-6, 2e-5, 2e-5])))
        m.add_body(f"{name}_rod", cardan.Inertia(0.15, (0, 0, -length / 2), np.diag([9e-4, 9e-4, 2e-6])))
        pivot = pose(at[0], at[1] + y, at[2] + height)
        m.add_joint(f"{name}_motor", Revolute((0, 1, 0)), shank, f"{name}_crank", pivot)
        m.add_joint(f"{name}_top", Universal(), f"{name}_crank", f"{name}_rod", pose(-0.05))
        m.add_joint(f"{name}_ball", Spherical(), f"{name}_rod", foot, pose(0.0, 0.0, -length), pose(-0.05, y, -0.02))


def parallel_ankle():
    """A foot on a universal joint, held by two cranks and rods on the shank, as humanoids have it."""
    m = cardan.Mechanism("ankle")
    m.add_body("shank")
    m.add_body("foot", cardan.Inertia(1.0, (0.03, 0.0, -0.04), np.diag([2e-3, 4e-3, 4e-3])))
    m.add_joint("ankle", Universal(), "shank", "foot")
    add_ankle(m, "shank", "foot")
    return m


def leg_with_ankle():
    """Hip of three hinges, a knee, and a parallel ankle."""
    m = cardan.Mechanism("leg_with_ankle")
    m.add_body("pelvis", cardan.Inertia(5.0, (0.0, 0.0, 0.1), np.diag([0.06, 0.05, 0.04])))  # felt where it floats
    above = "pelvis"
    for name, axis, z in (
        ("yaw", (0, 0, 1), 0),
        ("roll", (1, 0, 0), 0),
        ("hip", (0, 1, 0), 0),
        ("knee", (0, 1, 0), -0.4),
    ):
        long = name in ("hip", "knee")
        m.add_body(
            f"{name}_link", cardan.Inertia(2.0 if long else 0.5, (0, 0, -0.2 * long), np.diag([0.03, 0.03, 0.01]))
        )
        m.add_joint(name, Revolute(axis), above, f"{name}_link", pose(0.0, 0.0, z))
        above = f"{name}_link"
    m.add_body("foot", cardan.Inertia(1.0, (0.03, 0.0, -0.04), np.diag([2e-3, 4e-3, 4e-3])))
    m.add_body("shank")
    m.add_joint("weld", cardan.joints.Fixed(), above, "shank", pose(0.0, 0.0, -0.4))
    m.add_joint("ankle", Universal(), "shank", "foot")
    add_ankle(m, "shank", "foot")
    return m


def scissor(count):
    """A chain of four-bars, each on the rocker of the one before."""
    source = cardan.robots.four_bar()
    m = cardan.Mechanism(f"scissor{count}")
    m.add_body("base")
    above = "base"
    for k in range(count):
        at = pose(0.3, zyx=(0.0, -0.3, 0.0)) if k else SE3.identity()
        names = {"base": above} | {b.name: f"{b.name}{k}" for b in source.bodies if b.name != "base"}
        for b in source.bodies:
            if b.name != "base":
                m.add_body(names[b.name], b.inertia)
        for c in source.joints:
            parent = at @ c.parent_pose if c.parent == "base" else c.parent_pose
            m.add_joint(f"{c.name}{k}", c.joint, names[c.parent], names[c.child], parent, c.child_pose)
        above = names["rocker"]
    return m


def humanoid_with_ankles():
    """The humanoid that ships, its ankles turned by motors on the shanks through cranks and rods."""
    m = cardan.robots.humanoid().copy()
    for side in ("left", "right"):
        joints = [c for c in m.joints if side in c.name and "ankle" in c.name]
        add_ankle(m, joints[0].parent, joints[-1].child, f"{side}_", at=tuple(joints[0].parent_pose.translation))
    return m


HINGE = Revolute((0, 1, 0))


def planar(points, links, joints):
    """Bars in the xz plane, by their points: each has its frame at its first one, with the axes of the world."""
    m = cardan.Mechanism("planar")
    m.add_body("base")
    origins = {"base": (0.0, 0.0)} | {name: points[own[0]] for name, own in links.items()}
    for k, (name, own) in enumerate(links.items()):
        ends = np.array([np.subtract(points[p], origins[name]) for p in own])
        x, z = ends.mean(axis=0)
        size = np.linalg.norm(ends, axis=1).max()
        m.add_body(name, cardan.Inertia(0.5 + 0.1 * k, (x, 0.0, z), np.diag(0.1 * size**2 * np.array([1.0, 1.1, 0.9]))))
    for name, parent, child, p in joints:
        ends = (np.subtract(points[p], origins[body]) for body in (parent, child))
        m.add_joint(name, HINGE, parent, child, *(pose(x, 0.0, z) for x, z in ends))
    return m


def meeting(a, length_a, b, length_b, side=1.0):
    """Where bars of two lengths from two points meet, on the left of the way from a to b or on the right."""
    a, b = np.array(a), np.array(b)
    d = np.linalg.norm(b - a)
    along = (length_a**2 - length_b**2 + d**2) / (2.0 * d)
    x, z = (b - a) / d
    return tuple(a + along * np.array([x, z]) + side * np.sqrt(length_a**2 - along**2) * np.array([-z, x]))


def watt():
    """Watt's six-bar linkage: a second loop on the coupler and the rocker of a four-bar."""
    points = {"O": (0.0, 0.0), "C": (0.7, 0.0), "A": (0.1, 0.25)}
    points["B"] = meeting(points["A"], 0.6, points["C"], 0.4)
    points["E"], points["F"] = (0.3, 0.7), tuple(np.add(points["B"], (0.3, 0.1)))
    points["D"] = meeting(points["E"], 0.5, points["F"], 0.45)
    links = {"crank": "OA", "coupler": "ABE", "rocker": "CBF", "up": "ED", "right": "FD"}
    tree = [("crank_joint", "base", "crank", "O"), ("coupler_joint", "crank", "coupler", "A")]
    tree += [("rocker_joint", "base", "rocker", "C"), ("up_joint", "coupler", "up", "E")]
    tree += [("right_joint", "rocker", "right", "F")]
    return planar(points, links, [*tree, ("low", "coupler", "rocker", "B"), ("high", "up", "right", "D")])


def peaucellier():
    """Peaucellier's linkage: as the crank turns, the far corner Q of a rhombus goes along a straight line, x = 1.07."""
    points = {"O": (0.0, 0.0), "C": (0.35, 0.0), "P": (0.35 + 0.35 * np.cos(0.7), 0.35 * np.sin(0.7))}
    points |= {name: meeting(points["O"], 1.0, points["P"], 0.5, side) for name, side in (("A", 1.0), ("B", -1.0))}
    points["Q"] = tuple(np.add(points["A"], points["B"]) - points["P"])
    links = {"left": "OA", "right": "OB", "crank": "CP", "AP": "AP", "BP": "BP", "AQ": "AQ", "BQ": "BQ"}
    tree = [("left_joint", "base", "left", "O"), ("right_joint", "base", "right", "O")]
    tree += [("crank_joint", "base", "crank", "C")]
    tree += [(f"{bar}_joint", "left" if bar[0] == "A" else "right", bar, bar[0]) for bar in ("AP", "BP", "AQ", "BQ")]
    return planar(
        points, links, [*tree, ("P1", "crank", "AP", "P"), ("P2", "crank", "BP", "P"), ("Q", "AQ", "BQ", "Q")]
    )


def delta(arm=0.3, rod=0.7, angle=0.4):
    """A delta robot: a plate on three pairs of rods, which three arms move; closed at q = 0."""
    m = cardan.Mechanism("delta")
    m.add_body("base")
    m.add_body("plate", cardan.Inertia(0.5, (0.0, 0.0, 0.0), np.diag([1e-3, 1e-3, 2e-3])))
    lean = np.arcsin((0.15 + arm * np.cos(angle)) / rod)  # of the rods, inwards
    for k in range(3):
        side = pose(zyx=(2.0 * np.pi * k / 3.0, 0.0, 0.0))
        m.add_body(f"arm{k}", cardan.Inertia(0.4, (arm / 2.0, 0.0, 0.0), np.diag([1e-4, 3e-3, 3e-3])))
        m.add_joint(f"motor{k}", HINGE, "base", f"arm{k}", side @ pose(0.2, zyx=(0.0, angle, 0.0)))
        for y in (-0.04, 0.04):
            name = f"rod{k}_{'left' if y < 0.0 else 'right'}"
            m.add_body(name, cardan.Inertia(0.1, (0.0, 0.0, -rod / 2.0), np.diag([4e-3, 4e-3, 1e-5])))
            m.add_joint(f"{name}_top", Universal(), f"arm{k}", name, pose(arm, y, zyx=(0.0, lean - angle, 0.0)))
            turned = pose(0.0, 0.0, -rod, zyx=(0.0, -lean, 0.0))
            m.add_joint(f"{name}_end", Spherical(), name, "plate", turned, side @ pose(0.05, y))
    return m


def excavator():
    """An arm on a turntable: boom, stick and bucket, each moved by a cylinder, the bucket by a rocker and a link.

    In the xz plane at q = 0, where it is closed.
    """
    points = {"P": (0.2, 0.1), "C1": (0.6, -0.2), "D1": (1.3, 1.2), "E": (2.2, 1.6), "C2": (1.1, 1.4), "F": (1.9, 2.0)}
    points |= {"G": (2.9, 0.2), "H": (2.72, 0.55), "K": (3.0, 0.75), "L": (3.15, 0.35), "C3": (2.3, 1.75)}
    origin = {"house": (0.0, 0.0)}
    m = cardan.Mechanism("excavator")

    def at(body, p):
        x, z = np.subtract(points[p], origin[body])
        return pose(x, 0.0, z)

    def add(name, first, ends, mass):
        origin[name] = points[first]
        x, z = np.mean([np.subtract(points[p], points[first]) for p in (first, *ends)], axis=0)
        m.add_body(name, cardan.Inertia(mass, (x, 0.0, z), 0.1 * mass * np.diag([1.0, 1.1, 0.9])))

    m.add_body("house", inertia(0, 1.0, 3.0))
    m.add_joint("swing", Revolute((0, 0, 1)), "world", "house")
    links = [("boom", "P", "D1E", "house"), ("stick", "E", "FG", "boom"), ("bucket", "G", "L", "stick")]
    for k, (name, first, ends, above) in enumerate(
        [*links, ("rocker", "H", "K", "stick"), ("link", "K", "L", "rocker")]
    ):
        add(name, first, [e for e in ("D1", "E", "F", "G", "K", "L") if e in ends], (3.0, 2.0, 1.5, 0.3, 0.2)[k])
        m.add_joint(f"{name}_pin", HINGE, above, name, at(above, first))
    for k, (above, start, end, moved) in enumerate(
        [("house", "C1", "D1", "boom"), ("boom", "C2", "F", "stick"), ("stick", "C3", "K", "rocker")], start=1
    ):
        x, z = np.subtract(points[end], points[start]) / np.linalg.norm(np.subtract(points[end], points[start]))
        add(f"barrel{k}", start, [], 0.4)
        add(f"rod{k}", start, [end], 0.2)
        m.add_joint(f"barrel{k}_pin", HINGE, above, f"barrel{k}", at(above, start))
        m.add_joint(f"cylinder{k}", Prismatic((x, 0.0, z)), f"barrel{k}", f"rod{k}")
        m.add_joint(f"rod{k}_pin", HINGE, f"rod{k}", moved, at(f"rod{k}", end), at(moved, end))
    m.add_joint("link_end", HINGE, "link", "bucket", at("link", "L"), at("bucket", "L"))
    return m


def humanoid_with_rods():
    """The humanoid with its ankles, and knees that motors in the thighs turn by cranks and rods."""
    m = humanoid_with_ankles()
    for side in ("left", "right"):
        for name, length in ((f"{side}_knee_crank", 0.05), (f"{side}_knee_rod", 0.38)):
            m.add_body(name, cardan.Inertia(0.2, (0, 0, -length / 2), np.diag([1e-3, 1e-3, 1e-5])))
        thigh, shank, crank, rod = (f"{side}_{name}" for name in ("thigh", "shank", "knee_crank", "knee_rod"))
        m.add_joint(f"{crank}_motor", Revolute((0, 1, 0)), thigh, crank, pose(0.0, 0.0, 0.0))
        m.add_joint(f"{rod}_top", Universal(), crank, rod, pose(-0.05))
        m.add_joint(f"{rod}_ball", Spherical(), rod, shank, pose(0.0, 0.0, -0.38), pose(-0.05))
    return m


def hand(free=False):
    """A palm on a wrist with four fingers: tendons bend the middle and the last phalanx of each with its knuckle."""
    m = cardan.Mechanism("hand")
    m.add_body("palm", inertia(0, 0.08))
    m.add_joint("wrist", Revolute((0, 0.6, 0.8)), "world", "palm")
    for k in range(4):
        names, above = [f"finger{k}_{part}" for part in ("knuckle", "middle", "tip")], "palm"
        for j, name in enumerate(names):
            joint = Revolute((0, 1, 0.1 * j))
            if j == 1 and not free:
                joint = cardan.joints.Coupled(joint, names[0], cardan.joints.Polynomial([0.1, 0.8, 0.15]))
            if j == 2 and not free:  # its tendon runs over the wrist, too
                joint = cardan.joints.Coupled(joint, (names[1], "wrist"), lambda a, b: 0.7 * a + 0.2 * a * b)
            m.add_body(f"{name}_link", inertia(3 * k + j, 0.03, 0.1))
            m.add_joint(name, joint, above, f"{name}_link", pose(0.04 if j else 0.09, 0.0 if j else 0.025 * k))
            above = f"{name}_link"
    return m


def wrist(rotor=0.02, pitching=0.3, rolling=0.1):
    """A differential wrist: two motors on bevel gears, with their moments of inertia."""
    m = cardan.Mechanism("wrist")
    for name, moments in (
        ("left", (0.6 * rotor, rotor, 0.6 * rotor)),
        ("right", (0.6 * rotor, rotor, 0.6 * rotor)),
        ("cross", (0.05, pitching - 0.2, 0.06)),
        ("hand", (rolling, 0.2, 0.2)),
    ):
        m.add_body(name, cardan.Inertia(mass=1.0, com=(0.0, 0.0, 0.0), inertia=np.diag(moments)))
    for name in ("left", "right"):
        m.add_joint(f"{name}_motor", Revolute((0.0, 1.0, 0.0)), "world", name)
    by = ("left_motor", "right_motor")
    sum_and_difference = (cardan.joints.Linear(slopes) for slopes in ([0.5, 0.5], [0.5, -0.5]))
    for joint, axis, function, *ends in zip(
        ("pitch", "roll"),
        ((0, 1, 0), (1, 0, 0)),
        sum_and_difference,
        ("world", "cross"),
        ("cross", "hand"),
        strict=True,
    ):
        m.add_joint(joint, cardan.joints.Coupled(Revolute(axis), by, function), *ends)
    return m


def closed_chain(joints, closing, base="world"):
    """A chain of hinges, of small bodies, whose end a joint holds at its base."""
    m = cardan.Mechanism("closed_chain")
    if base != "world":
        m.add_body(base, inertia(99, 0.2, 2.0))
    bodies = [base, *(f"link{k}" for k in range(joints))]
    for k in range(joints):
        m.add_body(bodies[k + 1], inertia(k, 0.1))
        axis = Revolute(((0, 0, 1), (0, 1, 0))[k % 2])
        m.add_joint(f"joint{k}", axis, bodies[k], bodies[k + 1], pose(0.1 if k else 0.0))
    m.add_joint("closing", closing, base, bodies[-1], pose(0.05 * joints, 0.3, 0.1))
    return m


def humanoid_that_holds(*held):
    """A floating humanoid with joints that hold it: (name, joint, parent, child)."""
    m = cardan.robots.humanoid()
    m.add_joint("base", cardan.joints.FreeFlyer(), "world", "pelvis")
    for joint in held:
        m.add_joint(*joint)
    return m.model(closing=[name for name, *_ in held])
