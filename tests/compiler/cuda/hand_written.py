"""A kernel written by hand, with the arguments and staging that generated ones have: (x0 + x1, x0 * x1, w x2)."""

from typing import NamedTuple


class Code(NamedTuple):
    """What launching a kernel needs, as `targets.cuda` gives it."""

    source: str
    name: str
    threads: int
    states: int
    shared: int


_SOURCE = """
typedef REAL real;
extern "C" __global__ void __launch_bounds__(64) by_hand(
    long long count, const real *x, long long x_stride, const real *w, long long w_stride, real *y, long long y_stride)
{
    extern __shared__ double shared[];
    const long long start = (long long)blockIdx.x * 64 + threadIdx.x / 32 * 32;
    const unsigned lane = threadIdx.x % 32;
    real *const rows = (real *)shared + threadIdx.x / 32 * 96;
    const long long left = count - start;
    const int here = left < 32 ? (left > 0 ? (int)left : 0) : 32;
    if (x_stride == 0) {
        for (int n = 0; n < 3; n++) rows[3 * lane + n] = x[n];
    } else {
        for (unsigned k = lane; k < 3 * here; k += 32) rows[k] = x[(start + k / 3) * x_stride + k % 3];
    }
    FIRST
    const real a = rows[3 * lane], b = rows[3 * lane + 1], c = rows[3 * lane + 2];
    const long long state = start + lane < count ? start + lane : count - 1;
    const real scale = w[state * w_stride];
    rows[3 * lane] = a + b;
    rows[3 * lane + 1] = a * b;
    rows[3 * lane + 2] = fma(scale, c, (real)0);
    SECOND
    for (unsigned k = lane; k < 3 * here; k += 32) y[(start + k / 3) * y_stride + k % 3] = rows[k];
}
"""


def by_hand(single=False, first="__syncwarp();", second="__syncwarp();"):
    """Return the kernel; what waits behind the loads and before the results are staged may be left out."""
    source = _SOURCE.replace("REAL", "float" if single else "double").replace("FIRST", first).replace("SECOND", second)
    return Code(source, "by_hand", 64, 64, 64 * 3 * (4 if single else 8))
