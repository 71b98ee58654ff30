"""Files written in xacro: expanded by the package, with the lines of elements, and without reaching outside."""

import sys
import threading
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import cardan
from cardan.errors import DescriptionError, MissingExtraError, ParameterError

pytest.importorskip("xacro", reason="the extra xacro is not installed")

load_mechanism = partial(cardan.load_mechanism, trusted=True)
check = partial(cardan.formats.check, trusted=True)
XMLNS = 'xmlns:xacro="http://www.ros.org/wiki/xacro"'
INERTIA = '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'


def robot(inside: str, links: str = '<link name="a"/>') -> str:
    """Return a robot whose second line is `inside`."""
    return f'<robot name="r" {XMLNS}>\n{inside}\n{links}</robot>'


def mass(expression: str, before: str = "", **options) -> float:
    """Return the mass an expression gives, written in line 2."""
    link = f'<link name="b"><inertial><mass value="{expression}"/>{INERTIA}</inertial></link>'
    return load_mechanism(robot(f"{before}{link}", ""), **options).bodies[0].inertia.mass


def fault(text, **options) -> str:
    (found,) = [f for f in check(text, **options) if f.severity == "error"]
    return str(found)


ARM = f"""<robot name="arm" {XMLNS}>
<xacro:arg name="n" default="2"/>
<xacro:property name="length" value="${{0.1 + 2 * 0.2}}"/>
<xacro:macro name="part" params="name mass:=1.0 *origin">
  <link name="${{name}}"><inertial><xacro:insert_block name="origin"/><mass value="${{mass}}"/>
    {INERTIA}</inertial></link>
</xacro:macro>
<xacro:part name="base" mass="3"><origin xyz="0 0 ${{length}}"/></xacro:part>
<xacro:macro name="chain" params="k">
  <xacro:if value="${{k > 0}}">
    <xacro:part name="link${{k}}"><origin xyz="${{sin(pi / 2)}} 0 0"/></xacro:part>
    <joint name="joint${{k}}" type="fixed"><parent link="base"/><child link="link${{k}}"/></joint>
    <xacro:chain k="${{k - 1}}"/>
  </xacro:if>
</xacro:macro>
<xacro:chain k="$(arg n)"/>
</robot>"""


def test_macros_are_expanded():
    arm = load_mechanism(ARM)
    assert [body.name for body in arm.bodies] == ["base", "link2", "link1"]
    assert [body.inertia.mass for body in arm.bodies] == [3.0, 1.0, 1.0]
    np.testing.assert_allclose(arm.bodies[0].inertia.com, [0, 0, 0.5])
    np.testing.assert_allclose(arm.bodies[1].inertia.com, [1, 0, 0])


def test_arguments_are_given():
    assert len(load_mechanism(ARM, xacro_args={"n": 5}).bodies) == 6
    with pytest.warns(cardan.errors.DescriptionWarning, match="'nn' is no <xacro:arg>; did you mean 'n'"):
        load_mechanism(ARM, xacro_args={"nn": 5})
    with pytest.raises(ParameterError, match="option xacro_args: got 'n:=5', expected a mapping"):
        load_mechanism(ARM, xacro_args="n:=5")
    assert "Undefined substitution argument k; pass xacro_args={'k': ...}" in fault(robot('<thing k="$(arg k)"/>'))


@pytest.mark.parametrize("ending", [".xacro", ".urdf.xacro", ".urdf", ".xml", ""])
def test_every_ending_is_expanded(tmp_path, ending):
    file = tmp_path / f"arm{ending}"
    file.write_text(ARM)
    assert len(load_mechanism(file, xacro_args={"n": 3}).bodies) == 4


def test_what_is_expanded_already_needs_no_expansion(monkeypatch):
    monkeypatch.setitem(sys.modules, "xacro", None)
    assert len(load_mechanism(robot("")).bodies) == 1
    with pytest.raises(MissingExtraError, match=r'pip install "cardan\[xacro\]"'):
        load_mechanism(ARM)


