"""`python -m benchmarks clearance`: a Panda among 24 obstacles, beside coal (by pinocchio) and MuJoCo.

Obstacles are spheres, boxes and capsules half a metre to a metre from its base. The Panda has the shapes of its file
`panda_collision.urdf`, 26 spheres and 13 cylinders; or capsules of these cylinders' lengths and radii, in which the
spheres are. Everyone is asked about the same pairs: each shape of the robot that moves and each obstacle. Times are
processor time on one thread, the least of some rounds in which all take turns. cardan is given batches, of random
configurations and of edges (32 configurations along half a radian); peers are called once a state, from Python.

- free: whether anything touches. pinocchio stops at the first pair; MuJoCo, by `mj_kinematics` and `mj_collision`, with
  its own broad phase, does not.
- distances: all of them, with nearest points. MuJoCo by `mj_geomDistance` for each pair.
- solutions: inverse kinematics of poses that can be reached without touching, without heed to obstacles and with
  `KeepApart`.
- errors: of distances, and of their derivatives by motions of a shape, against differences in 50 digits. Those of coal
  are its distances and its normals at its nearest points.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import mpmath
import numpy as np

import cardan
from cardan import SE3
from cardan.description import Box, Capsule, Cylinder, Ellipsoid, Shape, Sphere

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from clearance_robots import SHAPES, solid_body
from exact_distance import DIGITS, ExactDistance
from robots_data import urdf_files

STATES, FEW, ROUNDS = 4096, 256, 7
EDGE, POINTS = 0.5, 32
MARGIN = 0.02
HAND = "panda_hand"

Subject = tuple[str, Callable[[], Any], int]
"""What is said of a run, the run, and how many states it looks at."""


def main(given: Sequence[str] | None = None) -> None:
    """Measure and print tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks clearance", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--peers", nargs="*", default=["coal", "mujoco"], choices=["coal", "mujoco"], metavar="NAME")
    parser.add_argument("--poses", type=int, default=20, help="of each pair of shapes, for the errors (default 20)")
    args = parser.parse_args(given)
    warnings.simplefilter("ignore")
    cardan.set_num_threads(1)
    print("| robot | what | ns a state | beside cardan's least |\n|---|---|---|---|")
    for name, model in {"file": panda(), "capsules": panda(capsules=True)}.items():
        for what, subjects in (("free", free), ("distances", distances)):
            rows = subjects(model, args.peers)
            times = measured([(run, count) for _, run, count in rows])
            for (label, *_), ns in zip(rows, times, strict=True):
                print(f"| {name} | {what}: {label} | {ns:.0f} | {ns / min(times):.1f} |", flush=True)
    print("\n| obstacles | task | poses | us a pose | free solutions a second | free |\n|---|---|---|---|---|---|")
    for row in solutions(panda(capsules=True)):
        print(row, flush=True)
    print("\n| pair | who | distance [m] | derivative | second | depth [m] | derivative | second |")
    print("|---|---|---|---|---|---|---|---|")
    for a, b in combinations_with_replacement(SHAPES, 2):
        for row in errors(a, b, args.poses, "coal" in args.peers):
            print(row, flush=True)


# --- the robot and what is around it --------------------------------------------------------------------------------


def urdf() -> str:
    """Return the text of the file, its fingers without `<mimic>`."""
    file = next(f for f in urdf_files() if f.name == "panda_collision.urdf")
    return re.sub(r"<mimic\b[^>]*/>", "", file.read_text())


def panda(capsules: bool = False) -> Any:
    """Return the Panda with the shapes of its file, or capsules."""
    robot = cardan.load_mechanism(urdf())
    shapes = [s for s in robot.shapes if s.role == "collision"]
    if capsules:
        shapes = [replace(s, geometry=_capsule(s.geometry)) for s in shapes if isinstance(s.geometry, Cylinder)]
    return robot.with_annotations(replace(robot.annotations, shapes=tuple(shapes))).mechanism.model(base="fixed")


def _capsule(shape: Cylinder) -> Capsule:
    return Capsule(shape.radius, shape.length)


