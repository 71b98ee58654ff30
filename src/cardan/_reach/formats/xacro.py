"""Xacro: the package `xacro` expands macros, then the module of the result's format reads the elements.

The package evaluates expressions by Python's `eval`. Such a file is a program, and is read only if it is trusted. Of
the package, two functions are others here: files are parsed by `xml.py`, and packages are where `reading.py` finds
them. Elements know the file and the line in which they were written, also those of macros.
"""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType, ModuleType, TracebackType
from typing import Any
from xml.dom import minidom

from cardan._algebra.errors import DescriptionError, MissingExtraError, quoted
from cardan._reach.formats.reading import ALLOWING, Description, Options, Places, format_of_content, module_of
from cardan._reach.formats.report import Report
from cardan._reach.formats.source import Source
from cardan._reach.formats.xml import Element, Lines, element, escaped, parse

# Its own, and those of the formats that files may expand to
OPTIONS = frozenset({"xacro_args", "continuous", "model", "orphans"})
UNTRUSTED = "is written in xacro, a program; pass trusted=True (--trusted) to run it, if you trust whoever wrote it"
_FIND = "ament_index_python.packages"
_NOT_GIVEN = re.compile(r"Undefined substitution argument '?([^\s']+)|environment variable '([^']+)' is not set")
_TWICE = re.compile(r"<class '[\w.]+'>: (.*) \1")
_LOCK = threading.Lock()  # the package keeps its state in its module


def read(source: Source, options: Options) -> Description:
    report = Report(source.name)
    root = expand(parse(source), source, options, report)
    if root is None:
        return Description(None, report)
    text = "\n".join(_as_xml(root))
    form = format_of_content(text)
    if form is None:
        report.error(root, f"expands to <{root.tag[:60]}>, expected <robot>")
        return Description(None, report)
    reader = module_of(form)
    if hasattr(reader, "read_tree"):  # it takes elements, which know the files and lines they come from
        return reader.read_tree(source, options, root, report)
    found = reader.read(Source(source.name, text.encode(), source.folder, "utf-8"), options)
    report.include(found.report)
    return found._replace(report=report)


def expand(root: Element, source: Source, options: Options, report: Report) -> Element | None:
    """Return the root element of what a file expands to, or None after an error; MissingExtraError without xacro."""
    if not options.trusted:
        report.error(root, UNTRUSTED)
        return None
    try:
        import xacro
    except ImportError:
        raise MissingExtraError("reading xacro", "xacro") from None
    given = {str(name): str(value) for name, value in options.xacro_args.items()}
    declared: set[str] = set()
    file = None if source.folder is None else str(source.folder / Path(source.name).name)
    with _LOCK, _arranged(xacro, Places(source.folder, options.package_dirs), declared):
        try:
            document = _document(root, declared)
            xacro.init_stacks(file)
            xacro.process_doc(document, mappings=dict(given))
        except DescriptionError as error:
            report.errors += error.faults
            return None
        except Exception as error:  # the package raises whatever its parts do
            report.error(_place(error, root), _message(error, xacro.macrostack, given, report))
            return None
    for each in given.keys() - declared:
        report.warn(0, f"xacro_args: {quoted(each)} is no <xacro:arg>{report.nearest(each, declared)}")
    return _element(document.documentElement, root)


@contextmanager
def _arranged(xacro: Any, places: Places, declared: set[str]) -> Iterator[None]:
    """Let the package find files and packages as readers do; put all back after."""

    def find(name: Any) -> str:
        folder = places.package(str(name))
        if folder is None:
            raise LookupError(f"package {quoted(str(name))} was not found; {ALLOWING}")
        return folder

    def parsed(_: Any, path: str) -> Any:
        path = re.sub(r".*?(package|model|file)://", r"\1://", path, count=1)  # behind the folder it does not mean
        file = places.file(path) if "://" in path else path
        if file is None:
            raise xacro.XacroException(f"{quoted(path)} {places.why_not(path)}")
        if not Path(file).is_file():
            raise xacro.XacroException(f"{quoted(file)} was not found", exc=FileNotFoundError(""))
        xacro.filestack[-1] = file
        return _document(parse(Source.of(Path(file))), declared)

    kept = xacro.parse, sys.modules.get(_FIND), xacro.substitution_args_context
    finder: Any = ModuleType(_FIND)
    finder.get_package_share_directory = find
    xacro.parse, sys.modules[_FIND], xacro.substitution_args_context = parsed, finder, _Context(xacro)
    try:
        yield
    finally:
        xacro.parse, before, xacro.substitution_args_context = kept
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


