"""`python -m benchmarks pairs`: contact of every two kinds of shapes, beside MuJoCo; distances beside coal.

Two bodies near one another, or one on a ground, in random poses. Nanoseconds a pair on one thread:

    f64, f32      `World.collide` of a batch, all candidates with points and normals
    MuJoCo        `mj_collision` of the same two bodies from Python, less a call of two that are far apart
    coal          the largest difference of distances of pairs apart, in parts of the size, over sizes of 1e-3 to 1e3 m
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

import cardan
from benchmarks.scenes import grounds
from cardan._reach.cli.options import table
from cardan.description import Hull

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from oracles.test_coal_collision import SHAPES as PRIMITIVES
from oracles.test_coal_collision import by_coal

BATCH, CALLS, POSES, ROUNDS = 4096, 500, 100_000, 5
_corners = np.random.default_rng(0).normal(size=(20, 3))
CORNERS = _corners / np.linalg.norm(_corners, axis=1, keepdims=True) * (0.1, 0.08, 0.05)
KINDS = "sphere", "capsule", "cylinder", "cone", "ellipsoid", "box"
SHAPES = {kind: PRIMITIVES[kind] for kind in KINDS} | {"hull of 20": Hull(CORNERS)}


def times(shape: Any, factor: float) -> Any:
    """Return a shape that is so many times as large."""
    if isinstance(shape, Hull):
        return Hull(np.multiply(shape.vertices, factor))
    return type(shape)(*(np.multiply(getattr(shape, name), factor).tolist() for name in shape.__dataclass_fields__))


def world_of(a: Any, b: Any) -> cardan.World:
    """Return two bodies that float."""
    builder = cardan.WorldBuilder()
    for name, shape in (("a", a), ("b", b)):
        builder.add_body(name, inertia=cardan.Inertia(1.0, (0.0, 0.0, 0.0), np.eye(3)))
        builder.add_shape(name, shape, density=0.0)
    return builder.finalize()


def world_on(a: Any, ground: Any) -> cardan.World:
    """Return a body on a ground."""
    builder = cardan.WorldBuilder()
    builder.add_shape("world", ground)
    builder.add_body("a", inertia=cardan.Inertia(1.0, (0.0, 0.0, 0.0), np.eye(3)))
    builder.add_shape("a", a, density=0.0)
    return builder.finalize()


def above(n: int, near: float = 0.12) -> np.ndarray:
    """Return configurations of one body with its middle above the ground, and about so far from there."""
    q = poses(n, near=near)[:, 7:]
    q[:, 2] = abs(q[:, 2]) + 0.02
    return q


def poses(n: int, size: float = 1.0, near: float = 0.12) -> np.ndarray:
    """Return configurations of two bodies that are about so far apart."""
    rng, turns = np.random.default_rng(1), Rotation.random(2 * n, random_state=1).as_quat().reshape(n, 2, 4)
    return np.concatenate([np.zeros((n, 3)), turns[:, 0], size * near * rng.normal(size=(n, 3)), turns[:, 1]], axis=1)


def least(run: Callable[[], Any]) -> float:
    """Return the least processor time of a call [s]."""
    found = []
    for _ in range(ROUNDS):
        begun = time.process_time()
        run()
        found.append(time.process_time() - begun)
    return min(found)


def ours(world: cardan.World, dtype: str, placed: Callable[..., np.ndarray] = poses) -> float:
    """Return nanoseconds a pair in a batch."""
    state = world.state(BATCH, dtype, q=placed(BATCH).astype(dtype))
    world.collide(state)
    return 1e9 * least(lambda: world.collide(state)) / BATCH


def mujocos(world: cardan.World, placed: Callable[..., np.ndarray] = poses) -> float:
    """Return nanoseconds of `mj_collision`, less one that finds nothing."""
    model = cardan.interop.to_mjspec(world).compile()
    data = mujoco.MjData(model)
    own = cardan.conventions.to("mujoco", world.model)

    def run(q: np.ndarray) -> float:
        spent = 0.0
        for row in q:
            data.qpos[:] = row
            mujoco.mj_kinematics(model, data)
            begun = time.process_time_ns()
            for _ in range(20):
                mujoco.mj_collision(model, data)
            spent += (time.process_time_ns() - begun) / 20
        return spent / len(q)

    near, far = (own.configuration(placed(CALLS, near=d)) for d in (0.12, 100.0))
    return min(run(near) for _ in range(ROUNDS)) - min(run(far) for _ in range(ROUNDS))


def off_from_coal(a: Any, b: Any, count: int) -> float:
    """Return the largest difference of distances, in parts of the size."""
    worst = 0.0
    sizes = (1e-3, 1e-1, 1.0, 1e3)
    q = poses(max(1, count // len(sizes)), near=0.25)
    R_a, R_b = (Rotation.from_quat(q[:, k : k + 4]) for k in (3, 10))
    R, p = (R_a.inv() * R_b).as_matrix(), R_a.inv().apply(q[:, 7:10])
    theirs = by_coal(a, b, R, p)
    for size in sizes:
        scaled = q.copy()
        scaled[:, [0, 1, 2, 7, 8, 9]] *= size
        found = cardan.clearance(world_of(times(a, size), times(b, size)), scaled).distance[:, 0] / size
        apart = (theirs > 1e-4) | (found > 1e-4)
        worst = max(worst, float(abs(found - theirs)[apart].max()))
    return worst / 0.2


def main(argv: list[str]) -> None:
    """Print a row for each two kinds."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks pairs", description=__doc__)
    parser.add_argument(
        "--shapes", nargs="+", choices=SHAPES, default=list(SHAPES), metavar="SHAPE", help=", ".join(SHAPES)
    )
    parser.add_argument("--poses", type=int, default=POSES, help=f"of each pair, for the distances (default {POSES})")
    args = parser.parse_args(argv)
    cardan.set_num_threads(1)
    warnings.simplefilter("ignore")
    rows = []
    for one, other in combinations_with_replacement(args.shapes, 2):
        world = world_of(SHAPES[one], SHAPES[other])
        cells = [ours(world, "float64"), ours(world, "float32"), mujocos(world)]
        coal = f"{off_from_coal(SHAPES[one], SHAPES[other], args.poses):.0e}"
        rows.append((f"{one}, {other}", *(f"{cell:.0f}" for cell in cells), coal))
    for name, ground in grounds().items():
        for one in args.shapes:
            world = world_on(SHAPES[one], ground)
            cells = [ours(world, "float64", above), ours(world, "float32", above)]
            theirs = "" if name == "triangles" else f"{mujocos(world, above):.0f}"
            rows.append((f"{one}, {name}", *(f"{cell:.0f}" for cell in cells), theirs, ""))
    print(table(("pair", "f64 [ns]", "f32 [ns]", "MuJoCo [ns]", "coal"), rows))