EXPRESSIONS = {
    "${1 + 2 * 3 ** 2}": 19.0,
    "${7 // 2 + 7 % 4 - -1}": 7.0,
    "${1 if 2 > 1 and not False else 3}": 1.0,
    "${math.sqrt(16) + sqrt(9) + python.abs(-1)}": 8.0,
    "${round(2.345, 2)}": 2.35,
    "${max(1, 2, 3) + min([4, 5])}": 7.0,
    "${python.sum([k * k for k in python.range(4) if k != 2])}": 10.0,
    "${dict(a=1, b=2)['b']}": 2.0,
    "${'1.5 2.5'.split()[1]}": 2.5,
    "${len('abc'[1:]) + float('2')}": 4.0,
    "${xacro.tokenize('3;4')[0]}": 3.0,
    "$(eval 2 * 3)": 6.0,
    "${factorial(5)}": 120.0,
    "${list(map(float, ['1', '2']))[1]}": 2.0,
    "${2.0**0.5 * 2**0.5}": 2.0,
    "${'%02d' % 7}": 7.0,
    "${(1 &lt;&lt; 3) + (6 &amp; 3) + (6 ^ 3)}": 15.0,
    "${(lambda x: x + 1)(2)}": 3.0,
}


def test_expressions_are_those_of_the_package():
    """Also formats of texts, shifts and functions, which real files have."""
    link = '<link name="{}"><inertial><mass value="{}"/>' + INERTIA + "</inertial></link>"
    joint = '<joint name="j{0}" type="fixed"><parent link="l0"/><child link="l{0}"/></joint>'
    links = [link.format(f"l{k}", expression) for k, expression in enumerate(EXPRESSIONS)]
    text = robot("".join(links + [joint.format(k) for k in range(1, len(links))]), "")
    masses = [body.inertia.mass for body in load_mechanism(text).bodies]
    np.testing.assert_allclose(masses, list(EXPRESSIONS.values()), rtol=1e-15)


def test_a_program_runs_only_if_it_is_trusted(tmp_path):
    for source in (ARM, ARM.encode()):
        with pytest.raises(DescriptionError, match=r"is written in xacro, a program; pass trusted=True \(--trusted\)"):
            cardan.load(source)


PART = '<xacro:macro name="part" params="name"><link name="${name}"/></xacro:macro>'
FAULTS = {
    "no such macro": (robot("<xacro:none/>"), "unknown macro name: xacro:none"),
    "macro without name": (robot("<xacro:macro/>"), "xacro:macro: missing attribute 'name'"),
    "macro of macro": (robot('<xacro:call macro="call"/>'), "missing attribute 'macro'"),
    "call of nothing": (robot("<xacro:call/>"), "missing attribute 'macro'"),
    "parameter not given": (robot(PART + "<xacro:part/>"), "Undefined parameters [name] (in macro 'part')"),
    "parameter not known": (
        robot(PART + '<xacro:part name="b" nme="c"/>'),
        "Invalid parameter \"nme\" (in macro 'part')",
    ),
    "block not given": (robot('<xacro:macro name="m" params="*b"/><xacro:m/>'), "Not enough blocks (in macro 'm')"),
    "block not known": (robot('<xacro:insert_block name="b"/>'), 'Undefined block "b"'),
    "element of element": (robot('<xacro:element xacro:name="xacro:element"/>'), "missing attribute 'xacro:name'"),
    "attribute without name": (robot('<xacro:attribute name="" value="1"/>'), "xacro:attribute: empty name"),
    "if of nothing": (robot("<xacro:if/>"), "xacro:if: missing attribute 'value'"),
    "if of a text": (robot('<xacro:if value="perhaps"/>'), '"perhaps", which is not a boolean expression'),
    "property without name": (robot('<xacro:property value="1"/>'), "xacro:property: missing attribute 'name'"),
    "property that is no name": (
        robot('<xacro:property name="1a" value="1"/>'),
        "Property names must be valid python identifiers: 1a",
    ),
    "properties in a circle": (
        robot('<xacro:property name="a" value="${b}"/><xacro:property name="b" value="${a}"/><thing x="${a}"/>'),
        "circular variable definition: a -> b -> a",
    ),
    "argument not given": (
        robot('<thing x="$(arg n)"/>'),
        "Undefined substitution argument n; pass xacro_args={'n': ...}",
    ),
    "argument without name": (robot("<xacro:arg/>"), "xacro:arg: missing attribute 'name'"),
    "include of no file": (robot("<xacro:include/>"), "missing attribute 'filename'"),
    "include of no package": (
        robot('<xacro:include filename="$(find x)/a"/>'),
        "package 'x' was not found; pass package_dirs=[FOLDER]",
    ),
    "include by file://": (
        robot('<xacro:include filename="file:///etc/passwd"/>'),
        "'file:///etc/passwd' is not looked for",
    ),
    "environment": (robot('<thing x="$(env NO_SUCH)"/>'), "pass xacro_args={'NO_SUCH': ...}"),
    "unknown substitution": (robot('<thing x="$(exec rm)"/>'), "Unknown substitution command [exec rm]"),
    "not closed": (robot('<thing x="${1 + "/>'), "invalid expression: ${1 +"),
    "empty expression": (robot('<thing x="${}"/>'), "invalid syntax"),
    "other root": (f'<thing {XMLNS} x="${{1}}"/>', "expands to <thing>, expected <robot>"),
    "a mass that is none": (
        robot('<link name="b"><inertial><mass value="${1 - 2}"/>' + INERTIA + "</inertial></link>", ""),
        "link 'b': <mass value=...>: -1 is negative",
    ),
}


