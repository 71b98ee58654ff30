"""JSON files: every fault with its place, load and save, never half a file, the command line."""

import contextlib
import json
import math
import os
import re
import sys
import types
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cardan
from cardan import SE3, Inertia, Limits, Mechanism
from cardan._reach.formats.json.values import SHIPPED
from cardan._robot.geometry.mesh import surface_of_file
from cardan.cli import main
from cardan.description import Mesh, Shape
from cardan.errors import DescriptionError, MechanismError, ParameterError
from cardan.formats import check
from cardan.joints import CATALOGUE, Revolute
from cardan.robots import ROBOTS, urdf_path
from json_things import Cam, bits, everything, model_bits
from mechanisms import random_pose

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
NUMBERS = st.floats(allow_nan=False)

# --- faulty files ---------------------------------------------------------------------------------------------------

GOOD = """{
  "cardan": "mechanism",
  "schema": 1,
  "name": "swing",
  "bodies": [
    {
      "name": "link",
      "inertia": {"mass": 2.0, "first_moment": [0, 0, -0.6], "inertia_at_origin": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}
    }
  ],
  "joints": [
    {
      "name": "hinge",
      "joint": {"Revolute": {"axis": [0, 1, 0]}},
      "parent": "world",
      "child": "link",
      "parent_pose": {"rotation": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "translation": [0, 0, 1]},
      "limits": {"lower": [-2], "upper": [2]}
    }
  ],
  "frames": [{"name": "tip", "body": "link"}],
  "shapes": [{"body": "link", "role": "visual", "geometry": {"Sphere": {"radius": 0.1}}}]
}
"""

