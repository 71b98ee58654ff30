"""The pictures of docs/joints.md: the child, a blue plate with its frame, along a motion; the parent's frame in grey.

`python docs/build_joints.py --pictures` writes them. One entry of `PICTURES` for each joint type.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cardan import SE3
from cardan.cli.plots import draw_frame, pyplot_module
from cardan.joints import (
    D6,
    Cable,
    Composite,
    ConstantVelocity,
    Cylindrical,
    Distance,
    Ellipsoid,
    Fixed,
    FloatingMRP,
    FreeFlyer,
    Helical,
    Joint,
    Mimic,
    Planar,
    PlanarAngle,
    Prismatic,
    Reversed,
    Revolute,
    Spherical,
    SphericalZYX,
    Spline,
    Translation,
    UnboundedRevolute,
    Universal,
    VariableScrew,
    condylar_knee,
)
from cardan.spatial.rotations import matrix_from_xyz, quaternion_xyzw_from_matrix, rotation_about_axis

INCHES, DPI = (3.6, 3.0), 120
LIGHT = np.array([0.35, -0.45, 0.82])  # where it comes from
CHILD, PARENT, LINE = "#3b76af", "0.45", "0.25"
PLATE = ((0.0, 0.75), (-0.16, 0.16), (-0.05, 0.05))
Draw = Callable[[Any], None]


@dataclass(frozen=True)
class Picture:
    """What to draw of a joint type.

    Attributes:
        joint: an example, simpler than that of the catalogue.
        path: configurations, from the faintest to the one drawn solid.
        scene: draws what belongs to the parent.
        carried: draws what belongs to the child, given its pose.
        plate: the child's extent along x, y, z in its frame.
        half: half the edge of the cube that is seen; 0 to fit the child's motion and the parent's frame.
        centre: the cube's middle; None to fit.
        view: elevation and azimuth of the eye [degrees].
        up: the axis that points up.
    """

    joint: Joint
    path: Sequence[Sequence[float]]
    scene: Draw = lambda axes: None
    carried: Callable[[Any, np.ndarray], None] = lambda axes, pose: None
    plate: Any = PLATE
    half: float = 0.0
    centre: tuple[float, float, float] | None = None
    view: tuple[float, float] = (28.0, -55.0)
    up: str = "z"


def draw(picture: Picture, file: Path) -> None:
    """Write one picture."""
    pyplot = pyplot_module()
    figure = pyplot.figure(figsize=INCHES)
    axes = figure.add_axes((-0.12, -0.12, 1.24, 1.24), projection="3d", computed_zorder=False)
    axes.set_proj_type("persp", focal_length=0.7)
    axes.set_axis_off()
    axes.view_init(*picture.view, vertical_axis=picture.up)
    poses = [pose_of(picture.joint, q) for q in picture.path]
    centre, half = fitted(picture, poses)
    for limits, c in zip((axes.set_xlim, axes.set_ylim, axes.set_zlim), centre, strict=True):
        limits(c - half, c + half)
    axes.set_box_aspect((1.0, 1.0, 1.0), zoom=1.06)
    picture.scene(axes)
    draw_frame(axes, np.eye(4), size=0.6, colours=(PARENT,) * 3, width=1.0, names="xyz")
    for k, pose in enumerate(poses):
        last = k == len(poses) - 1
        strength = 1.0 if last else 0.12 + 0.25 * k / max(1, len(poses) - 1)
        plate(axes, pose, picture.plate, 0.8 if last else strength)
        draw_frame(axes, pose, size=0.38, strength=1.0 if last else strength, width=2.2 if last else 1.0)
        if last:
            picture.carried(axes, pose)
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=DPI, metadata={"Software": None})
    pyplot.close(figure)


def fitted(picture: Picture, poses: Sequence[np.ndarray]) -> tuple[np.ndarray, float]:
    """Return the middle and half the edge of the cube to show."""
    points = [np.eye(4)[:3, 3], *(0.6 * np.eye(3))]
    points += [corner for pose in poses for corner in corners(pose, picture.plate)]
    points += [poses[-1][:3, 3] + 0.42 * poses[-1][:3, k] for k in range(3)]
    low, high = np.min(points, axis=0), np.max(points, axis=0)
    centre = 0.5 * (low + high) if picture.centre is None else np.array(picture.centre)
    return centre, picture.half or 0.5 * float((high - low).max()) + 0.08


def pose_of(joint: Joint, q: Sequence[float]) -> np.ndarray:
    """Return the child's pose, shape (4, 4)."""
    return np.array(joint.transform([float(e) for e in q]).homogeneous(), dtype=float)


