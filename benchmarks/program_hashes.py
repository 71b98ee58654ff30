"""Print a digest of each program that joints and robots that ship give: the same on every machine.

    python benchmarks/program_hashes.py [--joints] [--functions inverse_dynamics ...] [--urdf FILE ...]

A program is a pure function of its source: neither the BLAS (`OPENBLAS_CORETYPE=Haswell`, `Zen`, `SkylakeX`) nor the C
library's sines (`GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-FMA`) may change a bit of it.
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

import cardan
from cardan._compiler.program import Program
from cardan._reach.verification.dynamics import program
from cardan._robot.joints.derivation.derived import rates_program
from cardan.joints import CATALOGUE
from cardan.robots import ROBOTS

ALL = tuple(n for n in cardan.__all__ if isinstance(getattr(cardan, n), cardan.Function))
Made = Program | cardan.CardanError
FUNCTIONS = ("inverse_dynamics", "mass_matrix", "forward_dynamics")


def joint_programs() -> Iterator[tuple[str, Program]]:
    """Yield the programs of transform, S and bias of each joint that ships, and of their rates."""
    for k, joint in enumerate(CATALOGUE):
        yield f"{k:02d} {type(joint).__name__}", program(joint)
        if joint.nv:
            yield f"{k:02d} {type(joint).__name__} rates", rates_program((joint,))


def programs_of(name: str, model: cardan.Model, functions: Sequence[str]) -> Iterator[tuple[str, Made]]:
    """Yield the programs of a robot, of its last frame where a function asks for one, or why there is none."""
    for function in (getattr(cardan, n) for n in functions):
        options = {"frame": model.frame_names[-1]} if "frame" in function.interface.open else {}
        try:
            yield f"{name} {function.__name__}", function.program(model, **options)
        except cardan.CardanError as error:
            yield f"{name} {function.__name__}", error


def robot_programs(functions: Sequence[str]) -> Iterator[tuple[str, Made]]:
    """Yield the programs of each robot that ships, and of three with closed loops."""
    for name in ROBOTS:
        yield from programs_of(name, cardan.load(cardan.robots.urdf_path(name)), functions)
    for closed in (cardan.robots.four_bar, cardan.robots.five_bar, cardan.robots.stewart_platform):
        yield from programs_of(closed.__name__, closed().model(), functions)


def file_programs(files: Sequence[str], functions: Sequence[str]) -> Iterator[tuple[str, Made]]:
    """Yield the programs of robots by their URDF files, or why one is not read."""
    for file in files:
        name = Path(file).stem
        try:
            model = floating_or_fixed(file)
        except cardan.CardanError as error:
            yield name, error
        else:
            yield from programs_of(name, model, functions)


def floating_or_fixed(file: str) -> cardan.Model:
    """Return a robot with a floating base, or on the world where its file has put it there."""
    try:
        return cardan.load(file, base="floating")
    except cardan.errors.MechanismError:
        return cardan.load(file)


def line(name: str, made: Made) -> str:
    """Return what is printed of a program: the digest of its text, its operations and its name."""
    if isinstance(made, cardan.CardanError):
        return f"{type(made).__name__:24s}  {name}: {str(made).splitlines()[0]}"
    return f"{hashlib.sha256(str(made).encode()).hexdigest()[:16]} {made.operations:7d}  {name}"


def main() -> None:
    """Print operations and digest of each program, and the digest of all these lines."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--joints", action="store_true", help="joints alone")
    parser.add_argument("--functions", nargs="*", default=FUNCTIONS, help="functions of each robot, or all")
    parser.add_argument(
        "--urdf", nargs="*", default=(), help="robots' files, instead of the joints and robots that ship"
    )
    options = parser.parse_args()
    names = ALL if options.functions == ["all"] else options.functions
    found: Iterable[tuple[str, Made]] = chain(joint_programs(), [] if options.joints else robot_programs(names))
    if options.urdf:
        found = file_programs(options.urdf, names)
    everything, count = hashlib.sha256(), 0
    for name, made in found:
        print(text := line(name, made), flush=True)
        if isinstance(made, Program):
            everything.update(text.encode())
            count += 1
    print(f"{everything.hexdigest()[:16]} of all {count} programs")


if __name__ == "__main__":
    main()
