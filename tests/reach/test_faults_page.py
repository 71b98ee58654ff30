"""The page of planted faults says what is said of them, and each format has enough of them."""

import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))

import build_faults as build

from cardan._reach.formats.reading import FORMATS
from representatives import represented

PAGE = build.PAGE.read_text(encoding="utf-8")


def needs(name: str) -> None:
    """Skip where what reads a format is not installed."""
    try:
        version(build.EXTRAS.get(name, "numpy"))
    except PackageNotFoundError:
        pytest.skip(f"the extra for {name} is not installed")


def test_each_format_is_on_the_page():
    assert set(build.TABLES) == {form.name for form in FORMATS.values()}
    assert PAGE.startswith(build.HEAD)
    assert [line.removeprefix("## ") for line in PAGE.splitlines() if line.startswith("## ")] == list(build.TABLES)


@pytest.mark.parametrize("name", represented(build.TABLES, by=lambda name: name not in ("USD", "xacro")))
def test_the_page_is_up_to_date(name):
    needs(name)
    if build.made_with(name) not in PAGE:
        pytest.skip("the page was made with other versions, whose words may be others")
    assert f"\n{build.section(name)}" in PAGE, "run: python docs/build_faults.py"


@pytest.mark.parametrize("name", build.TABLES)
def test_each_format_has_twenty_planted_faults(name):
    needs(name)
    assert len({fault.name for fault in build.TABLES[name]()}) >= 20
