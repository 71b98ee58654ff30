"""Robot descriptions: each format reads to a `Mechanism`; JSON and URDF are written, too."""

from cardan._reach.formats.json.codec import from_json, to_json
from cardan._reach.formats.json.types import register_joint
from cardan._reach.formats.load import check, load, load_mechanism, read_robot, save
from cardan._reach.formats.srdf import disabled_contacts
from cardan._reach.formats.urdf.reader import check_urdf, read_urdf
from cardan._reach.formats.urdf.writer import to_urdf, write_urdf
from cardan._reach.formats.written import Written

__all__ = [
    "Written",
    "check",
    "check_urdf",
    "disabled_contacts",
    "from_json",
    "load",
    "load_mechanism",
    "read_robot",
    "read_urdf",
    "register_joint",
    "save",
    "to_json",
    "to_urdf",
    "write_urdf",
]
__dir__ = __all__.copy
