"""How many lines each wing of the package has; code against the budget in pyproject.toml ([tool.cardan.lines]).

Lines of code are those that hold more than a blank, a comment or a docstring. A wing above its budget ends with status
1: delete something, or raise the budget and say why in a decision record.

    python .ci/lines.py            by wing
    python .ci/lines.py --folders  by folder of each wing, without a budget
"""

import ast
import statistics
import sys
import tokenize
import tomllib
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "cardan"
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
SILENT = {tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER, tokenize.ENCODING}


class Measured(NamedTuple):
    """A file: its lines, of all kinds, and the lines of code of each of its functions."""

    lines: int
    code: int
    docstring: int
    comments: int
    classes: int
    functions: list[int]


def measured(path: Path) -> Measured:
    """Return the lines of a file."""
    with tokenize.open(path) as file:
        text = file.read()
    code, comments, said = set(), set(), set()
    for token in tokenize.generate_tokens(iter(text.splitlines(True)).__next__):
        if token.type == tokenize.COMMENT:
            comments.add(token.start[0])
        elif token.type not in SILENT:
            code.update(range(token.start[0], token.end[0] + 1))
    nodes = list(ast.walk(ast.parse(text)))
    for node in nodes:
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            said.update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    code -= said
    functions = [n for n in nodes if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    sizes = [len(code.intersection(range(n.lineno, (n.end_lineno or n.lineno) + 1))) for n in functions]
    classes = sum(isinstance(n, ast.ClassDef) for n in nodes)
    return Measured(len(text.splitlines()), len(code), len(said), len(comments), classes, sizes)


def place_of(path: Path, *, folders: bool) -> str:
    """Return the wing of a file, or the folder within it; `public` for the modules that show the wings."""
    wing, *rest = path.relative_to(SOURCE).parts
    if not (wing.startswith("_") and rest):
        return "public"
    return f"{wing}/{rest[0]}" if folders and len(rest) > 1 else wing


def main() -> int:
    """Print the table, and return 1 if a wing is above its budget."""
    budget = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["cardan"]["lines"]
    folders = "--folders" in sys.argv
    found: dict[str, list[Measured]] = defaultdict(list)
    for path in sorted(SOURCE.rglob("*.py")):
        found[place_of(path, folders=folders)].append(measured(path))
    print(
        f"{'wing':26}{'files':>6}{'lines':>7}{'code':>7}{'budget':>8}{'docstring %':>13}{'comments/100':>14}"
        f"{'functions':>11}{'median':>8}{'p90':>5}{'classes':>9}"
    )
    above = []
    for wing, files in [*sorted(found.items()), ("all", [file for own in found.values() for file in own])]:
        lines, code, docstring, comments, classes = (sum(file[k] for file in files) for k in range(5))
        sizes = [size for file in files for size in file.functions] or [0]
        tenth = statistics.quantiles(sizes, n=10)[-1] if len(sizes) > 1 else sizes[0]
        allowed = "" if folders and wing != "all" else budget.get(wing, 0)
        above += [f"{wing}: {code} lines of code, {allowed} allowed"] * (allowed != "" and code > allowed)
        print(
            f"{wing:26}{len(files):6}{lines:7}{code:7}{allowed:>8}{100 * docstring / max(lines, 1):13.0f}"
            f"{100 * comments / max(code, 1):14.1f}{len(sizes):11}{statistics.median(sizes):8.0f}{tenth:5.0f}"
            f"{classes:9}"
        )
    print("\n".join(above))
    return int(bool(above))


if __name__ == "__main__":
    sys.exit(main())
