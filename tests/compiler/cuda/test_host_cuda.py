"""The host that runs kernels without a device: right for a right kernel, and it tells a broken one."""

import numpy as np
import pytest
from hand_written import by_hand
from host_cuda import ORDERS, HostKernel, LaunchError, needs_compiler

pytestmark = needs_compiler


def run(code, x, w, order="forward", seed=1):
    y = np.full((len(x), 3), np.nan, x.dtype)
    strides = [array.strides[0] // array.itemsize if len(array) > 1 else 0 for array in (x, w)]
    arguments = [len(x), x.ctypes.data, strides[0], w.ctypes.data, strides[1], y.ctypes.data, 3]
    kernel = HostKernel(code.source, code.name)
    kernel.launch(-(-len(x) // code.states), code.threads, code.shared, arguments, order, seed)
    return y


def expected(x, w):
    return np.stack([x[:, 0] + x[:, 1], x[:, 0] * x[:, 1], w[:, 0] * x[:, 2]], axis=1)


def states(count, dtype=np.float64):
    rng = np.random.default_rng(0)
    return rng.normal(size=(count, 3)).astype(dtype), rng.normal(size=(count, 1)).astype(dtype)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("count", [1, 31, 64, 65, 200])
def test_every_order_gives_the_same(order, count):
    x, w = states(count)
    np.testing.assert_array_equal(run(by_hand(), x, w, order), expected(x, w))


def test_single_precision_and_a_row_that_all_states_share():
    x, w = states(70, np.float32)
    np.testing.assert_array_equal(run(by_hand(single=True), x, w[:1], "shuffled"), expected(x, w[:1]))


@pytest.mark.parametrize("missing", ["first", "second"])
def test_a_missing_barrier_shows(missing):
    x, w = states(64)
    code = by_hand(**{missing: ""})
    tried = [(order, seed) for order in ORDERS for seed in ([1, 2, 3] if order == "shuffled" else [1])]
    right = [np.array_equal(run(code, x, w, *how), expected(x, w)) for how in tried]
    assert not all(right)
    assert not all(right[2:])  # shuffled orders alone


def test_a_thread_that_ends_while_others_wait():
    x, w = states(40)
    code = by_hand(first="if (lane == 7) return; __syncwarp();")
    with pytest.raises(LaunchError, match=r"1 threads of 0 to 31 ended while \d+ wait at __syncwarp"):
        run(code, x, w)


def test_threads_at_different_barriers():
    x, w = states(64)
    code = by_hand(first="if (threadIdx.x < 32 && lane < 5) __syncthreads(); else __syncwarp();")
    with pytest.raises(LaunchError, match="wait"):
        run(code, x, w)


def test_more_shared_memory_than_was_asked_for():
    x, w = states(64)
    code = by_hand()._replace(shared=64 * 3 * 8 - 8)
    with pytest.raises(LaunchError, match="shared memory"):
        run(code, x, w)


def test_what_a_compiler_says_is_told():
    with pytest.raises(LaunchError, match="undeclared_thing"):
        HostKernel('extern "C" __global__ void f(long long count) { undeclared_thing(); }', "f")


def test_lanes_exchange_what_they_hold():
    source = """extern "C" __global__ void sums(long long count, const double *x, double *y) {
        double value = x[threadIdx.x];
        for (int mask = 16; mask; mask /= 2) value += __shfl_xor_sync(0xffffffffu, value, mask);
        __shared__ double total[2];
        if (threadIdx.x % 32 == 0) total[threadIdx.x / 32] = value;
        __syncthreads();
        y[threadIdx.x] = total[0] + total[1];
    }"""
    x, y = np.arange(64.0), np.empty(64)
    for order in ORDERS:
        HostKernel(source, "sums").launch(1, 64, 0, [64, x.ctypes.data, y.ctypes.data], order)
        np.testing.assert_array_equal(y, x.sum())
