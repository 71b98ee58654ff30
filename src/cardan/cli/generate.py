"""`cardan generate FILE --function NAME -o arm.c`: a function of a robot as C source."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from cardan.cli.options import add_functions, add_robot, frame_option, function_named, load_robot, say
from cardan.errors import ParameterError
from cardan.functions import Function
from cardan.model import Model
from cardan.staging import write_whole
from cardan.targets.c import c_code

_WORDS = """
    auto break case char const continue default do double else enum extern float for goto if inline int long register
    restrict return short signed sizeof static struct switch typedef union unsigned void volatile while main
    acos asin atan atan2 ceil cos cosh exp fabs floor fmax fmin fmod log pow round sin sinh sqrt tan tanh trunc
"""
C_WORDS = frozenset(_WORDS.split())
"""Words of C, and functions of its library: no function of one's own may be named so."""


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser("generate", help="a function of a robot as C99 source and header")
    add_robot(parser)
    add_functions(parser, required=True, help="such as inverse_dynamics")
    help = "source to write, named as the function in it will be; FILE.h goes beside it"
    parser.add_argument("-o", "--output", required=True, metavar="FILE.c", help=help)
    parser.add_argument("--single", action="store_true", help="compute in float instead of double")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write both files, or none."""
    function, output = function_named(args.function), Path(args.output)
    if output.suffix != ".c" or output.stem in C_WORDS:
        expected = "a name that ends in .c, and is no word of C before"
        raise ParameterError("output file", got=args.output, expected=expected)
    options = frame_option(function, args.frame)
    if args.frame is not None and not options:
        raise ParameterError("--frame", got=args.frame, expected=f"none: {function.name} is not about a frame")
    model = load_robot(args)
    program = function.program(model, **options)
    code = c_code(program, output.stem, single=args.single, comment=description(model, function))
    _write({output: code.source, output.with_suffix(".h"): code.header})
    say(f"{output}, {output.with_suffix('.h')}: {function.name} of {model.name}, {program.operations} operations")
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
    try:
        write_whole(
            {p: lambda stream, t=t: stream.write(t.encode(errors="backslashreplace")) for p, t in files.items()}
        )
    except OSError as error:
        expected = f"a writable place ({error.strerror})"
        raise ParameterError("output file", got=str(next(iter(files))), expected=expected) from None