@pytest.mark.parametrize(("text", "message"), FAULTS.values(), ids=FAULTS.keys())
def test_a_planted_fault_is_named_with_its_place(text, message):
    told = fault(text)
    assert told.startswith("<string>:1: error: " if text.startswith("<thing") else "<string>:2: error: ")
    assert message in told


# --- files ---


@pytest.fixture
def package(tmp_path, monkeypatch):
    for name in ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH"):
        monkeypatch.delenv(name, raising=False)
    for folder in ("arm/urdf", "arm/config", "leg"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "arm/package.xml").write_text("<package><name>arm</name></package>")
    (tmp_path / "leg/package.xml").write_text("<package><name>leg</name></package>")
    macro = '<xacro:macro name="part" params="name">\n<link name="${name}" odd="1"/></xacro:macro>'
    part = f"<robot {XMLNS}>{macro}</robot>"
    (tmp_path / "arm/urdf/part.xacro").write_text(part)
    (tmp_path / "leg/part.xacro").write_text(part)
    (tmp_path / "arm/config/sizes.yaml").write_text("arm:\n  mass: 2.5\n  angle: !degrees 180\n  list: [1, 2]\n")
    return tmp_path


def read(package: Path, inside: str, **options) -> cardan.Mechanism:
    (package / "arm/urdf/arm.urdf.xacro").write_text(robot(inside, ""))
    return load_mechanism(package / "arm/urdf/arm.urdf.xacro", **options)


@pytest.mark.parametrize(
    "include",
    ["part.xacro", "$(find arm)/urdf/part.xacro", "package://arm/urdf/part.xacro", "../urdf/part.xacro", "pa*.xacro"]
    + ["$(dirname)/part.xacro", "${'part'}.xacro"],
)
def test_files_of_the_package_are_included(package, include):
    arm = read(package, f'<xacro:include filename="{include}"/><xacro:part name="a"/>')
    assert [body.name for body in arm.bodies] == ["a"]


def test_a_fault_in_an_included_file_is_told_there(package):
    read(package, '<xacro:include filename="part.xacro"/><xacro:part name="a"/>')
    (told,) = check(package / "arm/urdf/arm.urdf.xacro")
    assert (told.file, told.line) == (str(package / "arm/urdf/part.xacro"), 2)
    assert "<link> has no attribute 'odd'" in told.message
    joint = '<joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint>'
    with pytest.raises(DescriptionError) as caught:
        read(package, f'<xacro:include filename="part.xacro"/><xacro:part name="a"/><xacro:part name="a"/>{joint}')
    twice, missing = caught.value.faults
    assert (twice.file, twice.line) == (str(package / "arm/urdf/part.xacro"), 2)
    assert missing.file == str(package / "arm/urdf/arm.urdf.xacro")
    assert "child link 'b' does not exist" in missing.message


