"""`python -m benchmarks standing`: every robot description that is installed, put on the ground as it comes.

A description is loaded, stands where it begins (`Mechanism.world`, floating where nothing holds it, on level ground
unless it brings a ground of its own) and takes steps of 2 ms by the default solver, without drives but its own. Each
runs in a process of its own, with an empty cache. A row says what became of it:

    stands, falls      the centre of mass is at most, or more than, a fifth of its height lower at the end
    held               nothing floats: joints on the world hold it
    flies              it has more energy than at the start, by its weight times `RISE`; without springs and drives, and
                       if it begins within its stops and not deep in something
    touches nothing    no pair of shapes may touch
    refused, diverged, killed (after `LIMIT` seconds)

then degrees of freedom, pairs and operations of a step (0 by tables); how deep shapes were in one another at most, in
the whole run and at its end; the largest residual and the number of steps with one above 1 mm/s; the time to the first
step; and of a step, beside `cardan.solvers.MuJoCo` with the same hulls, in turns. Processor time, least of the rounds.

With `--grounds` some robots lie on a plane, on a height field and on triangles, and steps are timed alone. With
`--held` an Allegro hand holds a box. With `--itself` robots in the air may touch themselves: at rest and in motion,
beside the same ones that may not.
"""

from __future__ import annotations

import argparse
import fnmatch
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import cardan
from benchmarks.report import duration
from benchmarks.scenes import grounds, held
from cardan._reach.cli.options import table
from cardan._robot.geometry.shapes import HeightField, Plane, Shape, TriangleMesh

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from robots_data import urdf_files

DT, SECONDS, EVERY = 2e-3, 2.0, 5
LIMIT = 300.0  # [s], of one description
RISE = 0.02  # [m]
DEEP = 0.01  # [m]
LOWER = 0.2  # of the height: what sinks by more has fallen
SEEN = 1e-3  # residual [m/s] that somebody sees
WORLDS, STEPS, ROUNDS = 512, 10, 5
NAMED = ("go2.urdf", "g1_29dof_rev_1_0.urdf", "anymal_c*/anymal.urdf", "talos_full_v2.urdf", "allegro_right_hand.urdf")
"""Robots of which batches are timed, too."""
ARMS = ("ur5_robot.urdf", "panda.urdf", "kinova.urdf", "bolt.urdf", "solo12.urdf", "tiago.urdf")
"""Robots that may touch themselves, beside those."""
SPEEDS, LATER = (0.0, 0.3, 1.0, 3.0), 24  # [rad/s, m/s], and how many steps after these
PACKAGES = ("gymnasium", "gymnasium_robotics", "dm_control", "robosuite")
GROUNDS = (Plane, HeightField, TriangleMesh)


# --- which descriptions there are ---


def corpora(sdf: str | None) -> dict[str, list[Path]]:
    """Return the descriptions by where they come from."""
    found = {"urdf": urdf_files()} | {name: _mjcf_of(name) for name in PACKAGES}
    newton = _folder_of("newton")
    found["newton"] = sorted(newton.rglob("*.usd*")) if newton else []
    found["sdf"] = sorted([*Path(sdf).rglob("*.sdf"), *Path(sdf).rglob("*.world")]) if sdf else []
    return found


def _folder_of(package: str) -> Path | None:
    spec = importlib.util.find_spec(package)
    return Path(spec.origin).parent if spec and spec.origin else None


def _mjcf_of(package: str) -> list[Path]:
    folder = _folder_of(package)
    files = sorted(folder.rglob("*.xml")) if folder else []
    return [file for file in files if "<mujoco" in file.read_text(errors="replace")]


# --- one description, in a process of its own ---


def row_of(file: Path, corpus: str, seconds: float, peer: bool) -> dict[str, Any]:
    """Return what becomes of a description; as the head of this page says."""
    row: dict[str, Any] = {"file": str(file), "corpus": corpus}
    told: list[str] = []
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            _run(row, file, seconds, peer)
        except cardan.CardanError as error:
            row |= {"outcome": "refused", "why": f"{type(error).__name__}: {error}"}
        told = [f"{type(w.message).__name__}: {w.message}" for w in seen]
    return row | {"warnings": told}


