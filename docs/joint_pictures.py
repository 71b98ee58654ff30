"""The pictures of docs/joints.md: the child, a blue plate with its frame, along a motion; the parent's frame in grey.

`python docs/build_joints.py --pictures` writes them, each as the file beside the joint's class says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cardan import SE3, joints
from cardan.joints import Joint
from cardan.spatial.rotations import matrix_from_xyz, quaternion_xyzw_from_matrix

AXES = ("tab:red", "tab:green", "tab:blue")
INCHES, DPI = (3.6, 3.0), 120
LIGHT = np.array([0.35, -0.45, 0.82])  # where it comes from
CHILD, PARENT, LINE = "#3b76af", "0.45", "0.25"
HERE = np.eye(4)


def pose_of(joint: Joint, q: Sequence[float]) -> np.ndarray:
    """Return the child's pose, shape (4, 4)."""
    return matrix(joint.transform([float(e) for e in q]))


def matrix(X: SE3) -> np.ndarray:
    """Return a pose as its matrix, shape (4, 4)."""
    return np.array(X.homogeneous(), dtype=float)


def spaced(first: Sequence[float], last: Sequence[float], count: int) -> list[np.ndarray]:
    """Return configurations on a straight line."""
    return list(np.linspace(np.asarray(first, dtype=float), np.asarray(last, dtype=float), count))


def turned(*angles: float) -> np.ndarray:
    """Return the quaternion (x, y, z, w) of angles about x, y, z."""
    return np.array(quaternion_xyzw_from_matrix(matrix_from_xyz(angles)), dtype=float)


def flight(count: int) -> list[np.ndarray]:
    """Return places along a curve in space."""
    t = np.linspace(0.0, 1.0, count)
    return [np.array([-0.4 + 1.0 * s, 0.5 * np.sin(2.2 * s), 0.15 + 0.55 * s * s]) for s in t]


WORDS = {
    **{name: getattr(joints, name) for name in joints.__all__},
    **{name: getattr(np, name) for name in ("array", "linspace", "sin", "cos", "tan", "pi")},
    **{word.__name__: word for word in (SE3, matrix_from_xyz, pose_of, matrix, spaced, turned, flight)},
    **{
        "CHILD": CHILD,
        "PARENT": PARENT,
        "HERE": HERE,
        "X": (1.0, 0.0, 0.0),
        "Y": (0.0, 1.0, 0.0),
        "Z": (0.0, 0.0, 1.0),
    },
}
"""What a picture's Python may use, beside the methods of `Sketch`."""


@dataclass(frozen=True)
class Picture:
    """What to draw of a joint type. In the joint's file `joint` and `path` are Python, `path` of the joint.

    Attributes:
        joint: an example, simpler than that of the catalogue; the type without arguments if none is given.
        path: configurations, from the faintest to the one drawn solid.
        scene: Python that draws what belongs to the parent, by the methods of `Sketch`; it may use `joint`, the last
            configuration `q` and the child's `pose` there.
        carried: the same for what belongs to the child, drawn above it.
        plate: the child's extent along x, y, z in its frame.
        half: half the edge of the cube that is seen; 0 to fit the child's motion and the parent's frame.
        centre: the cube's middle; none to fit.
        view: elevation and azimuth of the eye [degrees].
        up: the axis that points up.
    """

    joint: Joint
    path: Sequence[Sequence[float]]
    scene: str = ""
    carried: str = ""
    plate: Sequence[Sequence[float]] = ((0.0, 0.75), (-0.16, 0.16), (-0.05, 0.05))
    half: float = 0.0
    centre: Sequence[float] = ()
    view: Sequence[float] = (28.0, -55.0)
    up: str = "z"

    @classmethod
    def of(cls, example: Joint, said: dict[str, Any]) -> Picture:
        """Return the picture that a joint's file describes."""
        joint = eval(said.get("joint", f"{type(example).__name__}()"), dict(WORDS))
        return cls(**said | {"joint": joint, "path": eval(said["path"], WORDS | {"joint": joint})})


def draw_frame(
    axes: Any,
    pose: np.ndarray,
    size: float,
    *,
    strength: float = 1.0,
    width: float = 1.6,
    colours: tuple[str, ...] = AXES,
    names: str = "",
) -> None:
    """Draw the axes of a frame at a pose (4, 4): x red, y green, z blue, with a letter of the names at each end."""
    origin = pose[:3, 3]
    for k, colour in enumerate(colours):
        arrow = size * pose[:3, k]
        ends = np.stack([origin, origin + arrow], axis=-1)
        axes.plot(*ends, color=colour, alpha=strength, linewidth=width, zorder=5)
        if names:
            axes.text(*(origin + 1.12 * arrow), names[k], color=colour, ha="center", va="center", fontsize=9)


