"""Files written in xacro: expanded as the package does, with the lines of elements, and without reaching outside."""

import re
import threading
import time
import tracemalloc
from pathlib import Path
from xml.dom import minidom

import numpy as np
import pytest

import cardan
from cardan.errors import DescriptionError, MissingExtraError, ParameterError
from cardan.formats import check, load_mechanism
from representatives import represented

pytest.importorskip("xacro", reason="the extra xacro is not installed")

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
    assert "argument 'k' has no value: pass xacro_args={'k': ...}" in fault(robot('<thing k="$(arg k)"/>'))


@pytest.mark.parametrize("ending", [".xacro", ".urdf.xacro", ".urdf", ".xml", ""])
def test_every_ending_is_expanded(tmp_path, ending):
    file = tmp_path / f"arm{ending}"
    file.write_text(ARM)
    assert len(load_mechanism(file, xacro_args={"n": 3}).bodies) == 4


def test_what_is_expanded_already_needs_no_expansion(monkeypatch):
    monkeypatch.setattr("cardan.formats.xacro.expansion.find_spec", lambda name: None)
    assert len(load_mechanism(robot("")).bodies) == 1
    with pytest.raises(MissingExtraError, match=r'pip install "cardan\[xacro\]"'):
        load_mechanism(ARM)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("${1 + 2 * 3 ** 2}", 19.0),
        ("${7 // 2 + 7 % 4 - -1}", 7.0),
        ("${1 if 2 > 1 and not False else 3}", 1.0),
        ("${math.sqrt(16) + sqrt(9) + python.abs(-1)}", 8.0),
        ("${round(2.345, 2)}", 2.35),
        ("${max(1, 2, 3) + min([4, 5])}", 7.0),
        ("${python.sum([k * k for k in python.range(4) if k != 2])}", 10.0),
        ("${dict(a=1, b=2)['b']}", 2.0),
        ("${'1.5 2.5'.split()[1]}", 2.5),
        ("${len('abc'[1:]) + float('2')}", 4.0),
        ("${xacro.tokenize('3;4')[0]}", 3.0),
        ("$(eval 2 * 3)", 6.0),
        ("${factorial(5)}", 120.0),
        ("${list(map(float, ['1', '2']))[1]}", 2.0),
        ("${2.0**0.5 * 2**0.5}", 2.0),
    ],
)
def test_expressions(expression, value):
    assert mass(expression) == pytest.approx(value, rel=1e-15)


REFUSED_EXPRESSIONS = [
    ("().__class__", "has no '__class__'"),
    ("(lambda: ().__class__.__bases__)()", "Lambda is not allowed"),
    ("[c for c in ().__class__.__base__.__subclasses__()]", "has no '__class__'"),
    ("__import__('os').system('true')", "name '__import__' is not defined"),
    ("open('/etc/passwd')", "name 'open' is not defined"),
    ("eval('1')", "name 'eval' is not defined"),
    ("python.type(1)", "NameSpace has no 'type'"),
    ("python.vars(math)", "has no 'vars'"),
    ("math.__class__", "has no '__class__'"),
    ("'x'.format(1)", "str has no 'format'"),
    ("'%99999999d' % 1", "% of a text is not allowed"),
    ("f'1'", "JoinedStr is not allowed"),
    ("(x := 1)", "NamedExpr is not allowed"),
    ("9**9**9", "more than 1024 bits"),
    ("10**400", "more than 1024 bits"),
    ("1 &lt;&lt; 10**9", "LShift is not allowed"),
    ("'a' * 10**9", "entries at most"),
    ("[0] * 10**9", "entries at most"),
    ("python.range(10**12)", "entries at most"),
    ("list(map(len, ['a' * 80000] * 80000))", "entries"),
    ("math.prod([2**1000] * 19999)", "more than 1024 bits"),
    ("factorial(10**6)", "of more than 170"),
    ("comb(10**6, 5 * 10**5)", "of more than 200"),
    ("round(1, -10**9)", "that many digits"),
    ("[[[i for i in python.range(9999)] for j in python.range(9999)] for k in python.range(9999)]", "more work"),
    ("python.sum([[]], [])", "positional argument"),
    ("load_yaml('/etc/passwd')", "outside of the description's folder"),
    ("xacro.load_yaml('../../x')", "outside of the description's folder"),
    ("(" * 300, "no expression"),
    ("-" * 3900 + "1", ""),
    ("+".join("1" * 1900), ""),
    ("1 if" + " " * 5000, "letters"),
    ("1 / 0", "ZeroDivisionError"),
    ("missing", "name 'missing' is not defined"),
    ("print('x')", "name 'print' is not defined"),
    ("self", "name 'self' is not defined"),
    ("list.mro()", "Exposed has no 'mro'"),
    ("list.call", "Exposed has no 'call'"),
    ("'a'.join(5)", "TypeError"),
    ("exit()", "name 'exit' is not defined"),
]


