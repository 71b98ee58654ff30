"""Newton's reading of files of USD beside cardan's: bodies, inertias, joints, limits, drives and poses.

Newton needs an environment of its own (newton, warp-lang, usd-core, newton-usd-schemas; no GPU). Its interpreter runs
this same file with `--dump` and prints what it read as JSON:

    python tests/oracles/compare_newton_usd.py NEWTONS_PYTHON FILE...
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import traceback
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

TOLERANCE = 2e-5
"""Newton computes in float32."""


# --- run by Newton's interpreter ---------------------------------------------------------------------------------


def dump(file: str) -> dict[str, Any]:
    """Return what Newton reads from a file."""
    import newton

    builder = newton.ModelBuilder()
    resolvers = [newton.usd.SchemaResolverNewton(), newton.usd.SchemaResolverPhysx(), newton.usd.SchemaResolverMjc()]
    try:
        builder.add_usd(file, schema_resolvers=resolvers, skip_mesh_approximation=True)
    except Exception as error:
        return {"refused": f"{type(error).__name__}: {error}", "where": traceback.format_exc(limit=-1)}
    poses, m = [list(X) for X in builder.body_q], builder
    return {
        "bodies": {
            path: {
                "mass": m.body_mass[i],
                "com": list(m.body_com[i]),
                "inertia": np.array(m.body_inertia[i]).reshape(3, 3).tolist(),
                "pose": poses[i],
            }
            for i, path in enumerate(m.body_label)
        },
        "joints": {path: _joint(m, i) for i, path in enumerate(m.joint_label)},
        "gravity": [float(e) for e in np.array(m.gravity) * np.array(m.up_vector)],
        "shapes": len(m.shape_type),
    }


def _joint(m: Any, i: int) -> dict[str, Any]:
    start = m.joint_qd_start[i]
    stop = m.joint_qd_start[i + 1] if i + 1 < len(m.joint_qd_start) else len(m.joint_axis)
    dofs = range(start, stop)

    def each(key: str) -> list[float]:
        values = getattr(m, key)
        return [float(values[k]) for k in dofs]

    def body(k: int) -> str:
        return m.body_label[k] if k >= 0 else ""

    return {
        "type": int(m.joint_type[i]),
        "bodies": [body(m.joint_parent[i]), body(m.joint_child[i])],
        "poses": [list(m.joint_X_p[i]), list(m.joint_X_c[i])],
        "axes": [list(m.joint_axis[k]) for k in dofs],
        "lower": each("joint_limit_lower"),
        "upper": each("joint_limit_upper"),
        "effort": each("joint_effort_limit"),
        "velocity": each("joint_velocity_limit"),
        "armature": each("joint_armature"),
        "friction": each("joint_friction"),
        "damping": each("joint_damping"),
        "stiffness": each("joint_stiffness"),
        "ke": each("joint_target_ke"),
        "kd": each("joint_target_kd"),
    }


# --- cardan's side -----------------------------------------------------------------------------------------------


def newtons(python: str, files: Sequence[str]) -> dict[str, Any]:
    """Return what Newton reads from files, by file."""
    done = subprocess.run(
        [python, "-W", "ignore", __file__, "--dump", *files], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout[done.stdout.index("\x02") + 1 :])


def ours(file: str) -> tuple[Any, Any]:
    """Return cardan's reading, in the same form, or the faults."""
    from cardan._reach.formats.load import describe
    from cardan._reach.formats.reading import Options

    found = describe(file, Options(orphans="keep"))
    if found.thing is None:
        return None, found.report
    m: Any = found.thing
    paths: dict[Any, Any] = found.report.places
    body = {b.name: paths["body", b.name] for b in m.bodies} | {"world": ""}
    model = m.model()
    start = m.named_configurations.get("initial", {})
    bodies = {
        body[b.name]: {
            "mass": b.inertia.mass if b.inertia else 0.0,
            "com": list(b.inertia.com) if b.inertia else [0.0] * 3,
            "inertia": [list(r) for r in b.inertia.inertia_at_com.matrix().rows()] if b.inertia else np.zeros((3, 3)),
            "pose": _row(m.transform(dict(start), b.name, "world")),
        }
        for b in m.bodies
    }
    joints = {}
    for c in m.joints:
        joints[paths["joint", c.name]] = {
            "joint": getattr(c.joint, "joint", c.joint),  # of one that copies another what it is itself
            "bodies": [body[c.parent], body[c.child]],
            "poses": [_row(c.parent_pose.matrix()), _row(c.child_pose.matrix())],
            "axes": list(_axes(getattr(c.joint, "joint", c.joint))),
            "lower": c.limits.lower,
            "upper": c.limits.upper,
            "effort": c.limits.effort,
            "velocity": c.limits.velocity,
            "armature": c.armature,
            "friction": c.friction,
            "damping": c.damping,
            "stiffness": c.spring_stiffness,
            "ke": c.drive_stiffness,
            "kd": c.drive_damping,
        }
    return {"bodies": bodies, "joints": joints, "gravity": list(model.gravity), "shapes": len(m.shapes)}, found.report


