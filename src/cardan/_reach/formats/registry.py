"""The formats there are, by the endings of their files and by how these begin; other packages add theirs.

`load.py` puts cardan's own into `FORMATS`. Those of other packages are looked at only for a file that is none of these:
what `register_format` was given, then what entry points of the group `cardan.formats` lead to.
"""

from __future__ import annotations

import importlib
import re
import warnings
from collections.abc import Mapping
from functools import cache
from types import ModuleType
from typing import NamedTuple

from cardan._algebra.errors import DescriptionWarning, ParameterError
from cardan._algebra.plugins import plugin, registered

NEVER = r"(?!)"  # begins nothing: only the ending tells
GROUP = "cardan.formats"
_PREAMBLE = re.compile(r"(?:\s|\ufeff|<\?.*?\?>|<!--.*?-->)*", re.DOTALL)


class Format(NamedTuple):
    """A format of robot descriptions.

    Args:
        name: of the format, as messages call it.
        module: name of the module that reads it, imported when the first such file is met. It has `OPTIONS`, a
            frozenset of the options of `load` that mean something in this format alone, `read(source, options)`, which
            returns a `Description`, and, if the format is written, `write(thing)`, which returns a text.
        endings: of its files, in lower case.
        begins: a regular expression for how the content begins, behind white space, comments and processing
            instructions of XML. It counts if the ending says nothing. By default only the ending tells.
        is_written: whether the module writes it.

    Examples:
        >>> cardan.formats.Format("DH", "dh_tables.reader", (".dh",)).is_written
        False
    """

    name: str
    module: str
    endings: tuple[str, ...]
    begins: str = NEVER
    is_written: bool = False


FORMATS: dict[str, Format] = {}  # cardan's own, by ending
_ADDED: dict[str, Format] = {}


def register_format(form: Format) -> None:
    """Let `load`, `check`, `save` and all commands know a format of another package, from now on.

    An entry point of the group `cardan.formats` does the same for everyone who installed that package.

    Args:
        form: the format.

    Raises:
        ParameterError: for an ending that another format has.

    Examples:
        >>> cardan.formats.register_format(cardan.formats.Format("DH", "dh_tables.reader", (".dh",)))
    """
    for ending in form.endings:
        other = FORMATS.get(ending) or _ADDED.get(ending, form)
        if other != form:
            raise ParameterError("ending of a format", got=ending, expected=f"another one: {other.name} has it")
    _ADDED.update(dict.fromkeys(form.endings, form))


def formats_of_others() -> Mapping[str, Format]:
    return {**_installed(), **_ADDED}


@cache
def _installed() -> dict[str, Format]:
    found: dict[str, Format] = {}
    for name in registered(GROUP):
        try:
            form = plugin(GROUP, name)
            found |= {ending: form for ending in form.endings if ending not in found}
        except Exception as error:  # a package that is broken is no reason not to read what others read
            cause = error.__cause__ or error
            message = f"entry point {name!r} of {GROUP} is left out: {type(cause).__name__}: {cause}"
            warnings.warn(DescriptionWarning(message), stacklevel=2)
    return found


def format_of_ending(ending: str) -> Format | None:
    return FORMATS.get(ending) or formats_of_others().get(ending)


def format_of_content(text: str) -> Format | None:
    preamble = _PREAMBLE.match(text)
    start = text[preamble.end() if preamble else 0 :]
    for formats in (FORMATS.values, lambda: formats_of_others().values()):  # others only if there is none of ours
        for form in formats():
            if re.match(form.begins, start):
                return form
    return None


def module_of(form: Format) -> ModuleType:
    return importlib.import_module(form.module)
