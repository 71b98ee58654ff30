"""The C target: compiled by gcc with every warning an error, equal to the NumPy target."""

import ctypes
import re
import shutil
import subprocess

import numpy as np
import pytest

import cardan
from cardan._compiler.program import Array, trace
from cardan._compiler.targets import NumpyProgram, c
from cardan.cli import main
from cardan.errors import ParameterError
from mechanisms import random_model, random_state
from programs import c_code
from representatives import represented

GCC = shutil.which("gcc")
needs_gcc = pytest.mark.skipif(GCC is None, reason="needs gcc")
FLAGS = ["-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-pedantic", "-O1", "-ffp-contract=off"]


def built(tmp_path, program, name="f", **options):
    code = c_code(program, name, **options)
    (tmp_path / f"{name}.c").write_text(code.source)
    (tmp_path / f"{name}.h").write_text(code.header)
    library = tmp_path / f"{name}.so"
    command = [GCC, *FLAGS, "-shared", "-fPIC", str(tmp_path / f"{name}.c"), "-o", str(library), "-lm"]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return ctypes.CDLL(str(library))


def run(library, program, arrays, name="f"):
    dtype, n = arrays[0].dtype, len(arrays[0])
    outputs = [np.empty((n, a.size), dtype) for a in program.outputs]
    pointers = [ctypes.c_void_p(x.ctypes.data) for x in (*arrays, *outputs)]
    getattr(library, f"{name}_batch")(ctypes.c_size_t(n), *pointers)
    return np.concatenate(outputs, axis=1)


@needs_gcc
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_every_operation(tmp_path, dtype):
    def everything(x):
        a, b = x
        names = ("sin", "cos", "tan", "asin", "acos", "sqrt", "exp", "log", "absolute", "sign", "floor")
        values = [getattr(cardan, name)(a) for name in names]
        values += [a + b, a - b, a * b, a / b, -a, cardan.atan2(a, b), cardan.minimum(a, b), cardan.maximum(a, b)]
        conditions = [a < b, a <= b, (a < b) & (b < 1.0), (a < b) | (b < 1.0), ~(a < b)]
        return [*values, *(cardan.where(c, a, -2.5) for c in conditions), b, 0.1]

    program = trace("f", lambda x: {"y": np.array(everything(x), dtype=object)}, [Array("x", (2,))])
    edges = [0.0, 0.5, -2.0, 1.0, 3.7, 1e-30, np.inf, -np.inf, np.nan]
    x = np.array([(a, b) for a in edges for b in edges]).astype(dtype)
    got = run(built(tmp_path, program, single=dtype is np.float32), program, [x])
    expected = NumpyProgram(program)([x], len(x), np.dtype(dtype))
    np.testing.assert_allclose(got, expected, rtol=4 * np.finfo(dtype).eps)


COMPILED = [cardan.inverse_dynamics, cardan.mass_matrix, cardan.integrate]


@needs_gcc
@pytest.mark.parametrize("function", represented(COMPILED, by=[cardan.integrate].count))
def test_a_robot_with_every_joint(tmp_path, function):
    model = random_model(0)
    q, v, a = random_state(model, seed=0, shape=(5,))
    program = function.program(model)
    arrays = [{"q": q, "v": v, "a": a}[x.name] for x in program.inputs]
    got = run(built(tmp_path, program), program, arrays)
    expected = function.on("numpy")(model, *arrays).reshape(5, -1)
    np.testing.assert_allclose(got, expected, atol=1e-13 * (1 + np.abs(expected).max()))


@needs_gcc
def test_command_line_writes_files_a_microcontroller_can_use(tmp_path, capsys):
    source = tmp_path / "arm_dynamics.c"
    file = cardan.robots.urdf_path("arm7")
    assert main(["generate", file, "--function", "inverse_dynamics", "-o", str(source), "--single"]) == 0
    text, header = source.read_text(), source.with_suffix(".h").read_text()
    assert "joint4: q[3..3], v[3..3]" in text
    assert "void arm_dynamics(const float q[7], const float v[7], const float a[7], float result[7]);" in header
    for word in ("malloc", "for (", "while"):
        assert word not in text.split("arm_dynamics_batch")[0]
    subprocess.run([GCC, *FLAGS, "-ffreestanding", "-c", str(source), "-o", str(tmp_path / "a.o")], check=True)
    assert "arm_dynamics.h" in capsys.readouterr().out