def _run(row: dict[str, Any], file: Path, seconds: float, peer: bool) -> None:
    begun = time.process_time()
    world = world_of(cardan.load_mechanism(file, package_dirs=folders_for(file, row["corpus"])))
    row |= {"nv": world.model.nv, "pairs": len(world.pairs), "world_s": time.process_time() - begun}
    row["overlapping"] = len(world.overlapping)
    begun = time.process_time()
    solver = cardan.solvers.Featherstone(world, DT)
    state = world.state()
    solver.step(state)
    row["first_s"] = time.process_time() - begun
    row["operations"] = 0 if solver.tables else solver.function.trace(world.model, "position").program.operations
    path = solver.rollout(state, steps=max(1, round(seconds / DT / EVERY)) * EVERY, every=EVERY)
    row["outcome"] = _outcome(world, path)
    row["residual"], row["unsolved"] = float(path.residual.max()), int((path.residual > SEEN).sum())
    depths = _depths(world, path.q[:, 0])
    row["deepest"], row["depth"] = float(depths.max()), float(depths[-1])
    named = any(fnmatch.fnmatch(str(file), f"*{name}") for name in NAMED)
    row |= _times(world, solver, state, path.state, peer, named)


def folders_for(file: Path, corpus: str) -> list[Path]:
    """Return where else the files are that a description names: its package, or the models beside it."""
    if corpus in PACKAGES:
        return [_folder_of(corpus)]  # pyright: ignore[reportReturnType]
    above = (folder for folder in file.parents[:4] for folder in (folder, folder / "integration" / "model"))
    return [folder for folder in above if corpus == "sdf" and any(folder.glob("*/model.config"))]


def world_of(mechanism: Any) -> cardan.World:
    """Return the world that somebody new would ask for."""
    has_ground = any(s.role == "collision" and isinstance(s.geometry, GROUNDS) for s in mechanism.shapes)
    return _floating(mechanism, ground=not has_ground)


def _floating(mechanism: Any, **options: bool) -> cardan.World:
    try:
        return mechanism.world("floating", **options)
    except cardan.errors.MechanismError:  # it hangs on the world
        return mechanism.world(**options)


def _outcome(world: cardan.World, path: Any) -> str:
    model, q, v = world.model, path.q[:, 0], path.v[:, 0]
    energy = cardan.kinetic_energy(model, q, v) + cardan.potential_energy(model, q)
    if path.state.diverged.any():
        return f"diverged at {path.state.time[0]:.2f} s"
    if not _may_gain(world, q[0]) and energy.max() - energy[0] > RISE * 9.81 * model.mass:
        return f"flies, {(energy.max() - energy[0]) / (9.81 * model.mass):.2g} m"
    if not world.pairs:
        return "touches nothing"
    if not any(a.is_floating for a in world.articulations.values()):
        return "held"
    height = cardan.center_of_mass(model, q)[:, 2]
    return "falls" if height[-1] < (1.0 - LOWER) * height[0] else "stands"


def _may_gain(world: cardan.World, q: np.ndarray) -> bool:
    """Return whether something gives energy from the start on: springs, drives, stops that are passed, overlaps."""
    model, x = world.model, cardan.limit_coordinates(world.model, q)
    driven = any(any((*c.spring_stiffness, *c.drive_stiffness, *c.drive_damping)) for c in model.connections)
    return driven or bool(((x < model.lower) | (x > model.upper)).any()) or _depths(world, q[None])[0] > DEEP


def _depths(world: cardan.World, q: np.ndarray) -> np.ndarray:
    """Return how deep shapes are in one another at most [m], shape (T,), at configurations (T, nq)."""
    if not world.pairs:
        return np.zeros(len(q))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of where it begins: it has been told
        moments = world.state(len(q), q=q)
    return np.maximum(-world.collide(moments).gap.min(axis=1, initial=0.0), 0.0)


