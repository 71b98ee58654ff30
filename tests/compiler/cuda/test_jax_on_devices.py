"""JAX on devices: what is lowered for them, and the handler, called as XLA would, on an emulated device."""

import ctypes

import numpy as np
import pytest
from nvrtc import needs_nvrtc

import cardan
from cardan._compiler.targets.cuda.driver import driver
from cardan._compiler.targets.llvm import xla_layout as at
from cardan._compiler.targets.llvm.xla import Handler
from cardan.interop.jax import wrap

INVALID_ARGUMENT, INTERNAL = at.INVALID_ARGUMENT, at.INTERNAL


class Buffer(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("extension", ctypes.c_void_p),
        ("dtype", ctypes.c_int),
        ("data", ctypes.c_void_p),
        ("rank", ctypes.c_longlong),
        ("dims", ctypes.c_void_p),
    ]


class Frame:
    """A call as XLA makes it: by the offsets of its own header, in memory that is kept here."""

    def __init__(self, inputs, outputs, stream):
        self.words = (ctypes.c_size_t * 24)()
        self.api = (ctypes.c_size_t * 32)()
        self.kept, self.errors, self.stream, self.destroyed = [], [], stream, 0
        kind = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_size_t)
        self.functions = [kind(self.error), kind(self.destroy), kind(self.streamed)]
        for offset, f in zip((at.API_ERROR, at.API_ERROR_DESTROY, at.API_STREAM), self.functions, strict=True):
            self.api[offset // 8] = ctypes.cast(f, ctypes.c_void_p).value
        self.words[at.FRAME_API // 8] = ctypes.addressof(self.api)
        self.words[at.FRAME_CONTEXT // 8] = 4711
        for start, arrays in ((at.FRAME_INPUTS, inputs), (at.FRAME_OUTPUTS, outputs)):
            self.words[(start + at.COUNT) // 8] = len(arrays)
            self.words[(start + at.ITEMS) // 8] = self.pointers([self.buffer(x) for x in arrays])

    def pointers(self, items):
        self.kept.append((ctypes.c_size_t * max(len(items), 1))(*items))
        return ctypes.addressof(self.kept[-1])

    def buffer(self, array):
        dims = (ctypes.c_longlong * max(array.ndim, 1))(*array.shape)
        dtype = at.DTYPES[array.itemsize]
        self.kept += [dims, Buffer(48, None, dtype, array.ctypes.data, array.ndim, ctypes.addressof(dims))]
        return ctypes.addressof(self.kept[-1])

    def error(self, asked):
        text = ctypes.c_char_p.from_address(asked + at.ERROR_MESSAGE).value.decode()
        self.errors.append((ctypes.c_int.from_address(asked + at.ERROR_CODE).value, text))
        return 99

    def destroy(self, asked):
        self.destroyed += 1
        return 0

    def streamed(self, asked):
        assert ctypes.c_size_t.from_address(asked).value == at.STREAM_SIZE
        assert ctypes.c_size_t.from_address(asked + 16).value == 4711
        if self.stream is None:
            return 98
        ctypes.c_size_t.from_address(asked + 24).value = self.stream
        return 0

    def call(self, handler):
        return ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_void_p)(handler.address)(ctypes.addressof(self.words))


def handler_of(function, model, dtype, names=("q", "v", "tau")):
    compiled = function.on("cuda").compiled(model, names, ())
    found = driver().on_all(compiled.run.outline, compiled.run.program, dtype == np.float32)
    shapes = [a.shape for a in compiled.inputs], [a.shape for a in compiled.outputs]
    return Handler(found.words, np.dtype(dtype), *shapes, device=True, keep=found)


@pytest.fixture
def current(emulation):
    """An emulated device whose first one is current, as where XLA calls."""
    emulation.stack.append(0)
    yield emulation
    emulation.stack.pop()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("batch", [(), (3,), (5, 40)])
def test_a_call_launches_the_kernel_on_xlas_stream(current, dtype, batch):
    arm = cardan.robots.arm7().model()
    stream = current.stream()
    handler = handler_of(cardan.forward_dynamics, arm, dtype)
    inputs = list(np.random.default_rng(0).standard_normal((3, *batch, 7)).astype(dtype))
    result = np.full((*batch, 7), np.nan, dtype)
    frame = Frame(inputs, [result], stream)
    assert frame.call(handler) == 0
    assert not frame.errors
    np.testing.assert_allclose(
        result, cardan.forward_dynamics(arm, *inputs), rtol=1e-12 if dtype == np.float64 else 2e-3
    )
    assert [launch[3] for launch in current.launches] == [stream]


def test_a_repeated_function_is_told_how_often(current):
    @cardan.function(returns=("nv",))
    def damped(model, q, v):
        return v - 1e-2 * cardan.inverse_dynamics(model, q, v, v)

    arm = cardan.robots.arm7().model()
    inputs = list(np.random.default_rng(0).standard_normal((2, 5, 7)))
    for count in (1, 4):
        many, result = damped.repeated(count, {"v": "result"}), np.full((5, 7), np.nan)
        frame = Frame(inputs, [result], current.stream())
        assert frame.call(handler_of(many, arm, np.float64, ("q", "v"))) == 0
        np.testing.assert_allclose(result, many(arm, *inputs), rtol=1e-12)


def test_no_states_launch_nothing(current):
    arm = cardan.robots.arm7().model()
    frame = Frame([np.zeros((0, 7))] * 3, [np.zeros((0, 7))], current.stream())
    assert frame.call(handler_of(cardan.forward_dynamics, arm, np.float64)) == 0
    assert not current.launches


def test_arrays_that_do_not_fit_no_stream_and_a_refusal_are_errors_before_anything_is_written(current):
    arm = cardan.robots.arm7().model()
    handler, x = handler_of(cardan.forward_dynamics, arm, np.float64), np.ones((2, 7))
    good, result = current.stream(), np.full((2, 7), 3.0)
    for inputs, stream, code, said in (
        ([x, x], good, INVALID_ARGUMENT, "are not those of the program"),
        ([x, x, x[:1]], good, INVALID_ARGUMENT, "are not those of the program"),
        ([x, x, x.astype(np.float32)], good, INVALID_ARGUMENT, "are not those of the program"),
        ([x, x, x], None, INTERNAL, "gives no stream"),
        ([x, x, x], 31337, INTERNAL, "the device refused"),
    ):
        frame = Frame(inputs, [result], stream)
        assert frame.call(handler) == 99
        ((found, text),) = frame.errors
        assert found == code
        assert said in text
        assert frame.destroyed == (stream is None)
    assert (result == 3.0).all()
    huge = Frame([x, x, x], [result], good)
    for array in huge.kept:
        if isinstance(array, Buffer):
            (ctypes.c_longlong * 2).from_address(array.dims)[0] = 2**40
    assert huge.call(handler) == 99
    assert "more states than one launch has" in huge.errors[0][1]


def test_what_is_lowered_for_devices_calls_it_by_the_programs_name(emulation):
    jax = pytest.importorskip("jax")
    arm, x = cardan.robots.arm7().model(), np.ones((4, 7), np.float32)

    def energy(q, v):
        return wrap(cardan.kinetic_energy, arm)(q, v).sum()

    lowered = jax.jit(jax.grad(energy)).trace(x, x).lower(lowering_platforms=("cuda",))
    text = lowered.as_text()
    assert "_float32_cuda" in text
    assert "_float32(" not in text.replace("_float32_cuda", "")


@needs_nvrtc
def test_without_a_device_lowering_says_so():
    jax = pytest.importorskip("jax")
    from emulated import EmulatedApi

    from cardan._compiler.targets.cuda.driver import Driver
    from cardan.errors import TargetError

    with pytest.raises(TargetError, match="finds no device"):
        Driver(EmulatedApi(devices=0))
    jitted = jax.jit(wrap(cardan.mass_matrix, cardan.robots.arm7().model()))
    with pytest.raises(TargetError, match=r"finds no (device|driver)"):
        jitted.trace(np.zeros(7)).lower(lowering_platforms=("cuda",))