@pytest.mark.parametrize(("expression", "message"), REFUSED_EXPRESSIONS)
def test_no_expression_is_code(expression, message):
    told = fault(robot(f'<thing x="${{{expression}}}"/>'))
    assert told.startswith("<string>:2: error: ")
    assert message in told


def hostile_chain(count: int, first: str, step: str, use: str) -> str:
    properties = [f'<xacro:property name="p0" value="{first}"/>']
    properties += [f'<xacro:property name="p{k}" value="{step.replace("P", f"p{k - 1}")}"/>' for k in range(1, count)]
    return robot("".join(properties) + use.replace("P", f"p{count - 1}"))


def doubling(count: int) -> str:
    macros = ['<xacro:macro name="m0"><link name="x"/></xacro:macro>']
    macros += [f'<xacro:macro name="m{k}"><xacro:m{k - 1}/><xacro:m{k - 1}/></xacro:macro>' for k in range(1, count)]
    return robot("".join(macros) + f"<xacro:m{count - 1}/>")


USE = '<thing x="${P}"/>'
PART = '<xacro:macro name="part" params="name"><link name="${name}"/></xacro:macro>'
MANY_ATTRIBUTES = " ".join(f'a{k}="x"' for k in range(250))
HOSTILE = {
    "texts that double": hostile_chain(60, "abcdefgh", "${P}${P}", USE),
    "texts that double by +": hostile_chain(60, "${'abc'}", "${P + P}", USE),
    "lists that double": hostile_chain(60, "${[1]}", "${[P, P]}", USE),
    "lists that grow": hostile_chain(60, "${[1]}", "${P + P}", USE),
    "dictionaries that double": hostile_chain(60, "${[1]}", "${dict(a=P, b=P)}", USE),
    "numbers that double": hostile_chain(60, "${2}", "${P * P}", USE),
    "macros that double": doubling(40),
    "a macro that calls itself": robot('<xacro:macro name="m"><xacro:m/></xacro:macro><xacro:m/>'),
    "a macro that calls itself twice": robot(
        '<xacro:macro name="m" params="k"><xacro:if value="${k &lt; 150}"><xacro:m k="${k+1}"/><xacro:m k="${k+1}"/>'
        '</xacro:if></xacro:macro><xacro:m k="0"/>'
    ),
    "values in a circle": robot('<xacro:property name="a" value="${b}"/><xacro:property name="b" value="${a}"/>' + USE),
    "a long chain of values": hostile_chain(5000, "1", "${P + 1}", USE),
    "many dollars": robot('<thing x="${1}' + "$x" * 500_000 + '"/>'),
    "many texts of many dollars": robot(('<thing x="${1}' + "$x" * 10_000 + '"/>') * 200),
    "parameters that go back": robot(
        '<xacro:macro name="m" params="a=' + "a" * 60 + '\'"><link name="x"/></xacro:macro><xacro:m b="1"/>'
    ),
    "many large macros": robot(
        '<xacro:macro name="m">' + "<thing/>" * 1000 + "</xacro:macro>" + "<xacro:m/>" * 100_000
    ),
    "many attributes in macros of macros": robot(
        f"<xacro:macro name='m0'><thing {MANY_ATTRIBUTES}/></xacro:macro>"
        + "".join(f"<xacro:macro name='m{k + 1}'><s>{f'<xacro:m{k}/>' * 10}</s></xacro:macro>" for k in range(5))
        + "<xacro:m5/>"
    ),
    "a file of attributes": robot(f"<xacro:if value='1'/><thing {MANY_ATTRIBUTES}/>" * 7000),
    "many blocks": robot("<xacro:if value='1'><link/></xacro:if>" * 60_000),
}
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
    "argument not given": (robot('<thing x="$(arg n)"/>'), "argument 'n' has no value: pass xacro_args={'n': ...}"),
    "argument without name": (robot("<xacro:arg/>"), "xacro:arg: missing attribute 'name'"),
    "include of no file": (robot("<xacro:include/>"), "missing attribute 'filename'"),
    "include of no package": (
        robot('<xacro:include filename="$(find x)/a"/>'),
        "package 'x' was not found; pass package_dirs=[FOLDER]",
    ),
    "include of everything": (
        robot('<xacro:include filename="/*/*/*"/>'),
        "outside of the description's folder and package; pass package_dirs",
    ),
    "include of a secret": (
        robot('<xacro:include filename="/etc/passwd"/>'),
        "'/etc/passwd' is outside of the description's folder",
    ),
    "include by file://": (
        robot('<xacro:include filename="file:///etc/passwd"/>'),
        "'/etc/passwd' is outside of the description's folder",
    ),
    "include of what may be missing": (
        robot('<xacro:include filename="/etc/passwd" optional="true"/>'),
        "'/etc/passwd' is outside of the description's folder",
    ),
    "environment": (robot('<thing x="$(env HOME)"/>'), "pass xacro_args={'HOME': ...}"),
    "unknown substitution": (robot('<thing x="$(exec rm)"/>'), "$(exec rm) is not known: there are $(arg NAME)"),
    "not closed": (robot('<thing x="${1 + "/>'), "invalid expression: ${1 +"),
    "empty expression": (robot('<thing x="${}"/>'), "no expression"),
    "other root": (f'<thing {XMLNS} x="${{1}}"/>', "expands to <thing>, expected <robot>"),
    "a mass that is none": (
        robot('<link name="b"><inertial><mass value="${1 - 2}"/>' + INERTIA + "</inertial></link>", ""),
        "link 'b': <mass value=...>: -1 is negative",
    ),
}