def _times(world: cardan.World, solver: Any, state: Any, rest: Any, peer: bool, named: bool) -> dict[str, Any]:
    """Return microseconds of a step: of one world that moves, in batches at rest, and by MuJoCo."""
    cardan.set_num_threads(1)
    found: dict[str, Any] = {}
    subjects = {"one": (_calls(solver, state), 100)}
    if peer:
        try:
            theirs = cardan.solvers.MuJoCo(world, DT)
            subjects["mujoco"] = (_calls(theirs, state), 100)
        except cardan.CardanError as error:
            found["mujoco_why"] = str(error)
    if named:
        subjects |= {dtype: (_batch(solver, rest, dtype), WORLDS * STEPS) for dtype in ("float64", "float32")}
        if "mujoco" in subjects:
            subjects["mujoco_rest"] = (_calls(theirs, rest), 100)
        subjects["one_rest"] = (_calls(solver, rest), 100)
    return found | {f"{name}_us": 1e6 * seconds for name, seconds in _least(subjects).items()}


def _calls(solver: Any, state: Any, control: Any = None) -> Callable[[], Any]:
    """Return what takes a hundred steps from a state, in one call."""
    spare = state.copy()
    solver.step(state, control, steps=100, out=spare)
    return lambda: solver.step(state, control, steps=100, out=spare)


def _batch(solver: Any, rest: Any, dtype: str, control: Any = None) -> Callable[[], Any]:
    state = solver.world.state(WORLDS, dtype, q=rest.q[0], v=rest.v[0])
    if control is not None:
        targets, control = control.position, solver.world.control(1, dtype)
        control.position = targets
    spare = state.copy()
    solver.step(state, control, steps=STEPS, out=spare)
    return lambda: solver.step(state, control, steps=STEPS, out=spare)


def ground_rows(file: Path) -> Iterator[tuple[str, ...]]:
    """Return for each ground the microseconds of a step of one world at rest, in batches, and by MuJoCo."""
    cardan.set_num_threads(1)
    subjects: dict[tuple[str, str], tuple[Callable[[], Any], int]] = {}
    for name, ground in grounds().items():
        mechanism = cardan.load_mechanism(file)
        mechanism.add_shape(Shape("world", "collision", ground))
        solver = cardan.solvers.Featherstone(mechanism.world("floating", ground=False), DT)
        rest = solver.step(solver.world.state(), steps=round(SECONDS / DT))
        subjects[name, "one"] = _calls(solver, rest), 100
        subjects |= {(name, dtype): (_batch(solver, rest, dtype), WORLDS * STEPS) for dtype in ("float64", "float32")}
        if not isinstance(ground, TriangleMesh):
            subjects[name, "mujoco"] = _calls(cardan.solvers.MuJoCo(solver.world, DT), rest), 100
    best = _least(subjects)
    for name in dict.fromkeys(name for name, _ in subjects):
        times = (best.get((name, key)) for key in ("one", "float64", "float32", "mujoco"))
        yield (file.stem, name, *("" if t is None else f"{1e6 * t:.3g}" for t in times))


def held_row(file: Path) -> tuple[str, ...]:
    """Return the same of a hand that holds a box, as `ground_rows`; and how many pairs bear it."""
    cardan.set_num_threads(1)
    world, control = held(file)
    solver = cardan.solvers.Featherstone(world, DT)
    rest = solver.step(world.state(), control, steps=round(2.0 * SECONDS / DT))
    force = np.linalg.norm(solver.contact_forces(rest, control).force[0], axis=-1)
    pairs = {world.pairs[k].name for k in np.unique(solver.contact_forces(rest, control).pair[force > 1e-3])}
    subjects: dict[str, tuple[Callable[[], Any], int]] = {"one": (_calls(solver, rest, control), 100)}
    for dtype in ("float64", "float32"):
        subjects[dtype] = _batch(solver, rest, dtype, control), WORLDS * STEPS
    subjects["mujoco"] = _calls(cardan.solvers.MuJoCo(world, DT), rest, control), 100
    best = _least(subjects)
    return (file.stem, str(len(pairs)), *(f"{1e6 * best[key]:.3g}" for key in ("one", "float64", "float32", "mujoco")))


