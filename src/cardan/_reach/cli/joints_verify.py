"""`cardan joints verify WHAT`: the certificate of a joint of your own, or of one that ships."""

from __future__ import annotations

import argparse
import inspect
import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from cardan._algebra.errors import JointError, ParameterError, UnknownNameError
from cardan._reach.cli.options import add, tell
from cardan._reach.generation.sources import imported
from cardan._reach.pictures.axes import draw_frame, pyplot_module, save_figure
from cardan._reach.verification import Certificate, verify_joint
from cardan._robot.joints import CATALOGUE, Joint, Limits
from cardan._robot.joints.limits import move_to_bounds

FLOOR, CEILING = 1e-17, 1e3
COLOURS = {"passed": "tab:blue", "failed": "tab:red", "skipped": "lightgrey"}
REACH, STOPS = 0.8, 7
SIDES = np.array([-1.0, 1.0])


def add_parser(actions: Any) -> None:
    parser = actions.add_parser("verify", help="check a joint against its definition and all that follows from it")
    parser.add_argument("joint", metavar="FILE:CLASS", help="a class in a Python file, or the name of a joint type")
    parser.add_argument("--arguments", metavar="JSON", help="of the class, such as '{\"pitch\": 0.1}'")
    parser.add_argument("--samples", type=int, default=12, metavar="N", help="configurations (default: 12)")
    parser.add_argument("--seed", type=int, default=0, help="of the random numbers (default: 0)")
    parser.add_argument("--limits", metavar="JSON", help="lower and upper positions, as '[[-0.3], [0.3]]'")
    parser.add_argument("--plot", metavar="FILE.png", help="draw the frames and the errors")
    add(parser, "--json")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    joint = joint_of(args.joint, args.arguments)
    certificate = verify_joint(joint, args.samples, args.seed, limits=limits_of(args.limits))
    tell(args, certificate.plain(), certificate)
    if args.plot:
        draw_certificate(joint, certificate, args.plot)
    return 0 if certificate.passed else 1


def joint_of(what: str, arguments: str | None) -> Joint:
    file, colon, name = what.rpartition(":")
    kind = class_of(Path(file), name) if colon else None
    if kind is None:
        types = {type(j).__name__: j for j in reversed(CATALOGUE)}
        if what not in types:
            where = "cardan joints verify (or a class in a file, as FILE:CLASS)"
            raise UnknownNameError("joint type", what, types, where=where)
        if arguments is None:
            return types[what]
        kind = type(types[what])
    return make_joint(kind, arguments)


def limits_of(text: str | None) -> Limits | None:
    """Return the limits the command line names; null stands for no limit."""
    if text is None:
        return None
    expected = "JSON of lower and upper positions, nv numbers (or null) each: '[[-0.3], [0.3]]'"
    try:
        lower, upper = (
            [unlimited if e is None else float(e) for e in side]
            for side, unlimited in zip(json.loads(text), (-math.inf, math.inf), strict=True)
        )
    except (TypeError, ValueError):
        raise ParameterError("--limits", got=text, expected=expected) from None
    return Limits(lower=lower, upper=upper)


def class_of(file: Path, name: str) -> type[Joint]:
    members = vars(imported(file)).items()
    joints = {k: v for k, v in members if inspect.isclass(v) and issubclass(v, Joint) and v is not Joint}
    if name not in joints:
        raise UnknownNameError("joint class", name, joints, where=str(file))
    return joints[name]


def make_joint(kind: type[Joint], arguments: str | None) -> Joint:
    try:
        given = json.loads(arguments) if arguments is not None else {}
    except json.JSONDecodeError as error:
        raise ParameterError("--arguments", got=arguments, expected=f"JSON ({error})") from None
    if not isinstance(given, (dict, list)):
        raise ParameterError("--arguments", got=arguments, expected="a JSON object of keywords, or a list")
    try:
        return kind(**given) if isinstance(given, dict) else kind(*given)
    except TypeError as error:
        hint = "give its arguments as --arguments JSON" if arguments is None else "check --arguments"
        raise JointError(f"{kind.__name__} cannot be made: {error}; {hint}.") from error


# --- the picture of a certificate ---


