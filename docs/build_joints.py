"""Builds the catalogue page: `python docs/build_joints.py` writes docs/joints.md, `--pictures` the pictures as well.

Sizes, names, parameters and operations come from the code, sentences from the docstrings. All other facts stand in a
file beside each joint's module, `joint.toml` by the class's name in small letters (`Entry` lists its keys).
"""

from __future__ import annotations

import inspect
import re
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from benchmarks.short_joints import operations  # noqa: E402
from joint_pictures import Picture, draw  # noqa: E402

from cardan.joints import CATALOGUE, Joint, Reversed, reverse  # noqa: E402
from cardan.manifolds import Euclidean  # noqa: E402

PAGE, IMAGES = HERE / "joints.md", HERE / "images" / "joints"
PEERS = ("Pinocchio", "RigidBodyDynamics.jl", "iDynTree", "MuJoCo", "Newton", "Drake", "OpenSim", "URDF", "SDF")
Meanings = dict[str, tuple[str, str]]
"""Unit and meaning by the name of the coordinate or velocity; an empty meaning continues the one before."""


@dataclass(frozen=True)
class Entry:
    """The facts about a joint type that the code does not hold; the keys of its file.

    Attributes:
        formulas: R, p, S and c, in Python, of q, v and the joint's parameters.
        picture: the attributes of `Picture` that differ from their defaults.
        singular: where S loses rank, in a few words; details follow after a full stop.
        q: "unit: meaning, frame" by the names of the coordinates.
        v: the same for the velocities; not needed if they are the rates of the coordinates.
        elsewhere: the name of this joint by library, and the differences there.
    """

    formulas: str
    picture: dict[str, Any]
    singular: str = "never"
    q: dict[str, str] = field(default_factory=dict)
    v: dict[str, str] = field(default_factory=dict)
    elsewhere: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, joint: Joint) -> Entry:
        """Return the entry beside a joint's class."""
        kind = type(joint)
        file = Path(inspect.getfile(kind)).with_name(f"{kind.__name__.lower()}.toml")
        return cls(**tomllib.loads(file.read_text(encoding="utf-8")))

    def meanings(self, joint: Joint) -> tuple[Meanings, Meanings]:
        """Return the meanings of the coordinates and of the velocities."""
        q = spread(self.q)
        if self.v or not isinstance(joint.manifold, Euclidean):
            return q, spread(self.v)
        units = [unit for unit, _ in q.values()]
        return q, {
            name: (f"{unit}/s", "" if k else "rate of the coordinate")
            for k, (name, unit) in enumerate(zip(layout(joint)[1], units, strict=True))
        }


def spread(meanings: dict[str, str]) -> Meanings:
    """Return the meaning of each name, from meanings that several names share."""
    found = {}
    for names, text in meanings.items():
        unit, _, meaning = text.partition(": ")
        for k, name in enumerate(names.split()):
            found[name] = (unit, "" if k else meaning)
    return found


def entries() -> list[tuple[Joint, Entry]]:
    """Return each type once, in the catalogue's order."""
    seen: dict[type, Joint] = {}
    for joint in CATALOGUE:
        seen.setdefault(type(joint), joint)
    return [(joint, Entry.of(joint)) for joint in seen.values()]


def page() -> str:
    """Return the page."""
    parts = [HEADER, summary(), *(section(joint, entry) for joint, entry in entries()), FOOTER]
    return "\n\n".join(part.strip() for part in parts) + "\n"


