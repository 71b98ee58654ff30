"""The stress program, small. What a test checks is said in `stress.py`."""

import sys

import pytest

import cardan
import stress

pytestmark = [
    pytest.mark.skipif(cardan.program.default_target() != "llvm", reason="stresses the llvm target and its cache"),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="signals, /proc and fork as on Linux"),
]


def test_threads_agree_bit_for_bit():
    assert stress.threads(evaluations=40_000) == 0


def test_first_compiled_by_many_threads_at_once():
    assert stress.races(rounds=15) == "right"


def test_memory_of_calls_stays_flat():
    assert stress.growth(stress.memory_of_calls(40_000)) < 1.0


def test_memory_of_models_that_come_and_go_stays_flat():
    assert stress.growth(stress.memory_of_models(200, compiled=False)) < 1.0


def test_memory_of_compiling_stays_flat():
    assert stress.growth(stress.memory_of_models(200, compiled=True)) < 1.0


def test_processes_at_once():
    wrong, files = stress.empty_cache(4)
    assert wrong == 0
    assert set(files) == {".obj"}


def test_a_killed_process_leaves_nothing_wrong():
    assert [ended for ended, _ in stress.killed(3).values()] == ["right", "right"]


def test_a_full_disk_is_no_reason_to_fail():
    assert set(stress.full_disk().values()) == {"right"}


def test_damage_is_seen_and_mended():
    assert stress.damaged(flips=5).endswith("right")


def test_unsafe_places():
    found = stress.unsafe_places()
    for place in ("ours", "a link above ours", "read-only"):
        assert found.pop(place) == ("right found", "")
    assert found.pop("a file") == ("right compiled", "")
    for place, (done, said) in found.items():
        assert done == "right compiled", place
        assert said.startswith("cache not used: "), place
    assert "a link; name what it points to" in found["a link to ours"][1]


def test_forked_and_spawned_children_have_threads_of_their_own():
    assert set(stress.forked(5).values()) == {"right"}


def test_forked_while_another_thread_compiles():
    assert stress.forked_while_compiling(2) == "right"


def test_an_interrupt_ends_a_long_batch_and_harms_nothing():
    assert set(stress.interrupted(100_000, 5).values()) == {"right"}


def test_at_exit_and_without_a_home():
    assert set(stress.odd_ends().values()) == {"right"}
