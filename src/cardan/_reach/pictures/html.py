"""What a notebook shows of a model or a mechanism: a picture at the neutral configuration beside its tree.

It is registered for models and mechanisms (`cardan/_wiring.py`). The picture is that of `plot` (extra `plot`).
"""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Iterator
from html import escape
from typing import Any

from cardan._dynamics.coordinates.numbering import walk
from cardan._reach.pictures.arguments import units
from cardan._reach.pictures.robot_plot import plot, pyplot
from cardan._robot.description import Mechanism
from cardan._robot.model import Connection, Model

ROWS = 200  # of the table: more than that nobody reads, and a notebook keeps all
INDENT = 1.1  # em for each joint away from the world
DEEPEST = 25  # joints, beyond which the table goes no further to the right
DPI = 50  # of the picture
HEADER = ("body", "mass [kg]", "joint", "type", "q", "limits")


def model_html(model: Model) -> str:
    """Return a picture of a robot and its tree as HTML; it raises nothing, whatever the robot is made of.

    Args:
        model: any.

    Examples:
        >>> cardan.pictures.model_html(arm).startswith("<")
        True
    """
    try:
        closing = f", {len(model.closures)} closing joints" if model.closures else ""
        size = f"{model.nbodies} bodies, {model.mass:.6g} kg, nq = {model.nq}, nv = {model.nv}{closing}"
        return _page(model, f"<b>{escape(model.name)}</b>: {size}")
    except Exception:  # joints and shapes of users' own may raise anything; a notebook shows what it can
        return f"<pre>{escape(repr(model))}</pre>"


def mechanism_html(mechanism: Mechanism) -> str:
    """Return a picture of a mechanism and its tree, as it hangs on the world, as HTML; it raises nothing.

    Args:
        mechanism: any.

    Examples:
        >>> cardan.pictures.mechanism_html(mechanism).startswith("<")
        True
    """
    try:
        head = f"<b>{escape(mechanism.name)}</b>, a mechanism: {escape(repr(mechanism).partition(': ')[2][:-1])}"
        return _page(mechanism.model(), head) if mechanism.bodies else f"<p>{head}</p>"
    except Exception:
        return f"<pre>{escape(repr(mechanism))}</pre>"


def _page(model: Model, head: str) -> str:
    found, style = list(_rows(model)), "max-height:32em;overflow:auto"
    rows = "".join(f"<tr>{row}</tr>" for row in found[:ROWS])
    more = f"<p>and {len(found) - ROWS} more</p>" if len(found) > ROWS else ""
    titles = "".join(f'<th style="text-align:left;padding:0 0.6em 0 0">{title}</th>' for title in HEADER)
    table = f"<table><thead><tr>{titles}</tr></thead><tbody>{rows}</tbody></table>{more}"
    beside = "display:flex;flex-wrap:wrap;gap:1em;align-items:flex-start"
    return f'<div><p>{head}</p><div style="{beside}">{_image(model)}<div style="{style}">{table}</div></div></div>'


def _image(model: Model) -> str:
    """Return a picture of a robot, or nothing where matplotlib is missing or cannot draw it."""
    try:
        figure, stream = plot(model).figure, io.BytesIO()
        figure.savefig(stream, dpi=DPI, format="png")
        pyplot().close(figure)
    except Exception:
        return ""
    data = base64.b64encode(stream.getvalue()).decode()
    return f'<img src="data:image/png;base64,{data}" alt="{escape(model.name)}">'


def _rows(model: Model) -> Iterator[str]:
    """Yield a row for each joint, from the world outwards, depth first; then those that close loops."""
    masses = {b.name: b.inertia.mass if b.inertia is not None else 0.0 for b in model.bodies}
    for c, depth in walk(model):
        iq, kind = model.q_slice(c.name), type(c.joint).__name__
        where = "" if iq.start == iq.stop else str(iq.start) if iq.stop == iq.start + 1 else f"{iq.start}:{iq.stop}"
        if c.joint.primaries:
            follower: Any = c.joint
            kind = f"{type(follower.joint).__name__} that copies {', '.join(follower.primaries)}"
        texts = (c.child, f"{masses[c.child]:.4g}", c.name, kind, where, _limits(c))
        yield _cells(min(depth, DEEPEST), texts)
    for c in model.closures:
        yield _cells(0, (f"{c.child} on {c.parent}", "", c.name, f"{type(c.joint).__name__}, closes a loop", "", ""))


def _cells(depth: int, texts: tuple[str, ...]) -> str:
    first, *rest = map(escape, texts)
    cell = '<td style="text-align:left;padding:0.1em 0.6em 0.1em'
    others = "".join(f'{cell} 0">{text}</td>' for text in rest)
    return f'{cell} {INDENT * depth:.1f}em">{first}</td>{others}'


def _limits(c: Connection) -> str:
    if c.joint.primaries:
        return ""
    lower, upper = c.limits.lower or (), c.limits.upper or ()
    pairs = zip(lower, upper, units(c.joint), strict=True)
    shown = [f"[{a:.4g}, {b:.4g}] {unit}" for a, b, unit in pairs if not (math.isinf(a) and math.isinf(b))]
    return ", ".join(dict.fromkeys(shown))
