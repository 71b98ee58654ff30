"""What a notebook shows of a model or a mechanism: a picture at the neutral configuration beside its tree.

It is registered for models and mechanisms (`cardan/_wiring.py`). The picture is SVG of our own, so that it needs no
extra, in an image: nothing in it can run. Facets and lines are drawn from far to near (the painter's algorithm).
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Iterator
from html import escape
from typing import Any

import numpy as np

from cardan._dynamics.coordinates.numbering import walk
from cardan._reach.pictures.arguments import units
from cardan._reach.pictures.scene import Scene, lit, normals_of, scene_of
from cardan._robot.description import Mechanism
from cardan._robot.model import Connection, Model

ROWS = 200  # of the table: more than that nobody reads, and a notebook keeps all
INDENT = 1.1  # em for each joint away from the world
DEEPEST = 25  # joints, beyond which the table goes no further to the right
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
    try:
        svg = svg_of(scene_of(model, model.neutral(), ("collision", "visual")))  # collision meshes are the small ones
    except Exception:
        return ""
    data = base64.b64encode(svg.encode()).decode()
    return f'<img src="data:image/svg+xml;base64,{data}" alt="{escape(model.name)}">' if svg else ""


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


# --- a scene as SVG, seen from far away ---

OnPage = Callable[[np.ndarray], np.ndarray]  # takes points of the world, (..., 3), to the page, (..., 2)
FRONT = (np.deg2rad(30.0), np.deg2rad(22.0))  # how far the eye is turned from -y towards +x, and raised
BONE = "#404048"
MARGIN = 0.04  # of the picture


def svg_of(scene: Scene, size: int = 320) -> str:
    """Return the picture as an SVG document, at most `size` pixels each way; empty where there is nothing to see."""
    points = scene.points()
    if not len(points) or not np.ptp(points, axis=0).max() > 0.0:
        return ""
    right, up, towards = eye()
    low, high = points @ right, points @ up
    span = max(np.ptp(low), np.ptp(high))
    scale = (1.0 - 2.0 * MARGIN) * size / span
    width, height = (np.ptp(low) * scale + 2 * MARGIN * size, np.ptp(high) * scale + 2 * MARGIN * size)

    def on_page(corners: np.ndarray) -> np.ndarray:
        x = (corners @ right - low.min()) * scale + MARGIN * size
        y = (high.max() - corners @ up) * scale + MARGIN * size
        return np.stack([x, y], axis=-1)

    drawn = sorted(_facets(scene, towards, on_page) + _lines(scene, towards, on_page))
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}">'
    return "\n".join([head, *(element for _, element in drawn), "</svg>"])


def eye() -> np.ndarray:
    """Return the picture's axes in the world: to the right, upwards, and towards the eye, as rows."""
    turn, rise = FRONT
    across = np.array([np.sin(turn), -np.cos(turn), 0.0])
    towards = np.append(np.cos(rise) * across[:2], np.sin(rise))
    right = np.array([np.cos(turn), np.sin(turn), 0.0])
    return np.stack([right, np.cross(towards, right), towards])


def _facets(scene: Scene, towards: np.ndarray, on_page: OnPage) -> list[tuple[float, str]]:
    seen = normals_of(scene.facets) @ towards > 0.0
    facets = scene.facets[seen]
    colours = np.round(255.0 * lit(facets, scene.colours[seen])[:, :3]).astype(int)
    opacity = scene.colours[seen, 3]
    nearness = facets.mean(axis=1) @ towards
    found = []
    for near, corners, (r, g, b), alpha in zip(nearness, on_page(facets), colours, opacity, strict=True):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
        colour = f"#{r:02x}{g:02x}{b:02x}"
        clear = "" if alpha == 1.0 else f' opacity="{alpha:.2g}"'
        edge = f' stroke="{colour}" stroke-width="0.4"'  # no gap is left between facets
        found.append((float(near), f'<polygon points="{path}" fill="{colour}"{edge}{clear}/>'))
    return found


def _lines(scene: Scene, towards: np.ndarray, on_page: OnPage) -> list[tuple[float, str]]:
    style = f'stroke="{BONE}" stroke-width="3" stroke-linecap="round"'
    return [
        (float(near), f'<line x1="{a[0]:.1f}" y1="{a[1]:.1f}" x2="{b[0]:.1f}" y2="{b[1]:.1f}" {style}/>')
        for near, (a, b) in zip(scene.bones.mean(axis=1) @ towards, on_page(scene.bones), strict=True)
    ]