def obstacles(count: int = 24, kinds: Sequence[type] = (Sphere, Box, Capsule)) -> list[tuple[Any, SE3]]:
    """Return obstacles above the ground, of kinds in turn."""
    rng = np.random.default_rng(0)
    shapes = {Sphere: Sphere(0.08), Box: Box((0.12, 0.15, 0.1)), Capsule: Capsule(0.05, 0.2)}
    found = []
    for k in range(count):
        way, turn = rng.normal(size=(2, 3))
        way[2] = abs(way[2])
        pose = SE3(
            SE3.exp(np.concatenate([np.zeros(3), turn])).rotation, way / np.linalg.norm(way) * rng.uniform(0.5, 1.0)
        )
        found.append((shapes[kinds[k % len(kinds)]], pose))
    return found


def edges(model: Any) -> np.ndarray:
    """Return configurations along short edges, shape (STATES, nq)."""
    a, b = (model.random_configuration(STATES // POINTS, seed=seed) for seed in (1, 2))
    way = (b - a) / np.linalg.norm(b - a, axis=1, keepdims=True)
    return (a[:, None] + EDGE * way[:, None] * np.linspace(0.0, 1.0, POINTS)[None, :, None]).reshape(-1, model.nq)


def measured(runs: Sequence[tuple[Callable[[], Any], int]]) -> list[float]:
    """Return for each run the least time a state [ns], of rounds in which all take turns."""
    best = [np.inf] * len(runs)
    for call, _ in runs:
        call()
    for _ in range(ROUNDS):
        for k, (call, count) in enumerate(runs):
            started = time.process_time()
            call()
            best[k] = min(best[k], (time.process_time() - started) / count * 1e9)
    return best


# --- free, and distances --------------------------------------------------------------------------------------------


def free(model: Any, peers: Sequence[str]) -> list[Subject]:
    """Return who says whether states are free."""
    given: dict[str, Any] = {"pairs": [], "obstacles": obstacles()}
    q, rows = model.random_configuration(STATES, seed=0), []
    for label, states in (("random", q), ("edges", edges(model))):
        for dtype in (np.float64, np.float32):
            x = states.astype(dtype)
            rows.append((f"cardan, {label}, {x.dtype}", lambda x=x: cardan.is_free(model, x, **given), STATES))
    one_by_one = lambda: [cardan.is_free(model, x, **given) for x in q[:FEW]]  # noqa: E731
    rows.append(("cardan, random, one a call", one_by_one, FEW))
    known = cardan.is_free(model, q[:FEW], **given)
    for peer in peers:
        one = {"coal": Coal, "mujoco": MuJoCo}[peer](model, given["obstacles"])
        same = np.mean([one.is_free(x) == here for x, here in zip(q[:FEW], known, strict=True)])
        label = f"{peer}, random (as cardan in {100.0 * same:.1f} %)"
        rows.append((label, lambda one=one: [one.is_free(x) for x in q[:FEW]], FEW))
    return rows


def distances(model: Any, peers: Sequence[str]) -> list[Subject]:
    """Return who says how far everything is apart."""
    given: dict[str, Any] = {"pairs": [], "obstacles": obstacles()}
    q = model.random_configuration(FEW, seed=0)
    known = cardan.clearance(model, q, **given).distance
    rows: list[Subject] = [
        (f"cardan, {known.shape[1]} pairs", lambda: cardan.clearance(model, q, **given), FEW),
        ("cardan, derivatives by motion", lambda: cardan.clearance_jacobian(model, q, **given), FEW),
    ]
    few = q[:16]
    for peer in peers:
        one = {"coal": Coal, "mujoco": MuJoCo}[peer](model, given["obstacles"])
        off = np.abs(np.array([one.distances(x) for x in few]).min(axis=1) - known[:16].min(axis=1)).max()
        label = f"{peer} (least ones within {off:.0e} m)"
        rows.append((label, lambda one=one: [one.distances(x) for x in few], len(few)))
    return rows


class Coal:
    """coal by pinocchio."""

    def __init__(self, model: Any, around: Sequence[tuple[Any, SE3]]) -> None:
        import pinocchio as pin

        self.pin = pin
        self.model = pin.buildModelFromXML(urdf())
        self.order = [model.q_slice(name).start for name in list(self.model.names)[1:]]
        self.shapes = pin.GeometryModel()
        own = []
        for k, shape in enumerate(model.shapes):
            frame = self.model.getFrameId(shape.body)
            joint, at = self.model.frames[frame].parentJoint, self.model.frames[frame].placement
            if joint:
                X = at * pin.SE3(shape.pose.matrix())
                own.append(self._add(f"own{k}", joint, frame, X, shape.geometry))
        for k, (geometry, pose) in enumerate(around):
            there = self._add(f"other{k}", 0, 0, pin.SE3(pose.matrix()), geometry)
            for mine in own:
                self.shapes.addCollisionPair(pin.CollisionPair(mine, there))
        self.data, self.found = self.model.createData(), pin.GeometryData(self.shapes)

    def _add(self, name: str, joint: int, frame: int, X: Any, geometry: Any) -> int:
        return self.shapes.addGeometryObject(self.pin.GeometryObject(name, joint, frame, X, coal_shape(geometry)))

    def is_free(self, q: np.ndarray) -> bool:
        """Return whether nothing touches."""
        return not self.pin.computeCollisions(self.model, self.data, self.shapes, self.found, q[self.order], True)

    def distances(self, q: np.ndarray) -> list[float]:
        """Return all distances [m]."""
        self.pin.computeDistances(self.model, self.data, self.shapes, self.found, q[self.order])
        return [result.min_distance for result in self.found.distanceResults]


def coal_shape(shape: Any) -> Any:
    """Return a shape as coal has it."""
    import coal

    match shape:
        case Sphere():
            return coal.Sphere(shape.radius)
        case Box():
            return coal.Box(*shape.size)
        case Capsule():
            return coal.Capsule(shape.radius, shape.length)
        case Cylinder():
            return coal.Cylinder(shape.radius, shape.length)
        case Ellipsoid():
            return coal.Ellipsoid(*shape.radii)
    points = coal.StdVec_Vec3s()
    for vertex in shape.vertices:
        points.append(np.array(vertex))
    return coal.Convex.convexHull(points, True, None)


class MuJoCo:
    """MuJoCo, whose geoms have the same shapes."""

    def __init__(self, model: Any, around: Sequence[tuple[Any, SE3]]) -> None:
        import mujoco

        self.mujoco = mujoco
        bodies = {shape.body for shape in model.shapes if model.attachment(shape.body).node >= 0}
        own = [replace(s, name=f"own{k}") for k, s in enumerate(model.shapes) if s.body in bodies]
        others = [Shape("world", "collision", g, X, f"other{k}") for k, (g, X) in enumerate(around)]
        spec = cardan.interop.to_mjspec(model, shapes=[*own, *others])
        for geom in spec.geoms:
            moves = not geom.name.startswith("other")
            geom.contype, geom.conaffinity = int(not moves), int(moves)
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)
        self.pairs = [(self.model.geom(a.name).id, self.model.geom(b.name).id) for b in others for a in own]
        self.order = [model.q_slice(self.model.joint(k).name).start for k in range(self.model.njnt)]

    def is_free(self, q: np.ndarray) -> bool:
        """Return whether nothing touches."""
        self.data.qpos[:] = q[self.order]
        self.mujoco.mj_kinematics(self.model, self.data)
        self.mujoco.mj_collision(self.model, self.data)
        return self.data.ncon == 0 or bool((self.data.contact.dist > 0.0).all())

    def distances(self, q: np.ndarray) -> list[float]:
        """Return all distances [m]."""
        self.data.qpos[:] = q[self.order]
        self.mujoco.mj_kinematics(self.model, self.data)
        ends = np.empty(6)
        return [self.mujoco.mj_geomDistance(self.model, self.data, a, b, 10.0, ends) for a, b in self.pairs]


# --- inverse kinematics ---------------------------------------------------------------------------------------------


def solutions(model: Any, count: int = 8192) -> list[str]:
    """Return rows: how many poses are reached free of collisions in a second."""
    rows = []
    for label, around in (("24 spheres", obstacles(kinds=(Sphere,))), ("24 mixed", obstacles())):
        given: dict[str, Any] = {"pairs": [], "obstacles": around}
        q = model.random_configuration(64 * count, seed=3)
        q = q[cardan.is_free(model, q, 1.5 * MARGIN, **given)][:count]
        target = cardan.frame_transform(model, q, HAND)
        pose, keep = cardan.tasks.FramePose(HAND, target), cardan.tasks.KeepApart(model, MARGIN, **given)
        ways = {
            "pose": lambda pose=pose: cardan.inverse_kinematics(model, [pose]),
            "pose and KeepApart": lambda pose=pose, keep=keep: cardan.inverse_kinematics(model, [pose, keep]),
        }
        times = measured([(run, len(q)) for run in ways.values()])
        for (name, run), ns in zip(ways.items(), times, strict=True):
            found = run()
            good = np.mean(found.converged & cardan.is_free(model, found.q, 0.99 * MARGIN, **given))
            row = f"| {label} | {name} | {len(q)} | {ns / 1e3:.1f} | {1e9 * good / ns:.0f} | {100 * good:.1f} % |"
            rows.append(row)
    return rows


# --- errors ---------------------------------------------------------------------------------------------------------


def errors(a: Any, b: Any, poses: int, with_coal: bool) -> list[str]:
    """Return rows: the largest errors of distances and depths, of their first and second derivatives."""
    model, given = solid_body(a), {"pairs": [], "obstacles": [(b, SE3())]}
    q = near_poses(model, 10 * poses)

    @cardan.function(returns=())
    def distance(model: Any, q: Any) -> Any:
        return cardan.clearance(model, q, **given).distance[0]

    found, J = cardan.clearance(model, q, **given), cardan.clearance_jacobian(model, q, **given)[:, 0]
    H = cardan.hessian(distance, "q")(model, q)
    ours: dict[bool, list[Any]] = {True: [], False: []}
    theirs: dict[bool, list[Any]] = {True: [], False: []}
    with mpmath.workdps(DIGITS):
        for k in range(len(q)):
            d = float(found.distance[k, 0])
            if len(ours[d > 0.0]) == poses or abs(d) < 1e-3 or is_at_kink(model, q[k], given):
                continue
            X = cardan.frame_transform(model, q[k], "body")
            R, p = X[:3, :3], X[:3, 3]
            exact = ExactDistance(a, R, p, b, found.normal[k, 0], found.on_a[k, 0], found.on_b[k, 0])
            right, slopes = exact(), np.array([float(exact.slope(j)) for j in range(6)])
            second = max(abs(H[k, i, j] - float(exact.second(i, j))) for i, j in ((0, 0), (0, 4), (3, 3), (2, 5)))
            ours[d > 0.0].append((abs(float(d - right)), np.abs(J[k] - slopes).max(), second))
            if with_coal:
                theirs[d > 0.0].append(_of_coal(a, X, b, float(right), slopes))
    pair = f"{type(a).__name__}, {type(b).__name__}"
    rows = [_row(pair, "cardan", ours)]
    return [*rows, _row(pair, "coal", theirs)] if with_coal else rows


def near_poses(model: Any, count: int) -> np.ndarray:
    """Return configurations 2 to 80 cm from the origin."""
    rng = np.random.default_rng(0)
    q, way = model.random_configuration(count, seed=0), rng.normal(size=(count, 3))
    q[:, :3] = way / np.linalg.norm(way, axis=1, keepdims=True) * rng.uniform(0.02, 0.8, size=(count, 1))
    return q


def is_at_kink(model: Any, q: np.ndarray, given: Any, h: float = 1e-4) -> bool:
    """Return whether normals or points jump nearby."""
    moved = cardan.integrate(model, q, h * np.concatenate([np.eye(6), -np.eye(6)]))
    here, there = cardan.clearance(model, q, **given), cardan.clearance(model, moved, **given)
    return any(np.abs(there[k] - here[k]).max() > 0.01 for k in (1, 2, 3))


def _of_coal(a: Any, X: np.ndarray, b: Any, right: float, slopes: np.ndarray) -> tuple[float, float]:
    import coal

    result = coal.DistanceResult()
    request = coal.DistanceRequest()
    d = coal.distance(
        coal_shape(a), coal.Transform3s(X[:3, :3], X[:3, 3]), coal_shape(b), coal.Transform3s(), request, result
    )
    n = X[:3, :3].T @ -np.asarray(result.normal).ravel()  # coal's points from the first shape to the second
    at = X[:3, :3].T @ (np.asarray(result.getNearestPoint1()).ravel() - X[:3, 3])
    return abs(d - right), float(np.abs(np.concatenate([n, np.cross(at, n)]) - slopes).max())


def _row(pair: str, who: str, found: dict[bool, list[Any]]) -> str:
    cells = []
    for apart in (True, False):
        worst = np.max(found[apart], axis=0) if found[apart] else []
        cells += [f"{e:.0e}" for e in worst] + [""] * (3 - len(worst))
    return f"| {pair} | {who} | {' | '.join(cells)} |"
