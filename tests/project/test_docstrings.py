"""What `help()` says of everything public: each argument with its unit, what comes back, what is raised, an example.

Examples stand in a section `Examples:` as Python shows them (`>>>`), and all of them run here: after those of
`cardan` itself, which make a robot and a state of it, and, of a method, after those of its class.

Said once is enough: a summary that begins with "Return", or "Add a body and return it", says what comes back; arguments
that all methods of a class, or functions of a module, share stand in its section `Throughout:`; and what an example of
its class or module calls needs no other.
"""

import ast
import contextlib
import doctest
import enum
import functools
import importlib
import inspect
import re
import textwrap

import numpy as np
import pytest

import cardan
from cardan.errors import MissingExtraError
from representatives import represented

ROOMS = ("cardan", "cardan.spatial.rotations", "cardan.simulation", "cardan.coordinates", "cardan.comparison")
ROOMS += ("cardan.description", "cardan.verification", "cardan.formats", "cardan.interop", "cardan.gym")
ROOMS += (
    "cardan.interop.torch",
    "cardan.interop.casadi",
    "cardan.interop.crocoddyl",
    "cardan.distributed",
    "cardan.generation",
    "cardan.tasks",
    "cardan.trajectories",
    "cardan.identification",
    "cardan.optimal",
    "cardan.viewer",
    "cardan.pictures",
)
"""Where public names are: in `__all__` of these, and of the modules named there."""

ALIKE = (cardan.scalar, cardan.spatial.rotations)
"""Modules whose functions are described together."""

NUMBERS = re.compile(r"\b(float|ArrayLike|Reals|ndarray|NDArray)\b")
"""Annotations of what has a unit."""
UNIT = re.compile(r"\[|\bas (for|in|those of)\b")
"""A unit, or where it is said."""
SECTIONS = ("Args", "Throughout", "Attributes", "Returns", "Yields", "Raises", "Examples")


def public():
    """Yield all that is public, by its name: functions, classes, their own methods and properties."""
    seen = set()
    for room in ROOMS:
        with contextlib.suppress(MissingExtraError):
            yield from of(room, importlib.import_module(room), seen)


def of(name, thing, seen):
    module = thing.__name__ if inspect.ismodule(thing) else getattr(thing, "__module__", "")
    if id(thing) in seen or not str(module).startswith("cardan"):
        return
    seen.add(id(thing))
    if inspect.ismodule(thing):
        for own in getattr(thing, "__all__", ()):
            yield from of(f"{name}.{own}", getattr(thing, own), seen)
    elif inspect.isclass(thing):
        yield name, thing
        yield from members(name, thing)
    elif isinstance(thing, cardan.Function) or inspect.isfunction(thing):
        yield name, thing


def members(name, kind):
    """Yield what a class defines under names of its own: what overrides is described where it is first."""
    for own, member in vars(kind).items():
        first = not any(own in vars(base) for base in kind.__mro__[1:])
        member = getattr(member, "__func__", member)
        is_property = isinstance(member, (property, functools.cached_property))
        if not own.startswith("_") and first and (is_property or inspect.isfunction(member)):
            yield f"{name}.{own}", member


PUBLIC = dict(public())
GROUPS = {}
"""The names of a class with those of what it has, of a room with what is in it."""
for _name in PUBLIC:
    GROUPS.setdefault(".".join(_name.split(".")[:2]), []).append(_name)


def sections(thing):
    """Return the sections of a docstring by their titles."""
    found, title = {"": []}, ""
    for line in (inspect.getdoc(thing) or "").splitlines():
        head = re.fullmatch(rf"({'|'.join(SECTIONS)}):", line)
        title = head[1] if head else "" if title and line and not line.startswith(" ") else title
        found.setdefault(title, [])
        if not head:
            found[title].append(line)
    return {title: "\n".join(lines) for title, lines in found.items()}


def entries(text):
    """Return what a section says of each name: `name: ...`, or `a, b: ...`, with the lines that go on."""
    found = {}
    for entry in re.split(r"\n(?=    \S)", text):
        head = re.match(r"    ([\w, *]+):(.*)", entry, re.DOTALL)
        found |= dict.fromkeys(re.findall(r"\w+", head[1]), head[2]) if head else {}
    return found


# --- what is missing ----------------------------------------------------------------------------------------------


def missing(name, thing):
    """Yield what a docstring does not say."""
    if isinstance(thing, (property, functools.cached_property)):
        yield from missing_of_property(thing)
    elif inspect.isclass(thing):
        yield from missing_of_class(thing)
    else:
        holder = PUBLIC.get(name.rpartition(".")[0])
        classes = holder.__mro__ if inspect.isclass(holder) else ()
        rooms = [room for room in ALIKE if getattr(room, thing.__name__, None) is thing]
        shared = [sections(kind) for kind in (*classes, *rooms) if kind.__doc__]
        yield from missing_of_function(thing, shared)
        if not any(f".{thing.__name__}(" in said.get("Examples", "") for said in shared):
            yield from missing_example(sections(thing))


def missing_of_property(thing):
    function = getattr(thing, "fget", None) or thing.func
    said = inspect.getdoc(function) or ""
    if not said:
        yield "a docstring"
    if has_unit(function.__annotations__.get("return")) and not UNIT.search(said):
        yield "a unit in brackets, such as [rad] or, without one, [-]"


