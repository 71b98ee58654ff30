"""Where the robots of the package example-robot-data are, if it is installed."""

import importlib.util
import sys
from pathlib import Path

SHARE = "share/example-robot-data/robots"


def robots_folder() -> Path | None:
    """Return the folder of the robots; None without the package."""
    places = [Path(place) / "cmeel.prefix" / SHARE for place in sys.path]
    found = importlib.util.find_spec("example_robot_data")
    if found is not None and found.origin is not None:
        places += [above / SHARE for above in Path(found.origin).parents]
    return next((place for place in places if place.is_dir()), None)


def urdf_files() -> list[Path]:
    """Return all URDF files of the package, sorted; none without it."""
    folder = robots_folder()
    return sorted(folder.rglob("*.urdf")) if folder else []


def short(file: Path) -> str:
    """Return a file's name within the package."""
    return str(file).split("robots/", 1)[1]
