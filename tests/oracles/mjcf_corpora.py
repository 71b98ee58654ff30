"""Reads MJCF files of installed packages here and by MuJoCo, and compares: `python tests/oracles/mjcf_corpora.py`."""

from __future__ import annotations

import importlib.util
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np

import cardan
from cardan import conventions
from cardan._reach.formats.load import describe
from cardan._reach.formats.reading import Options
from cardan.errors import DescriptionError

CORPORA = ("dm_control", "gymnasium", "gymnasium_robotics", "robosuite", "newton")


def folder_of(package: str) -> Path | None:
    """Return the folder of an installed package; nothing of it is imported."""
    spec = importlib.util.find_spec(package)
    return Path(spec.origin).parent if spec and spec.origin else None


def files(package: str) -> list[Path]:
    folder = folder_of(package)
    return [f for f in sorted(folder.rglob("*.xml")) if "<mujoco" in f.read_text(errors="replace")] if folder else []


@dataclass
class Agreement:
    """What became of a file: how cardan and MuJoCo took it, and how far apart they are, relative to the largest."""

    outcome: str
    reason: str = ""
    theirs: str = ""
    warnings: int = 0
    remarks: int = 0
    worst: float = 0.0


def agreement(corpus: str, file: Path) -> Agreement:
    theirs, there = "", None
    try:
        there = mujoco.MjModel.from_xml_path(str(file))
    except ValueError as error:
        theirs = str(error).splitlines()[0]
    try:
        found = describe(file, Options(package_dirs=[folder_of(corpus)]))
    except DescriptionError as error:
        return Agreement("refused", str(error.faults[0]), theirs)
    report = found.report
    if found.thing is None:
        empty = "holds no body and nothing else" in report.errors[0].message
        return Agreement("nothing to move" if empty else "refused", str(report.errors[0]), theirs)
    read = Agreement("read", "", theirs, len(report.warnings), len(report.remarks))
    if not found.thing.bodies:
        read.outcome = "nothing to move"
    elif there is not None and is_welded_to_mocap(there):
        read.outcome = "sprung"
    elif there is not None and there.nv:
        read.worst = gap(there, found.thing)
    elif there is not None:
        read.outcome = "nothing to move"
    return read


def is_welded_to_mocap(there) -> bool:
    """Return whether a weld ties a body that motion capture moves: which here is a joint with springs."""
    welds = np.flatnonzero(there.eq_type == mujoco.mjtEq.mjEQ_WELD)
    ends = [*there.eq_obj1id[welds], *there.eq_obj2id[welds]]
    return any(there.body_mocapid[body] >= 0 for body in ends)


def gap(there, mechanism, states=3) -> float:
    """Return the largest difference of M, bias forces, poses of bodies, and Jacobians of sites."""
    model, data, rng = mechanism.model(), mujoco.MjData(there), np.random.default_rng(0)
    to = conventions.to("mujoco", model)
    assert (to.nq, to.nv) == (there.nq, there.nv)
    q, v = model.random_configuration((states,), seed=0), rng.normal(size=(states, model.nv))
    M, poses, zero = cardan.mass_matrix(model, q), cardan.forward_kinematics(model, q), np.zeros(model.nv)
    bias = cardan.bias_forces(model, q, v)
    names = {frame.name for frame in model.frames}
    sites = [there.site(k).name for k in range(there.nsite) if there.site(k).name in names][:4]
    jacobians = cardan.jacobian(model, q, tuple(sites)) if sites else None
    worst = 0.0
    for k in range(states):
        data.qpos[:], data.qvel[:] = to.configuration(q[k]), to.velocity(q[k], v[k])
        mujoco.mj_forward(there, data)
        full = np.zeros((there.nv, there.nv))
        mujoco.mj_fullM(there, data, full)
        T = np.array([to.velocity(q[k], e) for e in np.eye(model.nv)]).T  # mimics have coordinates of their own there
        start = to.acceleration(q[k], v[k], zero)
        scale = max(np.abs(data.qfrc_bias).max(), np.abs(full).max() * np.abs(data.qvel).max() ** 2)
        worst = max(
            worst, apart(M[k], T.T @ full @ T), np.abs(bias[k] - T.T @ (full @ start + data.qfrc_bias)).max() / scale
        )
        for body in range(1, there.nbody):
            name = there.body(body).name or f"body{body}"
            X = poses[k][model.body_names.index(name)]
            worst = max(worst, apart(X[:3, 3], data.xpos[body]), apart(X[:3, :3], data.xmat[body].reshape(3, 3)))
        for i, site in enumerate(sites):
            J, J_r = np.zeros((3, there.nv)), np.zeros((3, there.nv))
            mujoco.mj_jacSite(there, data, J, J_r, there.site(site).id)
            worst = max(worst, apart(jacobians[k, i], np.vstack([J, J_r]) @ T))
    return worst


def apart(a, b) -> float:
    return np.abs(a - b).max(initial=0.0) / max(np.abs(b).max(initial=0.0), 1e-12)


def main() -> None:
    warnings.simplefilter("ignore")
    head = ("corpus", "files", "MuJoCo reads", "read here", "of those nothing moves", "equal", "warnings", "worst")
    print(f"| {' | '.join(head)} |")
    print("|---|---|---|---|---|---|---|---|")
    refused = []
    for corpus in CORPORA:
        results = {file: agreement(corpus, file) for file in files(corpus)}
        theirs = [r for r in results.values() if not r.theirs]
        read = [r for r in theirs if r.outcome != "refused"]
        equal = sum(r.worst < 1e-10 for r in read)
        still = sum(r.outcome == "nothing to move" for r in read)
        row = (corpus, len(results), len(theirs), len(read), still, equal, sum(r.warnings > 0 for r in read))
        print(f"| {' | '.join(map(str, row))} | {max((r.worst for r in read), default=0.0):.0e} |")
        refused += [(file, r) for file, r in results.items() if r.outcome == "refused"]
    print()
    for file, r in refused:
        print(
            f"refused{'' if r.theirs else ' (MuJoCo reads it)'}: {file.name}: {r.reason.partition('error: ')[2][:160]}"
        )


if __name__ == "__main__":
    sys.exit(main())
