"""A robot on matplotlib's axes (extra `plot`): at one configuration, or at several, whose colours say which is when."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cardan._algebra.checked_numbers import whole
from cardan._algebra.errors import DTypeError, ParameterError, ShapeError
from cardan._algebra.explained import explained_keywords
from cardan._compiler.runtime.extras import package
from cardan._dynamics.call.arguments import check_configuration, check_finite, checked_batch
from cardan._dynamics.call.signature import check_model
from cardan._motion.simulation import World
from cardan._motion.simulation.solvers import Trajectory
from cardan._reach.pictures.scene import Scene, extent, frames_at, joined, lit, scene_of
from cardan._robot.description import Mechanism
from cardan._robot.model import Model

# --- what pictures are given, checked: models, motions, times, names ---

ROLES = {True: ("visual", "collision"), False: (), "visual": ("visual",), "collision": ("collision",)}


def checked_model(where: str, model: Any) -> Model:
    """Return a model to draw: that of a mechanism or a world; of one with inputs that with its own values."""
    model = model.model() if isinstance(model, Mechanism) else model.model if isinstance(model, World) else model
    check_model(where, model)
    return model.with_values(**model.input_values()) if model.inputs else model


def checked_motion(where: str, model: Model, q: Any) -> np.ndarray:
    """Return configurations, shape (T, nq), of one or several; the neutral one for None."""
    if isinstance(q, Trajectory):
        q = q.q[:, 0] if q.q.shape[1] == 1 else q.q
    batch = checked_batch(where, {"q": model.neutral() if q is None else q}, {"q": (model.nq,)})
    if len(batch.shape) > 1 or batch.size == 0:
        got = (*batch.shape, model.nq)
        raise ShapeError(where, "q", got=got, expected=f"({model.nq},) or (T, {model.nq}) with T of at least 1")
    found = batch.arrays[0].astype(float)
    check_finite(where, "q", found, batch.shape)
    check_configuration(where, "q", found, model.unit_parts)
    return found


def checked_rows(where: str, name: str, values: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Return numbers of a shape, a row for each configuration; of a single one the row alone will do."""
    batch = checked_batch(where, {name: values}, {name: shape[1:]})
    if batch.shape != shape[:1] and (batch.shape or shape[0] != 1):
        raise ShapeError(where, name, got=(*batch.shape, *shape[1:]), expected=f"{shape}, a row for each of q")
    found = batch.arrays[0].astype(float).reshape(shape)
    check_finite(where, name, found)
    return found


def checked_frames(where: str, model: Model, frames: Any) -> tuple[str, ...]:
    """Return the names of frames: all bodies for True, none for False, one, or several; errors for unknown names."""
    if isinstance(frames, bool):
        return model.body_names if frames else ()
    if not isinstance(frames, Iterable):
        raise DTypeError(where, "frames", got=f"a {type(frames).__name__}", expected="a name, or several")
    names = (frames,) if isinstance(frames, str) else tuple(frames)
    for name in names:
        model.attachment(name)
    return names


def checked_roles(where: str, shapes: Any) -> Sequence[str]:
    if not isinstance(shapes, (bool, str)) or shapes not in ROLES:
        raise ParameterError(f"{where}: shapes", got=shapes, expected="True, False, 'visual' or 'collision'")
    return ROLES[shapes]


# --- the axes, and what is on them ---

AXES = ("tab:red", "tab:green", "tab:blue")
THIN = 0.35  # of the longest side, at least, for the others


def pyplot() -> Any:
    """Return matplotlib's pyplot, with the backend that is set: a window, a notebook, or files."""
    return package("matplotlib.pyplot", "drawing", "plot")


def axes_in_space(ax: Any) -> Any:
    """Return axes of three dimensions in metres: given ones, or new ones; ParameterError for other axes."""
    if ax is not None:
        if not hasattr(ax, "get_zlim"):
            expected = 'matplotlib axes of three dimensions, as figure.add_subplot(projection="3d")'
            raise ParameterError("ax", got=ax, expected=expected)
        return ax
    new = pyplot().figure(figsize=(6.4, 6.4), layout="constrained").add_subplot(projection="3d")
    new.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]")
    return new


