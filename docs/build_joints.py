"""Builds the catalogue page: `python docs/build_joints.py` writes docs/joints.md, `--pictures` the pictures as well.

Layouts, counts, parameters and operations come from the code, sentences from the docstrings; formulas and the other
libraries' names stand in `ENTRIES`.
"""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
from benchmarks.short_joints import operations

from cardan.joints import CATALOGUE, Joint, Mimic, reverse

HERE = Path(__file__).parent
PAGE, PICTURES = HERE / "joints.md", HERE / "images" / "joints"
PEERS = ("Pinocchio", "RigidBodyDynamics.jl", "iDynTree", "MuJoCo", "Newton", "Drake", "OpenSim", "URDF, SDF")


class Entry(NamedTuple):
    """What the code does not say of a joint.

    Attributes:
        transform: X_pc(q) = (R, p).
        subspace: S(q), in child coordinates, linear part first.
        bias: (dS/dt) v.
        singular: where S loses rank.
        peers: names in the order of `PEERS`, with differences in brackets.
    """

    transform: str
    subspace: str
    bias: str
    singular: str
    peers: tuple[str, ...]


NONE, NEVER = "0", "never"
ENTRIES: dict[str, Entry] = {
    "Fixed": Entry("R = 1, p = 0", "none", NONE, NEVER, (
        "a frame (`FIXED_JOINT`)", "`Fixed`", "`FixedJoint`", "no joint", "`FIXED`", "`WeldJoint`", "`WeldJoint`", "`fixed`")),
    "Revolute": Entry("R = Rot(u, q), p = 0", "[0; u]", NONE, NEVER, (
        "`JointModelRX`, `RY`, `RZ`, `RevoluteUnaligned`", "`Revolute`", "`RevoluteJoint` (its axis may pass beside the origins)",
        "`hinge`", "`REVOLUTE`", "`RevoluteJoint`", "`PinJoint` (about z)", "`revolute`; `continuous` without limits")),
    "Prismatic": Entry("R = 1, p = q u", "[u; 0]", NONE, NEVER, (
        "`JointModelPX`, `PY`, `PZ`, `PrismaticUnaligned`", "`Prismatic`", "`PrismaticJoint`", "`slide`", "`PRISMATIC`",
        "`PrismaticJoint`", "`SliderJoint` (along x)", "`prismatic`")),
    "Helical": Entry("R = Rot(u, q), p = h q u", "[h u; u]", NONE, NEVER, (
        "`JointModelHX`, `HY`, `HZ`, `HelicalUnaligned`", "-", "-", "-", "-", "`ScrewJoint` (pitch in m per turn)",
        "`CustomJoint`", "SDF `screw`")),
    "UnboundedRevolute": Entry("R = 1 + sin [u] + (1 - cos) [u]², p = 0", "[0; u]", NONE, NEVER, (
        "`JointModelRUBX`, `RUBY`, `RUBZ`, `RevoluteUnboundedUnaligned`: (cos, sin)", "`SinCosRevolute`: (sin, cos)",
        "`RevoluteSO2Joint`: (cos, sin)", "`hinge`: one angle", "`REVOLUTE`: one angle", "`RevoluteJoint`: one angle",
        "`PinJoint`: one angle", "`continuous`: one angle, or this one on request")),
    "Universal": Entry("R = Rot(a₁, q₀) Rot(a₂, q₁), p = 0", "[0 0; R₂ᵀa₁ a₂], R₂ = Rot(a₂, q₁)", "[0; -v₀v₁ (a₂ × R₂ᵀa₁)]",
        "never, as the axes are not parallel", (
        "`JointModelUniversal` (orthogonality not checked)", "-", "-", "two `hinge`s", "`D6` of two angles (orthogonal axes)",
        "`UniversalJoint`", "`UniversalJoint`", "SDF `universal`")),
    "Spherical": Entry("R = R(quaternion), p = 0", "[0; 1]", NONE, NEVER, (
        "`JointModelSpherical`", "`QuaternionSpherical`: (w, x, y, z)", "`SphericalJoint`: (w, x, y, z)",
        "`ball`: (w, x, y, z); v in child axes, as here", "`BALL`: v in parent axes", "`BallRpyJoint`: three angles", "`BallJoint`",
        "SDF `ball`; URDF by our extension `spherical`")),
    "SphericalZYX": Entry("R = Rz(q₀) Ry(q₁) Rx(q₂), p = 0", "[0; -s₁ 0 1, c₁s₂ c₂ 0, c₁c₂ -s₂ 0]",
        "[0; -c₁v₀v₁, -s₁s₂v₀v₁ + c₁c₂v₀v₂ - s₂v₁v₂, -s₁c₂v₀v₁ - c₁s₂v₀v₂ - c₂v₁v₂]", "q₁ = ±π/2", (
        "`JointModelSphericalZYX`", "-", "-", "three `hinge`s", "`D6` of three angles",
        "`BallRpyJoint` (roll first, v the angular velocity)", "`GimbalJoint` (x, y, z in turn)", "-")),
    "Translation": Entry("R = 1, p = q", "[1; 0]", NONE, NEVER, (
        "`JointModelTranslation`", "-", "-", "three `slide`s", "`D6` of three displacements", "-", "`CustomJoint`", "-")),
    "Planar": Entry("R = Rz(θ), p = (x, y, 0)", "[e_x e_y 0; 0 0 e_z]", NONE, NEVER, (
        "`JointModelPlanar`", "`Planar` (with an angle: see `PlanarAngle`)", "-", "two `slide`s and a `hinge`", "`D6`",
        "`PlanarJoint`: (x, y, θ), v their rates", "`PlanarJoint`: (θ, x, y)", "`planar`")),
    "PlanarAngle": Entry("R = Rot(x × y, q₂), p = q₀ x + q₁ y", "[x y 0; 0 0 x × y]", NONE, NEVER, (
        "`JointModelPlanar`: (x, y, cos, sin)", "`Planar`", "-", "two `slide`s and a `hinge`: v in parent axes",
        "`D6`: v in parent axes", "`PlanarJoint`: v in parent axes", "`PlanarJoint`", "`planar`")),
    "FreeFlyer": Entry("R = R(quaternion), p", "1", NONE, NEVER, (
        "`JointModelFreeFlyer`", "`QuaternionFloating`: (w, x, y, z, p), v angular first",
        "the free base: no joint; velocity body, inertial or mixed", "`free`: (p, w, x, y, z); linear velocity in world axes",
        "`FREE`: v at the centre of mass in parent axes", "`QuaternionFloatingJoint`: (w, x, y, z, p), v angular first in parent axes",
        "`FreeJoint`: three angles", "`floating`")),
    "FloatingMRP": Entry("R = R(σ), σ = axis tan(angle/4), p", "1", NONE, "the coordinates, not S, at a whole turn (principal_value avoids it)", (
        "-", "`SPQuatFloating`: (σ, p), v angular first", "-", "-", "-", "`RpyFloatingJoint`: angles instead", "-", "-")),
    "Ellipsoid": Entry("R = Rx(q₀) Ry(q₁) Rz(q₂), p = A R e_z, A = diag(radii)",
        "[Rᵀ A n₀, Rᵀ A n₁, 0; c₁c₂ s₂ 0, -c₁s₂ c₂ 0, s₁ 0 1], nᵢ = ∂(R e_z)/∂qᵢ",
        "[Rᵀ A (n₀₀v₀² + 2n₀₁v₀v₁ + n₁₁v₁²) - ω × Rᵀ A ṅ; rate of the angular block]", "q₁ = ±π/2", (
        "`JointModelEllipsoid`", "-", "-", "-", "-", "-", "`EllipsoidJoint`, `ScapulothoracicJoint` (with winging)", "-")),
    "D6": Entry("R = Rot(b₀, q) Rot(b₁, q) Rot(b₂, q), p = Σ qᵢ aᵢ", "[Rᵀaᵢ …; 0 …, axes as the later rotations leave them]",
        "from the last rotation to the first, each carried by the later ones", "three angles: where the second has carried the third axis onto the first", (
        "`JointModelComposite`", "-", "-", "several `slide`s and `hinge`s on one body", "`D6`", "-", "`CustomJoint`", "-")),
    "Composite": Entry("X = P₁X₁(q₁) P₂X₂(q₂) …", "[Ad(X_tail,i)⁻¹ Sᵢ]", "from the last joint to the first", "where its joints are, or work against each other", (
        "`JointModelComposite` (its derivatives are wrong)", "-", "-", "several joints on one body", "-", "-", "-", "-")),
    "Reversed": Entry("X = X_joint⁻¹", "-Ad(X_joint) S_joint", "-Ad(X_joint) bias_joint", "where the joint is", (
        "the model graph reverses some kinds", "`flip_direction` for four kinds (negates limits, too)", "every joint, by naming child and parent", "-", "-",
        "-", "-", "-")),
    "Cylindrical": Entry("R = Rot(u, q₁), p = q₀ u", "[u 0; 0 u]", NONE, NEVER, (
        "`JointModelComposite`", "-", "-", "`slide` and `hinge`", "`D6`", "-", "`CustomJoint`", "-")),
    "VariableScrew": Entry("R = Rot(u, q), p = ∫₀^q h u, h = h₀ + h₁q + …", "[h(q) u; u]", "[h'(q) v² u; 0]", NEVER, (
        "`Helical` if h is constant", "-", "-", "-", "-", "`CurvilinearJoint` is related", "`CustomJoint`", "-")),
    "ConstantVelocity": Entry("R = R₁(q₀) R₂(2q₁) R₁(q₀), p = length R₁(q₀) R₂(q₁) a₃", "of the two crosses, each turning twice",
        "as of a chain", "q₁ = ±π/2", ("-", "-", "-", "-", "-", "-", "-", "-")),
    "Spline": Entry("X = T₀ exp(w₁(q) V₁) … exp(wₙ(q) Vₙ), cumulative cubic B-spline", "derived", "derived", "where frames turn back", (
        "`JointModelSpline` of the graph", "-", "-", "-", "-", "`CurvilinearJoint`: in a plane", "`CustomJoint` with splines", "-")),
    "OpenSimCustom": Entry("R = R₁(f₁(q)) R₂(f₂(q)) R₃(f₃(q)), p = Σ aᵢ fᵢ(q)", "derived", "derived",
        "where the functions' derivatives, or the axes as they lie then, are dependent", (
        "-", "-", "-", "several joints, tied by `equality`", "-", "-", "`CustomJoint`", "-")),
    "Cable": Entry("R = exp(q₁ b₁ + q₂ b₂), p = q₀ u", "[Rᵀu 0 0; 0 Jb₁ Jb₂], J the right Jacobian", "derived",
        "bends by a whole turn", ("-", "-", "-", "-", "`CABLE` (its two coordinates are never read; meant as stretch and bend)", "-", "-", "-")),
    "Distance": Entry("R = R(quaternion), p", "1", NONE, NEVER, (
        "-", "-", "-", "`tendon` with limits", "`DISTANCE`", "`DistanceConstraint`", "-", "-")),
    "Mimic": Entry("X = X_inner(k q + b)", "k S_inner", "that of the inner joint, at k v", "where the inner joint is, or k = 0", (
        "`JointModelMimic`", "-", "-", "`equality` of joints", "a mimic constraint", "a coupler constraint", "`CoordinateCouplerConstraint`",
        "`<mimic>`")),
}  # fmt: skip
"""By type name."""


