"""`cardan simulate FILE`: what a robot does, left alone or held by drives, in one world or many."""

from __future__ import annotations

import argparse
import inspect
import math
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.checked_numbers import positive, whole
from cardan._algebra.errors import ParameterError
from cardan._algebra.lazy import registered
from cardan._compiler.runtime.staging import write_whole
from cardan._dynamics.algorithms.centroidal import center_of_mass, center_of_mass_velocity
from cardan._dynamics.algorithms.configuration import limit_coordinates
from cardan._dynamics.algorithms.energy import kinetic_energy, potential_energy
from cardan._dynamics.functions.assembly import assemble
from cardan._motion.contact import LAWS
from cardan._motion.simulation import Control, State, World, solvers
from cardan._motion.simulation.builder import drive_all
from cardan._motion.simulation.solvers import Solver, Trajectory
from cardan._motion.simulation.standing import depths_in_grounds, moves_freely, stand
from cardan._reach.cli.options import READING, add, check_output, harmless, locked, reading, tell
from cardan._reach.formats import load_mechanism
from cardan._reach.formats.report import listed
from cardan._reach.pictures.animation import animate, checked_ending
from cardan._robot.description import Hull, Mechanism, editing
from cardan._robot.geometry.shapes import GROUNDS
from cardan._robot.model import WORLD, Drive

SOLVERS = {
    "featherstone": "Featherstone",
    "mujoco": "MuJoCo",
    "xpbd": "XPBD",
    "semi-implicit": "SemiImplicit",
    "variational": "Variational",
}
DT = 0.002  # s
MOST = 2**31  # bytes of what is recorded
DIVERGED = 3  # exit status
SHOWN = 12  # diverged worlds
FILMED = 20.0  # pictures a second
BEYOND = 1e-3  # from which on a joint is beyond its stops [rad, m]


def fill(parser: argparse.ArgumentParser) -> None:
    parser.epilog = f"Exit status {DIVERGED}: written, but worlds diverged; they are named on stderr."
    add(parser, "file", *READING, "--continuous", "--lock")
    parser.add_argument("-o", "--output", metavar="OUT.npz", help="arrays to write")
    parser.add_argument("--film", metavar="OUT.gif", help="film to write, of the first world: .gif, .mp4 or .html")
    add(parser, "--base", default=None, help="how the root link is held (default: fixed)")
    parser.add_argument("--worlds", type=int, default=1, metavar="N", help="how many worlds (default: 1)")
    parser.add_argument("--seed", type=int, metavar="S", help="begin in random configurations, the base as it is")
    parser.add_argument("--seconds", type=float, default=5.0, metavar="T", help="how long (default: 5)")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="record every N-th step (default: 1)")
    add_solver(parser, "--solver", help="what moves it", default="featherstone")
    add(parser, "--json", "--overwrite")
    parser.set_defaults(dt=DT)


def _solver_name(text: str) -> str:
    if text not in SOLVERS and text not in registered("cardan.solvers"):  # which takes 20 ms to find
        known = ", ".join(map(repr, (*SOLVERS, *registered("cardan.solvers"))))
        raise argparse.ArgumentTypeError(f"invalid choice: {text!r} (choose from {known})")
    return text


