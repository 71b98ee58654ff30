"""Plain derivatives: by the entries of arrays, as autograd engines ask for them; against differences and each other."""

import pickle
from functools import partial

import numpy as np
import pytest

import cardan
from cardan._dynamics.call.plain import extra_names, plain_derivative
from cardan.errors import ParameterError, UnknownNameError
from mechanisms import central_difference

pytestmark = pytest.mark.usefixtures("quick_target")
rng = np.random.default_rng(3)
pushed, pulled = (partial(plain_derivative, way) for way in ("pushed", "pulled"))


@cardan.function(shapes={"target": (2,)}, options=("power",))
def several(model, q, v, target, gain: float, power=2):
    """A dictionary, with a key that is no identifier, of results of several shapes."""
    error = [target[0] - q[0], target[1] - q[1]]
    return {"the sum": gain * sum(e**power for e in error), "moved": cardan.integrate(model, q, v), "error": error}


def floating():
    """A tree with a quaternion in its configuration."""
    return cardan.robots.quadruped().model()


def checked(function, model, options=(), **arrays):
    """Check both derivatives by all arrays: rates against central differences, gradients as the rates' transpose."""
    names = tuple(arrays)
    forward, back = (make(function, model, names, names, options) for make in (pushed, pulled))
    dots = {n: rng.normal(size=np.shape(x)) for n, x in arrays.items()}
    rates = forward(model, **arrays, **dict(zip(extra_names(forward), dots.values(), strict=True)))

    def moved(h):
        return flat(function(model, **{n: x + h * dots[n] for n, x in arrays.items()}, **dict(options)))

    np.testing.assert_allclose(flat(rates), central_difference(moved), atol=1e-6 * np.abs(flat(rates)).max())
    weights = [rng.normal(size=np.shape(x)) for x in parts(rates)]
    gradients = back(model, **arrays, **dict(zip(extra_names(back), weights, strict=True)))
    assert {n: x.shape for n, x in gradients.items()} == {n: np.shape(x) for n, x in arrays.items()}
    np.testing.assert_allclose(
        sum(np.sum(w * r) for w, r in zip(weights, parts(rates), strict=True)),
        sum(np.sum(gradients[n] * dots[n]) for n in names),
        rtol=1e-9,
    )
    return forward, back


def parts(results):
    return list(results.values()) if isinstance(results, dict) else [results]


def flat(results):
    return np.concatenate([np.ravel(x) for x in parts(results)])


def test_of_one_result_and_of_several():
    model = floating()
    q, v, a = model.random_configuration(seed=1), rng.normal(size=model.nv), rng.normal(size=model.nv)
    checked(cardan.inverse_dynamics, model, q=q, v=v, a=a)
    checked(cardan.frame_transform, model, (("frame", model.frame_names[-1]),), q=q)
    checked(several, model, (("power", 3),), q=q, v=v, target=np.array([0.3, -0.2]), gain=np.array(0.7))


def test_each_can_be_pushed_and_pulled_again():
    model = cardan.robots.double_pendulum().model()
    q, v = rng.normal(size=(2, 2))
    forward, back = checked(cardan.kinetic_energy, model, q=q, v=v)
    checked(forward, model, q=q, v=v, q_dot=v, v_dot=q)
    weights = {"weights_0": np.array(0.7)}
    again, _ = checked(back, model, q=q, v=v, **weights)
    checked(again, model, q=q, v=v, **weights, q_dot=v, v_dot=q, weights_0_dot=np.array(0.1))
    assert pulled(again, model, ["q"], ["q", "v", "weights_0", "q_dot", "v_dot", "weights_0_dot"]).name.endswith("_q")


def test_constants_of_a_model_count_among_the_arguments():
    model = cardan.robots.double_pendulum().model()
    model = model.with_inputs(mass=(model.body_names[-1], "mass"))
    q, v, a = rng.normal(size=(3, 2))
    checked(cardan.inverse_dynamics, model, q=q, v=v, a=a, mass=np.array(1.3))


def test_batches_pickling_and_other_targets():
    model = cardan.robots.double_pendulum().model()
    q, v, a = rng.normal(size=(3, 4, 2))
    back = pulled(cardan.inverse_dynamics, model, ["v"], ["q", "v", "a"])
    together = back(model, q, v, a, weights_0=a)["v"]
    alone = [back(model, *rows, weights_0=rows[2])["v"] for rows in zip(q, v, a, strict=True)]
    np.testing.assert_array_equal(together, alone)
    copy = pickle.loads(pickle.dumps(back))
    elsewhere = (which.on("numpy")(model, q, v, a, weights_0=a)["v"] for which in (copy, back))
    np.testing.assert_array_equal(*elsewhere)
    inner = cardan.function(lambda model, q, v: back(model, q, v, v, weights_0=v)["v"])
    np.testing.assert_allclose(inner(model, q, v), back(model, q, v, v, weights_0=v)["v"], rtol=1e-12, atol=1e-15)


def test_names_that_are_none_are_refused():
    model = cardan.robots.double_pendulum().model()
    for make in (pushed, pulled):
        with pytest.raises(UnknownNameError, match="no array argument named 'w'; the names are 'q', 'v', 'a'"):
            make(cardan.inverse_dynamics, model, ["w"], ["q", "v", "a"])
        for wrong in ([], ["q", "q"]):
            with pytest.raises(ParameterError, match="each once"):
                make(cardan.inverse_dynamics, model, wrong, ["q", "v", "a"])
