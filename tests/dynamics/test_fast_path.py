"""The fast path: calls from Python that machine code decides itself, and those it hands on."""

import copy
import functools
import gc
import os
import pickle
import subprocess
import sys
import threading
import weakref
from typing import NamedTuple

import numpy as np
import pytest

import cardan
from cardan._compiler import targets
from cardan._compiler.targets.llvm import fast_path as llvm_fast_path
from representatives import represented
from work import calls

pytestmark = pytest.mark.skipif(targets.default_target() != "llvm", reason="the fast path belongs to the llvm target")


@pytest.fixture(scope="module")
def arm():
    return cardan.robots.arm7().model()


@pytest.fixture(scope="module")
def states(arm):
    rng = np.random.default_rng(0)
    return [arm.random_configuration((5,), seed=0), rng.normal(size=(5, arm.nv)), rng.normal(size=(5, arm.nv))]


def test_contiguous_arrays_never_reach_python(arm, states):
    function = cardan.function(lambda model, q, v: cardan.kinetic_energy(model, q, v))
    q, v, _ = states
    first = function(arm, q, v)
    assert calls(lambda: function(arm, q, v)) < 20  # the look for the fast path; hundreds without it
    function(arm, q[0], v[0])  # the first of a few states looks for code of their own, which another test may have made
    assert calls(lambda: function(arm, q[0], v[0])) < 20
    np.testing.assert_array_equal(function(arm, q, v), first)
    assert function(arm, q[0], v[0]) == first[0]
    assert type(function(arm, q[0], v[0])) is np.float64


def energy_and(number):
    return cardan.function(lambda model, q, v: cardan.kinetic_energy(model, q, v) + number)


def widths(compiled):
    """Return how many states at a time there is machine code for."""
    return [int(line.split(": ")[1].split()[0]) for line in compiled.run.describe() if "float64" in line]


def test_a_few_states_have_code_of_their_own_once_it_pays(arm, states):
    """Where vectors are large; until then code for many serves them, without Python, and gives the same bits."""
    import cardan._compiler.targets.llvm.target as native

    if not native.few_states(np.dtype(float)):
        pytest.skip("vectors of 64 bytes only")
    for first in (5, 1):  # rows of the first call, which compiles
        function = energy_and(float(first))
        compiled, (q, v, _) = function.compiled(arm, ("q", "v"), ()), states
        fast, rows = function.bind(arm), 6 - first
        fast(q[:first], v[:first])
        one = widths(compiled)
        assert one == ([8] if first == 5 else [2])
        served = [fast(q[:rows], v[:rows]) for _ in range(3)]
        assert calls(lambda fast=fast, q=q[:rows], v=v[:rows]: fast(q, v)) < 10
        assert widths(compiled) == one
        for _ in range(native.PATIENCE // rows):
            fast(q[:rows], v[:rows])
        assert sorted(widths(compiled)) == [2, 8]
        assert calls(lambda fast=fast, q=q[:rows], v=v[:rows]: fast(q, v)) < 10
        for result in (*served, function.on("llvm")(arm, q[:rows].tolist(), v[:rows])):
            np.testing.assert_array_equal(result, fast(q[:rows], v[:rows]))
        many = [np.tile(x, (300, 1)) for x in (q, v)]
        np.testing.assert_array_equal(fast(*many)[:rows], served[0])


def test_arrays_that_were_pickled_never_reach_python(arm, states):
    """Their dtype objects are others than NumPy's own, of the same meaning."""
    function = cardan.function(lambda model, q, v: cardan.kinetic_energy(model, q, v))
    q, v, _ = states
    first = function(arm, q, v)
    sent_q, sent_v = pickle.loads(pickle.dumps((q, v)))
    noted = v.astype(np.dtype(np.float64, metadata={"unit": "rad/s"}))
    assert sent_q.dtype is not q.dtype
    for arguments in ((sent_q, sent_v), (q, sent_v), (sent_q, v), (sent_q.copy()[:], noted)):
        np.testing.assert_array_equal(function(arm, *arguments), first)
        assert calls(lambda given=arguments: function(arm, *given)) < 20
    function(arm, *(x.astype(np.float32) for x in (q, v)))
    single = pickle.loads(pickle.dumps((q.astype(np.float32), v.astype(np.float32))))
    assert function(arm, *single).dtype == np.float32
    assert calls(lambda: function(arm, *single)) < 20
    swapped = q.astype(pickle.loads(pickle.dumps(np.dtype(">f8"))))
    np.testing.assert_array_equal(function(arm, swapped, v), first)
    assert function(arm, q, pickle.loads(pickle.dumps(v.astype(np.float32)))).dtype == np.float64


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x[::-1],
        lambda x: np.asfortranarray(x),
        lambda x: x.astype(">f8"),
        lambda x: x.tolist(),
        lambda x: x.view(np.recarray),
        lambda x: np.frombuffer(b"\0" + x.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(x.shape),
        lambda x: np.broadcast_to(x[0], x.shape),
    ],
)
def test_other_arrays_are_converted(arm, states, change):
    q, v, a = states
    changed = change(v)
    expected = cardan.inverse_dynamics.on("numpy")(arm, q, changed, a)
    fast = cardan.inverse_dynamics.bind(arm)
    fast(q, v, a)
    np.testing.assert_allclose(fast(q, changed, a), expected, rtol=1e-12, atol=1e-12)


