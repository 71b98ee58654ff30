"""PyTorch's tensors on a device: its operator there, with all that PyTorch does around it.

Emulated, tensors of the processor stand for those of the device, whose memory is the processor's.
"""

import numpy as np
import pytest

import cardan
from cardan.errors import DTypeError

torch = pytest.importorskip("torch", reason="PyTorch is not installed (the extra torch)")
from cardan._reach.interop import torch_operator  # noqa: E402 -- needs torch
from cardan.interop.torch import wrap  # noqa: E402 -- needs torch

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:torch")


@pytest.fixture(autouse=True)
def place(device, monkeypatch):
    """The device of tensors."""
    if device is None:
        if not torch.cuda.is_available():
            pytest.skip("this PyTorch sees no device")
        return "cuda"
    monkeypatch.setattr(torch_operator.library, "holds", lambda value: isinstance(value, torch.Tensor))
    monkeypatch.setattr(torch_operator.library, "number_of", lambda tensor: 0)
    monkeypatch.setattr(torch_operator.library, "stream", lambda where, arrays, number: 0)
    monkeypatch.setattr(torch_operator, "evaluate_plainly", torch_operator.evaluate_there)
    return "cpu"


@pytest.fixture(scope="module")
def pendulum():
    return cardan.robots.double_pendulum().model()


def states(model, place, shape=(5,), seed=0):
    rng = np.random.default_rng(seed)
    arrays = [model.random_configuration(shape, seed=seed), *rng.normal(size=(2, *shape, model.nv))]
    return arrays, [torch.tensor(x, device=place) for x in arrays]


def test_values(device, place, pendulum):
    arrays, tensors = states(pendulum, place)
    expected = cardan.inverse_dynamics(pendulum, *arrays)
    for function in (wrap(cardan.inverse_dynamics, pendulum), lambda *x: cardan.inverse_dynamics(pendulum, *x)):
        found = function(*tensors)
        assert found.device == tensors[0].device
        np.testing.assert_array_equal(found.cpu(), expected)
    if device is not None:
        count, *pairs = device.launches[-1][-1]
        assert count == 5
        assert pairs[0:6:2] == [x.data_ptr() for x in tensors]  # nothing was copied
    single = wrap(cardan.inverse_dynamics, pendulum)(*(x.float() for x in tensors))
    assert single.dtype == torch.float32


def test_bound_functions(place, pendulum):
    arrays, tensors = states(pendulum, place)
    bound = cardan.inverse_dynamics.bind(pendulum)
    np.testing.assert_array_equal(bound(*tensors).cpu(), cardan.inverse_dynamics(pendulum, *arrays))
    with pytest.raises(DTypeError, match=r"'v' is one that requires a gradient.*wrap\(inverse_dynamics, model\)"):
        bound(tensors[0], tensors[1].requires_grad_(), tensors[2])


def test_an_out_whose_memory_does_not_hold_its_values(place, pendulum):
    arrays, tensors = states(pendulum, place)
    bound, plain = cardan.inverse_dynamics.bind(pendulum), torch.zeros((5, 2), dtype=torch.float64, device=place)
    np.testing.assert_array_equal(bound(*tensors, out=plain).cpu(), cardan.inverse_dynamics(pendulum, *arrays))
    with pytest.raises(DTypeError, match="'out' is read-only"):
        bound(*tensors, out=torch._neg_view(plain))  # a view that says "negate me", as z.conj().imag is
    with pytest.raises(DTypeError, match="'out' is one that requires a gradient"):
        bound(*tensors, out=plain.requires_grad_())


def test_views(place, pendulum):
    (q, v, a), (tq, tv, ta) = states(pendulum, place, (6,))
    torques = wrap(cardan.inverse_dynamics, pendulum)
    expected = cardan.inverse_dynamics(pendulum, q, v, a)
    turned = tq.T.contiguous().T
    negative = torch.complex(tv, tv).conj().imag  # a view that says "negate me"
    assert negative.is_neg()
    np.testing.assert_array_equal(torques(turned, -negative, ta).cpu(), expected)
    np.testing.assert_array_equal(torques(tq, negative, ta).cpu(), cardan.inverse_dynamics(pendulum, q, -v, a))
    np.testing.assert_array_equal(torques(tq[0].expand(6, 2), tv, ta).cpu(), torques(tq[0], tv, ta).cpu())
    assert torques(tq[:0], tv[:0], ta[:0]).shape == (0, 2)


def test_gradients(device, place, pendulum):
    _, (q, v, a) = states(pendulum, place, (2,))
    torques = wrap(cardan.inverse_dynamics, pendulum)
    arrays = [x.requires_grad_() for x in (q, v, a)]
    before = 0 if device is None else len(device.launches)
    assert torch.autograd.gradcheck(torques, arrays)
    assert device is None or len(device.launches) > before
    assert torch.autograd.gradgradcheck(torques, arrays)


def test_transforms(place, pendulum):
    (q, v, a), tensors = states(pendulum, place, (3,))
    torques = wrap(cardan.inverse_dynamics, pendulum)
    expected = cardan.inverse_dynamics(pendulum, q, v, a)
    np.testing.assert_array_equal(torch.vmap(torques)(*tensors).cpu(), expected)
    compiled = torch.compile(torques, fullgraph=True, backend="aot_eager")
    np.testing.assert_array_equal(compiled(*tensors).cpu(), expected)
    rate = torch.func.jvp(torques, tuple(tensors), tuple(map(torch.ones_like, tensors)))[1]
    assert rate.shape == (3, 2)


def test_what_is_refused(place, pendulum, monkeypatch):
    _, (q, v, a) = states(pendulum, place)
    torques = wrap(cardan.inverse_dynamics, pendulum)
    with pytest.raises(DTypeError, match=r"(torch.int64|a dtype that NumPy has not).*float64"):
        torques(q.long(), v, a)
    with pytest.raises(DTypeError, match=r"float16|has not"):
        torques(q.half(), v, a)
    with pytest.raises(
        DTypeError, match=r"'q' is a torch.Tensor of a dtype that NumPy has not, expected one of float64"
    ):
        cardan.inverse_dynamics.bind(pendulum)(q.long(), v, a)
    with pytest.raises(DTypeError, match=r"'v' is (torch.)?float32, expected (torch.)?float64, as 'q' is"):
        torques(q, v.float(), a)
    with pytest.raises(DTypeError, match=r"'v' is .*numpy"):
        torques(q, v.cpu().numpy(), a)
    with pytest.raises(DTypeError, match=r"'v' is a numpy.ndarray, expected a torch.Tensor on device 0"):
        cardan.inverse_dynamics.bind(pendulum)(q, v.cpu().numpy(), a)
    monkeypatch.setattr(
        torch_operator.library, "holds", lambda value: isinstance(value, torch.Tensor) and value is not v
    )
    with pytest.raises(
        DTypeError, match=r"'v' is a torch.Tensor in the memory of the processor, expected .* on device 0"
    ):
        cardan.inverse_dynamics.bind(pendulum)(q, v, a)
    if place == "cuda":
        with pytest.raises(DTypeError, match=r"'v' is on cpu, expected on cuda:0, as 'q' is"):
            torques(q, v.cpu(), a)
