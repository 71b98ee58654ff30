"""Functions of a robot in JAX's programs: values, batches, derivatives, devices, errors."""

import inspect
import os
import pickle
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import cardan
from cardan.errors import DTypeError, MissingExtraError, ParameterError, ShapeError, TargetError, UnknownNameError
from cardan.interop.jax import wrap
from mechanisms import central_difference

rng = np.random.default_rng(5)


@pytest.fixture
def jax():
    """The package, imported when it is asked for: it takes a second."""
    module = pytest.importorskip("jax", reason="needs jax")
    before = module.config.jax_enable_x64
    module.config.update("jax_enable_x64", True)
    yield module
    module.config.update("jax_enable_x64", before)


@pytest.fixture(scope="module")
def pendulum():
    return cardan.robots.double_pendulum().model()


@pytest.fixture(scope="module")
def floating():
    """A body that floats, its orientation a quaternion, with a leg of two joints."""
    m = cardan.Mechanism("floating")
    m.add_body("body", cardan.Inertia(2.0, [0.1, 0.0, 0.2], np.diag([0.2, 0.3, 0.4])))
    for k, parent in enumerate(("body", "link0")):
        m.add_body(f"link{k}", cardan.Inertia(0.5, [0.0, 0.0, -0.2], np.diag([0.02, 0.02, 0.01])))
        m.add_joint(f"joint{k}", cardan.joints.Revolute([0.0, 1.0, 0.2 * k]), parent, f"link{k}")
    m.add_frame("foot", "link1")
    return m.model(base="floating")


@cardan.function(options=("power",))
def several(model, q, v, gain: float, power=2):
    """A dictionary of results of several shapes."""
    return {"sum": gain * sum(e**power for e in q), "moved": cardan.integrate(model, q, v), "none": np.zeros((0, 3))}


def state(model, *shape):
    """Configuration, velocity, acceleration."""
    return model.random_configuration(shape, seed=1), *rng.normal(size=(2, *shape, model.nv))


def close(jax, found, expected, tolerance=1e-11):
    assert jax.tree.structure(found) == jax.tree.structure(expected)
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(a, b, atol=tolerance * max(1.0, np.abs(b).max(initial=0.0)))


def given(function, model):
    """Arrays for a function, by name, and its options."""
    arrays = {}
    for name, core in function.interface.cores(model).items():
        if name not in function.interface.open and name != "external_forces":
            is_q = function.interface.shapes.get(name) == ("nq",) and name != "qdot"
            arrays[name] = model.random_configuration(seed=len(arrays)) if is_q else rng.normal(size=core)
    return arrays, {"frame": model.frame_names[-1]} if "frame" in function.interface.open else {}


SMOOTH = sorted(
    name
    for name in cardan.__all__
    if isinstance(getattr(cardan, name), cardan.Function)
    and not name.startswith(("loop_", "constrained_", "eval_ik", "impact"))
)
"""Public functions of a tree."""


# --- values ---


def test_results_are_those_of_the_bare_call_in_every_precision(jax, floating):
    q, v, a = state(floating, 3)
    bare, wrapped = cardan.inverse_dynamics, wrap(cardan.inverse_dynamics, floating)
    for dtype in (np.float64, np.float32):
        x = [array.astype(dtype) for array in (q, v, a)]
        expected = bare(floating, *x)
        for found in (wrapped(*x), jax.jit(wrapped)(*x), wrapped(x[0], a=x[2], v=x[1])):
            assert found.dtype == dtype
            np.testing.assert_array_equal(found, expected)
    jax.config.update("jax_enable_x64", False)
    found = wrapped(q, v, a)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, bare(floating, *(x.astype(np.float32) for x in (q, v, a))))