def test_wrong_use(tmp_path, capsys):
    file, source = cardan.robots.urdf_path("arm7"), str(tmp_path / "f.c")
    for arguments, words in [
        (["--function", "inverse_dynamic", "-o", source], "did you mean 'inverse_dynamics'"),
        (["--function", "inverse_dynamics", "-o", source[:-1] + "cpp"], "ends in .c"),
        (["--function", "inverse_dynamics", "-o", str(tmp_path / "7up.c")], "letters, digits and _"),
        (["--function", "inverse_dynamics", "-o", source, "--frame", "tool"], "not about a frame"),
        (["--function", "jacobian", "-o", source], "frame"),
        (["--function", "jacobian", "-o", source, "--frame", "tol"], "did you mean 'tool'"),
        (["--function", "mass_matrix", "-o", str(tmp_path / "no" / "f.c")], "writable"),
    ]:
        assert main(["generate", file, *arguments]) == 1
        assert words in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_robots_without_degrees_of_freedom_are_valid_c():
    m = cardan.Mechanism("rock")
    m.add_body("b", cardan.Inertia(2.0, (1.0, 0.0, 0.0)))
    code = c_code(cardan.center_of_mass.program(m.model()), "com")
    assert "const double q[1]" in code.header
    assert "(void)q;" in code.source


@needs_gcc
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_constants_that_are_not_finite(tmp_path, dtype):
    program = trace(
        "f",
        lambda x: {"y": np.array([cardan.where(x[0] > c, x[0], c) for c in (np.inf, -np.inf, np.nan, 1e300, -0.0)])},
        [Array("x", (1,))],
    )
    x = np.array([[-1.0], [2.0]], dtype)
    got = run(built(tmp_path, program, single=dtype is np.float32), program, [x])
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(got, NumpyProgram(program)([x], 2, np.dtype(dtype)))


@needs_gcc
@pytest.mark.parametrize("dialect", ["c99", "gnu11"])
def test_names_that_headers_and_dialects_define(tmp_path, dialect):
    """M_PI, NULL, HUGE_VAL and _Bool were written as they are, which no compiler takes."""
    names = ["M_PI", "NULL", "HUGE_VAL", "FP_NAN", "_Bool", "bool", "asm", "linux", "__LINE__", "isnan", "y0", "M_PI_"]
    program = trace(
        "f", lambda *x: {"typeof": np.array([a[0] for a in x], dtype=object)}, [Array(n, (1,)) for n in names]
    )
    code = c_code(program, "f")
    (tmp_path / "f.c").write_text(code.source)
    (tmp_path / "f.h").write_text(code.header)
    command = [GCC, f"-std={dialect}", *FLAGS[1:], "-c", str(tmp_path / "f.c"), "-o", str(tmp_path / "f.o")]
    subprocess.run(command, check=True, capture_output=True, text=True)


@pytest.mark.parametrize("name", ["log2", "roundf", "isnan", "NULL", "M_PI", "abort", "bool", "j0", "exp", "int"])
def test_functions_are_not_called_like_those_of_c(name):
    """Of the functions of C, those alone were refused that programs use."""
    program = trace("f", lambda x: {"y": x}, [Array("x", (1,))])
    with pytest.raises(ParameterError, match="no keyword or function of C"):
        c_code(program, name)


@needs_gcc
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_truths_that_cross_from_part_to_part(tmp_path, monkeypatch, dtype):
    """They are kept as numbers, which in single precision was a conversion that compilers warn of."""
    monkeypatch.setattr(c, "PART", 5)

    def chosen(x):
        first, values = x[0] < x[1], list(x)
        for _ in range(20):
            values.append(values[-1] * 0.5 + values[-2])
        return [cardan.where(first, values[-1], values[-2]), cardan.where(~first, 1.0, values[-3])]

    program = trace("f", lambda x: {"y": np.array(chosen(x), dtype=object)}, [Array("x", (2,))])
    x = np.array([[1.0, 2.0], [2.0, 1.0]], dtype=dtype)
    found = run(built(tmp_path, program, single=dtype is np.float32), program, [x])
    np.testing.assert_allclose(found, NumpyProgram(program)([x], 2, np.dtype(dtype)), rtol=4 * np.finfo(dtype).eps)