FAULTS = (  # old text, new text, message
    (
        '"schema": 1',
        '"schema": 2',
        "schema: got 2, expected 1, the newest this cardan knows; .*pip install --upgrade",
    ),
    ('"schema": 1', '"schema": "1"', 'schema: got "1", expected 1'),
    ('"schema": 1', '"schema": true', "schema: got true, expected 1"),
    ('  "schema": 1,\n', "", 'the top level: the key "schema" is missing'),
    ('"mechanism"', '"robot"', "cardan: got \"robot\", expected one of 'mechanism', 'model', 'joint'"),
    ('  "cardan": "mechanism",\n', "", 'the top level: got an object with .*expected an object with "cardan"'),
    ('"name": "swing"', '"name": 3', "name: got 3, expected a text in quotes"),
    ('"name": "swing"', '"nme": "swing"', "nme: there is no key \"nme\" here; did you mean 'name'"),
    (
        '"name": "link",\n',
        '"name": "link", "masses": 3,\n',
        r"bodies\[0\].masses: there is no key \"masses\" here; the keys",
    ),
    ('"name": "link",\n', "\n", r"bodies\[0\]: the key 'name' is missing"),
    ('"name": "link",\n', '"name": "link", "name": "b",\n', r'bodies\[0\]: the key "name" stands here twice'),
    ('"name": "link",\n', '"name": " ",\n', r"bodies\[0\]: name of a body: got ' ', expected a non-empty text"),
    ('"mass": 2.0', '"mass": "2"', r'bodies\[0\].inertia.mass: got "2", expected a finite number'),
    (
        '"mass": 2.0',
        '"mass": NaN',
        r'inertia.mass: NaN is not JSON; where a number may be infinite, write "nan" in quotes',
    ),
    ('"mass": 2.0', '"mass": -Infinity', r'inertia.mass: -Infinity is not JSON; .*write "-inf" in quotes'),
    ('"mass": 2.0', '"mass": "inf"', r'inertia.mass: got "inf", expected a finite number'),
    ('"mass": 2.0', '"mass": 1e400', r"inertia.mass: got a number too large for a float"),
    ('"mass": 2.0', '"mass": 1' + "0" * 350, r"inertia.mass: 1000.* is too large for a number"),
    ('"mass": 2.0', '"mass": 1' + "0" * 5000, r"inertia.mass: 1000.*is too large for a number"),
    ('"mass": 2.0', '"mass": true', r"inertia.mass: got true, expected a finite number"),
    ('"mass": 2.0', '"mass": null', r"inertia.mass: got null, expected a finite number"),
    ("[0, 0, -0.6]", "[0, 0]", r"inertia.first_moment: got a list of 2, expected a list of 3 numbers"),
    ("[0, 0, -0.6]", '[0, "x", 1]', r'inertia.first_moment\[1\]: got "x", expected a finite number'),
    (
        "[[1, 0, 0], [0, 1, 0], [0, 0, 1]]}\n",
        "[[1, 2, 0], [0, 1, 0], [0, 0, 1]]}\n",
        "at_origin: the matrix is not symmetric",
    ),
    (
        "[[1, 0, 0], [0, 1, 0], [0, 0, 1]]}\n",
        "[1, 0, 0, 1, 0, 1]}\n",
        "at_origin: got a list of 6, expected a list of 3 rows",
    ),
    ('"bodies": [', '"bodies": 5, "b": [', "b: there is no key"),
    (
        '{"Revolute": {"axis": [0, 1, 0]}}',
        '"Revolute"',
        r"joints\[0\].joint: got \"Revolute\", expected a joint, such as",
    ),
    (
        '{"Revolute": {"axis": [0, 1, 0]}}',
        "{}",
        r"joints\[0\].joint: got an empty object, expected a value, or an object",
    ),
    ("Revolute", "Revolut", r"there is no joint or value type 'Revolut'; did you mean 'Revolute'"),
    (
        '"child": "link"',
        '"child": "lnk"',
        r"joints\[0\]: joint 'hinge': there is no body named 'lnk'; did you mean 'link'",
    ),
    ('"child": "link"', '"child": "world"', r"joints\[0\]: joint 'hinge' connects body 'world' with itself"),
    (
        "[[1, 0, 0], [0, 1, 0], [0, 0, 1]],",
        "[[1, 0, 0], [0, 1, 0], [0, 0, -1]],",
        r"parent_pose of joint 'hinge': got .*a rotation",
    ),
    ('"lower": [-2]', '"lower": [-2, 1]', r"joints\[0\]: limits of 'hinge': lower: got .*expected 1 numbers"),
    ('"lower": [-2]', '"lower": [3]', r"joints\[0\].limits: limits lower and upper: got .*expected lower <= upper"),
    (
        '"lower": [-2]',
        '"lower": ["nan"]',
        r"joints\[0\].limits: limit lower: got nan, expected a sequence of numbers",
    ),
    (
        '"lower": [-2]',
        '"lower": ["-Infinity"]',
        r'limits.lower\[0\]: got "-Infinity", expected a number, "inf" or "-inf"',
    ),
    ('"lower": [-2]', '"lowr": [-2]', r"limits.lowr: there is no key \"lowr\" here; did you mean 'lower'"),
    ('"body": "link"}]', '"body": "lin"}]', r"frames\[0\]: frame 'tip': there is no body named 'lin'"),
    ('"tip"', '"link"', r"frames\[0\]: mechanism 'swing' .*there is already a frame named 'link'"),
    ('"visual"', '"seen"', r"shapes\[0\]: role of a shape: got 'seen', expected 'visual' or 'collision'"),
    (
        '"radius": 0.1',
        '"radius": -1',
        r"shapes\[0\].*: radius of a sphere: got -1.0, expected a finite number >= 0",
    ),
    ('"radius": 0.1', '"radius": "0.1"', r'shapes\[0\].geometry.Sphere.radius: got "0.1", expected a finite'),
    ('"Sphere"', '"Spere"', r"shapes\[0\].geometry: there is no geometry 'Spere'; did you mean 'Sphere'"),
    (
        '"shapes": [',
        '"shapes": [7, ',
        r"shapes\[0\]: got 7, expected an object with the keys 'body', 'role', 'geometry'",
    ),
    ('"shapes": [', '"shapes": {"a": 1}, "x": [', "x: there is no key"),
    ('"name": "swing",', '"name": "swing"', r"not valid JSON: Expecting ',' delimiter \(column 3\)"),
    ('"name": "swing",', '"name": "swing", // no', "not valid JSON: Expecting property name"),
)


@pytest.mark.parametrize(("old", "new", "message"), FAULTS, ids=range(len(FAULTS)))
def test_a_fault_is_named_with_its_place(tmp_path, old, new, message):
    assert GOOD.count(old) >= 1
    file = tmp_path / "robot.json"
    file.write_text(GOOD.replace(old, new, 1))
    with pytest.raises(DescriptionError) as caught:
        cardan.load(file)
    first = caught.value.faults[0]
    assert re.search(message, first.message), first.message
    assert (first.file, first.severity) == (str(file), "error")
    assert (first.line > 0) == ("not valid JSON" in message)  # elsewhere its path says where
    assert len(first.message) < 700
    assert [f.message for f in check(file)] == [f.message for f in caught.value.faults]


def test_the_good_one_is_good():
    m = cardan.from_json(GOOD)
    assert (m.name, len(m.bodies), len(m.joints), len(m.frames), len(m.shapes)) == ("swing", 1, 1, 1, 1)
    assert cardan.load(GOOD).upper.tolist() == [2.0]
    (remark,) = check(GOOD)
    assert "the centre of mass is 0.2 m outside of its shapes" in remark.message


