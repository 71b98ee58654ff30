"""Robot descriptions: each format reads to a `Mechanism`."""

from cardan.formats.load import load, load_mechanism
from cardan.formats.urdf import check_urdf, read_urdf

__all__ = ["check_urdf", "load", "load_mechanism", "read_urdf"]
