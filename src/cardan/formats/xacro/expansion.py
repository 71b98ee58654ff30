"""Expands macros with the package `xacro`, and keeps what it must not do from it.

Of the package the macros, scopes and conditions are used: a copy of its module, made for one file, in which everything
that reaches outside of the file is replaced: expressions are evaluated by `expressions.py`, included files are opened
where `resources.py` allows it, the environment is not read, nothing is printed. Every step is paid for.

Elements know the file and line they were written in, through clones as well, so faults found later are told there.
"""

from __future__ import annotations

import fnmatch
import math
import os
import re
import sys
import threading
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.dom import minidom

from cardan.errors import DescriptionError, MissingExtraError, quoted
from cardan.formats.reading import Options
from cardan.formats.report import Line, Report
from cardan.formats.resources import ALLOWING, Places
from cardan.formats.source import Source
from cardan.formats.xacro import expressions
from cardan.formats.xacro.expressions import Budget, Evaluator, Exposed, ExpressionError
from cardan.formats.xml import MAX_DEPTH, Element, parse

MAX_INCLUDES = 16  # within one another
MAX_BYTES = 16 * 2**20  # of all files together
MAX_YAML = 64 * 1024
MAX_BRACKETS = 500  # of a YAML file; what reads it takes quadratic time where they are nested
PER_ELEMENT = 8
PER_ATTRIBUTE = (
    4  # an attribute is a node of its own: an element with 250 takes a hundred times as long as one with two
)
_LOADING = threading.Lock()
_VALUE = r"""\$\{.*?\}|\$\(.*?\)|(?:'.*?'|\".*?\"|[^\s'\"]++)++|"""
_MACRO_ARGUMENT = re.compile(r"^\s*([^\s:=]+?)\s*:?=\s*(\^\|?)?(" + _VALUE + r")(?:\s+|$)(.*)")
"""That of the package, which takes exponential time for some texts, without going back (`++`)."""
_UNITS = {
    "!radians": 1.0,
    "!degrees": math.pi / 180.0,
    "!meters": 1.0,
    "!millimeters": 0.001,
    "!foot": 0.3048,
    "!inches": 0.0254,
}


def expand(source: Source, options: Options, report: Report) -> Element | None:
    """Return the root element of what a file expands to, or None after an error, which is in the report.

    Raises:
        MissingExtraError: without the package xacro.
    """
    expansion = Expansion(report, Places(source.folder, options.package_dirs))
    expansion.at = Line(1, source.name)
    try:
        return expansion.run(source, {str(name): str(value) for name, value in options.xacro_args.items()})
    except MissingExtraError:
        raise
    except DescriptionError as error:
        report.errors += error.faults
    except RecursionError:
        report.error(expansion.at, "macros or values call one another too deep")
    except Exception as error:  # the package raises whatever its parts do
        report.error(expansion.at, expansion.told(error))
    return None


def fresh_module() -> ModuleType:
    """Return a copy of the package's module, which shares nothing with the one that others import.

    Raises:
        MissingExtraError: if it is not installed.
    """
    found = find_spec("xacro")
    if found is None or found.origin is None:
        raise MissingExtraError("reading xacro", "xacro")
    name = "_cardan_xacro"
    spec = spec_from_file_location(name, found.origin, submodule_search_locations=[os.path.dirname(found.origin)])
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    with _LOADING:
        writexml = minidom.Element.writexml  # the package puts its own into the standard library
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        finally:
            minidom.Element.writexml = writexml
            for key in [key for key in sys.modules if key.split(".")[0] == name]:
                del sys.modules[key]
    return module