def plate(axes: Any, pose: np.ndarray, extent: Any, strength: float, colour: str = CHILD) -> None:
    """Draw a box given by its extents along the axes of a pose."""
    from matplotlib.colors import to_rgb
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    at = corners(pose, extent)
    faces = [(0, 1, 3, 2), (4, 5, 7, 6), (0, 1, 5, 4), (2, 3, 7, 6), (0, 2, 6, 4), (1, 3, 7, 5)]
    normals = np.array([-1.0, 1.0])[None, :, None] * pose[:3, :3].T[:, None]  # of both faces across each axis
    bright = 0.5 + 0.5 * (normals.reshape(6, 3) @ LIGHT)
    base = np.array(to_rgb(colour))
    paint = [base + (1.0 - base) * 0.55 * b - base * 0.25 * (1.0 - b) for b in bright]
    edge = "white" if strength > 0.5 else base + 0.4 * (1.0 - base)
    drawn = Poly3DCollection([at[list(f)] for f in faces], facecolors=paint, edgecolors=edge, linewidths=0.6)
    drawn.set_alpha(strength)
    axes.add_collection3d(drawn)


def corners(pose: np.ndarray, extent: Any) -> np.ndarray:
    """Return the eight corners of a box given by its extents along the axes of a pose."""
    corner = np.array([[x, y, z] for x in extent[0] for y in extent[1] for z in extent[2]])
    return corner @ pose[:3, :3].T + pose[:3, 3]


def line(
    axes: Any, points: Any, style: str = "-", colour: Any = LINE, width: float = 1.0, strength: float = 1.0
) -> None:
    """Draw a polygon through points, shape (n, 3)."""
    axes.plot(*np.asarray(points, dtype=float).T, style, color=colour, linewidth=width, alpha=strength)


def axis_line(direction: Any, through: Any = (0.0, 0.0, 0.0), reach: float = 0.7) -> Draw:
    """Return what draws an axis of motion."""
    d, p = np.asarray(direction, dtype=float), np.asarray(through, dtype=float)
    d = d / np.linalg.norm(d)
    return lambda axes: line(axes, [p - reach * d, p + reach * d], "-.")


def circle(
    axes: Any, normal: Any, radius: float, centre: Any = (0.0, 0.0, 0.0), turn: Any = (0.0, 6.2832), **how: Any
) -> None:
    """Draw an arc about a normal, measured from an arbitrary start."""
    n = np.asarray(normal, dtype=float) / np.linalg.norm(normal)
    a = np.cross(n, (0.0, 0.0, 1.0) if abs(n[2]) < 0.9 else (0.0, -1.0, 0.0))
    a = a / np.linalg.norm(a)
    t = np.linspace(0.0, 2.0 * np.pi, 80)[:, None]
    line(axes, radius * (np.cos(t) * a + np.sin(t) * np.cross(n, a)), **how)


def tube(axes: Any, pose: np.ndarray, radius: float, span: tuple[float, float], colour: str, strength: float) -> None:
    """Draw a cylinder along the z axis of a pose."""
    t, h = np.meshgrid(np.linspace(0.0, 2.0 * np.pi, 25), np.array(span))
    surface(axes, pose, radius * np.cos(t), radius * np.sin(t), h, colour, strength)


def ball(axes: Any, pose: np.ndarray, radii: Any, colour: str, strength: float, lines: bool = True) -> None:
    """Draw an ellipsoid in the axes of a pose."""
    u, w = np.meshgrid(np.linspace(0.0, 2.0 * np.pi, 33), np.linspace(0.0, np.pi, 17))
    x, y, z = radii[0] * np.cos(u) * np.sin(w), radii[1] * np.sin(u) * np.sin(w), radii[2] * np.cos(w)
    surface(axes, pose, x, y, z, colour, strength)
    if lines:
        points = np.stack([x, y, z], axis=-1) @ pose[:3, :3].T + pose[:3, 3]
        for row in (*points[2:-1:3], *points.transpose(1, 0, 2)[:-1:4]):
            line(axes, row, colour=PARENT, width=0.4, strength=0.5)


