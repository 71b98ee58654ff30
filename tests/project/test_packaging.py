"""What is said of the package where its files are not: on a page of a package index."""

import re
import runpy
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
by_itself = runpy.run_path(str(ROOT / "setup.py"))["by_itself"]


def test_the_description_needs_no_files_beside_it():
    text = by_itself((ROOT / "README.md").read_text(encoding="utf-8"))
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    targets = re.findall(r"\]\(([^)]*)\)", prose)
    assert targets
    assert all(target.startswith("https://") for target in targets)
    assert "![" not in prose
    assert re.findall(r"```.*?```", text, re.DOTALL) == re.findall(
        r"```.*?```", (ROOT / "README.md").read_text(), re.DOTALL
    )


@pytest.mark.parametrize(
    ("given", "becomes"),
    [
        ("see [docs/a.md](docs/a.md#b).", "see docs/a.md."),
        ("![A picture](docs/a.png)\n\ntext", "text"),
        ("[MuJoCo](https://mujoco.org)", "[MuJoCo](https://mujoco.org)"),
        ("```python\nx = table[0](name)\n```\n", "```python\nx = table[0](name)\n```\n"),
    ],
)
def test_links_become_words(given, becomes):
    assert by_itself(given) == becomes


def test_what_a_source_distribution_holds_is_there():
    for line in (ROOT / "MANIFEST.in").read_text().splitlines():
        command, *names = line.split()
        if command in ("include", "graft"):
            assert [name for name in names if not (ROOT / name).exists()] == []


def test_who_and_for_what_is_said():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["authors"]
    assert {"Programming Language :: Python :: 3.11", "Programming Language :: Python :: 3.14"} <= set(
        project["classifiers"]
    )
