"""How many lines of code each room of the package has, against the budget in pyproject.toml ([tool.cardan.lines]).

Lines of code are those that are no blank, comment or docstring. Beside them: functions, the median and the ninth decile
of their lines, and comments per 100 lines. A room above its budget ends with status 1: delete something, or raise the
budget with a reason in the commit's body.
"""

import ast
import statistics
import sys
import tokenize
import tomllib
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "cardan"
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def measured(path: Path) -> tuple[int, int, list[int]]:
    """Return the lines of code and of comments of a file, and those of code of each function."""
    with tokenize.open(path) as file:
        text = file.read()
    silent = {tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER, tokenize.ENCODING}
    code, comments = set(), set()
    for token in tokenize.generate_tokens(iter(text.splitlines(True)).__next__):
        if token.type == tokenize.COMMENT:
            comments.add(token.start[0])
        elif token.type not in silent:
            code.update(range(token.start[0], token.end[0] + 1))
    nodes = list(ast.walk(ast.parse(text)))
    for node in nodes:
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            said = node.body[0]
            code.difference_update(range(said.lineno, (said.end_lineno or said.lineno) + 1))
    functions = [n for n in nodes if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    sizes = [len(code.intersection(range(n.lineno, (n.end_lineno or n.lineno) + 1))) for n in functions]
    return len(code), len(comments), sizes


def main() -> int:
    """Print the table, and return 1 if a room is above its budget."""
    budget = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["cardan"]["lines"]
    rooms: dict[str, list[tuple[int, int, list[int]]]] = defaultdict(list)
    for path in sorted(SOURCE.rglob("*.py")):
        place = path.relative_to(SOURCE)
        rooms[place.parts[0] if len(place.parts) > 1 else "ground"].append(measured(path))
    print(
        f"{'room':16}{'files':>6}{'code':>7}{'budget':>8}{'functions':>11}{'median':>8}{'p90':>5}{'comments/100':>14}"
    )
    above = []
    for room, files in [*sorted(rooms.items()), ("all", [file for own in rooms.values() for file in own])]:
        code, comments = (sum(file[k] for file in files) for k in (0, 1))
        sizes = [size for file in files for size in file[2]] or [0]
        tenth = statistics.quantiles(sizes, n=10)[-1] if len(sizes) > 1 else sizes[0]
        allowed = budget.get(room, 0)
        above += [f"{room}: {code} lines of code, {allowed} allowed"] * (code > allowed)
        row = f"{len(files):6}{code:7}{allowed:8}{len(sizes):11}{statistics.median(sizes):8.0f}{tenth:5.0f}"
        print(f"{room:16}{row}{100 * comments / max(code, 1):14.1f}")
    print("\n".join(above))
    return int(bool(above))


if __name__ == "__main__":
    sys.exit(main())