def frame_everything(ax: Any, points: np.ndarray, beside: bool) -> None:
    """Let the axes hold some points, shape (n, 3), alone or `beside` what they hold already, to equal scales.

    No side is shorter than a part of the longest: a robot in a plane, or a tower, leaves room for numbers.
    """
    held = np.transpose([ax.get_xlim(), ax.get_ylim(), ax.get_zlim()]) if beside else points
    low, high = (f(np.concatenate([points, held]), axis=0) for f in (np.min, np.max))
    span = (high - low).max() or 1.0
    middle, half = 0.5 * (low + high), 0.52 * np.maximum(high - low, THIN * span)
    for name, axis, m, h in zip("xyz", (ax.xaxis, ax.yaxis, ax.zaxis), middle, half, strict=True):
        ax.set(**{f"{name}lim": (m - h, m + h)})
        axis.get_major_locator().set_params(nbins=7 if h > 0.35 * span else 3)
    ax.set_box_aspect(half, zoom=0.87)


def plain_legend(ax: Any, **options: Any) -> None:
    """Add a legend whose names are shown as they are: a `$` in one begins no formula."""
    for text in ax.legend(**options).get_texts():
        text.set_parse_math(False)


def draw_frame(axes: Any, pose: np.ndarray, size: float) -> None:
    """Draw the axes of a frame at a pose (4, 4): x red, y green, z blue."""
    for k, colour in enumerate(AXES):
        ends = np.stack([pose[:3, 3], pose[:3, 3] + size * pose[:3, k]], axis=-1)
        axes.plot(*ends, color=colour, linewidth=1.6, zorder=5)


WHERE = "plot"
SHOWN = 9  # configurations of a longer motion that are drawn: more hide one another
VIEW = {"elev": 22.0, "azim": -60.0}
IN_PLANE = {"elev": 12.0, "azim": -80.0}  # for a mechanism in the xz plane
FLAT = 0.25  # along y of what it is along x and z: such a mechanism is one
GAP = 1e-3  # of the size of the robot: what is open by less is closed in a picture
GHOST = 0.45  # opacity of all configurations but the last


@explained_keywords
def plot(
    model: Model,
    q: Any = None,
    ax: Any = None,
    *,
    shapes: bool | str = True,
    frames: bool | str | Sequence[str] = (),
    paths: str | Sequence[str] = (),
    t: Any = None,
    shown: int = SHOWN,
) -> Any:
    """Draw a robot, and return the axes.

    Bodies are drawn by their shapes, those without any as lines from their origin to their joints; joints that close
    loops and are open are dashed red lines. Ground that is vast beside the robot is left out. At most `shown`
    configurations of a motion are drawn, from the first to the last, in colours whose bar says which is when.

    Args:
        model: the robot: a model, a mechanism on a fixed base, or a world.
        q: a configuration [rad, m], shape (nq,), or those of a motion, (T, nq), or what a solver's `rollout` of one
            world returns; by default `model.neutral()`.
        ax: matplotlib's axes of three dimensions; by default new ones.
        shapes: True for visual shapes, of bodies without them collision shapes; `"visual"` or `"collision"` for these
            alone; False for lines. Meshes need the extra `mesh` too; what cannot be read is logged and drawn as lines.
        frames: names of frames whose axes are drawn, x red, y green, z blue; True for those of all bodies.
        paths: names of frames whose origins' path through all of q is drawn.
        t: times of a motion [s], shape (T,), for the colour bar.
        shown: largest number of configurations drawn; of a single one it is the last.

    Returns:
        The axes (`mpl_toolkits.mplot3d.Axes3D`), in metres of the world; `ax.figure.savefig("robot.png")` writes them.

    Raises:
        MissingExtraError: without matplotlib (`pip install "cardan[plot]"`).
        ShapeError, DTypeError, NotFiniteError, ConfigurationError: for a q, or a t, that does not fit.
        UnknownNameError: for a frame that does not exist.
        ParameterError: for axes of two dimensions, another word for `shapes`, or `shown` below 1.

    Examples:
        >>> ax = cardan.plot(arm, [arm.neutral(), q], t=[0.0, 2.0], frames="tool")
        >>> ax.figure.savefig("arm.png")

    Peers: roboticstoolbox `plot`.
    """
    model = checked_model(WHERE, model)
    configurations = checked_motion(WHERE, model, q)
    times = None if t is None else checked_rows(WHERE, "t", t, (len(configurations),))
    framed, tracked = (checked_frames(WHERE, model, names) for names in (frames, paths))
    roles, count = checked_roles(WHERE, shapes), whole(f"{WHERE}: shown", shown, 1)
    last_row = len(configurations) - 1
    rows = np.unique(np.linspace(last_row, 0, min(count, last_row + 1)).round().astype(int))
    *ghosts, last = (scene_of(model, configurations[row], roles) for row in rows)
    scenes = [*(_moved_from(last, ghost) for ghost in ghosts), last]
    new = ax is None
    ax = axes_in_space(ax)
    beside = ax.has_data()
    tints = _tints(len(rows))
    points = np.concatenate([scene.points() for scene in scenes])
    size = extent(points)
    points = np.concatenate([points, *_draw_paths(ax, model, configurations, tracked)])
    draw_facets(ax, scenes, tints)
    for k, scene in enumerate(scenes):
        draw_lines(ax, scene, tints, k, size)
    for pose in frames_at(model, configurations[rows], framed).reshape(-1, 4, 4):
        draw_frame(ax, pose, 0.12 * size)
    frame_everything(ax, points, beside)
    if new:
        finish(ax, model.name, points)
    if len(rows) > 1:
        _explain(ax, rows if times is None else times[rows], "row of q" if times is None else "time [s]")
    return ax