def test_a_plain_call_is_one_where_jax_traces(jax, pendulum):
    """It was written out in JAX's own operations, into arrays that JAX does not know."""
    q, v = rng.normal(size=(2, 3, 2))
    np.testing.assert_array_equal(
        jax.jit(jax.vmap(lambda q: cardan.mass_matrix(pendulum, q)))(q), cardan.mass_matrix(pendulum, q)
    )
    by_q = jax.grad(lambda q: cardan.kinetic_energy(pendulum, q, v[0]))(q[0])
    np.testing.assert_allclose(by_q, cardan.gradient(cardan.kinetic_energy, "q")(pendulum, q[0], v[0]), atol=1e-14)
    foot = jax.jit(lambda q: cardan.frame_transform(pendulum, q, pendulum.frame_names[-1]))(q[0])
    np.testing.assert_allclose(foot, cardan.frame_transform(pendulum, q[0], pendulum.frame_names[-1]), atol=1e-15)
    assert cardan.mass_matrix(pendulum, q[0]).shape == (2, 2)  # and numbers are numbers, as before
    with pytest.raises(DTypeError, match=r"expected a cardan\.Model"):
        jax.jit(lambda q: cardan.mass_matrix(cardan.robots.double_pendulum(), q))(q[0])


def test_results_come_in_the_form_of_the_function(jax, pendulum):
    q, v, a = state(pendulum, 2)
    for function, arrays, options in (
        (cardan.inverse_dynamics_derivatives, (q, v, a), {}),
        (several, (q, v, 0.7), {"power": 3}),
        (cardan.derivative(several, ("q", "v")), (q, v, 0.7), {}),
        (cardan.function(lambda model, q: (q[0], [q[1], q[1]])), (q,), {}),
        (cardan.potential_energy, (q,), {}),
        (cardan.function(lambda model: [1.0 * model.nv, 2.0]), (), {}),
    ):
        expected = function(pendulum, *arrays, **options)
        close(jax, wrap(function, pendulum, **options)(*arrays), expected, 0.0)
        close(jax, jax.jit(wrap(function, pendulum, **options))(*arrays), expected, 0.0)


def test_optional_arguments_and_options(jax, floating):
    q, v, a = state(floating)
    forces = rng.normal(size=(floating.nbodies, 6))
    wrapped = wrap(cardan.inverse_dynamics, floating)
    np.testing.assert_array_equal(wrapped(q, v, a, forces), cardan.inverse_dynamics(floating, q, v, a, forces))
    expected = cardan.frame_velocity(floating, q, v, "foot", expressed_in="frame")
    velocity = wrap(cardan.frame_velocity, floating, expressed_in="frame")
    np.testing.assert_array_equal(velocity(q, v, "foot"), expected)
    np.testing.assert_array_equal(jax.jit(velocity, static_argnames="frame")(q, v, frame="foot"), expected)
    copy = pickle.loads(pickle.dumps(velocity))
    np.testing.assert_array_equal(copy(q, v, "foot"), expected)
    assert list(inspect.signature(velocity).parameters) == ["q", "v", "frame", "at", "relative_to"]


def test_leading_dimensions_are_broadcast(jax, pendulum):
    q, v, a = state(pendulum, 3, 4)
    wrapped = wrap(cardan.inverse_dynamics, pendulum)
    np.testing.assert_array_equal(wrapped(q, v[0], a[0, 0]), cardan.inverse_dynamics(pendulum, q, v[0], a[0, 0]))
    assert wrapped(q[:0], v[0], a[0]).shape == (0, 4, 2)


def test_vmap_over_any_axis(jax, pendulum):
    q, v, a = state(pendulum, 3, 4)
    wrapped, expected = wrap(cardan.inverse_dynamics, pendulum), cardan.inverse_dynamics(pendulum, q, v, a)
    np.testing.assert_array_equal(jax.vmap(jax.vmap(wrapped))(q, v, a), expected)
    turned = jax.vmap(wrapped, in_axes=(1, None, 2), out_axes=1)(q, v[:, 0], np.moveaxis(a, 1, 2))
    np.testing.assert_array_equal(turned, cardan.inverse_dynamics(pendulum, q, v[:, :1], a))


# --- derivatives ---


def test_jacobians_forward_backward_and_of_a_model_with_tangents(jax, floating):
    q, v, a = state(floating)
    wrapped = wrap(cardan.inverse_dynamics, floating)
    backward = jax.jacrev(wrapped, argnums=(0, 1, 2))(q, v, a)
    of_two = jax.vmap(jax.jacfwd(wrapped, argnums=(0, 1, 2)))(*(np.stack([x, x]) for x in (q, v, a)))
    forward = [by[1] for by in of_two]
    by = cardan.inverse_dynamics_derivatives(floating, q, v, a)
    rates = floating.manifold.velocity_to_configuration_derivative_jacobian(list(q))
    close(jax, tuple(forward), backward)
    close(jax, (forward[0] @ np.array(rates, dtype=float), *forward[1:]), tuple(by))


