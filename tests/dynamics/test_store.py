"""What was traced before is found again in a later process, and never taken for anything else."""

import copy
import functools
import gc
import os
import pickle
import shutil
import subprocess
import sys
import textwrap
import threading
import time
import weakref
from enum import Enum

import numpy as np
import pytest

import cardan
from cardan._algebra.content import UnknownContentError, content_of, digest
from cardan._motion.collision.candidate import Candidate
from cardan._robot.geometry import mesh
from cardan._robot.geometry.shapes import Mesh, Sphere
from mechanisms import random_mechanism

native = pytest.mark.skipif(
    cardan._compiler.targets.default_target() != "llvm", reason="the reference target keeps nothing"
)

TOLD = """
from cardan._dynamics.call import traced
traces = []
def noted(self, *args, of=traced.Kernel.traced):
    traces.append(self.signature.name)
    return of(self, *args)
traced.Kernel.traced = noted
import atexit, sys
atexit.register(lambda: print(len(traces), "llvmlite" in sys.modules))
"""
"""What tells at the end how many kernels were traced, and whether LLVM was loaded."""


def run(folder, text, source=None):
    """What a script prints, in a process of its own with a cache in a folder."""
    file = folder / "script.py"
    file.write_text(textwrap.dedent(text))
    source = str(source or os.path.dirname(os.path.dirname(cardan.__file__)))
    env = {**os.environ, "PYTHONPATH": source, "CARDAN_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run([sys.executable, str(file)], env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")[:-1]


def aged(folder):
    """Let the files of a package look older than any process that is started now."""
    for place, _, files in os.walk(folder):
        for name in files:
            os.utime(os.path.join(place, name), (time.time() - 100.0,) * 2)


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A copy of the package, old enough to be trusted whenever the tests run."""
    place = tmp_path_factory.mktemp("source") / "cardan"
    shutil.copytree(os.path.dirname(cardan.__file__), place, ignore=shutil.ignore_patterns("__pycache__"))
    aged(place)
    return place


# --- in later processes ------------------------------------------------------------------------------------------

OWN = """
import numpy as np
import cardan
arm = cardan.robots.arm7().model()
q = arm.neutral() + 0.1
print(cardan.potential_energy(arm, q))
print(cardan.derivative(cardan.mass_matrix, "q")(arm, q).sum())
print(cardan.gradient(cardan.potential_energy, "q")(arm, q).sum())
world = cardan.robots.cart_pole().world()
solver = cardan.solvers.Featherstone(world, dt=0.001)
print(solver.step(world.state(q=[0.0, 0.3]), steps=3).q.sum())
two = cardan.robots.double_pendulum().model()
tip = cardan.tasks.FramePosition(two.body_names[-1], [0.1, 0.0, 0.2])
print(cardan.inverse_kinematics(two, tip, q0=two.neutral() + 0.1).q.sum())
"""


@pytest.mark.slow
@native
def test_a_later_process_needs_neither_trace_nor_compiler(package, tmp_path):
    """Derivatives, steps of a solver and inverse kinematics are cardan's own as well."""
    first, second = (run(tmp_path, TOLD + OWN, package.parent) for _ in range(2))
    assert first[:-1] == second[:-1]
    assert first[-1].endswith("True")
    assert second[-1] == "0 False"


USERS = """
import numpy as np
import cardan

class Slider(cardan.Joint):
    manifold = cardan.manifolds.Euclidean(1)

    def transform(self, q):
        return cardan.SE3(translation=(0.0, 0.0, {rise} * q[0]))

m = cardan.Mechanism("m")
m.add_body("b", cardan.Inertia(1.0))
m.add_joint("j", Slider(), "world", "b")
slider, arm = m.model(), cardan.robots.arm7().model()

@cardan.function
def scaled(model, q):
    return {gain} * q[0]

print(scaled(arm, arm.neutral() + 1.0), cardan.mass_matrix(slider, [1.0])[0, 0])
"""


@native
@pytest.mark.full
def test_what_users_wrote_is_traced_in_every_process_and_compiled_in_the_first(package, tmp_path):
    usual = {"rise": 2.0, "gain": 3.0}
    first, second = (run(tmp_path, TOLD + USERS.format(**usual), package.parent) for _ in range(2))
    assert (first[0], second) == ("3.0 4.0", ["3.0 4.0", "2 False"])
    assert run(tmp_path, USERS.format(rise=1.0, gain=3.0), package.parent) == ["3.0 1.0"]
    assert run(tmp_path, USERS.format(rise=2.0, gain=5.0), package.parent) == ["5.0 4.0"]