@needs_gcc
def test_names_that_mean_something_in_c(tmp_path):
    names = ["double", "int", "n", "k", "w", "sin", "t0_", "f", "f_batch", "size_t", "NAN", "é"]
    arrays = [Array(name, (1,)) for name in names]
    program = trace("f", lambda *x: {"restrict": np.array([sum(e[0] for e in x), cardan.sin(x[0][0])])}, arrays)
    states = [np.full((3, 1), float(k)) for k in range(len(names))]
    got = run(built(tmp_path, program), program, states)
    np.testing.assert_array_equal(got, NumpyProgram(program)(states, 3, np.dtype(float)))
    assert "const double double_[1]" in c_code(program, "f").header
    for name in ("while", "sin", "sinf", "INFINITY"):
        with pytest.raises(ParameterError, match="no keyword or function of C"):
            c_code(program, name)


@needs_gcc
@pytest.mark.parametrize("part", [300, 1])
def test_results_that_are_arguments_are_read_before_any_is_written(tmp_path, monkeypatch, part):
    """A result may be where an argument is, and another result be that argument."""
    monkeypatch.setattr(c, "PART", part)
    arrays = [Array("x", (2,)), Array("y", (2,))]
    program = trace("f", lambda x, y: {"x": np.stack([y[1], x[0]]), "y": np.stack([x[1], x[0] + y[0]])}, arrays)
    library, states = built(tmp_path, program), [np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[5.0, 6.0], [7.0, 8.0]])]
    pointers = [ctypes.c_void_p(x.ctypes.data) for x in (*states, *states)]
    library.f_batch(ctypes.c_size_t(2), *pointers)
    np.testing.assert_array_equal(np.hstack(states), [[6.0, 1.0, 2.0, 6.0], [8.0, 3.0, 4.0, 10.0]])


@needs_gcc
@pytest.mark.parametrize("single", [False, True])
def test_parts_give_the_bits_of_one_function(tmp_path, monkeypatch, single):
    """Operations and results in many functions or in one, where products and sums are not joined."""
    model = cardan.robots.double_pendulum().model()
    program = cardan.forward_dynamics_derivatives.program(model)
    dtype = np.dtype(np.float32 if single else np.float64)
    arrays = [x.astype(dtype) for x in random_state(model, seed=0, shape=(3,))]
    found = []
    for part in (10**6, 7):
        monkeypatch.setattr(c, "PART", part)
        assert ("f_results1(" in c_code(program, "f").source) == (part == 7)
        found.append(run(built(tmp_path, program, name=f"f{part}", single=single), program, arrays, name=f"f{part}"))
    np.testing.assert_array_equal(*found)


@needs_gcc
def test_arrays_may_have_the_names_of_parts(tmp_path, monkeypatch):
    monkeypatch.setattr(c, "PART", 1)
    arrays = [Array("f_part0", (2,)), Array("f_results1", (2,))]
    program = trace("f", lambda x, y: {"f_part1": np.stack([x[1] * y[0] + 2.0, y[1]])}, arrays)
    x = [np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]])]
    np.testing.assert_array_equal(run(built(tmp_path, program), program, x), [[8.0, 4.0]])


@needs_gcc
@pytest.mark.full
@pytest.mark.parametrize("single", [False, True])
def test_long_programs_are_cut_into_parts(tmp_path, single):
    """Equal to the whole to the last bit, results where the inputs are, and no part much longer than the rest."""
    model = cardan.robots.quadruped().model(base="floating")
    program = cardan.inverse_dynamics_derivatives.program(model)
    dtype = np.dtype(np.float32 if single else np.float64)
    q, v, a = random_state(model, seed=0, shape=(3,))
    arrays = [{"q": q, "v": v, "a": a}[x.name].astype(dtype) for x in program.inputs]
    code = c_code(program, "f", single=single)
    longest = max(len(re.findall(r" t\d+_ =", part)) for part in code.source.split("PART void"))
    assert longest < 1000 < program.operations
    got = run(built(tmp_path, program, single=single), program, arrays)
    expected = NumpyProgram(program)(arrays, 3, dtype)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(got, expected, atol=(1e-4 if single else 1e-13) * scale)
