"""Time of one state against degrees of freedom: chains as lines, real robots as marks."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.lines import Line2D

from benchmarks import quantities as quantity
from benchmarks.targets import found_in

SHOWN = (quantity.INVERSE, quantity.FORWARD, quantity.MASS, quantity.POSES)
COLOURS = {"cardan": "#d62728", "pin": "#1f77b4", "mujoco": "#2ca02c", "frax": "#9467bd", "heyoka": "#8c6d31"}
COLOURS |= {"drake": "#17becf", "casadi": "#e377c2", "mjx": "#7f7f7f"}


def draw(rows: list[dict[str, Any]], subjects: list[str], file: Any, **options: Any) -> None:
    """Write the picture: a panel for each quantity, logarithmic both ways; bars are the middle half of the rounds.

    Args:
        rows: of all robots.
        subjects: whose times are drawn, each with its fastest way on one thread.
        file: its name, or where to write.
        options: of matplotlib's `savefig`.
    """
    figure, panels = plt.subplots(2, 2, figsize=(10, 8), sharex=True, layout="constrained")
    for panel, name in zip(panels.flat, SHOWN, strict=True):
        _panel(panel, name, [row for row in rows if row["quantity"] == name], subjects)
    for panel in panels[1]:
        panel.set_xlabel("degrees of freedom")
    for panel in panels[:, 0]:
        panel.set_ylabel("processor time of one state [us]")
    handles = [Line2D([], [], color=COLOURS[s], marker="o", label=s) for s in subjects]
    handles += [Line2D([], [], color="grey", ls="-", label="chains of revolute joints")]
    handles += [Line2D([], [], color="grey", ls="", marker="D", mfc="none", label="real robots")]
    figure.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False)
    figure.savefig(file, **({"dpi": 150} | options))
    plt.close(figure)


def _panel(panel: Any, name: str, rows: list[dict[str, Any]], subjects: list[str]) -> None:
    for subject in subjects:
        for chains, look in ((True, {"ls": "-", "marker": "o", "ms": 4}), (False, {"ls": "", "marker": "D", "ms": 6})):
            points = _points(rows, subject, chains)
            if points:
                nv, middle, below, above = zip(*points, strict=True)
                panel.errorbar(nv, middle, (below, above), color=COLOURS[subject], mfc="none", capsize=2, **look)
    panel.set(title=name, xscale="log", yscale="log")
    panel.set_xticks([6, 10, 20, 50, 100, 200, 300], labels=["6", "10", "20", "50", "100", "200", "300"])
    panel.minorticks_off()
    panel.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    panel.grid(alpha=0.3)


def _points(rows: list[dict[str, Any]], subject: str, chains: bool) -> list[tuple[float, ...]]:
    """Return (degrees of freedom, median, distance to the lower and to the upper quartile) [us] for each robot."""
    found = []
    for row in rows:
        ways = [found_in(row[subject], f, "cpu") for f in ("call", "batch", "out")]
        best = min((w for w in ways if w), key=lambda w: w["median"], default=None)
        if best and row["robot"].startswith("chain") == chains:
            middle, low, high = (1e6 * best[k] for k in ("median", "low", "high"))
            found.append((row["nv"], middle, middle - low, high - middle))
    return found