def add_solver(parser: Any, flag: str, **options: Any) -> None:
    """Add what `solver_of` reads to a parser, or a group of one: a solver, its options and those of its world."""
    parser.add_argument("--dt", type=float, metavar="H", help=f"length of a step [s] (default: {DT:g})")
    parser.add_argument(flag, dest="solver", type=_solver_name, metavar=f"{{{','.join(SOLVERS)}}}", **options)
    help = "of featherstone: implicit (default), semi_implicit, midpoint, rk4; mujoco has its own"
    parser.add_argument("--integrator", metavar="NAME", help=help)
    help = "law of contacts, of featherstone (default: convex); none, of all: what touches passes through"
    parser.add_argument("--contact", choices=(*LAWS, "none"), help=help)
    help = "only these may touch: names or patterns of pairs, shapes or bodies, as '*_foot'; may be given several times"
    parser.add_argument("--contacts", action="append", metavar="PATTERN", help=help)
    parser.add_argument("--no-limits", action="store_true", help="let joints pass their position limits")
    help = "level ground at z = 0, on which a floating robot is put; by default where something floats without one"
    parser.add_argument("--ground", action=argparse.BooleanOptionalAction, help=help)
    help = "hold all joints where they begin, by drives of these gains [N m/rad, N m s/rad]"
    parser.add_argument("--pd", type=float, nargs=2, metavar=("KP", "KD"), help=help)


def run(args: argparse.Namespace) -> int:
    _check_files(args)  # before anything takes time
    solver = solver_of(args)
    steps = checked_steps(args, solver.world)
    state = begun(args, solver.world)
    control = holding(state) if args.pd else None
    solver.rollout(state, control, steps=1)  # which compiles: it would be said of the steps
    started = time.perf_counter()
    found = solver.rollout(state, control, steps=steps, every=args.every)
    taken = time.perf_counter() - started
    record = recorded(solver.world, found)
    if args.output:
        _write(args, solver.world, record)
    if args.film:
        animate(solver.world, found, path=args.film, fps=FILMED)
    report(args, solver, record, found, steps, taken)
    return tell_diverged(found.state)


def _check_files(args: argparse.Namespace) -> None:
    """Raise ParameterError unless the files to write are what they are named, and none is the one that is read."""
    if args.output and Path(args.output).suffix.lower() != ".npz":
        raise ParameterError("file to write", got=args.output, expected="a name that ends in .npz")
    if args.film:
        checked_ending(args.film)
    for place in filter(None, (args.output, args.film)):
        check_output(args, args.file, output=place)


# --- what the arguments ask for ---


def solver_of(args: argparse.Namespace) -> Solver:
    """Return the chosen solver of the robot's world; ParameterError for a choice that the solver does not have."""
    chosen = getattr(solvers, SOLVERS.get(args.solver) or args.solver)
    law = None if args.contact == "none" else args.contact
    given = {"integrator": args.integrator, "contact": law, "limits": False if args.no_limits else None}
    options = {name: value for name, value in given.items() if value is not None}
    for name in options:
        if name not in inspect.signature(chosen).parameters:
            expected = f"another solver than {args.solver}, which has no such choice"
            got = "--no-limits" if name == "limits" else f"--{name}"
            raise ParameterError("command line", got=got, expected=expected)
    return chosen(world_of(args), args.dt, **options)


def world_of(args: argparse.Namespace) -> World:
    mechanism = locked(args, load_mechanism(args.file, **reading(args)))
    if args.pd:
        mechanism = drive_all(mechanism, Drive(*args.pd))
    ground = _wants_ground(mechanism, args.base) if args.ground is None else args.ground
    anchors = [body for body, _ in editing.loose(mechanism._parts())] if args.base is None else []
    args.hints = [f"{body} is fixed on the world; --base floating lets it stand on the ground" for body in anchors]
    weak = [c.name for c in mechanism.joints if args.pd and max(c.limits.effort or (1.0,)) == 0.0]
    args.hints += [f"no drive holds joint {listed(weak, 3)}: the file limits its effort to 0"] if weak else []
    world = mechanism.world(args.base or "fixed", ground=ground)
    pattern = [] if args.contact == "none" else args.contacts
    return world if pattern is None else world.with_contacts(pattern)


def beyond_stops(world: World) -> list[str]:
    """Return what there is to say of joints that begin beyond their stops: that they move, and whither."""
    model = world.model
    at = limit_coordinates(model, world.initial)
    is_beyond = (at < model.lower - BEYOND) | (at > model.upper + BEYOND)
    names = [name for name in model.joint_names if is_beyond[model.slices[name][1]].any()]
    if not names:
        return []
    return [f"begins beyond its stops, which bring it back within a second or two: joint {listed(names, 3)}"]


