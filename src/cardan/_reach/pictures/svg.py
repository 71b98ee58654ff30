"""A scene as SVG, seen from far away: facets and lines from far to near (the painter's algorithm)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cardan._reach.pictures.scene import Scene, lit, normals_of

OnPage = Callable[[np.ndarray], np.ndarray]
"""Takes points of the world, (..., 3), to the page, (..., 2)."""
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
    """Return facets that face the eye, each with how near it is."""
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
