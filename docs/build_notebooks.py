"""Makes pages of the notebooks, with what their cells print and draw: mkdocs calls it, and `python docs/build_notebooks.py` fills .ci/gallery.

A page is kept as long as it is younger than its notebook, as the gallery's pictures are.
"""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SOURCES, KEPT = ROOT / "notebooks", ROOT / ".ci" / "gallery" / "notebooks"
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def pages() -> dict[str, str | bytes]:
    """Return the pages of the notebooks and their pictures, by their places on the site."""
    sources = sorted(SOURCES.glob("*.py"))
    for source in sources:
        page = KEPT / f"{source.stem}.md"
        if not page.exists() or page.stat().st_mtime < source.stat().st_mtime:
            KEPT.mkdir(parents=True, exist_ok=True)
            page.write_text(executed(source), encoding="utf-8")
    made = {p for s in sources for p in KEPT.glob(f"{s.stem}*")}
    return {f"notebooks/{p.name}": p.read_text("utf-8") if p.suffix == ".md" else p.read_bytes() for p in sorted(made)}


def executed(source: Path) -> str:
    """Return a notebook as Markdown, after running it; its pictures are written beside."""
    import jupytext
    import nbclient

    notebook = jupytext.read(source)
    nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    parts = []
    for k, cell in enumerate(notebook.cells):
        parts.append(cell.source if cell.cell_type == "markdown" else f"```python\n{cell.source}\n```")
        parts += [shown(output, f"{source.stem}-{k}-{n}.png") for n, output in enumerate(cell.get("outputs", []))]
    head, *rest = (part for part in parts if part)
    note = f"*A notebook: `notebooks/{source.name}`, which Jupyter opens with jupytext; its results are those of this site's build.*"
    return "\n\n".join([head, note, *rest]) + "\n"


def shown(output: dict[str, Any], name: str) -> str:
    """Return what one output of a cell is on a page."""
    data = output.get("data", {})
    if "image/png" in data:
        (KEPT / name).write_bytes(base64.b64decode(data["image/png"]))
        return f"![]({name})"
    text = output.get("text") if output["output_type"] == "stream" else data.get("text/plain")
    return f"```text\n{COLOURS.sub('', text).rstrip()}\n```" if text and output.get("name") != "stderr" else ""


if __name__ == "__main__":
    for name in pages():
        print(name)
