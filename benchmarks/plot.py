"""Time of one state against degrees of freedom: chains as lines, real robots as marks."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.lines import Line2D

from benchmarks import quantities as quantity
from benchmarks.report import BEST

SHOWN = (quantity.INVERSE, quantity.FORWARD, quantity.MASS, quantity.POSES)
COLOURS = {"cardan": "#d62728", "pin": "#1f77b4", "mujoco": "#2ca02c", "frax": "#9467bd", "heyoka": "#8c6d31"}


def draw(rows: list[dict[str, Any]], subjects: list[str], file: str) -> None:
    """Write the picture: a panel for each quantity, logarithmic both ways."""
    figure, panels = plt.subplots(2, 2, figsize=(10, 8), sharex=True, layout="constrained")
    for panel, name in zip(panels.flat, SHOWN, strict=True):
        _panel(panel, name, [row for row in rows if row["quantity"] == name], subjects)
    for panel in panels[1]:
        panel.set_xlabel("degrees of freedom")
    for panel in panels[:, 0]:
        panel.set_ylabel("time of one state [us], one thread")
    handles = [Line2D([], [], color=COLOURS[s], marker="o", label=_label(s)) for s in subjects]
    handles += [Line2D([], [], color="grey", ls="-", label="chains of revolute joints")]
    handles += [Line2D([], [], color="grey", ls="", marker="D", mfc="none", label="real robots")]
    figure.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False)
    figure.savefig(file, dpi=150)
    plt.close(figure)


def _label(subject: str) -> str:
    return "cardan (batch)" if subject == "cardan" else f"{subject} ({BEST[subject][1]})"


def _panel(panel: Any, name: str, rows: list[dict[str, Any]], subjects: list[str]) -> None:
    for subject in subjects:
        chains, robots = _points(rows, subject, chains=True), _points(rows, subject, chains=False)
        panel.plot(*chains, color=COLOURS[subject], marker="o", ms=4)
        panel.plot(*robots, color=COLOURS[subject], marker="D", ms=6, ls="", mfc="none")
    panel.set(title=name, xscale="log", yscale="log")
    panel.set_xticks([6, 10, 20, 50, 100, 200, 300], labels=["6", "10", "20", "50", "100", "200", "300"])
    panel.minorticks_off()
    panel.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    panel.grid(alpha=0.3)


def _points(rows: list[dict[str, Any]], subject: str, chains: bool) -> tuple[list[int], list[float]]:
    key = "one_thread_s" if subject == "cardan" else BEST[subject][0]
    chosen = [r for r in rows if key in r[subject] and r["robot"].startswith("chain") == chains]
    return [r["nv"] for r in chosen], [r[subject][key] * 1e6 for r in chosen]