def test_hessians_every_way(jax, pendulum):
    q, _, _ = state(pendulum)
    energy = wrap(cardan.potential_energy, pendulum)
    expected = cardan.hessian(cardan.potential_energy, "q")(pendulum, q)
    for outer in (jax.jacfwd, jax.jacrev):
        for inner in (jax.jacfwd, jax.jacrev):
            np.testing.assert_allclose(jax.jit(outer(inner(energy)))(q), expected, atol=1e-12)


def test_a_derivative_that_is_linear_can_be_transposed(jax, pendulum):
    q, v, a = state(pendulum)
    _, back = jax.vjp(lambda v: wrap(cardan.inverse_dynamics, pendulum)(q, v, a), v)
    (there,) = jax.linear_transpose(lambda w: back(w)[0], a)(v)
    np.testing.assert_allclose(there, cardan.inverse_dynamics_derivatives(pendulum, q, v, a).dv @ v, atol=1e-12)


def test_gradients_of_batches_and_of_what_is_repeated(jax, pendulum):
    q, v, a = state(pendulum, 5)
    wrapped = wrap(cardan.inverse_dynamics, pendulum)
    by = jax.jit(jax.grad(lambda v: wrapped(q, v, a).sum()))(v[0])
    np.testing.assert_allclose(by, cardan.inverse_dynamics_derivatives(pendulum, q, v[0], a).dv.sum((0, 1)), atol=1e-12)
    each = jax.vmap(jax.grad(lambda q, v, a: wrapped(q, v, a).sum()))(q, v, a)
    np.testing.assert_allclose(each, cardan.inverse_dynamics_derivatives(pendulum, q, v, a).dq.sum(1), atol=1e-12)


def test_constants_of_a_model_are_arguments(jax, pendulum):
    model = pendulum.with_inputs(mass=(pendulum.body_names[-1], "mass"))
    q, v, a = state(model)
    by = jax.grad(lambda mass: wrap(cardan.inverse_dynamics, model)(q, v, a, mass=mass).sum())(1.3)
    slope = central_difference(lambda h: cardan.inverse_dynamics(model, q, v, a, mass=1.3 + h).sum())
    np.testing.assert_allclose(by, slope, rtol=1e-7)


@pytest.mark.full
def test_through_loops_of_jax(jax, pendulum):
    q, v, tau = state(pendulum)
    wrapped = wrap(cardan.forward_dynamics, pendulum)

    def rolled(v):
        def step(state, _):
            q, v = state
            v = v + 0.01 * wrapped(q, v, tau)
            return (q + 0.01 * v, v), None

        return jax.lax.scan(jax.checkpoint(step), (q, v), None, length=4)[0][0].sum()

    slope = [central_difference(lambda h, e=e: rolled(v + h * e)) for e in np.eye(2)]
    np.testing.assert_allclose(jax.jit(jax.grad(rolled))(v), slope, rtol=1e-6)


def test_steps_of_a_simulation(jax):
    world = cardan.robots.double_pendulum().world()
    solver = cardan.solvers.Featherstone(world, 1e-2)
    q, v, effort = state(world.model)
    given = {"q": q, "v": v, "count": np.array(0.0), "effort": effort}
    for function in (solver.function, solver.function.repeated(3)):
        step = wrap(function, world.model)
        close(jax, jax.jit(step)(**given), function(world.model, **given), 0.0)
        by = jax.jacrev(lambda effort, step=step: step(**{**given, "effort": effort})["v"])(effort)
        moved = [
            central_difference(lambda h, e=e, f=function: f(world.model, **{**given, "effort": effort + h * e})["v"])
            for e in np.eye(2)
        ]
        np.testing.assert_allclose(by, np.transpose(moved), atol=1e-8)
    for count in (1, 5, 2):  # other counts of the same program
        again = solver.function.repeated(count)
        close(jax, jax.jit(wrap(again, world.model))(**given), again(world.model, **given), 0.0)