def surface(axes: Any, pose: np.ndarray, x: Any, y: Any, z: Any, colour: str, strength: float) -> None:
    """Draw a surface given in the axes of a pose."""
    x, y, z = np.moveaxis(np.stack([x, y, z], axis=-1) @ pose[:3, :3].T + pose[:3, 3], -1, 0)
    axes.plot_surface(x, y, z, color=colour, alpha=strength, linewidth=0, shade=False, antialiased=True)


def sheet(x_axis: Any, y_axis: Any, spans: Any) -> Draw:
    """Return what draws a piece of a plane through the origin, with a grid."""
    a, b = np.asarray(x_axis, dtype=float), np.asarray(y_axis, dtype=float)
    (x0, x1), (y0, y1) = spans

    def scene(axes: Any) -> None:
        from mpl_toolkits.mplot3d.art3d import Poly3DCollection

        corners = [x * a + y * b for x, y in ((x0, y0), (x1, y0), (x1, y1), (x0, y1))]
        axes.add_collection3d(Poly3DCollection([corners], facecolors="0.9", edgecolors="0.6", alpha=0.5))
        for t in np.linspace(0.0, 1.0, 9)[1:-1]:
            x, y = x0 + t * (x1 - x0), y0 + t * (y1 - y0)
            line(axes, [x * a + y0 * b, x * a + y1 * b], colour="0.75", width=0.5)
            line(axes, [x0 * a + y * b, x1 * a + y * b], colour="0.75", width=0.5)

    return scene


def curve(joint: Joint, path: Any, point: Any = (0.0, 0.0, 0.0), **how: Any) -> Draw:
    """Return what draws the way of a point of the child."""
    points = [pose_of(joint, q) @ (*point, 1.0) for q in path]
    return lambda axes: line(axes, np.array(points)[:, :3], **how)


def both(*scenes: Draw) -> Draw:
    """Return what draws several scenes."""

    def scene(axes: Any) -> None:
        for each in scenes:
            each(axes)

    return scene


def arrow(axes: Any, start: Any, end: Any, colour: Any = LINE) -> None:
    """Draw an arrow between two points."""
    start, end = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    axes.quiver(*start, *(end - start), color=colour, linewidth=1.2, arrow_length_ratio=0.15)


def spaced(first: Sequence[float], last: Sequence[float], count: int) -> list[np.ndarray]:
    """Return configurations on a straight line."""
    return list(np.linspace(np.asarray(first, dtype=float), np.asarray(last, dtype=float), count))


def turned(*angles: float) -> np.ndarray:
    """Return the quaternion (x, y, z, w) of angles about x, y, z."""
    return np.array(quaternion_xyzw_from_matrix(matrix_from_xyz(angles)), dtype=float)


def _flight(count: int) -> list[np.ndarray]:
    t = np.linspace(0.0, 1.0, count)
    return [np.array([-0.4 + 1.0 * s, 0.5 * np.sin(2.2 * s), 0.15 + 0.55 * s * s]) for s in t]


def _flyer() -> list[np.ndarray]:
    way = _flight(4)
    return [np.array([*p, *turned(0.9 * k, -0.4 * k, 0.35 * k)]) for k, p in enumerate(way)]


def _mrp() -> list[np.ndarray]:
    axis = np.array([0.36, -0.48, 0.8])
    return [np.array([*p, *axis * np.tan(0.8 * k / 4.0)]) for k, p in enumerate(_flight(4))]


def _gimbal(axes: Any) -> None:
    yaw, pitch, _ = 0.6, 0.5, 0.7
    first = np.array(rotation_about_axis((0.0, 0.0, 1.0), yaw).rows(), dtype=float)
    second = first @ np.array(rotation_about_axis((0.0, 1.0, 0.0), pitch).rows(), dtype=float)
    for normal, radius, colour in (
        ((0.0, 0.0, 1.0), 0.62, "tab:blue"),
        (first[:, 1], 0.54, "tab:green"),
        (second[:, 0], 0.46, "tab:red"),
    ):
        circle(axes, normal, radius, colour=colour, width=1.6, strength=0.7)