NUMBERS = [400.0, 400, np.float64(400.0), np.float32(400.0), np.int64(400), -1.0, -1, 0, True + 0, float("nan")]


@pytest.fixture(scope="module")
def pull(arm):
    """The controller of docs/control-loop.md."""

    def impedance(model, q, v, target, stiffness=400.0, damping=60.0):
        J = cardan.jacobian(model, q, "tool")[:3]
        force = stiffness * (target - cardan.frame_transform(model, q, "tool")[:3, 3]) - damping * (J @ v)
        return J.T @ force + cardan.bias_forces(model, q, v)

    return cardan.function(shapes={"target": (3,)})(impedance)


def test_the_loop_of_the_page_never_reaches_python(arm, states, pull):
    """Numbers went through Python: 46 us a tick, where the page says some tenths of one."""
    (q, v, _), target, tau = (x[0] for x in states), np.array([0.4, 0.1, 0.7]), np.empty(7)
    control = pull.bind(arm)
    control(q, v, target, 400.0, 60.0, out=tau)
    assert calls(lambda: control(q, v, target, 400.0, 60.0, out=tau)) < 3
    pull(arm, q, v, target, 400.0, 60.0)
    assert calls(lambda: pull(arm, q, v, target, 400.0, 60.0)) < 20
    assert calls(lambda: control(q, v, target, stiffness=300.0)) < 70
    assert calls(lambda: control(q, v.tolist(), target)) < 70


@pytest.mark.parametrize("number", NUMBERS, ids=lambda x: f"{type(x).__name__} {x}")
def test_numbers_never_reach_python_and_are_the_arrays_they_stand_for(arm, states, pull, number):
    q, v, target = states[0][0], states[1][0], np.array([0.4, 0.1, 0.7])
    fast = pull.bind(arm)
    expected = fast(q, v, target, np.array(float(number)), np.array(60.0))
    assert fast(q, v, target, number, 60.0).tobytes() == expected.tobytes()
    assert calls(lambda: fast(q, v, target, number, 60.0)) < 3
    one = [x[None] for x in (q, v, target)]  # a batch of one state
    assert fast(*one, number, 60.0).tobytes() == expected.tobytes()
    assert fast(*one, number, 60.0).shape == (1, 7)
    many = [np.stack([x, x, x]) for x in (q, v, target)]
    assert fast(*many, number, 60.0).tobytes() == 3 * expected.tobytes()


def test_what_is_no_number_is_none_by_every_way(arm, states, pull):
    q, v, target = states[0][0], states[1][0], np.array([0.4, 0.1, 0.7])
    fast = pull.bind(arm)
    fast(q, v, target)
    for wrong, words in (
        (True, "truth values"),
        (np.True_, "truth values"),
        (10**400, "objects"),
        (-(10**400), "objects"),
        ("400", "text"),
        (b"400", "bytes"),
        (1 + 2j, "complex"),
        (None, "objects"),
        ([1.0, [2.0]], "ragged"),
        (np.array([True]), "truth values"),
    ):
        for call in (lambda w=wrong: fast(q, v, target, w, 60.0), lambda w=wrong: pull(arm, q, v, target, w)):
            with pytest.raises(cardan.errors.DTypeError, match=words):
                call()
    with pytest.raises(cardan.errors.ShapeError):
        fast(q, v, 0.0)
    with pytest.raises(cardan.errors.ShapeError):
        fast(q, v, [0.0, 1.0])


def test_single_precision_is_that_of_all_arrays_by_every_way(arm, states, pull):
    """Whole numbers leave it as it is; Python's floats are float64, as NumPy's are."""
    single = [x[0].astype(np.float32) for x in states[:2]] + [np.array([0.4, 0.1, 0.7], np.float32)]
    gain, fast = np.float32(400.0), pull.bind(arm)
    for gains, dtype in (
        ((np.array(gain), np.array(gain)), np.float32),
        ((gain, gain), np.float32),
        ((400, np.int64(3)), np.float32),
        ((gain, 60.0), np.float64),
        ((gain, np.float64(60.0)), np.float64),
    ):
        for _ in range(3):
            assert fast(*single, *gains).dtype == pull(arm, *single, *gains).dtype == dtype
    assert fast(single[0].tolist(), *single[1:], gain, gain).dtype == np.float64
    assert fast(single[0].astype(np.float16), *single[1:], gain, gain).dtype == np.float64
    assert fast(single[0].astype(int), *single[1:], gain, gain).dtype == np.float32


