"""The face of the package: what it names, how each name is found, and what its documentation says."""

import ast
import builtins
import importlib
import importlib.util
import inspect
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import cardan
from cardan._algebra.lazy import imported_later
from cardan._dynamics.call.suggestions import words_of
from representatives import in_turn

SOURCE = Path(cardan.__file__).parent
LAZY = ("cardan", "cardan._robot.joints", "cardan._algebra.manifolds")
FUNCTIONS = sorted(name for name in cardan.__all__ if isinstance(getattr(cardan, name), cardan.Function))


@pytest.mark.parametrize("package", LAZY)
def test_what_is_imported_is_what_is_named_and_what_is_found(package):
    module = sys.modules[package]
    tree = ast.parse(SOURCE.joinpath(*package.split(".")[1:], "__init__.py").read_text(encoding="utf-8"))
    imports = [a for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for a in node.names]
    imported = {a.name for a in imports if not a.asname}  # what has `as` is a module beside: `simulation as simulation`
    private = {"TYPE_CHECKING", "Any", "imported_later", "_wiring"}
    assert imported - private == set(module.__all__)
    assert len(set(module.__all__)) == len(module.__all__)
    assert all(getattr(module, name) is not None for name in module.__all__)
    assert set(dir(module)) == set(module.__all__)


