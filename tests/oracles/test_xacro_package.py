"""Expanded files equal what the package xacro itself makes of them."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from cardan._reach.formats.reading import Options
from cardan._reach.formats.report import Report
from cardan._reach.formats.source import Source
from cardan._reach.formats.xml import Element, parse

xacro = pytest.importorskip("xacro")

from cardan._reach.formats.xacro import expand  # noqa: E402

XMLNS = 'xmlns:xacro="http://www.ros.org/wiki/xacro"'
FEATURES = {
    "scopes": """<xacro:property name="a" value="1"/><xacro:macro name="m" params="b:=^|3 c:=^|4">
      <xacro:property name="a" value="${a + 1}" scope="parent"/><xacro:property name="d" value="7" scope="global"/>
      <x a="${a}" b="${b}" c="${c}"/></xacro:macro><xacro:property name="b" value="9"/><xacro:m/><xacro:m c="1"/>
      <y a="${a}" d="${d}"/>""",
    "blocks": """<xacro:macro name="m" params="*one **two"><x><xacro:insert_block name="one"/></x>
      <xacro:insert_block name="two"/></xacro:macro><xacro:m><a k="${1+1}"/><b><c/><d/></b></xacro:m>
      <xacro:property name="p"><e/><f g="${2}"/></xacro:property><xacro:insert_block name="p"/>""",
    "calls": """<xacro:macro name="m" params="k"><x k="${k}"/></xacro:macro><xacro:property name="n" value="m"/>
      <xacro:call macro="${n}" k="3"/><xacro:element xacro:name="${'z' + str(2)}" w="1"/>
      <v><xacro:attribute name="u${1}" value="${[1, 2]} "/></v>""",
    "conditions": """<xacro:if value="${1 &lt; 2 and not False}"><a/></xacro:if>
      <xacro:unless value="0"><b/></xacro:unless>
      <xacro:if value="False"><c/></xacro:if><xacro:unless value="true"><d/></xacro:unless>""",
    "texts": """<a b="$${x} $$(y) $z ${'q'} 1${2}3" c="${1.0} ${1e-7} ${10/4} ${7//2} ${2**0.5} ${True}"/>
      <d>${1 + 1} and ${'more'}</d>""",
    "expressions": """<a b="${[i*i for i in python.range(4)]}" c="${dict(x=1, y=[2,3])}" d="${'a,b'.split(',')}"
      e="${max(3, 4)} ${round(2.567, 1)} ${radians(180)} ${int('7') + float('.5')}" f="${xacro.tokenize('1;2 3')}"
      g="${dict([('k', (1, 2))])['k']}" h="${sorted([3,1,2])} ${len('abc')} ${python.sum([1,2])} ${'ab' in 'cab'}"/>""",
    "arguments": """<xacro:arg name="a" default="${1+1}"/>
      <x a="$(arg a)" b="$(eval a * 2)" c="${xacro.arg('a')}"/>""",
    "removed": """<xacro:property name="a" value="1"/><xacro:property name="a" remove="true"/>
      <xacro:property name="a" default="5"/><x a="${a}"/>""",
    "lazy": """<xacro:property name="a" value="${b}"/><xacro:property name="b" value="3"/><x a="${a}"/>
      <xacro:property name="c" value="${b}" lazy_eval="false"/><xacro:property name="b" value="4"/><x c="${c}"/>""",
}


def shape(element: Element) -> tuple:
    return element.tag, plain(element.attributes), element.text.strip(), [shape(child) for child in element.children]


def plain(attributes: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in attributes.items() if not name.startswith("xmlns")}


def theirs(file: Path) -> tuple:
    def converted(e) -> tuple:
        return e.tag, plain(dict(e.attrib)), (e.text or "").strip(), [converted(child) for child in e]

    document = xacro.process_file(str(file))
    return converted(ElementTree.fromstring(document.documentElement.toxml()))


def ours(file: Path) -> tuple:
    report = Report(str(file))
    source = Source.of(file)
    root = expand(parse(source), source, Options(trusted=True), report)
    assert root is not None, report.faults()
    return shape(root)


@pytest.mark.parametrize("inside", FEATURES.values(), ids=FEATURES.keys())
def test_features(inside, tmp_path):
    file = tmp_path / "f.xacro"
    file.write_text(f'<robot name="r" {XMLNS}>{inside}</robot>')
    assert ours(file) == theirs(file)


def files() -> list[Path]:
    robosuite = pytest.importorskip("importlib.util").find_spec("robosuite")
    if robosuite is None:
        return []
    return sorted(Path(robosuite.origin).parent.rglob("*.xacro"))


@pytest.mark.parametrize("file", files(), ids=lambda file: file.name)
def test_files_of_robosuite(file, monkeypatch):
    package = next(above for above in file.parents if (above / "package.xml").is_file())
    monkeypatch.setattr("xacro.substitution_args._eval_find", lambda name: str(package))
    assert ours(file) == theirs(file)