def itself_row(file: Path, dtype: str) -> tuple[str, ...]:
    """Return microseconds of a step of a robot that may touch itself, and over those of the same that may not."""
    cardan.set_num_threads(1)
    mechanism, cells = cardan.load_mechanism(file), list[str]()
    solvers = [cardan.solvers.Featherstone(_floating(mechanism, self_collision=own), DT) for own in (True, False)]
    for speed in SPEEDS:
        begun = solvers[0].world.state(WORLDS, dtype)
        begun.v = speed * np.random.default_rng(0).normal(size=begun.v.shape)
        later = solvers[0].step(begun, steps=LATER)
        subjects = {}
        for k, solver in enumerate(solvers):
            state = solver.world.state(WORLDS, dtype, q=later.q, v=later.v)
            spare = solver.step(state, steps=STEPS)
            subjects[k] = partial(solver.step, state, steps=STEPS, out=spare), WORLDS * STEPS
        best = _least(subjects)
        cells.append(f"{1e6 * best[0]:.3g} ({best[0] / best[1]:.2f})")
    return (file.stem, str(len(solvers[0].world.pairs)), dtype, *cells)


def _least(subjects: dict[Any, tuple[Callable[[], Any], int]]) -> dict[Any, float]:
    """Return the least processor time [s] of what several do, each so many times, in turns."""
    best = dict.fromkeys(subjects, np.inf)
    for _ in range(ROUNDS):
        for name, (run, count) in subjects.items():
            begun = time.process_time()
            run()
            best[name] = min(best[name], (time.process_time() - begun) / count)
    return best


# --- all of them ---


def apart(file: Path, corpus: str, args: argparse.Namespace) -> dict[str, Any]:
    """Return the row of a description, run in a process of its own."""
    with tempfile.TemporaryDirectory() as place:
        out = Path(place, "row.json")
        words = ["--row", str(out), "--corpus", corpus, "--seconds", str(args.seconds), *["--alone"] * args.alone]
        command = [sys.executable, "-m", "benchmarks.standing", *words, str(file)]
        try:
            env = os.environ | {"CARDAN_CACHE_DIR": str(Path(place, "cache"))}
            done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, env=env)
        except subprocess.TimeoutExpired:
            return {"file": str(file), "corpus": corpus, "outcome": "killed", "why": f"after {LIMIT:g} s"}
        if out.exists():
            return json.loads(out.read_text())
        return {"file": str(file), "corpus": corpus, "outcome": "died", "why": done.stderr.strip()[-300:]}