def _axes(joint: Any) -> Iterator[list[float]]:
    from cardan.joints import D6, Translation, Universal

    if isinstance(joint, D6):
        yield from ([*map(float, a)] for a in (*joint.linear, *joint.angular))
    elif isinstance(joint, Universal):
        yield from ([*map(float, a)] for a in (joint.axis1, joint.axis2))
    elif isinstance(joint, Translation):
        yield from np.eye(3).tolist()
    elif hasattr(joint, "axis"):
        yield from [[*map(float, joint.axis)]] * joint.nv


def _row(X: Any) -> list[float]:
    from cardan._algebra.spatial.vector import Matrix3
    from cardan.spatial.rotations import quaternion_xyzw_from_matrix

    X = np.array(X, dtype=float)
    return [*X[:3, 3], *map(float, quaternion_xyzw_from_matrix(Matrix3.of(X[:3, :3], "R")))]


NAMES = {0: "Prismatic", 1: "Revolute", 2: "Spherical", 3: "Fixed", 4: "FreeFlyer", 5: "Distance", 6: "D6"}
GENERIC = ("Cylindrical", "Universal", "Translation", "D6", "Revolute", "Prismatic", "Fixed", "Spherical", "FreeFlyer")


def differences(a: Any, b: Any) -> Iterator[str]:
    """Yield what is different between cardan's (a) and Newton's (b) reading of a file."""
    yield from _missing("body", a["bodies"], b["bodies"])
    for path in a["bodies"].keys() & b["bodies"].keys():
        one, two = a["bodies"][path], b["bodies"][path]
        for key in ("mass", "com", "inertia"):
            if not _near(one[key], two[key]):
                yield f"{key} {path}: {_text(one[key])} here, {_text(two[key])} in Newton"
        if not _same_pose(one["pose"], two["pose"]):
            yield f"pose {path}: {_text(one['pose'])} here, {_text(two['pose'])} in Newton"
    free = {
        path: j
        for path, j in b["joints"].items()
        if path not in a["joints"] and j["type"] == 4 and j["bodies"][0] == ""
    }
    bases = {j["bodies"][1] for path, j in a["joints"].items() if path in a["bodies"]}
    for path, j in free.items():
        if j["bodies"][1] not in bases:
            yield f"base {path}: Newton lets {j['bodies'][1]} fly"
    rest = {path: j for path, j in b["joints"].items() if path not in free}
    mine = {path: j for path, j in a["joints"].items() if path not in a["bodies"]}
    yield from _missing("joint", mine, rest)
    for path in mine.keys() & rest.keys():
        for what in _joint_differences(mine[path], rest[path]):
            yield f"joint {path}: {what}"