@pytest.mark.parametrize(
    "name", ["kinetic_energy", *(pytest.param(n, marks=pytest.mark.full) for n in SMOOTH if n != "kinetic_energy")]
)
def test_gradients_agree_with_differences_to_second_order(jax, name, pendulum):
    from jax.test_util import check_grads

    function = getattr(cardan, name)
    arrays, options = given(function, pendulum)
    wrapped = wrap(function, pendulum, **options)
    check_grads(
        lambda *x: wrapped(**dict(zip(arrays, x, strict=True))), tuple(arrays.values()), order=2, rtol=1e-5, atol=1e-5
    )


# --- processes and devices ---


def run(code, **environment):
    """Run a program of its own; return what it printed."""
    everything = {**os.environ, "PYTHONWARNINGS": "ignore", **environment}
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=everything, timeout=300)
    assert out.returncode == 0, out.stderr[-3000:]
    return out.stdout


SPREAD = """
import jax, numpy as np, cardan
from cardan.interop.jax import wrap
from jax.sharding import NamedSharding, PartitionSpec as P
jax.config.update("jax_enable_x64", True)
shard_map = getattr(jax, "shard_map", None) or __import__("jax.experimental.shard_map", fromlist=["_"]).shard_map
model = cardan.robots.double_pendulum().model()
q, v, a = np.random.default_rng(0).normal(size=(3, 8, 2))
f, expected = wrap(cardan.inverse_dynamics, model), cardan.inverse_dynamics(model, q, v, a)
mesh = jax.sharding.Mesh(np.array(jax.devices()), ("b",))

np.testing.assert_array_equal(jax.pmap(f)(*(x.reshape(4, 2, 2) for x in (q, v, a))).reshape(8, 2), expected)

mapped = shard_map(f, mesh=mesh, in_specs=(P("b"), P(), P("b")), out_specs=P("b"))
one_v = cardan.inverse_dynamics(model, q, v[0], a)
np.testing.assert_array_equal(jax.jit(mapped)(q, v[0], a), one_v)
found = jax.jit(jax.grad(lambda v: (mapped(q, v, a) ** 2).sum()))(v[0])
np.testing.assert_allclose(found, jax.grad(lambda v: (f(q, v, a) ** 2).sum())(v[0]), rtol=1e-12)

x = [jax.device_put(array, NamedSharding(mesh, P("b"))) for array in (q, v, a)]
compiled = jax.jit(f).lower(*x).compile()
np.testing.assert_array_equal(compiled(*x), expected)
print(len(jax.devices()), "all-gather" in compiled.as_text())
across = jax.device_put(np.concatenate([q, q], 1).reshape(8, 4)[:, :2], NamedSharding(mesh, P(None, None)))
np.testing.assert_array_equal(jax.jit(f)(across, x[1], x[2]), cardan.inverse_dynamics(model, np.asarray(across), v, a))
"""


@pytest.mark.full
def test_states_are_computed_on_the_devices_where_they_are(jax):
    """By pmap, by shard_map, and where the compiler of JAX spreads the call by itself, with nothing gathered."""
    assert run(SPREAD, XLA_FLAGS="--xla_force_host_platform_device_count=4") == "4 False\n"


STORED = """
import pickle, sys, jax, numpy as np, cardan
from jax.experimental.serialize_executable import deserialize_and_load, serialize
from cardan.interop.jax import wrap
for name, value in {"enable_x64": True, "compilation_cache_dir": sys.argv[1],
                    "persistent_cache_min_compile_time_secs": 0, "persistent_cache_min_entry_size_bytes": 0}.items():
    jax.config.update(f"jax_{name}", value)
hits = []
jax.monitoring.register_event_listener(lambda event, **_: hits.append(event) if event.endswith("/cache_hits") else None)
model, x = cardan.robots.double_pendulum().model(), np.ones((4, 2))
file = sys.argv[1] + "/executable"
expected = cardan.inverse_dynamics(model, x, x, x)
"""
WRITES = """
compiled = jax.jit(wrap(cardan.inverse_dynamics, model)).lower(x, x, x).compile()
pickle.dump(serialize(compiled), open(file, "wb"))
np.testing.assert_array_equal(compiled(x, x, x), expected)
"""
READS = """
try:
    deserialize_and_load(*pickle.load(open(file, "rb")))(x, x, x)
except Exception as error:
    print("cardan_inverse_dynamics_" in str(error))
np.testing.assert_array_equal(jax.jit(wrap(cardan.inverse_dynamics, model))(x, x, x), expected)
print(bool(hits))
np.testing.assert_array_equal(deserialize_and_load(*pickle.load(open(file, "rb")))(x, x, x), expected)
"""


