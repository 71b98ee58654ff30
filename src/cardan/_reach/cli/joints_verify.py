"""`cardan joints verify WHAT`: the certificate of a joint of your own, or of one that ships."""

from __future__ import annotations

import argparse
import inspect
import json
import math
from pathlib import Path
from typing import Any

from cardan._algebra.errors import JointError, ParameterError, UnknownNameError
from cardan._reach.cli.certificate_plot import draw_certificate
from cardan._reach.cli.options import add_json, tell
from cardan._reach.generation.user_file import imported
from cardan._reach.verification import verify_joint
from cardan._robot.joints import CATALOGUE, Joint, Limits


def add_parser(actions: Any) -> None:
    """Add the action."""
    parser = actions.add_parser("verify", help="check a joint against its definition and all that follows from it")
    parser.add_argument("joint", metavar="FILE:CLASS", help="a class in a Python file, or the name of a joint type")
    parser.add_argument("--arguments", metavar="JSON", help="of the class, such as '{\"pitch\": 0.1}'")
    parser.add_argument("--samples", type=int, default=12, metavar="N", help="configurations (default: 12)")
    parser.add_argument("--seed", type=int, default=0, help="of the random numbers (default: 0)")
    parser.add_argument("--limits", metavar="JSON", help="lower and upper positions, as '[[-0.3], [0.3]]'")
    parser.add_argument("--plot", metavar="FILE.png", help="draw the frames and the errors")
    add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the certificate; return 1 if a check fails."""
    joint = joint_of(args.joint, args.arguments)
    certificate = verify_joint(joint, args.samples, args.seed, limits=limits_of(args.limits))
    tell(args, certificate.plain(), certificate)
    if args.plot:
        draw_certificate(joint, certificate, args.plot)
    return 0 if certificate.passed else 1


def joint_of(what: str, arguments: str | None) -> Joint:
    """Return the joint the command line names."""
    file, colon, name = what.rpartition(":")
    kind = class_of(Path(file), name) if colon else None
    if kind is None:
        types = {type(j).__name__: j for j in reversed(CATALOGUE)}
        if what not in types:
            where = "cardan joints verify (or a class in a file, as FILE:CLASS)"
            raise UnknownNameError("joint type", what, types, where=where)
        if arguments is None:
            return types[what]
        kind = type(types[what])
    return made(kind, arguments)


def limits_of(text: str | None) -> Limits | None:
    """Return the limits the command line names; null stands for no limit."""
    if text is None:
        return None
    expected = "JSON of lower and upper positions, nv numbers (or null) each: '[[-0.3], [0.3]]'"
    try:
        lower, upper = (
            [unlimited if e is None else float(e) for e in side]
            for side, unlimited in zip(json.loads(text), (-math.inf, math.inf), strict=True)
        )
    except (TypeError, ValueError):
        raise ParameterError("--limits", got=text, expected=expected) from None
    return Limits(lower=lower, upper=upper)


def class_of(file: Path, name: str) -> type[Joint]:
    """Return a joint class of a Python file."""
    members = vars(imported(file)).items()
    joints = {k: v for k, v in members if inspect.isclass(v) and issubclass(v, Joint) and v is not Joint}
    if name not in joints:
        raise UnknownNameError("joint class", name, joints, where=str(file))
    return joints[name]


def made(kind: type[Joint], arguments: str | None) -> Joint:
    """Return the joint of a class and its arguments, a JSON object of keywords or a list."""
    try:
        given = json.loads(arguments) if arguments is not None else {}
    except json.JSONDecodeError as error:
        raise ParameterError("--arguments", got=arguments, expected=f"JSON ({error})") from None
    if not isinstance(given, (dict, list)):
        raise ParameterError("--arguments", got=arguments, expected="a JSON object of keywords, or a list")
    try:
        return kind(**given) if isinstance(given, dict) else kind(*given)
    except TypeError as error:
        hint = "give its arguments as --arguments JSON" if arguments is None else "check --arguments"
        raise JointError(f"{kind.__name__} cannot be made: {error}; {hint}.") from error
