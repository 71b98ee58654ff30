"""Where the real robots of the package example-robot-data are."""

import importlib.util
import site
import sysconfig
from pathlib import Path


def urdf_files() -> list[Path]:
    """Return its URDF files; none if the package is not installed."""
    if importlib.util.find_spec("example_robot_data") is None and importlib.util.find_spec("cmeel") is None:
        return []
    places = {sysconfig.get_paths()["purelib"], *site.getsitepackages()}
    folders = [Path(p) / "cmeel.prefix/share/example-robot-data/robots" for p in places]
    return sorted({f for folder in folders if folder.is_dir() for f in folder.rglob("*.urdf")})


def short(file: Path) -> str:
    return str(file).split("robots/", 1)[1]
