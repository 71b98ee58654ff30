"""Robot descriptions: each format reads to a `Mechanism`, or to a `Model`; most are written, too.

`Format`, `register_format` and what readers share (`Source`, `Options`, `Description`, `Report`, `Vocabulary`, ...) are
for those who write a reader of their own: docs/new-format.md.
"""

from cardan._algebra.lazy import imported_later
from cardan._reach.formats.load import check, load, load_mechanism, read_robot, save
from cardan._reach.formats.reading import Description, Format, Options, outcome, register_format
from cardan._reach.formats.report import Report
from cardan._reach.formats.source import Source
from cardan._reach.formats.vocabulary import Verdict, Vocabulary
from cardan._reach.formats.written import Written
from cardan._reach.formats.xml import Element, parse

with imported_later(globals()):
    from cardan._reach.formats.json.codec import from_json, to_json
    from cardan._reach.formats.json.values import register_joint
    from cardan._reach.formats.urdf.writer import to_urdf, write_urdf

__all__ = [
    "Description", "Element", "Format", "Options", "Report", "Source", "Verdict", "Vocabulary", "Written", "check",
    "from_json", "load", "load_mechanism", "outcome", "parse", "read_robot", "register_format", "register_joint",
    "save", "to_json", "to_urdf", "write_urdf",
]  # fmt: skip