def test_arguments_of_any_kind_give_the_bits_of_arrays_and_stay_as_they_are(arm, states):
    """Through the second try: a list, a column, integers, one state for many, also into `out=` that is an argument."""
    fast, (q, v, a) = cardan.inverse_dynamics.bind(arm), states
    whole = np.round(10 * v).astype(int)
    column = np.stack([v[0]] * 3, axis=1)[:, 1]
    wide = np.hstack([a, v])
    mixed = {
        "lists": (q.tolist(), v.tolist(), a.tolist()),
        "tuples": (tuple(q[0]), tuple(v[0]), tuple(a[0])),
        "a column": (q[0], column, a[0]),
        "columns of an array": (q, v, wide[:, :7]),
        "backwards": (q[::-1], v[::-1], a[::-1]),
        "whole numbers": (q, whole, whole.astype(np.uint8)),
        "read-only": (np.broadcast_to(q[0], q.shape), v, a),
        "one state for many": (q[0], v, a[0]),
        "two batches": (q[:, None], v[:3], a[0]),
        "other byte order": (q.astype(">f8"), v, a),
        "other precisions": (q, v.astype(np.float32), a.astype(np.longdouble)),
        "no rows": (q[:0], v[:0].tolist() or np.empty((0, 7)), a[0]),
    }
    for name, given in mixed.items():
        before = [np.array(x) for x in given]
        batch = np.broadcast_shapes(*(np.shape(x)[:-1] for x in given))
        plain = [np.ascontiguousarray(np.broadcast_to(np.asarray(x, np.float64), (*batch, 7))) for x in given]
        expected = fast(*plain)
        for found in (fast(*given), cardan.inverse_dynamics(arm, *given), fast(*given, out=np.empty((*batch, 7)))):
            assert (found.shape, found.tobytes()) == ((*batch, 7), expected.tobytes()), name
        assert all(np.array_equal(x, y) for x, y in zip(before, given, strict=True)), name
    inside = wide.copy()
    one = np.ascontiguousarray(inside[:, 7:])
    assert fast(q, one, inside[:, :7], out=one) is one
    np.testing.assert_array_equal(one, fast(q, v, a))


@pytest.mark.parametrize(
    "given", [lambda x: x.tolist(), lambda x: np.asfortranarray(x), lambda x: x.astype(np.float32)]
)
def test_a_second_try_takes_no_more_than_some_calls(arm, states, given):
    fast = cardan.inverse_dynamics.bind(arm)
    q, v, a = states
    fast(q, v, a)
    assert calls(lambda: fast(q, given(v), a)) < 60
    cardan.inverse_dynamics(arm, q, v, a)
    assert calls(lambda: cardan.inverse_dynamics(arm, q, given(v), a)) < 60


def test_references_are_balanced_where_arguments_are_converted(arm, states, pull):
    fast, q, v, target = pull.bind(arm), states[0][0], states[1][0], np.array([0.4, 0.1, 0.7])
    listed, number, whole, out = v.tolist(), float("4e2"), 10**6 + 7, np.empty(7)
    watched = [q, v, target, listed, number, whole, out]
    fast(q, listed, target, number, whole, out=out)
    fast(q, v, target, number, whole, out=out)
    before = [sys.getrefcount(x) for x in watched]
    for _ in range(100):
        fast(q, listed, target, number, whole, out=out)
        fast(q, v, target, number, whole, out=out)
        fast(q, v, target, damping=number)
        with pytest.raises(cardan.errors.DTypeError):
            fast(q, v, target, number, 10**400)
    assert [sys.getrefcount(x) for x in watched] == before


def test_out(arm, states):
    fast = cardan.inverse_dynamics.bind(arm)
    expected = fast(*states)
    out = np.full_like(expected, np.nan)
    assert fast(*states, out=out) is out
    np.testing.assert_array_equal(out, expected)
    q, v, a = (x.copy() for x in states)
    assert fast(q, v, a, out=a) is a
    np.testing.assert_array_equal(a, expected)
    memory = np.zeros(200)
    v2, overlapping = memory[:35].reshape(5, 7), memory[3:38].reshape(5, 7)
    v2[...] = v
    np.testing.assert_array_equal(fast(q, v2, states[2], out=overlapping), expected)
    frozen = np.zeros_like(expected)
    frozen.flags.writeable = False
    with pytest.raises(cardan.errors.DTypeError, match="read-only"):
        fast(*states, out=frozen)
    with pytest.raises(cardan.errors.ShapeError):
        fast(*states, out=np.zeros((4, 7)))
    with pytest.raises(TypeError):
        fast(*states, wrong=out)


