"""`cardan compile FILE --function NAME ...`: compiled programs into the cache, before a robot needs them."""

from __future__ import annotations

import argparse
import time
from typing import Any

from cardan._dynamics.call.function import Function
from cardan._reach.cli.bench import random_arrays
from cardan._reach.cli.options import ROBOT, add, frame_option, function_named, load_robot, say
from cardan._robot.model import Model


def fill(parser: argparse.ArgumentParser) -> None:
    add(parser, *ROBOT, "--frame")
    help = "such as inverse_dynamics; may be given several times"
    add(parser, "--function", action="extend", nargs="+", required=True, help=help)
    parser.add_argument("--target", help="where it will run; by default CARDAN_TARGET, or native code")


def run(args: argparse.Namespace) -> int:
    chosen = [function_named(name) for name in dict.fromkeys(args.function)]
    options = [frame_option(function, args.frame) for function in chosen]
    model = load_robot(args)
    for function, option in zip(chosen, options, strict=True):
        started = time.perf_counter()
        operations = compiled(function.on(target=args.target) if args.target else function, model, option)
        say(f"{function.name} of {model.name}: {operations} operations, {time.perf_counter() - started:.2f} s")
    return 0


def compiled(function: Function, model: Model, options: dict[str, Any]) -> int:
    """Compile a function by calling it, and return its operations."""
    program = function.program(model, **options)
    function.bind(model, **options)(*(a[0] for a in random_arrays(model, program.inputs, 1)))
    return program.operations
