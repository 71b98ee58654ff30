"""`cardan joints new NAME`: a commented joint and its test, which run as they are."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from string import Template
from typing import Any

from cardan._algebra.errors import ParameterError
from cardan._compiler.runtime.staging import write_whole
from cardan._reach.cli.joint_skeleton import JOINT, TEST


def add_parser(actions: Any) -> None:
    """Add the action."""
    parser = actions.add_parser("new", help="write a commented joint and its test")
    parser.add_argument("name", metavar="NAME", help="of the joint, such as Cam or crank_slider")
    parser.add_argument("-o", "--output", metavar="FILE", help="where to (default: NAME.py; the test beside it)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write the two files."""
    place = Path(args.output or f"{args.name}.py")
    class_name = camel_case(args.name)
    test = place.with_name(f"test_{place.name}")
    _check(args.name, class_name, place, test)
    words = {"NAME": args.name, "CLASS": class_name, "FILE": place.name, "MODULE": place.stem, "TEST_FILE": test.name}
    texts = {place: Template(JOINT).substitute(words), test: Template(TEST).substitute(words)}
    try:
        write_whole({p: lambda stream, text=text: stream.write(text.encode()) for p, text in texts.items()})
    except OSError as error:
        raise ParameterError("-o FILE", got=str(place), expected=f"a place to write ({error.strerror})") from None
    print(f"wrote {place} and {test}; check it with\n    cardan joints verify {place}:{class_name}")
    return 0


def camel_case(name: str) -> str:
    """Return the name of the class: `crank_slider` becomes `CrankSlider`."""
    return "".join(word[:1].upper() + word[1:] for word in re.split(r"[_\-\s]+", name))


def _check(name: str, class_name: str, place: Path, test: Path) -> None:
    if not class_name.isidentifier():
        raise ParameterError("NAME", got=name, expected="letters, digits and underscores, such as Cam or crank_slider")
    if place.suffix != ".py" or not place.stem.isidentifier():
        raise ParameterError("-o FILE", got=str(place), expected="a file a module can be imported from, such as cam.py")
    for file in (place, test):
        if file.exists():
            raise ParameterError(
                "file to write", got=str(file), expected="one that does not exist: nothing is replaced"
            )