def _missing(kind: str, a: Any, b: Any) -> Iterator[str]:
    for path in sorted(a.keys() - b.keys()):
        yield f"{kind} {path}: only here"
    for path in sorted(b.keys() - a.keys()):
        yield f"{kind} {path}: only in Newton"


def _joint_differences(a: Any, b: Any) -> Iterator[str]:
    kind, name = type(a["joint"]).__name__, NAMES.get(b["type"], str(b["type"]))
    if kind != name and not (name == "D6" and kind in GENERIC):
        yield f"type {kind} here, {name} in Newton"
        return
    turned = a["bodies"] != b["bodies"]
    if turned and a["bodies"] != b["bodies"][::-1]:
        yield f"joins {a['bodies']} here, {b['bodies']} in Newton"
        return
    poses = b["poses"][::-1] if turned else b["poses"]
    for side, (one, two) in enumerate(zip(a["poses"], poses, strict=True)):
        if not _same_pose(one, two):
            yield f"frame {side}: {_text(one)} here, {_text(two)} in Newton"
    if len(a["axes"]) != len(b["axes"]):
        if kind not in ("Spherical", "FreeFlyer", "Distance", "Fixed") or name == "D6":
            yield f"{len(a['axes'])} axes here ({kind}), {len(b['axes'])} in Newton ({name})"
        return
    for one, two in zip(a["axes"], b["axes"], strict=True):
        if not _near(one, [-e for e in two] if turned else two):
            yield f"axis {_text(one)} here, {_text(two)} in Newton{' (turned round)' if turned else ''}"
    for key in ("lower", "upper", "effort", "velocity", "armature", "friction", "damping", "stiffness", "ke", "kd"):
        if not _near([_far(e) for e in a[key]], [_far(e) for e in b[key]]):
            yield f"{key} {_text(a[key])} here, {_text(b[key])} in Newton"


def _far(value: float) -> float:
    """Newton's infinity is 1e10; and 1e6 where no effort is said."""
    return math.copysign(1e10, value) if abs(value) >= 1e6 - 1 else value


def _near(a: Any, b: Any) -> bool:
    a, b = np.array(a, dtype=float), np.array(b, dtype=float)
    return a.shape == b.shape and bool(
        np.abs(a - b).max(initial=0.0) <= TOLERANCE * (1e-3 + np.abs(a).max(initial=0.0))
    )


def _same_pose(a: Sequence[float], b: Sequence[float]) -> bool:
    turned = min(np.abs(np.subtract(a[3:], b[3:])).max(), np.abs(np.add(a[3:], b[3:])).max())
    return turned < 1e-4 and bool(np.abs(np.subtract(a[:3], b[:3])).max() < TOLERANCE * (1.0 + np.abs(a[:3]).max()))


def _text(values: Any) -> str:
    return " ".join(f"{e:.5g}" for e in np.array(values, dtype=float).reshape(-1))


def main(python: str, files: Sequence[str]) -> None:
    """Print what differs, file by file."""
    theirs = newtons(python, files)
    equal = 0
    for file in files:
        mine, report = ours(file)
        b = theirs[file]
        if mine is None or "refused" in b:
            said = "; ".join(fault.message for fault in report.errors[:1]) if mine is None else "reads it"
            newton = b.get("refused") or f"{len(b['bodies'])} bodies"
            print(f"{file}: cardan {said} | Newton {newton}")
            continue
        found = list(differences(mine, b))
        equal += not found
        size = f"{len(mine['bodies'])} bodies, {len(mine['joints'])} joints"
        print(f"{file}: {size}: {len(found) or 'equal'}")
        for line in found[:12]:
            print("    ", line)
    print(f"{equal} of {len(files)} equal")


if __name__ == "__main__":
    if sys.argv[1] == "--dump":
        print("\x02" + json.dumps({file: dump(file) for file in sys.argv[2:]}))
    else:
        main(sys.argv[1], sys.argv[2:])