def test_single_precision_is_compiled_when_it_first_comes(arm, states):
    fast = cardan.inverse_dynamics.bind(arm)
    single = [x.astype(np.float32) for x in states]
    assert fast(*states).dtype == np.float64
    for _ in range(3):
        result = fast(*single)
        assert result.dtype == np.float32
        np.testing.assert_allclose(result, fast(*states), rtol=1e-3, atol=1e-3)
    mixed = fast(states[0], *single[1:])
    assert mixed.dtype == np.float64


def test_several_results_keep_their_names(arm, states):
    @cardan.function
    def both(model, q, v):
        return {"kinetic": cardan.kinetic_energy(model, q, v), "com": cardan.center_of_mass(model, q)}

    q, v, _ = states
    first = both(arm, q, v)
    second = both(arm, q, v)
    assert first.keys() == second.keys() == {"kinetic", "com"}
    assert second["com"].shape == (5, 3)
    assert type(both(arm, q[0], v[0])["kinetic"]) is np.float64
    for name in first:
        np.testing.assert_array_equal(first[name], second[name])


def test_several_results_are_written_where_they_are_wanted(arm, states):
    fast = cardan.inverse_dynamics_derivatives.bind(arm)
    q, v, a = states
    first = fast(q, v, a)
    expected = [part.copy() for part in fast(q, a, v)]
    for out in (first, tuple(np.empty_like(part) for part in expected), type(first)(*np.zeros((3, 5, 7, 7)))):
        assert fast(q, a, v, out=out) is out
        assert all(map(np.array_equal, out, expected))
        assert calls(lambda out=out: fast(q, a, v, out=out)) < 10
    listed = [np.empty_like(part) for part in expected]
    assert fast(q, a, v, out=listed) is listed  # the long way
    assert all(map(np.array_equal, listed, expected))
    inside = np.zeros((3, 5, 7, 7))
    inside[0, 0, :5], inside[2, 0, :5] = v, a
    fast(q, inside[2, 0, :5], inside[0, 0, :5], out=tuple(inside))  # the arguments lie in it
    assert all(map(np.array_equal, inside, expected))


class Backwards(NamedTuple):
    da: np.ndarray
    dv: np.ndarray
    dq: np.ndarray


def test_wrong_places_for_several_results_are_refused(arm, states):
    fast, bad = cardan.inverse_dynamics_derivatives.bind(arm), cardan.errors
    one, frozen = np.empty((5, 7, 7)), np.empty((5, 7, 7))
    frozen.flags.writeable = False
    fast(*states)
    wrong = [
        ((one, one.copy(), one), bad.DTypeError, "'out: da' is in the memory of 'out: dq'"),
        (
            (one, one.copy()),
            bad.DTypeError,
            "a tuple of 2, expected a named tuple (dq, dv, da), or a tuple of 3 arrays",
        ),
        (Backwards(one, one.copy(), one.copy()), bad.DTypeError, "is a Backwards (da, dv, dq) of 3"),
        (
            (one, np.float64(1.0), one.copy()),
            bad.DTypeError,
            "is a float64, no NumPy array, expected an array of float64 of shape (5,",
        ),
        (one, bad.DTypeError, "is a ndarray"),
        (None.__class__, bad.DTypeError, "is a type"),
        ((one, frozen, one.copy()), bad.DTypeError, "'out: dv' is read-only"),
        ((one, one.copy().swapaxes(1, 2), one.copy()), bad.DTypeError, "not contiguous"),
        ((one, one[:2].copy(), one.copy()), bad.ShapeError, "'out: dv' has shape (2, 7, 7), expected (5, 7, 7)"),
        ((one, one.astype(np.float32), one.copy()), bad.DTypeError, "expected an array of float64"),
        ({"dq": one, "dv": one.copy(), "da": one.copy()}, bad.DTypeError, "is a dict"),
    ]
    for out, error, words in wrong:
        with pytest.raises(error) as info:
            fast(*states, out=out)
        assert words in str(info.value)


def test_results_that_overlap_are_refused(arm, states):
    fast, memory = cardan.inverse_dynamics_derivatives.bind(arm), np.zeros(3 * 245)
    at = lambda k: memory[k : k + 245].reshape(5, 7, 7)  # noqa: E731
    fast(*states)
    assert fast(*states, out=(at(490), at(0), at(245)))[1] is not None
    for k in (244, 1, 0):
        with pytest.raises(cardan.errors.DTypeError, match="memory of its own"):
            fast(*states, out=(at(0), at(k), at(490)))


