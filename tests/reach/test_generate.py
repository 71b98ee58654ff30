"""`cardan generate` and `cardan.generate`: libraries of functions, controllers and steps, in C and C++."""

import importlib.util
import re
import shutil
import subprocess
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import cardan
import linkages
from cardan._compiler.program import Array, trace
from cardan._compiler.program.program import work_by_kind, work_counts
from cardan._compiler.targets.c import c_function
from cardan.cli import main
from cardan.errors import DTypeError, DuplicateNameError, ParameterError, TraceError, UnknownNameError
from cardan.generation import function_in, step_of
from cardan.joints import CATALOGUE
from cross import MACHINES, STRICT, SUPPORT, compiled, lines_of, needed, numbers
from mechanisms import random_model, random_state
from representatives import represented

ARM7 = cardan.robots.urdf_path("arm7")
EXAMPLES = Path(__file__).parents[2] / "examples" / "controllers"
HAS_MUJOCO = importlib.util.find_spec("mujoco") is not None
OF_MUJOCO = "use cardan.solvers.Featherstone" if HAS_MUJOCO else "needs the extra 'mujoco'"
CONTROLLERS = ("computed_torque", "gravity_compensation", "operational_space")


def call(folder, function, arrays, *, single=False, workspace=False, machine="host"):
    """Return what the function `lib_f` of a generated library in `folder/lib` makes of arrays, a row a state."""
    dtype = np.dtype("<f4" if single else "<f8")
    n, real = len(arrays[0]), function.real
    sizes = [a.size for a in function.program.outputs]
    inputs = [f"static const {real} x{k}[] = {{{literals(a)}}};" for k, a in enumerate(arrays)]
    outputs = [f"static {real} y{k}[{n * size}];" for k, size in enumerate(sizes)]
    own = [f"static {real} w[LIB_F_WORKSPACE];"] * workspace
    names = [f"x{k}" for k in range(len(arrays))] + [f"y{k}" for k in range(len(sizes))] + ["w"] * workspace
    writes = [f"write_bytes(y{k}, sizeof y{k});" for k in range(len(sizes))]
    body = [f"int main(void)\n{{\nlib_f_batch({n}, {', '.join(names)});", *writes, "return 0;\n}\n"]
    top = ['#include "lib.h"\n#include "target.h"\n']
    (folder / "main.c").write_text("\n".join([*top, *inputs, *outputs, *own, *body]))
    target = needed(machine)
    sources = [*(folder / "lib" / "src").iterdir(), folder / "main.c", SUPPORT / target.support]
    program = compiled(target, folder, sources, includes=[folder / "lib" / "include"], options=["-O1"])
    lines = lines_of(target, program)
    return [numbers(line, dtype).reshape(n, -1) for line in lines]


def literals(array):
    return ", ".join(repr(float(e)) + ("f" if array.dtype == np.float32 else "") for e in array.ravel())


# --- what is generated computes what Python computes ---


@pytest.mark.slow
@pytest.mark.parametrize("name", CONTROLLERS)
@pytest.mark.parametrize("single", [False, pytest.param(True, marks=pytest.mark.full)])
def test_controllers_that_ship(tmp_path, name, single):
    """From the shell, as their pages say; the file's function in Python gives the same torques."""
    arm = cardan.load(ARM7)
    words = ["--function", f"f={EXAMPLES / name}.py:{name}", "-o", str(tmp_path / "lib")]
    assert main(["generate", ARM7, *words, *["--single"] * single]) == 0
    law = function_in(EXAMPLES / f"{name}.py", name)
    program, rng = law.program(arm), np.random.default_rng(0)
    arrays = [rng.normal(size=(4, a.size)).astype(np.float32 if single else float) for a in program.inputs]
    found = call(tmp_path, c_function(program, "lib_f", single=single), arrays, single=single)[0]
    given = [x if a.shape else x[:, 0] for a, x in zip(program.inputs, arrays, strict=True)]
    named = dict(zip([a.name for a in program.inputs], given, strict=True))
    expected = law(arm, **{n: np.asarray(x, float) for n, x in named.items()})
    scale = np.abs(expected).max()
    np.testing.assert_allclose(found, expected, rtol=0, atol=scale * (1e-4 if single else 1e-12))


