"""The package `xacro` expands a document: in a process of its own (`sandbox_process.py`), or, trusted, in the reader's.

Documents come as rows, `[depth, tag, attributes, text, line, file]`, an element each, and leave so: elements know the
file and line they were written in, through clones as well. Of the package only `parse` is another: who asks reads the
file. It imports nothing of cardan.
"""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, ModuleType, TracebackType
from typing import Any
from xml.dom import minidom

Ask = Callable[[str, str], Any]
Row = list[Any]
MAX_SAID = 100  # lines of what a file tells
_FIND = "ament_index_python.packages"
_LOCATION = re.compile(r"(when instantiating macro|instantiated from|when processing file|in file|included from):")
_TWICE = re.compile(r"<class '[\w.]+'>: (.*) \1")
_LOCK = threading.Lock()


def prepare() -> None:
    """Import what is needed, before nothing may be imported any more."""
    import encodings.cp1252
    import encodings.latin_1  # noqa: F401

    import xacro.substitution_args  # noqa: F401
    import yaml  # noqa: F401


def work(argument: dict[str, Any], ask: Ask) -> dict[str, Any]:
    """Return what a document expands to.

    Args:
        argument: `rows` of the document, its `file`, its `arguments`, and the `environment` it sees; None is that of
            this process.
        ask: answers `"parse"`, a file, by its rows or a text that says why not, and `"find"`, a package, by its folder.

    Returns:
        `rows`, or `error` with its place `at`; and `messages`, lines with the place where they were.
    """
    import xacro

    if argument["environment"] is not None:
        os.environ = argument["environment"]  # noqa: B003 -- what the process itself has is no file's business
    messages = Messages()
    with _LOCK, _arrange(xacro, ask, messages):
        xacro.init_stacks(argument["file"])
        document = document_of(argument["rows"])
        try:
            xacro.process_doc(document, mappings=dict(argument["arguments"]), verbosity=0)
        except Exception as error:  # the package raises whatever its parts do
            if is_caused_by(MemoryError, error):
                raise MemoryError from None
            told, at = message_of(error, xacro.macrostack), place_of(error.__traceback__)
            return {"error": told, "at": at, "messages": messages.lines}
        return {"rows": list(rows_of(document.documentElement)), "messages": messages.lines}


class Messages:
    """Takes what the package prints, with the place of the element that is expanded."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, Any]] = []

    def write(self, text: str) -> None:
        if text.strip() and not _LOCATION.match(text) and len(self.lines) < MAX_SAID:
            frame = sys._getframe(1)
            while (at := _at(frame)) is None and frame.f_back is not None:
                frame = frame.f_back
            self.lines.append((" ".join(text.split())[:500], at))

    def flush(self) -> None:
        """Do nothing: it is kept already."""


@contextmanager
def _arrange(xacro: Any, ask: Ask, messages: Messages) -> Iterator[None]:
    """Let the package find files and packages as the reader does, and print where it is heard; put all back after."""

    def find(name: Any) -> str:
        answer = ask("find", str(name))
        if "error" in answer:
            raise LookupError(answer["error"])
        return answer["folder"]

    kept = xacro.parse, xacro.verbosity, sys.stderr, sys.modules.get(_FIND), xacro.substitution_args_context
    finder: Any = ModuleType(_FIND)
    finder.get_package_share_directory = find
    xacro.parse = lambda _, path: _parsed(xacro, path, ask)
    xacro.substitution_args_context = _Context(xacro)
    sys.stderr, sys.modules[_FIND] = messages, finder
    try:
        yield
    finally:
        xacro.parse, xacro.verbosity, sys.stderr, before, xacro.substitution_args_context = kept
        if before is None:
            del sys.modules[_FIND]
        else:
            sys.modules[_FIND] = before


class _Context(dict[str, Any]):
    """What `$(...)` is resolved with: the package leaves out which file `$(dirname)` is in."""

    def __init__(self, xacro: Any) -> None:
        super().__init__()
        self.xacro = xacro

    def get(self, key: str, default: Any = None) -> Any:
        return self.xacro.filestack[-1] if key == "filename" else super().get(key, default)


def _parsed(xacro: Any, path: str, ask: Ask) -> Any:
    answer = ask("parse", path)
    if "error" in answer:
        cause = FileNotFoundError("") if answer["missing"] else None
        raise xacro.XacroException(answer["error"], exc=cause)
    xacro.filestack[-1] = answer["file"]
    return document_of(answer["rows"])


class _Handler:
    """Tells a clone of a node where it comes from (`xml.dom.UserDataHandler`)."""

    def handle(self, operation: int, key: str, data: Any, src: Any, dst: Any) -> None:
        dst.setUserData(key, data, self)


_HANDLER = _Handler()


def document_of(rows: list[Row]) -> Any:
    document = minidom.Document()
    above: list[Any] = [document]
    for depth, tag, attributes, text, line, file in rows:
        node = document.createElement(tag)
        node.setUserData("at", (line, file), _HANDLER)
        for name, value in attributes.items():
            prefix = name.rpartition(":")[0] or None  # without it a:name and name are one to minidom
            node.setAttributeNS(prefix, name, value)
        if text.strip():
            node.appendChild(document.createTextNode(text))
        del above[depth + 1 :]
        above[depth].appendChild(node)
        above.append(node)
    return document


def rows_of(root: Any) -> Iterator[Row]:
    """Yield the rows of an element and of all in it; one without a place of its own has that of the one above."""
    waiting = [(0, root, (1, None))]
    while waiting:
        depth, node, at = waiting.pop()
        at = node.getUserData("at") or at
        attributes = {str(name): str(value) for name, value in node.attributes.items()}
        text = "".join(str(c.data) for c in node.childNodes if c.nodeType == c.TEXT_NODE).strip()
        yield [depth, str(node.tagName), attributes, text, *at]
        inside = [child for child in node.childNodes if child.nodeType == child.ELEMENT_NODE]
        waiting += [(depth + 1, child, at) for child in reversed(inside)]


def is_caused_by(kind: type[Exception], error: BaseException | None) -> bool:
    """Return whether an error, or one it was raised for, is of a kind: the package wraps what it catches."""
    while error is not None and not isinstance(error, kind):
        error = error.__context__
    return error is not None


def message_of(error: Exception, macros: Any) -> str:
    if is_caused_by(RecursionError, error):
        return "macros or values call one another too deep"
    message = _TWICE.sub(r"\1", " ".join(str(error).split())) or type(error).__name__
    names = [repr(macro.body.getAttribute("name")) for macro in reversed((macros or [])[-3:])]
    return message[:2000] + (f" (in macro {' in '.join(names)})" if names else "")


def place_of(trace: TracebackType | None) -> Any:
    places = []
    while trace is not None:
        places.append(_at(trace.tb_frame))
        trace = trace.tb_next
    return next((place for place in reversed(places) if place), None)


def _at(frame: FrameType) -> Any:
    """Return the place of the element that a function of the package is at: it is called `node` there, or `elt`."""
    nodes = (frame.f_locals.get(name) for name in ("node", "elt"))
    return next((at for node in nodes if isinstance(node, minidom.Node) and (at := node.getUserData("at"))), None)
