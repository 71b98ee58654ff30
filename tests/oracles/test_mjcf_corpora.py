"""MJCF of four corpora, read here and by MuJoCo: the same masses, forces, poses and Jacobians.

`python tests/oracles/mjcf_corpora.py` prints the table of docs/mjcf.md.
"""

import pytest

mujoco = pytest.importorskip("mujoco", reason="needs the `mujoco` extra", exc_type=ImportError)

from mjcf_corpora import CORPORA, agreement, files, folder_of  # noqa: E402

HANDFUL = (
    "dm_control/suite/humanoid.xml",
    "dm_control/suite/fish.xml",
    "gymnasium/envs/mujoco/assets/half_cheetah.xml",
    "gymnasium_robotics/envs/assets/kitchen_franka/kitchen_assets/kitchen_env_model.xml",
    "robosuite/models/assets/robots/panda/robot.xml",
)


def check(corpus, file):
    result = agreement(corpus, file)
    if result.theirs:
        assert result.outcome != "read" or result.warnings
        pytest.skip(f"MuJoCo refuses it: {result.theirs}")
    if result.outcome == "sprung":
        pytest.skip("it is welded to a body that motion capture moves: by springs here, which MuJoCo's model has not")
    assert result.outcome in ("read", "nothing to move"), result.reason
    assert result.worst < 1e-10


@pytest.mark.parametrize("name", HANDFUL)
def test_a_handful_of_each_corpus(name):
    corpus, _, inside = name.partition("/")
    if folder_of(corpus) is None:
        pytest.skip(f"needs the `corpora` extra: {corpus}")
    check(corpus, folder_of(corpus) / inside)


@pytest.mark.full
@pytest.mark.parametrize(("corpus", "file"), [(c, f) for c in CORPORA for f in files(c)], ids=str)
def test_all_of_each_corpus(corpus, file):
    check(corpus, file)
