"""`cardan generate FILE --function NAME -o arm.c`: a function of a robot as C source."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from cardan import functions
from cardan.cli.options import add_robot, load_robot
from cardan.errors import ParameterError, UnknownNameError
from cardan.functions import Function
from cardan.model import Model
from cardan.staging import write_whole
from cardan.targets.c import c_code

FUNCTIONS = {name: f for name, f in vars(functions).items() if isinstance(f, Function)}


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser("generate", help="a function of a robot as C99 source and header")
    add_robot(parser)
    parser.add_argument("--function", required=True, metavar="NAME", help="such as inverse_dynamics")
    parser.add_argument(
        "-o", "--output", required=True, metavar="FILE.c", help="source to write; FILE.h goes beside it"
    )
    parser.add_argument("--frame", help="for functions of a frame")
    parser.add_argument("--single", action="store_true", help="compute in float instead of double")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write both files, or none."""
    if args.function not in FUNCTIONS:
        raise UnknownNameError("function", args.function, FUNCTIONS)
    output = Path(args.output)
    if output.suffix != ".c":
        raise ParameterError("output file", got=args.output, expected="a name that ends in .c")
    model, function = load_robot(args), FUNCTIONS[args.function]
    if args.frame is not None and "frame" not in function.parameters.parameters:
        raise ParameterError("--frame", got=args.frame, expected=f"none: {function.name} is not about a frame")
    program = function.program(model, **({"frame": args.frame} if args.frame else {}))
    code = c_code(program, output.stem, single=args.single, comment=description(model, function))
    _write({output: code.source, output.with_suffix(".h"): code.header})
    print(f"{output}, {output.with_suffix('.h')}: {function.name} of {model.name}, {program.operations} operations")
    return 0


def description(model: Model, function: Function) -> str:
    """Return what the files say at their head: the function, and which entry belongs to which joint."""
    lines = [f"{function.name} of {model.name}", (function.__doc__ or "").split("\n")[0], ""]
    for name in model.joint_names:
        iq, iv = model.q_slice(name), model.v_slice(name)
        if iq.stop > iq.start:
            lines.append(f"{name}: q[{iq.start}..{iq.stop - 1}], v[{iv.start}..{iv.stop - 1}]")
    return "\n".join(lines)


def _write(files: dict[Path, str]) -> None:
    texts = {path: text.encode() for path, text in files.items()}
    try:
        write_whole({path: partial(_put, text=text) for path, text in texts.items()})
    except OSError as error:
        got = str(next(iter(files)))
        raise ParameterError("output file", got=got, expected=f"a writable place ({error.strerror})") from None


def _put(stream: BinaryIO, text: bytes) -> None:
    stream.write(text)