class Pair(NamedTuple):
    kinetic: float
    com: list


class Checked(Pair):
    """A named tuple with code of its own."""

    def __new__(cls, kinetic, com):
        return Pair.__new__(cls, kinetic * 2, com)


FORMS = {
    "tuple": lambda e, c: (e, c),
    "dictionary": lambda e, c: {"kinetic": e, "com": c},
    "named tuple": Pair,
    "its subclass": type("Own", (Pair,), {"total": property(lambda self: self.kinetic)}),
    "one with code": Checked,
}


@pytest.mark.parametrize("form", FORMS.values(), ids=list(FORMS))
def test_several_results_come_in_their_form_by_every_way(arm, states, form):
    """The first call goes through Python, the second through machine code."""
    both = cardan.function(
        lambda model, q, v: form(cardan.kinetic_energy(model, q, v), cardan.center_of_mass(model, q)),
    )
    q, v, _ = states
    for given in ((q, v), (q[0], v[0]), (q[:0], v[:0]), (np.tile(q, (2, 1, 1)), np.tile(v, (2, 1, 1)))):
        first, second, bound = both(arm, *given), both(arm, *given), both.bind(arm)(*given)
        for other in (second, bound):
            assert type(other) is type(first)
            pairs = [list(x.values()) if isinstance(x, dict) else list(x) for x in (first, other)]
            for x, y in zip(*pairs, strict=True):
                assert type(x) is type(y)
                np.testing.assert_array_equal(x, y)
    assert type(pairs[1][0]) is np.ndarray
    assert pairs[1][0].flags.owndata
    assert pairs[1][1].flags.c_contiguous
    assert pairs[1][1].flags.owndata
    single = both.bind(arm)(q[0], v[0])
    if isinstance(single, tuple):
        assert pickle.loads(pickle.dumps(tuple(single)))[0] == single[0]
    out = both.bind(arm)(q, v)
    assert both.bind(arm)(q, v, out=out) is out


def test_derivatives_of_several_results_come_in_their_form(arm, states):
    q, v, _ = states
    two = cardan.function(lambda model, q, v: (cardan.kinetic_energy(model, q, v), cardan.center_of_mass(model, q)))
    fast = cardan.derivative(two, ("q", "v")).bind(arm)
    first, second = fast(q, v), fast(q, v)
    assert type(second) is type(first)
    assert [len(part) for part in second] == [2, 2]
    empty = type(first)(*(tuple(np.empty_like(x) for x in part) for part in first))
    assert fast(q, v, out=empty) is empty
    for part, same, given in zip(first, second, empty, strict=True):
        for x, y, z in zip(part, same, given, strict=True):
            np.testing.assert_array_equal(x, y)
            np.testing.assert_array_equal(x, z)


def test_references_of_several_results_are_balanced(arm, states):
    fast = cardan.inverse_dynamics_derivatives.bind(arm)
    out = tuple(np.empty((5, 7, 7)) for _ in range(3))
    kinds, overlapping = [tuple, type(fast(*states))], (out[0], out[1], out[0])
    watched = [*states, out, *out, *kinds]
    before = [sys.getrefcount(x) for x in watched]
    pythons = tuple(x.copy() for x in out)
    counts = [sys.getrefcount(x) for x in pythons]  # the tuple, and more: what Python keeps while it counts differs
    for _ in range(100):
        result = fast(*states)
        assert [sys.getrefcount(x) for x in result] == counts
        fast(*states, out=out)
        with pytest.raises(cardan.errors.DTypeError):
            fast(*states, out=overlapping)
        del result
    assert [sys.getrefcount(x) for x in watched] == before
    result = fast(*states)
    watch = weakref.ref(result[1])
    del result
    assert watch() is None


def test_options_are_looked_up_at_a_glance(arm, states):
    """By which object an option is, if it cannot change; texts made anew are right, too."""
    q = states[0]
    for name in arm.body_names[-1:]:
        expected = cardan.frame_transform.on("numpy")(arm, q, name)
        for _ in range(100):
            anew = "".join(name)
            np.testing.assert_allclose(cardan.frame_transform(arm, q, frame=anew), expected, rtol=1e-12, atol=1e-12)
        for _ in range(2):  # the first leaves a fast path, the second is known from then on
            cardan.frame_transform(arm, q, name), cardan.frame_transform(arm, q, frame=name)
        assert calls(lambda n=name: cardan.frame_transform(arm, q, n)) < 16
        assert calls(lambda n=name: cardan.frame_transform(arm, q, frame=n)) < 16
    listed = [arm.body_names[-1], arm.body_names[-2]]  # which may be changed
    for _ in range(3):
        first = cardan.frame_transform(arm, q, listed)
    listed[0] = arm.body_names[-3]
    assert not np.array_equal(cardan.frame_transform(arm, q, listed), first)
    listed[0] = arm.body_names[-1]
    np.testing.assert_array_equal(cardan.frame_transform(arm, q, listed), first)