@pytest.mark.parametrize(("text", "message"), FAULTS.values(), ids=FAULTS.keys())
def test_a_planted_fault_is_named_with_its_place(text, message):
    told = fault(text)
    assert re.match(r"<string>:[12]: error: ", told)
    assert message in told


LONG = [HOSTILE[name] for name in ("many blocks", "many large macros", "a file of attributes")]


@pytest.mark.parametrize("text", represented(HOSTILE.values(), by=lambda text: text not in LONG), ids=HOSTILE.keys())
def test_a_hostile_file_ends_soon_with_a_place(text):
    start = time.process_time()
    faults = [f for f in check(text) if f.severity == "error"]
    assert time.process_time() - start < 10.0  # 2 s on a free core
    assert faults
    assert all(f.line >= 1 for f in faults)


@pytest.mark.full
def test_memory_stays_small():
    tracemalloc.start()
    try:
        for name in ("lists that double", "macros that double", "many attributes in macros of macros"):
            assert check(HOSTILE[name])
        assert tracemalloc.get_traced_memory()[1] < 300e6
    finally:
        tracemalloc.stop()


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


def test_files_of_other_packages_are_allowed_by_the_caller(package):
    text = '<xacro:include filename="$(find leg)/part.xacro"/><xacro:part name="a"/>'
    with pytest.raises(DescriptionError, match=r"package 'leg' was not found; pass package_dirs=\[FOLDER\]"):
        read(package, text)
    for packages in ([package], {"leg": package / "leg"}):
        assert len(read(package, text, package_dirs=packages).bodies) == 1
    text = '<xacro:include filename="../../leg/part.xacro"/><xacro:part name="a"/>'
    with pytest.raises(
        DescriptionError, match=r"is outside of the description's folder and package; pass package_dirs"
    ):
        read(package, text)
    assert len(read(package, text, package_dirs=[package]).bodies) == 1