def entries() -> list[tuple[Joint, Entry]]:
    """Return each type once, in the catalogue's order."""
    seen: dict[str, Joint] = {}
    for joint in CATALOGUE:
        seen.setdefault(type(joint).__name__, joint)
    return [(joint, ENTRIES[name]) for name, joint in seen.items()]


def page() -> str:
    """Return the page."""
    parts = [HEADER, summary(), *(section(joint, entry) for joint, entry in entries()), FOOTER]
    return "\n\n".join(part.strip() for part in parts) + "\n"


HEADER = """
# Joints

Every joint type that ships: what it does, its coordinates, its formulas, and what other libraries call it. This page is made by
`python docs/build_joints.py` from the code and its docstrings; `cardan joints` prints the list, `cardan joints verify NAME` tries one out.
A joint of your own: [ten minutes](new-joint.md).

X_pc = (R, p) is the pose of the child's frame in the parent's. S maps v to the twist of the child relative to the parent, in child
axes at the child's origin, linear part first; the bias is (dS/dt) v. Rot(u, q) is the rotation about u by q; c, s are cosines and sines of
the angle they are numbered by. Quaternions are (x, y, z, w). Counts of operations are those of X, S and bias together.
Pictures show the child's frame (x red, y green, z blue) as one velocity after the other is 1, from light to dark, through the
configuration where all coordinates are neutral; grey is the parent's frame.
"""
FOOTER = """
Sources of the other libraries' conventions: their documentation and code as measured for [conventions](conventions.md); Pinocchio 4.1.0,
RigidBodyDynamics.jl 2.5, iDynTree 15.1, MuJoCo 3, Newton 1.8, Drake and OpenSim by their reference manuals.
"""