def test_all_faults_are_found_at_once():
    text = GOOD.replace('"mass": 2.0', '"mass": "x"').replace('"axis"', '"axes"').replace('"radius"', '"radiu"')
    with pytest.raises(DescriptionError) as caught:
        cardan.from_json(text)
    places = ["bodies[0].inertia.mass", "joints[0].joint.Revolute.axes", "shapes[0].geometry.Sphere.radiu"]
    assert [f.message.split(": ")[0] for f in caught.value.faults] == places
    assert "unknown" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "holds nothing|is empty|not valid JSON|cannot be read"),
        (b"{", "not valid JSON"),
        (b"[]", "expected an object"),
        (b"null", "expected an object"),
        (b'{"a": "\xff"}', "is not UTF-8"),
        (b'{"a": 1} {', "not valid JSON: Extra data"),
        (b"[" * 100000, "nested more than|not valid JSON"),
        (b'{"a":' * 100000, "nested more than|not valid JSON"),
        (
            b'{"cardan": "joint", "schema": 1, "joint": '
            + b'{"Reversed": {"joint": ' * 120
            + b'{"Fixed": {}}'
            + b"}}" * 120
            + b"}",
            "nested more",
        ),
        (
            b'{"cardan": "joint", "schema": 1, "joint": {"Revolute": {"axis": ' + b"[" * 300 + b"]" * 300 + b"}}}",
            "nested more",
        ),
        (GOOD.encode("utf-16"), "is not UTF-8"),
        (b'{"cardan": "joint", "schema": 1, "schema": 1}', 'the key "schema" stands here twice'),
    ],
    ids=range(12),
)
def test_files_that_are_no_files_of_ours(tmp_path, content, message):
    file = tmp_path / "robot.json"
    file.write_bytes(content)
    with pytest.raises(DescriptionError, match=message):
        cardan.from_json(file)


def test_a_byte_order_mark_is_allowed(tmp_path):
    file = tmp_path / "robot.json"
    file.write_bytes(b"\xef\xbb\xbf" + GOOD.encode())
    assert cardan.load_mechanism(file) == cardan.from_json(GOOD)
    assert cardan.load_mechanism(file.read_bytes()) == cardan.from_json("\ufeff" + GOOD)


@settings(max_examples=300, deadline=None)
@given(st.integers(0, len(GOOD) - 1), st.sampled_from(list('{}[]",:0e-\\ nt') + [""]), st.integers(1, 6))
def test_damaged_files_are_refused_or_read(start, put, length):
    text = GOOD[:start] + put + GOOD[start + length :]
    try:
        thing = cardan.from_json(text.encode())
    except DescriptionError:
        return
    assert cardan.from_json(cardan.to_json(thing)) == thing


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | NUMBERS | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.text(max_size=5) | st.sampled_from([*SHIPPED, "list", "array", "SE3", "dict"]), inner, max_size=2
        )
    ),
    max_leaves=12,
)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(["joint", "pose", "inertia", "limits", "mechanism", "model"]),
    JSON,
    st.sampled_from(sorted(SHIPPED)),
)
def test_any_json_is_refused_or_read(kind, value, name):
    for content in (value, {name: value}):
        text = json.dumps({"cardan": kind, "schema": 1, kind: content})
        with contextlib.suppress(DescriptionError):  # and nothing else
            assert cardan.to_json(cardan.from_json(text))


# --- the door -------------------------------------------------------------------------------------------------------


def test_load_and_save(tmp_path):
    m = everything()
    file = tmp_path / "robot.json"
    assert cardan.save(m, file) is None
    assert file.read_text(encoding="utf-8") == cardan.to_json(m)
    assert (
        cardan.load_mechanism(file, on_inertia="ignore") == cardan.load_mechanism(str(file), on_inertia="ignore") == m
    )
    assert cardan.to_json(m, file) == file.read_text(encoding="utf-8")
    model = ROBOTS["arm7"]().model(gravity=(0, 0, -1.6))
    cardan.save(model, file)
    assert model_bits(cardan.load(file)) == model_bits(model)
    assert tuple(cardan.load(file, gravity=(0, 0, -3)).gravity) == (0, 0, -3)
    with pytest.raises(MechanismError, match="base='floating', root='world': 'arm7' is a model, whose base is chosen"):
        cardan.load(file, base="floating")
    with pytest.raises(DescriptionError, match=r"robot.json:1: error: holds a model, expected a mechanism"):
        cardan.load_mechanism(file)
    cardan.save(Revolute(), file)
    with pytest.raises(DescriptionError, match=r"holds a Revolute, expected a mechanism or a model; cardan.from_json"):
        cardan.load(file)
    assert cardan.from_json(str(file)) == Revolute()