LATER = [
    path for path in SOURCE.rglob("__init__.py") if "imported_later(globals())" in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("path", LATER, ids=lambda path: path.parent.name)
def test_no_module_has_the_name_of_what_is_imported_from_it_later(path):
    """Whatever imported such a module first, as a world does, put it in the place of the function it holds."""
    late = [n for n in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(n, ast.With)]
    imports = [n for block in late for n in block.body if isinstance(n, ast.ImportFrom)]
    found = [(str(node.module).rpartition("."), a.name) for node in imports for a in node.names]
    assert not [home for home, name in found if home[2] == name and home[0].endswith(path.parent.name)]


def test_what_is_imported_later_is_imported_when_it_is_used(tmp_path, monkeypatch):
    folder = tmp_path / "later_package"
    folder.mkdir()
    folder.joinpath("__init__.py").write_text(
        "from cardan._algebra.lazy import imported_later\n\nwith imported_later(globals()):\n"
        "    from later_package import part\n    from later_package.part import thing, other\n"
    )
    folder.joinpath("part.py").write_text("thing, other = 1, 2\n")
    monkeypatch.syspath_prepend(tmp_path)
    package = importlib.import_module("later_package")
    assert not {"part", "thing", "other"} & vars(package).keys()
    assert "later_package.part" not in sys.modules
    assert package.thing == 1
    assert {"thing"} < vars(package).keys()
    assert package.part is sys.modules.pop("later_package.part")
    del sys.modules["later_package"]


def test_threads_that_import_packages_at_the_same_time_leave_pythons_import_as_it_was():
    """Two threads within `imported_later` interleaved: the last one put the other's replacement back, for good."""
    usual = builtins.__import__
    first_in, second_in, first_out = threading.Event(), threading.Event(), threading.Event()

    def first():
        with imported_later({"__name__": "first"}):
            first_in.set()
            second_in.wait(timeout=0.2)  # in vain: the second comes in only after the first has left
        first_out.set()

    def second():
        first_in.wait()
        with imported_later({"__name__": "second"}):
            second_in.set()
            first_out.wait()

    threads = [threading.Thread(target=first), threading.Thread(target=second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert builtins.__import__ is usual


@pytest.mark.parametrize(
    "code",
    [
        "from cardan.description import Material",
        "from cardan.joints import Revolut",
        "from cardan.formats.sdf import write_sd",
        "import cardan.joints.revolute",
        "import cardan.errors.nothing",
    ],
)
def test_an_unknown_name_is_an_error_that_names_no_private_path(code):
    with pytest.raises(ImportError) as found:
        exec(code, {})
    assert "cardan._" not in str(found.value)
    assert isinstance(found.value, ModuleNotFoundError) == code.startswith("import ")


@pytest.mark.slow
def test_what_python_asks_of_every_module_imports_nothing():
    """`inspect` and `unittest` ask all modules for `__file__` and the like, and that imported what they show."""
    code = (
        "import sys, cardan.tasks, cardan.viewer\n"
        "print([hasattr(cardan.viewer, name) for name in ('__warningregistry__', '__wrapped__')])\n"
        "print([m for m in sys.modules if m.startswith(('cardan._reach.viewer', 'cardan._motion.tasks'))])\n"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.splitlines() == ["[False, False]", "[]"]


@pytest.mark.slow
def test_importing_loads_no_room_before_it_is_used():
    code = (
        "import sys, cardan\n"
        "late = ('_reach', 'coordinates', 'shipped', 'description', 'geometry', 'simulation.world', 'tasks')\n"
        "print([m for m in sys.modules if m.startswith('cardan._') and any(f'.{room}' in m for room in late)])\n"
        "print([m for m in ('llvmlite', 'xml') if m in sys.modules])\n"
        "print(cardan.load.__name__, cardan.conventions.__name__, bool(cardan.robots.ROBOTS))\n"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.splitlines() == ["[]", "[]", "load cardan._dynamics.coordinates.conventions True"]


@pytest.mark.slow
def test_every_public_module_is_found_by_its_name():
    """`import cardan` is enough for the modules docs/versions.md promises: `cardan.gym` was not found."""
    page = Path(__file__).parents[2].joinpath("docs", "versions.md").read_text(encoding="utf-8")
    public = page.partition("## What is public")[2].partition("Not public are")[0]
    modules = re.findall(r"`cardan\.([a-z]+)`", public)
    assert {"joints", "gym"} <= set(modules)
    code = f"import cardan\nfor name in {modules}: assert getattr(cardan, name).__name__ == f'cardan.{{name}}'"
    if importlib.util.find_spec("gymnasium") is None:  # an extra
        code = code.replace("'gym', ", "")
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("rnea", "Pinocchio's rnea is cardan.inverse_dynamics"),
        ("crba", "Pinocchio's crba is cardan.mass_matrix"),
        ("mj_jacBody", "MuJoCo's mj_jacBody is cardan.jacobian"),
        ("CalcBiasTerm", "Drake's CalcBiasTerm is cardan.bias_forces"),
        ("getFrameVel", "iDynTree's getFrameVel is cardan.frame_velocity"),
        ("mass_matrx", "module 'cardan' has no attribute 'mass_matrx'"),
    ],
)
def test_a_word_of_another_library_leads_to_ours(word, said):
    assert not hasattr(cardan, word)
    with pytest.raises(AttributeError, match=said):
        getattr(cardan, word)


@pytest.mark.parametrize(
    ("module", "library", "holder"),
    [("pinocchio", "Pinocchio", ""), ("mujoco", "MuJoCo", ""), ("idyntree.bindings", "iDynTree", "KinDynComputations")],
)
def test_these_words_are_theirs(module, library, holder):
    theirs = pytest.importorskip(module)
    for part in holder.split():
        theirs = getattr(theirs, part)
    words = [w for name in FUNCTIONS for w, whose in words_of(getattr(cardan, name)).items() if whose == library]
    assert len(words) >= 10
    assert [word for word in words if not hasattr(theirs, word)] == []


@in_turn("name", FUNCTIONS)
def test_compiled_functions_are_annotated_and_say_what_they_raise(name):
    """What else their documentation must have: tests/project/test_docstrings.py."""
    function = getattr(cardan, name)
    text, signature = inspect.getdoc(function), inspect.signature(function)
    assert text.startswith("Return ")
    assert "\nReturns:" in text
    assert "\nRaises:" in text
    assert all(parameter.annotation is not parameter.empty for parameter in signature.parameters.values())
    assert signature.return_annotation not in (inspect.Parameter.empty, "Any")


@pytest.mark.parametrize("name", [n for n in cardan.__all__ if inspect.ismodule(getattr(cardan, n))])
def test_public_modules_show_their_own_names_alone(name):
    """What they import, and the modules they are made of, stood between them where a name is completed."""
    module = getattr(cardan, name)
    assert sorted(dir(module)) == sorted(module.__all__)


def test_help_tells_what_a_reference_may_be(capsys):
    help(cardan.jacobian)
    shown = capsys.readouterr().out
    for word in ("LOCAL_WORLD_ALIGNED", "mj_jac", "expressed_in", "model.frame_names"):
        assert word in shown


def test_solvers_are_imported_under_the_name_they_are_called_by():
    import cardan
    from cardan.solvers import Featherstone

    assert cardan.solvers.Featherstone is Featherstone is cardan.simulation.solvers.Featherstone