def _crosses(joint: ConstantVelocity, q: Sequence[float]) -> Draw:
    """Return what draws both crosses, the middle shaft and the shaft of the parent."""

    def scene(axes: Any) -> None:
        (first, _), (_, shaft) = joint.links
        assert shaft is not None
        tube(axes, np.eye(4), 0.06, (-0.45, 0.0), PARENT, 0.8)
        middle = pose_of(first, q)
        tube(axes, middle, 0.04, (0.0, joint.length), "goldenrod", 0.9)
        far = middle @ np.array(shaft.homogeneous(), dtype=float)
        for place, ends in ((np.eye(4), middle), (pose_of(joint, q), far)):
            for direction in (place[:3, 0], ends[:3, 1]):
                p = place[:3, 3]
                line(axes, [p - 0.15 * direction, p + 0.15 * direction], colour="black", width=2.6)

    return scene


def _chain(joint: Composite) -> Callable[[Any, np.ndarray], None]:
    q = (0.9, 0.35)
    (hinge, _), (_, placement) = joint.links
    assert placement is not None
    start = pose_of(hinge, q[:1])
    elbow = start @ np.array(placement.homogeneous(), dtype=float)

    def carried(axes: Any, pose: np.ndarray) -> None:
        line(axes, [start[:3, 3], elbow[:3, 3]], colour=LINE, width=3.0)
        line(axes, [elbow[:3, 3] - 0.1 * elbow[:3, 0], pose[:3, 3] + 0.5 * elbow[:3, 0]], "-.")
        draw_frame(axes, elbow, size=0.25, strength=0.8, width=1.0)

    return carried


def _springs(axes: Any, pose: np.ndarray) -> None:
    s = np.linspace(0.0, 1.0, 200)[:, None]
    coil = 0.05 * np.concatenate([np.cos(2 * np.pi * 9 * s), np.sin(2 * np.pi * 9 * s)], axis=1)
    line(axes, np.concatenate([coil, s * pose[2, 3]], axis=1), colour="goldenrod", width=1.2)


def _shells(minimum: float, maximum: float) -> Draw:
    def scene(axes: Any) -> None:
        ball(axes, np.eye(4), (minimum,) * 3, "tab:orange", 0.35, lines=False)
        ball(axes, np.eye(4), (maximum,) * 3, "0.8", 0.12)

    return scene


def _primary(axes: Any) -> None:
    place = np.eye(4)
    place[:3, 3] = (-0.75, 0.0, 0.0)
    for k, angle in enumerate((0.0, 0.7, 1.4)):
        pose = place @ pose_of(Revolute(), [angle])
        plate(axes, pose, _HAND, (0.15, 0.3, 0.8)[k], "goldenrod")
    axis_line((0, 0, 1), place[:3, 3], 0.4)(axes)
    axes.text(-0.75, 0.0, -0.55, "primary", fontsize=9, color="0.3", ha="center")


def _spline_frames(joint: Spline) -> Draw:
    def scene(axes: Any) -> None:
        for T in joint.frames:
            draw_frame(axes, np.array(T.homogeneous(), dtype=float), size=0.16, strength=0.9, width=0.9)
        line(axes, [tuple(T.translation) for T in joint.frames], ":", colour="0.6")

    return both(scene, curve(joint, spaced([-0.1], [1.1], 120), width=1.6))


def _on_child(radii: Any) -> Callable[[Any, np.ndarray], None]:
    return lambda axes, pose: ball(axes, pose, radii, "0.75", 0.25)


_X, _Y, _Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
_SLIDE = ((-0.28, 0.28), (-0.2, 0.2), (-0.06, 0.06))
_SMALL = ((-0.2, 0.2), (-0.13, 0.13), (-0.04, 0.04))
_HAND = ((0.0, 0.55), (-0.1, 0.1), (-0.03, 0.03))
_SHANK = ((-0.07, 0.07), (-0.62, -0.03), (-0.05, 0.05))
_CAP = ((-0.2, 0.2), (-0.13, 0.13), (0.0, 0.06))
_RADII = (0.35, 0.45, 0.6)
_COMPOSITE = Composite([Revolute(_Z), Prismatic(_X)], [SE3(), SE3(translation=(0.55, 0.0, 0.0))])
_DOUBLE = ConstantVelocity(length=0.35)
_SCREW = VariableScrew(pitch=(0.02, 0.035))
_CURVE = Spline(
    (
        SE3(),
        SE3(matrix_from_xyz((0.0, -0.5, 0.3)), (0.45, 0.1, 0.15)),
        SE3(matrix_from_xyz((0.5, -0.6, 1.2)), (0.6, 0.6, 0.45)),
        SE3(matrix_from_xyz((0.9, 0.1, 1.9)), (0.2, 0.9, 0.6)),
    )
)
_TILTED = PlanarAngle(x_axis=(0.8, 0.0, -0.6), y_axis=_Y)