def test_a_file_of_another_ending_is_read_by_its_content(tmp_path):
    cardan.save(everything(), tmp_path / "robot.json")
    (tmp_path / "robot.json").rename(tmp_path / "robot.json.orig")
    assert cardan.load_mechanism(tmp_path / "robot.json.orig") == everything()
    copy = tmp_path / "arm7.urdf.in"
    copy.write_bytes(Path(urdf_path("arm7")).read_bytes())
    assert cardan.load(copy) == cardan.load(urdf_path("arm7"))


def test_a_pointer_of_git_lfs_is_named(tmp_path):
    pointer = tmp_path / "robot.urdf"
    pointer.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 123\n")
    with pytest.raises(DescriptionError, match="git lfs pull"):
        cardan.load(pointer)
    with pytest.raises(ParameterError, match="git lfs pull"):
        surface_of_file("arm.stl", str(pointer))


def test_what_cannot_be_saved_or_loaded(tmp_path):
    for name in ("robot.usd", "robot", "robot.txt", "robot.xacro"):
        with pytest.raises(
            ParameterError, match=r"file to save to: got .*expected a name that ends in \.urdf or .*json"
        ):
            cardan.save(everything(), tmp_path / name)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "robot.yaml").write_text("robot: {}")
    with pytest.raises(DescriptionError, match=r"no reader for '\.yaml' files; known: \.urdf, "):
        cardan.load(tmp_path / "robot.yaml")
    with pytest.raises(DescriptionError, match=r"none\.json: error: cannot be read: No such file"):
        cardan.load(tmp_path / "none.json")
    with pytest.raises(ParameterError, match=r"option continuous: got 'unit_complex'.*JSON has no such option"):
        cardan.load(GOOD, continuous="unit_complex")
    with pytest.raises(ParameterError, match="option on_inertia"):
        cardan.load(GOOD, on_inertia="loud")


def test_impossible_inertias_are_doubted():
    text = GOOD.replace("[[1, 0, 0], [0, 1, 0], [0, 0, 1]]}\n", "[[9, 0, 0], [0, 1, 0], [0, 0, 1]]}\n")
    with pytest.warns(
        cardan.errors.DescriptionWarning, match=r"<string>: warning: bodies\[0\].inertia: body 'link': the"
    ):
        cardan.load(text)
    with pytest.raises(DescriptionError, match="break the triangle inequality"):
        cardan.load(text, on_inertia="error")
    assert cardan.load(text, on_inertia="ignore").nv == 1
    assert ["triangle" in f.message for f in check(text)].count(True) == 1
    far = GOOD.replace('"mass": 2.0', '"mass": 5e-324')
    assert any("so far away" in f.message for f in check(far))
    for name in ROBOTS:  # point masses, thin rods: rounding alone is no doubt
        assert not [f for f in check(cardan.to_json(ROBOTS[name]())) if "0 is outside of the limits" not in f.message]
    m = Mechanism("points")
    for k in range(20):
        m.add_body(f"b{k}", Inertia(0.1 + k, np.random.default_rng(k).normal(size=3)))
    assert check(cardan.to_json(m)) == []


def test_meshes_are_found_again(tmp_path):
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "a.stl").write_text("solid")
    m = Mechanism("m")
    m.add_body("b")
    m.add_shape(Shape("b", "visual", Mesh("package://pack/a.stl", "/gone/a.stl")))
    text = cardan.to_json(m)
    assert cardan.load_mechanism(text) == m
    found = cardan.load_mechanism(text, package_dirs=[tmp_path])
    assert found.shapes[0].geometry.path == str(tmp_path / "pack" / "a.stl")
    assert bits(found.bodies) == bits(m.bodies)


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("existing", [True, False])
def test_no_file_is_half_written(tmp_path, monkeypatch, error, existing):
    file = tmp_path / "robot.json"
    if existing:
        cardan.save(Revolute(), file)
    before = file.read_bytes() if existing else None
    real = os.fdopen

    def full(handle, mode):
        stream = real(handle, mode)

        class Full:
            def __enter__(self):
                return self

            def __exit__(self, *_):
                stream.close()

            def write(self, content):
                stream.write(content[:100])
                stream.flush()
                raise error

        return Full()

    monkeypatch.setattr("os.fdopen", full)
    with pytest.raises(type(error)):
        cardan.save(everything(), file)
    assert (file.read_bytes() if file.exists() else None) == before
    assert [f.name for f in tmp_path.iterdir()] == (["robot.json"] if existing else [])