def test_numbers_and_texts_of_one_argument_are_told_apart_at_a_glance(arm, states):
    """An argument without a type is a number or an option, as it is given; each text is a program of its own."""
    signs = {"plus": 1.0, "minus": -1.0}
    scaled = cardan.function(lambda model, q, by: q * (signs[by] if isinstance(by, str) else by))
    q, texts = states[0], list(signs)
    for _ in range(3):
        for by, factor in ((2.5, 2.5), (3.0, 3.0), *signs.items(), (np.float64(4.0), 4.0), (np.array(5.0), 5.0)):
            np.testing.assert_array_equal(scaled(arm, q, by), q * factor)
            np.testing.assert_array_equal(scaled(arm, q, by=by), q * factor)
        for name in texts[::-1]:
            np.testing.assert_array_equal(scaled(arm, by="".join(name), q=q), q * signs[name])


@pytest.mark.parametrize("states_of", [(), (1,), (3,), (0,), (3, 1, 2)], ids=str)
def test_a_number_without_a_type_serves_every_batch_at_every_call(arm, states_of):
    """A second call with one number for a batch was refused: the number had become an array, and so no number."""
    scaled = cardan.function(lambda model, q, by, order=3: q * by + order)
    for dtype in (np.float64, np.float32):
        q = arm.random_configuration(states_of, seed=1).astype(dtype)
        for by, order in ((2.0, 3), (np.float32(0.5), 3.0), (np.array(0.5), np.float64(1.0)), (0.25, np.array(2.0))):
            for _ in range(3):
                np.testing.assert_allclose(scaled(arm, q, by, order=order), q * by + order, rtol=1e-6)
                np.testing.assert_allclose(scaled(arm, q.astype(">f8"), by, order), q * by + order, rtol=1e-6)


def test_whole_numbers_beyond_those_of_numpy_are_numbers_by_every_way(arm):
    """The fast path took 2**70, and the first call refused it."""
    scaled = cardan.function(lambda model, q, by=1.0: q * by)
    q = arm.neutral() + 1.0
    for _ in range(3):
        np.testing.assert_array_equal(scaled(arm, q, 2**70), q * 2.0**70)
        np.testing.assert_array_equal(scaled.bind(arm)(q[None], by=-(2**64)), q[None] * -(2.0**64))


def test_arrays_left_out_have_their_defaults_at_every_call(arm, states):
    """An array's default that is no number was forgotten from the second call on."""
    offset = cardan.function(shapes={"by": (7,)})(lambda model, q, by=(1, 2, 3, 4, 5, 6, 7), gain=2.0: gain * q + by)
    q = states[0][0]
    for _ in range(3):
        np.testing.assert_allclose(offset(arm, q), 2.0 * q + np.arange(1.0, 8.0))
        np.testing.assert_allclose(offset(arm, q, gain=3), 3.0 * q + np.arange(1.0, 8.0))


def test_options_have_fast_paths_of_their_own(arm, states):
    q = states[0]
    for _ in range(2):
        hand = cardan.frame_transform(arm, q, arm.body_names[-1])
        elbow = cardan.frame_transform(arm, q, frame=arm.body_names[-4])
        assert not np.allclose(hand, elbow)
        with pytest.raises(cardan.errors.UnknownNameError):
            cardan.frame_transform(arm, q, "hnad")


def test_a_bound_function_is_called_as_functions_are(arm, states):
    """Its class says so to Python (a vectorcall); there is no way past the checks."""
    fast = cardan.inverse_dynamics.bind(arm)
    expected = fast(*states)
    out = np.empty_like(expected)
    assert fast.__call__(*states, **{"out": out}) is out
    assert functools.partial(fast, states[0])(*states[1:], out=out) is out
    assert next(map(fast, *([x] for x in states))).tobytes() == expected.tobytes()
    assert callable(fast)
    assert type(fast).__call__(fast, *states).tobytes() == expected.tobytes()
    assert repr(fast) == "<inverse_dynamics(q, v, a) of one model, on llvm>"
    assert fast(a=states[2], q=states[0], v=states[1]).tobytes() == expected.tobytes()
    assert fast.__doc__.startswith("A function of one model")
    for again in (pickle.loads(pickle.dumps(fast)), copy.copy(fast), copy.deepcopy(fast)):
        assert type(again) is type(fast)
        np.testing.assert_array_equal(again(*states), expected)
    for wrong in ((), states[:2], [*states, out]):
        with pytest.raises(TypeError, match="takes 3 arrays"):
            fast(*wrong)
    for name in ("o", "threads"):
        with pytest.raises(TypeError, match=name):
            fast(*states, **{name: 1})
    with pytest.raises(TypeError):
        fast(*states, out=out, more=1)
    with pytest.raises(AttributeError):
        fast.anything = 1