def draw(picture: Picture, file: Path) -> None:
    """Write one picture."""
    from matplotlib import pyplot

    figure = pyplot.figure(figsize=INCHES)
    axes = figure.add_axes((-0.12, -0.12, 1.24, 1.24), projection="3d", computed_zorder=False)
    poses = [pose_of(picture.joint, q) for q in picture.path]
    look(axes, picture, poses)
    sketch = Sketch(axes)
    words = {**WORDS, **sketch.words(), "joint": picture.joint, "q": picture.path[-1], "pose": poses[-1]}
    exec(picture.scene, words)
    sketch.frame(HERE, size=0.6, colours=(PARENT,) * 3, width=1.0, names="xyz")
    for k, pose in enumerate(poses[:-1]):
        strength = 0.12 + 0.25 * k / (len(poses) - 1)
        sketch.plate(pose, picture.plate, strength)
        sketch.frame(pose, size=0.38, strength=strength, width=1.0)
    sketch.plate(poses[-1], picture.plate, 0.8)
    sketch.frame(poses[-1], size=0.38, width=2.2)
    exec(picture.carried, words)
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=DPI, metadata={"Software": None})
    pyplot.close(figure)


def look(axes: Any, picture: Picture, poses: Sequence[np.ndarray]) -> None:
    """Place the eye, and the cube that is seen."""
    axes.set_proj_type("persp", focal_length=0.7)
    axes.set_axis_off()
    axes.view_init(*picture.view, vertical_axis=picture.up)
    centre, half = fitted(picture, poses)
    for limits, c in zip((axes.set_xlim, axes.set_ylim, axes.set_zlim), centre, strict=True):
        limits(c - half, c + half)
    axes.set_box_aspect((1.0, 1.0, 1.0), zoom=1.06)


def fitted(picture: Picture, poses: Sequence[np.ndarray]) -> tuple[np.ndarray, float]:
    """Return the middle and half the edge of the cube to show."""
    points = [HERE[:3, 3], *(0.6 * np.eye(3))]
    points += [corner for pose in poses for corner in corners(pose, picture.plate)]
    points += [poses[-1][:3, 3] + 0.42 * poses[-1][:3, k] for k in range(3)]
    low, high = np.min(points, axis=0), np.max(points, axis=0)
    centre = np.array(picture.centre) if picture.centre else 0.5 * (low + high)
    return centre, picture.half or 0.5 * float((high - low).max()) + 0.08


def corners(pose: np.ndarray, extent: Any) -> np.ndarray:
    """Return the eight corners of a box given by its extents along the axes of a pose."""
    corner = np.array([[x, y, z] for x in extent[0] for y in extent[1] for z in extent[2]])
    return corner @ pose[:3, :3].T + pose[:3, 3]


