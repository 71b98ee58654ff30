"""CuPy's arrays in, CuPy's arrays out."""

import fake_cupy
import numpy as np
import pytest

import cardan
from cardan.errors import DTypeError


@pytest.fixture
def cupy(device, monkeypatch):
    if device is None:
        yield pytest.importorskip("cupy", reason="CuPy is not installed")
        return
    with fake_cupy.installed(monkeypatch) as module:
        yield module


@pytest.fixture(scope="module")
def pendulum():
    return cardan.robots.double_pendulum().model()


def states(model, shape, seed=0):
    rng = np.random.default_rng(seed)
    return [model.random_configuration(shape, seed=seed), *rng.normal(size=(2, *shape, model.nv))]


@pytest.mark.slow
def test_values(device, cupy, pendulum):
    q, v, a = states(pendulum, (30,))
    found = cardan.inverse_dynamics(pendulum, *map(cupy.asarray, (q, v, a)))
    assert isinstance(found, cupy.ndarray)
    np.testing.assert_array_equal(found.get(), cardan.inverse_dynamics(pendulum, q, v, a))
    bound = cardan.inverse_dynamics.bind(pendulum)
    np.testing.assert_array_equal(bound(*map(cupy.asarray, (q, v, a))).get(), found.get())


@pytest.mark.slow
def test_views_are_taken_as_they_are_or_copied_there(device, cupy, pendulum):
    q, v, a = states(pendulum, (6,))
    dq, dv, da = map(cupy.asarray, (q, v, a))
    found = cardan.inverse_dynamics(pendulum, dq[::-2], dv[::2], da[0])
    np.testing.assert_array_equal(found.get(), cardan.inverse_dynamics(pendulum, q[::-2], v[::2], a[0]))
    pieces = cupy.asarray(np.ascontiguousarray(q.T)).T
    found = cardan.inverse_dynamics(pendulum, pieces, dv, da)
    np.testing.assert_array_equal(found.get(), cardan.inverse_dynamics(pendulum, q, v, a))
    found = cardan.inverse_dynamics(pendulum, dq[:, None], dv, da)
    np.testing.assert_array_equal(found.get(), cardan.inverse_dynamics(pendulum, q[:, None], v, a))


@pytest.mark.slow
def test_its_current_stream_and_device(device, cupy, pendulum):
    if device is None:
        pytest.skip("asks for two devices")
    q, v, a = states(pendulum, (6,))
    fake_cupy.STREAMS[1] = device.stream(device=1)
    with cupy.cuda.Device(1):
        arrays = [*map(cupy.asarray, (q, v, a))]
    found = cardan.inverse_dynamics(pendulum, *arrays)  # the current device is another one
    assert found.device.id == 1
    assert device.launches[-1][3] == fake_cupy.STREAMS[1]
    fake_cupy.STREAMS.clear()


def test_what_is_refused(device, cupy, pendulum):
    q, v, a = states(pendulum, (6,))
    dq, dv, da = map(cupy.asarray, (q, v, a))
    for arrays, said in (
        ((dq, v, da), "'v' is a numpy.ndarray, expected a cupy.ndarray on device 0"),
        ((dq, dv, cupy.asarray(a.astype(np.float32))), "'a' is float32, expected float64, as 'q' is"),
        ((cupy.asarray(np.zeros((6, 2), int)), dv, da), "'q' is a cupy.ndarray of int64, expected one of float64"),
        ((cupy.asarray(q.astype(np.float16)), dv, da), "'q' is a cupy.ndarray of float16"),
    ):
        with pytest.raises(DTypeError, match=said):
            cardan.inverse_dynamics(pendulum, *arrays)


def test_entries_between_others_are_refused(emulation, monkeypatch, pendulum):
    """As fields of records are: their strides are no whole entries, and were rounded down."""
    _, v, a = states(pendulum, (6,))
    records = np.zeros(6, [("q", "f8", (2,)), ("number", "i4")])
    with fake_cupy.installed(monkeypatch) as cupy:
        between = fake_cupy.ndarray(records["q"], 0)
        with pytest.raises(DTypeError, match=r"strides \(20, 8\), expected multiples of 8 bytes"):
            cardan.inverse_dynamics(pendulum, between, cupy.asarray(v), cupy.asarray(a))