@native
@pytest.mark.full
def test_a_module_that_is_called_as_one_of_pythons(package, tmp_path):
    """`from .math import GAIN` was taken for the standard module, whose content nobody changes."""
    place = tmp_path / "mine"
    place.mkdir()
    (place / "__init__.py").touch()
    (place / "control.py").write_text(
        "import cardan\n@cardan.function\ndef f(model, q):\n    from .math import GAIN\n    return GAIN * q[0]\n"
    )
    script = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); sys.dont_write_bytecode = True; import cardan\n"
    script += "from mine.control import f\nprint(f(cardan.robots.cart_pole().model(), [1.0, 0.0]))"
    for gain in ("1.0", "5.0"):
        (place / "math.py").write_text(f"GAIN = {gain}\n")
        assert run(tmp_path, script, package.parent) == [gain]


@native
@pytest.mark.full
def test_shapes_that_a_process_changed_are_those_of_the_next(package, tmp_path):
    """The step of a world was right before; what reads its robot's shapes through a function of cardan is, too."""
    script = """
    import cardan
    from cardan.description import Shape, Sphere
    m = cardan.Mechanism("m")
    m.add_body("b", cardan.Inertia(1.0))
    m.add_joint("j", cardan.joints.FreeFlyer(), "world", "b")
    m.add_shape(Shape("b", "collision", Sphere({radius})))
    world = m.world(ground=True)
    print(round(float(world.collide(world.state(q=[0, 0, 1, 0, 0, 0, 1])).gap[0, 0]), 12))
    """
    found = [run(tmp_path, textwrap.dedent(script).format(radius=r), package.parent) for r in (0.1, 0.4, 0.1)]
    assert found == [["0.9"], ["0.6"], ["0.9"]]


HEIGHT = """
import cardan
arm = cardan.robots.arm7().model()
print(cardan.potential_energy(arm, arm.neutral() + 0.1))
"""


@native
@pytest.mark.full
def test_a_file_of_cardan_that_changed_makes_all_anew(package, tmp_path):
    """Rooms through which no trace goes do not count."""
    place = tmp_path / "source" / "cardan"
    shutil.copytree(package, place)
    aged(place)
    page, text = place / "_dynamics/algorithms/energy.py", "* -model.mass"
    assert text in page.read_text()
    first, second = (run(tmp_path, TOLD + HEIGHT, place.parent) for _ in range(2))
    assert (second[0], second[1]) == (first[0], "0 False")
    page.write_text(page.read_text().replace(text, "* +model.mass"))
    os.utime(page, (time.time() - 50.0,) * 2)
    (place / "_reach/viewer/viewer.py").write_text("")
    aged(place / "_reach")
    changed, again = (run(tmp_path, TOLD + HEIGHT, place.parent) for _ in range(2))
    assert float(changed[0]) == -float(first[0])
    assert again == [changed[0], "0 False"]


@native
@pytest.mark.full
def test_files_as_young_as_the_process_are_not_trusted(package, tmp_path):
    """What runs may be older than they are: nothing is kept, and nothing taken."""
    place = tmp_path / "source" / "cardan"
    shutil.copytree(package, place)
    future = time.time() + 100.0
    os.utime(place / "_dynamics/algorithms/energy.py", (future, future))
    for _ in range(2):
        assert run(tmp_path, TOLD + HEIGHT, place.parent)[1].startswith("1 ")


REPLACED = """
kept = cardan.center_of_mass.kernel
cardan.center_of_mass.kernel = lambda *args: kept(*args) * 0.5
try:
    cardan.potential_energy.program(arm)
except cardan.errors.StaleProgramError as error:
    print(str(error)[:17])
"""


@native
@pytest.mark.full
def test_a_program_that_was_found_is_not_traced_again_as_another(package, tmp_path):
    """Machine code for another dtype would have been made of it, and kept under the name of the first."""
    (height,) = run(tmp_path, HEIGHT, package.parent)
    assert run(tmp_path, HEIGHT + REPLACED, package.parent) == [height, "potential_energy:"]


# --- files that are read -----------------------------------------------------------------------------------------


def box_on_plane(a, X_a, b, X_b):
    """A page that reads a file: the lowest corner of a box above a plane."""
    corners = mesh.surface_of_file(a.uri, a.path).vertices.tolist()
    points = [cardan.spatial.Vector3(*corner) for corner in corners]
    n = X_a.rotation.T @ (X_b.rotation @ cardan.spatial.Vector3(0.0, 0.0, 1.0))
    h = (X_a.translation - X_b.translation).dot(X_b.rotation @ cardan.spatial.Vector3(0.0, 0.0, 1.0))
    return [Candidate(h + n.dot(point), point, n) for point in points]


