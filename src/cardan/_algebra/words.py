"""What a name that does not exist was meant for: other libraries' words, first guesses, slips of the pen.

Where one function, class or method here is the answer, its docstring says so in a line `Peers:`, and is found by it.
Joints say it in the `[elsewhere]` of their catalogue. What takes more than a name to say stands in `words.toml`;
`tests/algebra/test_first_guesses.py` holds that what it names exists. Nothing is looked up before a message is read: a
name that is merely probed, as by `hasattr`, costs nothing.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cardan._algebra.errors import close_names, did_you_mean

LINE = re.compile(r"^\s*Peers:(.*?)(?=\n\s*\n|\Z)", re.DOTALL | re.MULTILINE)
WORDS = re.compile(r"([A-Za-z][\w.]*)((?: `[\w!]+`)+)")
CLOSE = 0.8
"""How alike a name is to one that was misspelt. At 0.7 `cross` is taken for `cos`, and `body_mass` for `body_names`."""
PLAIN_LIST = re.compile(r"(?:`\w+`(?:, )?)+(?=;|,|$)")
"""A joint's words elsewhere, where they are the whole of it: "`Planar`; linear first", not "`D6` of two angles"."""
CLASSES = tuple(f"cardan.{name}" for name in ("Model", "Mechanism", "World", "WorldBuilder", "SE3"))
"""Classes whose methods may be what another library's function is."""
FURTHER = ("cardan.spatial.rotations", "cardan.description")
"""Modules that are not among the package's own names."""

ARGUMENTS = {
    **dict.fromkeys(("qpos", "configuration", "theta"), "q"),
    **dict.fromkeys(("dq", "qd", "qdot", "qvel", "velocity"), "v"),
    **dict.fromkeys(("ddq", "qdd", "qddot", "qacc", "vd", "vdot", "acceleration"), "a"),
    **dict.fromkeys(("u", "torque", "torques", "effort", "qfrc"), "tau"),
    **dict.fromkeys(("fext", "f_ext", "external_wrenches", "externalwrenches", "xfrc_applied"), "external_forces"),
    **dict.fromkeys(("frame_id", "frame_name", "frameId", "body", "link", "site"), "frame"),
    **dict.fromkeys(("reference_frame", "rf", "reference"), "at"),
}
"""Names of arguments elsewhere, and what they are called here."""


def words_of(thing: Any) -> dict[str, str]:
    """Return the libraries by their words for a function: `{"rnea": "Pinocchio"}`."""
    said = LINE.search(getattr(thing, "__doc__", None) or "")
    found = WORDS.findall(" ".join(said[1].split())) if said else []
    return {word: library for library, words in found for word in re.findall(r"`([\w!]+)`", words)}


@functools.cache
def tables() -> dict[str, dict[str, Any]]:
    """Return `words.toml`: what is said of words asked of the package, by library, and of attributes, by class."""
    return tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))


@functools.cache
def answers() -> dict[str, str]:
    """Return what is to be said of each word of another library: from the table, the docstrings, the joints."""
    found = {}
    for library, words in tables()["package"].items():
        whose = f"{library}'s {{}} is " if library else "it is "
        found |= {word: whose.format(word) + said for word, said in words.items()}
    for name, thing in _public():
        found.setdefault(name.rpartition(".")[2], f"it is {name}")  # of a module, such as cardan.joints.Revolute
        for word, library in words_of(thing).items():
            found.setdefault(word, f"{library}'s {word} is {name}")
    for word, library, joints in _joints():
        found.setdefault(word, f"{library}'s {word} is {' or '.join(joints)}")
    return found


def _joints() -> Iterator[tuple[str, str, list[str]]]:
    """Yield other libraries' words for joints, whose they are, and the classes they are here."""
    found: dict[tuple[str, str], list[str]] = {}
    for kind in dict.fromkeys(map(type, importlib.import_module("cardan.joints").CATALOGUE)):
        page = Path(inspect.getfile(kind)).with_suffix(".toml")
        for library, said in tomllib.loads(page.read_text(encoding="utf-8")).get("elsewhere", {}).items():
            whole = PLAIN_LIST.match(said)
            for word in re.findall(r"`(\w+)`", whole[0] if whole else ""):
                found.setdefault((word, library), []).append(f"cardan.joints.{kind.__name__}")
    for (word, library), joints in found.items():
        yield word, library, joints