def main(argv: list[str]) -> None:
    """Run descriptions, print a row for each, and a summary of each corpus."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks standing", description=__doc__)
    parser.add_argument("--only", default="*", metavar="PATTERN", help="files whose path matches")
    parser.add_argument("--corpora", nargs="+", metavar="NAME", help=f"of urdf, {', '.join(PACKAGES)}, newton, sdf")
    parser.add_argument("--sdf", metavar="FOLDER", help="where SDF files are")
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--alone", action="store_true", help="without MuJoCo")
    parser.add_argument("--json", metavar="FILE", help="a line for each description; those in it are not run again")
    parser.add_argument("--grounds", action="store_true", help="times of some URDFs on several grounds alone")
    parser.add_argument("--held", action="store_true", help="times of a hand that holds a box alone")
    parser.add_argument("--itself", action="store_true", help="times of robots that may touch themselves alone")
    parser.add_argument("--row", metavar="FILE", help=argparse.SUPPRESS)
    parser.add_argument("--corpus", default="", help=argparse.SUPPRESS)
    parser.add_argument("file", nargs="?", help="one description alone, in this process")
    args = parser.parse_args(argv)
    if args.file:
        row = row_of(Path(args.file), args.corpus, args.seconds, not args.alone)
        if args.row:
            Path(args.row).write_text(json.dumps(row))
        else:
            print(json.dumps(row, indent=1))
        return
    if args.grounds:
        files = [f for f in urdf_files() if any(fnmatch.fnmatch(str(f), f"*{own}") for own in NAMED[:3])]
        named = [f for f in files if fnmatch.fnmatch(str(f), f"*{args.only}*")]
        header = ("robot", "ground", "one world [us]", "f64 of 512", "f32", "MuJoCo")
        for file in named:
            print(table(header, list(ground_rows(file))), flush=True)
        return
    if args.held:
        header = ("robot", "pairs that bear", "one world [us]", "f64 of 512", "f32", "MuJoCo")
        print(table(header, [held_row(f) for f in urdf_files() if fnmatch.fnmatch(str(f), f"*{NAMED[-1]}")]))
        return
    if args.itself:
        names = [*NAMED, *ARMS]
        files = [f for f in urdf_files() if any(fnmatch.fnmatch(str(f), f"*/{own}") for own in names)]
        header = ("robot", "pairs", "", *(f"{speed:g} [rad/s, m/s]" for speed in SPEEDS))
        for file in (f for f in files if fnmatch.fnmatch(str(f), f"*{args.only}*")):
            print(table(header, [itself_row(file, dtype) for dtype in ("float64", "float32")]), flush=True)
        return
    rows = list(_all(args))
    print(f"\n{_shown(rows)}\n\n{_summary(rows)}")


def _all(args: argparse.Namespace) -> Iterator[dict[str, Any]]:
    kept = Path(args.json) if args.json else None
    known = {}
    if kept and kept.exists():
        known = {row["file"]: row for row in map(json.loads, kept.read_text().splitlines())}
    for corpus, files in corpora(args.sdf).items():
        for file in files:
            if (args.corpora and corpus not in args.corpora) or not fnmatch.fnmatch(str(file), f"*{args.only}*"):
                continue
            row = known.get(str(file)) or apart(file, corpus, args)
            if kept and str(file) not in known:
                with kept.open("a", encoding="utf-8") as stream:
                    stream.write(json.dumps(row) + "\n")
                print(f"{corpus} {_name(row)}: {row['outcome']} {row.get('why', '')[:160]}", flush=True)
            yield row


def _name(row: dict[str, Any]) -> str:
    return "/".join(Path(row["file"]).parts[-2:])


def _shown(rows: list[dict[str, Any]]) -> str:
    header = ("file", "outcome", "nv", "pairs", "operations", "deepest", "at the end", "residual", "steps above 1 mm/s")
    header += ("first step", "a step", "f64 of 512", "f32", "MuJoCo")
    return table(header, [_cells(row) for row in rows])


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    if "residual" not in row:
        return (_name(row), row["outcome"], row.get("why", "")[:60].replace("\n", " "), *[""] * 11)
    lengths = (f"{1e3 * row[key]:.2f} mm" for key in ("deepest", "depth"))
    counts = (str(row[key]) for key in ("nv", "pairs", "operations"))
    times = (row.get(f"{key}_us") for key in ("one", "float64", "float32", "mujoco"))
    first = duration(row["world_s"] + row["first_s"])
    solved = (f"{row['residual']:.1e}", str(row["unsolved"]))
    return (
        _name(row),
        row["outcome"],
        *counts,
        *lengths,
        *solved,
        first,
        *("" if t is None else f"{t:.3g}" for t in times),
    )


def _summary(rows: list[dict[str, Any]]) -> str:
    header = ("corpus", "files", "outcomes", "first step: median", "worst", "step over MuJoCo's: median")
    found = []
    for corpus in dict.fromkeys(row["corpus"] for row in rows):
        own = [row for row in rows if row["corpus"] == corpus]
        counts = Counter(row["outcome"].partition(" at ")[0].partition(",")[0] for row in own)
        firsts = [row["world_s"] + row["first_s"] for row in own if "first_s" in row] or [0.0]
        ratios = [row["mujoco_us"] / row["one_us"] for row in own if "mujoco_us" in row]
        outcomes = ", ".join(f"{count} {outcome}" for outcome, count in counts.most_common())
        ratio = f"{np.median(ratios):.2g} of {len(ratios)}" if ratios else ""
        found.append(
            (corpus, str(len(own)), outcomes, duration(float(np.median(firsts))), duration(max(firsts)), ratio)
        )
    return table(header, found)


if __name__ == "__main__":
    main(sys.argv[1:])
