"""SDF as Drake reads it: poses, mass matrix and forces of every file both read, at random states.

Drake (`pip install drake`) reads SDF through libsdformat, the format's own library. A corpus of files is named by the
environment variable CARDAN_SDF_CORPUS: a folder of .sdf files; those they include lie in folders named as in the URI.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cardan
from cardan._reach.formats.sdf.writer import write_sdf
from cardan._robot.shipped import ROBOTS
from sdf_texts import TEXTS

pytest.importorskip("pydrake", reason="pip install drake")
from pydrake.math import RigidTransform, RollPitchYaw
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import FrameIndex

logging.getLogger("drake").setLevel(logging.CRITICAL)
CORPUS = os.environ.get("CARDAN_SDF_CORPUS", "")
ONE_ANGLE_EACH = ("revolute", "prismatic", "screw", "universal")


def plant_of(text: str, packages: dict[str, str]) -> Any:
    """Return Drake's plant."""
    plant = MultibodyPlant(0.0)
    parser = Parser(plant)
    for name, folder in packages.items():
        parser.package_map().Add(name, folder)
    parser.AddModelsFromString(text, "sdf")
    plant.Finalize()
    return plant


def misplaced_frames(text: str) -> set[str]:
    """Return the frames Drake puts elsewhere: fixed to another frame, with a pose in it that does not say so.

    Drake takes that pose as one in the link. libsdformat does not: links whose poses are relative to such frames are
    where cardan has them.
    """
    links = set(re.findall(r"<link name=.([\w:]+)", text))
    found = re.findall(r"<frame name=.([\w:]+). attached_to=.([\w:]+).>\s*<pose(?![^>]*relative_to)", text)
    return {name for name, other in found if other not in links}


class Both:
    """One description as both have read it, in one random state.

    Drake's v becomes cardan's by T: joints with one or two axes have the same; a ball's and a free body's are turned.
    """

    def __init__(self, text: str, packages: dict[str, str], rng: np.random.Generator) -> None:
        self.plant = plant_of(text, packages)
        self.context = self.plant.CreateDefaultContext()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            thing = cardan.load_mechanism(text.encode(), package_dirs=packages)
        hangs = [c for c in thing.model().connections if c.name not in {c.name for c in thing.joints}]
        self.model = thing.model(base="floating" if hangs else "fixed")
        self.plant.mutable_gravity_field().set_gravity_vector(self.model.gravity)
        self.misplaced = misplaced_frames(text)
        self.names = {"world", *self.model.link_names, *self.model.frame_names}
        self.T = np.zeros((self.model.nv, self.plant.num_velocities()))
        self.q, self.v = np.array(self.model.neutral()), np.zeros(self.plant.num_velocities())
        joints = [self.plant.get_joint(i) for i in self.plant.GetJointIndices()]
        for joint in (joint for joint in joints if joint.num_velocities()):
            self._set(joint, rng)
        self.plant.SetVelocities(self.context, self.v)

    def name(self, thing: Any) -> str:
        """Return what cardan calls a body or a frame."""
        name = thing.scoped_name().get_full()
        while name not in self.names and "::" in name:
            name = name.partition("::")[2]
        return name

    def _set(self, joint: Any, rng: np.random.Generator) -> None:
        """Put a joint into the same random place in both."""
        ends = {self.name(joint.parent_body()), self.name(joint.child_body())}
        (c,) = [c for c in self.model.connections if {c.parent, c.child} == ends]
        start, nv = joint.velocity_start(), joint.num_velocities()
        block = np.ix_(range(*self.model.v_slice(c.name).indices(self.model.nv)), range(start, start + nv))
        kind = joint.type_name()
        if kind in ONE_ANGLE_EACH:
            self.T[block] = np.eye(nv)
            self.v[start : start + nv] = rng.uniform(-1.0, 1.0, nv)
            q = rng.uniform(-1.5, 1.5, nv)
            positions = self.plant.GetPositions(self.context)
            positions[joint.position_start() : joint.position_start() + nv] = q
            self.plant.SetPositions(self.context, positions)
        elif kind == "ball_rpy":
            angles = rng.uniform(-1.0, 1.0, 3)
            joint.set_angles(self.context, angles)
            R = RollPitchYaw(angles).ToRotationMatrix().matrix()
            self.T[block] = R.T
            q = c.joint.nearest_configuration(cardan.SE3(R))
        else:
            X = self._free(joint, rng)
            self.T[block] = np.block([[np.zeros((3, 3)), X[:3, :3].T], [X[:3, :3].T, np.zeros((3, 3))]])
            q = c.joint.nearest_configuration(c.parent_pose.inverse() @ cardan.SE3.of(X) @ c.child_pose)
        self.q[self.model.q_slice(c.name)] = [float(e) for e in q]

    def _free(self, joint: Any, rng: np.random.Generator) -> np.ndarray:
        X = RigidTransform(RollPitchYaw(rng.uniform(-1.0, 1.0, 3)), rng.uniform(-1.0, 1.0, 3))
        self.plant.SetFreeBodyPose(self.context, joint.child_body(), X)
        return X.GetAsMatrix4()

    def poses(self) -> float:
        """Return the largest difference of a pose."""
        worst = 0.0
        things = [self.plant.get_frame(FrameIndex(i)) for i in range(self.plant.num_frames())]
        names = {self.name(thing): thing for thing in things if thing.name() not in self.misplaced}
        for name in self.names & names.keys():
            mine = np.asarray(cardan.frame_transform(self.model, self.q, name)) if name != "world" else np.eye(4)
            drakes = names[name].CalcPoseInWorld(self.context).GetAsMatrix4()
            worst = max(worst, np.abs(mine - drakes).max())
        assert len(self.names & names.keys()) > len(self.model.link_names) // 2
        return worst

    def mass(self) -> float:
        """Return the largest difference of the mass matrix, relative to its largest entry."""
        M = self.plant.CalcMassMatrix(self.context)
        mine = self.T.T @ cardan.mass_matrix(self.model, self.q) @ self.T
        return np.abs(mine - M).max(initial=0.0) / max(np.abs(M).max(initial=0.0), 1.0)

    def bias(self) -> float:
        """Return the largest difference of bias and gravity; T is constant where the velocity is not zero."""
        drakes = self.plant.CalcBiasTerm(self.context) - self.plant.CalcGravityGeneralizedForces(self.context)
        mine = self.T.T @ cardan.bias_forces(self.model, self.q, self.T @ self.v)
        return np.abs(mine - drakes).max(initial=0.0) / max(np.abs(drakes).max(initial=0.0), 1.0)


