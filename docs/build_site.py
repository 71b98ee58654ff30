"""What mkdocs makes of the repository beside the pages in docs/: the hooks of mkdocs.yml.

The README is the home page, and some files of the repository's root are pages; all keep their links as they are true in
the repository, and are rewritten here: to a page where the target is one, and to plain text where the site has none.
"""

from __future__ import annotations

import posixpath
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE))

import build_gallery  # noqa: E402
import build_notebooks  # noqa: E402

BORROWED = {
    "index.md": "README.md",
    "changelog.md": "CHANGELOG.md",
    "contributing.md": "CONTRIBUTING.md",
    "reporting.md": "SECURITY.md",
    "benchmarks.md": "benchmarks/README.md",
}
"""Pages of the site that are files of the repository elsewhere."""
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
FENCE = re.compile(r"^(```.*?^```)", re.DOTALL | re.MULTILINE)


def on_files(files: Files, config: Any) -> Files:
    """Add the borrowed pages, the gallery and the notebooks."""
    for page, source in BORROWED.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text(encoding="utf-8")))
    for name, content in {**build_gallery.pages(), **build_notebooks.pages()}.items():
        files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Return a page with links that are true on the site."""
    uri = page.file.src_uri
    source = BORROWED.get(uri, f"docs/{uri}")
    known = {file.src_uri for file in files}
    parts = FENCE.split(markdown)
    parts[::2] = [relinked(part, source, uri, known) for part in parts[::2]]
    parts[1::2] = [titled(part) for part in parts[1::2]]
    return "".join(parts)


def titled(block: str) -> str:
    """Return a block of code that names its file with that name as its title.

    The site's Markdown knows the option `title` alone: for a block with another option it shows the fence as text.
    """
    return re.sub(r"\A```(\w+) file=(\S+)", r'```\1 title="\2"', block)


def relinked(text: str, source: str, uri: str, known: set[str]) -> str:
    """Return Markdown of a file of the repository as it is right on a page of the site.

    Args:
        text: without blocks of code.
        source: the file, from the repository's root.
        uri: the page, from the site's root.
        known: all that is on the site, from its root.
    """

    def link(found: re.Match[str]) -> str:
        picture, words, target = found.groups()
        path, hash_, anchor = target.partition("#")
        place = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
        if "://" in path or not path or not (ROOT / place).exists():
            return found[0]  # elsewhere, on this page, or nowhere: what mkdocs says of it is right
        goal = site_place(place)
        if goal not in known:
            return words
        return f"{picture}[{words}]({posixpath.relpath(goal, posixpath.dirname(uri) or '.')}{hash_}{anchor})"

    return LINK.sub(link, text)


def site_place(place: str) -> str:
    """Return where on the site a file of the repository is, if it is there at all."""
    borrowed = {source: page for page, source in BORROWED.items()}
    if place in borrowed:
        return borrowed[place]
    folder, name = posixpath.split(place)
    if name.endswith(".py") and folder in ("examples", "notebooks"):
        return f"{folder.replace('examples', 'gallery')}/{name.removesuffix('.py')}.md"
    return place.removeprefix("docs/")