@pytest.mark.slow
def test_a_world_reads_a_mesh_as_its_file_is_then(tmp_path):
    """Its program was kept under the path, whatever stood in the file by then: a box lay half in the ground."""
    trimesh = pytest.importorskip("trimesh", reason="trimesh is not installed")
    file = str(tmp_path / "box.stl")

    def gap(height):
        trimesh.creation.box((0.2, 0.2, height)).export(file)
        m = cardan.Mechanism("m")
        m.add_body("b", cardan.Inertia(1.0))
        m.add_joint("j", cardan.joints.FreeFlyer(), "world", "b")
        m.add_shape(cardan.description.Shape("b", "collision", Mesh("box.stl", path=file)))
        world = m.world(ground=True)
        return world.collide(world.state(q=[0, 0, 1, 0, 0, 0, 1])).gap.min()

    assert [gap(height) for height in (0.2, 0.6)] == pytest.approx([0.9, 0.7])


def test_a_function_that_reads_a_file_is_traced_for_each_model(tmp_path):
    trimesh = pytest.importorskip("trimesh", reason="trimesh is not installed")
    file = str(tmp_path / "box.stl")
    lifted = cardan.function(lambda model, q: q + mesh.surface_of_file("box.stl", file).vertices[:, 2].max())
    for height in (0.2, 0.6):
        trimesh.creation.box((0.2, 0.2, height)).export(file)
        assert lifted(cardan.robots.cart_pole().model(), [0.0, 0.0])[0] == pytest.approx(0.5 * height, rel=1e-6)


PURE = """
import os, sys
os.environ["CARDAN_TARGET"] = "numpy"
sys.dont_write_bytecode = True  # modules are imported while pages are traced
import cardan._algebra.content
import numpy as np
import cardan
arm = cardan.robots.quadruped().model(base="floating")
world = cardan.robots.quadruped().world("floating", ground=True)
opened = []
def hook(event, args):
    if event == "open" and not str(args[0]).endswith((".py", ".pyc")) and "__pycache__" not in str(args[0]):
        opened.append(str(args[0]))
functions = [f for n in cardan.__all__ if isinstance(f := getattr(cardan, n), cardan.Function)]
rooms = tuple(os.path.join(os.path.dirname(cardan.__file__), room) + os.sep for room in cardan._algebra.content.APART)
def profile(frame, event, argument):
    if frame.f_code.co_filename.startswith(rooms):
        opened.append(frame.f_code.co_filename)
sys.addaudithook(hook)
sys.setprofile(profile)
for f in functions:
    options = {"frame": arm.body_names[-1]} if "frame" in f.interface.arguments else {}
    try:
        f.trace(arm, **options)
    except (cardan.errors.CardanError, TypeError):
        pass
for solver in (cardan.solvers.Featherstone, cardan.solvers.XPBD):
    solver(world, dt=0.001).function.trace(world.model, "position")
sys.setprofile(None)
print(len(functions) > 20, opened)
"""


@pytest.mark.full
def test_no_page_of_cardan_opens_a_file_or_calls_a_room_apart_while_it_is_traced(tmp_path):
    """The rules that let traces be kept; a page that needs a file asks those who note it (`runtime/reading.py`)."""
    assert run(tmp_path, PURE) == ["True []"]


# --- in one process ----------------------------------------------------------------------------------------------


def test_equal_models_share_programs_and_outlive_one_another(quick_target):
    function = cardan.function(lambda model, q: cardan.center_of_mass(model, q))
    first, second = (cardan.robots.arm7().model() for _ in range(2))
    assert function.compiled(second, ("q",), ()) is function.compiled(first, ("q",), ())
    compiled, gone = weakref.ref(function.compiled(first, ("q",), ())), weakref.ref(first)
    del first
    gc.collect()
    assert gone() is None
    assert function.compiled(second, ("q",), ()) is compiled()