PICTURES: dict[str, Picture] = {
    "Fixed": Picture(Fixed(), [()], half=0.55),
    "Revolute": Picture(Revolute(), spaced([0.0], [1.1], 4), axis_line(_Z, reach=0.5)),
    "Prismatic": Picture(Prismatic(), spaced([0.0], [0.6], 4), axis_line(_Z, reach=0.8), plate=_SLIDE),
    "Helical": Picture(
        Helical(pitch=0.11),
        spaced([0.0], [5.4], 7),
        both(axis_line(_Z, (0, 0, 0.3)), curve(Helical(pitch=0.11), spaced([0.0], [7.0], 90), (0.55, 0, 0), width=1.2)),
        plate=_HAND,
    ),
    "UnboundedRevolute": Picture(
        UnboundedRevolute(),
        [(np.cos(t), np.sin(t)) for t in np.linspace(0.0, 5.0, 6)],
        both(axis_line(_Z, reach=0.5), lambda axes: circle(axes, _Z, 0.55, width=1.4)),
        plate=_HAND,
    ),
    "Universal": Picture(
        Universal(),
        spaced([0.0, 0.0], [-0.5, 0.6], 3),
        both(axis_line(_X, reach=0.45), lambda axes: line(axes, [(0, -0.3, 0), (0, 0.3, 0)], colour="black", width=2)),
        plate=((-0.1, 0.1), (-0.1, 0.1), (0.0, 0.75)),
    ),
    "Spherical": Picture(
        Spherical(),
        [turned(0, 0, 0), turned(0.4, -0.25, 0.3), turned(0.8, -0.5, 0.6)],
        lambda axes: ball(axes, np.eye(4), (0.17,) * 3, "0.6", 0.6),
    ),
    "SphericalZYX": Picture(
        SphericalZYX(), [(0.0, 0.0, 0.0), (0.6, 0.5, 0.7)], _gimbal, half=0.68, centre=(0.05, 0.05, 0.05)
    ),
    "Translation": Picture(
        Translation(),
        spaced([0.0, 0.0, 0.0], [0.5, 0.45, 0.55], 4),
        lambda axes: line(
            axes, [(0, 0, 0), (0.5, 0, 0), (0.5, 0.45, 0), (0.5, 0.45, 0.55)], ":", colour="black", width=1.3
        ),
        plate=_SMALL,
    ),
    "Planar": Picture(
        Planar(),
        [(0.7 * s, 0.6 * s * s, np.cos(1.3 * s), np.sin(1.3 * s)) for s in np.linspace(0, 1, 4)],
        sheet(_X, _Y, ((-0.35, 1.0), (-0.4, 0.85))),
        plate=_CAP,
        half=0.7,
        centre=(0.33, 0.22, 0.05),
    ),
    "PlanarAngle": Picture(
        _TILTED,
        [(0.7 * s, 0.6 * s * s, 1.3 * s) for s in np.linspace(0, 1, 4)],
        sheet(_TILTED.x_axis, _TILTED.y_axis, ((-0.35, 1.0), (-0.4, 0.85))),
        plate=_CAP,
        half=0.72,
        centre=(0.33, 0.22, -0.1),
    ),
    "FreeFlyer": Picture(FreeFlyer(), _flyer(), lambda axes: line(axes, _flight(60), ":"), plate=_SMALL),
    "FloatingMRP": Picture(
        FloatingMRP(),
        _mrp(),
        lambda axes: line(axes, _flight(60), ":"),
        carried=lambda axes, pose: axis_line((0.36, -0.48, 0.8), pose[:3, 3], 0.5)(axes),
        plate=_SMALL,
        half=0.72,
    ),
    "Ellipsoid": Picture(
        Ellipsoid(_RADII),
        [(0.85 * s, 0.65 * s, 0.9 * s) for s in np.linspace(0.0, 1.0, 4)],
        lambda axes: ball(axes, np.eye(4), _RADII, "0.75", 0.3),
        plate=_CAP,
        half=0.68,
        centre=(0.05, -0.05, 0.05),
    ),
    "D6": Picture(
        D6(linear=[_X, _Z], angular=[_Z, _X]),
        spaced([0.0, 0.0, 0.0, 0.0], [0.5, 0.45, 0.5, 0.6], 4),
        lambda axes: line(axes, [(0, 0, 0), (0.5, 0, 0), (0.5, 0, 0.45)], ":", colour="black", width=1.3),
        plate=((0.0, 0.45), (-0.13, 0.13), (-0.04, 0.04)),
    ),
    "Composite": Picture(
        _COMPOSITE,
        spaced([0.0, 0.0], [0.9, 0.35], 3),
        axis_line(_Z, reach=0.5),
        _chain(_COMPOSITE),
        plate=((-0.1, 0.25), (-0.1, 0.1), (-0.05, 0.05)),
    ),
    "Reversed": Picture(
        Reversed(Ellipsoid(_RADII)),
        [(0.5, 0.5, 0.2)],
        carried=_on_child(_RADII),
        plate=((-0.06, 0.06), (-0.06, 0.06), (-0.06, 0.06)),
        half=0.75,
        centre=(0.0, 0.0, -0.2),
    ),
    "Cylindrical": Picture(
        Cylindrical(),
        spaced([-0.1, 0.0], [0.5, 1.2], 4),
        lambda axes: tube(axes, np.eye(4), 0.07, (-0.35, 0.9), "0.7", 0.6),
        plate=((0.07, 0.6), (-0.1, 0.1), (-0.08, 0.08)),
        half=0.68,
        centre=(0.2, 0.15, 0.27),
    ),
    "VariableScrew": Picture(
        _SCREW,
        spaced([0.0], [5.4], 7),
        both(axis_line(_Z, (0, 0, 0.3)), curve(_SCREW, spaced([-1.0], [7.0], 90), (0.55, 0, 0), width=1.2)),
        plate=_HAND,
    ),
    "ConstantVelocity": Picture(
        _DOUBLE,
        [(-0.25, 0.5)],
        _crosses(_DOUBLE, (-0.25, 0.5)),
        lambda axes, pose: tube(axes, pose, 0.06, (0.0, 0.5), CHILD, 0.9),
        plate=((-0.061, 0.061), (-0.061, 0.061), (0.3, 0.5)),
        half=0.62,
        centre=(0.22, 0.0, 0.1),
    ),
    "Spline": Picture(
        _CURVE,
        spaced([0.0], [0.85], 5),
        _spline_frames(_CURVE),
        plate=((-0.14, 0.14), (-0.09, 0.09), (-0.03, 0.03)),
    ),
    "OpenSimCustom": Picture(
        condylar_knee(),
        spaced([0.0], [1.9], 5),
        lambda axes: plate(axes, np.eye(4), ((-0.07, 0.07), (0.03, 0.5), (-0.05, 0.05)), 0.8, "0.7"),
        plate=_SHANK,
        view=(14.0, 25.0),
        up="y",
        half=0.6,
        centre=(-0.05, 0.0, 0.1),
    ),
    "Cable": Picture(
        Cable(),
        [(0.4, 0.0, 0.0), (0.45, -0.1, 0.4), (0.5, -0.2, 0.8)],
        axis_line(_Z, (0, 0, 0.45), 0.6),
        _springs,
        plate=((-0.05, 0.05), (-0.05, 0.05), (0.0, 0.55)),
    ),
    "Distance": Picture(
        Distance(minimum=0.2, maximum=0.75),
        [np.array([0.5, -0.1, 0.4, *turned(0.4, -0.3, 0.8)])],
        _shells(0.2, 0.75),
        lambda axes, pose: line(axes, [(0, 0, 0), pose[:3, 3]], "--", colour="black", width=1.3),
        plate=_SMALL,
        half=0.8,
        centre=(0.0, 0.0, 0.0),
    ),
    "Mimic": Picture(
        Mimic(Revolute(), "primary", multiplier=-0.5),
        spaced([0.0], [1.4], 3),
        both(axis_line(_Z, reach=0.4), _primary),
        plate=_HAND,
        centre=(-0.15, -0.1, 0.05),
        half=0.75,
        view=(38.0, -70.0),
    ),
}
