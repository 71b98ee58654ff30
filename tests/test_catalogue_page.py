"""The catalogue page says what the code says."""

import importlib.util
import re
from pathlib import Path

from cardan.joints import CATALOGUE

DOCS = Path(__file__).parents[1] / "docs"


def builder():
    """The script that makes the page."""
    spec = importlib.util.spec_from_file_location("build_joints", DOCS / "build_joints.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_up_to_date(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS.parent))
    build = builder()
    assert (DOCS / "joints.md").read_text(encoding="utf-8") == build.page(), "run: python docs/build_joints.py"
    assert set(build.ENTRIES) == {type(j).__name__ for j in CATALOGUE}
    assert all(len(entry.peers) == len(build.PEERS) for entry in build.ENTRIES.values())


def test_every_picture_is_there():
    text = (DOCS / "joints.md").read_text(encoding="utf-8")
    pictures = re.findall(r"!\[\w+\]\(([^)]+)\)", text)
    assert len(pictures) == len({type(j) for j in CATALOGUE})
    for picture in pictures:
        assert (DOCS / picture).read_bytes().startswith(b"\x89PNG")