@pytest.mark.full
def test_what_jax_keeps_on_disk_finds_its_programs_in_another_process(jax, tmp_path):
    """Its cache of compiled programs, and an executable that is loaded before cardan was asked for its function."""
    code = STORED.replace("sys.argv[1]", repr(str(tmp_path)))
    run(code + WRITES)
    assert run(code + READS) == "True\nTrue\n"


@pytest.mark.parametrize("states", [64, 20_001])
def test_many_threads_at_once_and_one_call_on_many(jax, pendulum, states):
    """The larger batch is cut into parts; among the results of both precisions none is another's."""
    run = jax.jit(wrap(cardan.forward_dynamics_derivatives, pendulum))
    batches = [[array.astype(dtype) for array in state(pendulum, states)] for dtype in ("f8", "f4") * 2]
    expected = [cardan.forward_dynamics_derivatives(pendulum, *x) for x in batches]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(5):
            for found, by in zip(pool.map(lambda x: run(*x), batches), expected, strict=True):
                close(jax, found, by, 0.0)


LEAVES = """
import jax, numpy as np, cardan
from cardan.interop.jax import wrap
model = cardan.robots.double_pendulum().model()
x = np.ones((400_000, 2), np.float32)
run = jax.jit(wrap(cardan.forward_dynamics_derivatives, model)).lower(x, x, x).compile()
for _ in range(5):
    run(x, x, x)
"""


@pytest.mark.full
def test_a_process_may_end_while_calls_are_under_way(jax):
    assert run(LEAVES) == ""


@pytest.mark.full
def test_an_exported_call_takes_batches_of_any_size(jax, pendulum):
    from jax import export

    function = cardan.inverse_dynamics_derivatives
    x = np.random.default_rng(2).normal(size=(3, 5, 2))
    wrapped = jax.jit(wrap(function, pendulum))
    many = jax.ShapeDtypeStruct((4096, 2), x.dtype)
    (name,) = re.findall(r"@(cardan_\w+)", wrapped.lower(many, many, many).as_text())
    spec = jax.ShapeDtypeStruct((*export.symbolic_shape("b"), 2), x.dtype)
    allowed = [export.DisabledSafetyCheck.custom_call(name)]
    exported = export.export(wrapped, disabled_checks=allowed)(spec, spec, spec)
    for found, by in zip(jax.jit(exported.call)(*x), function(pendulum, *x), strict=True):
        np.testing.assert_array_equal(found, by)


@pytest.mark.parametrize("machine", ["aarch64-unknown-linux-gnu", "x86_64-unknown-linux-gnu", "arm64-apple-macosx"])
@pytest.mark.parametrize("device", [False, True])
def test_the_handler_is_an_image_on_every_processor(machine, device):
    """It refers to nothing outside, and there is one place for the address of what it must know."""
    import llvmlite.binding as llvm

    from cardan._compiler.targets.llvm.elf import flatten
    from cardan._compiler.targets.llvm.xla_layout import MARK
    from cardan._compiler.targets.llvm.xla_text import handler_text

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    module = llvm.parse_assembly(handler_text(device=device), context=llvm.create_context())
    module.triple = machine
    target = llvm.Target.from_triple(machine).create_target_machine(opt=2, reloc="pic", codemodel="small")
    code = target.emit_object(module)
    code = flatten(code, "handler")[0] if machine.startswith("x86_64") else code
    assert code.count(MARK.to_bytes(8, "little")) == 1


# --- bad input ---