def test_a_bound_function_in_a_ring_of_references_is_freed(arm, states):
    watched = []
    for _ in range(3):
        fast = cardan.inverse_dynamics.bind(arm)
        fast(*states)
        kept = type("Kept", (), {})()
        kept.fast, kept.itself = fast, kept
        watched.append(weakref.ref(kept))
        del fast, kept
    gc.collect()
    assert not any(watch() for watch in watched)


@pytest.mark.parametrize("count", represented([1, 64, 70], by=[1, 70].count))
def test_any_number_of_results(arm, states, count):
    """So many that the fast path leaves them to Python, too; among them some without entries."""
    q, v, _ = states
    many = cardan.function(lambda model, q, v: (q[:0], *(q * float(k) + v for k in range(count - 1)))).bind(arm)
    for _ in range(2):
        found = many(q, v)
        assert [x.shape for x in found] == [(5, 0), *[(5, 7)] * (count - 1)]
        for k, x in enumerate(found[1:]):
            np.testing.assert_allclose(x, q * k + v, rtol=1e-14, atol=1e-14)
        assert many(q, v, out=found) is found


def test_threads_that_ask_for_a_few_and_for_many_states(arm):
    fast, wrong = energy_and(0.25).bind(arm), []
    q, v = arm.random_configuration((40,), seed=1), np.random.default_rng(1).normal(size=(40, 7))
    expected = energy_and(0.25).on("numpy")(arm, q, v)

    def work(number):
        rng = np.random.default_rng(number)
        for _ in range(400):
            rows = int(rng.choice([1, 2, 3, 40]))
            if not np.allclose(fast(q[:rows], v[:rows]), expected[:rows], rtol=1e-12):
                wrong.append(rows)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_references_are_balanced(arm, states):
    fast = cardan.inverse_dynamics.bind(arm)
    out = np.empty_like(fast(*states))
    wrong = np.zeros((5, 6))
    before = [sys.getrefcount(x) for x in (*states, out, wrong)]
    for _ in range(100):
        fast(*states)
        fast(*states, out=out)
        with pytest.raises(cardan.errors.ShapeError):
            fast(wrong, *states[1:])
    assert [sys.getrefcount(x) for x in (*states, out, wrong)] == before
    result, other = fast(*states), np.empty(3)
    assert sys.getrefcount(result) == sys.getrefcount(other)  # one each; some Pythons count the argument, too


def test_models_and_bound_functions_are_freed():
    arm = cardan.robots.arm7().model()
    q = arm.random_configuration(seed=0)
    fast = cardan.mass_matrix.bind(arm)
    fast(q)
    cardan.mass_matrix(arm, q)
    cardan.mass_matrix(arm, q)
    watch = weakref.ref(arm)
    del arm, fast
    gc.collect()
    assert watch() is None


@pytest.mark.slow
def test_freed_fast_paths_leave_nothing_behind():
    """With freed memory overwritten (glibc), what is read after it was freed crashes."""
    code = (
        "import gc, cardan\n"
        "for k in range(3):\n"
        "    arm = cardan.robots.arm7().model()\n"
        "    fast, q = cardan.gravity_forces.bind(arm), arm.random_configuration(seed=0)\n"
        "    fast(q)\n"
        "    del arm, fast\n"
        "    gc.collect()\n"
    )
    environment = {**os.environ, "PYTHONMALLOC": "malloc", "MALLOC_PERTURB_": "255"}
    assert subprocess.run([sys.executable, "-c", code], env=environment).returncode == 0


LATE = {
    "a thread in a loop": "threading.Thread(target=loop, args=(fast,), daemon=True).start(); time.sleep(0.1)",
    "a thread that calls the function itself": (
        "threading.Thread(target=loop, args=(lambda *x: cardan.inverse_dynamics(arm, *x),), daemon=True).start()\n"
        "time.sleep(0.1)"
    ),
    "an object that calls when it is freed": "builtins.late = Late()",
}


