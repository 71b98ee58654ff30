"""The first call of a process: what was traced before is found again, and never taken for anything else."""

import collections
import dataclasses
import functools
import math
import operator
import os
import shutil
import subprocess
import sys
import textwrap
import threading
import time
from typing import NamedTuple

import numpy as np
import pytest
from numpy.random import default_rng

import cardan
from cardan import content
from cardan.formats import read_urdf
from cardan.formats.reading import Options
from cardan.formats.source import Source
from cardan.formats.urdf import read as from_urdf
from work import calls

OPTIONS = Options()

HINGE = """
import numpy as np
import cardan

OFFSET = {offset}

class Slider(cardan.Joint):
    manifold = cardan.manifolds.Euclidean(1)

    def __init__(self, rise):
        self.rise = rise

    def transform(self, q):
        return cardan.SE3(translation=(0.0, 0.0, self.rise * q[0] + OFFSET))

m = cardan.Mechanism("m")
m.add_body("b", cardan.Inertia(1.0, (0.0, 0.0, {com})))
m.add_joint("j", Slider({rise}), "world", "b")
model = m.model()

@cardan.function
def height(model, q):
    return {factor} * cardan.frame_transform(model, q, "b")[2, 3]

print(height(model, [1.0]), cardan.mass_matrix(model, [1.0])[0, 0])
import sys
print("llvmlite" in sys.modules)
"""
USUAL = {"offset": 0.5, "rise": 2.0, "com": 0.1, "factor": 3.0}


