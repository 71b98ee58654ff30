"""Images of machine code: what is kept on disk runs without the program and without LLVM, if nothing changed it."""

import os
import subprocess
import sys
import threading

import llvmlite.binding as llvm
import numpy as np
import pytest

import cardan
from cardan._compiler.program import Array, trace
from cardan._compiler.runtime import disk_cache as cache
from cardan._compiler.runtime import processor
from cardan._compiler.targets import Outline, compile_program, default_target, load_program
from cardan._compiler.targets.llvm.image import Image, has_flat_images
from cardan._compiler.targets.llvm.machine import compile_image
from cardan._compiler.targets.llvm.plan import Lanes
from cardan._compiler.targets.llvm.text import llvm_text
from cardan._compiler.targets.runner import PythonCall
from representatives import represented

pytestmark = [
    pytest.mark.skipif(default_target() != "llvm", reason="images belong to the llvm target"),
    pytest.mark.skipif(not has_flat_images(), reason="made from object files of ELF"),
]
DTYPES = [np.dtype(np.float64), np.dtype(np.float32)]


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("CARDAN_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def traced(function, *sizes):
    inputs = [Array(f"x{k}", (n,)) for k, n in enumerate(sizes)]
    return trace("f", lambda *x: {"y": np.array(function(*x), dtype=object)}, inputs)


def never():
    pytest.fail("the program was asked for, though its image was kept")


PROGRAMS = {
    "small": lambda: traced(lambda x: [x[0] * x[1] + 1.0], 2),
    "every function, far angles": lambda: traced(
        lambda x: [getattr(cardan, f)(x[0]) for f in ("sin", "cos", "tan", "asin", "acos", "exp", "log", "sqrt")], 1
    ),
    "no results": lambda: traced(lambda x: [], 2),
    "an empty argument": lambda: traced(lambda x, y: [x[0] + 2.0], 1, 0),
    "only constants": lambda: traced(lambda x: [0.0, 1.5, -2.5], 1),
    "many results, past the caches": lambda: traced(lambda x: [x[k % 3] * float(k + 1) for k in range(90)], 3),
    "a workspace on the heap": lambda: traced(lambda x: [x[0] * float(k % 7) for k in range(5_000)], 1),
}


KEPT = [(name, dtype) for name in PROGRAMS for dtype in DTYPES]
LONG = ("a workspace on the heap", DTYPES[1])


@pytest.mark.parametrize(("name", "dtype"), represented(KEPT, by=lambda case: case != LONG), ids=str)
def test_what_was_kept_gives_the_same_bits(place, name, dtype):
    program = PROGRAMS[name]()
    rows = 19
    x = [np.random.default_rng(0).normal(size=(rows, a.size)).astype(dtype) * 1e13 for a in program.inputs]
    first = compile_program(program, "llvm")(x, rows, dtype)
    again = load_program(Outline.of(program), never, "llvm")(x, rows, dtype)
    assert first.tobytes() == again.tobytes()
    np.testing.assert_allclose(first, compile_program(program, "numpy")(x, rows, dtype), rtol=1e-5, atol=1e-300)


@pytest.mark.full
def test_another_process_neither_traces_nor_loads_llvm(place):
    code = (
        "import sys, numpy as np\n"
        "from cardan._compiler.program import Array\n"
        "from cardan._compiler.targets import Outline, load_program, default_target\n"
        "from cardan._compiler.targets.runner import PythonCall\n"
        "outline = Outline({name!r}, {inputs}, {outputs}, {operations}, {digest!r})\n"
        "run = load_program(outline, lambda: 1 / 0, default_target())\n"
        "print(run([np.array([[3.0, 4.0]])], 1, np.dtype(float)))\n"
        "fast_path = run.fast_path(PythonCall('f', print))\n"
        "print(fast_path(np.array([3.0, 5.0])), *run.describe(), 'llvmlite' in sys.modules)\n"
    )
    program = PROGRAMS["small"]()
    outline = Outline.of(program)
    run = compile_program(program, "llvm")
    run.fast_path(PythonCall("f", print))
    run([np.ones((1, 2))], 1, np.dtype(float))
    fields = {name: getattr(outline, name) for name in ("name", "inputs", "outputs", "operations", "digest")}
    command = [sys.executable, "-c", code.format(**fields)]
    for _ in range(2):  # the first keeps the fast path's code, which this process may have loaded from another place
        found = subprocess.run(command, capture_output=True, text=True, env={**os.environ})
    assert found.stderr == ""
    first, second = found.stdout.splitlines()
    assert first == "[[13.]]"
    assert second.startswith("[16.] llvm, float64: ")
    assert "found in the disk cache" in second
    assert second.endswith("False")


def test_a_program_is_asked_for_only_where_nothing_was_kept(place):
    program, asked = PROGRAMS["small"](), []

    def ask():
        asked.append(1)
        return program

    outline, x = Outline.of(program), [np.array([[3.0, 4.0]])]
    for _ in range(2):
        assert load_program(outline, ask, "llvm")(x, 1, np.dtype(float)) == 13.0
    assert len(asked) == 1
    assert load_program(outline, ask, "numpy")(x, 1, np.dtype(float)) == 13.0
    cache.clear()
    assert load_program(outline, ask, "llvm")(x, 1, np.dtype(float)) == 13.0
    assert len(asked) == 3


def test_no_byte_may_change(place):
    """Bytes of an entry, head and code, changed: none is taken for what was written."""
    compile_program(PROGRAMS["small"](), "llvm")([np.ones((1, 2))], 1, np.dtype(float))
    (entry,) = place.glob("*" + cache.ENDING)
    whole = entry.read_bytes()
    assert cache.load(entry.stem) == whole[32:]
    for k in {*range(64), *range(0, len(whole), 7)}:  # the head, and every seventh
        entry.write_bytes(whole[:k] + bytes([whole[k] ^ 0x40]) + whole[k + 1 :])
        assert cache.load(entry.stem) is None, k
    for n in range(0, len(whole), 7):
        entry.write_bytes(whole[:n])
        assert cache.load(entry.stem) is None, n
    entry.write_bytes(whole)
    assert cache.load(entry.stem) == whole[32:]


def test_code_for_another_processor_is_not_taken(place, monkeypatch):
    from cardan._compiler.targets.llvm import store

    program, x = PROGRAMS["small"](), [np.ones((1, 2))]
    compile_program(program, "llvm")(x, 1, np.dtype(float))
    described = processor.description()
    for other in (f"{described},0FFF", None):  # one more feature; a system that says nothing, where LLVM is asked
        store._machine.cache_clear()
        monkeypatch.setattr(processor, "description", lambda other=other: other)
        before = len(list(place.glob("*" + cache.ENDING)))
        assert compile_program(program, "llvm")(x, 1, np.dtype(float)) == 2.0
        assert len(list(place.glob("*" + cache.ENDING))) == before + 1
    store._machine.cache_clear()


def test_threads_that_load_at_once(place):
    program, x = PROGRAMS["every function, far angles"](), [np.linspace(0.1, 0.9, 64).reshape(64, 1)]
    expected = compile_program(program, "llvm")(x, 64, np.dtype(float))
    outline, start, wrong = Outline.of(program), threading.Barrier(8), []

    def work():
        start.wait()
        for _ in range(50):
            if not np.array_equal(load_program(outline, never, "llvm")(x, 64, np.dtype(float)), expected):
                wrong.append(1)

    workers = [threading.Thread(target=work) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_child_runs_and_loads_what_its_parent_loaded(place):
    code = (
        "import os, numpy as np, cardan\n"
        "arm = cardan.robots.double_pendulum().model()\n"
        "q = np.full((3, 2), 0.3)\n"
        "here = cardan.inverse_dynamics(arm, q, q, q)\n"
        "child = os.fork()\n"
        "same = np.array_equal(cardan.inverse_dynamics(arm, q, q, q), here)\n"
        "fresh = cardan.mass_matrix(arm, q)\n"
        "if not child: os._exit(0 if same else 1)\n"
        "print(same, os.waitpid(child, 0)[1])\n"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (found.stdout, found.stderr) == ("True 0\n", "")


def test_an_image_refers_to_nothing_outside_it():
    declared = "declare double @sin(double)\ndefine double @f(double %x) {\n  %y = call double @sin(double %x)\n"
    with pytest.raises(cardan.errors.TargetError, match="'sin'"):
        compile_image(declared + "  ret double %y\n}", "f")


def test_an_image_is_read_as_it_was_written():
    image = Image(b"\x90\xc3", 1, 8, 1024, 512, 3)
    assert Image.from_bytes(image.to_bytes()) == image


@pytest.mark.slow
@pytest.mark.parametrize("scalar", ["double", "float"])
def test_images_for_other_processors_can_be_made(scalar):
    """Every reference within them is of a kind that is known."""
    from cardan._compiler.targets.llvm.elf import flatten

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple("x86_64-linux-gnu")
    machine = target.create_target_machine(cpu="haswell", opt=2, reloc="pic", codemodel="small")
    lanes = Lanes(32 // (8 if scalar == "double" else 4), scalar)
    for build in PROGRAMS.values():
        module = llvm.parse_assembly(llvm_text(build(), lanes), context=llvm.create_context())
        module.triple = "x86_64-linux-gnu"
        code, entry = flatten(machine.emit_object(module), "evaluate")
        assert 0 <= entry < len(code)
