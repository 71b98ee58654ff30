"""How exact cardan is, joint by joint: its native results and derivatives against differences in 100-digit arithmetic.

`python tests/oracles/accuracy.py` prints the tables of `docs/accuracy.md` (`--markdown`, `--json FILE`, names of joint
types for some rows, `--target numpy` for the reference target, `--routes` for the far states' derivatives by two ways).
Every joint of the catalogue is the second of three in a chain, between revolute joints, with awkward poses on both
sides, asymmetric inertias and armature (which keeps M regular where the joint is singular). The oracle (`extended.py`)
knows the joint's transform alone and starts from the same floats.

The error of a quantity is max |ours - exact| over its entries, divided by the largest exact entry at that state or at
any regular state of the same robot, whichever is larger (nothing to divide by where all of it is exactly 0).
"""

import argparse
import json
import sys
import time
from pathlib import Path

import mpmath as mp
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

import cardan
from accuracy_answers import cardan_values, exact_values, nudged_values, weighed
from accuracy_pin import pin_values
from accuracy_robots import KINDS, Robot, case_joints
from extended import DIGITS

EXPLAINED = 1e-13  # above that, an error is compared with what one more rounding of all data does
GROUPS = {
    "X": ("X",),
    "S": ("S",),
    "bias": ("bias",),
    "dS/dt": ("dS/dt",),
    "tau": ("tau",),
    "dtau": ("dtau/dq", "dtau/dv", "dtau/da", "dtau/dq, wrenches"),
    "a": ("a",),
    "da": ("da/dq", "da/dv", "da/dtau"),
    "C": ("C v", "C + C'"),
    "dJ/dt": ("dJ/dt",),
    "dV, dA": ("dV/dq", "dA/dq", "dA/dv"),
    "dT, dU": ("dT/dq", "dT/dv", "dU/dq", "d2U/dq2"),
    "dh, dh'": ("dh/dq", "dh'/dq", "dh'/dv"),
    "d2tau": ("d2tau/dq2", "d2tau/dqdv", "d2tau/dq2, recursion"),
    "H tau": tuple(weighed("tau", "a")),
    "H a": tuple(weighed("a", "tau")),
}
"""The columns of the table, and the quantities each is the worst of."""


# --- the errors ---


def errors(robot, true, found):
    """{quantity: [error at each state, None where it was not compared]}."""
    table = {}
    for name, values in found.items():
        known = [t.get(name) for t in true]
        sizes = [None if t is None else largest(t) for t in known]
        usual = max((s for s, kind in zip(sizes, robot.kinds, strict=True) if kind == "regular" and s), default=0.0)
        table[name] = [
            None if t is None or ours is None else largest(exact_difference(ours, t)) / scale(max(size, usual))
            for ours, t, size in zip(values, known, sizes, strict=True)
        ]
    return table


def scale(size):
    """What an error is divided by; what is only the oracle's own error (1e-24) is 0."""
    return size if size > 1e-15 else 1.0


def exact_difference(ours, true):
    if ours.shape != true.shape:
        raise ValueError(f"shapes {ours.shape} and {true.shape}")
    with mp.workdps(DIGITS):
        flat = [mp.mpf(x) - y for x, y in zip(ours.ravel(), true.ravel(), strict=True)]
    return np.array(flat, dtype=object)


def largest(array):
    flat = [abs(float(e)) for e in np.ravel(array)]
    return float("nan") if any(x != x for x in flat) else max(flat, default=0.0)


def measured(name, joint, target=None, with_pin=True, regular=3, second=3, explained=True):
    """The errors of one joint's robot, as plain data."""
    robot = Robot(name, joint, regular, second)
    true = exact_values(robot)
    result = {"joint": name, "kinds": robot.kinds, "distances": robot.distances}
    result["condition"] = [float(np.linalg.cond(t["dtau/da"].astype(float))) for t in true]
    result["cardan"] = errors(robot, true, cardan_values(robot, target))
    theirs = pin_values(robot) if with_pin else None
    result["pin"] = errors(robot, true, theirs) if theirs else None
    if explained:
        result["nudged"] = errors(robot, true, nudged_where(robot, true, result["cardan"]))
    return result


def nudged_where(robot, true, found):
    """The values of `nudged_values` at the states where an error is worth an explanation."""
    states = range(len(true))
    asked = {i for i in states if any(e[i] is not None and not e[i] <= EXPLAINED for e in found.values())}
    values = {i: nudged_values(robot, i) for i in asked}
    return {name: [values[i].get(name) if i in asked else None for i in states] for name in found}


# --- the table ---


def worst(result, library, group, kinds):
    """The largest error of a group of quantities at states of some kinds, with quantity, kind and distance."""
    found = None
    for name in GROUPS[group]:
        for error, kind, distance in zip(
            (result[library] or {}).get(name, ()), result["kinds"], result["distances"], strict=False
        ):
            if error is not None and kind in kinds and (found is None or not error <= found[0]):
                found = error, name, kind, distance
    return found


def cell(found):
    return "" if found is None else "0" if found[0] < 1e-40 else f"{found[0]:.0e}"  # the oracle's own error