def _public() -> Iterator[tuple[str, Any]]:
    """Yield what the package offers: its own names, those of its modules, the methods of its main classes."""
    cardan = importlib.import_module("cardan")
    for path in (*(f"cardan.{name}" for name in cardan.__all__), *FURTHER):
        with contextlib.suppress(ImportError):  # what needs an extra
            thing = importlib.import_module(path) if path in FURTHER else getattr(cardan, path.partition(".")[2])
            yield path, thing
            for own in getattr(thing, "__all__", ()):
                yield f"{path}.{own}", getattr(thing, own)
            for own, member in vars(thing).items() if path in CLASSES else ():
                yield f"{path}.{own}", getattr(member, "__func__", member)


def of_package(word: str, module: str = "cardan") -> str:
    """Return the end of a message about a name the package, or a module of it, has not: what to write instead."""
    if word.startswith("_"):
        return ""
    if word in answers():
        return f": {answers()[word]}"
    return did_you_mean(close_names(word, importlib.import_module(module).__all__, CLOSE))


def of_instance(kind: type, word: str) -> str:
    """Return the end of a message about an attribute that instances of a class have not."""
    if word.startswith("_"):
        return ""
    names = [base.__name__ for base in kind.__mro__]
    for table in (tables()["attributes"][name] for name in names if name in tables()["attributes"]):
        if word in table:
            return f"; it is {table[word]}"
    if kind.__name__ == "Model" and _takes_a_model(word):
        return f"; it is a function: cardan.{word}(model, ...)"
    if word in answers():
        return f"; {answers()[word]}"
    return did_you_mean(close_names(word, [name for name in dir(kind) if not name.startswith("_")], CLOSE))


def _takes_a_model(word: str) -> bool:
    """Return whether a name of the package is a function whose first argument is a model."""
    function = getattr(importlib.import_module("cardan"), word, None)
    parameters = inspect.signature(function).parameters if callable(function) else ()
    return next(iter(parameters), "") == "model"


def of_argument(word: str, names: Any) -> str:
    """Return the end of a message about an argument that a function has not."""
    if ARGUMENTS.get(word) == "at" and "at" in names:
        return "; where and along what is said by at= and expressed_in="
    meant = [ARGUMENTS[word]] if ARGUMENTS.get(word) in names else close_names(word, names)
    return did_you_mean(meant)


class UnknownAttributeError(AttributeError):
    """An attribute that does not exist; what was meant is looked up when the message is read.

    Args:
        owner: the class of the object that was asked, or the name of a module.
        name: the attribute.
        whose: what was asked, if not an object: `"type"`.
    """

    def __init__(self, owner: type | str, name: str, whose: str = "object") -> None:
        super().__init__(owner, name, whose)
        self.owner, self.name, self.word, self.whose = owner, name, name, whose

    def __str__(self) -> str:
        if isinstance(self.owner, str):
            return f"module {self.owner!r} has no attribute {self.word!r}{of_package(self.word, self.owner)}"
        asked = f"{self.owner.__name__!r} object" if self.whose == "object" else f"{self.whose} {self.owner.__name__!r}"
        return f"{asked} has no attribute {self.word!r}{of_instance(self.owner, self.word)}"


class ExplainedType(type):
    """The type of a class that itself says what was meant: `pin.SE3.Identity()` is asked of the class."""

    if not TYPE_CHECKING:

        def __getattr__(cls, name: str) -> Any:
            raise UnknownAttributeError(cls, name, "type")


class Explained:
    """A class that says what was meant by an attribute it has not."""

    __slots__ = ()

    if not TYPE_CHECKING:  # to which there is no such attribute

        def __getattr__(self, name: str) -> Any:
            if hasattr(type(self), name):  # a property, which failed: its own error is what counts
                return object.__getattribute__(self, name)
            raise UnknownAttributeError(type(self), name)