@dataclass(frozen=True)
class Sketch:
    """What can be drawn on matplotlib's axes in three dimensions."""

    axes: Any

    def words(self) -> dict[str, Any]:
        """Return the methods by name."""
        return {name: getattr(self, name) for name in vars(Sketch) if not name.startswith("_")}

    def frame(self, pose: np.ndarray, size: float, **how: Any) -> None:
        """Draw the axes of a pose."""
        draw_frame(self.axes, pose, size, **how)

    def text(self, x: float, y: float, z: float, said: str) -> None:
        """Write a word."""
        self.axes.text(x, y, z, said, fontsize=9, color="0.3", ha="center")

    def line(
        self, points: Any, style: str = "-", colour: str = LINE, width: float = 1.0, strength: float = 1.0
    ) -> None:
        """Draw a polygon through points, shape (n, 3)."""
        self.axes.plot(*np.asarray(points, dtype=float).T, style, color=colour, linewidth=width, alpha=strength)

    def axis(self, direction: Any, through: Any = (0.0, 0.0, 0.0), reach: float = 0.7) -> None:
        """Draw an axis of motion."""
        d, p = np.asarray(direction, dtype=float), np.asarray(through, dtype=float)
        d = d / np.linalg.norm(d)
        self.line([p - reach * d, p + reach * d], "-.")

    def circle(self, normal: Any, radius: float, **how: Any) -> None:
        """Draw a circle about the origin."""
        n = np.asarray(normal, dtype=float) / np.linalg.norm(normal)
        a = np.cross(n, (0.0, 0.0, 1.0) if abs(n[2]) < 0.9 else (0.0, -1.0, 0.0))
        a = a / np.linalg.norm(a)
        t = np.linspace(0.0, 2.0 * np.pi, 80)[:, None]
        self.line(radius * (np.cos(t) * a + np.sin(t) * np.cross(n, a)), **how)

    def curve(self, joint: Joint, path: Any, point: Any = (0.0, 0.0, 0.0), **how: Any) -> None:
        """Draw the way of a point of the child."""
        self.line([(pose_of(joint, q) @ (*point, 1.0))[:3] for q in path], **how)

    def plate(self, pose: np.ndarray, extent: Any, strength: float, colour: str = CHILD) -> None:
        """Draw a box given by its extents along the axes of a pose."""
        from matplotlib.colors import to_rgb

        at = corners(pose, extent)
        faces = [(0, 1, 3, 2), (4, 5, 7, 6), (0, 1, 5, 4), (2, 3, 7, 6), (0, 2, 6, 4), (1, 3, 7, 5)]
        normals = np.array([-1.0, 1.0])[None, :, None] * pose[:3, :3].T[:, None]  # of both faces across each axis
        bright = 0.5 + 0.5 * (normals.reshape(6, 3) @ LIGHT)
        base = np.array(to_rgb(colour))
        paint = [base + (1.0 - base) * 0.55 * b - base * 0.25 * (1.0 - b) for b in bright]
        edge = "white" if strength > 0.5 else base + 0.4 * (1.0 - base)
        self._polygons([at[list(f)] for f in faces], strength, facecolors=paint, edgecolors=edge, linewidths=0.6)

    def sheet(self, x_axis: Any, y_axis: Any, spans: Any) -> None:
        """Draw a piece of a plane through the origin, with a grid."""
        a, b = np.asarray(x_axis, dtype=float), np.asarray(y_axis, dtype=float)
        (x0, x1), (y0, y1) = spans
        edges = [x * a + y * b for x, y in ((x0, y0), (x1, y0), (x1, y1), (x0, y1))]
        self._polygons([edges], 0.5, facecolors="0.9", edgecolors="0.6")
        for t in np.linspace(0.0, 1.0, 9)[1:-1]:
            x, y = x0 + t * (x1 - x0), y0 + t * (y1 - y0)
            self.line([x * a + y0 * b, x * a + y1 * b], colour="0.75", width=0.5)
            self.line([x0 * a + y * b, x1 * a + y * b], colour="0.75", width=0.5)

    def _polygons(self, corners: Any, strength: float, **how: Any) -> None:
        from mpl_toolkits.mplot3d.art3d import Poly3DCollection

        drawn = Poly3DCollection(corners, **how)
        drawn.set_alpha(strength)
        self.axes.add_collection3d(drawn)

    def tube(self, pose: np.ndarray, radius: float, span: Any, colour: str, strength: float) -> None:
        """Draw a cylinder along the z axis of a pose."""
        t, h = np.meshgrid(np.linspace(0.0, 2.0 * np.pi, 25), np.array(span))
        self._surface(pose, np.stack([radius * np.cos(t), radius * np.sin(t), h], axis=-1), colour, strength)

    def ball(self, pose: np.ndarray, radii: Any, colour: str, strength: float, lines: bool = True) -> None:
        """Draw an ellipsoid in the axes of a pose."""
        u, w = np.meshgrid(np.linspace(0.0, 2.0 * np.pi, 33), np.linspace(0.0, np.pi, 17))
        unit = np.stack([np.cos(u) * np.sin(w), np.sin(u) * np.sin(w), np.cos(w)], axis=-1)
        points = self._surface(pose, unit * radii, colour, strength)
        for row in (*points[2:-1:3], *points.transpose(1, 0, 2)[:-1:4]) if lines else ():
            self.line(row, colour=PARENT, width=0.4, strength=0.5)

    def _surface(self, pose: np.ndarray, points: np.ndarray, colour: str, strength: float) -> np.ndarray:
        """Draw a surface given in the axes of a pose, and return its points in the parent's."""
        points = points @ pose[:3, :3].T + pose[:3, 3]
        xyz = np.moveaxis(points, -1, 0)
        self.axes.plot_surface(*xyz, color=colour, alpha=strength, linewidth=0, shade=False, antialiased=True)
        return points
