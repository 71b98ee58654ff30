import gc
import os
import sys
import tempfile

import pytest

from affected import changed_paths, is_affected, path_in_tests, rank

# A generated program's cache, a picture library's settings: all in a folder that goes away. The workers of a
# parallel run inherit that of the process that started them: what one compiled, the others find.
if "PYTEST_XDIST_WORKER" not in os.environ:
    _TEMPORARY = tempfile.TemporaryDirectory(prefix="cardan-tests-")
    os.environ["XDG_CACHE_HOME"] = os.environ["CARDAN_CACHE_DIR"] = os.environ["MPLCONFIGDIR"] = _TEMPORARY.name


def pytest_configure(config):
    """Let the processes that tests start import what tests do (`pythonpath` of pyproject.toml) and share bytecode."""
    paths = [*map(str, config.getini("pythonpath")), os.environ.get("PYTHONPATH")]
    if any(paths):
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    is_first_of_many = config.getoption("numprocesses", None) and "PYTEST_XDIST_WORKER" not in os.environ
    if sys.dont_write_bytecode and not is_first_of_many:
        # Without bytecode beside the source each process compiles it again: those that tests start share a folder that
        # goes away. Workers do not: they import far more, and would first have to fill it.
        os.environ["PYTHONPYCACHEPREFIX"] = os.path.join(os.environ["MPLCONFIGDIR"], "bytecode")
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def pytest_addoption(parser):
    parser.addoption("--slow", action="store_true", help="run the tests marked `slow`, too")
    parser.addoption("--full", action="store_true", help="run all tests, those marked `slow` or `full` too")
    parser.addoption("--affected", action="store_true", help="run what the changes since main can break, nearest first")


def pytest_collection_modifyitems(config, items):
    """Leave out what no change can break, if asked to; and what takes long, unless it is asked for."""
    if config.getoption("--affected"):
        places = {item: path_in_tests(item) for item in items}
        changed = changed_paths(config.rootpath)
        kept = sorted(
            (item for item in items if is_affected(places[item], changed)), key=lambda i: rank(places[i], changed)
        )
        config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
        items[:] = kept
    leave_out_long(config, items)


def leave_out_long(config, items):
    """Leave out what is marked `slow` or `full`, unless it is asked for: by an option, by -m, or by its name."""
    if config.getoption("--full") or config.getoption("-m") or any("::" in argument for argument in config.args):
        return
    long = ["full"] if config.getoption("--slow") else ["slow", "full"]
    left_out = [item for item in items if any(map(item.get_closest_marker, long))]
    items[:] = [item for item in items if not any(map(item.get_closest_marker, long))]
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