@pytest.mark.parametrize("workspace", ["stack", "argument"])
@pytest.mark.parametrize("contact", ["compliant", "convex"])
@pytest.mark.full
def test_some_steps_of_a_solver_are_those_of_python(tmp_path, contact, workspace):
    """A quadruped falls onto its feet; ten steps a call."""
    world = cardan.robots.quadruped().world("floating", ground=True)
    solver = cardan.solvers.Featherstone(world, dt=0.001, contact=contact)
    written = cardan.generate({"f": step_of(solver, 10)}, world.model, tmp_path / "lib", workspace=workspace)
    function, rng = written.functions[0], np.random.default_rng(0)
    state, control = world.state(worlds=3), world.control(worlds=3)
    state.v = 0.1 * rng.normal(size=state.v.shape)
    control.effort = rng.normal(size=control.effort.shape)
    arrays = [state.q, state.v, control.effort]
    q, v, good, _ = call(tmp_path, function, arrays, workspace=workspace == "argument")
    expected = solver.step(state, control, steps=10)
    np.testing.assert_allclose(q, expected.q, rtol=0, atol=1e-11)
    np.testing.assert_allclose(v, expected.v, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(good, 10.0)
    text = (tmp_path / "lib" / "src" / "lib_f.c").read_text()
    assert ("double w[" in text.split("lib_f(")[1].split("{")[1][:60]) == (workspace == "stack")


@cardan.function(shapes={"x": ("nv",)})
def joint_states(model, q, x):
    return cardan.integrate(model, q, x - cardan.limit_coordinates(model, q))


@pytest.mark.full
@pytest.mark.parametrize("name", ["parallel_ankle", "delta"])
def test_all_joints_of_loops_follow_the_driven_ones(tmp_path, name):
    model = cardan.clustered(getattr(linkages, name)().model())
    rng = np.random.default_rng(0)
    q, v, tau = np.tile(model.neutral(), (3, 1)), *rng.normal(size=(2, 3, model.nv))
    x = cardan.limit_coordinates(model, q) + 0.2 * v
    for function, arrays in ((joint_states, (q, x)), (cardan.forward_dynamics, (joint_states(model, q, x), v, tau))):
        folder = tmp_path / function.name
        folder.mkdir()
        (generated,) = cardan.generate({"f": function}, model, folder / "lib").functions
        (found,) = call(folder, generated, arrays)
        np.testing.assert_allclose(found, function(model, *arrays), rtol=1e-12, atol=1e-13)


def test_a_header_says_which_number_of_a_cluster_belongs_to_which_joint(tmp_path):
    """It named the first joint alone, and a publisher could not tell the others."""
    model = cardan.robots.four_bar().model(loops="clusters")
    cardan.generate({"f": cardan.gravity_forces}, model, tmp_path / "lib")
    for header in (tmp_path / "lib" / "include").iterdir():
        text = header.read_text()
        for line in ("crank_joint: q[0..2], v[0..0]", "q[1]: coupler_joint.angle", "v[0]: crank_joint.dangle"):
            assert line in text


@pytest.mark.slow
def test_a_step_is_that_of_its_solver_with_the_inputs_of_its_world():
    """Length of steps, laws and surfaces are part of it; what each world has of its own is an argument."""
    world = cardan.robots.quadruped().world("floating", ground=True).with_inputs("mass", "contact_friction")
    state = world.state(worlds=2)
    state.v = np.random.default_rng(0).normal(size=state.v.shape)
    own = {name: state.constants[name] for name in ("contact_friction", "mass")}
    own["contact_friction"] = own["contact_friction"] * [[0.2], [1.0]]
    state.constants["contact_friction"][...] = own["contact_friction"]
    for dt in (0.001, 0.003):
        solver = cardan.solvers.Featherstone(world, dt=dt, contact="compliant")
        found = step_of(solver)(world.model, state.q, state.v, np.zeros(18), **own)
        expected = solver.step(state)
        np.testing.assert_allclose(found["q_next"], expected.q, rtol=0, atol=1e-13)  # of another program
        np.testing.assert_allclose(found["v_next"], expected.v, rtol=0, atol=1e-11)
    names = [a.name for a in step_of(solver).program(world.model).inputs]
    assert names == ["q", "v", "effort", "contact_friction", "mass"]


def test_a_world_with_drives_is_asked_for_positions(tmp_path, capsys):
    words = [
        "--step",
        "featherstone",
        "--pd",
        "100",
        "10",
        "--dt",
        "0.001",
        "--steps",
        "4",
        "-o",
        str(tmp_path / "s.c"),
    ]
    assert main(["generate", ARM7, *words]) == 0
    header = (tmp_path / "s.h").read_text()
    assert "const double effort[7], const double position[7], const double velocity[7], double q_next[7]" in header
    assert "step of arm7" in capsys.readouterr().out


def test_a_drive_along_what_follows_others_is_asked_for_positions():
    own = cardan.Mechanism("coupled")
    for name in ("a", "b"):
        own.add_body(name, cardan.Inertia(mass=1.0, com=[0.1, 0.0, 0.0], inertia=0.1 * np.eye(3)))
    own.add_joint("a", cardan.joints.Revolute(), "world", "a")
    square = cardan.joints.Coupled(cardan.joints.Revolute(), "a", cardan.joints.Polynomial([0.0, 1.0, 0.5]))
    own.add_joint("b", square, "a", "b", drive=cardan.Drive(10.0, 1.0))
    world = own.world()
    solver = cardan.solvers.Featherstone(world, dt=1e-3)
    assert [a.name for a in step_of(solver).program(world.model).inputs] == ["q", "v", "effort", "position", "velocity"]


@pytest.mark.slow
def test_all_joints_and_tables(tmp_path, all_joints_or):
    """Joints of every kind, splines with their tables among them."""
    model = random_model(0, joints=all_joints_or(CATALOGUE[1::4]))
    q, v, a = random_state(model, seed=0, shape=(3,))
    written = cardan.generate({"f": cardan.inverse_dynamics}, model, tmp_path / "lib")
    found = call(tmp_path, written.functions[0], [q, v, a])[0]
    expected = cardan.inverse_dynamics.on("numpy")(model, q, v, a)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


# --- C++ ---

CONSUMER = """
#include "arm.hpp"

#include <cstdio>
#include <string_view>
#include <vector>

struct Vector7 { /* as those of Eigen are */
    double numbers[7];
    double *data() { return numbers; }
    const double *data() const { return numbers; }
    long size() const { return 7; }
};

static_assert(arm::nq == 7 && arm::nv == 7 && arm::joints.size() == 7 && arm::joints[3].q_start == 3);
static_assert(arm::joints[0].name == std::string_view("joint1"));
using In = arm::span<const double, 7>;
static_assert(std::is_constructible_v<In, std::array<double, 7> &> && std::is_constructible_v<In, const double (&)[7]>);
static_assert(std::is_constructible_v<In, const std::array<double, 7> &> && std::is_constructible_v<In, Vector7 &>);
static_assert(!std::is_constructible_v<In, std::array<double, 6> &> && !std::is_constructible_v<In, double (&)[8]>);
static_assert(!std::is_constructible_v<In, std::array<float, 7> &>);
static_assert(!std::is_constructible_v<In, std::vector<float> &>);
static_assert(!std::is_convertible_v<const double *, In>);
static_assert(!std::is_constructible_v<arm::span<double, 7>, const std::array<double, 7> &>);
static_assert(!std::is_constructible_v<arm::span<double, 7>, const Vector7 &>);
static_assert(noexcept(arm::torques(std::declval<In>(), std::declval<In>(), std::declval<In>())));

int main() {
    std::array<double, 7> q{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7};
    const double v[7] = {1, 2, 3, 4, 5, 6, 7};
    Vector7 a{{1, 1, 1, 1, 1, 1, 1}};
    const auto tau = arm::torques(q, v, a);
    for (double each : tau.result) std::printf("%.17g ", each);
    std::array<double, 42> J;
    arm::tool(q, J);
    for (double each : J) std::printf("%.17g ", each);
    const std::array<double, 7> goal{};
    const auto held = arm::hold(q, v, goal, 80.0, 8.0);
    for (double each : held.result) std::printf("%.17g ", each);
    std::vector<double> many(14, 0.5), torques(14);
    arm::torques_batch(2, many, many, many, torques);
    std::printf("%.17g\\n", torques[13]);
    return arm::torques_stack > 0 ? 0 : 1;
}
"""


@cardan.function(shapes={"new": ("nq",)})
def hold(model, q, v, new, class_=80.0, this=8.0):
    """Pull to a configuration; its arguments are called like words of C++."""
    return class_ * (new - q) - this * v + cardan.gravity_forces(model, q)


@pytest.fixture(scope="module")
def arm_library(tmp_path_factory):
    place = tmp_path_factory.mktemp("library") / "arm"
    functions = {"torques": cardan.inverse_dynamics, "tool": partial(cardan.jacobian, frame="tool"), "hold": hold}
    cardan.generate(functions, cardan.load(ARM7), place)
    return place


COMPILERS = [(c, standard) for c in ("g++", "clang++") for standard in ("c++17", "c++20")]


@pytest.mark.slow
@pytest.mark.parametrize(("compiler", "standard"), represented(COMPILERS, by=lambda case: case == ("g++", "c++17")))
def test_the_header_for_cpp(tmp_path, arm_library, compiler, standard):
    """C++17 and C++20, every warning an error; the numbers are those of Python."""
    c = {"g++": "gcc", "clang++": "clang"}[compiler]
    for tool in (compiler, c):
        if shutil.which(tool) is None:
            pytest.skip(f"needs {tool}")
    for k, source in enumerate(sorted((arm_library / "src").iterdir())):
        for dialect in ("c99", "c11"):
            strict(c, dialect, source, tmp_path / f"{k}.o", arm_library)
    (tmp_path / "main.cpp").write_text(CONSUMER)
    strict(compiler, standard, tmp_path / "main.cpp", tmp_path / "main.o", arm_library)
    objects = [str(file) for file in tmp_path.glob("*.o")]
    subprocess.run([compiler, *objects, "-lm", "-o", str(tmp_path / "main")], check=True)
    out = subprocess.run([str(tmp_path / "main")], check=True, capture_output=True, text=True).stdout
    arm, q, v, half = cardan.load(ARM7), np.arange(1, 8) / 10, np.arange(1.0, 8.0), np.full(7, 0.5)
    expected = [cardan.inverse_dynamics(arm, q, v, np.ones(7)), cardan.jacobian(arm, q, "tool").ravel()]
    expected += [hold(arm, q, v, np.zeros(7)), cardan.inverse_dynamics(arm, half, half, half)[-1:]]
    np.testing.assert_allclose(np.array(out.split(), float), np.concatenate(expected), rtol=1e-12, atol=1e-12)


def strict(compiler, standard, source, target, library):
    flags = [f"-std={standard}", *STRICT, "-O1", f"-I{library / 'include'}"]
    subprocess.run([compiler, *flags, "-c", str(source), "-o", str(target)], check=True)


@pytest.mark.parametrize("workspace", ["argument", pytest.param("stack", marks=pytest.mark.full)])
def test_names_of_joints_are_literals_whatever_they_are(tmp_path, workspace):
    """What ends comments, strings or lines, and what is not ASCII."""
    needed("host")
    names = ['*/ int x; /* "', "back\\", "two\nlines", "hüfte", "??/"]
    m = cardan.Mechanism("odd */")
    for k, name in enumerate(names):
        m.add_body(f"b{k}", cardan.Inertia(1.0, (0.1, 0.0, 0.0)))
        m.add_joint(name, cardan.joints.Revolute((0, 0, 1)), "world" if k == 0 else f"b{k - 1}", f"b{k}")
    cardan.generate(cardan.gravity_forces, m.model(), tmp_path / "lib", workspace=workspace)
    text = '#include "lib.hpp"\n#include <cstdio>\nint main() { for (auto j : lib::joints) std::puts(j.name); }\n'
    (tmp_path / "main.cpp").write_text(text)
    strict("g++", "c++17", tmp_path / "main.cpp", tmp_path / "main.o", tmp_path / "lib")
    strict("gcc", "c99", tmp_path / "lib" / "src" / "lib_gravity_forces.c", tmp_path / "f.o", tmp_path / "lib")
    objects = [str(tmp_path / "main.o"), str(tmp_path / "f.o"), "-lm"]
    subprocess.run(["g++", *objects, "-o", str(tmp_path / "main")], check=True)
    out = subprocess.run([str(tmp_path / "main")], check=True, capture_output=True).stdout
    assert out.decode() == "".join(f"{name}\n" for name in names)


# --- what is promised of operations, stack and memory ---


def test_operations_of_loops_count_in_each_pass():
    arm = cardan.robots.arm7().model()
    step = step_of(cardan.solvers.Featherstone(cardan.robots.arm7().world(), dt=0.001), 7).program(arm)
    assert sum(work_counts(step).values()) == step.work > step.operations
    assert sum(work_by_kind(step).values()) == step.work
    plain = cardan.inverse_dynamics.program(arm)
    assert {op.value: n for op, n in work_counts(plain).items()} == plain.operation_counts()

    def nested(x):
        return {"y": cardan.repeat(3, lambda a: cardan.repeat(4, lambda b: cardan.sin(b) + 0.5, a) / 3.0, x[0]) * 2.0}

    kinds = work_by_kind(trace("f", nested, [Array("x", (1,))], regions=True))
    assert kinds == {
        "additions": 12,
        "multiplications": 1,
        "divisions": 3,
        "square roots": 0,
        "comparisons and signs": 0,
        "sin": 12,
    }


def used_stack(machine, source, include, folder, option, standard="c99"):
    """Return the bytes a compiler says of the chain of calls: over a batch, of one state, of the largest part."""
    left_out = ("-T", "-nostart", "-static")
    flags = [f for f in machine.flags if not f.startswith(left_out)]
    command = [machine.compiler, f"-std={standard}", option, *flags, *STRICT, f"-I{include}", "-fstack-usage"]
    subprocess.run([*command, "-c", str(source), "-o", str(folder / "f.o")], check=True)
    rows = [line.split("\t") for line in (folder / "f.su").read_text().splitlines()]
    assert all(kind in ("static", "dynamic,bounded") for *_, kind in rows)
    sizes = {name.split(":")[-1]: int(size) for name, size, _ in rows}
    parts = [size for name, size in sizes.items() if re.search(r"_(part|results)\d+", name)]
    own = [size for name, size in sizes.items() if not re.search(r"_(part|results)\d+", name)]
    assert len(own) == 2
    return sum(own) + max(parts, default=0)


QUADRUPED = cardan.robots.quadruped().world("floating", ground=True)
LARGE = {
    "one part": (cardan.inverse_dynamics, cardan.robots.arm7().model()),
    "parts": (cardan.forward_dynamics, cardan.robots.arm7().model()),
    "loops": (step_of(cardan.solvers.Featherstone(QUADRUPED, dt=0.002, contact="compliant"), 5), QUADRUPED.model),
    "results": (cardan.inverse_dynamics_derivatives, cardan.robots.arm7().model()),
}


@pytest.mark.full
@pytest.mark.parametrize("name", LARGE)
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("workspace", ["stack", "argument"])
def test_no_compiler_takes_more_stack_than_is_promised(tmp_path, name, machine, workspace):
    function, model = LARGE[name]
    target = needed(machine)
    for single in (False, True):
        place = tmp_path / f"lib{int(single)}"
        made = cardan.generate({"f": function}, model, place, single=single, workspace=workspace).functions[0]
        for option in ("-O0", "-O1", "-O2", "-O3", "-Os") if workspace == "stack" else ("-O0", "-O2"):
            used = used_stack(target, place / "src" / f"{made.name}.c", place / "include", tmp_path, option)
            assert used <= made.stack, (single, option)
    assert f"{made.name.upper()}_STACK {made.stack}" in (place / "include" / f"{place.name}.h").read_text()


@pytest.mark.full
@pytest.mark.parametrize("machine", MACHINES)
def test_nothing_is_allocated_and_nothing_static_changes(tmp_path, machine):
    """No data but constants, and of the world outside only libm."""
    target, model = needed(machine), QUADRUPED.model
    solver = cardan.solvers.Featherstone(QUADRUPED, dt=0.002, contact="compliant")
    cardan.generate({"step": solver, "torques": cardan.inverse_dynamics}, model, tmp_path / "lib")
    nm = target.compiler.replace("gcc", "nm")
    for source in (tmp_path / "lib" / "src").iterdir():
        command = [target.compiler, "-std=c99", "-O2", f"-I{tmp_path / 'lib' / 'include'}", "-fno-pic"]
        flags = [f for f in target.flags if not f.startswith(("-T", "-nostart", "-static"))]
        subprocess.run([*command, *flags, "-c", str(source), "-o", str(tmp_path / "f.o")], check=True)
        out = subprocess.run([nm, str(tmp_path / "f.o")], check=True, capture_output=True, text=True).stdout
        symbols = [line.split()[-2:] for line in out.splitlines()]
        assert not [name for kind, name in symbols if kind in "bBdDcC" and not name.startswith("$")]
        outside = {name for kind, name in symbols if kind == "U"} - {"memcpy", "memset", "memmove"}
        assert {name for name in outside if not name.startswith(("__aeabi", "__stack"))} <= {
            "sin",
            "cos",
            "sincos",
            "sqrt",
        }
        text = source.read_text()
        for function in re.findall(r"(?:PART )?void (\w+)\([^)]*\)\n\{(.*?)\n\}", text, re.DOTALL):
            assert not re.search(rf"\b{function[0]}\(", function[1])


# --- wrong use ---

BROKEN = {
    "missing.py": ("import no_such_module\n", "no_such_module", ":1)"),
    "syntax.py": ("x = 1\ndef f(:\n", "SyntaxError", ":2)"),
    "late.py": ("def g():\n    return 1 / 0\n\ng()\n", "ZeroDivisionError", ":2)"),
    "leaves.py": ("import sys\nsys.exit(3)\n", "SystemExit", ":2)"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_file_that_cannot_be_imported_says_its_line(tmp_path, capsys, name):
    text, *words = BROKEN[name]
    (tmp_path / name).write_text(text)
    assert main(["generate", ARM7, "--function", f"{tmp_path / name}:f", "-o", str(tmp_path / "f.c")]) == 1
    said = capsys.readouterr().err
    assert all(word in said for word in (*words, name, "a file that can be imported"))
    assert not (tmp_path / "f.c").exists()


LAWS = """import cardan

@cardan.function
def hold(model, q, v):
    return -v

@cardan.function
def jumps(model, q, v):
    if q[0] > 0.0:
        return v
    return -v

@cardan.function
def fails(model, q, v):
    return v + unknown

@cardan.function(returns=(0,))
def nothing(model, q):
    return []

@cardan.function
def asks(model, q, mode):
    return q

def plain(q):
    return q
"""


def test_wrong_functions(tmp_path, capsys):
    (tmp_path / "laws.py").write_text(LAWS)
    file, place = str(tmp_path / "laws.py"), str(tmp_path / "lib")
    for function, words in [
        (f"{file}:hodl", ["no function named 'hodl'", "did you mean 'hold'"]),
        (f"{file}:plain", ["a function made by @cardan.function", "Write @cardan.function above it"]),
        (f"{file}:jumps", ["laws.py", "9"]),
        (f"{file}:fails", ["fails cannot be generated", "laws.py:15", "name 'unknown' is not defined"]),
        (f"{file}:nothing", ["results of nothing", "one number at least"]),
        (f"{file}:asks", ["mode"]),
        (file, ["FILE.py:NAME"]),
        (f"{tmp_path / 'law.py'}:hold", ["law.py", "a Python file that exists"]),
        ("jacobian", ["--frame"]),
        ("", ["no function named ''"]),
    ]:
        assert main(["generate", ARM7, "--function", function, "-o", place]) == 1
        said = capsys.readouterr().err
        assert all(word in said for word in words), said
        assert "Traceback" not in said
    assert sorted(p.name for p in tmp_path.iterdir() if p.suffix != "") == ["laws.py"]
    assert not (tmp_path / "lib").exists()


def test_wrong_places_names_and_options(tmp_path, capsys):
    lib, mass = str(tmp_path / "lib"), ["--function", "mass_matrix"]
    for words, said in [
        ([*mass, "inverse_dynamics", "-o", lib + ".c"], "A folder holds several"),
        ([*mass, "mass_matrix", "-o", lib], "already a function named 'mass_matrix'"),
        ([*mass, "mass_matrix_batch=inverse_dynamics", "-o", lib], "already a name named"),
        ([*mass, "Mass_Matrix=inverse_dynamics", "-o", lib], "already a name named"),
        ([*mass, "step=inverse_dynamics", "--step", "xpbd", "-o", lib], "already a function named 'step'"),
        (["--function", "class=inverse_dynamics", "-o", lib], "no keyword or function of C or C++"),
        (["--function", "joints=inverse_dynamics", "-o", lib], "no word of C or C++"),
        ([*mass, "-o", str(tmp_path / "int")], "no word of C"),
        ([*mass, "-o", str(tmp_path / "Math")], "would hide that of C"),
        ([*mass, "-o", str(tmp_path / "stddef.c")], "would hide that of C"),
        ([*mass, "-o", str(tmp_path / "std")], "no word of C or C++"),
        ([*mass, "-o", str(tmp_path / "7up")], "letters, digits and _"),
        ([*mass, "-o", str(tmp_path / "no" / "lib")], "writable"),
        ([*mass, "-o", str(tmp_path / "lib.txt")], "a folder, without an ending"),
        ([*mass, "--dt", "0.1", "-o", lib], "--step SOLVER with it"),
        ([*mass, "--contacts", "*_foot", "-o", lib], "--step SOLVER with it"),
        (["--step", "featherstone", "--contacts", "*_foot", "-o", lib], "contacts of world"),
        ([*mass, "--frame", "tool", "-o", lib], "not about a frame"),
        (["--step", "featherstone", "--root", "link3", "-o", lib], "--base"),
        (["--step", "mujoco", "-o", lib], OF_MUJOCO),
        (["--step", "xpbd", "--integrator", "rk4", "-o", lib], "another solver than xpbd"),
        (["--step", "featherstone", "--steps", "0", "-o", lib], "a whole number >= 1"),
        (["--step", "featherstone", "--dt", "nan", "-o", lib], "a finite number > 0 [s]"),
        (["-o", lib], "--function NAME or --step SOLVER"),
    ]:
        assert main(["generate", ARM7, *words]) == 1, words
        err = capsys.readouterr().err
        assert said in err, (words, err)
    assert list(tmp_path.iterdir()) == []


def test_wrong_use_from_python(tmp_path):
    arm, place = cardan.load(ARM7), tmp_path / "lib"
    other = cardan.solvers.Featherstone(cardan.robots.double_pendulum().world(), dt=0.001)
    for functions, model, options, error, words in [
        ([], arm, {}, ParameterError, "one at least"),
        (np.sin, arm, {}, DTypeError, "@cardan.function"),
        ([cardan.mass_matrix, cardan.mass_matrix], arm, {}, DuplicateNameError, "mass_matrix"),
        (other, arm, {}, ParameterError, "solver.world.model"),
        (cardan.mass_matrix, "arm", {}, DTypeError, "cardan.Model"),
        (cardan.mass_matrix, arm, {"workspace": "heap"}, ParameterError, "'stack' or 'argument'"),
        (partial(cardan.jacobian, frame="tol"), arm, {}, UnknownNameError, "did you mean 'tool'"),
        (partial(cardan.jacobian, fram="tool"), arm, {}, UnknownNameError, "fram"),
        ({"f": cardan.function(lambda model, q: q.no_such)}, arm, {}, TraceError, "f cannot be generated"),
    ]:
        with pytest.raises(error, match=re.escape(words)):
            cardan.generate(functions, model, place, **options)
    assert not place.exists()


def test_what_is_there_is_written_again(tmp_path):
    """A library is generated anew in its folder; what else is in it stays."""
    place, arm = tmp_path / "lib", cardan.load(ARM7)
    cardan.generate([cardan.mass_matrix, cardan.inverse_dynamics], arm, place)
    (place / "notes.txt").write_text("mine")
    written = cardan.generate([cardan.mass_matrix], arm, place, single=True)
    assert [f.name for f in written.functions] == ["lib_mass_matrix"]
    assert "float" in (place / "include" / "lib.h").read_text()
    assert (place / "notes.txt").read_text() == "mine"