def draw_certificate(joint: Joint, certificate: Certificate, file: str) -> None:
    """Write the picture; MissingExtraError without matplotlib."""
    count = max(1, certificate.nv)
    columns = math.ceil(math.sqrt(count))
    figure = pyplot_module().figure(figsize=(15.0, 9.0), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=(1.15, 1.0))
    for j in range(count):
        panel = left.add_subplot(math.ceil(count / columns), columns, j + 1, projection="3d")
        _frames(panel, joint, j, certificate.limits)
    left.suptitle("the child frame along each velocity, from light to dark (x red, y green, z blue)", fontsize=10)
    _errors(right.add_subplot(), certificate)
    colour = COLOURS["passed" if certificate.passed else "failed"]
    figure.suptitle(f"{certificate.type}: {certificate.verdict}", color=colour, fontsize=14)
    save_figure(figure, file, 110)


def _frames(axes: Any, joint: Joint, j: int, limits: Limits | None) -> None:
    """Draw the child frame as the joint moves along one velocity, through the neutral configuration."""
    try:
        names, poses = _poses(joint, j, limits)
    except Exception as error:  # the joint's code may raise anything
        axes.set_axis_off()
        axes.set_title(f"{type(error).__name__}: nothing to draw", fontsize=9)
        return
    origins = poses[:, :3, 3]
    size = 0.35 * max(0.3, float(np.ptp(origins, axis=0).max()))
    for k, pose in enumerate(poses):
        draw_frame(axes, pose, size, strength=0.2 + 0.8 * (k + 1) / len(poses))
    axes.plot(*origins.T, color="black", linewidth=1.0)
    axes.scatter(0.0, 0.0, 0.0, color="black", s=12)
    draw_frame(axes, np.eye(4), size, width=1.0, colours=("grey",) * 3)
    middle, half = 0.5 * (origins.max(axis=0) + origins.min(axis=0)), 0.5 * np.ptp(origins, axis=0).max() + size
    axes.set_title(names, fontsize=9)
    axes.tick_params(labelsize=6)
    for name, x in zip("xyz", middle, strict=True):
        ticks = np.round([x - 0.7 * half, x, x + 0.7 * half], 2)
        axes.set(**{f"{name}label": name, f"{name}ticks": ticks, f"{name}lim": x + half * SIDES})


def _poses(joint: Joint, j: int, limits: Limits | None) -> tuple[str, np.ndarray]:
    if not joint.nv:
        return "it does not move", np.array([joint.transform(joint.neutral()).homogeneous()], dtype=float)
    e = np.eye(joint.nv)[j]
    start = move_to_bounds(joint, joint.neutral(), limits)
    stops = [
        move_to_bounds(joint, joint.integrate(start, tuple(t * e)), limits) for t in np.linspace(-REACH, REACH, STOPS)
    ]
    poses = np.array([joint.transform(q).homogeneous() for q in stops], dtype=float)
    return f"{joint.velocity_names[j]} = 1 for t in [{-REACH}, {REACH}] s", poses


def _errors(axes: Any, certificate: Certificate) -> None:
    findings = certificate.findings
    places = np.arange(len(findings))
    errors = [FLOOR if f.status == "skipped" else np.clip(f.error, 1.3 * FLOOR, CEILING) for f in findings]
    axes.barh(places, np.array(errors) - FLOOR, left=FLOOR, color=[COLOURS[f.status] for f in findings])
    allowed = [f.tolerance if f.status != "skipped" else np.nan for f in findings]
    axes.scatter(allowed, places, marker="|", s=90, color="black", label="allowed", zorder=3)
    axes.set_xscale("log")
    axes.set(xlim=(FLOOR, CEILING), ylim=(len(findings), -1.0))
    axes.set_yticks(places, [f.name for f in findings], fontsize=8)
    for place, label, finding in zip(places, axes.get_yticklabels(), findings, strict=True):
        if finding.status == "skipped":
            axes.text(FLOOR * 2.0, place, "skipped", va="center", fontsize=7, color="grey")
        label.set_color(COLOURS["failed"] if finding.failed else "black")
    axes.set_xlabel("worst error (bars at the right edge: not a number, or an exception)")
    axes.grid(axis="x", alpha=0.3)
    axes.legend(loc="lower right", fontsize=8)
