"""Memory of large results: used again, and never while anybody can see it."""

import copy
import gc
import os
import pickle
import random
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

import cardan
from cardan._compiler.runtime import memory

SIZE = 2**17  # entries: 1 MB
DOUBLE = np.dtype(np.float64)


def address(array):
    return array.__array_interface__["data"][0]


@pytest.fixture
def blocks():
    return memory.MemoryBlocks()


def again(blocks, shape=(SIZE,)):
    """Return where the next array of that shape is."""
    return address(blocks.empty(shape, DOUBLE))


def test_memory_that_nobody_sees_is_used_again(blocks):
    first = blocks.empty((4, SIZE // 4), DOUBLE)
    assert (first.shape, first.dtype, first.flags.c_contiguous, first.flags.writeable) == ((4, SIZE // 4), DOUBLE, 1, 1)
    assert first.dtype is DOUBLE  # NumPy's own object: the quick way of the next call
    place = address(first)
    assert again(blocks) != place
    del first
    assert again(blocks) == place
    assert again(blocks, (2, SIZE // 2)) == place
    assert again(blocks, (SIZE * 3 // 5,)) == place  # not much too large
    assert again(blocks, (SIZE // 3,)) != place
    assert again(blocks, (SIZE + 1,)) != place


def torch_of(array):
    return pytest.importorskip("torch").from_numpy(array)


def exported(array):
    return pytest.importorskip("torch").from_dlpack(array)


SEEN = {
    "a view": lambda a: a[1:3],
    "a view of a view": lambda a: a.reshape(4, -1)[1:].T[::2].view(np.uint64)[..., None],
    "one entry": lambda a: a[5:6].reshape(()),
    "its iterator": lambda a: a.flat,
    "rows of it": lambda a: iter(a.reshape(4, -1)),
    "memoryview": memoryview,
    "bytes of a memoryview": lambda a: memoryview(a).cast("B")[8:16],
    "np.from_dlpack": np.from_dlpack,
    "a capsule of DLPack": lambda a: a.__dlpack__(),
    "torch.from_numpy": torch_of,
    "torch.from_dlpack": exported,
    "np.frombuffer": lambda a: np.frombuffer(a, np.float32),
    "a subclass": lambda a: a.view(type("Own", (np.ndarray,), {})),
    "as_strided": lambda a: np.lib.stride_tricks.as_strided(a, (3,), (8,)),
    "broadcast_to": lambda a: np.broadcast_to(a, (2, SIZE)),
    "a record": lambda a: a.view([("x", float)])[3],
    "ctypes": lambda a: a.ctypes.data_as(__import__("ctypes").c_void_p),
    "its base": lambda a: a.base,
    "its base's base": lambda a: np.asarray(a.base),
    "a masked array": np.ma.asarray,
    "a generator": lambda a: (print(a) for _ in range(2)),
    "a pickle out of band": lambda a: pickled_out_of_band(a),
}


def pickled_out_of_band(array):
    buffers = []
    pickle.dumps(array, protocol=5, buffer_callback=buffers.append)
    return buffers


@pytest.mark.parametrize("seen", SEEN.values(), ids=list(SEEN))
def test_memory_that_somebody_sees_is_not_used_again(blocks, seen):
    array = blocks.empty((SIZE,), DOUBLE)
    array[...] = 1.0
    place, other = address(array), seen(array)
    del array
    gc.collect()
    assert again(blocks) != place
    blocks.clear()
    del other
    gc.collect()
    assert again(blocks) == place


def test_copies_are_no_views(blocks):
    array = blocks.empty((SIZE,), DOUBLE)
    array[...] = np.arange(SIZE)
    others = [array.copy(), copy.copy(array), copy.deepcopy(array), pickle.loads(pickle.dumps(array))]
    place = address(array)
    del array
    newer = blocks.empty((SIZE,), DOUBLE)
    newer[...] = -1.0
    assert address(newer) == place
    for other in others:
        np.testing.assert_array_equal(other, np.arange(SIZE))


def test_a_loan_cannot_be_doubled(blocks):
    array = blocks.empty((SIZE,), DOUBLE)
    for doubled in (copy.copy, copy.deepcopy, pickle.dumps):
        loan = array
        while isinstance(loan, np.ndarray):
            loan = loan.base
        with pytest.raises(TypeError, match="copy the array"):
            doubled(loan)


def test_memory_of_others_is_not_resized(blocks):
    array = blocks.empty((SIZE,), DOUBLE)
    with pytest.raises(ValueError, match="does not own its data"):
        array.resize(2 * SIZE, refcheck=False)


def test_an_array_that_a_finalizer_brings_back_keeps_its_memory(blocks):
    class Keeper:
        def __del__(self):
            saved.append(self.array)

    saved, keeper = [], Keeper()
    keeper.array, keeper.cycle = blocks.empty((SIZE,), DOUBLE), keeper
    watch, place = weakref.ref(keeper.array), address(keeper.array)
    del keeper
    gc.collect()
    assert again(blocks) != place
    assert address(saved[0]) == place
    saved.clear()
    gc.collect()
    assert watch() is None
    assert again(blocks) == place


@pytest.mark.parametrize("shown", [lambda loan: loan, np.asarray], ids=["the loan", "a new array of it"])
def test_a_loan_that_a_finalizer_brings_back_keeps_its_memory(blocks, shown):
    """The collector finalizes all of a ring: the loan, too, although what is in the ring shows its memory again."""

    class Keeper:
        def __del__(self):
            saved.append(shown(self.loan))

    saved, keeper = [], Keeper()
    keeper.loan, keeper.cycle = blocks.empty((SIZE,), DOUBLE), keeper
    place = address(keeper.loan)
    while isinstance(keeper.loan, np.ndarray):
        keeper.loan = keeper.loan.base
    del keeper
    gc.collect()
    seen = np.asarray(saved[0])
    assert address(seen) == place
    assert again(blocks) != place
    blocks.clear()
    saved.clear()
    del seen
    gc.collect()
    assert again(blocks) == place


def test_what_is_kept_is_bounded():
    blocks = memory.MemoryBlocks(kept=3, most=4 * 8 * SIZE)
    many = [blocks.empty((SIZE,), DOUBLE) for _ in range(7)]
    assert blocks.bytes == 0  # what is in use is the user's
    del many
    assert blocks.bytes == 3 * 8 * SIZE
    blocks.empty((2 * SIZE + 2,), DOUBLE)
    assert blocks.bytes <= 4 * 8 * SIZE
    blocks.empty((9 * SIZE,), DOUBLE)
    assert blocks.bytes == 0
    blocks.clear()


def test_threads_never_share_a_block():
    blocks, wrong = memory.MemoryBlocks(kept=2), []

    def work(number):
        rng, held = random.Random(number), []
        for k in range(400):
            array = blocks.empty((SIZE // 64,), DOUBLE)
            array[...] = 1000 * number + k
            held.append((array, 1000 * number + k))
            if len(held) > rng.randrange(4):
                array, value = held.pop(rng.randrange(len(held)))
                if not np.all(array == value):
                    wrong.append(value)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.setswitchinterval(before)
    assert not wrong


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # that it has threads
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_child_has_memory_of_its_own(blocks):
    array, spare = blocks.empty((SIZE,), DOUBLE), blocks.empty((SIZE,), DOUBLE)
    array[...], spare[...] = 1.0, 1.0
    place = address(spare)
    del spare
    child = os.fork()
    if child == 0:
        own = blocks.empty((SIZE,), DOUBLE)
        own[...] = 2.0
        os._exit(0 if address(own) == place and array[0] == 1.0 else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert np.all(array == 1.0)
    assert np.all(blocks.empty((SIZE,), DOUBLE) == 1.0)


@pytest.fixture(scope="module")
def arm():
    return cardan.robots.arm7().model()


ROWS = 4096  # mass matrices of 1.6 MB


def test_large_results_are_lent_again_and_earlier_ones_stay(arm):
    q = arm.random_configuration((ROWS,), seed=0)
    for call in (lambda q: cardan.mass_matrix(arm, q), cardan.mass_matrix.bind(arm)):
        cardan.clear_memory()
        first, expected = call(q), cardan.mass_matrix.on("numpy")(arm, q[:3])
        kept = [call(q[::-1].copy()) for _ in range(6)]
        np.testing.assert_allclose(first[:3], expected, rtol=1e-12, atol=1e-12)
        for other in kept:
            np.testing.assert_array_equal(other[::-1], first)
        assert len({address(a) for a in (first, *kept)}) == 7


@pytest.mark.parametrize(
    "size", [memory.ALIGNED, memory.ALIGNED + 8, memory.LEAST - 8, memory.LEAST, 4 * memory.LEAST + 8]
)
def test_large_results_begin_at_a_line_of_the_cache(size):
    """At 16 mod 64, where C's allocator puts them, each store of 64 bytes crossed two lines."""
    for _ in range(3):  # new, and lent again
        kept = [memory.empty((size // 8,), DOUBLE), memory.empty((size // 8, 1), DOUBLE)]
        assert [address(x) % 64 for x in kept] == [0, 0]
        assert [(x.nbytes, x.flags.c_contiguous, x.flags.writeable) for x in kept] == 2 * [(size, True, True)]
        del kept


def test_results_of_calls_begin_at_a_line_of_the_cache(arm):
    """Where rows are multiples of half a line; other rows lie across lines wherever they begin."""
    q, pose = arm.random_configuration((2 * ROWS,), seed=0), cardan.frame_transform
    for call in (lambda q: pose(arm, q, "tool"), pose.bind(arm, frame="tool")):
        for rows in (1024, 1500, ROWS, 2 * ROWS):  # 131 kB and more
            assert [address(call(q[:rows])) % 64 for _ in range(3)] == [0, 0, 0]


@pytest.mark.full
def test_the_environment_turns_it_off(arm):
    code = (
        "import numpy as np\nfrom cardan._compiler.runtime import memory\n"
        f"print(memory.empty(({SIZE},), np.dtype(float)).flags.owndata)\n"
    )
    for value, owns in (("0", "True"), ("", "False")):
        environment = {**os.environ, "CARDAN_MEMORY_POOL": value}
        found = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
        )
        assert found.stdout.strip() == owns


def test_what_outlives_the_modules_is_freed_in_silence():
    code = (
        "import builtins, numpy as np\nfrom cardan._compiler.runtime import memory\n"
        f"builtins.late = memory.empty(({SIZE},), np.dtype(float))\n"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (found.returncode, found.stderr) == (0, "")


def test_what_comes_back_while_a_block_is_looked_for_is_bounded_too():
    """By another thread, or by the collector, between any two lines: what had been looked at came on top of it."""
    blocks = memory.MemoryBlocks(kept=2)
    lent = [blocks.empty((SIZE,), DOUBLE) for _ in range(4)]
    del lent[2:]

    def give_back(*_):
        if lent and not blocks.bytes:  # all that waited are being looked at
            lent.clear()
        return give_back

    before = sys.gettrace()
    sys.settrace(give_back)
    try:
        asked = blocks.empty((4 * SIZE,), DOUBLE)
    finally:
        sys.settrace(before)
    assert (asked.size, lent) == (4 * SIZE, [])
    assert blocks.bytes <= 2 * SIZE * DOUBLE.itemsize
