"""`cardan simulate FILE -o OUT.npz`: what a robot does, left alone or held by drives, in one world or many."""

from __future__ import annotations

import argparse
import inspect
import math
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from cardan._algebra.checked_numbers import positive, whole
from cardan._algebra.errors import ParameterError
from cardan._compiler.runtime.staging import write_whole
from cardan._dynamics.functions import (
    assemble,
    center_of_mass_velocity,
    kinetic_energy,
    limit_coordinates,
    potential_energy,
)
from cardan._motion.contact import LAWS
from cardan._motion.simulation import Control, State, World, solvers
from cardan._motion.simulation.builder import drive_all
from cardan._motion.simulation.solvers import Solver, Trajectory
from cardan._motion.simulation.standing import stand
from cardan._reach.cli.options import (
    add_continuous,
    add_file,
    add_json,
    add_lock,
    add_overwrite,
    check_output,
    harmless,
    locked,
    print_json,
    reading,
    say,
)
from cardan._reach.cli.plots import check_picture, picture_writer
from cardan._reach.cli.progress_bar import progress_bar
from cardan._reach.cli.simulation_plot import simulation_figure
from cardan._reach.formats import load_mechanism
from cardan._robot.model import Drive

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


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.epilog = f"Exit status {DIVERGED}: written, but worlds diverged; they are named on stderr."
    add_file(parser)
    add_continuous(parser)
    add_lock(parser)
    parser.add_argument("-o", "--output", required=True, metavar="OUT.npz", help="arrays to write")
    parser.add_argument("--plot", metavar="OUT.png", help="picture of energies and forces to write")
    _add_worlds(parser)
    _add_solver(parser)
    add_json(parser)
    add_overwrite(parser)
    parser.set_defaults(run=run)


