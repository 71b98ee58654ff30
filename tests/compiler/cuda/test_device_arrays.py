"""Functions on arrays of a device, end to end: emulated by default, a real one with --device."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from benchmarks.device_array import DeviceArray, Memory, to_device
from emulated import RESOURCES, EmulatedApi, built, emulated

import cardan
from cardan._compiler.program import Array, trace
from cardan._compiler.targets import compile_program
from cardan._compiler.targets.buffers import Buffer
from cardan._compiler.targets.cuda import driver as seam
from cardan._compiler.targets.cuda.compiler import Resources
from cardan._compiler.targets.cuda.staging import THREADS
from cardan.errors import DTypeError, ParameterError, ShapeError, TargetError

SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)


@pytest.fixture(scope="module")
def arm():
    return cardan.robots.arm7().model()


@pytest.fixture(scope="module")
def pendulum():
    return cardan.robots.double_pendulum().model()


def states(model, shape=(), dtype=DOUBLE, seed=0):
    rng = np.random.default_rng(seed)
    v, a = rng.normal(size=(2, *shape, model.nv))
    return [x.astype(dtype) for x in (model.random_configuration(shape, seed=seed), v, a)]


def there(*arrays, **how):
    return [to_device(x, **how) for x in arrays]


def view(array, shape, strides, **how):
    return array.view(shape, strides, **how)


# --- values ---


def test_values_are_those_of_the_processor(device, arm):
    q, v, a = states(arm, (100,))
    found = cardan.inverse_dynamics(arm, *there(q, v, a))
    assert isinstance(found, DeviceArray)
    assert (found.shape, found.dtype, found.device) == ((100, 7), DOUBLE, 0)
    np.testing.assert_array_equal(found.to_numpy(), cardan.inverse_dynamics(arm, q, v, a))


def test_single_precision_stays_single(device, pendulum):
    q, v, a = states(pendulum, (40,), SINGLE)
    found = cardan.inverse_dynamics(pendulum, *there(q, v, a))
    assert found.dtype == SINGLE
    expected = cardan.inverse_dynamics(pendulum, q, v, a)
    np.testing.assert_allclose(found.to_numpy(), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("shape", [(), (1,), (33,), (3, 1, 2)])
def test_any_batch(device, pendulum, shape):
    q, v, a = states(pendulum, shape)
    found = cardan.inverse_dynamics(pendulum, *there(q, v, a))
    assert found.shape == (*shape, 2)
    np.testing.assert_array_equal(found.to_numpy(), cardan.inverse_dynamics(pendulum, q, v, a))
    energy = cardan.kinetic_energy(pendulum, *there(q, v))
    assert energy.shape == shape
    np.testing.assert_array_equal(energy.to_numpy(), cardan.kinetic_energy(pendulum, q, v))


def test_a_row_that_all_states_share_is_not_copied(device, pendulum):
    q, v, a = states(pendulum, (50,))
    d = there(q[0], v, a[:1])
    np.testing.assert_array_equal(
        cardan.inverse_dynamics(pendulum, *d).to_numpy(), cardan.inverse_dynamics(pendulum, q[0], v, a[:1])
    )
    if device is not None:
        count, *pairs = device.launches[-1][-1]
        assert count == 50
        assert pairs[1::2] == [0, 2, 0, 2]
        assert pairs[0::2][:3] == [x.layout.address for x in d]


def test_results_keep_their_form(device, pendulum):
    q, v, a = states(pendulum, (5,))
    found = cardan.inverse_dynamics_derivatives(pendulum, *there(q, v, a))
    expected = cardan.inverse_dynamics_derivatives(pendulum, q, v, a)
    assert type(found) is type(expected)
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_array_equal(x.to_numpy(), y)


@cardan.function(shapes={"target": (2,)})
def several(model, q, target, gain: float = 2.0, *, power=2):
    """A dictionary of results of several shapes."""
    error = [target[0] - q[0], target[1] - q[1]]
    return {"sum": gain * sum(e**power for e in error), "error": error}


def test_numbers_and_options(device, pendulum):
    q = states(pendulum, (6,))[0]
    target = np.array([0.3, -0.2])
    for gain in ((), (3.0,), (np.float64(0.5),), (4,)):
        found = several(pendulum, *there(q, target), *gain, power=3)
        expected = several(pendulum, q, target, *map(float, gain), power=3)
        for name, value in expected.items():
            np.testing.assert_array_equal(found[name].to_numpy(), value)


def test_inputs_of_a_model(device, pendulum):
    model = pendulum.with_inputs("gravity")
    q, v, a = states(pendulum, (4,))
    gravity = np.array([0.5, 0.0, -3.0])
    found = cardan.inverse_dynamics(model, *there(q, v, a), gravity=to_device(gravity))
    np.testing.assert_array_equal(found.to_numpy(), cardan.inverse_dynamics(model, q, v, a, gravity=gravity))


def test_a_whole_rollout_is_one_launch(device, pendulum):
    @cardan.function
    def step(model, q, v, dt: float = 1e-3):
        a = cardan.forward_dynamics(model, q, v, [0.0, 0.0])
        v = [x + dt * y for x, y in zip(v, a, strict=True)]
        return {"q": cardan.integrate(model, q, [dt * x for x in v]), "v": v}

    q, v, _ = states(pendulum, (7,))
    for count in (20, 3):  # by one kernel
        rollout = step.repeated(count)
        found, expected = rollout(pendulum, *there(q, v)), rollout(pendulum, q, v)
        for name in ("q", "v"):
            np.testing.assert_array_equal(found[name].to_numpy(), expected[name])
    assert device is None or len(device.launches) == 2


# --- bound functions, and results in arrays of the caller's ---


def test_bound_functions(device, arm):
    q, v, a = states(arm, (10,))
    d = there(q, v, a)
    bound = cardan.inverse_dynamics.bind(arm)
    expected = cardan.inverse_dynamics(arm, q, v, a)
    np.testing.assert_array_equal(bound(*d).to_numpy(), expected)
    out = to_device(np.zeros((10, 7)))
    assert bound(*d, out=out) is out
    np.testing.assert_array_equal(out.to_numpy(), expected)
    np.testing.assert_array_equal(bound(q, v, a), expected)  # NumPy's are computed on the processor still
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(bound))(*d).to_numpy(), expected)


def test_packed_results_are_side_by_side(device, pendulum):
    q, v, a = states(pendulum, (9,))
    packed = cardan.inverse_dynamics_derivatives.bind_packed(pendulum)
    found, expected = packed(*there(q, v, a)), packed(q, v, a)
    assert found.shape == expected.shape
    np.testing.assert_array_equal(found.to_numpy(), expected)


def test_an_out_whose_rows_are_further_apart(device, pendulum):
    q, v, a = states(pendulum, (9,))
    whole = to_device(np.full((9, 5), 7.0))
    out = view(whole, (9, 2), (5, 1), offset=2)
    cardan.inverse_dynamics.bind(pendulum)(*there(q, v, a), out=out)
    expected = np.full((9, 5), 7.0)
    expected[:, 2:4] = cardan.inverse_dynamics(pendulum, q, v, a)
    np.testing.assert_array_equal(whole.to_numpy(), expected)
    np.testing.assert_array_equal(out.to_numpy(), expected[:, 2:4])


def test_an_out_that_does_not_fit(device, pendulum):
    q, v, a = states(pendulum, (9,))
    d = there(q, v, a)
    bound = cardan.inverse_dynamics.bind(pendulum)

    def refused(out, error, said):
        with pytest.raises(error, match=said):
            bound(*d, out=out)

    whole = to_device(np.zeros((9, 2)))
    refused(view(whole, (9, 2), (2, 1), read_only=True), DTypeError, "'out' is read-only")
    refused(d[1], DTypeError, "'out' is in the memory of 'v'")
    refused(view(d[0], (9, 2), (-2, 1), offset=16), DTypeError, "in the memory of 'q'")
    refused(view(whole, (9, 2), (0, 1)), DTypeError, "with strides .*apart from each other")
    refused(view(whole, (9, 2), (1, 1)), DTypeError, "apart from each other")
    refused(to_device(np.zeros((8, 2))), ShapeError, "out")
    refused(to_device(np.zeros((9, 2), SINGLE)), DTypeError, "'out' is float32, expected float64")
    refused(np.zeros((9, 2)), DTypeError, "'out' is a numpy.ndarray, expected a DeviceArray on device 0")
    both = cardan.inverse_dynamics_derivatives.bind(pendulum)
    square = to_device(np.zeros((9, 2, 2)))
    with pytest.raises(DTypeError, match="in the memory of 'another result'"):
        both(*d, out=(square, square, to_device(np.zeros((9, 2, 2)))))
    with pytest.raises(DTypeError, match="expected a named tuple"):
        both(*d, out=square)


# --- views ---


def test_views_whose_rows_are_whole(device, pendulum):
    q, v, a = states(pendulum, (12,))
    d = there(q, v, a)
    for half, numpy_half in (
        ([view(x, (6, 2), (4, 1)) for x in d], (q[::2], v[::2], a[::2])),
        ([view(x, (12, 2), (-2, 1), offset=22) for x in d], (q[::-1], v[::-1], a[::-1])),
        ([view(x, (3, 4, 2), (8, 2, 1)) for x in d], [x.reshape(3, 4, 2) for x in (q, v, a)]),
    ):
        found = cardan.inverse_dynamics(pendulum, *half)
        np.testing.assert_array_equal(found.to_numpy(), cardan.inverse_dynamics(pendulum, *numpy_half))


def test_rows_in_pieces_are_refused(device, pendulum):
    q, v, a = states(pendulum, (4,))
    d = there(q, v, a)
    turned = view(d[0], (4, 2), (1, 4))
    np.testing.assert_array_equal(turned.to_numpy(), q.reshape(2, 4).T)
    with pytest.raises(ShapeError, match=r"'q' has shape .*rows in step"):
        cardan.inverse_dynamics(pendulum, turned, *d[1:])
    with pytest.raises(ShapeError, match="rows in step"):
        cardan.inverse_dynamics(pendulum, view(d[0], (4, 1, 2), (2, 2, 1)), *(view(x, (4, 2), (2, 1)) for x in d[1:]))


def test_empty_batches_launch_nothing(device, pendulum):
    q, v, a = states(pendulum, (0, 3))
    found = cardan.inverse_dynamics(pendulum, *there(q, v, a))
    assert found.shape == (0, 3, 2)
    assert found.to_numpy().shape == (0, 3, 2)
    assert device is None or not device.launches


def test_packed_results_by_their_places(device, pendulum):
    q, v, a = states(pendulum, (9,))
    packed = cardan.inverse_dynamics_derivatives.bind_packed(pendulum)
    found, expected = packed(*there(q, v, a)), packed(q, v, a)
    for place in packed.places.values():
        np.testing.assert_array_equal(found.to_numpy()[place], expected[place])


# --- what is refused ---


def test_mixed_arrays_are_refused(device, pendulum):
    q, v, a = states(pendulum, (4,))
    dq, dv, da = there(q, v, a)
    for arrays, said in (
        ((q, dv, da), "'q' is a numpy.ndarray, expected a DeviceArray on device 0.*nothing is moved unasked"),
        ((dq, v.tolist(), da), "'v' is a list, expected a DeviceArray"),
        ((dq, to_device(v.astype(SINGLE)), da), "'v' is float32, expected float64, as 'q' is"),
    ):
        with pytest.raises(DTypeError, match=said):
            cardan.inverse_dynamics(pendulum, *arrays)
    with pytest.raises(ShapeError, match="'a'"):
        cardan.inverse_dynamics(pendulum, dq, dv, to_device(np.zeros((4, 3))))
    with pytest.raises(ShapeError, match="leading dimensions"):
        cardan.inverse_dynamics(pendulum, dq, dv, to_device(np.zeros((5, 2))))


def test_arrays_of_two_devices_are_refused(emulation, pendulum):
    q, v, a = states(pendulum, (4,))
    with pytest.raises(DTypeError, match=r"'a' is on device 1, expected on device 0, as 'q' is"):
        cardan.inverse_dynamics(pendulum, *there(q, v), to_device(a, device=1))


def test_each_device_computes_its_own(emulation, pendulum):
    q, v, a = states(pendulum, (4,))
    for number in (1, 0, 1):
        found = cardan.inverse_dynamics(pendulum, *there(q, v, a, device=number))
        assert found.device == number
        np.testing.assert_array_equal(found.to_numpy(), cardan.inverse_dynamics(pendulum, q, v, a))
    assert emulation.stack == []  # the caller's current device is as it was
    assert emulation.calls.count("cuModuleLoadData") == 2
    with pytest.raises(TargetError, match="no device 7: this process sees 2"):
        to_device(q, device=7)


def test_arrays_of_numpy_are_refused_by_the_target(device, pendulum):
    q, v, a = states(pendulum, (4,))
    function = cardan.inverse_dynamics.on("cuda")
    for call in (lambda: function(pendulum, q, v, a), lambda: function.bind(pendulum)(q, v, a)):
        with pytest.raises(DTypeError, match=r"in the memory of the processor.*of CuPy or PyTorch.*unasked"):
            call()
    np.testing.assert_array_equal(
        function(pendulum, *there(q, v, a)).to_numpy(), cardan.inverse_dynamics(pendulum, q, v, a)
    )


def test_a_function_of_another_target_is_refused(device, pendulum):
    d = there(*states(pendulum, (4,)))
    with pytest.raises(ParameterError, match=r"on\('numpy'\)"):
        cardan.inverse_dynamics.on("numpy")(pendulum, *d)
    with pytest.raises(ParameterError, match=r"checked=True.*on\(checked=False\)"):
        cardan.inverse_dynamics.on(checked=True)(pendulum, *d)


def test_an_array_that_is_given_for_an_option(device, pendulum):
    @cardan.function
    def own(model, q, *, option=None):
        return q[0]

    with pytest.raises((DTypeError, ParameterError), match="option"):
        own(pendulum, np.zeros(2), option=to_device(np.zeros(2)))


class OnDevice:
    """An array of a library that is not known, on a device; NumPy could copy it."""

    def __init__(self, kind):
        self.kind = kind

    def __dlpack_device__(self):
        return self.kind, 0

    def __array__(self, *_, **__):
        return np.zeros(2)


def test_arrays_of_unknown_libraries_are_not_copied(pendulum):
    zeros = np.zeros(2)
    with pytest.raises(DTypeError, match=r"'v' is a OnDevice on a device.*cupy.asarray\(v\) and cupy.from_dlpack\(v\)"):
        cardan.inverse_dynamics(pendulum, zeros, OnDevice(2), zeros)
    with pytest.raises(DTypeError, match="on a device"):
        cardan.inverse_dynamics.bind(pendulum)(zeros, OnDevice(2), zeros)
    np.testing.assert_array_equal(
        cardan.inverse_dynamics(pendulum, zeros, OnDevice(1), zeros),
        cardan.inverse_dynamics(pendulum, zeros, zeros, zeros),
    )


# --- streams ---


def test_a_launch_is_on_the_callers_stream(emulation, pendulum):
    mine = emulation.stream()
    q, v, a = states(pendulum, (4,))
    found = cardan.inverse_dynamics(pendulum, *there(q, v, a, stream=mine))
    assert emulation.launches[-1][3] == found.stream == mine
    with pytest.raises(DTypeError, match=rf"'v' is on stream 1, expected on {mine}, as 'q' is"):
        cardan.inverse_dynamics(pendulum, to_device(q, stream=mine), *there(v, a))
    bound, out = cardan.inverse_dynamics.bind(pendulum), to_device(np.zeros((4, 2)), stream=mine)
    with pytest.raises(DTypeError, match=rf"'out' is on stream {mine}, expected on 1, as 'q' is"):
        bound(*there(q, v, a), out=out)  # out.to_numpy() would not wait for what is on another stream


def test_launches_may_be_captured(emulation, pendulum):
    """No call but to launch: nothing is allocated, and nothing waited for."""
    d = there(*states(pendulum, (4,)))
    out, bound = to_device(np.zeros((4, 2))), cardan.inverse_dynamics.bind(pendulum)
    emulation.capturing = True
    with pytest.raises(TargetError, match=r"loading inverse_dynamics.*called once before it is captured in a graph"):
        bound(*d, out=out)
    emulation.capturing = False
    bound(*d, out=out)
    emulation.calls.clear()
    bound(*d, out=out)
    assert set(emulation.calls) <= {"cuCtxGetDevice", "cuCtxPushCurrent", "cuCtxPopCurrent", "cuLaunchKernel"}
    assert emulation.calls.count("cuLaunchKernel") == 1


# --- sizes ---


def test_more_states_than_31_bits_count(pendulum):
    """Counts, strides and addresses are whole; memory is only counted here, and nothing is run."""
    program = cardan.inverse_dynamics.program(pendulum)
    count = 2**31 + 5
    with emulated(memory=2**60, pretend=True) as api:
        api.counted = 1 + 2 * 4
        run = compile_program(program, "cuda")
        arrays = [Buffer(2**40 + k, count, 2, 2, DOUBLE, 0) for k in range(3)]
        result = Memory(count * 16, 0, 1)
        run.launch(arrays, [Buffer(result.address, count, 2, 2**33, DOUBLE, 0)], count, 1)
        grid, *_, values = api.launches[-1]
        assert grid == -(-count // THREADS)
        assert values == [count, 2**40, 2, 2**40 + 1, 2, 2**40 + 2, 2, result.address, 2**33]
        assert api.used == count * 16
        too_many = 2**31 * THREADS
        with pytest.raises(TargetError, match=rf"{too_many} states are more than one launch has .*in parts"):
            run.launch(arrays, [Buffer(0, too_many, 2, 2, DOUBLE, 0)], too_many, 1)


# --- devices that cannot ---


@pytest.mark.parametrize(
    ("takes", "said"),
    [
        (RESOURCES._replace(shared=300 * 1024), "307200 bytes of shared memory a block, of which it has 232448"),
        (RESOURCES._replace(registers=2000), "256000 registers a block, of which it has 65536"),
        (RESOURCES._replace(stack=2**20), "1048576 bytes of a thread's own memory"),
    ],
)
def test_a_kernel_too_large_for_the_device(pendulum, takes: Resources, said):
    def greedy(*what):
        kernel = built(*what)
        return kernel._replace(cubin=kernel.cubin._replace(resources=takes))

    with emulated(build=greedy):
        d = there(*states(pendulum, (4,)))
        with pytest.raises(
            TargetError, match=rf"inverse_dynamics is too large for Emulated.*{said}.*Float32 takes half"
        ):
            cardan.inverse_dynamics(pendulum, *d)


def test_a_forked_process_is_told(emulation, monkeypatch):
    monkeypatch.setattr("os.getpid", lambda: -1)
    with pytest.raises(TargetError, match=r"lost in a process that was forked.*spawn"):
        seam.driver()


def test_many_threads_at_first(emulation, pendulum):
    d = there(*states(pendulum, (4,)))
    run = compile_program(cardan.inverse_dynamics.program(pendulum), "cuda")
    with ThreadPoolExecutor(8) as pool:
        assert len(set(map(id, pool.map(lambda _: run.kernel(0, False), range(8))))) == 1
        found = [*pool.map(lambda _: cardan.inverse_dynamics(pendulum, *d).to_numpy(), range(8))]
    assert emulation.calls.count("cuModuleLoadData") <= 2
    for x in found:
        np.testing.assert_array_equal(x, found[0])


def test_no_device():
    with pytest.raises(TargetError, match="finds no device; arrays of NumPy are computed on the processor"):
        seam.Driver(EmulatedApi(devices=0))


def test_what_the_driver_says_is_told(emulation, pendulum, monkeypatch):
    d = there(*states(pendulum, (4,)))
    monkeypatch.setattr(emulation, "cuLaunchKernel", lambda *_: (type(emulation.cuInit(0)[0])(400),), raising=False)
    with pytest.raises(TargetError, match=r"refuses running cardan_inverse_dynamics: invalid handle \(CUDA_ERROR_"):
        cardan.inverse_dynamics(pendulum, *d)


# --- any program ---


@pytest.mark.parametrize("dtype", [DOUBLE, SINGLE])
def test_every_operation(device, dtype):
    def everything(x):
        a, b = x
        names = ("sin", "cos", "tan", "asin", "acos", "sqrt", "exp", "log", "absolute", "sign", "floor")
        values = [getattr(cardan, name)(a) for name in names]
        values += [a + b, a - b, a * b, a / b, -a, cardan.atan2(a, b), cardan.minimum(a, b), cardan.maximum(a, b)]
        return [*values, *(cardan.where(c, a, -2.5) for c in (a < b, a <= b, ~(a < b))), b, 0.1]

    program = trace("f", lambda x: {"y": np.array(everything(x), dtype=object)}, [Array("x", (2,))])
    edges = [0.0, -0.0, 0.5, -2.0, 1.0, 3.7, 1e-30, np.inf, -np.inf, np.nan]
    x = np.array([(a, b) for a in edges for b in edges]).astype(dtype)
    d, out = to_device(x), to_device(np.zeros((len(x), len(program.results)), dtype))
    buffers = [Buffer(y.layout.address, len(x), y.shape[1], y.shape[1], dtype, 0) for y in (d, out)]
    compile_program(program, "cuda").launch(buffers[:1], buffers[1:], len(x), 1)
    expected = compile_program(program, "numpy")([x], len(x), dtype)
    np.testing.assert_allclose(out.to_numpy(), expected, rtol=8 * np.finfo(dtype).eps)


def test_what_is_loaded_is_described(device, pendulum):
    run = compile_program(cardan.mass_matrix.program(pendulum), "cuda")
    assert "when it is first called" in run.describe()[0]
    run.kernel(0, False)
    assert "float64, device 0" in run.describe()[0]