def by_joint(results, kinds):
    """Rows: each joint, with Pinocchio's beneath where it has the joint."""
    rows = [["joint", *GROUPS]]
    for result in results:
        rows.append([result["joint"], *(cell(worst(result, "cardan", g, kinds)) for g in GROUPS)])
        if result["pin"]:
            rows.append(["... in pin", *(cell(worst(result, "pin", g, kinds)) for g in GROUPS)])
    return rows


def by_kind(results, library):
    """Rows: each kind of state, and the largest condition number of M there; entries: the worst of all joints."""
    rows = [["states", "cond M", *GROUPS]]
    for kind in KINDS:
        chosen = [r for r in results if kind in r["kinds"] and r[library]]
        if not chosen:
            continue
        condition = max(c for r in chosen for c, k in zip(r["condition"], r["kinds"], strict=True) if k == kind)
        cells = [
            max((worst(r, library, g, (kind,)) for r in chosen), key=lambda f: f[0] if f else -1.0) for g in GROUPS
        ]
        rows.append([kind, f"{condition:.0e}", *map(cell, cells)])
    return rows


def above(results, limit, library="cardan"):
    """(error, by rounding the data, joint, quantity, kind, distance, condition of M), the largest error first."""
    found = []
    for r in results:
        for name, values in r[library].items():
            data = (r[key] for key in ("kinds", "distances", "condition"))
            states = zip(values, r["nudged"].get(name, [None] * len(values)), *data, strict=True)
            found += [(e, n, r["joint"], name, *rest) for e, n, *rest in states if e is not None and not e <= limit]
    return sorted(found, key=lambda f: -f[0])


def text(rows, markdown=False):
    if markdown:
        lines = [" | ".join(row) for row in rows]
        lines.insert(1, " | ".join(["---"] * len(rows[0])))
        return "\n".join(f"| {line} |" for line in lines)
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return "\n".join("  ".join(e.ljust(w) for e, w in zip(row, widths, strict=True)).rstrip() for row in rows)


def report(results, markdown=False):
    """All tables, as text."""
    usual = tuple(k for k in KINDS if k != "far")
    parts = [("each joint, all states but the far ones", by_joint(results, usual))]
    parts += [("each joint, far states", by_joint([r for r in results if "far" in r["kinds"]], ("far",)))]
    parts += [("cardan, the worst of all joints", by_kind(results, "cardan"))]
    if any(r["pin"] for r in results):
        parts += [("Pinocchio, the worst of all its joints", by_kind(results, "pin"))]
    mark = "### " if markdown else ""
    return "\n\n".join(f"{mark}{title}\n\n{text(rows, markdown)}" for title, rows in parts)


FARTHEST = ("Planar", "FreeFlyer", "FloatingMRP", "D6", "PlanarAngle", "OpenSimCustom", "Cable")


def routes(names, cases):
    """Rows: at a far state, the errors of the recursion, of the differentiated program, and of rounding the data."""
    d, rows = cardan.derivative, []
    for name in names:
        robot = Robot(name, cases[name], regular=1, second=0)
        true, model = exact_values(robot), robot.model
        tau, a = (model, robot.q, robot.v, robot.a), (model, robot.q, robot.v, robot.tau)
        program = {f"dtau/d{x}": d(cardan.inverse_dynamics, x)(*tau) for x in "qv"}
        program |= {f"da/d{x}": d(cardan.forward_dynamics, x)(*a) for x in "qv"}
        i = robot.kinds.index("far")
        nudged = nudged_values(robot, i)
        data = {what: [nudged[what] if k == i else None for k in range(len(true))] for what in program}
        every = [errors(robot, true, values) for values in (cardan_values(robot), program, data)]
        rows += [[name, what, *(f"{table[what][i]:.0e}" for table in every)] for what in program]
    return rows


def has_pin():
    try:
        import pinocchio  # noqa: F401
    except ImportError:
        return False
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("joints", nargs="*", help="names of rows; all by default")
    parser.add_argument("--markdown", action="store_true", help="tables for the documentation")
    parser.add_argument("--json", metavar="FILE", help="write every error found")
    parser.add_argument("--target", help="where cardan computes: llvm or numpy; by default native code")
    parser.add_argument("--routes", action="store_true", help="the far states' derivatives by another way, instead")
    parser.add_argument("--above", type=float, default=1e-12, help="list single errors above this (default: 1e-12)")
    args = parser.parse_args()
    cases = case_joints()
    for name in args.joints:
        if name not in cases:
            parser.error(f"no joint {name!r}; there are: {', '.join(cases)}")
    if args.routes:
        header = ["joint", "derivative", "recursion", "program", "data rounded"]
        print(text([header, *routes(args.joints or FARTHEST, cases)], args.markdown))
        return
    results, started = [], time.perf_counter()
    for name in args.joints or cases:
        results.append(measured(name, cases[name], args.target, has_pin()))
        print(f"{name}: {time.perf_counter() - started:.0f} s", file=sys.stderr, flush=True)
    print(report(results, args.markdown))
    print(f"\nabove {args.above:.0e}: error, that of rounding all data once more; condition number of M")
    for error, data, joint, name, kind, distance, condition in above(results, args.above):
        where = kind if distance is None else f"{kind} {distance}"
        print(f"  {error:.1e}  {data:.1e}  {condition:.0e}  {joint}: {name}, {where}")
    if args.json:
        Path(args.json).write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
