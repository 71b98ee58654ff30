"""Pictures in files, with the `plot` extra."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from cardan._algebra.errors import ParameterError
from cardan._compiler.runtime.extras import package
from cardan._reach.pictures.axes import pyplot


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
