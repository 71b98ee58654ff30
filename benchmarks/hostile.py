"""`python -m benchmarks.hostile`: random worlds under hostile controls, a million steps and more.

Worlds have links without mass, limits lower = upper, no friction and huge friction, mass ratios of 1e9, contacts and
mimic joints; controls of the first half of them are NaN, infinite, 1e308, and beyond what drives can bear, and some of
these begin beyond their limits and at huge speeds. What is demanded: no crash; no number that is no state's; every
world that stands still is flagged, and named with its time by `State.divergences()`; memory that does not grow.
"""

from __future__ import annotations

import argparse
import resource
from collections.abc import Iterator

import numpy as np

import cardan
from cardan import SE3, Drive, Inertia, Limits, Material, WorldBuilder
from cardan.description import Box, Capsule, Sphere
from cardan.joints import Fixed, FreeFlyer, Mimic, Planar, Prismatic, Revolute, Spherical, Universal

JOINTS = (Revolute([0, 0, 1]), Prismatic([1, 0, 0]), Spherical(), Universal(), Planar(), Revolute([0, 1, 0]), Fixed())
HUGE = (np.nan, np.inf, -np.inf, 1e308, -1e308, 1e30, 1e12, 1e6, 1.0, 0.0)


def world(seed: int, links: int = 6) -> cardan.World:
    """Return a random world, not a kind one."""
    rng = np.random.default_rng(seed)
    b = WorldBuilder(f"hostile{seed}")
    material = Material(friction=float(rng.choice([0.0, 0.8, 1e6])), stiffness=float(10.0 ** rng.uniform(1, 9)))
    b.add_ground(material)
    floating = bool(rng.integers(2))
    names, joints = ["world"], []
    for k in range(links):
        mass = float(rng.choice([0.0, 1e-6, 1.0, 1e3]))
        kind = JOINTS[rng.integers(len(JOINTS))] if k or not floating else FreeFlyer()
        last = k == links - 1
        mass = max(mass, 1.0) if last or isinstance(kind, (Planar, Spherical, FreeFlyer)) else mass
        inertia = Inertia(mass, 0.1 * rng.normal(size=3), 0.01 * mass * np.diag(rng.uniform(0.6, 1.0, 3)))
        name = b.add_link(f"link{k}", inertia=inertia, lock_inertia=True)
        if mass and rng.integers(2):
            shape = (Box((0.1, 0.2, 0.1)), Sphere(0.05), Capsule(0.05, 0.1))[rng.integers(3)]
            b.add_shape(name, shape, material=material)
        parent = names[-1] if rng.integers(3) else names[rng.integers(len(names))]
        copied = [j for j, c in joints if c == 1]
        if copied and kind.nv == 1 and rng.integers(4) == 0:
            kind = Mimic(kind, copied[0], float(rng.normal()), 0.1)
        joints.append((_hang(b, rng, k, kind, parent, name), 1 if kind.nv == 1 and not isinstance(kind, Mimic) else 0))
        names.append(name)
    return b.finalize(check_orphans=False)


def _hang(b: WorldBuilder, rng: np.random.Generator, k: int, kind: cardan.joints.Joint, parent: str, child: str) -> str:
    """Add a joint with properties that few would give it."""
    nv = kind.nv
    plain = isinstance(kind, (Revolute, Prismatic))
    options: dict[str, object] = {}
    if plain:
        x = float(rng.normal())
        bounds = [({}), ({"lower": [x], "upper": [x]}), ({"lower": [-1e-9], "upper": [1e-9]}), ({"lower": [x]})][
            rng.integers(4)
        ]
        effort = [None, [0.0], [1e-3], [1e9]][rng.integers(4)]
        options["limits"] = Limits(**bounds, effort=effort)
        options["friction"] = [float(rng.choice([0.0, 1e-9, 1.0, 1e9]))]
        options["damping"] = [float(rng.choice([0.0, 1e9]))]
        options["armature"] = [float(rng.choice([0.0, 1e-9, 1e6]))]
    if nv and not isinstance(kind, (Mimic, FreeFlyer)):
        options["drive"] = Drive(float(10.0 ** rng.uniform(-9, 15)), float(10.0 ** rng.uniform(-9, 12)))
    pose = SE3(translation=0.3 * rng.normal(size=3))
    return b.add_joint(f"joint{k}", kind, parent, child, pose, **options)  # pyright: ignore[reportArgumentType]