def test_what_cannot_be_written_leaves_the_file(tmp_path):
    file = tmp_path / "robot.json"
    cardan.save(Revolute(), file)
    with pytest.raises(ParameterError):
        cardan.save(Cam(0.1, print), file)
    assert cardan.from_json(file) == Revolute()
    with pytest.raises(OSError, match="No such file"):
        cardan.save(Revolute(), tmp_path / "none" / "robot.json")


# --- the command line -----------------------------------------------------------------------------------------------


def test_convert_and_use(tmp_path, capsys):
    out, again = tmp_path / "arm.json", tmp_path / "again.json"
    assert main(["convert", urdf_path("arm7"), str(out)]) == 0
    assert capsys.readouterr().out == f"{out}: mechanism 'arm7', 9 bodies\n"
    assert cardan.load_mechanism(out) == cardan.load_mechanism(urdf_path("arm7"))
    assert main(["convert", str(out), str(again)]) == 0
    assert again.read_bytes() == out.read_bytes()
    capsys.readouterr()
    main(["info", urdf_path("arm7"), "--json"])
    expected = capsys.readouterr().out
    assert main(["info", str(out), "--json"]) == 0
    assert capsys.readouterr().out == expected
    assert main(["check", str(out)]) == 0
    assert capsys.readouterr().out == f"{out}: 0 errors, 0 warnings\n"
    out.write_text(out.read_text().replace('"Revolute"', '"Revolt"', 1))
    assert main(["check", str(out)]) == 1
    assert re.search(r"arm\.json: error: joints\[0\]\.joint: there is no joint", capsys.readouterr().out)


def test_convert_refuses_what_it_cannot_do(tmp_path, capsys):
    assert main(["convert", urdf_path("arm7"), str(tmp_path / "arm.usd")]) == 1
    assert "expected a name that ends in .urdf or " in capsys.readouterr().err
    assert main(["convert", urdf_path("arm7"), str(tmp_path / "none" / "arm.json")]) == 1
    assert "expected a writable place (No such file or directory)" in capsys.readouterr().err


def test_the_command_line_trusts_if_it_is_told(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("cardan._reach.formats.json.values._registered", {})
    m = Mechanism("robot")
    m.add_body("link")
    m.add_joint("cam", Cam(0.3), "world", "link")
    file = tmp_path / "robot.json"
    cardan.save(m, file)
    for command in ("info", "check"):
        assert main([command, str(file)]) == 1
        streams = capsys.readouterr()
        assert "not registered" in streams.out + streams.err
        assert main([command, str(file), "--trusted"]) == 0
        capsys.readouterr()


# --- the documentation ----------------------------------------------------------------------------------------------

DOCUMENTATION = Path(__file__).parents[2] / "docs" / "serialisation.md"


def test_the_documentation_runs_and_its_example_is_what_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr("cardan._reach.formats.json.values._registered", {})
    monkeypatch.chdir(tmp_path)
    page = DOCUMENTATION.read_text(encoding="utf-8")
    module = types.ModuleType("documented")
    monkeypatch.setitem(sys.modules, "documented", module)
    for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(compile(block, str(DOCUMENTATION), "exec"), vars(module))
    (example,) = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    assert cardan.to_json(cardan.from_json(example)) == example


def schema_validator():
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((Path(cardan.__file__).parent / "_reach/formats/json/robot.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.slow
def test_what_is_written_fits_the_json_schema():
    validator = schema_validator()
    robots = [build() for build in ROBOTS.values()]
    things = [
        everything(),
        *robots,
        *(m.model(base="floating") for m in robots),
        robots[0].model().with_inputs("mass", first=("upper", "com")),
        *CATALOGUE,
        Limits([-math.inf], [2.0]),
    ]
    for thing in (*things, Inertia(1.0), SE3(), random_pose(np.random.default_rng(0))):
        validator.validate(json.loads(cardan.to_json(thing)))


def test_the_json_schema_refuses_what_the_reader_refuses():
    validator = schema_validator()
    assert validator.is_valid(json.loads(GOOD))
    for old, new in (
        ("schema", "scheme"),
        ('"mass": 2.0', '"mass": "2"'),
        ('"lower"', '"lowr"'),
        ('"Sphere"', '"Spere"'),
    ):
        assert not validator.is_valid(json.loads(GOOD.replace(old, new)))
        with pytest.raises(DescriptionError):
            cardan.from_json(GOOD.replace(old, new))
