"""Where rows lie: strides of views, checked against NumPy's own; counts of more than 31 bits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes

from cardan._compiler.targets.buffers import Buffer, overlap, row_stride

DOUBLE = np.dtype(np.float64)


def stride_of(array, core, batch):
    return row_stride(array.shape, [s // array.itemsize for s in array.strides], core, batch)


X = np.zeros((6, 5, 4, 3))


@pytest.mark.parametrize(
    ("array", "core", "batch", "expected"),
    [
        (X, (4, 3), (6, 5), 12),
        (X, (3,), (6, 5, 4), 3),
        (X, (), X.shape, 1),
        (X[0, 0], (4, 3), (6, 5), 0),  # all states share a row
        (X[0, 0], (4, 3), (), 0),
        (X[:, :1], (4, 3), (6, 1), 60),
        (X[:, 0], (4, 3), (6,), 60),
        (X[::2, 0], (4, 3), (3,), 120),
        (X[::-1, 0], (4, 3), (6,), -60),
        (X[::-1, ::-1], (4, 3), (6, 5), -12),
        (X[::-1], (4, 3), (6, 5), None),  # two steps
        (X[:, :3], (4, 3), (6, 3), None),
        (X[:, :1], (4, 3), (6, 5), None),  # a row for five states, then another
        (X[0], (4, 3), (6, 5), None),
        (X[..., ::-1], (4, 3), (6, 5), None),  # a row in pieces
        (X[..., :2], (4, 2), (6, 5), None),
        (X[:, :, :1], (1, 3), (6, 5), 12),
        (X[:0], (4, 3), (0, 5), 0),
        (X[..., :0], (4, 0), (6, 5), 12),
    ],
)
def test_rows_of_views(array, core, batch, expected):
    assert stride_of(array, core, batch) == expected


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(st.data())
def test_a_stride_leads_to_every_row(data):
    whole = np.arange(np.prod(shape := data.draw(array_shapes(max_dims=4, max_side=4)))).reshape(shape)
    steps = [slice(None, None, data.draw(st.sampled_from([1, 1, -1, 2]))) for _ in shape]
    array = whole[tuple(steps)]
    rank = data.draw(st.integers(0, array.ndim))
    core, lead = array.shape[rank:], array.shape[:rank]
    batch = (*data.draw(array_shapes(min_dims=1, max_dims=1, max_side=3)), *lead)
    stride = stride_of(array, core, batch)
    rows = np.broadcast_to(array, (*batch, *core)).reshape(-1, int(np.prod(core)))
    if stride is not None:
        first = (array.ravel()[0]) if array.size else 0
        expected = first + stride * np.arange(len(rows))[:, None] + np.arange(rows.shape[1])
        np.testing.assert_array_equal(rows, expected)
    else:
        assert len(rows) > 1 or np.ascontiguousarray(array).strides != array.strides


def test_memory_of_buffers():
    a = Buffer(1000, 4, 3, 3, DOUBLE, 0)
    assert a.span == (1000, 1000 + 4 * 3 * 8)
    backwards = Buffer(1000, 4, 3, -3, DOUBLE, 0)
    assert backwards.span == (1000 - 3 * 3 * 8, 1000 + 3 * 8)
    assert overlap(a, backwards)
    assert not overlap(a, a._replace(address=1000 + 96))
    assert not overlap(a, a._replace(device=1))
    assert not overlap(a, a._replace(rows=0))
    huge = Buffer(0, 2**31 + 1, 7, 7, DOUBLE, 0)
    assert huge.span == (0, (2**31 + 1) * 56)
