"""What several commands share: arguments, how they are read, and how results are printed."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import pkgutil
from typing import Any

from cardan._algebra.errors import ParameterError, UnknownNameError, visible
from cardan._dynamics import algorithms, functions
from cardan._dynamics.call.function import Function
from cardan._dynamics.call.public import PUBLIC
from cardan._dynamics.call.suggestions import answers
from cardan._reach.formats import load, read_robot
from cardan._reach.formats.json.text import jsonable
from cardan._reach.formats.reading import FORMATS
from cardan._robot.model import WORLD, Model
from cardan._robot.model.layout import aligned

# --- arguments ----------------------------------------------------------------------------------------------------


def _argument(text: str) -> tuple[str, str]:
    name, separator, value = text.partition(":=")
    if not separator or not name:
        raise argparse.ArgumentTypeError(f"{text!r}: expected NAME:=VALUE")
    return name, value


def _locked_joint(text: str) -> tuple[str, list[float]]:
    name, _, values = text.rpartition("=")  # a name may hold the sign, a number never does
    try:
        found = [float(value) for value in values.split(",")]
    except ValueError:
        found = []
    if not name or not found:
        raise argparse.ArgumentTypeError(f"{text!r}: expected JOINT=VALUE, such as finger=0.02")
    return name, found


ARGUMENTS: dict[str, dict[str, Any]] = {
    "file": {
        "metavar": "FILE",
        "help": f"robot description ({', '.join((*FORMATS, '.xml'))}), or the name of a robot that ships, as quadruped",
    },
    "--package": {
        "action": "append",
        "metavar": "DIR",
        "default": [],
        "help": "folder that contains package:// packages",
    },
    "--srdf": {"metavar": "FILE", "help": "groups, named configurations and disabled contacts"},
    "--xacro-arg": {
        "action": "append",
        "metavar": "NAME:=VALUE",
        "default": [],
        "type": _argument,
        "help": "argument of a .xacro file",
    },
    "--model": {"metavar": "NAME", "help": "which robot, in a file of several"},
    "--orphans": {"choices": ("warn", "error", "keep", "drop"), "default": "warn", "help": "joints on no robot"},
    "--trusted": {
        "action": "store_true",
        "help": "the file may run code: expand xacro, import the joint classes of a .json file",
    },
    "--base": {"choices": ("fixed", "floating"), "default": "fixed", "help": "how the root link is held"},
    "--root": {"default": WORLD, "metavar": "BODY", "help": "body or frame that is held by the base instead"},
    "--continuous": {
        "choices": ("angle", "unit_complex"),
        "default": "angle",
        "help": "coordinates of continuous joints",
    },
    "--lock": {
        "action": "append",
        "metavar": "JOINT=VALUE[,VALUE...]",
        "default": [],
        "type": _locked_joint,
        "help": "fix a joint at this configuration [rad, m], with a number for each of its coordinates; "
        "may be given again",
    },
    "--function": {"metavar": "NAME"},
    "--frame": {"metavar": "NAME", "help": "body or frame, for functions of one, such as jacobian"},
    "--overwrite": {"action": "store_true", "help": "allow the output to replace a file that is read"},
    "--json": {"action": "store_true", "help": "print JSON for a machine to read"},
}
READING = ("--package", "--srdf", "--xacro-arg", "--model", "--orphans", "--trusted")  # how files are read
ROBOT = ("file", "--base", "--root", *READING, "--continuous", "--lock")  # what `load_robot` looks at


def add(parser: argparse.ArgumentParser, *names: str, **changes: Any) -> None:
    """Add arguments of this page to a command, with what is different in it."""
    for name in names:
        parser.add_argument(name, **{**ARGUMENTS[name], **changes})


# --- robots -------------------------------------------------------------------------------------------------------


def reading(args: argparse.Namespace) -> dict[str, Any]:
    same = {name: getattr(args, name) for name in ("srdf", "model", "orphans", "trusted")}
    others = {"package_dirs": args.package, "xacro_args": dict(args.xacro_arg)}
    return {**same, **others, "continuous": getattr(args, "continuous", "angle")}


def locked(args: argparse.Namespace, robot: Any) -> Any:
    if not args.lock:
        return robot
    found = robot.lock(dict(args.lock))
    return found if isinstance(robot, Model) else found.mechanism


def read_file(args: argparse.Namespace) -> Any:
    return locked(args, read_robot(args.file, **reading(args)))


def load_robot(args: argparse.Namespace) -> Model:
    return locked(args, load(args.file, base=args.base, root=args.root, **reading(args)))


# --- functions ----------------------------------------------------------------------------------------------------


def function_named(name: str) -> Function:
    for package in (algorithms, functions):  # all pages, for the names in the message
        for page in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            importlib.import_module(page.name)
    if name not in PUBLIC:
        raise UnknownNameError("function", name, sorted(PUBLIC), hint=answers().get(name, ""))
    return PUBLIC[name]


def frame_option(function: Function, frame: str | None) -> dict[str, str]:
    """Return the option `frame` for functions that have it; ParameterError if it is needed and missing."""
    parameter = function.parameters.parameters.get("frame")
    if parameter is None or (frame is None and parameter.default is not parameter.empty):
        return {}
    if frame is None:
        expected = f"the name of a body or frame, as --frame NAME: {function.name} is about one"
        raise ParameterError("--frame", got=None, expected=expected)
    return {"frame": frame}


# --- files --------------------------------------------------------------------------------------------------------


def check_output(args: argparse.Namespace, *inputs: str, output: str | None = None) -> None:
    """Raise ParameterError if an output (by default FILE of -o) is a file that is read, unless --overwrite is given."""
    place = args.output if output is None else output
    for file in inputs:  # who reads one says that it is missing; the name of a robot that ships is none
        is_read = os.path.exists(file) and os.path.exists(place) and os.path.samefile(file, place)
        if is_read and not args.overwrite:
            hint = "Write --overwrite to replace it."
            expected = "another file than the one that is read"
            raise ParameterError("file to write", got=place, expected=expected, hint=hint)


# --- printing -----------------------------------------------------------------------------------------------------


def harmless(text: str) -> str:
    """Return a text without what drives a terminal: a name in a file may hold its escape sequences."""
    return "\n".join("\t".join(map(visible, line.split("\t"))) for line in text.split("\n"))


def say(text: Any) -> None:
    print(harmless(str(text)))


def tell(args: argparse.Namespace, plain: Any, text: Any) -> None:
    if args.json:
        print(json.dumps(jsonable(plain), indent=2, allow_nan=False))
    else:
        say(text)


def table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = aligned([header, *rows])
    return "\n".join([lines[0], "-" * max(len(line) for line in lines), *lines[1:]])
