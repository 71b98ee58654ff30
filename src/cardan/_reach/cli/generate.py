"""`cardan generate FILE --function NAME -o arm.c`: functions of a robot, controllers and steps as C and C++ source."""

from __future__ import annotations

import argparse
import functools
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from cardan._algebra.errors import DuplicateNameError, ParameterError
from cardan._dynamics.call.function import Function
from cardan._reach.cli.options import ROBOT, add, frame_option, function_named, load_robot, say
from cardan._reach.cli.simulate import DT, add_solver, solver_of
from cardan._reach.generation import function_in, generate, step_of
from cardan._reach.generation.library import One
from cardan._robot.model import Model

OF_STEPS = ("steps", "ground", "pd", "dt", "integrator", "contact", "contacts", "no_limits")


def fill(parser: argparse.ArgumentParser) -> None:
    parser.epilog = "With --step, what --function names is generated for the same world's robot."
    add(parser, *ROBOT)
    help = "such as inverse_dynamics, or one of your own in a Python file, which is run; may be given several times"
    add(parser, "--function", action="extend", nargs="+", default=[], metavar="[AS=][FILE.py:]NAME", help=help)
    add(parser, "--frame")
    help = "source to write, named as its one function will be, FILE.h beside it; or a folder for a library of several"
    parser.add_argument("-o", "--output", required=True, metavar="FILE.c|FOLDER", help=help)
    parser.add_argument("--single", action="store_true", help="compute in float instead of double")
    help = "where the values of long programs wait: on the stack (default), or in an array the caller gives"
    parser.add_argument("--workspace", choices=("stack", "argument"), default="stack", help=help)
    steps = parser.add_argument_group("simulation steps")
    add_solver(steps, "--step", help="a step of a solver, too, of state and control", default=None)
    steps.add_argument("--steps", type=int, metavar="N", help="so many at once, under one control (default: 1)")


def run(args: argparse.Namespace) -> int:
    functions: dict[str, One] = dict(_functions(args.function, args.frame))
    model = _model(args, functions)
    if not functions:
        raise ParameterError("command line", got="neither", expected="--function NAME or --step SOLVER")
    written = generate(functions, model, args.output, single=args.single, workspace=args.workspace)
    files = ", ".join(map(str, written.files)) if len(written.files) == 2 else f"{Path(args.output)}/"
    for name, function in zip(functions, written.functions, strict=True):
        say(f"{files}: {name} of {model.name}, {function.work}")
        say(f"  stack, at most: {function.memory}")
    if len(written.files) > 2:
        library = Path(args.output).name
        say(f"C in src/, include/{library}.h, for C++17 include/{library}.hpp")
    return 0


def _model(args: argparse.Namespace, functions: dict[str, One]) -> Model:
    """Return the robot, of --step that of its world; the step joins the functions."""
    if args.solver is None:
        given = [name for name in OF_STEPS if getattr(args, name) not in (None, False)]
        if given:
            got = f"--{given[0].replace('_', '-')}"
            raise ParameterError("command line", got=got, expected="--step SOLVER with it")
        return load_robot(args)
    if args.root != "world":
        expected = "no --root with --step: a world holds its robots by --base"
        raise ParameterError("--root", got=args.root, expected=expected)
    if "step" in functions:
        raise DuplicateNameError("function", "step", "--function beside --step")
    args.dt = DT if args.dt is None else args.dt
    solver = solver_of(args)
    functions["step"] = step_of(solver, 1 if args.steps is None else args.steps)
    return solver.world.model


def _functions(names: Iterable[str], frame: str | None) -> Iterable[tuple[str, One]]:
    """Yield the functions of --function, by the names they shall have; errors for two of one name, and for frames."""
    taken: set[str] = set()
    is_used = False
    for text in names:
        chosen, function = _one(text)
        if chosen in taken:
            raise DuplicateNameError("function", chosen, "--function (NEW=NAME gives another one)")
        taken.add(chosen)
        options = frame_option(function, frame)
        is_used = is_used or bool(options)
        yield chosen, functools.partial(function, **options) if options else function
    if frame is not None and not is_used:
        expected = f"no --frame: {', '.join(taken) or 'a step'} is not about a frame"
        raise ParameterError("--frame", got=frame, expected=expected)


def _one(text: str) -> tuple[str, Function[..., Any]]:
    """Return what `[AS=][FILE.py:]NAME` means: the name it shall have, and the function."""
    match = re.fullmatch(r"(?:([A-Za-z_]\w*)=)?(?:(.+):)?([^:]*)", text, re.DOTALL)
    chosen, file, name = match.groups() if match else (None, None, text)
    if file is None and name.endswith(".py"):
        raise ParameterError("--function", got=text, expected="FILE.py:NAME, a function in the file")
    return chosen or name, function_in(file, name) if file else function_named(name)
