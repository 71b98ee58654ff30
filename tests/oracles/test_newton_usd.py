"""Files of USD in Newton's wheel: read, and read as Newton reads them.

Newton's own reading needs an interpreter that has it (newton, warp-lang, newton-usd-schemas), which the environment
variable CARDAN_NEWTON_PYTHON names.
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import pytest

import cardan
import linkages
from cardan._reach.formats.load import describe
from cardan._reach.formats.reading import Options
from compare_newton_usd import differences, newtons, ours

pytest.importorskip("pxr", reason="the extra usd is not installed")
SPEC = find_spec("newton")
FOLDER = Path(SPEC.origin).parent if SPEC is not None and SPEC.origin else None
pytestmark = pytest.mark.skipif(FOLDER is None, reason="Newton's files are not installed (extra corpora)")

NO_BODIES = [
    "bear", "bunny", "crazyflie", "curvedSurface", "mpm_sand", "rj45_plug", "unisex_shirt", "deformables_mixed",
    "mpm_material_subsets", "mpm_two_prims", "tetmesh_custom_attrs", "tetmesh_multi", "tetmesh_simple",
    "tetmesh_with_legacy_material", "tetmesh_with_material",
]  # fmt: skip
"""Cloth, cables, particles and meshes alone."""
SAMPLE = (
    "examples/assets/cartpole.usda",
    "tests/assets/ant_mixed.usda",
    "tests/assets/negative_scale_mesh_pair.usda",
    "tests/assets/pendulum_revolute_vs_d6.usda",
    "tests/assets/kamino/basics/boxes_fourbar.usda",
    "tests/assets/kamino/testing/joints/test_joint_d6_cylindrical_actuated.usda",
)
EXPLAINED = {
    "actuator_test": "pose",  # the prims stand where their joints cannot put them; so with those of one axis locked
    "four_link_chain_articulation": "pose",
    **{
        f"test_joint_d6_{kind}_{how}": "pose"
        for kind in ("revolute", "spherical", "universal") for how in ("actuated", "passive")
    },
    "humanoid_mjc": "joint",  # Newton sorts joints between two bodies by name; their rotations do not commute
    "mjc_schema_import": "pose joint",  # MuJoCo computes the second anchor, which UsdPhysics states; a mimic's offset
}  # fmt: skip
"""What may differ, by the word its line begins with (docs/usd.md says why)."""


def files() -> list[Path]:
    return sorted(FOLDER.rglob("*.usd*")) if FOLDER is not None else []


@pytest.mark.full
def test_every_file_with_a_rigid_body_is_read() -> None:
    assert len(files()) == 90
    for file in files():
        found = describe(file, Options(orphans="keep"))
        if file.stem in NO_BODIES:
            assert [fault.message for fault in found.report.errors] == [
                "has no rigid body: no prim has the PhysicsRigidBodyAPI"
            ], file
        else:
            assert found.report.errors == [], file
            assert found.thing is not None
            assert found.thing.model().nv >= 0


def compare(paths: list[str]) -> None:
    theirs = newtons(os.environ["CARDAN_NEWTON_PYTHON"], paths)
    for path in paths:
        mine, _ = ours(path)
        if mine is not None:
            allowed = EXPLAINED.get(Path(path).stem, "").split()
            unexplained = [line for line in differences(mine, theirs[path]) if line.split()[0] not in allowed]
            assert unexplained == [], path


WRITTEN = {
    "arm": lambda: cardan.robots.arm7().model(),
    "dog": lambda: cardan.robots.quadruped().model(base="floating"),
    "humanoid": lambda: cardan.robots.humanoid().model(base="floating"),
    "four_bar": lambda: cardan.robots.four_bar().model(),
    "stewart": lambda: cardan.robots.stewart_platform().model(),
    "delta": lambda: linkages.delta().model(),
    "excavator": lambda: linkages.excavator().model(),
}

needs_newton = pytest.mark.skipif("CARDAN_NEWTON_PYTHON" not in os.environ, reason="CARDAN_NEWTON_PYTHON is not set")


@needs_newton
def test_samples_are_as_newton_reads_them() -> None:
    compare([str(FOLDER / name) for name in SAMPLE])  # pyright: ignore[reportOptionalOperand]


@needs_newton
@pytest.mark.full
def test_all_files_are_as_newton_reads_them_or_explained() -> None:
    compare([str(file) for file in files()])


@needs_newton
@pytest.mark.filterwarnings("ignore::cardan.errors.DescriptionWarning")
def test_what_is_written_is_as_newton_reads_it(tmp_path: Path) -> None:
    for name, make in WRITTEN.items():
        cardan.save(make(), tmp_path / f"{name}.usda")
    compare([str(tmp_path / f"{name}.usda") for name in WRITTEN])