def _wants_ground(mechanism: Mechanism, base: str | None) -> bool:
    """Return whether something floats that weight pulls down, and the description brings no ground for it."""
    floats = base == "floating" or any(c.parent == WORLD and moves_freely(c.joint) for c in mechanism.joints)
    brings = any(
        s.body == WORLD and s.role == "collision" and isinstance(s.geometry, GROUNDS) for s in mechanism.shapes
    )
    return floats and not brings and mechanism.gravity[2] < 0.0


def checked_steps(args: argparse.Namespace, world: World) -> int:
    """Return how many steps to take, a multiple of those between two records; ParameterError if they do not fit."""
    for name in ("worlds", "every"):
        whole(f"--{name}", getattr(args, name), 1)
    positive("--seconds", args.seconds, "s")
    records = round(args.seconds / args.dt, 6) / args.every  # rounded: 5 / 0.002 is not above 2500
    size = records * args.worlds * (world.model.nq + world.model.nv) * 8
    if size > MOST:
        expected = f"at most {MOST} bytes of records"
        raise ParameterError("simulation", got=f"{size:.3g} bytes", expected=expected, hint="Write --every N.")
    return max(1, math.ceil(records)) * args.every


def begun(args: argparse.Namespace, world: World) -> State:
    """Return the state to begin with: where the world begins, or random joints, on the ground if there is one."""
    state = world.state(args.worlds)
    if args.seed is not None:
        whole("--seed", args.seed, 0)
        q = world.model.random_configuration((len(state),), seed=args.seed)
        for articulation in world.articulations.values():
            if articulation.is_floating:  # its base stays where it is
                base = world.model.slices[articulation.joints[0]][0]
                q[:, base] = state.q[:, base]
        state.q = assemble(world.model, q) if world.model.closures else q
        stand(state)
    elif not args.no_limits:
        args.hints += beyond_stops(world)
    return state


def holding(state: State) -> Control:
    world: World = state.world  # pyright: ignore[reportAssignmentType] -- the record a state knows is its world
    control = world.control(len(state))
    control.position = limit_coordinates(world.model, state.q)
    return control


# --- what was found ---


def _write(args: argparse.Namespace, world: World, record: Recorded) -> None:
    tables = {"joints": np.array(world.model.joint_names), "q_starts": world.q_starts, "v_starts": world.v_starts}
    arrays: dict[str, Any] = record._asdict() | tables
    try:
        write_whole({Path(args.output): lambda stream: np.savez(stream, **arrays)})
    except OSError as error:
        expected = f"a writable place ({error.strerror or error})"
        raise ParameterError("file to write", got=args.output, expected=expected) from None


