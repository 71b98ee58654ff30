"""Suggestions for names that do not exist: other libraries' words, first guesses, slips of the pen.

If one function, class or method here is the answer, its docstring says so in a line `Peers:`, and is found by it.
Joints say it in the `[elsewhere]` of their catalogue. What takes more than a name to say stands in `suggestions.toml`;
`tests/algebra/test_first_guesses.py` holds that what it names exists. Nothing is looked up before a message is read: a
name that is merely probed, as by `hasattr`, costs nothing.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import re
import sys
import tomllib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from cardan._algebra.errors import close_names, did_you_mean
from cardan._robot.joints import CATALOGUE

cardan: Any = sys.modules["cardan"]  # the face of the package, which has been imported and shows all wings

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


def words_of(thing: Any) -> dict[str, str]:
    """Return the libraries by their words for a function: `{"rnea": "Pinocchio"}`."""
    said = LINE.search(getattr(thing, "__doc__", None) or "")
    found = WORDS.findall(" ".join(said[1].split())) if said else []
    return {word: library for library, words in found for word in re.findall(r"`([\w!]+)`", words)}


@functools.cache
def tables() -> dict[str, dict[str, Any]]:
    """Return `suggestions.toml`: of words asked of the package, by library, and of attributes, by class."""
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


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
    for (word, library), joints in _joints().items():
        found.setdefault(word, f"{library}'s {word} is {' or '.join(joints)}")
    return found


def _joints() -> dict[tuple[str, str], list[str]]:
    """Return the classes joints are here, by other libraries' words for them and the libraries."""
    found: dict[tuple[str, str], list[str]] = {}
    for kind in dict.fromkeys(map(type, CATALOGUE)):
        page = Path(inspect.getfile(kind)).with_name(f"{kind.__name__.lower()}.toml")
        for library, said in tomllib.loads(page.read_text(encoding="utf-8")).get("elsewhere", {}).items():
            whole = PLAIN_LIST.match(said)
            for word in re.findall(r"`(\w+)`", whole[0] if whole else ""):
                found.setdefault((word, library), []).append(f"cardan.joints.{kind.__name__}")
    return found


def _public() -> Iterator[tuple[str, Any]]:
    """Yield what the package offers: its own names, those of its modules, the methods of its main classes."""
    for path in (*(f"cardan.{name}" for name in cardan.__all__), *FURTHER):
        with contextlib.suppress(ImportError):  # what needs an extra
            thing = importlib.import_module(path) if path in FURTHER else getattr(cardan, path.partition(".")[2])
            yield path, thing
            for own in getattr(thing, "__all__", ()):
                yield f"{path}.{own}", getattr(thing, own)
            for own, member in vars(thing).items() if path in CLASSES else ():
                yield f"{path}.{own}", getattr(member, "__func__", member)


def suggestion(owner: type | str, word: str, names: Collection[str] | None = None) -> str:
    """Return the end of a message about a word that a class, or a module of that name, does not have; or nothing.

    Names are the arguments of the class, or of a function of that name, if it was called with others: the word is a
    keyword that it does not take.
    """
    if names is not None:
        return _meant_keyword(owner, word, names)
    if isinstance(owner, str):
        if word in answers():
            return f": {answers()[word]}"
        return did_you_mean(close_names(word, importlib.import_module(owner).__all__, CLOSE))
    attributes = tables()["attributes"]
    for table in (attributes[base.__name__] for base in owner.__mro__ if base.__name__ in attributes):
        if word in table:
            return f"; it is {table[word]}"
    if owner.__name__ == "Model" and _takes_a_model(word):
        return f"; it is a function: cardan.{word}(model, ...)"
    if word in answers():
        return f"; {answers()[word]}"
    return did_you_mean(close_names(word, [name for name in dir(owner) if not name.startswith("_")], CLOSE))


def _meant_keyword(owner: type | str, word: str, names: Collection[str]) -> str:
    """Return the end of a message about a keyword that is not taken; without a word, about another fault."""
    table = tables()
    others = table["keywords"]["elsewhere"].get(word, "").split(" or ")
    end = did_you_mean([name for name in others if name in names] or close_names(word, names, 0.6))
    if isinstance(owner, str):
        if elsewhere := table["keywords"]["instead"].get(f"{owner}.{word}"):
            return f"; it is {elsewhere}"
        if "." not in owner:  # a function, whose message names its arguments
            return end
    elif owner.__name__ in table["made"]["by"]:
        return f"; it is made by {table['made']['by'][owner.__name__]}"
    taken = ", ".join(name for name in names if name != "self")
    return (end or f"; it takes {taken or 'nothing'}") if word else ""


def _takes_a_model(word: str) -> bool:
    """Return whether a name of the package is a function whose first argument is a model."""
    function = getattr(cardan, word, None)
    parameters = inspect.signature(function).parameters if callable(function) else ()
    return next(iter(parameters), "") == "model"