def begun(world: cardan.World, worlds: int, rng: np.random.Generator, dtype: str = "float64") -> cardan.State:
    """Return states anywhere, some at speeds beyond reason."""
    model = world.model
    q = model.random_configuration((worlds,), seed=int(rng.integers(1 << 31)))
    speed = 10.0 ** rng.choice([-9.0, 0.0, 0.0, 3.0, 15.0, 25.0], size=(worlds, 1))
    speed[worlds // 2 :] = 1e-3
    return world.state(worlds, dtype=dtype, q=q, v=speed * rng.normal(size=(worlds, model.nv)))


def demanded(world: cardan.World, worlds: int, rng: np.random.Generator, dtype: str = "float64") -> cardan.Control:
    """Return a control, hostile to the first half of the worlds, written past all checks."""
    control = world.control(worlds, dtype)
    with np.errstate(all="ignore"):
        for array in (control.effort, control.position, control.velocity):
            hits = rng.random(array.shape) < 0.02
            hits[worlds // 2 :] = False
            array[...] = rng.normal(size=array.shape)
            array[hits] = rng.choice(HUGE, size=int(hits.sum()))
    return control


def check(before: cardan.State, after: cardan.State, steps: int, dt: float) -> None:
    """Raise AssertionError for a number that is no state's, or a world that stands still without a flag."""
    for name in ("q", "v", "time"):
        assert np.isfinite(getattr(after, name)).all(), f"{after.world.name}: {name} is not finite"
    late = after.time < before.time + (steps - 0.5) * dt
    assert (late <= after.diverged).all(), f"{after.world.name}: worlds stand still and are not flagged"
    named = {found.world for found in after.divergences()}
    assert named == set(np.flatnonzero(after.diverged)), f"{after.world.name}: flagged worlds without a name"


def solvers(world: cardan.World, dt: float) -> Iterator[cardan.solvers.Solver]:
    """Yield every solver that takes the world."""
    makers = (
        lambda: cardan.solvers.Featherstone(world, dt),
        lambda: cardan.solvers.Featherstone(world, dt, contact="compliant"),
        lambda: cardan.solvers.Featherstone(world, dt, contact=None, integrator="rk4", limits=False),
        lambda: cardan.solvers.XPBD(world, dt),
        lambda: cardan.solvers.Variational(world, dt),
        lambda: cardan.solvers.SemiImplicit(world, dt),
        lambda: cardan.solvers.MuJoCo(world, dt),
    )
    for make in makers:
        try:
            yield make()
        except cardan.errors.UnsupportedError:
            continue


def run(
    seed: int, worlds: int, steps: int, dt: float = 2e-3, dtype: str = "float64", calls: int = 10, every: bool = False
) -> int:
    """Run one random world's solvers, or its default one, and return how many worlds diverged."""
    rng = np.random.default_rng(seed)
    made, gone = world(seed), 0
    for solver in solvers(made, dt):
        state = begun(made, worlds, rng, dtype)
        for _ in range(calls):
            after = solver.step(state, demanded(made, worlds, rng, dtype), steps=max(1, steps // calls))
            check(state, after, max(1, steps // calls), dt)
            state = after
        gone += int(state.diverged.sum())
        if not every:
            break
    return gone


def main() -> None:
    """Run the worlds and print what came of them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.hostile", description=__doc__)
    parser.add_argument("--models", type=int, default=16)
    parser.add_argument("--worlds", type=int, default=4096, help="in all")
    parser.add_argument("--steps", type=int, default=1_000_000, help="of worlds, in all")
    parser.add_argument("--all-solvers", action="store_true")
    args = parser.parse_args()
    each = max(1, args.worlds // args.models)
    steps = max(10, args.steps // args.worlds)
    memory = []
    for seed in range(args.models):
        for dtype in ("float64", "float32"):
            gone = run(seed, each, steps, dtype=dtype, every=args.all_solvers)
            memory.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
            print(
                f"model {seed:3d} {dtype}: {each} worlds, {steps} steps, {gone} diverged, {memory[-1]:.0f} MiB",
                flush=True,
            )


if __name__ == "__main__":
    main()
