"""What the README and the pages show has no error for a type checker: pyright as it is, mypy strict.

Of mypy's strict rules those are left out that ask for annotations in the shown code itself: examples of joints and of
functions have none.
"""

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import cardan
import test_docs

ROOT = Path(__file__).parents[2]
UNTYPED = {"mujoco.md", "coming-from/mujoco.md", "coming-from/pinocchio.md"}  # packages that name nothing to a checker
PAGES = [ROOT / "README.md", *(ROOT / "docs" / page for page in test_docs.PAGES if page not in UNTYPED)]
BLOCK = re.compile(r"^```python([^\n]*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
BARE = ("--allow-untyped-defs", "--allow-incomplete-defs", "--allow-untyped-calls", "--allow-untyped-decorators")
OTHERS = ("--disable-error-code=import-untyped",)  # SymPy and SciPy have no types of their own

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Return a folder for each page, with its blocks as one module, or under the names they say."""
    folder = tmp_path_factory.mktemp("pages")
    for page in PAGES:
        for options, block in BLOCK.findall(page.read_text(encoding="utf-8")):
            name = options.split("file=")[1].strip() if "file=" in options else f"{page.stem.replace('-', '_')}_page.py"
            own = folder / f"of_{page.stem}"  # a folder of the page's own name would hide a package, such as mujoco
            own.mkdir(exist_ok=True)
            with open(own / name, "a", encoding="utf-8") as file:
                file.write(block + "\n")
    return folder


def run(*command, cwd):
    source = str(Path(cardan.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": source}
    if Path(source).name != "site-packages":  # there mypy finds it by itself, and refuses to be told
        environment["MYPYPATH"] = source
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, env=environment)


def test_pyright(pages):
    if importlib.util.find_spec("pyright") is None:
        pytest.skip("needs the `dev` extra: pyright")
    found = run(sys.executable, "-m", "pyright", "--pythonpath", sys.executable, cwd=pages)
    assert found.returncode == 0, found.stdout


def test_mypy(pages):
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("needs the `dev` extra: mypy")
    shown = []
    for folder in sorted(pages.iterdir()):
        strict = ("--strict", *BARE, *OTHERS, "--follow-imports=silent", "--cache-dir", str(pages.parent / "mypy"))
        found = run(sys.executable, "-m", "mypy", *strict, ".", cwd=folder)
        shown += [found.stdout + found.stderr] * (found.returncode != 0)
    assert not shown, "\n".join(shown)


def test_the_public_names_are_typed(tmp_path):
    if importlib.util.find_spec("pyright") is None:
        pytest.skip("needs the `dev` extra: pyright")
    asked = ("--verifytypes", "cardan", "--ignoreexternal", "--outputjson")
    found = json.loads(run(sys.executable, "-m", "pyright", *asked, cwd=tmp_path).stdout)["typeCompleteness"]
    incomplete = [s["name"] for s in found["symbols"] if s["isExported"] and not s["isTypeKnown"]]
    assert found["completenessScore"] >= 0.95, incomplete
    assert sum(found["exportedSymbolCounts"].values()) < 700