@dataclass(slots=True)
class Expansion:
    """The expansion of one file: the module with what is replaced in it, and where it is."""

    report: Report
    places: Places
    budget: Budget = field(default_factory=Budget)
    at: Line = Line(1, "")
    x: Any = None
    evaluate: Any = None
    depth: int = 0
    bytes_left: int = MAX_BYTES
    declared: set[str] = field(default_factory=set)

    def run(self, source: Source, arguments: dict[str, str]) -> Element:
        """Return the expanded root element."""
        self.x = fresh_module()
        self.evaluate = Evaluator(self.budget, self.x.NameSpace)
        self._replace()
        root = parse(source)
        self.declared = {e.attributes.get("name", "") for e in root.walk() if e.tag == "xacro:arg"}
        file = None if source.folder is None else str(source.folder / Path(source.name).name)
        self.x.init_stacks(file)
        document = self._document(root, source.name)
        self.x.process_doc(document, mappings=dict(arguments), verbosity=0)
        for name in arguments.keys() - self.declared:
            self.report.warn(
                0, f"xacro_args: {quoted(name)} is no <xacro:arg>{self.report.nearest(name, self.declared)}"
            )
        return self._tree(document.documentElement)

    def told(self, error: Exception) -> str:
        """Return what went wrong, and in which macros."""
        message = " ".join(str(error).split()) or type(error).__name__
        macros = [macro.body.getAttribute("name") for macro in (self.x.macrostack or [])] if self.x else []
        return message + (f" (in macro {' in '.join(map(quoted, reversed(macros[-3:])))})" if macros else "")

    def _replace(self) -> None:
        """Put what is safe in the place of what is not."""
        x = self.x
        x.safe_eval = lambda text, names, local=None: self.evaluate(str(text), names)
        x.eval_text = partial(self._text, x.eval_text)
        x.eval_all = partial(self._element, x.eval_all)
        x.handle_macro_call = partial(self._macro_call, x.handle_macro_call)
        x.eval_extension, x.parse, x.get_include_files = self._extension, self._parse, self._included
        x.replace_node = partial(self._moved, x.replace_node)
        x.remove_previous_comments = lambda node: None  # there are none
        for name in ("check_attrs", "reqd_attrs"):
            setattr(x, name, partial(self._attributes, getattr(x, name)))
        for name in ("message", "warning", "error"):
            setattr(x, name, self._say)
        x.print_location = lambda *_, **__: None
        x.parse_macro_arg = partial(self._macro_argument, x.parse_macro_arg)
        x.re_macro_arg = _MACRO_ARGUMENT
        x._global_symbols = self._names()

    def _names(self) -> dict[str, Any]:
        """Return the names every expression knows."""
        own = {
            "load_yaml": Exposed(self._yaml),
            "abs_filename": Exposed(lambda name: self.x.abs_filename_spec(str(name))),
            "dotify": Exposed(lambda value: value),
            "arg": Exposed(self._argument),
            "tokenize": Exposed(lambda text, separators=",; ", skip_empty=True: _tokens(text, separators, skip_empty)),
            "fatal": Exposed(self._fatal),
            **{name: Exposed(self._say) for name in ("message", "warning", "error")},
        }
        python, mathematics = expressions.python_names(), expressions.math_names()
        spaces = {}
        for name, inside in (("python", python), ("math", mathematics), ("xacro", own)):
            spaces[name] = self.x.NameSpace()
            spaces[name].update(inside)
        plain = {name: own[name] for name in ("load_yaml", "abs_filename", "dotify")}
        return {**python, **mathematics, **plain, **spaces}

    # --- what is paid for ---

    def _text(self, evaluated: Any, text: Any, symbols: Any) -> Any:
        if isinstance(text, str) and "${" not in text and "$(" not in text:
            return text
        self.budget.pay(1 + len(text) * text.count("$") // 256)
        return self.evaluate.kept_text(evaluated(text, symbols))

    def _element(self, evaluated: Any, node: Any, macros: Any, symbols: Any) -> None:
        self._enter(node)
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise ExpressionError(f"macros and elements are nested more than {MAX_DEPTH} deep")
        evaluated(node, macros, symbols)
        self.depth -= 1

    def _macro_call(self, called: Any, node: Any, macros: Any, symbols: Any) -> bool:
        self._enter(node)
        return called(node, macros, symbols)

    def _attributes(self, read: Any, node: Any, *names: Any) -> Any:
        self._enter(node)
        if node.tagName == "xacro:arg":
            self.declared.add(node.getAttribute("name"))
        return read(node, *names)

    def _moved(self, replaced: Any, node: Any, by: Any, content_only: bool = False) -> None:
        """Pay for a list in which a place is looked for each node that moves."""
        new = by if isinstance(by, list) else [] if by is None else [by]
        moved = sum(len(each.childNodes) for each in new) if content_only else len(new)
        self.budget.pay((1 + moved) * (1 + len(node.parentNode.childNodes) // 20))
        replaced(node, by, content_only)

    def _macro_argument(self, parsed: Any, text: str) -> Any:
        if len(text) > expressions.MAX_EXPRESSION:
            raise ExpressionError(f"the parameters of a macro have more than {expressions.MAX_EXPRESSION} letters")
        self.budget.pay(1 + len(text) // 16)
        return parsed(text)

    def _enter(self, node: Any) -> None:
        self.budget.pay(PER_ELEMENT)
        self.at = node.getUserData("at") or self.at

    # --- what leads outside ---

    def _extension(self, text: str) -> Any:
        """Return what `$(...)` stands for."""
        inside = text[2:-1].strip()
        word, _, rest = inside.partition(" ")
        if word == "eval":
            found = Exposed(self._package)
            names = {"arg": Exposed(self._argument), "find": found, "true": True, "false": False}
            given = {name: _typed(value) for name, value in self._arguments().items()}
            return str(self.evaluate(rest, {**self.x._global_symbols, **given, **names}))
        words = rest.split()
        if word == "arg" and len(words) == 1:
            return self._argument(words[0])
        if word == "find" and len(words) == 1:
            return self._package(words[0])
        if word == "dirname" and not words:
            return os.path.dirname(self.x.filestack[-1] or "")
        if word in ("env", "optenv") and words:
            return self._variable(words, optional=word == "optenv")
        raise ExpressionError(f"$({inside[:60]}) is not known: there are $(arg NAME), $(find PACKAGE), $(eval ...)")

    def _arguments(self) -> dict[str, str]:
        return self.x.substitution_args_context["arg"]

    def _argument(self, name: Any) -> str:
        given = self._arguments()
        if name not in given:
            hint = self.report.nearest(str(name), given)
            raise ExpressionError(f"argument {quoted(str(name))} has no value: pass xacro_args={{{name!r}: ...}}{hint}")
        return given[name]

    def _variable(self, words: list[str], optional: bool) -> str:
        """Return what is given for a variable of the environment, which is not read."""
        name, given = words[0], self._arguments()
        self.declared.add(name)
        if name not in given and not optional:
            raise ExpressionError(f"$(env {name}) is not read from the environment: pass xacro_args={{{name!r}: ...}}")
        return given.get(name, " ".join(words[1:]))

    def _package(self, name: Any) -> str:
        found = self.places.package(str(name))
        if found is None:
            raise ExpressionError(f"package {quoted(str(name))} was not found; {ALLOWING}")
        return found

    def _included(self, spec: str, symbols: Any) -> list[str]:
        """Return the files an include names; there may be `*` in the last part."""
        path = self.x.abs_filename_spec(str(self.x.eval_text(spec, symbols)).removeprefix("file://"))
        for scheme in ("package://", "model://"):
            if path.startswith(scheme) or f"{os.sep}{scheme}" in path:
                uri = path[path.index(scheme) :]
                return [self.places.file(uri) or self._refuse(uri)]
        folder, pattern = os.path.split(path)
        if not set("*?[") & set(pattern):
            return [path]
        self._check(folder)
        names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        return [os.path.join(folder, name) for name in names if fnmatch.fnmatch(name, pattern)]

    def _refuse(self, path: str) -> Any:
        raise ExpressionError(f"{quoted(path)} {self.places.why_not(path)}")

    def _check(self, path: str) -> None:
        if not self.places.allow(path):
            raise ExpressionError(f"{quoted(path)} is outside of the description's folder and package; {ALLOWING}")

    def _read(self, path: str) -> Source:
        self._check(path)
        if not os.path.isfile(path):
            missing = f"{quoted(path)} was not found"
            raise self.x.XacroException(missing, exc=FileNotFoundError(""))
        opened = Source.of(Path(path))
        self.bytes_left -= len(opened.content)
        if self.bytes_left < 0:
            raise ExpressionError(f"the files it includes have more than {MAX_BYTES} bytes")
        return opened

    def _parse(self, _: Any, path: str) -> Any:
        """Return an included file."""
        if len(self.x.filestack) > MAX_INCLUDES:
            raise ExpressionError(f"files include one another more than {MAX_INCLUDES} deep")
        return self._document(parse(self._read(path)), path)

    def _yaml(self, name: Any) -> Any:
        path = self.x.abs_filename_spec(str(name))
        content = self._read(path).content
        if len(content) > MAX_YAML:
            raise ExpressionError(f"{quoted(path)} has {len(content)} bytes; YAML may have {MAX_YAML}")
        if sum(content.count(bracket) for bracket in (b"[", b"{")) > MAX_BRACKETS:
            raise ExpressionError(f"{quoted(path)} has more than {MAX_BRACKETS} brackets")
        self.budget.pay(len(content) * 4)
        return self.evaluate.kept(_yaml_value(content, self.evaluate))

    def _say(self, *words: Any, **_: Any) -> str:
        self.report.remark(self.at, "xacro says: " + " ".join(str(word)[:500] for word in words))
        return ""

    def _fatal(self, *words: Any) -> None:
        raise ExpressionError(" ".join(str(word)[:500] for word in words))

    # --- trees ---

    def _document(self, root: Element, file: str) -> Any:
        """Return elements as the package takes them, each with its place."""
        document = minidom.Document()
        waiting: list[tuple[Element, Any]] = [(root, document)]
        while waiting:
            element, parent = waiting.pop()
            self.budget.pay(PER_ELEMENT + PER_ATTRIBUTE * len(element.attributes))
            node = document.createElement(element.tag)
            node.setUserData("at", Line(element.line, file), self)
            for name, value in element.attributes.items():
                node.setAttribute(name, value)
            if element.text.strip():
                node.appendChild(document.createTextNode(element.text))
            parent.appendChild(node)
            waiting += [(child, node) for child in reversed(element.children)]
        return document

    def handle(self, operation: int, key: str, data: Any, src: Any, dst: Any) -> None:
        """Tell a clone of a node where it comes from (`xml.dom.UserDataHandler`)."""
        self.budget.pay(PER_ELEMENT + PER_ATTRIBUTE * len(src.attributes))
        dst.setUserData(key, data, self)

    def _tree(self, node: Any) -> Element:
        root = Element("", {}, 0)
        waiting: list[tuple[Any, Element]] = [(node, root)]
        while waiting:
            here, parent = waiting.pop()
            attributes = {str(name): str(value) for name, value in here.attributes.items()}
            element = Element(str(here.tagName), attributes, here.getUserData("at") or self.at)
            parent.children.append(element)
            inside = [child for child in here.childNodes if child.nodeType == child.ELEMENT_NODE]
            element.text = "".join(c.data for c in here.childNodes if c.nodeType == c.TEXT_NODE).strip()
            waiting += [(child, element) for child in reversed(inside)]
        return root.children[0]


def _typed(value: str) -> Any:
    """Return an argument as a number or a truth value, where it is one."""
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(value.lower(), value)


def _tokens(text: str, separators: str, skip_empty: bool) -> list[str]:
    for separator in separators[1:]:
        text = text.replace(separator, separators[0])
    return [part for part in text.split(separators[0]) if part or not skip_empty]


def _yaml_value(content: bytes, evaluate: Evaluator) -> Any:
    """Return what a YAML file holds; numbers may have a unit, `!degrees 90`, and be expressions."""
    import yaml  # pyright: ignore[reportMissingModuleSource] -- the package xacro brings it

    class Loader(yaml.SafeLoader):
        def flatten_mapping(self, node: Any) -> None:
            if any(key.tag == "tag:yaml.org,2002:merge" for key, _ in node.value):
                raise ExpressionError("merge keys (<<) of YAML are not read")

    def in_unit(loader: Any, suffix: str, node: Any) -> float:
        if suffix not in _UNITS:
            raise ExpressionError(f"YAML's {quoted(suffix)} is not known; there are {', '.join(_UNITS)}")
        return float(evaluate(loader.construct_scalar(node), expressions.math_names())) * _UNITS[suffix]

    Loader.add_multi_constructor("", in_unit)
    Loader.add_constructor("tag:yaml.org,2002:timestamp", yaml.SafeLoader.construct_scalar)
    return yaml.load(content, Loader)
