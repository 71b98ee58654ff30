"""`pytest --affected`: what a change can break is run, nearest first; no other test."""

import pytest

from affected import is_affected, rank

MOTION = "motion/test_world.py"


@pytest.mark.parametrize(
    ("changed", "place", "is_run"),
    [
        ("src/cardan/_robot/joints/joint.py", MOTION, True),  # a wing above
        ("src/cardan/_motion/tasks/task.py", MOTION, True),
        ("src/cardan/_reach/formats/load.py", MOTION, False),  # the contracts say that motion cannot import it
        ("src/cardan/__init__.py", MOTION, True),  # everything's
        ("pyproject.toml", MOTION, True),
        ("tests/motion/test_world.py", MOTION, True),
        ("tests/motion/test_state.py", MOTION, False),
        ("docs/faq.md", MOTION, False),
        ("docs/faq.md", "project/test_docs.py", True),
    ],
)
def test_what_a_change_can_break_is_run(changed, place, is_run):
    assert is_affected(place, {changed}) == is_run


def test_changed_tests_come_first_then_the_lowest_wing():
    changed = {"src/cardan/_dynamics/algorithms/rnea.py", "tests/motion/test_world.py"}
    places = ["oracles/test_mujoco.py", "reach/test_urdf.py", "dynamics/test_laws.py", MOTION]
    assert sorted(places, key=lambda place: rank(place, changed)) == [MOTION, *reversed(places[:3])]
