import functools
import gc
import os
import pathlib
import subprocess
import tempfile

import pytest

# A generated program's cache, a picture library's settings: all in a folder that goes away. The workers of a
# parallel run inherit that of the process that started them: what one compiled, the others find.
if "PYTEST_XDIST_WORKER" not in os.environ:
    _TEMPORARY = tempfile.TemporaryDirectory(prefix="cardan-tests-")
    os.environ["XDG_CACHE_HOME"] = os.environ["CARDAN_CACHE_DIR"] = os.environ["MPLCONFIGDIR"] = _TEMPORARY.name


def pytest_configure(config):
    """Let the processes that tests start import what the tests do: `pythonpath` of pyproject.toml."""
    paths = [*map(str, config.getini("pythonpath")), os.environ.get("PYTHONPATH")]
    if any(paths):
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))


def pytest_addoption(parser):
    parser.addoption("--full", action="store_true", help="run all tests, those marked `full` too")
    parser.addoption("--affected", action="store_true", help="run what the changes since main can break, nearest first")


WINGS = ("algebra", "compiler", "robot", "dynamics", "motion", "reach")
"""Of src/cardan (with an underscore) and of this folder; each imports only from those before it."""


def pytest_collection_modifyitems(config, items):
    """Leave out what no change can break, if asked to; and what is marked `full`, unless it is asked for."""
    if config.getoption("--affected"):
        places = {item: path_in_tests(item) for item in items}
        changed = changed_paths(config.rootpath)
        kept = sorted(
            (item for item in items if is_affected(places[item], changed)), key=lambda i: rank(places[i], changed)
        )
        config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
        items[:] = kept
    leave_out_full(config, items)


def path_in_tests(item):
    """Return the path of a test's file, from this folder."""
    return item.path.relative_to(pathlib.Path(__file__).parent).as_posix()


def changed_paths(root):
    """Return the paths that differ from where this branch left main, and those git does not track yet."""
    git = functools.partial(subprocess.run, cwd=root, capture_output=True, text=True)
    start = git(["git", "merge-base", "HEAD", "main"]).stdout.strip() or "HEAD"
    listed = git(["git", "diff", "--name-only", start]).stdout + git(["git", "status", "--porcelain", "-uall"]).stdout
    return {line.split()[-1] for line in listed.splitlines()}


def lowest(changed):
    """Return the number of the lowest wing that changed; 0 if something did that belongs to none, or to all."""
    wings = [path.split("/")[2][1:] for path in changed if path.startswith("src/cardan/_") and path.count("/") > 2]
    elsewhere = any(path.startswith("src/") and path.count("/") < 3 for path in changed) or "pyproject.toml" in changed
    return 0 if elsewhere else min((WINGS.index(wing) for wing in wings), default=len(WINGS))


def is_affected(place, changed):
    """Return whether a test may fail: it changed, or its wing or one below; outside the wings, if anything did."""
    wing = place.split("/")[0]
    of_wing = WINGS.index(wing) >= lowest(changed) if wing in WINGS else bool(changed)
    return of_wing or f"tests/{place}" in changed


def rank(place, changed):
    """Return what comes first: changed tests, those of the lowest changed wing, the wings above it, the others."""
    wing = place.split("/")[0]
    return f"tests/{place}" not in changed, WINGS.index(wing) if wing in WINGS else len(WINGS)


def leave_out_full(config, items):
    """Leave out what is marked `full`, unless it is asked for: by --full, by -m, or by its name."""
    if config.getoption("--full") or config.getoption("-m") or any("::" in argument for argument in config.args):
        return
    left_out = [item for item in items if item.get_closest_marker("full")]
    items[:] = [item for item in items if not item.get_closest_marker("full")]
    config.hook.pytest_deselected(items=left_out)


def pytest_collection_finish():
    """Let the garbage collector come round less often: a tenth of the time of all tests was its own."""
    settle()
    gc.set_threshold(5000, 20, 20)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item, nextitem):
    """Settle behind each file, when what it shared is gone."""
    if nextitem is not None and nextitem.path != item.path:
        settle()


def settle():
    """Take all there is out of what the garbage collector walks over: ten thousand tests, what is imported and kept."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give each worker its share of the files in one piece, and what is left at the end to who is done.

    By default tests are dealt out in pieces that become smaller and smaller: then each worker loads what a file needs,
    makes its robots and traces their functions.
    """
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log) if config.getoption("dist") == "load" else None


@pytest.fixture
def reference_target(monkeypatch):
    """The reference target always: for many large programs of which each would be compiled for one state."""
    monkeypatch.setenv("CARDAN_TARGET", "numpy")


@pytest.fixture
def native_target(monkeypatch):
    """The default target, also among tests on the quick one: for many steps by one program."""
    monkeypatch.delenv("CARDAN_TARGET", raising=False)


@pytest.fixture
def quick_target(request, monkeypatch):
    """The reference target, which compiles nothing; with --full, the native one, which ships."""
    if not request.config.getoption("--full"):
        monkeypatch.setenv("CARDAN_TARGET", "numpy")


@pytest.fixture(scope="session")
def all_joints_or(request):
    """Return a function that gives the joints it is given; with --full, all of the catalogue."""
    from cardan.joints import CATALOGUE

    return lambda few: CATALOGUE if request.config.getoption("--full") else few