def _tints(count: int) -> np.ndarray | None:
    """Return a colour for each of several configurations, (count, 4); None for a single one, which has its own."""
    if count == 1:
        return None
    tints = np.array(pyplot().get_cmap("viridis")(np.linspace(0.95, 0.0, count)))
    tints[:-1, 3] = GHOST
    return tints


def _moved_from(last: Scene, ghost: Scene) -> Scene:
    """Return a scene without what is where it is at the end, too: drawn twice, its colours would mix."""
    moved = (ghost.facets != last.facets).any(axis=(1, 2))
    return replace(ghost, facets=ghost.facets[moved], colours=ghost.colours[moved])


def draw_facets(ax: Any, scenes: Sequence[Scene], tints: np.ndarray | None) -> None:
    """Draw all facets as one collection: those within one are drawn from far to near."""
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    facets = joined([scene.facets for scene in scenes], (4, 3))
    if not len(facets):
        return
    own = [s.colours if tints is None else np.tile(tints[k], (len(s.facets), 1)) for k, s in enumerate(scenes)]
    colours = lit(facets, joined(own, (4,)))
    edges = colours if tints is None else "none"  # of what is opaque they close the gaps between facets
    ax.add_collection3d(Poly3DCollection(facets, facecolors=colours, edgecolors=edges, linewidths=0.3))


def draw_lines(ax: Any, scene: Scene, tints: np.ndarray | None, k: int, size: float) -> None:
    """Draw lines of one scene of a size [m], and what is open in its loops."""
    colour = np.array([0.25, 0.25, 0.28, 1.0]) if tints is None else tints[k]
    if len(scene.dots):
        ax.plot(*scene.dots.T, color=colour, linestyle="none", marker="o", markersize=5, zorder=4)
    for ends in scene.bones:
        ax.plot(*ends.T, color=colour, linewidth=3, solid_capstyle="round", zorder=4)
    for ends in scene.gaps[np.linalg.norm(np.diff(scene.gaps, axis=1)[:, 0], axis=-1) > GAP * size]:
        ax.plot(*ends.T, color="tab:red", linewidth=1.2, linestyle="--", zorder=6)


def _draw_paths(ax: Any, model: Model, q: np.ndarray, names: Sequence[str]) -> list[np.ndarray]:
    if not names:
        return []
    points = frames_at(model, q, names)[..., :3, 3]
    colours = pyplot().get_cmap("Set1")(range(len(names)))
    for name, path, colour in zip(names, np.moveaxis(points, -2, 0), colours, strict=True):
        ax.plot(*path.T, color=colour, linewidth=1.4, label=f"path of {name}", zorder=6)
    plain_legend(ax, loc="upper left", fontsize="small")
    return list(points.reshape(-1, len(names), 3))


def finish(ax: Any, title: str, points: np.ndarray) -> None:
    """Give new axes their title, and a view from in front, or nearly along y of what is thin along it."""
    x, y, z = np.ptp(points, axis=0)
    in_plane = y < FLAT * min(x, z)
    ax.view_init(**(IN_PLANE if in_plane else VIEW))
    if in_plane:
        ax.set_yticks([])
        ax.set_ylabel("")
    ax.set_title(title, y=0.96, parse_math=False)


def _explain(ax: Any, values: np.ndarray, label: str) -> None:
    plt = pyplot()
    bar = plt.matplotlib.colors.ListedColormap(plt.get_cmap("viridis")(np.linspace(0.95, 0.0, 256)))
    mappable = plt.cm.ScalarMappable(plt.Normalize(float(values[0]), float(values[-1])), bar)
    ax.figure.colorbar(mappable, ax=ax, label=label, shrink=0.6, ticks=values if len(values) < 10 else None)
