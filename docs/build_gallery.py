"""Makes the gallery: `python docs/build_gallery.py` runs the examples, and mkdocs makes a page of each and one of all.

An example that has `main(picture)` draws. Its picture is kept in .ci/gallery as long as it is younger than the example; remove
that folder to have all drawn anew (`.ci/run` does).
"""

from __future__ import annotations

import ast
import logging
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

log = logging.getLogger("mkdocs.gallery")
ROOT = Path(__file__).parents[1]
EXAMPLES, PICTURES = ROOT / "examples", ROOT / ".ci" / "gallery"
RUN = "import runpy, sys; runpy.run_path(sys.argv[1])['main'](sys.argv[2])"
PAGE = re.compile(r"\bdocs/([\w/-]+)\.md\b")  # as an example names one
TOGETHER = 2  # examples that run at the same time
HEAD = """# Gallery

What the scripts in `examples/` draw; this site's own build ran them. Each is a page of code to copy from.
"""


def examples() -> list[Path]:
    """Return the examples, by name."""
    return sorted(EXAMPLES.glob("[!_]*.py"))


def draws(example: Path) -> bool:
    """Return whether an example has a `main(picture)`."""
    functions = (
        node for node in ast.parse(example.read_text(encoding="utf-8")).body if isinstance(node, ast.FunctionDef)
    )
    return any(f.name == "main" and [a.arg for a in f.args.args[:1]] == ["picture"] for f in functions)


def drawn(example: Path) -> Path | None:
    """Return an example's picture, made by running it if there is none of it as it stands."""
    if not draws(example):
        return None
    picture = PICTURES / f"{example.stem}.png"
    if not picture.exists() or picture.stat().st_mtime < example.stat().st_mtime:
        PICTURES.mkdir(parents=True, exist_ok=True)
        settings = {**os.environ, "MPLBACKEND": "Agg", "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), *sys.path])}
        command = [sys.executable, "-c", RUN, str(example), str(picture)]
        done = subprocess.run(command, env=settings, cwd=PICTURES, capture_output=True, text=True)
        if done.returncode or not picture.exists():  # a strict build ends; another goes on, for want of an extra, say
            log.warning(f"{example.name} draws nothing: {done.stderr.strip().splitlines()[-1:]}")
            return None
    return picture


def pages() -> dict[str, str | bytes]:
    """Return the pages and pictures of the gallery, by their places on the site."""
    with ThreadPoolExecutor(TOGETHER) as pool:
        pictures = dict(zip(examples(), pool.map(drawn, examples()), strict=True))
    made: dict[str, str | bytes] = {"gallery.md": HEAD + cards(pictures)}
    for example, picture in pictures.items():
        made[f"gallery/{example.stem}.md"] = page(example, picture)
        if picture is not None:
            made[f"gallery/{picture.name}"] = picture.read_bytes()
    return made


def claim(example: Path) -> tuple[str, str]:
    """Return the first sentence of an example, and what else its docstring says, as Markdown."""
    text = ast.get_docstring(ast.parse(example.read_text(encoding="utf-8"))) or example.stem
    first, _, rest = text.partition("\n")
    return first.rstrip("."), PAGE.sub(r"[\1](../\1.md)", rest.strip("\n"))


def cards(pictures: dict[Path, Path | None]) -> str:
    """Return a card for each example that draws, and a list of the others."""
    shown = [
        f"-   [![{claim(e)[0]}](gallery/{p.name})](gallery/{e.stem}.md)\n\n    [{claim(e)[0]}](gallery/{e.stem}.md)\n"
        for e, p in pictures.items()
        if p is not None
    ]
    others = [f"- [{claim(e)[0]}](gallery/{e.stem}.md)\n" for e, p in pictures.items() if p is None]
    grid = '\n<div class="grid cards" markdown>\n\n' + "\n".join(shown) + "\n</div>\n" if shown else ""
    return grid + ("\nWithout a picture:\n\n" + "".join(others) if others else "")


def page(example: Path, picture: Path | None) -> str:
    """Return the page of an example: what it is, its picture, its code."""
    title, rest = claim(example)
    image = f"![{title}]({picture.name})\n\n" if picture is not None else ""
    code = example.read_text(encoding="utf-8").strip()
    head = f"---\nsearch:\n  boost: 0.5\n---\n\n# {title}\n\n{rest}\n\n{image}"
    return f"{head}`examples/{example.name}`:\n\n```python\n{code}\n```\n"


if __name__ == "__main__":
    for example in examples():
        print(f"{example.name}: {drawn(example) or 'draws nothing'}")
