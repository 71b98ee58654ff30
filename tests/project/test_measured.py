"""The table on the page about speed is that of the run on the page of measurements."""

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
COLUMNS = "operations", "compile", "batch", "in cache", "one call", "pin: batch \\| call", "mujoco: batch \\| call"


def cells(line: str) -> list[str]:
    """Return the cells of a row of a table, without the spread of figures."""
    return [re.sub(r" \([^)]*\)", "", cell).strip() for cell in re.split(r"(?<!\\)\|", line.strip("| "))]


def test_the_page_on_speed_says_what_the_run_found():
    run, robot, header = {}, "", []
    for line in (DOCS / "measured.md").read_text().splitlines():
        if line.startswith("## "):
            robot = line[3:].split(",")[0]
        elif line.startswith("| quantity | operations"):
            header = cells(line)
        elif line.startswith("|") and len(cells(line)) == len(header):
            run.setdefault((robot, cells(line)[0]), dict(zip(header, cells(line), strict=True)))
    page = (DOCS / "performance.md").read_text().partition("| robot (nv) |")[2].partition("\n\n")[0]
    rows = [cells(line) for line in page.splitlines()[2:]]
    assert len(rows) >= 20
    for robot, quantity, *figures in rows:
        found = [run[robot, quantity][column] for column in COLUMNS]
        assert figures == [x.replace(" \\| ", ", ").replace("not offered", "-") for x in found], (robot, quantity)