@pytest.mark.slow
def test_models_are_equal_if_they_are_made_of_the_same():
    models = [cardan.robots.four_bar().model(), cardan.robots.humanoid().model(base="floating")]
    models += [random_mechanism(seed).model() for seed in range(4)]
    for model in models:
        twins = [copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
        twins.append(cardan.from_json(cardan.to_json(model)))
        for twin in twins:
            assert twin == model
            assert twin.digest == model.digest is not None
        assert len({model, *twins}) == 1
        assert model not in (model.with_gravity((0, 0, -9.8)), model.with_inputs("mass"), None, "model")
    assert len({*models}) == len(models)


def test_a_model_with_symbols_is_equal_to_itself():
    seen = []

    @cardan.function
    def kept(model, q):
        seen.append(model)
        return q * cardan.mass_matrix(model, q)[0, 0]

    varied = cardan.robots.double_pendulum().model().with_inputs("mass")
    for dtype in ("numpy", "llvm"):
        kept.on(dtype).trace(varied)
    assert seen[0] == seen[0] != seen[1] != varied
    assert seen[0].digest is None
    assert copy.copy(seen[0]) == seen[0]


def test_what_is_made_of_the_simplified_tree_is_not_the_models():
    """A kernel that broke its promise left the simplified tree's program to all who came after it."""
    arm = cardan.robots.arm7().model()
    expected = cardan.center_of_mass(arm, arm.neutral() + 0.1).copy()

    @cardan.function(simplified=True)
    def breaks_its_promise(model, q):
        return q * cardan.center_of_mass(model, np.full(7, 0.1))[0]

    twin = cardan.robots.arm7().model()
    breaks_its_promise(twin, twin.neutral())
    np.testing.assert_array_equal(cardan.center_of_mass(twin, twin.neutral() + 0.1), expected)


# --- content -----------------------------------------------------------------------------------------------------


class Colour(Enum):
    RED = 1


class Holds:
    def __init__(self, **values):
        self.__dict__.update(values)


def test_content_tells_values_apart():
    things = [
        0, 0.0, -0.0, False, None, "", b"", (), [], {}, set(), frozenset(), 1, 1.0, True, 1j, "1", b"1", (1,), (1.0,),
        [1], [1.0], {1}, {"a": 1}, {"a": 1.0}, ("builtins.tuple", 1.0), ((1.0, 2.0),), (1.0, (2.0,)), np.ones(2),
        np.ones((2, 1)), np.ones(2, "f4"), np.float64(1.0), np.float32(1.0), np.array([1.0, None]), range(2),
        cardan.spatial.Vector3(1.0, 2.0, 3.0), (1.0, 2.0, 3.0), Sphere(0.1), Sphere(0.2), cardan.joints.Revolute(),
        cardan.joints.Prismatic(), functools.partial(max, 1), functools.partial(max, 2), np.sin, Colour.RED,
        Holds(a=1), Holds(b=1), Holds(a=1.0), Holds, np, max, len,
    ]  # fmt: skip
    assert len({content_of(thing) for thing in things}) == len(things)
    assert [content_of(copy.deepcopy(t)) == content_of(t) for t in things if t is not np] == [True] * (len(things) - 1)


def test_content_does_not_depend_on_order_or_sharing():
    shared = [1.0, 2.0]
    assert content_of({3, 1, 2}) == content_of({2, 3, 1})
    assert content_of([shared, shared]) == content_of([[1.0, 2.0], [1.0, 2.0]])
    assert content_of(Holds(a=1, b=2)) == content_of(Holds(b=2, a=1))


def test_what_others_wrote_stands_apart_and_has_no_digest():
    def made(gain):
        return lambda x: gain * x

    f = made(1.0)
    for thing in (f, Holds, Holds(a=1), Colour.RED, [f], cardan.Function, np, cardan.function(f)):
        assert content_of(thing) == content_of(thing)
        assert (digest(thing) is None) == (thing is not cardan.Function)
    assert content_of(made(1.0)) != content_of(f)
    assert content_of([f, f]) != content_of([f, made(1.0)])


def test_cardans_own_functions_are_told_by_their_place_and_what_they_were_made_with():
    of = cardan.mass_matrix
    derived = [cardan.derivative(of, "q"), cardan.derivative(of, "q", mode="reverse"), cardan.gradient(of, "q")]
    repeated = [cardan.integrate.repeated(2, {"q": "result"}), cardan.integrate.repeated(3, {"q": "result"})]
    own = [of, cardan.bias_forces, *derived, *repeated]
    assert None not in map(digest, own)
    assert len(set(map(digest, own))) == len(own)
    assert digest(cardan.derivative(of, "q")) == digest(derived[0])
    world = cardan.robots.cart_pole().world()
    steps = [cardan.solvers.Featherstone(world, dt=dt).function for dt in (0.1, 0.2, 0.1)]
    assert digest(steps[0]) == digest(steps[2]) != digest(steps[1])


def test_what_cannot_be_read_is_refused():
    itself = []
    itself.append(itself)
    deep = functools.reduce(lambda inner, _: [inner], range(10**4), [])
    for thing in (threading.Lock(), iter([]), itself, deep, memoryview(b"")):
        assert digest(thing) is None
        with pytest.raises(UnknownContentError):
            content_of(thing)
