"""Functions of a robot as functions of PyTorch: values, derivatives, transforms, graphs, and what is refused."""

import gc
import pickle
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

import cardan
from cardan.errors import CardanError, DTypeError, MissingExtraError, ParameterError, ShapeError, UnknownNameError

torch = pytest.importorskip("torch", reason="PyTorch is not installed (the extra torch)")
from torch._subclasses import FakeTensorMode  # noqa: E402 -- needs torch
from torch.func import grad, hessian, jacfwd, jacrev, jvp, vmap  # noqa: E402 -- needs torch
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402 -- needs torch
from torch.utils._pytree import tree_leaves  # noqa: E402 -- needs torch

from cardan._reach.interop import torch_operator, torch_wrapped  # noqa: E402
from cardan._reach.interop.torch_operator import evaluate, program_of  # noqa: E402
from cardan.interop.torch import wrap  # noqa: E402 -- needs torch

pytestmark = [
    pytest.mark.usefixtures("quick_target"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:torch"),
]


@pytest.fixture(autouse=True)
def one_thread():
    """Small tensors on many threads take long where others work."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def pendulum():
    return cardan.robots.double_pendulum().model()


def state(model, shape=(), seed=0):
    rng = np.random.default_rng(seed)
    v, a = rng.normal(size=(2, *shape, model.nv))
    return [torch.tensor(x) for x in (model.random_configuration(shape, seed=seed), v, a)]


def numbers(*tensors):
    return [x.detach().numpy() for x in tensors]


@cardan.function(shapes={"target": (2,)})
def several(model, q, v, target, gain: float = 2.0, *, power=2):
    """A dictionary, with a key that is no identifier, of results of several shapes."""
    error = [target[0] - q[0], target[1] - q[1]]
    return {"the sum": gain * sum(e**power for e in error), "moved": cardan.integrate(model, q, v), "error": error}


# --- values ---


def test_values_are_those_of_numpy():
    model = pendulum()
    torques = wrap(cardan.inverse_dynamics, model)
    q, v, a = state(model, (3, 4))
    expected = cardan.inverse_dynamics(model, *numbers(q, v, a))
    for found in (torques(q, v, a), torques(q, a=a, v=v), torques(q.requires_grad_(), v, a)):
        np.testing.assert_array_equal(found.detach(), expected)
    q = q.detach()
    single = torques(q.float(), v.float(), a.float())
    assert single.dtype == torch.float32
    np.testing.assert_array_equal(single, cardan.inverse_dynamics(model, *numbers(q.float(), v.float(), a.float())))


def test_what_is_only_computed_and_recorded_does_not_go_by_the_operator(monkeypatch):
    """Which PyTorch takes 20 us to find; where it does, in a mode, results are the same."""
    model = pendulum()
    torques, (q, v, a) = wrap(cardan.inverse_dynamics, model), (x.requires_grad_() for x in state(model))
    q = q[None].expand(3, 2)  # broadcast, with a sum as its gradient

    def gradients():
        first = torch.autograd.grad(torques(q, v, a).square().sum(), (q, v, a), create_graph=True)
        return *first, *torch.autograd.grad(sum(g.square().sum() for g in first), (q, v, a))

    class Watched(TorchDispatchMode):
        def __torch_dispatch__(self, of, types, args=(), kwargs=None):
            return of(*args, **(kwargs or {}))

    with Watched():
        expected = gradients()
    monkeypatch.setattr(torch_operator, "evaluate", None)
    monkeypatch.setattr(torch_wrapped, "evaluate", None)
    for found, by_operator in zip(gradients(), expected, strict=True):
        assert torch.equal(found, by_operator)


def test_any_layout_and_batch():
    model = pendulum()
    torques = wrap(cardan.inverse_dynamics, model)
    q, v, a = state(model, (4,))
    expected = torques(q, v, a)
    turned = q.T.contiguous().T  # not contiguous
    negative = torch.complex(v, v).conj().imag  # a view that says "negate me"
    assert negative.is_neg()
    np.testing.assert_array_equal(torques(turned, -negative, a), expected)
    np.testing.assert_array_equal(torques(q, negative, a), torques(q, -v, a))
    np.testing.assert_array_equal(torques(q[0].expand(4, 2), v, a), torques(q[0], v, a))
    np.testing.assert_array_equal(torques(q[:, None], v, a)[2, 1], torques(q[2], v[1], a[1]))
    assert torques(q[:0], v[:0], a[:0]).shape == (0, 2)
    assert wrap(cardan.kinetic_energy, model)(q[0], v[0]).shape == ()
    with torch.inference_mode():
        np.testing.assert_array_equal(torques(q, v, a), expected)


def test_results_keep_their_form():
    model = pendulum()
    q, v, a = state(model)
    target = torch.tensor([0.3, -0.2], dtype=torch.float64)
    wrapped = wrap(several, model, power=3)
    found, expected = wrapped(q, v, target), several(model, *numbers(q, v, target), power=3)
    assert list(found) == list(expected)
    for name, value in expected.items():
        np.testing.assert_array_equal(found[name], value)
    by_hand = wrap(several, model)(q, v, target, torch.tensor(3.0, dtype=torch.float64), power=3)
    assert by_hand["the sum"] == pytest.approx(1.5 * float(found["the sum"]))
    assert wrapped(q, v, target, 3.0)["the sum"] == by_hand["the sum"]
    rates = wrap(cardan.inverse_dynamics_derivatives, model)(q, v, a)
    assert type(rates) is type(cardan.inverse_dynamics_derivatives(model, *numbers(q, v, a)))
    pose = wrap(cardan.frame_transform, model)(q, frame="lower")
    np.testing.assert_array_equal(pose, wrap(cardan.frame_transform, model, frame="lower")(q))


def test_optional_arrays_may_be_left_out():
    model = pendulum()
    q, v, a = state(model)
    forces = torch.randn(model.nbodies, 6, dtype=torch.float64, requires_grad=True)
    torques = wrap(cardan.inverse_dynamics, model)
    loaded = torques(q, v, a, forces)
    np.testing.assert_array_equal(
        loaded.detach(), cardan.inverse_dynamics(model, *numbers(q, v, a), forces.detach().numpy())
    )
    np.testing.assert_array_equal(torques(q, v, a, external_forces=None), torques(q, v, a))
    loaded.sum().backward()
    assert forces.grad.abs().sum() > 0


# --- derivatives and batches ---


def test_gradients_of_batches_that_broadcast():
    model = pendulum().with_inputs(mass=("lower", "mass"))
    q, v, a = (x.requires_grad_() for x in state(model, (3,)))
    mass = torch.tensor(0.9, dtype=torch.float64, requires_grad=True)
    torques = wrap(cardan.inverse_dynamics, model)
    check = {"check_forward_ad": True}
    assert torch.autograd.gradcheck(lambda *x: torques(x[0], x[1], x[2], mass=x[3]), (q, v, a[0], mass), **check)


def test_derivatives_by_every_transform():
    model = pendulum()
    torques, energy = wrap(cardan.inverse_dynamics, model), wrap(cardan.kinetic_energy, model)
    q, v, a = state(model, (3,))
    M = torch.tensor(cardan.mass_matrix(model, q.numpy()))
    for jacobian in (jacrev, jacfwd):
        torch.testing.assert_close(vmap(jacobian(torques, argnums=2))(q, v, a), M)
    torch.testing.assert_close(vmap(hessian(energy, argnums=1))(q, v), M)
    torch.testing.assert_close(vmap(jacrev(jacrev(energy, argnums=1), argnums=1))(q, v), M)
    _, rate = jvp(lambda a: torques(q, v, a), (a,), (v,))
    torch.testing.assert_close(rate, torch.einsum("bij,bj->bi", M, v))
    one = vmap(grad(energy, argnums=1), in_dims=(None, 0))(q[0], v)
    torch.testing.assert_close(one, v @ M[0])


def _nested(of):
    """Return second and third derivatives of `of`, by transforms in transforms."""

    def square(x):
        return of(x).square().sum()

    def with_a_constant(x):
        with torch.no_grad():
            still = of(x)
        return (of(x) * still).sum()

    second = [outer(inner) for outer in (jacrev, jacfwd) for inner in (grad(square), jacrev(of), jacfwd(of))]
    return [*second, hessian(square), jacrev(grad(with_a_constant)), jacrev(jacfwd(jacrev(of)))]


@pytest.mark.slow
def test_transforms_in_transforms_are_those_of_tensors():
    """An inner transform hid the operator from the outer one: what was left of second derivatives was wrong."""

    @cardan.function(shapes={"x": (2,)})
    def products(model, x):
        return x * x * x + x[0] * x[1]

    x = torch.tensor([0.7, -1.3], dtype=torch.float64)
    found = _nested(wrap(products, pendulum()))
    expected = _nested(lambda x: x * x * x + x[0] * x[1])
    for ours, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(ours(x), theirs(x))
    with torch.no_grad():  # outside of transforms it has no effect on them
        torch.testing.assert_close(found[0](x), expected[0](x))


def test_vmap_adds_one_dimension_whichever_it_is():
    model = pendulum()
    torques = wrap(cardan.inverse_dynamics, model)
    q, v, a = state(model, (3, 4))
    expected = torques(q, v, a)
    np.testing.assert_array_equal(vmap(torques)(q, v, a), expected)
    np.testing.assert_array_equal(vmap(torques, in_dims=(1, 1, 1), out_dims=1)(q, v, a), expected)
    np.testing.assert_array_equal(vmap(vmap(torques))(q, v, a), expected)
    np.testing.assert_array_equal(
        vmap(torques, in_dims=(None, None, 0))(q[0, 0], v[0], a[:, 0])[1], torques(q[0, 0], v[0], a[1, 0])
    )


def test_the_operator_is_as_pytorch_wants_it():
    model = pendulum()
    q, v, a = (x.requires_grad_() for x in state(model, (3,)))
    program = program_of(cardan.inverse_dynamics, model, ("q", "v", "a"), ())
    torch.library.opcheck(
        evaluate, ([q, v, a], program.name), test_utils=("test_schema", "test_autograd_registration", "test_faketensor")
    )


@pytest.mark.full
def test_the_operator_in_graphs_of_unknown_sizes():
    model = pendulum()
    q, v, a = (x.requires_grad_() for x in state(model, (3,)))
    program = program_of(cardan.inverse_dynamics, model, ("q", "v", "a"), ())
    torch.library.opcheck(evaluate, ([q, v, a], program.name))
    torch.library.opcheck(evaluate, ([q, v[0], a], program.name))


# --- graphs ---


def test_compiled_without_a_break():
    model = pendulum()
    q, v, a = (x.requires_grad_() for x in state(model, (3,)))
    for function in (cardan.inverse_dynamics, cardan.forward_dynamics):  # two of the same arguments: two graphs
        wrapped = wrap(function, model)
        plain = wrapped(q, v, a)
        found = torch.compile(wrapped, fullgraph=True, backend="aot_eager")(q, v, a)
        assert torch.equal(found, plain)
        by_graph, by_hand = (torch.autograd.grad(y.sum(), (q, v, a)) for y in (found, plain))
        assert all(map(torch.equal, by_graph, by_hand))


def test_compiled_with_results_in_their_form():
    model = pendulum()
    q, v, a = state(model)
    for function, arrays in ((cardan.inverse_dynamics_derivatives, (q, v, a)), (several, (q, v, a))):
        wrapped = wrap(function, model)
        plain, found = wrapped(*arrays), torch.compile(wrapped, fullgraph=True, backend="eager")(*arrays)
        assert type(found) is type(plain)
        assert all(map(torch.equal, tree_leaves(found), tree_leaves(plain)))


@pytest.mark.full
def test_compiled_by_inductor_for_sizes_that_change():
    model = pendulum()
    torques = wrap(cardan.inverse_dynamics, model)
    loss = torch.compile(lambda q, v, a: torques(q, v, a).square().sum(), fullgraph=True, dynamic=True)
    for size in (3, 5, 8):
        q, v, a = (x.requires_grad_() for x in state(model, (size,)))
        found = torch.autograd.grad(loss(q, v, a), (q, v, a))
        torch.testing.assert_close(found, torch.autograd.grad(torques(q, v, a).square().sum(), (q, v, a)))
    both = torch.compile(vmap(grad(lambda q, v, a: torques(q, v, a).sum())), fullgraph=True)
    torch.testing.assert_close(
        both(q.detach(), v.detach(), a.detach()),
        vmap(grad(lambda *x: torques(*x).sum()))(q.detach(), v.detach(), a.detach()),
    )


@pytest.mark.full
def test_exported():
    class Torques(torch.nn.Module):
        def __init__(self, wrapped):
            super().__init__()
            self.wrapped = wrapped

        def forward(self, *arrays):
            return self.wrapped(*arrays)

    module, arrays = Torques(wrap(cardan.inverse_dynamics, pendulum())), tuple(state(pendulum(), (3,)))
    assert torch.equal(torch.export.export(module, arrays).module()(*arrays), module(*arrays))


def test_shapes_without_data():
    model = pendulum()
    q, v, a = (x.to("meta") for x in state(model, (5,)))
    assert wrap(cardan.mass_matrix, model)(q).shape == (5, 2, 2)
    assert wrap(cardan.inverse_dynamics, model)(q, v, a).device.type == "meta"


# --- what is refused ---


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        (lambda q, v, a: (q.long(), v, a), DTypeError, r"'q' is a tensor of torch.int64.*q.to\(torch.float64\)"),
        (lambda q, v, a: (q.half(), v.half(), a.half()), DTypeError, "'q' is a tensor of torch.float16"),
        (lambda q, v, a: (q, v, a.cfloat()), DTypeError, "'a' is a tensor of torch.complex64"),
        (lambda q, v, a: (q, v.float(), a), DTypeError, r"'v' is torch.float32, expected torch.float64.*v.to\("),
        (lambda q, v, a: (q, v, a.to("meta")), DTypeError, r"'a' is on meta, expected on cpu.*a.to\(q.device\)"),
        (lambda q, v, a: (q, v.to_sparse(), a), DTypeError, r"sparse_coo.*v.to_dense\(\)"),
        (lambda q, v, a: (q, v.numpy(), a), DTypeError, r"'v' is a numpy.ndarray.*torch.as_tensor\(v\)"),
        (lambda q, v, a: (q, v, [0.0, 0.0]), DTypeError, "'a' is a list"),
        (lambda q, v, a: (q, v, a[0]), ShapeError, r"'a' has shape \(\)"),
        (lambda q, v, a: (q.expand(3, 2), v.expand(2, 2), a), ShapeError, "leading dimensions"),
        (lambda q, v, a: (q, v), TypeError, "missing a required argument: 'a'"),
        (lambda q, v, a: (q, v, a, None, a), TypeError, "too many"),
    ],
)
def test_what_does_not_fit_is_refused(change, error, said):
    model = pendulum()
    torques, arrays = wrap(cardan.inverse_dynamics, model), state(model)
    with pytest.raises(error, match=said):
        torques(*change(*arrays))
    with pytest.raises(error, match=said):  # the same within autograd
        torques(
            *[
                x.requires_grad_() if isinstance(x, torch.Tensor) and x.is_floating_point() else x
                for x in change(*arrays)
            ]
        )


def test_what_is_no_tensor_is_refused_by_later_calls_too():
    torques, arrays = wrap(cardan.inverse_dynamics, pendulum()), state(pendulum())
    torques(*arrays)
    with pytest.raises(DTypeError, match=r"'v' is a numpy.ndarray, expected a tensor.*torch.as_tensor\(v\)"):
        torques(arrays[0], arrays[1].numpy(), arrays[2])


def test_another_device_is_refused():
    """Tensors of a device that is not there, as those of a graph are."""
    torques = wrap(cardan.inverse_dynamics, pendulum())
    with FakeTensorMode():
        q = torch.empty(2, dtype=torch.float64, device="xpu")
        with pytest.raises(DTypeError, match=r"'q' is on xpu:0, expected a tensor on the CPU or a CUDA dev.*q.cpu\(\)"):
            torques(q, q, q)
        q = torch.empty(2, dtype=torch.float64, device="cuda")
        assert torques(q, q, q).device.type == "cuda"
        with pytest.raises(DTypeError, match=r"'a' is on cpu, expected on cuda:0, as 'q' is.*a.to\(q.device\)"):
            torques(q, q, torch.empty(2, dtype=torch.float64))


def test_what_is_no_function_or_model_or_option_is_refused():
    model = pendulum()
    with pytest.raises(ParameterError, match=r"function to wrap.*@cardan.function"):
        wrap(len, model)
    with pytest.raises(DTypeError, match=r"a cardan.Model"):
        wrap(cardan.mass_matrix, "panda")
    with pytest.raises(UnknownNameError, match="no option named 'fram'; did you mean 'frame'"):
        wrap(cardan.frame_transform, model, fram="lower")
    with pytest.raises(TypeError, match="unexpected keyword argument 'speed'"):
        wrap(cardan.mass_matrix, model)(state(model)[0], speed=1)
    with pytest.raises(TypeError, match="unexpected keyword argument 'frame'"):  # it took the later one
        wrap(cardan.frame_transform, model, frame="lower")(state(model)[0], frame="upper")
    with pytest.raises(CardanError, match=r"holds no program 'mass_matrix-0'.*wrap\(mass_matrix, model\)"):
        evaluate([state(model)[0]], "mass_matrix-0")


def test_a_quaternion_of_zeros_is_refused():
    model = cardan.robots.quadruped().model(base="floating")
    with pytest.raises(cardan.errors.ConfigurationError, match="norm 0"):
        wrap(cardan.gravity_forces, model)(torch.zeros(model.nq, dtype=torch.float64))


def test_without_torch_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    for name in [n for n in sys.modules if n.startswith(("cardan.interop.torch", "cardan._reach.interop.torch"))]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(MissingExtraError, match=r'pip install "cardan\[torch\]"'):
        import cardan.interop.torch  # noqa: F401


# --- tensors given to a function itself ---


def test_a_function_called_with_tensors_returns_tensors():
    model = pendulum()
    q, v, a = state(model, (3,))
    found = cardan.inverse_dynamics(model, q.requires_grad_(), v, a)
    np.testing.assert_array_equal(found.detach(), cardan.inverse_dynamics(model, *numbers(q, v, a)))
    found.sum().backward()
    assert q.grad.shape == q.shape
    assert isinstance(cardan.frame_transform(model, q, frame="lower"), torch.Tensor)
    assert isinstance(cardan.kinetic_energy(model, torch.nn.Parameter(q[0].detach()), v[0]), torch.Tensor)
    with pytest.raises(DTypeError, match=r"'v' is a numpy.ndarray, expected a tensor"):
        cardan.inverse_dynamics(model, q, v.numpy(), a)


def test_an_equal_model_runs_where_functions_run_by_default_now(monkeypatch):
    q, v, a = state(pendulum(), (3,))
    for target in ("numpy", "llvm"):  # whose roundings differ
        monkeypatch.setenv("CARDAN_TARGET", target)
        found = cardan.inverse_dynamics(pendulum(), q, v, a)
        np.testing.assert_array_equal(found, cardan.inverse_dynamics(pendulum(), *numbers(q, v, a)))


def test_a_step_of_a_simulation_is_differentiated():
    world = cardan.robots.cart_pole().world()
    step = wrap(cardan.solvers.Featherstone(world, dt=0.01).function, world.model)
    q, v, effort = (
        torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in ([0.1, 0.3], [0.2, -0.1], [1.0, 0.0])
    )

    def moved(q, v, effort):
        after = step(q, v, 0.0, effort=effort)
        return after["q"], after["v"]

    assert torch.autograd.gradcheck(moved, (q, v, effort), atol=1e-5)


# --- processes, threads, memory ---


def test_pickled_and_copied():
    model = pendulum()
    wrapped = wrap(cardan.frame_transform, model, frame="lower")
    q, *_ = state(model)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(wrapped))(q), wrapped(q))


def test_wrapped_at_once_by_many_threads():
    model, found = pendulum(), []
    q, v, a = state(model)

    def work():
        x = q.clone().requires_grad_()
        wrap(cardan.inverse_dynamics, model)(x, v, a).sum().backward()
        found.append(x.grad)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert all(torch.equal(x, found[0]) for x in found)


def test_functions_of_the_same_content_share_and_dropped_ones_are_freed():
    q, v, _ = state(pendulum())

    def gradient(length):
        model = cardan.robots.double_pendulum(length1=length).model()
        wrapped = wrap(cardan.kinetic_energy, model)
        x = q.clone().requires_grad_()
        wrapped(x, v).backward()
        return weakref.ref(model), program_of(cardan.kinetic_energy, model, ("q", "v"), ()).name

    first, again, others = gradient(0.5), gradient(0.5), [gradient(0.5 + 0.1 * k) for k in range(1, 5)]
    assert first[1] == again[1]
    assert len({name for _, name in others} | {first[1]}) == 5
    gc.collect()
    assert not any(model() for model, _ in (first, again, *others))


class Torques(torch.utils.data.Dataset):
    """What workers of a loader compute."""

    def __init__(self, wrapped, *arrays):
        self.wrapped, self.arrays = wrapped, arrays

    def __len__(self):
        return len(self.arrays[0])

    def __getitem__(self, k):
        return self.wrapped(*(x[k] for x in self.arrays))


@pytest.mark.full
@pytest.mark.parametrize("way", ["spawn", "fork"])
def test_workers_of_a_loader(way):
    model = pendulum()
    arrays = state(model, (8,))
    torques = wrap(cardan.inverse_dynamics, model)
    expected = torques(*arrays)
    loader = torch.utils.data.DataLoader(
        Torques(torques, *arrays), batch_size=4, num_workers=2, multiprocessing_context=way
    )
    torch.testing.assert_close(torch.cat(list(loader)), expected)


# --- a robot's constants as parameters ---


def test_constants_are_parameters():
    model = pendulum().with_inputs("mass", "com")
    found = torch.nn.ParameterDict({name: torch.as_tensor(x) for name, x in model.input_values().items()})
    q, v, a = state(model, (3,))
    torques = wrap(cardan.inverse_dynamics, model)(q, v, a, **found)
    np.testing.assert_allclose(torques.detach(), cardan.inverse_dynamics(pendulum(), *numbers(q, v, a)))
    torques.square().sum().backward()
    assert found["mass"].grad.shape == (3,)
    assert found["com"].grad.shape == (3, 3)
    single = found.to(torch.float32)
    energy = wrap(cardan.kinetic_energy, model)
    assert energy(q.float(), v.float(), **single).dtype == torch.float32
    with pytest.raises(DTypeError, match=r"'mass' is torch.float32"):
        energy(q, v, **single)


def test_parameters_under_transforms_and_compiled():
    model = pendulum().with_inputs(tip=("lower", "mass"))
    tip, energy = torch.tensor(0.7, dtype=torch.float64, requires_grad=True), wrap(cardan.kinetic_energy, model)
    q, v, _ = state(model, (3,))
    by_tip = vmap(grad(lambda tip, q, v: energy(q, v, tip=tip)), in_dims=(None, 0, 0))(tip.detach(), q, v)
    graph = torch.compile(lambda q, v, tip: energy(q, v, tip=tip), fullgraph=True, backend="aot_eager")
    graph(q, v, tip).sum().backward()
    torch.testing.assert_close(tip.grad, by_tip.sum())


def test_a_process_imports_torch_only_if_asked():
    code = (
        "import sys, cardan, cardan.interop; cardan.robots.double_pendulum().model(); assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