def test_what_does_not_fit_is_refused_with_its_reason(jax, pendulum):
    x = np.zeros(2)
    dynamics, transform = wrap(cardan.inverse_dynamics, pendulum), wrap(cardan.frame_transform, pendulum)
    frame = pendulum.frame_names[-1]
    for error, said, call in (
        (DTypeError, "'q' is an array of int64.*q.astype", lambda: dynamics(np.zeros(2, int), x, x)),
        (DTypeError, "'q' is an array of complex128, expected float32", lambda: dynamics(x + 0j, x, x)),
        (DTypeError, "'q' is an array of bool", lambda: dynamics(x > 0, x, x)),
        (DTypeError, "'v' is a str, expected an array", lambda: dynamics(x, "v", x)),
        (DTypeError, "'v' is a NoneType", lambda: dynamics(x, None, x)),
        (ShapeError, r"'a' has shape \(3,\), expected \(..., 2\)", lambda: jax.jit(dynamics)(x, x, np.zeros(3))),
        (ShapeError, r"dimensions are q: \(4,\), v: \(3,\)", lambda: dynamics(np.zeros((4, 2)), np.zeros((3, 2)), x)),
        (TypeError, "missing a required argument: 'a'", lambda: dynamics(x, x)),
        (TypeError, "multiple values for argument 'q'", lambda: dynamics(x, x, x, q=x)),
        (TypeError, "too many positional arguments", lambda: dynamics(x, x, x, None, x)),
        (TypeError, "unexpected keyword argument 'w'", lambda: dynamics(x, x, x, w=x)),
        (DTypeError, "'frame' is an array of JAX, int64.*static_argnames='frame'", lambda: jax.jit(transform)(x, 1)),
        (UnknownNameError, "no frame named 'nowhere'", lambda: transform(x, "nowhere")),
        (UnknownNameError, "no option named 'fram'", lambda: wrap(cardan.frame_transform, pendulum, fram=frame)),
        (ParameterError, "one made by @cardan.function", lambda: wrap(np.sin, pendulum)),
        (ParameterError, "native code", lambda: wrap(cardan.mass_matrix.on("numpy"), pendulum)),
        (DTypeError, "expected a cardan.Model", lambda: wrap(cardan.mass_matrix, "pendulum")),
    ):
        with pytest.raises(error, match=said):
            call()


def test_another_platform_is_refused(jax, pendulum):
    """Lowered for another one, which needs no device: nothing is computed elsewhere in silence."""
    with pytest.raises(TargetError, match=r"asked for on rocm, but.*run on CPUs and on NVIDIA's.*jax.device_put"):
        jax.jit(wrap(cardan.mass_matrix, pendulum)).trace(np.zeros(2)).lower(lowering_platforms=("rocm",))


def test_arrays_that_are_not_the_programs_are_an_error_of_jax_and_no_crash(jax, pendulum):
    """As from a file that was tampered with: the machine code looks at sizes and types before it writes."""
    x = np.ones((3, 2))
    text = jax.jit(wrap(cardan.inverse_dynamics, pendulum)).lower(x, x, x).as_text()
    wrap(cardan.inverse_dynamics, pendulum)(x, x, x)
    (name,) = re.findall(r"@(cardan_\w+)", text)
    for shape, arrays in ((x.shape, (x, x)), (x.shape, (x, x, x[1:])), ((3, 3), (x, x, x)), (x.shape, (x, x, x > 0))):
        call = jax.ffi.ffi_call(name, jax.ShapeDtypeStruct(shape, x.dtype))
        with pytest.raises(Exception, match="are not those of the program"):
            jax.block_until_ready(jax.jit(call)(*arrays))


def test_without_jax_or_with_an_old_one_the_message_says_what_to_install(monkeypatch, pendulum):
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(MissingExtraError, match=r'pip install "cardan\[jax\]"'):
        wrap(cardan.mass_matrix, pendulum)
    monkeypatch.setitem(sys.modules, "jax", type(sys)("jax"))
    sys.modules["jax"].__version__ = "0.4.30"
    with pytest.raises(TargetError, match=r"needs jax 0\.6\.2, this is 0\.4\.30"):
        wrap(cardan.mass_matrix, pendulum)