def differences(text: str, packages: dict[str, str]) -> tuple[float, float, float]:
    """Return the largest differences of poses, mass matrix and bias."""
    both = Both(text, packages, np.random.default_rng(0))
    if both.model.has_mimics:  # Drake keeps their coordinates
        return both.poses(), 0.0, 0.0
    return both.poses(), both.mass(), both.bias()


@pytest.mark.parametrize("name", [name for name in TEXTS if name not in ("mimic", "no_drake")])
def test_the_small_files_are_read_as_drake_reads_them(name: str) -> None:
    assert max(differences(TEXTS[name], {})) < 1e-10


@pytest.mark.parametrize("name", [name for name in TEXTS if name != "mimic"])
def test_what_is_written_of_them_is_read_by_drake(name: str) -> None:
    assert max(differences(write_sdf(cardan.load_mechanism(TEXTS[name].encode())).text, {})) < 1e-10


@pytest.mark.parametrize("name", ROBOTS)
def test_robots_that_ship_are_read_by_drake_when_written(name: str) -> None:
    text = write_sdf(cardan.load_mechanism(cardan.robots.urdf_path(name))).text
    assert max(differences(text, {})) < 1e-10


def for_drake(text: str, models: dict[str, str]) -> str:
    """Return a file without what Drake stumbles over and what moves nothing: looks, sensors, plain names of folders."""
    for tag in ("material", "sensor", "plugin", "initial_position", "unknown_element", "namespace"):
        text = re.sub(rf"(?s)<{tag}\b(?:[^>/]|/(?!>))*(?:/>|>.*?</{tag}>)", "", text)
    text = re.sub(r"\s(namespace|some_attribute)=\"[^\"]*\"", "", text)
    text = re.sub(r"(?s)(<joint [^>]*revolute.>)((?:(?!<axis).)*?</joint>)", r"\1<axis><xyz>0 0 1</xyz></axis>\2", text)
    named = "|".join(models)
    return re.sub(rf"<uri>\s*({named})\s*</uri>", lambda m: f"<uri>package://{m[1]}/{models[m[1]]}</uri>", text)


def newest(manifest: Path) -> str:
    """Return the newest SDF file a model.config names."""
    files = re.findall(r"<sdf(?: version=.1\.(\d+).)?>([^<]*)</sdf>", manifest.read_text())
    return max((int(version or 0), name) for version, name in files)[1] if files else ""


def corpus_files() -> list[Path]:
    """Return the files of the corpus; none where it is not named."""
    return sorted([*Path(CORPUS).rglob("*.sdf"), *Path(CORPUS).rglob("*.world")]) if CORPUS else []


@pytest.mark.full
@pytest.mark.skipif(not CORPUS, reason="CARDAN_SDF_CORPUS names no corpus")
def test_the_corpus_is_read_as_drake_reads_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(CORPUS, tmp_path / "c", dirs_exist_ok=True)
    manifests = [file for file in (tmp_path / "c").rglob("model.config") if newest(file)]
    packages = {file.parent.name: str(file.parent) for file in manifests}
    models = {file.parent.name: newest(file) for file in manifests}
    for file in (tmp_path / "c").rglob("*.sdf"):
        file.write_text(for_drake(file.read_text(), models))
    worst, compared, refused = np.zeros(3), 0, []
    for file in corpus_files():
        text = (tmp_path / "c" / file.relative_to(CORPUS)).read_text()
        try:
            plant_of(text, packages)
        except (RuntimeError, ValueError) as error:
            refused.append(file.name)
            print(file.relative_to(CORPUS), "refused by Drake:", str(error)[:200])
            continue
        try:
            if not cardan.load_mechanism(text.encode(), package_dirs=packages).bodies:
                continue
            found = differences(text, packages)
        except cardan.CardanError as error:
            print(file.name, "refused by cardan:", str(error)[:200])
            continue
        print(file.relative_to(CORPUS), *found)
        worst, compared = np.maximum(worst, found), compared + 1
    with capsys.disabled():
        print(f"{compared} files compared; worst of poses, M, bias: {worst}; Drake refuses {len(refused)}")
    assert compared > 50
    assert worst.max() < 1e-10
