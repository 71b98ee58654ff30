"""The site: every public name has one place in the reference, links are true, a browser asks no other host."""

import importlib
import re
import subprocess
import sys
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest

import cardan
from representatives import in_turn

ROOT = Path(__file__).parents[2]
REFERENCE = sorted((ROOT / "docs" / "api").glob("*.md"))


def test_every_public_name_is_in_the_reference_once():
    """A new name gets a line `::: cardan.NAME` on the page of docs/api it belongs to."""
    found = Counter(name for page in REFERENCE for name in re.findall(r"^::: cardan\.(\S+)$", page.read_text(), re.M))
    assert {name: found[name] for name in {*cardan.__all__, *found} if found[name] != 1} == {"__version__": 0}
    assert set(found) <= set(cardan.__all__)


def test_the_version_is_one():
    for file in ("CITATION.cff", "conda-recipe/recipe.yaml"):
        assert re.search(rf'^\s*version: "?{re.escape(cardan.__version__)}"?$', (ROOT / file).read_text(), re.M), file


@in_turn("page", [*ROOT.glob("docs/**/*.md"), ROOT / "README.md"])
def test_nothing_in_a_sentence_is_taken_for_html(page):
    """`<loop>` as it stands is shown as nothing; a tag in a sentence is code."""
    text = re.sub(r"^```.*?^```|<!--.*?-->", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    prose = re.sub(r"(`+).*?\1", "", text, flags=re.DOTALL)
    assert re.findall(r"<(?!img )[a-zA-Z/][^>\n]*>", prose) == []


def test_a_block_with_the_name_of_its_file_is_a_block_on_the_site(monkeypatch):
    pytest.importorskip("mkdocs", reason="needs the extra `docs`")
    pytest.importorskip("pymdownx", reason="needs the extra `docs`")
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    titled = importlib.import_module("build_site").titled
    block = titled("```python file=laws.py\nx = 1\n```")
    assert block.startswith('```python title="laws.py"\n')
    page = importlib.import_module("markdown").markdown(
        block, extensions=["pymdownx.superfences", "pymdownx.highlight"]
    )
    assert "file=" not in page
    assert "laws.py</span><pre>" in page
    assert titled("```python\nx = 1\n```") == "```python\nx = 1\n```"


class Asked(HTMLParser):
    """Collects what a browser fetches for a page by itself."""

    def __init__(self):
        super().__init__()
        self.urls = set()

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        if tag in ("script", "img", "iframe", "source"):
            self.urls.add(found.get("src") or "")
        if tag == "link" and found.get("rel") in ("stylesheet", "icon", "preload", "preconnect", "modulepreload"):
            self.urls.add(found.get("href") or "")


@pytest.mark.full
def test_the_site_is_built_strictly_and_whole_and_asks_no_other_host(tmp_path):
    for module in ("mkdocs", "material", "mkdocstrings", "jupytext", "nbclient", "ipykernel", "matplotlib"):
        pytest.importorskip(module, reason="needs the extras `docs` and `plot`")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert built.returncode == 0, built.stdout + built.stderr
    pages = list(tmp_path.rglob("*.html"))
    assert len(pages) > 60
    headings = Counter(
        name
        for page in (tmp_path / "api").glob("*.html")
        for name in re.findall(r'<h\d id="(\S+)" class="doc', page.read_text())
    )
    assert {f"cardan.{name}" for name in cardan.__all__} - {"cardan.__version__"} <= headings.keys()
    assert [name for name, count in headings.items() if count > 1] == []
    for page in pages:
        asked = Asked()
        asked.feed(page.read_text(encoding="utf-8"))
        assert [url for url in asked.urls if re.match(r"(https?:)?//", url)] == [], page.name
    for style in tmp_path.rglob("*.css"):
        assert not re.search(r"url\((['\"]?)(https?:)?//", style.read_text(encoding="utf-8")), style.name