def summary() -> str:
    """Return the table of all types."""
    lines = ["| joint | nq | nv | q | v | constraints | S constant | operations |", "|---|---|---|---|---|---|---|---|"]
    for joint, _ in entries():
        name = type(joint).__name__
        own = not isinstance(joint, Mimic)
        nq, nv = (joint.nq, joint.nv) if own else (0, 0)
        layout = [" ".join(names) if own and names else "-" for names in (joint.coordinate_names, joint.velocity_names)]
        constant = "yes" if joint.has_constant_motion_subspace else "no"
        cost = operations(joint) if joint.nv else 0
        lines.append(
            f"| [{name}](#{name.lower()}) | {nq} | {nv} | {layout[0]} | {layout[1]} | {joint.num_constraints} | {constant} | {cost} |"
        )
    return "\n".join(lines)


def section(joint: Joint, entry: Entry) -> str:
    """Return what there is to know about one type."""
    kind = type(joint)
    summary, sources, parameters = docstring(kind)
    back = type(reverse(joint)).__name__
    reversal = "`Reversed`" if back == "Reversed" else "itself" if reverse(joint) == joint else f"`{back}`"
    if isinstance(joint, Mimic):
        reversal = "`Mimic` of the reversed inner joint"
    elif kind.__name__ == "Reversed":
        reversal = "the joint itself"
    elif back == kind.__name__ and reversal != "itself":
        reversal = f"`{back}` about the opposite axis"
    lines = [f"## {kind.__name__}", f"![{kind.__name__}](images/joints/{kind.__name__.lower()}.png)", summary]
    if parameters:
        lines.append("\n".join(f"- `{name}`: {text}" for name, text in parameters))
    rows = [
        ("X", entry.transform),
        ("S", entry.subspace),
        ("bias", entry.bias),
        ("singular", entry.singular),
        ("reversed", reversal),
        *((peer, text) for peer, text in zip(PEERS, entry.peers, strict=True)),
    ]
    lines.append("\n".join(["| | |", "|---|---|", *(f"| {a} | {b} |" for a, b in rows)]))
    return "\n\n".join([*lines, *([f"Source: {sources}"] if sources else [])])