@pytest.mark.full
@pytest.mark.parametrize("survivor", LATE)
def test_what_outlives_the_modules_at_exit_finds_the_fast_path_whole(survivor):
    """With freed memory overwritten (glibc), reading the function's record after the modules are gone crashes."""
    code = (
        "import builtins, threading, time, cardan, numpy as np\n"
        "arm, q = cardan.robots.double_pendulum().model(), np.zeros(2)\n"
        "fast = cardan.inverse_dynamics.bind(arm)\n"
        "fast(q, q, q)\n"
        "def loop(call):\n"
        "    while True: call(q, q, q)\n"
        "class Late:\n"
        "    def __init__(self): self.fast, self.q = fast, q\n"
        "    def __del__(self): self.fast(self.q, self.q, self.q)\n"
    )
    environment = {**os.environ, "PYTHONMALLOC": "malloc", "MALLOC_PERTURB_": "255"}
    for _ in range(2):
        found = subprocess.run([sys.executable, "-c", code + LATE[survivor]], env=environment, capture_output=True)
        assert (found.returncode, found.stderr) == (0, b"")


def test_large_angles_are_exact(arm, states):
    q = states[0].copy()
    fast = cardan.gravity_forces.bind(arm)
    fast(q)
    q[2, 3] = 1e22
    np.testing.assert_allclose(fast(q), cardan.gravity_forces.on("numpy")(arm, q), rtol=1e-12, atol=1e-12)


@pytest.mark.full
def test_large_workspaces_from_several_threads():
    model = cardan.robots.humanoid().model(base="floating")
    q = model.random_configuration((16,), seed=0)
    fast = cardan.torque_regressor.bind(model)
    v = np.random.default_rng(0).normal(size=(16, model.nv))
    expected, wrong = fast(q, v, v), []

    def work():
        for _ in range(50):
            if not np.array_equal(fast(q, v, v), expected):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_why_the_fast_path_is_closed_is_said(monkeypatch, caplog):
    llvm_fast_path.is_supported.cache_clear()
    monkeypatch.setattr(sys, "version", "3.14.0 free-threading build")
    try:
        assert not llvm_fast_path.is_supported()
        assert not llvm_fast_path.is_supported()
        assert caplog.text.count("free-threaded") == 1
        monkeypatch.undo()
        monkeypatch.setattr(llvm_fast_path.layout, "ITEMS", llvm_fast_path.layout.ITEMS + 8)
        assert "items of a tuple" in (llvm_fast_path.closed_because() or "")
    finally:
        monkeypatch.undo()
        llvm_fast_path.is_supported.cache_clear()


@pytest.mark.slow
@pytest.mark.parametrize("setting", [{"PYTHONMALLOC": "debug"}, {"PYTHONDEVMODE": "1"}], ids=str)
def test_the_layout_is_read_from_objects_that_live(setting):
    """One was freed before it was read: a Python that overwrites freed memory found "flags of others"."""
    code = "from cardan._compiler.targets.llvm.fast_path import closed_because; print(closed_because())"
    found = subprocess.run([sys.executable, "-c", code], env={**os.environ, **setting}, capture_output=True, text=True)
    assert (found.returncode, found.stdout) == (0, "None\n")


def large(arm, rows):
    q = arm.random_configuration((rows,), seed=0)
    return q, np.ones((rows, 7)), np.ones((rows, 7))


def test_batches_of_any_size_never_reach_python_on_one_thread(arm):
    """From 0.2 ms of work on they went through Python, which took 50 to 220 us more."""
    given = large(arm, 20_000)
    fast, two = (cardan.inverse_dynamics.on(threads=n).bind(arm) for n in (1, 2))
    out = fast(*given)
    assert calls(lambda: fast(*given, out=out)) < 3
    assert two(*given).tobytes() == out.tobytes()
    assert calls(lambda: two(*given, out=out)) > 20  # which splits them
    before, follows = cardan.num_threads(), cardan.inverse_dynamics.bind(arm)
    try:
        cardan.set_num_threads(1)
        assert calls(lambda: follows(*given, out=out)) < 3
        cardan.set_num_threads(2)
        assert calls(lambda: follows(*given, out=out)) > 20
    finally:
        cardan.set_num_threads(before)


def test_an_interrupt_waits_for_a_part_at_most(arm, monkeypatch):
    """On one thread, too: longer batches are left to Python, which looks between two parts."""
    monkeypatch.setattr(llvm_fast_path, "PART", 10**6)
    given = large(arm, 5000)
    fast, whole = cardan.inverse_dynamics.on(threads=1).bind(arm), cardan.inverse_dynamics.bind(arm)
    out = fast(*given)
    assert calls(lambda: fast(*given, out=out)) > 20
    assert whole(*given).tobytes() == out.tobytes()


def test_without_a_fast_path_the_results_are_the_same(arm, states, monkeypatch):
    expected = cardan.inverse_dynamics.bind(arm)(*states)
    monkeypatch.setattr(llvm_fast_path, "is_supported", lambda: False)
    plain = cardan.inverse_dynamics.on("llvm", threads=1).bind(arm)
    assert type(plain).__call__ is cardan._dynamics.call.compiled.Bound.__call__
    np.testing.assert_array_equal(plain(*states), expected)