HEADER = """
# Joints

![The types](images/joints/catalogue.png)

After this page you can choose a joint type, read its coordinates and formulas, and find its name in other libraries.
`cardan joints` prints the list, and `cardan joints verify NAME` checks a type. You can write your own joint in
[ten minutes](new-joint.md). `python docs/build_joints.py` makes this page from the code, its docstrings and the file
beside each joint's class.

**On arrays.**

- Methods take one state: a tuple, a list or an array of shape (nq,).
- S is a matrix: `np.array(joint.subspace(q))` has the shape (6, nv).
- `cardan.evaluate_joint(joint, "transform", Q)` takes a batch, with Q of shape (..., nq). It evaluates every method that is
  a function of the state, such as `motion_subspace`, `bias`, `twist`, `integrate` or `local_coordinates`.
- `cardan.joint_quantities(model, q, v)` evaluates all joints of a model at once.
- If a joint is not defined everywhere, its `domain` says so.

In the pictures the parent's frame is grey. The child is the blue plate with its frame (x red, y green, z blue). Earlier
positions are fainter.

**The formulas** are Python, and the tests evaluate them at random configurations.

- R and p are the pose X_pc of the child in the parent.
- The columns of S are the child's twist relative to the parent at v = (1, 0, ...), (0, 1, ...) and so on. They are in child
  axes at the child's origin.
- c = (dS/dt) v is the bias.
- `col(a, b)` is the twist with the linear part a and the angular part b.
- `Rot(u, t)` is the rotation about u by t, and `skew(u) @ x` is u × x.
- `I` and `zero` have three rows.
- `Ad(X)` maps twists by a pose, and `ad(a) @ b` is a × b of twists.
- Parameters have their own names.

The body's acceleration is that of its parent, in child axes, + S dv/dt + c + (body's twist) × S v.

*Operations* are those of X, S and c together, for the example of `cardan joints`. Position limits are along v.
"""
FOOTER = """
## Sources of the other libraries' names

- Pinocchio 4.1.0, MuJoCo 4.0, iDynTree 15.1 and Newton 1.8: measured ([agreement](agreement.md)).
- RigidBodyDynamics.jl 2.5: its code.
- Drake: the headers of [multibody/tree](https://github.com/RobotLocomotion/drake/tree/master/multibody/tree)
  (`screw_joint.h`, `ball_rpy_joint.h`, `quaternion_floating_joint.h`, `planar_joint.h`, `universal_joint.h`,
  `curvilinear_joint.h`).
- OpenSim: the headers of
  [SimbodyEngine](https://github.com/opensim-org/opensim-core/tree/main/OpenSim/Simulation/SimbodyEngine) and
  [Simbody](https://github.com/simbody/simbody) (`BallJoint.h`, `FreeJoint.h`, `EllipsoidJoint.h`,
  `MobilizedBody_Ellipsoid.h`, `MobilizedBody_Screw.h`).
- SDF: [joint.sdf](https://github.com/gazebosim/sdformat/blob/main/sdf/1.11/joint.sdf).

If a table does not name a library, we know of no such joint in it.
"""


def summary() -> str:
    """Return the table of all types."""
    lines = ["| joint | nq | nv | q | v | constraints | S | singular | operations |", "|---" * 9 + "|"]
    for joint, entry in entries():
        name = type(joint).__name__
        q, v = layout(joint)
        sizes = f"{len(q)} | {len(v)} | {' '.join(q) or '-'} | {' '.join(v) or '-'}"
        constant = "constant" if joint.has_constant_motion_subspace else "of q"
        singular = "never" if entry.singular.startswith("never") else brief(entry.singular)
        cost = operations(joint) if joint.nv else 0
        lines.append(
            f"| [{name}](#{name.lower()}) | {sizes} | {joint.num_constraints} | {constant} | {singular} | {cost} |"
        )
    return "\n".join(lines)


def brief(text: str) -> str:
    """Return a text as far as its first full stop."""
    return text.partition(". ")[0]


def layout(joint: Joint) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the joint's own coordinates and velocities; one that follows others has none."""
    return ((), ()) if joint.primaries else (joint.coordinate_names, joint.velocity_names)


def section(joint: Joint, entry: Entry) -> str:
    """Return the section of one type."""
    name = type(joint).__name__
    prose, sources, parameters = docstring(type(joint))
    picture = f'<img src="images/joints/{name.lower()}.png" alt="{name}" width="300">'
    parts = [f"## {name}", picture, prose, *([f"Source: {sources}"] if sources else [])]
    if parameters:
        parts.append("\n".join(f"- `{parameter}`: {text}" for parameter, text in parameters))
    parts += [*coordinates(joint, entry), facts(joint, entry), f"```python\n{entry.formulas}\n```"]
    return "\n\n".join([*parts, elsewhere(entry.elsewhere)])