def missing_of_class(kind):
    said = sections(kind)
    if not kind.__doc__:
        yield "a docstring"
    if issubclass(kind, (Exception, Warning, enum.Enum)) or is_protocol(kind):
        return
    if is_made_by_users(kind):
        described = entries(said.get("Args", "")) | entries(said.get("Attributes", ""))
        yield from missing_arguments(inspect.signature(kind).parameters.values(), described)
    yield from missing_example(said)


def is_protocol(kind):
    return inspect.isabstract(kind) or getattr(kind, "_is_protocol", False)


def is_made_by_users(kind):
    """Return whether the class's own constructor is called: not where the docstring says what returns or makes it."""
    return not re.search(r"\b(Made by|Returned by|makes it|What .* returns)\b", kind.__doc__ or "")


def missing_of_function(function, shared):
    said, signature = sections(function), inspect.signature(function)
    if not said[""].strip():
        yield "a docstring"
    parameters = [p for p in signature.parameters.values() if p.name not in ("self", "cls")]
    described = {name: line for one in shared for name, line in entries(one.get("Throughout", "")).items()}
    yield from missing_arguments(parameters, described | entries(said.get("Args", "")))
    returned, summary = (
        signature.return_annotation,
        re.match(r"(Return|Yield|[^.]* and return)\b.*", said[""], re.DOTALL),
    )
    if returned not in ("None", "NoReturn", None) and not summary and not said.keys() & {"Returns", "Yields"}:
        yield "a section 'Returns:', or a summary that begins with 'Return' or says '... and return ...'"
    if has_unit(returned) and not UNIT.search(said.get("Returns", "") + (summary[0] if summary else "")):
        yield "a unit of what is returned, in brackets, such as [N m], or [-]"
    if raises(function) and "Raises" not in said:
        yield "a section 'Raises:'"
    if isinstance(function, cardan.Function) and "\nSource:" not in inspect.getdoc(function):
        yield "a line 'Source:' with author, year and section"


def missing_arguments(parameters, described):
    for parameter in parameters:
        if parameter.name not in described:
            yield f"argument {parameter.name!r}, in the section 'Args:'"
        elif has_unit(parameter.annotation) and not UNIT.search(described[parameter.name]):
            yield f"the unit of argument {parameter.name!r}, in brackets, such as [m], or [-]"


def missing_example(said):
    if re.search(r"^Example:", said[""], re.MULTILINE):
        yield "the plural: its section 'Example:' is called 'Examples:' and has lines '>>> ...'"
    if ">>> " not in said.get("Examples", ""):
        yield "a section 'Examples:' with one to three lines '>>> ...' that run"


def has_unit(annotation):
    return NUMBERS.search(str(annotation)) is not None


def raises(function):
    """Return whether the function's own code raises something for its caller."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function))))
    except (OSError, TypeError, SyntaxError):
        return False
    return any(isinstance(node, ast.Raise) and node.exc is not None for node in ast.walk(tree))


@pytest.mark.parametrize("group", GROUPS)
def test_the_docstrings_say_all(group):
    lacks = {name: list(missing(name, PUBLIC[name])) for name in GROUPS[group]}
    said = [f"the docstring of {name} lacks {'; '.join(found)}" for name, found in lacks.items() if found]
    assert not said, "\n".join(said)


# --- examples -----------------------------------------------------------------------------------------------------


def examples(thing):
    return doctest.DocTestParser().get_examples(inspect.getdoc(thing) or "")


class WithoutBanner(doctest.OutputChecker):
    """viser prints a box with its address, which is another one each time, and that it has stopped."""

    def check_output(self, want, got, optionflags):
        told = [
            line for line in got.splitlines(keepends=True) if not line.lstrip().startswith(("╭", "│", "╰", "(viser)"))
        ]
        return super().check_output(want, "".join(told), optionflags)


def run(lines, names, name):
    """Run examples as Python shows them; a failure says what came out."""
    out = []
    test = doctest.DocTest(lines, names, name, None, 0, None)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    result = doctest.DocTestRunner(checker=WithoutBanner(), optionflags=flags, verbose=False).run(
        test, out=out.append, clear_globs=False
    )
    if result.failed and "MissingExtraError" in "".join(out):
        pytest.skip(f"{name}: an extra is not installed")
    assert not result.failed, "".join(out)
    names |= test.globs  # a copy
    return names


@pytest.fixture(scope="module")
def prelude():
    """The names that every example may use."""
    return run(examples(cardan), {"__name__": "__main__"}, "cardan")


@pytest.mark.slow
@pytest.mark.usefixtures("reference_target")
@pytest.mark.parametrize(
    "name",
    represented(
        [name for name, thing in PUBLIC.items() if examples(thing)],
        by=lambda name: isinstance(PUBLIC[name], cardan.Function),
    ),
)
def test_the_example_runs(name, prelude, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names, holder = dict(prelude), PUBLIC.get(name.rpartition(".")[0])
    if inspect.isclass(holder):
        run(examples(holder), names, name)
    run(examples(PUBLIC[name]), names, name)


@pytest.mark.parametrize("room", ALIKE, ids=lambda room: room.__name__)
def test_the_examples_of_modules_run(room, prelude):
    run(examples(room), dict(prelude), room.__name__)


def test_the_prelude_is_what_it_says(prelude):
    assert {"np", "cardan", "arm", "q", "v", "a", "tau"} <= prelude.keys()
    assert isinstance(prelude["q"], np.ndarray)