# --- elements as the package has them, which know where they were written, and back ---


class _Handler:
    """Tells a clone of a node where it comes from (`xml.dom.UserDataHandler`)."""

    def handle(self, operation: int, key: str, data: Any, src: Any, dst: Any) -> None:
        dst.setUserData(key, data, self)


_HANDLER = _Handler()


def _document(root: Element, declared: set[str]) -> Any:
    """Return a document of minidom, and add the arguments that it declares."""
    document = minidom.Document()
    waiting: list[tuple[Any, Element]] = [(document, root)]
    while waiting:
        above, element = waiting.pop()
        node = document.createElement(element.tag)
        node.setUserData("at", element, _HANDLER)
        for name, value in element.attributes.items():
            prefix = name.rpartition(":")[0] or None  # without it a:name and name are one to minidom
            node.setAttributeNS(prefix, name, value)
        if element.text.strip():
            node.appendChild(document.createTextNode(element.text))
        if element.tag == "xacro:arg":
            declared.add(element.attributes.get("name", ""))
        above.appendChild(node)
        waiting += [(node, child) for child in reversed(element.children)]
    return document


def _element(node: Any, above: Element) -> Element:
    """Return a node of minidom as an element; one without a place of its own has that of the one above."""
    at = node.getUserData("at") or above
    attributes = {str(name): str(value) for name, value in node.attributes.items()}
    text = "".join(str(c.data) for c in node.childNodes if c.nodeType == c.TEXT_NODE).strip()
    inside = [_element(child, at) for child in node.childNodes if child.nodeType == child.ELEMENT_NODE]
    return Element(str(node.tagName), attributes, at.line, inside, text, at.file)


def _as_xml(it: Element) -> Lines:
    """Return the lines of an element with all in it."""
    attributes = {name: escaped(text) for name, text in it.attributes.items()}
    return element(it.tag, attributes, filter(None, [escaped(it.text.strip())]), *map(_as_xml, it.children))


# --- what the package says ---


def _message(error: Exception, macros: Iterable[Any] | None, given: dict[str, str], report: Report) -> str:
    if isinstance(error, RecursionError) or isinstance(error.__context__, RecursionError):
        return "macros or values call one another too deep"
    message = _TWICE.sub(r"\1", " ".join(str(error).split())) or type(error).__name__
    names = [repr(macro.body.getAttribute("name")) for macro in reversed([*(macros or ())][-3:])]
    message = message[:2000] + (f" (in macro {' in '.join(names)})" if names else "")
    found = _NOT_GIVEN.search(message)
    if found is None:
        return message
    name = found[1] or found[2]
    return f"{message}; pass xacro_args={{{name!r}: ...}}{report.nearest(name, given)}"


def _place(error: Exception, root: Element) -> Element:
    """Return the element that the package was at: the innermost one its traceback goes through."""
    places = [root]
    trace: TracebackType | None = error.__traceback__
    while trace is not None:
        places += _of_nodes(trace.tb_frame)
        trace = trace.tb_next
    return places[-1]


def _of_nodes(frame: FrameType) -> list[Element]:
    """Return the elements that a function of the package works on: `node` or `elt` is their name there."""
    nodes = [frame.f_locals.get(name) for name in ("elt", "node")]
    return [at for node in nodes if isinstance(node, minidom.Node) and (at := node.getUserData("at"))]
