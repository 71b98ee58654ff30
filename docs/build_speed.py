"""Makes the README's plot of speed: `python docs/build_speed.py` writes docs/images/speed.svg.

It measures nothing: the times are read from docs/measured.md, the page of a run, so that both say the same.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

HERE = Path(__file__).parent
PAGE, PICTURE = HERE / "measured.md", HERE / "images" / "speed.svg"
SHOWN = {"panda": "Panda, 9 degrees of freedom", "talos": "Talos, floating, 38 degrees of freedom"}
QUANTITIES = (
    "inverse dynamics",
    "forward dynamics",
    "mass matrix",
    "frame Jacobian",
    "inverse dynamics derivatives",
    "forward dynamics derivatives",
)
FIRST, DECADES = 0.01, 4  # us, and how many decades from there: the axis is logarithmic
WIDTH, LEFT, DECADE, ROW, GROUP = 980, 215, 138, 24, 38  # of the picture, in dots
COLOURS = {"cardan, a state of a batch": "#c23b22", "cardan, one call": "#e0a17a", "Pinocchio, one call": "#5f6b7a"}
CAPTION = (
    "Time of a state, called from Python, on one core of a shared 2-core AMD machine with AVX-512.",
    "Python 3.11.7, pin 4.1.0, float64; batches of 4096. The axis is logarithmic.",
    "On the right: Pinocchio's time of a call over cardan's, of a call and of a state of a batch.",
)


class Times(NamedTuple):
    """Microseconds of a state."""

    batch: float
    call: float
    peer: float


def measured(page: str) -> dict[tuple[str, str], Times]:
    """Return the times of the page's tables, by robot and quantity."""
    found: dict[tuple[str, str], Times] = {}
    robot, columns = "", []
    for line in page.splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip("| "))]
        if line.startswith("## "):
            robot = line[3:].split(",")[0]
        elif "one call" in cells:
            columns = cells
        elif (
            robot in SHOWN and len(cells) == len(columns) and cells[0] in QUANTITIES and (robot, cells[0]) not in found
        ):
            row = dict(zip(columns, cells, strict=True))
            call = microseconds(row["one call"])
            ratio = float(row["pin: batch \\| call"].split("|")[1].split("x")[0])
            found[robot, cells[0]] = Times(microseconds(row["batch"]), call, call * ratio)
    return found


def microseconds(cell: str) -> float:
    """Return a time of a table, such as `1.2 us (1.1-1.3)`."""
    number, unit, *_ = cell.split()
    return float(number) * {"ns": 1e-3, "us": 1.0, "ms": 1e3}[unit]


def place(time: float) -> float:
    """Return where on the axis a time [us] is, in dots."""
    return LEFT + DECADE * math.log10(time / FIRST)


def drawn(times: dict[tuple[str, str], Times]) -> str:
    """Return the picture."""
    parts, y = [], 24
    for k, (name, colour) in enumerate(COLOURS.items()):
        parts += [dot(LEFT + 200 * k, y - 4, colour), text(LEFT + 200 * k + 12, y, name)]
    for robot, title in SHOWN.items():
        y += GROUP
        parts.append(text(12, y, title, "bold"))
        for quantity in QUANTITIES:
            y += ROW
            parts += row(y, quantity, times[robot, quantity])
    bottom = y + 16
    for k in range(DECADES + 1):
        x = LEFT + DECADE * k
        parts.insert(0, f'<path d="M{x} 40V{bottom}" stroke="#dddddd"/>')
        parts.append(text(x - 14, bottom + 16, f"{FIRST * 10**k:g} us"))
    for k, line in enumerate(CAPTION):
        parts.append(text(12, bottom + 44 + 18 * k, line))
    size = f'width="{WIDTH}" height="{bottom + 92}" viewBox="0 0 {WIDTH} {bottom + 92}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12" fill="#222222">'
    return "\n".join([head, '<rect width="100%" height="100%" fill="white"/>', *parts, "</svg>\n"])


def row(y: float, quantity: str, times: Times) -> list[str]:
    """Return a row: its name, a dot for each time, and the two ratios."""
    line = f'<path d="M{place(times.batch):.1f} {y}H{place(times.peer):.1f}" stroke="#bbbbbb" stroke-width="2"/>'
    dots = [dot(place(time), y, colour) for time, colour in zip(times, COLOURS.values(), strict=True)]
    ratios = f"{times.peer / times.call:.2g} times a call, {times.peer / times.batch:.2g} in a batch"
    return [text(12, y + 4, quantity), line, *dots, text(WIDTH - 205, y + 4, ratios)]


def dot(x: float, y: float, colour: str) -> str:
    """Return a dot."""
    return f'<circle cx="{x:.1f}" cy="{y}" r="5" fill="{colour}"/>'


def text(x: float, y: float, words: str, weight: str = "normal") -> str:
    """Return words that begin at a place."""
    return f'<text x="{x:.1f}" y="{y}" font-weight="{weight}">{escape(words)}</text>'


if __name__ == "__main__":
    PICTURE.write_text(drawn(measured(PAGE.read_text(encoding="utf-8"))), encoding="utf-8")
    print(PICTURE)