def test_an_include_may_be_missing_if_it_says_so(package):
    with pytest.raises(DescriptionError, match=r"none\.xacro' was not found"):
        read(package, '<xacro:include filename="none.xacro"/><link name="a"/>')
    assert read(package, '<xacro:include filename="none.xacro" optional="true"/><link name="a"/>').bodies


def test_files_that_include_one_another_end(package):
    with pytest.raises(DescriptionError, match="include one another more than 16 deep"):
        read(package, '<xacro:include filename="arm.urdf.xacro"/>')


def test_yaml_is_read(package):
    before = "<xacro:property name='c' value=\"${load_yaml('../config/sizes.yaml')['arm']}\"/>"
    link = '<link name="b"><inertial><mass value="${{{}}}"/>' + INERTIA + "</inertial></link>"
    for expression, value in (("c.mass", 2.5), ("c['angle']", np.pi), ("c.list[1]", 2.0)):
        assert read(package, before + link.format(expression)).bodies[0].inertia.mass == value


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "a: &a [1]\nb: &b [*a, *a]\n"
            + "".join(f"c{k}: &c{k} [*{'b' if k == 0 else f'c{k - 1}'}, *b]\n" for k in range(9)),
            None,
        ),
        ("a: &a {x: 1}\nb: {<<: *a}", "merge keys"),
        ("a: &a [*a]", "more than"),
        ("!!python/object/apply:os.system ['true']", "is not known"),
        ("!leagues 3", "'!leagues' is not known"),
        ("a: " + "x" * 70_000, "YAML may have 65536"),
        ("[" * 2000, "more than 500 brackets"),
        ("[" * 400, "flow|node|recursion|deep"),
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


def test_the_environment_is_given_not_read(monkeypatch):
    monkeypatch.setenv("SECRET", "7")
    assert mass("$(optenv SECRET 2)") == 2.0
    assert mass("$(optenv SECRET 2)", xacro_args={"SECRET": 3}) == 3.0
    assert mass("$(env SECRET)", xacro_args={"SECRET": 3}) == 3.0


def test_nothing_is_left_behind(capsys):
    before = minidom.Element.writexml
    check(robot("${xacro.message('loud')}${xacro.warning('louder')}<thing x=\"${xacro.error('x')}\"/>"))
    assert capsys.readouterr() == ("", "")
    assert minidom.Element.writexml is before


def test_threads_expand_at_once():
    found: list[int] = []
    work = [
        threading.Thread(target=lambda n=n: found.append(len(load_mechanism(ARM, xacro_args={"n": n}).bodies)))
        for n in range(8)
    ]
    for thread in work:
        thread.start()
    for thread in work:
        thread.join()
    assert sorted(found) == list(range(1, 9))


def test_an_attribute_with_a_prefix_is_not_that_without():
    """To minidom they are one unless they have namespaces: the first was lost."""
    body = '<xacro:element xacro:name="link" name="dyn"/><xacro:property name="p" value="1"/>'
    assert [b.name for b in cardan.load_mechanism(robot(body, "")).bodies] == ["dyn"]
    other = "<xacro:element name=\"dyn\" xacro:name=\"${'li' + 'nk'}\"/>"
    assert [b.name for b in cardan.load_mechanism(robot(other, "")).bodies] == ["dyn"]