def elsewhere(names: dict[str, str]) -> str:
    """Return the table of a joint's names in other libraries."""
    if not names:
        return "We know of no library with this joint."
    rows = [f"| {peer} | {names[peer]} |" for peer in PEERS if peer in names]
    absent = ", ".join(peer for peer in PEERS if peer not in names)
    return "\n".join(["| elsewhere | |", "|---|---|", *rows, *([f"| {absent} | - |"] if absent else [])])


def coordinates(joint: Joint, entry: Entry) -> list[str]:
    """Return the table of coordinates and velocities, with units and frames; nothing for a joint without them."""
    rows = []
    for array, names, meanings in zip("qv", layout(joint), entry.meanings(joint), strict=True):
        for k, name in enumerate(names):
            unit, text = meanings[name]
            rows.append(f"| {array}[{k}] | `{name}` | {unit} | {text} |")
    return ["\n".join(["| | name | unit | meaning, frame |", "|---" * 4 + "|", *rows])] if rows else []


def facts(joint: Joint, entry: Entry) -> str:
    """Return the table of a joint's properties."""
    sizes = [str(len(names)) for names in layout(joint)]
    rows = [("nq, nv", ", ".join(sizes)), ("constraints", str(joint.num_constraints))]
    rows += [("S", "constant" if joint.has_constant_motion_subspace else "depends on q"), ("singular", entry.singular)]
    rows += [("reversed", reversal(joint)), ("operations", str(operations(joint) if joint.nv else 0))]
    return "\n".join(["| | |", "|---|---|", *(f"| {key} | {text} |" for key, text in rows)])


def reversal(joint: Joint) -> str:
    """Return the joint as seen from its child."""
    back = reverse(joint)
    if back == joint:
        return "itself"
    if isinstance(joint, Reversed):
        return "the joint itself"
    if joint.primaries:
        return f"`{type(joint).__name__}` of the reversed inner joint"
    if type(back) is type(joint):
        return f"`{type(joint).__name__}` about the opposite axis"
    return "`Reversed`, with the same q and v"


def docstring(kind: type) -> tuple[str, str, list[tuple[str, str]]]:
    """Return a class's description, its sources, and its parameters with their descriptions."""
    text = inspect.cleandoc(kind.__doc__ or "")
    text = re.sub(r"\n*(?:Examples|Throughout):\n(?:    .*\n?)+", "", text)  # the tests run them in the docstrings
    text, _, args = text.partition("\nArgs:\n")
    body, _, source = text.partition("\nSource: ")
    found = re.findall(r"^    (\w+): (.*(?:\n {8,}.*)*)", args, re.MULTILINE)
    return folded(body), folded(source), [(name, folded(words)) for name, words in found]


def folded(text: str) -> str:
    """Return paragraphs with their lines joined; indented formulas stay lines of their own."""
    paragraphs = re.split(r"\n\s*\n", text.strip())
    return "\n\n".join(
        f"```\n{inspect.cleandoc(p)}\n```" if p.startswith("    ") else " ".join(p.split()) for p in paragraphs
    )


def draw_catalogue(names: Sequence[str]) -> None:
    """Write one picture of all types, from those of each."""
    from matplotlib import image, pyplot

    rows = -(-len(names) // 7)
    figure, grid = pyplot.subplots(rows, 7, figsize=(12.6, 1.65 * rows), layout="constrained")
    for axes in grid.flat:
        axes.set_axis_off()
    for axes, name in zip(grid.flat, names, strict=False):
        axes.imshow(image.imread(IMAGES / f"{name.lower()}.png"))
        axes.set_title(name, fontsize=9)
    figure.savefig(IMAGES / "catalogue.png", dpi=80, metadata={"Software": None})
    pyplot.close(figure)


def main(words: list[str]) -> None:
    """Write the page, and with `--pictures` the pictures."""
    PAGE.write_text(page(), encoding="utf-8")
    if "--pictures" in words:
        pictures = {type(joint).__name__: Picture.of(joint, entry.picture) for joint, entry in entries()}
        for name, picture in pictures.items():
            draw(picture, IMAGES / f"{name.lower()}.png")
        draw_catalogue(list(pictures))


if __name__ == "__main__":
    main(sys.argv[1:])