def test_files_of_other_packages_are_allowed_by_the_caller(package):
    text = '<xacro:include filename="$(find leg)/part.xacro"/><xacro:part name="a"/>'
    with pytest.raises(DescriptionError, match=r"package 'leg' was not found; pass package_dirs=\[FOLDER\]"):
        read(package, text)
    for packages in ([package], {"leg": package / "leg"}):
        assert len(read(package, text, package_dirs=packages).bodies) == 1


def test_an_include_may_be_missing_if_it_says_so(package):
    with pytest.raises(DescriptionError, match=r"none\.xacro' was not found"):
        read(package, '<xacro:include filename="none.xacro"/><link name="a"/>')
    assert read(package, '<xacro:include filename="none.xacro" optional="true"/><link name="a"/>').bodies


def test_files_that_include_one_another_end(package):
    with pytest.raises(DescriptionError, match="call one another too deep"):
        read(package, '<xacro:include filename="arm.urdf.xacro"/>')


def test_yaml_is_read(package):
    before = "<xacro:property name='c' value=\"${load_yaml('../config/sizes.yaml')['arm']}\"/>"
    link = '<link name="b"><inertial><mass value="${{{}}}"/>' + INERTIA + "</inertial></link>"
    for expression, value in (("c.mass", 2.5), ("c['angle']", np.pi), ("c.list[1]", 2.0)):
        assert read(package, before + link.format(expression)).bodies[0].inertia.mass == value


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a: &a {x: 1}\nb: {<<: *a}", None),
        ("!!python/object/apply:os.system ['true']", "could not determine a constructor"),
        ("!leagues 3", "could not determine a constructor for the tag '!leagues'"),
        ("[" * 2000, "too deep"),
        ("{", "flow|node"),
    ],
)
def test_yaml_is_data(package, content, message):
    (package / "arm/config/sizes.yaml").write_text(content)
    text = "<link name='a'/><thing x=\"${xacro.load_yaml('../config/sizes.yaml')}\"/>"
    if message is None:
        read(package, text)
        return
    with pytest.raises(DescriptionError, match=message):
        read(package, text)


def test_the_environment_is_that_of_the_process(monkeypatch):
    monkeypatch.setenv("SIZE", "7")
    assert mass("$(optenv SIZE 2)") == mass("$(env SIZE)") == 7.0


def test_nothing_is_left_behind():
    import xacro

    before = xacro.parse, sys.modules.get("ament_index_python.packages"), xacro.substitution_args_context
    check(robot("${xacro.message('loud')}${xacro.warning('louder')}<thing x=\"${xacro.error('x')}\"/>"))
    assert before == (xacro.parse, sys.modules.get("ament_index_python.packages"), xacro.substitution_args_context)


def test_threads_expand_at_once():
    found: list[int] = []

    def expand(n: int) -> None:
        found.append(len(load_mechanism(ARM, xacro_args={"n": n}).bodies))

    work = [threading.Thread(target=expand, args=(n,)) for n in range(8)]
    for thread in work:
        thread.start()
    for thread in work:
        thread.join()
    assert sorted(found) == list(range(1, 9))


def test_an_attribute_with_a_prefix_is_not_that_without():
    """To minidom they are one unless they have namespaces: the first was lost."""
    body = '<xacro:element xacro:name="link" name="dyn"/><xacro:property name="p" value="1"/>'
    assert [b.name for b in load_mechanism(robot(body, "")).bodies] == ["dyn"]
    other = "<xacro:element name=\"dyn\" xacro:name=\"${'li' + 'nk'}\"/>"
    assert [b.name for b in load_mechanism(robot(other, "")).bodies] == ["dyn"]
