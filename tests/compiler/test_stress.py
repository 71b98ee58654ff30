"""The stress program, small."""

import sys

import pytest

import stress
from cardan._compiler import targets

pytestmark = [
    pytest.mark.skipif(targets.default_target() != "llvm", reason="stresses the llvm target and its cache"),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="signals, /proc and fork as on Linux"),
]


def test_threads_agree_bit_for_bit():
    assert stress.threads(evaluations=40_000) == 0


def test_memory_stays_flat():
    assert stress.memory_of_calls(20_000) < 2.0


@pytest.mark.full
def test_models_that_are_dropped_leave_nothing():
    assert stress.memory_of_models(150) < 6.0


@pytest.mark.full  # tests/compiler/test_llvm.py starts some, too
def test_processes_at_once():
    assert stress.empty_cache(4)[0]


@pytest.mark.full
def test_a_killed_compile_leaves_nothing_wrong():
    assert stress.killed(2)[0]


@pytest.mark.full
def test_a_full_disk_is_no_reason_to_fail():
    assert stress.full_disk()[0]


@pytest.mark.full
@pytest.mark.parametrize("every", [8, 1])
def test_damage_is_seen_and_mended(every):
    assert stress.damaged(every)[0]


@pytest.mark.full  # tests/compiler/test_llvm.py has such places
def test_unsafe_places():
    assert all(stress.unsafe_places().values())


@pytest.mark.full
def test_forked_children_have_threads_of_their_own():
    assert stress.forked() == (True, "")


@pytest.mark.full
def test_after_an_interrupt_nothing_is_written():
    assert stress.interrupted(100) == 0