def report(
    args: argparse.Namespace, solver: Solver, record: Recorded, found: Trajectory, steps: int, taken: float
) -> None:
    """Print what was done, as text or JSON; the layout of the latter is stable."""
    world = solver.world
    energy = (record.kinetic_energy + record.potential_energy)[[0, -1]]
    height = center_of_mass(world.model, record.q[[0, -1]])[..., 2].mean(axis=-1) if world.model.mass else (None, None)
    speed, depth = float(np.abs(record.v[-1]).max(initial=0.0)), _depth(found.state)
    at = int(np.abs(record.v[-1]).max(axis=0, initial=0.0).argmax()) if world.model.nv else -1
    fastest = [name for name in world.model.joint_names if at in range(world.model.nv)[world.model.slices[name][1]]]
    hulls = [(s.geometry.error, s.body) for s in world.shapes if s.role == "collision" and isinstance(s.geometry, Hull)]
    worst = max(hulls, default=None)
    summary = {
        "robot": world.name,
        "solver": type(solver).__name__,
        **{name: getattr(args, name) for name in ("output", "film", "worlds", "dt")},
        "steps": steps,
        "records": len(record.time),
        "taken_s": taken,
        "height_first": height[0],
        "height_last": height[1],
        "speed_last": speed,
        "depth_last": depth,
        "hulls": len(hulls),
        "hull_error": worst and worst[0],
        "energy_first": energy[0],
        "energy_last": energy[1],
        "largest_residual": record.residual.max(initial=0.0),
        "diverged": np.flatnonzero(record.diverged),
    }
    many = f"{args.worlds} worlds" if args.worlds > 1 else "1 world"
    written = f"{args.output}: " if args.output else ""
    lines = [
        f"{written}{world.name}, {many}, {steps} steps of {args.dt:g} s in {taken:.3g} s ({solver!r})",
        "no body has mass"
        if height[0] is None
        else f"mean height of the centre of mass {height[0]:.4g} m at first, {height[1]:.4g} m at last",
        f"largest velocity at last {speed:.2g} m/s or rad/s" + "".join(f" ({name})" for name in fastest),
        f"mean energy {energy[0].mean():.6g} J at first, {energy[1].mean():.6g} J at last",
        f"largest residual of a step {summary['largest_residual']:.2g}",
    ]
    lines += [] if depth is None else [f"deepest in the ground at last {1e3 * depth:.3f} mm"]
    lines += [f"meshes reach at most {1e3 * worst[0]:.2f} mm beyond their convex hulls ({worst[1]})"] if worst else []
    lines += args.hints
    tell(args, summary, "\n".join(lines))


def _depth(state: State) -> float | None:
    """Return how deep a shape is in a plane or terrain of the world, at most [m]; None if none may touch one."""
    found = [float(own.max()) for own in depths_in_grounds(state).values()]
    return max(0.0, *found) if found else None


def tell_diverged(state: State) -> int:
    """Name the worlds that a solver could not move on, on stderr, and return the exit status."""
    gone = state.divergences()
    for world, at, joint in gone[:SHOWN]:
        where = f", at joint {joint!r}" if joint else ""
        print(harmless(f"cardan simulate: world {world} diverged at {at:.6g} s{where}"), file=sys.stderr)
    if len(gone) > SHOWN:
        print(f"cardan simulate: and {len(gone) - SHOWN} more worlds diverged", file=sys.stderr)
    return DIVERGED if gone else 0


# --- the record of a simulation: energies, and the forces that hold the robot ---


class Recorded(NamedTuple):
    """What a simulation found: T records of W worlds."""

    time: np.ndarray  # [s], (T, W)
    q: np.ndarray  # configurations, (T, W, nq)
    v: np.ndarray  # velocities, (T, W, nv)
    kinetic_energy: np.ndarray  # [J], (T, W)
    potential_energy: np.ndarray  # of weight [J], (T, W)
    # the force of the world on all bodies but for weight, through base and contacts, the mean from each record to the
    # next in world axes [N], (T - 1, W, 3); NaN once a world has diverged
    support: np.ndarray
    residual: np.ndarray  # of the solves of the steps, (T, W)
    diverged: np.ndarray  # (W,)


def recorded(world: World, found: Trajectory) -> Recorded:
    model = world.model
    energies = kinetic_energy(model, found.q, found.v), potential_energy(model, found.q)
    momentum = np.zeros((*found.time.shape, 3))
    if model.mass:
        momentum = model.mass * center_of_mass_velocity(model, found.q, found.v)
    passed = np.diff(found.time, axis=0)[..., None]
    with np.errstate(invalid="ignore", divide="ignore"):  # a diverged world's time stands still
        support = np.where(passed > 0.0, np.diff(momentum, axis=0) / passed, np.nan)
    support -= model.mass * np.array(tuple(model.gravity), dtype=float)
    return Recorded(found.time, found.q, found.v, *energies, support, found.residual, found.state.diverged)
