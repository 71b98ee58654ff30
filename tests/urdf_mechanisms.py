"""Random mechanisms of the joints URDF has."""

import numpy as np

import cardan
from cardan._reach.formats.load import describe
from cardan._reach.formats.reading import Options
from cardan.description import Box, Shape
from cardan.errors import DescriptionError
from cardan.joints import Fixed, FreeFlyer, Mimic, Planar, Prismatic, Revolute, Spherical
from mechanisms import random_inertia, random_pose

IN_URDF = (
    Revolute(axis=(0.36, 0.48, 0.8)),
    Prismatic(axis=(0.36, -0.48, 0.8)),
    Fixed(),
    FreeFlyer(),
    Planar(),
    Spherical(),
    Mimic(Revolute(axis=(0.0, 1.0, 0.0)), "joint0", -0.5, 0.2),
    Mimic(Prismatic(axis=(0.6, 0.0, 0.8)), "joint0", 0.1, -0.3),
)


def expressible(seed, loops=0):
    """A tree of every joint URDF has, some of them turned round, and joints that close loops."""
    rng = np.random.default_rng(seed)
    m = cardan.Mechanism(f"random{seed}")
    m.add_body("body", random_inertia(rng))
    rest = [IN_URDF[k] for k in rng.permutation(len(IN_URDF))]
    for k, joint in enumerate([IN_URDF[0], *rest, *rest[:3]]):
        name = f"body{k}"
        m.add_body(name, random_inertia(rng) if k % 5 else None)
        ends = [m.bodies[rng.integers(0, k + 1)].name, name]
        turnable = not isinstance(joint, (Planar, FreeFlyer, Spherical))
        parent, child = ends[::-1] if turnable and rng.random() < 0.3 else ends
        low = np.sort(rng.normal(size=(2, 1)), axis=0) if joint.nv == 1 else [None, None]
        low = [None if x is None or rng.random() < 0.3 else list(x) for x in low]
        rates = [None if rng.random() < 0.4 else [float(rng.uniform(1, 9))] * joint.nv for _ in range(2)]
        numbers = rng.uniform(0.01, 0.1, size=3)
        passive = {w: [float(x)] * joint.nv for w, x in zip(("damping", "friction", "armature"), numbers, strict=True)}
        limits = cardan.Limits(*low, *rates) if joint.nv else None
        parent_pose, child_pose = random_pose(rng), random_pose(rng)
        m.add_joint(f"joint{k}", joint, parent, child, parent_pose, child_pose, limits, **passive)
        m.add_frame(f"frame{k}", name, random_pose(rng))
        m.add_shape(Shape(name, "visual", Box((0.1, 0.2, 1 / 3)), random_pose(rng)))
    for k in range(loops):
        a, b = (m.bodies[i].name for i in rng.choice(len(m.bodies), size=2, replace=False))
        joint = (Spherical(), Revolute((0.0, 0.6, 0.8)), Planar(), Fixed())[k % 4]
        m.add_joint(f"loop{k}", joint, a, b, random_pose(rng), random_pose(rng), damping=[0.1] * joint.nv)
    return m


def check_urdf(source):
    """Return the faults of a URDF, without remarks on what is merely implausible."""
    try:
        return describe(source, Options()).report.faults()
    except DescriptionError as error:
        return list(error.faults)
