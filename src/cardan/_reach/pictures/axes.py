"""Matplotlib's axes, what several pictures draw on them, and pictures in files (extra `plot`)."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from cardan._algebra.errors import ParameterError
from cardan._compiler.runtime.extras import package

AXES = ("tab:red", "tab:green", "tab:blue")
THIN = 0.35  # of the longest side, at least, for the others


def pyplot() -> Any:
    """Return matplotlib's pyplot, with the backend that is set: a window, a notebook, or files."""
    return package("matplotlib.pyplot", "drawing", "plot")


def axes_in_space(ax: Any) -> Any:
    """Return axes of three dimensions in metres: given ones, or new ones; ParameterError for other axes."""
    if ax is not None:
        if not hasattr(ax, "get_zlim"):
            expected = 'matplotlib axes of three dimensions, as figure.add_subplot(projection="3d")'
            raise ParameterError("ax", got=ax, expected=expected)
        return ax
    new = pyplot().figure(figsize=(6.4, 6.4), layout="constrained").add_subplot(projection="3d")
    new.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]")
    return new


def frame_everything(ax: Any, points: np.ndarray, beside: bool) -> None:
    """Let the axes hold some points, shape (n, 3), alone or `beside` what they hold already, to equal scales.

    No side is shorter than a part of the longest: a robot in a plane, or a tower, leaves room for numbers.
    """
    held = np.transpose([ax.get_xlim(), ax.get_ylim(), ax.get_zlim()]) if beside else points
    low, high = (f(np.concatenate([points, held]), axis=0) for f in (np.min, np.max))
    span = (high - low).max() or 1.0
    middle, half = 0.5 * (low + high), 0.52 * np.maximum(high - low, THIN * span)
    for name, axis, m, h in zip("xyz", (ax.xaxis, ax.yaxis, ax.zaxis), middle, half, strict=True):
        ax.set(**{f"{name}lim": (m - h, m + h)})
        axis.get_major_locator().set_params(nbins=7 if h > 0.35 * span else 3)
    ax.set_box_aspect(half, zoom=0.87)


def plain_legend(ax: Any, **options: Any) -> None:
    """Add a legend whose names are shown as they are: a `$` in one begins no formula."""
    for text in ax.legend(**options).get_texts():
        text.set_parse_math(False)


def draw_frame(
    axes: Any,
    pose: np.ndarray,
    size: float,
    *,
    strength: float = 1.0,
    width: float = 1.6,
    colours: tuple[str, ...] = AXES,
    names: str = "",
) -> None:
    """Draw the axes of a frame at a pose (4, 4): x red, y green, z blue, with a letter of the names at each end."""
    origin = pose[:3, 3]
    for k, colour in enumerate(colours):
        arrow = size * pose[:3, k]
        ends = np.stack([origin, origin + arrow], axis=-1)
        axes.plot(*ends, color=colour, alpha=strength, linewidth=width, zorder=5)
        if names:
            axes.text(*(origin + 1.12 * arrow), names[k], color=colour, ha="center", va="center", fontsize=9)


# --- pictures in files ---


def pyplot_module() -> Any:
    """Return matplotlib's pyplot, drawing to files; MissingExtraError without matplotlib."""
    package("matplotlib", "drawing", "plot").use("Agg")
    return pyplot()


def save_figure(figure: Any, file: str | Path, dpi: int) -> str:
    """Write a picture, in a folder that is made if need be, and return its name."""
    Path(file).absolute().parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=dpi)
    pyplot_module().close(figure)
    return str(file)


def check_picture(file: str | Path) -> None:
    """Raise unless pictures can be drawn, of the kind a file's name ends in."""
    known = pyplot_module().Figure().canvas.get_supported_filetypes()
    if Path(file).suffix.lower().removeprefix(".") not in known:
        expected = f"a name that ends in .{', .'.join(sorted(known))}"
        raise ParameterError("picture to write", got=os.fspath(file), expected=expected)


def picture_writer(figure: Any, file: str | Path, dpi: int = 150) -> Callable[[BinaryIO], None]:
    def write(stream: BinaryIO) -> None:
        figure.savefig(stream, dpi=dpi, format=Path(file).suffix.lower().removeprefix("."))
        pyplot_module().close(figure)

    return write
