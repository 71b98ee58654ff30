"""Every example runs, prints the law it checks, and makes a picture with something on it; each is short."""

import importlib.util
import inspect
import shutil
import sys
from pathlib import Path

import pytest

import cardan

EXAMPLES = sorted(Path(__file__).parents[2].joinpath("examples").glob("*.py"))
LONGER = {"learn_rough_terrain", "learn_swing_up"}  # more than sixty lines
QUICK = {"load_a_robot", "own_task"}
"""Those of the default run, a second each; all of them are run with --full, and for the site's gallery."""
PACKAGES = {
    "gymnasium": "gym",
    "mujoco": "mujoco",
    "daqp": "qp",
    "toppra": "oracles",
    "casadi": "oracles",
    "scipy": "test",
}
COLOURS = 40  # a blank page has one, lines and letters alone a few dozen


def marked(file):
    return pytest.param(file, id=file.stem, marks=[pytest.mark.full] * (file.stem not in QUICK))


@pytest.fixture(scope="module")
def pyplot():
    return pytest.importorskip("matplotlib.pyplot")  # not at the top: every process would import it


@pytest.fixture
def run(tmp_path, monkeypatch, pyplot):
    """Return a function that runs an example as a user does, and gives its module and its picture."""
    monkeypatch.chdir(tmp_path)
    pyplot.switch_backend("Agg")

    def run(file):
        spec = importlib.util.spec_from_file_location(file.stem, file)
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, file.stem, module)
        spec.loader.exec_module(module)
        module.main(str(tmp_path / "picture.png"))
        return module, tmp_path / "picture.png"

    yield run
    pyplot.close("all")


@pytest.mark.parametrize("file", [marked(file) for file in EXAMPLES])
def test_an_example_runs_and_its_picture_shows_something(file, run, pyplot, capsys):
    text = file.read_text(encoding="utf-8")
    for package in PACKAGES:
        if f"import {package}" in text or f"extra `{PACKAGES[package]}`" in text:
            pytest.importorskip(package)
    if '"cc"' in text and shutil.which("cc") is None:
        pytest.skip("needs a C compiler")
    _, picture = run(file)
    pixels = pyplot.imread(picture)[..., :3]
    assert pixels.shape[0] >= 300
    assert len({tuple(pixel) for pixel in (255 * pixels[::2, ::2].reshape(-1, 3)).astype(int).tolist()}) >= COLOURS
    assert any(character.isdigit() for character in capsys.readouterr().out)  # it checks itself by a number


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_an_example_is_short_and_says_what_it_shows(file):
    lines = file.read_text(encoding="utf-8").splitlines()
    assert len([line for line in lines if line.strip()]) <= 60 or file.stem in LONGER
    assert max(map(len, lines)) <= 100
    assert f"python examples/{file.name} [PICTURE.png]" in lines
    assert f'    main(sys.argv[1] if sys.argv[1:] else "{file.stem}.png")' == lines[-1]
    assert inspect.cleandoc(lines[0]).startswith('"""')
    assert lines[0].rstrip('"').endswith(".")


def test_there_are_twenty():
    assert len(EXAMPLES) >= 20


@pytest.mark.full
def test_learning_gives_the_same_policy_with_the_same_seed(monkeypatch):
    """Whatever the number of threads; to the last bit."""
    pytest.importorskip("gymnasium")
    pytest.importorskip("matplotlib")
    monkeypatch.syspath_prepend(EXAMPLES[0].parent)
    learn, threads, found = importlib.import_module("learn_rough_terrain").learn, cardan.num_threads(), []
    for count in (1, 2):
        cardan.set_num_threads(count)
        found.append(b"".join(array.tobytes() for array in learn(rounds=2)[:2]))
    cardan.set_num_threads(threads)
    assert found[0] == found[1]