def _add_worlds(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--base", choices=("fixed", "floating"), default="fixed", help="how the root link is held")
    add_ground(parser)
    parser.add_argument("--worlds", type=int, default=1, metavar="N", help="how many worlds (default: 1)")
    parser.add_argument("--seed", type=int, metavar="S", help="begin in random configurations, the base as it is")
    add_drives(parser)


def _add_solver(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seconds", type=float, default=5.0, metavar="T", help="how long (default: 5)")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="record every N-th step (default: 1)")
    add_solver(parser, "--solver", help="what moves it", default="featherstone")
    parser.set_defaults(dt=DT)


class Options(Protocol):
    """A parser, or a group of its options."""

    def add_argument(self, *names: str, **options: Any) -> Any:
        """Add an option."""


def add_ground(parser: Options) -> None:
    """Add --ground."""
    help = "level ground at z = 0, on which a floating robot is put; by default where the base floats"
    parser.add_argument("--ground", action=argparse.BooleanOptionalAction, help=help)


def add_drives(parser: Options) -> None:
    """Add --pd."""
    help = "hold all joints where they begin, by drives of these gains [N m/rad, N m s/rad]"
    parser.add_argument("--pd", type=float, nargs=2, metavar=("KP", "KD"), help=help)


def add_solver(parser: Options, flag: str, **options: Any) -> None:
    """Add the choice of a solver, and what `solver_of` reads of its options."""
    parser.add_argument("--dt", type=float, metavar="H", help=f"length of a step [s] (default: {DT:g})")
    parser.add_argument(flag, dest="solver", choices=SOLVERS, **options)
    help = "of featherstone: implicit (default), semi_implicit, leapfrog, midpoint, rk4; mujoco has its own"
    parser.add_argument("--integrator", metavar="NAME", help=help)
    help = "law of contacts, of featherstone (default: convex); none, of all: what touches passes through"
    parser.add_argument("--contact", choices=(*LAWS, "none"), help=help)
    help = "only these may touch: names or patterns of pairs, shapes or bodies, as '*_foot'; may be given several times"
    parser.add_argument("--contacts", action="append", metavar="PATTERN", help=help)
    parser.add_argument("--no-limits", action="store_true", help="let joints pass their position limits")


class Recorded(NamedTuple):
    """What a simulation found; T records of W worlds.

    Attributes:
        time: [s], (T, W).
        q: configurations, (T, W, nq).
        v: velocities, (T, W, nv).
        kinetic_energy: [J], (T, W).
        potential_energy: of weight [J], (T, W).
        support: the force of the world on all bodies but for weight, through base and contacts, the mean from each
            record to the next in world axes [N], (T - 1, W, 3); NaN once a world has diverged.
        residual: of the solves of the steps, (T, W).
        diverged: (W,).
    """

    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    kinetic_energy: np.ndarray
    potential_energy: np.ndarray
    support: np.ndarray
    residual: np.ndarray
    diverged: np.ndarray


def run(args: argparse.Namespace) -> int:
    """Simulate, write, report."""
    _check_outputs(args)
    solver = solver_of(args)
    steps = checked_steps(args, solver.world)
    state = begun(args, solver.world)
    control = holding(state) if args.pd else None
    started = time.perf_counter()
    with progress_bar(steps) as progress:
        found = solver.rollout(state, control, steps=steps, every=args.every, progress=progress)
    taken = time.perf_counter() - started
    record = recorded(solver.world, found)
    _write(args, solver, record)
    report(args, solver, record, steps, taken)
    return tell_diverged(found.state)


# --- what is asked for ---


def solver_of(args: argparse.Namespace) -> Solver:
    """Return the solver of the world that is asked for.

    Raises:
        ParameterError: for a choice that the solver does not have.
    """
    chosen = getattr(solvers, SOLVERS[args.solver])
    law = None if args.contact == "none" else args.contact
    asked = {"integrator": args.integrator, "contact": law, "limits": False if args.no_limits else None}
    options = {name: value for name, value in asked.items() if value is not None}
    for name in options:
        if name not in inspect.signature(chosen).parameters:
            expected = f"another solver than {args.solver}, which has no such choice"
            raise ParameterError(
                "command line", got="--no-limits" if name == "limits" else f"--{name}", expected=expected
            )
    return chosen(world_of(args), args.dt, **options)


def world_of(args: argparse.Namespace) -> World:
    """Return the robot of FILE in a world, with drives and on ground if that is asked for."""
    mechanism = locked(args, load_mechanism(args.file, **reading(args)))
    if args.pd:
        mechanism = drive_all(mechanism, Drive(*args.pd))
    ground = args.base == "floating" if args.ground is None else args.ground
    world = mechanism.world(args.base, ground=ground)
    pattern = [] if args.contact == "none" else args.contacts
    return world if pattern is None else world.with_contacts(pattern)


def checked_steps(args: argparse.Namespace, world: World) -> int:
    """Return how many steps there are to take, a multiple of those between two records.

    Raises:
        ParameterError: for numbers that are no such, and for more records than there is room for.
    """
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
        state.q = _shuffled(state, args.seed)
        stand(state)
    return state


def _shuffled(state: State, seed: int) -> np.ndarray:
    """Return random configurations, with floating bases where they are, and loops closed."""
    world = state.world
    q = world.model.random_configuration((len(state),), seed=seed)
    for articulation in world.articulations.values():
        if articulation.is_floating:
            base = world.model.q_slice(articulation.joints[0])
            q[:, base] = state.q[:, base]
    return assemble(world.model, q) if world.model.closures else q


def holding(state: State) -> Control:
    """Return a control that lets drives hold the joints where they are."""
    control = state.world.control(len(state))
    control.position = limit_coordinates(state.world.model, state.q)
    return control


# --- what was found ---


def recorded(world: World, found: Trajectory) -> Recorded:
    """Return a trajectory with its energies and forces."""
    model = world.model
    energies = kinetic_energy(model, found.q, found.v), potential_energy(model, found.q)
    momentum = model.mass * center_of_mass_velocity(model, found.q, found.v)
    passed = np.diff(found.time, axis=0)[..., None]
    with np.errstate(invalid="ignore", divide="ignore"):  # a diverged world's time stands still
        support = np.where(passed > 0.0, np.diff(momentum, axis=0) / passed, np.nan) - weight(world)
    return Recorded(found.time, found.q, found.v, *energies, support, found.residual, found.state.diverged)


def weight(world: World) -> np.ndarray:
    """Return the weight of all bodies [N], (3,)."""
    return world.model.mass * np.array(tuple(world.model.gravity), dtype=float)


def _check_outputs(args: argparse.Namespace) -> None:
    """Raise before anything takes time, if the files cannot be what they are named."""
    if Path(args.output).suffix.lower() != ".npz":
        raise ParameterError("file to write", got=args.output, expected="a name that ends in .npz")
    check_output(args, args.file)
    if args.plot:
        check_picture(args.plot)
        check_output(args, args.file, output=args.plot)


def _write(args: argparse.Namespace, solver: Solver, record: Recorded) -> None:
    """Write arrays and picture, or neither."""
    world = solver.world
    tables = {"joints": np.array(world.model.joint_names), "q_starts": world.q_starts, "v_starts": world.v_starts}
    arrays: dict[str, Any] = record._asdict() | tables
    files: dict[Path, Any] = {Path(args.output): lambda stream: np.savez(stream, **arrays)}
    if args.plot:
        figure = simulation_figure(f"{world.name}, {type(solver).__name__}", record, weight(world))
        files[Path(args.plot)] = picture_writer(figure, args.plot)
    try:
        write_whole(files)
    except OSError as error:
        expected = f"a writable place ({error.strerror or error})"
        raise ParameterError("files to write", got=", ".join(map(str, files)), expected=expected) from None


def report(args: argparse.Namespace, solver: Solver, record: Recorded, steps: int, taken: float) -> None:
    """Print what was done, as text or JSON; the layout of the latter is stable."""
    energy = (record.kinetic_energy + record.potential_energy)[[0, -1]]
    summary = {
        "robot": solver.world.name,
        "solver": type(solver).__name__,
        "output": args.output,
        "plot": args.plot,
        "worlds": args.worlds,
        "dt": args.dt,
        "steps": steps,
        "records": len(record.time),
        "taken_s": taken,
        "energy_first": energy[0],
        "energy_last": energy[1],
        "largest_residual": record.residual.max(initial=0.0),
        "diverged": np.flatnonzero(record.diverged),
    }
    if args.json:
        print_json(summary)
        return
    many = f"{args.worlds} worlds" if args.worlds > 1 else "1 world"
    say(f"{args.output}: {solver.world.name}, {many}, {steps} steps of {args.dt:g} s in {taken:.2f} s ({solver!r})")
    say(f"mean energy {energy[0].mean():.6g} J at first, {energy[1].mean():.6g} J at last")
    say(f"largest residual of a step {summary['largest_residual']:.2g}")


def tell_diverged(state: State) -> int:
    """Name the worlds that a solver could not move on, on stderr, and return the exit status."""
    gone = state.divergences()
    for world, at, joint in gone[:SHOWN]:
        where = f", at joint {joint!r}" if joint else ""
        print(harmless(f"cardan simulate: world {world} diverged at {at:.6g} s{where}"), file=sys.stderr)
    if len(gone) > SHOWN:
        print(f"cardan simulate: and {len(gone) - SHOWN} more worlds diverged", file=sys.stderr)
    return DIVERGED if gone else 0