def run(folder, text, source=None):
    """What a script prints, in a process of its own with a cache in a folder."""
    file = folder / "script.py"
    file.write_text(textwrap.dedent(text))
    source = str(source or os.path.dirname(os.path.dirname(cardan.__file__)))
    env = {**os.environ, "PYTHONPATH": source, "CARDAN_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run([sys.executable, str(file)], env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


CHANGES = """
import cardan

LIFT = {first}

class Slider(cardan.Joint):
    manifold = cardan.manifolds.Euclidean(1)

    def transform(self, q):
        return cardan.SE3(translation=(0.0, 0.0, q[0] * LIFT))

m = cardan.Mechanism("m")
m.add_body("b", cardan.Inertia(1.0))
m.add_joint("j", Slider(), "world", "b")
model = m.model()
if {first} != 1.0:
    cardan.mass_matrix(model, [1.0])  # what the model is made of is known from here on ...
LIFT = 1.0  # ... and is something else now
print(cardan.frame_transform(model, [1.0], "b")[2, 3])
"""


def results(change):
    at = {**USUAL, **change}
    return at["factor"] * (at["rise"] + at["offset"]), at["rise"] ** 2


native = pytest.mark.skipif(cardan.targets.default_target() != "llvm", reason="the reference target keeps nothing")


@native
def test_a_second_process_needs_neither_trace_nor_compiler(tmp_path):
    first, second = run(tmp_path, HINGE.format(**USUAL)), run(tmp_path, HINGE.format(**USUAL))
    assert first[:2] == second[:2]
    np.testing.assert_allclose([float(e) for e in first[:2]], results({}))
    assert (first[2], second[2]) == ("True", "False")


@pytest.fixture(scope="module")
def folder_of_the_usual(tmp_path_factory):
    """A folder whose cache holds the usual program, and those of the changes tested before."""
    folder = tmp_path_factory.mktemp("usual")
    run(folder, HINGE.format(**USUAL))
    return folder


@native
@pytest.mark.parametrize("change", [{"offset": 0.75}, {"rise": -1.0}, {"com": 0.2}, {"factor": 0.5}])
def test_whatever_changes_in_code_globals_or_numbers_is_another_entry(folder_of_the_usual, change):
    found = run(folder_of_the_usual, HINGE.format(**{**USUAL, **change}))
    np.testing.assert_allclose([float(e) for e in found[:2]], results(change))


@native
def test_a_global_that_changes_between_two_functions(tmp_path):
    """The second program was kept under the digest the model had with the first value."""
    assert run(tmp_path, CHANGES.format(first=3.0)) == ["1.0"]
    assert run(tmp_path, CHANGES.format(first=3.0).replace("LIFT = 1.0", "LIFT = 3.0")) == ["3.0"]
    assert run(tmp_path, CHANGES.format(first=1.0)) == ["1.0"]


STALE = """
import cardan

GAIN = 2.0
model = cardan.robots.cart_pole().model()

@cardan.function
def scaled(model, q):
    return GAIN * q[0]

scaled(model, [1.0, 0.0])
GAIN = {second}
try:
    print(scaled.program(model).operations)
except cardan.errors.StaleProgramError as error:
    print(str(error)[:7])
"""


@native
def test_a_program_that_was_found_is_not_traced_again_as_another(tmp_path):
    """Machine code for another dtype would have been made of it, and kept under the name of the first."""
    assert run(tmp_path, STALE.format(second=3.0)) == ["1"]  # was traced with the first
    assert run(tmp_path, STALE.format(second=3.0)) == ["scaled:"]
    assert run(tmp_path, STALE.format(second=2.0)) == ["1"]


NAMED = """
import cardan

model = cardan.robots.cart_pole().model()
for name in ("first", "second"):
    def scaled(model, q):
        return 2.0 * q[0]
    scaled.__name__ = name
    function = cardan.function(scaled)
    function(model, [1.0, 0.0])
    print(function.program(model).name)
"""


@native
def test_functions_of_one_text_under_two_names_are_two(tmp_path):
    """The second was found as the first on disk, and refused as stale when it was traced: for another dtype, say."""
    assert run(tmp_path, NAMED) == ["first", "second"]


PATCHED = """
import sys
import cardan
from cardan import algorithms

def halved(model, q, *rest):
    return 0.5 * kept(model, q, *rest)

kept = algorithms.potential_energy
arm = cardan.robots.arm7().model()
if {patched}:
    {what}
print(cardan.potential_energy(arm, arm.neutral() + 0.1))
"""


@native
@pytest.mark.parametrize(
    "what",
    [
        "algorithms.potential_energy = halved",
        pytest.param("cardan.spatial.Vector3.dot = lambda a, b: a[2] * b[2] * 0.5", marks=pytest.mark.full),
    ],
)
def test_what_was_found_while_cardan_was_patched_is_kept_for_nobody(tmp_path, what):
    """Nor does a process that patches take what others found."""
    right, patched = (PATCHED.format(patched=p, what=what) for p in (False, True))
    (wrong,), (expected,) = run(tmp_path, patched), run(tmp_path, right)
    assert wrong != expected
    assert run(tmp_path, patched) == [wrong]
    assert run(tmp_path, right) == [expected]


HEIGHT = """
import cardan
arm = cardan.robots.arm7().model()
print(cardan.potential_energy(arm, arm.neutral() + 0.1))
import sys
print("llvmlite" in sys.modules)
"""


@native
def test_what_another_state_of_the_code_found_is_not_taken(tmp_path):
    """A file that was not loaded does not matter, unless it takes another's place."""
    package = tmp_path / "source" / "cardan"
    shutil.copytree(os.path.dirname(cardan.__file__), package)
    page, text = package / "algorithms/energy.py", "* -model.mass"
    assert text in page.read_text()

    def found():
        time.sleep(0.1)  # files as young as the process are not trusted
        return run(tmp_path, HEIGHT, package.parent)

    first, second = found(), found()
    assert (first[1], second[1]) == ("True", "False")
    assert first[0] == second[0]
    page.write_text(page.read_text().replace(text, "* +model.mass"))
    (package / "viewer/viewer.py").write_text("")
    changed, again = found(), found()
    assert float(changed[0]) == -float(first[0])
    assert again == [changed[0], "False"]
    page.with_suffix("").mkdir()
    page.with_suffix("").joinpath("__init__.py").write_text(page.read_text().replace("* +model.mass", text))
    assert found()[0] == first[0]


def of(*things):
    return content.digest(*things)


def test_the_content_of_functions():
    def made(k, default=1.0):
        def f(x, y=default):
            return k * x + y

        return f

    assert of(made(2.0)) == of(made(2.0))
    assert len({of(made(2.0)), of(made(2)), of(made(3.0)), of(made(2.0, 2.0)), of(made(made(1.0)))}) == 5

    def other(x, y=1.0):
        return x - y

    assert of(other) != of(made(1.0))


def of_class(k):
    class Table:
        gain = k

        def lift(self, x):
            return k * x

    return Table


def of_property(k):
    class Table:
        @property
        def gain(self):
            return k

    return Table


def of_record(k):
    @dataclasses.dataclass(frozen=True)
    class Table:
        gain: float = k

    return Table


def of_factory(k):
    @dataclasses.dataclass
    class Table:
        gain: list = dataclasses.field(default_factory=lambda: [k])

    return Table


def of_tuple(k):
    return collections.namedtuple("Table", "x gain", defaults=[k])


def of_user(k):
    made = of_class(k)

    def f(model, q):
        return made().lift(q)

    return f


def of_wrapper(k):
    @functools.wraps(math.sin)  # takes the name of a function that is told by its name
    def f(x):
        return k * x

    return f


def of_attribute(k):
    def f(x):
        return f.gain * x

    f.gain = k
    return f


def of_deep(k):
    def low(x):
        return k * x

    return lambda x: [low(e) for e in x]


@pytest.mark.parametrize(
    "made", [of_class, of_property, of_record, of_factory, of_tuple, of_user, of_wrapper, of_attribute, of_deep]
)
def test_code_is_told_apart_wherever_it_stands(made):
    """A class that a function reads was known by nothing, a wrapper by the name of what it wraps."""
    assert of(made(1.0)) == of(made(1.0))
    assert None is not of(made(1.0)) != of(made(2.0))


def test_a_class_of_a_namespace_without_a_name_is_not_one_of_python():
    """Its `__module__` is "builtins": joints of one name, made by `exec`, had each other's dynamics."""

    def made(k):
        place = {}
        exec(f"class Table:\n    def lift(self, x): return {k} * x", place)
        return place["Table"]

    assert None is not of(made(1.0)) != of(made(2.0))
    assert None is not of(made(1.0)()) != of(made(2.0)())


def test_what_a_subclass_of_arrays_holds_is_not_overlooked():
    class Scaled(np.ndarray):
        pass

    scaled = np.ones(2).view(Scaled)
    masked = np.ma.array([1.0, 2.0], mask=[True, False])
    made = np.frompyfunc(lambda x: x, 1, 1)
    assert (of(scaled), of(masked), of(made)) == (None, None, None)


def test_a_variable_that_is_not_filled_yet():
    def f(q):
        return later if q else q

    assert of(f) is not None
    later = 1.0
    assert of(f) != of(lambda q: q)


def test_statements_within_and_before_a_try():
    """Both compile to the same instructions up to where they are guarded."""

    def within(f, g):
        try:
            f()
            g()
        except ValueError:
            return 1

    table = within.__code__.co_exceptiontable
    before = within.__code__.replace(co_exceptiontable=table[:-1] + bytes([table[-1] ^ 1]))
    assert of(within) != of(type(within)(before, globals()))


def test_code_that_many_paths_lead_to_is_read_once():
    """Helpers that call two others each: a walk over all paths takes 2^60 steps."""
    place = {}
    exec("def h0(x): return x\ndef h1(x): return x", place)
    for k in range(2, 60):
        exec(f"def h{k}(x): return h{k - 1}(x) + h{k - 2}(x)", place)
    first = of(place["h59"])
    exec("def h0(x): return -x", place)
    assert None is not first != of(place["h59"])


SECRET = [1.0]


def reads_a_file(model, q):
    return float(open("gain.txt").read()) * q


def draws(model, q):
    return np.random.normal() * q


def changes_a_global(model, q):
    global SECRET
    SECRET = [2.0]
    return q


def imports(model, q):
    import socket

    return q * len(socket.__name__)


def looks_up(model, q):
    return getattr(q, "real")  # noqa: B009


def draws_from(model, q):
    return default_rng().normal() * q


def imports_what_draws(model, q):
    from numpy.random import default_rng as made

    return made().normal() * q


def reads_a_robot(model, q):
    return q * cardan.load_mechanism("robot.urdf").model().mass


def reads_a_urdf(model, q):
    return q * read_urdf("robot.urdf").model().mass


def reads_in_a_room(model, q):
    return q * len(from_urdf(Source.of("robot.urdf"), OPTIONS).report.faults())


@pytest.mark.parametrize("function", [reads_a_file, reads_a_robot, reads_a_urdf, reads_in_a_room])
def test_what_reads_a_file_has_no_content(function):
    assert of(function) is None


@pytest.mark.parametrize("function", [draws, draws_from, imports_what_draws, changes_a_global, imports, looks_up])
def test_what_reads_more_than_its_text_has_no_content(function):
    assert of(function) is None


def test_content_tells_numbers_and_arrays_apart():
    different = [1, 1.0, True, "1", (1,), [1], (1.0,), -0.0, 0.0, np.float32(1), np.ones(1), np.ones((1, 1)), None, {1}]
    different += [np.array(1, dtype=np.float32), np.zeros(1, [("a", "f8"), ("b", "i8")])]
    different += [np.zeros(1, [("b", "i8"), ("a", "f8")]), np.matrix([[1.0]])]
    assert len({of(e) for e in different}) == len(different)
    nan = float("nan")
    assert of(nan) == of(nan)
    names = {"b", "a", "c"}
    assert of(names) == of({"c", "b", "a"})


class Table(dict):
    """A dictionary with an attribute, and with a method."""

    def __init__(self, scale):
        super().__init__(lift=1.0)
        self.scale = scale


class Doubled(Table):
    def lift(self):
        return 2.0


class Pair(NamedTuple):
    x: float
    y: float

    def total(self):
        return self.x + self.y


def test_a_function_that_kept_the_model_it_was_traced_with_has_no_content():
    """A model whose masses are inputs holds symbols then: to take those apart is to walk over the trace for each."""
    kept = []

    @cardan.function
    def inverse_dynamics(model, q, v, a):
        kept.append(model)
        return cardan.inverse_dynamics(model, q, v, a)

    arm = cardan.robots.arm7().model().with_inputs("mass", "gravity")
    q = arm.neutral()
    once = calls(lambda: inverse_dynamics(arm, q, q, q, **arm.input_values()))
    assert len(kept) == 1
    assert calls(lambda: content.digest(kept)) < once / 100
    assert content.digest(kept) is None


def test_what_holds_more_than_it_shows_is_not_taken_for_another():
    assert of(Table(1.0)) != of(Table(2.0)) != of(Doubled(2.0))
    assert None not in (of(Table(1.0)), of(Doubled(1.0)))
    assert of(Pair(1.0, 2.0)) != of((1.0, 2.0))
    hidden = functools.partial(max, 1), operator.itemgetter(1), np.dtype("f4"), collections.deque([1]), threading.Lock()
    assert [of(thing) for thing in hidden] == [None] * 5


def test_models_tell_their_content():
    arm = cardan.robots.arm7()
    first = arm.model()
    assert first.digest == arm.model().digest != arm.model(base="floating").digest
    for other in (
        first.with_gravity((0, 0, -9.8)),
        first.lock({"shoulder_yaw": 0.0})
        if "shoulder_yaw" in first.joint_names
        else first.lock({first.joint_names[1]: 0.0}),
        first.with_inputs("mass"),
    ):
        assert other.digest != first.digest