def docstring(kind: type) -> tuple[str, str, list[tuple[str, str]]]:
    """Return a class's description, its sources, and its parameters with their descriptions."""
    text = inspect.cleandoc(kind.__doc__ or "")
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


# --- pictures ---


def draw(joint: Joint, file: Path) -> None:
    """Write the picture of a joint: a panel for each velocity."""
    from cardan.cli.certificate_plot import draw_motion
    from cardan.cli.plots import pyplot_module

    pyplot = pyplot_module()
    count = max(1, joint.nv)
    columns = min(count, 3)
    rows = -(-count // columns)
    figure = pyplot.figure(figsize=(2.3 * columns, 2.2 * rows), layout="constrained")
    for j in range(count):
        axes = figure.add_subplot(rows, columns, j + 1, projection="3d")
        draw_motion(axes, joint, j, title=joint.velocity_names[j] if joint.nv else "it does not move")
        axes.set_axis_off()
        axes.set_box_aspect((1.0, 1.0, 1.0), zoom=1.45)
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=75)
    pyplot.close(figure)


def main(words: list[str]) -> None:
    """Write the page, and the pictures if they are asked for."""
    PAGE.write_text(page(), encoding="utf-8")
    if "--pictures" in words:
        for joint, _ in entries():
            draw(joint, PICTURES / f"{type(joint).__name__.lower()}.png")


if __name__ == "__main__":
    np.seterr(all="ignore")
    main(sys.argv[1:])
