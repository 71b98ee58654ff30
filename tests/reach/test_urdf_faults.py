"""Faulty and hostile URDF: refused with file, line, and how to mend it; never a hang, never half a robot."""

import os

import pytest

from cardan._reach.formats.source import MAX_BYTES
from cardan.errors import DescriptionError
from cardan.formats import check, load, load_mechanism
from representatives import represented
from urdf_mechanisms import check_urdf
from work import calls

LIMIT = '<limit lower="-1" upper="2" effort="3" velocity="4"/>'


def in_joint(text: str, kind: str = "revolute", limit: str = LIMIT) -> str:
    """Return a robot with `text` in the joint, in line 4."""
    return f"""<robot name="r">
<link name="a"/><link name="b"/>
<joint name="j" type="{kind}"><parent link="a"/><child link="b"/>{limit}
{text}</joint></robot>"""


def in_link(text: str) -> str:
    """Return a robot with `text` in the link, in line 2."""
    return f'<robot name="r"><link name="a">\n{text}</link></robot>'


def in_robot(text: str) -> str:
    """Return a robot with `text` after two links, in line 3."""
    return f'<robot name="r">\n<link name="a"/><link name="b"/>\n{text}</robot>'


def fixed(name: str, parent: str, child: str) -> str:
    return f'<joint name="{name}" type="fixed"><parent link="{parent}"/><child link="{child}"/></joint>\n'


def mimicking(*joints: tuple[str, str, str]) -> str:
    """Return a chain of joints (name, type, primary or ""); joint k is in line 2 k + 2, its <mimic> in the next."""
    parts = ['<robot name="r"><link name="l0"/>']
    for k, (name, kind, primary) in enumerate(joints):
        mimic = f'<mimic joint="{primary}"/>' if primary else ""
        ends = f'<parent link="l{k}"/><child link="l{k + 1}"/>'
        parts.append(f'<link name="l{k + 1}"/>\n<joint name="{name}" type="{kind}">{ends}{LIMIT}\n{mimic}</joint>')
    return "".join(parts) + "</robot>"


def sphere(radius: str) -> str:
    return in_link(f'<visual><geometry><sphere radius="{radius}"/></geometry></visual>')


def inertial(mass: str = '<mass value="1"/>', inertia: str = "", **entries: str) -> str:
    values = {"ixx": "1", "ixy": "0", "ixz": "0", "iyy": "1", "iyz": "0", "izz": "1"} | entries
    attributes = " ".join(f'{k}="{v}"' for k, v in values.items())
    return in_link(f"<inertial>{mass}{inertia or f'<inertia {attributes}/>'}</inertial>")


def with_loop(text: str) -> str:
    """Return two links joined, with `text` in a robot's line 4."""
    return in_robot(fixed("j", "a", "b") + text)


def loop(parent: str = "a", child: str = "b", inside: str = "", name: str = "l", kind: str = "revolute") -> str:
    """Return a loop; `inside` is in its second line."""
    ends = f'<predecessor link="{parent}"/><successor link="{child}"/>'
    return f'<loop name="{name}" type="{kind}">{ends}\n{inside}</loop>'


ROUND = fixed("p", "a", "b") + fixed("q", "b", "a")
FAULTS = {
    # the file and its XML
    "empty": (b"", 0, "is empty"),
    "blank": ("   ", 0, "is empty"),
    "not XML": ("<robot", 1, "not well-formed XML: unclosed token"),
    "unclosed": ('<robot name="r">\n<link name="a">\n</robot>', 3, "not well-formed XML: mismatched tag"),
    "double attribute": ('<robot name="r" name="s"/>', 1, "not well-formed XML: duplicate attribute"),
    "text after the end": ('<robot name="r"/>\n<robot/>', 2, "junk after document element"),
    "control character": (b'<robot name="r">\n\x00</robot>', 2, "not well-formed XML"),
    "doctype": ('<!DOCTYPE x [<!ENTITY a "b">]>\n<robot name="&a;"/>', 1, "DOCTYPE declaration is refused; remove it"),
    "unknown entity": ('<robot name="r">\n&lol;</robot>', 2, "undefined entity"),
    "wrong encoding": (b'<?xml version="1.0" encoding="x-klingon"?>\n<robot/>', 1, "encoding cannot be read"),
    "bytes that are no UTF-8": (b'<robot name="\xff\xfe"/>', 1, "not well-formed XML"),
    "codec that is none": (b'<?xml version="1.0" encoding="hex"?>\n<robot/>', 1, "encoding cannot be read"),
    # the root
    "mesh": ("<COLLADA/>", 1, "this is a mesh"),
    "other root": ("<thing/>", 1, "root element is <thing>, expected <robot>"),
    "no name": ('<robot><link name="a"/></robot>', 1, "<robot> needs a non-empty attribute 'name'"),
    "version": ('<robot name="r" version="9.0"><link name="a"/></robot>', 1, "URDF version '9.0' is not known"),
    "xacro": (in_robot("<xacro:wheel/>"), 1, "is written in xacro, a program; pass trusted=True"),
    "xacro expression": (sphere("${wheel / 2}"), 2, "this is a xacro expression: name the file .xacro"),
    # names
    "no link": ('<robot name="r"/>', 1, "the robot has no <link>"),
    "only the world": ('<robot name="r"><link name="world"/></robot>', 1, "no <link> but the world"),
    "link without name": ('<robot name="r">\n<link/></robot>', 2, "<link> needs a non-empty attribute 'name'"),
    "link with blank name": ('<robot name="r">\n<link name=" "/></robot>', 2, "non-empty attribute 'name'"),
    "two links": (in_robot('<link name="a"/>'), 3, "link 'a' is already defined in line 2"),
    "two joints": (
        in_joint("").replace("</robot>", "\n" + fixed("j", "b", "a") + "</robot>"),
        5,
        "joint 'j' is already",
    ),
    "two materials": (in_robot('<material name="m"/>\n<material name="m"/>'), 4, "already a material named 'm'"),
    "material without name": (in_robot("<material/>"), 3, "<material> needs a non-empty attribute 'name'"),
    # loops and frames
    "loop without name": (with_loop(loop(name="")), 4, "<loop> needs a non-empty attribute 'name'"),
    "loop of no type": (with_loop(loop(kind="hinge")), 4, "there is no joint type 'hinge'"),
    "loop with one end": (
        with_loop('<loop name="l" type="fixed"><predecessor link="a"/></loop>'),
        4,
        "<loop name='l'> needs a <successor> element",
    ),
    "loop with the ends of a joint": (
        with_loop('<loop name="l" type="fixed"><parent link="a"/><child link="b"/></loop>'),
        4,
        "<loop name='l'> needs a <predecessor> element",
    ),
    "loop to nowhere": (with_loop(loop(child="c")), 4, "loop 'l': its successor link 'c' does not exist"),
    "loop from nowhere": (
        with_loop(loop(parent="bb")),
        4,
        "its predecessor link 'bb' does not exist; did you mean 'b'",
    ),
    "loop on one link": (with_loop(loop("a", "a")), 4, "loop 'l' joins link 'a' with itself"),
    "loop named as a joint": (with_loop(loop(name="j")), 4, "joint 'j' is already defined in line 3"),
    "loop without direction": (with_loop(loop(inside='<axis xyz="0 0 0"/>')), 5, "loop 'l': the axis has length 0"),
    "loop with crossed limits": (
        with_loop(loop(inside='<limit lower="2" upper="1" effort="1" velocity="1"/>')),
        5,
        "loop 'l': lower limit 2 exceeds upper limit 1",
    ),
    "loop with an armature": (with_loop(loop(inside='<dynamics armature="1"/>')), 4, "'l' has an armature"),
    "loop with a wrong origin": (
        with_loop('<loop name="l" type="fixed"><predecessor link="a">\n<origin xyz="1 2"/></predecessor></loop>'),
        5,
        "expected 3 numbers",
    ),
    "coupling": (with_loop('<coupling name="c"/>'), 4, "<coupling> in <robot> is refused: put <mimic"),
    "frame without name": (with_loop('<frame link="a"/>'), 4, "<frame> needs a non-empty attribute 'name'"),
    "frame without link": (with_loop('<frame name="f"/>'), 4, "<frame> needs a non-empty attribute 'link'"),
    "frame on no link": (with_loop('<frame name="f" link="c"/>'), 4, "frame 'f': its link 'c' does not exist"),
    "frame named as a link": (
        with_loop('<frame name="a" link="b"/>'),
        4,
        "frame 'a' is a link's name .line 2., too",
    ),
    "frame named world": (with_loop('<frame name="world" link="b"/>'), 4, "frame 'world' is the world"),
    "two frames": (
        with_loop('<frame name="f" link="b"/>\n<frame name="f" link="a"/>'),
        5,
        "frame 'f' is already defined in line 4",
    ),
    "frame turned twice": (
        with_loop('<frame name="f" link="b" rpy="0 0 0" quat_xyzw="0 0 0 1"/>'),
        4,
        "<frame> has both rpy and quat_xyzw",
    ),
    "negative armature": (in_joint('<dynamics armature="-1"/>'), 4, "-1 is negative"),
    # the tree
    "unknown parent": (in_robot(fixed("j", "A", "b")), 3, "parent link 'A' does not exist"),
    "misspelled child": (
        '<robot name="r"><link name="forearm"/><link name="hand"/>\n' + fixed("j", "forearm", "hamd") + "</robot>",
        2,
        "joint 'j': its child link 'hamd' does not exist; did you mean 'hand'",
    ),
    "two parents": (
        in_robot(fixed("p", "a", "b") + fixed("q", "a", "b")),
        4,
        "two parents: joint 'p' .line 3. and 'q'; one of them must be a <loop>",
    ),
    "loop": (in_robot(ROUND), 3, "the links form a loop: 'b' <- 'a' <- 'b'"),
    "joint from a link to itself": (in_robot(fixed("p", "a", "a")), 3, "the links form a loop: 'a' <- 'a'"),
    "two roots": (in_robot(""), 2, "2 root links: 'a' .line 2., 'b' .line 2.; join them with joints"),
    "world as a child": (
        in_robot('<link name="world"/>' + fixed("p", "a", "b") + fixed("q", "b", "world")),
        4,
        "'world' is the world: it can only be the root",
    ),
    # joints
    "joint type": (in_joint("", kind="revolut"), 3, "no joint type 'revolut'; did you mean 'revolute'"),
    "strange joint type": (in_joint("", kind="Q"), 3, "no joint type 'Q'; expected one of revolute, continuous"),
    "no joint type": (in_robot('<joint name="j"/>'), 3, "<joint> needs a non-empty attribute 'type'"),
    "no parent": (
        in_robot('<joint name="j" type="fixed"><child link="a"/></joint>'),
        3,
        "<joint name='j'> needs a <parent> element",
    ),
    "parent without link": (
        in_robot('<joint name="j" type="fixed">\n<parent/><child link="a"/></joint>'),
        4,
        "<parent> needs a non-empty attribute 'link'",
    ),
    "no limit": (in_joint("", limit=""), 3, "'j' is revolute and needs a <limit>: add .* or make it continuous"),
    "no limit of a slide": (in_joint("", kind="prismatic", limit=""), 3, "'j' is prismatic and needs a <limit>"),
    "no effort": (in_joint('<limit velocity="1"/>', limit=""), 4, "<limit> needs the attribute 'effort'"),
    "no velocity": (in_joint('<limit effort="1"/>', limit=""), 4, "<limit> needs the attribute 'velocity'"),
    "lower above upper": (
        in_joint('<limit lower="2" upper="1" effort="1" velocity="1"/>', limit=""),
        4,
        "joint 'j': lower limit 2 exceeds upper limit 1; swap them",
    ),
    "negative effort": (in_joint('<limit effort="-1" velocity="1"/>', limit=""), 4, "effort=...>: -1 is negative"),
    "negative velocity": (in_joint('<limit effort="1" velocity="-1"/>', limit=""), 4, "velocity=...>: -1 is negative"),
    "negative damping": (
        in_joint('<dynamics damping="-1"/>'),
        4,
        "damping=...>: -1 is negative; expected a number >= 0",
    ),
    "axis of no length": (in_joint('<axis xyz="0 0 -0.0"/>'), 4, "joint 'j': the axis has length 0"),
    "axis without xyz": (in_joint("<axis/>"), 4, "<axis> needs the attribute 'xyz'"),
    "mimic without joint": (in_joint("<mimic/>"), 4, "<mimic> needs a non-empty attribute 'joint'"),
    "mimic of nothing": (in_joint('<mimic joint="i"/>'), 4, "joint 'j' .revolute. mimics 'i', which does not exist"),
    "mimic of itself": (in_joint('<mimic joint="j"/>'), 4, "these joints mimic each other: 'j' mimics 'j'"),
    "mimic by a ball": (in_joint('<mimic joint="j"/>', kind="ball"), 4, "joint 'j' is ball: only revolute"),
    "mimic of a fixed joint": (
        mimicking(("leader", "fixed", ""), ("copy", "revolute", "leader")),
        5,
        "mimics 'leader', which is fixed; only revolute",
    ),
    "mimic of a floating joint": (
        mimicking(("leader", "floating", ""), ("copy", "revolute", "leader")),
        5,
        "mimics 'leader', which is floating",
    ),
    "mimics in a circle": (
        mimicking(("x", "revolute", "y"), ("y", "revolute", "z"), ("z", "revolute", "x")),
        3,
        "these joints mimic each other: 'x' mimics 'y' mimics 'z' mimics 'x'",
    ),
    # numbers
    "a word": (sphere("big"), 2, "<sphere radius=...>: 'big' is not a number"),
    "decimal comma": (sphere("0,5"), 2, "'0,5' is not a number; use a decimal point"),
    "commas between": (
        in_joint('<origin xyz="1,2,3"/>'),
        4,
        "expected 3 numbers separated by spaces, got 1; use a dec",
    ),
    "too few": (
        in_joint('<origin xyz="1 2"/>'),
        4,
        "<origin xyz='1 2'>: expected 3 numbers separated by spaces, got 2",
    ),
    "too many": (in_joint('<origin rpy="1 2 3 4"/>'), 4, "expected 3 numbers separated by spaces, got 4"),
    "no number": (in_joint('<origin xyz=""/>'), 4, "expected 3 numbers separated by spaces, got 0"),
    "underscore": (sphere("1_000"), 2, "'1_000' is not a number"),
    "hexadecimal": (sphere("0x10"), 2, "'0x10' is not a number"),
    "foreign digits": (sphere("\u0661"), 2, "is not a number"),
    "nan": (sphere("nan"), 2, "nan is not a finite number"),
    "inf": (sphere("-inf"), 2, "-inf is not a finite number"),
    "infinity": (sphere("Infinity"), 2, "Infinity is not a finite number"),
    "too large": (sphere("1e999"), 2, "1e999 is too large"),
    "rpy and quaternion": (in_joint('<origin rpy="0 0 0" quat_xyzw="0 0 0 1"/>'), 4, "both rpy and quat_xyzw"),
    "quaternion not of length 1": (in_joint('<origin quat_xyzw="0 0 0 0"/>'), 4, "not of length 1"),
    # inertia
    "negative mass": (inertial('<mass value="-1"/>'), 2, "link 'a': <mass value=...>: -1 is negative"),
    "mass without value": (inertial("<mass/>"), 2, "<mass> needs the attribute 'value'"),
    "no mass": (inertial(""), 2, "<inertial> needs a <mass> element"),
    "no inertia": (inertial(inertia="<x/>"), 2, "<inertial> needs a <inertia> element"),
    "inertia incomplete": (inertial(inertia='<inertia ixx="1"/>'), 2, "<inertia> needs the attribute 'ixy'"),
    "inertia beyond numbers": (
        in_link(
            '<inertial><origin xyz="1e200 0 0"/><mass value="1"/>'
            '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
        ),
        2,
        "too large for a number",
    ),
    # shapes
    "no geometry": (in_link("<visual/>"), 2, "<visual> needs a <geometry> element"),
    "empty geometry": (in_link("<visual><geometry/></visual>"), 2, "exactly one of box, sphere, .*; it has nothing"),
    "unknown geometry": (in_link("<visual><geometry><cone/></geometry></visual>"), 2, "it has <cone>"),
    "two geometries": (
        in_link('<visual><geometry><sphere radius="1"/><sphere radius="1"/></geometry></visual>'),
        2,
        "it has <sphere>, <sphere>",
    ),
    "negative radius": (sphere("-1"), 2, "<sphere radius=...>: -1 is negative"),
    "negative box": (in_link('<visual><geometry><box size="1 -1 1"/></geometry></visual>'), 2, "has a negative length"),
    "mesh without file": (in_link("<visual><geometry><mesh/></geometry></visual>"), 2, "attribute 'filename'"),
    "colour": (
        in_robot('<material name="m"><color rgba="1 0 0"/></material>'),
        3,
        "<color rgba='1 0 0'>: expected 4 numbers",
    ),
} | {
    # elements that may come once
    f"second {tag}": (
        in_joint(f"<{tag} {attributes}/>\n<{tag} {attributes}/>"),
        5,
        f"a second <{tag}> in <joint> of line 3",
    )
    for tag, attributes in {
        "origin": 'xyz="0 0 1"',
        "axis": 'xyz="0 0 1"',
        "dynamics": 'damping="1"',
        "mimic": 'joint="i"',
    }.items()
}


@pytest.mark.parametrize(("source", "line", "message"), FAULTS.values(), ids=FAULTS.keys())
def test_fault(source, line, message):
    with pytest.raises(DescriptionError, match=message) as caught:
        load_mechanism(source)
    faults = caught.value.faults
    assert {fault.severity for fault in faults} == {"error"}
    assert [fault.line for fault in faults] == sorted(fault.line for fault in faults)
    name = "<bytes>" if isinstance(source, bytes) else "<string>"
    place = f"{name}:{line}" if line else name
    assert any(str(fault).startswith(f"{place}: error: ") for fault in faults)
    assert [f for f in check_urdf(source) if f.severity == "error"] == list(faults)


def test_a_fault_is_told_once():
    alone = [name for name in FAULTS if name.startswith("second ") and name != "second mimic"]
    for name in alone:
        assert sum(fault.severity == "error" for fault in check_urdf(FAULTS[name][0])) == 1, name


def test_all_faults_are_found_in_one_pass():
    text = """<robot name="r">
<link name="a"><visual><geometry><box size="1 2"/></geometry></visual></link>
<link/>
<link name="b"><inertial><mass value="one"/><inertia ixx="1"/></inertial></link>
<joint type="revolut"><parent link="a"/><origin xyz="0 0 nan"/></joint>
<joint name="j" type="revolute"><parent link="a"/><child link="B"/>
  <axis xyz="0 0 0"/></joint>
</robot>"""
    with pytest.raises(DescriptionError) as caught:
        load_mechanism(text)
    lines = [fault.line for fault in caught.value.faults]
    assert lines == [2, 3, *[4] * 6, *[5] * 4, 6, 6, 7]
    assert str(caught.value).count("\n") == len(lines) - 1


def test_one_faulty_number_causes_no_second_error():
    text = in_joint('<limit lower="x" upper="-1" effort="1" velocity="1"/>', limit="")
    assert [fault.message for fault in check_urdf(text)] == ["<limit lower=...>: 'x' is not a number"]


def test_an_unknown_link_does_not_make_two_roots():
    assert len(check_urdf(in_robot(fixed("j", "a", "c")))) == 1


def test_mixed_coordinates_of_a_mimic_are_refused_only_with_unit_complex():
    text = mimicking(("leader", "continuous", ""), ("copy", "revolute", "leader"))
    load_mechanism(text)
    with pytest.raises(DescriptionError, match="read with continuous='angle'"):
        load_mechanism(text, continuous="unit_complex")


# --- remarks -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "line", "message"),
    [
        (in_joint('<axis xyz="0 0 1" rpy="0 0 0"/>'), 4, "<axis> has no attribute 'rpy'"),
        (in_joint('<dynamics dampin="1"/>'), 4, "<dynamics> has no attribute 'dampin'; did you mean 'damping'?"),
        (in_joint('<axes xyz="0 0 1"/>'), 4, "<axes> in <joint> is skipped; did you mean <axis>?"),
        (in_link('<inertail><mass value="1"/></inertail>'), 2, "did you mean <inertial>?"),
        (in_link("").replace("<link", '<link mass="3"'), 1, "<link> has no attribute 'mass'"),
        (in_robot(fixed("j", "a", "b") + '<material name="m"><color rgba="0 0 0 255"/></material>'), 4, "is clipped"),
    ],
)
def test_remarks_are_warnings_of_check_alone(source, line, message):
    (fault,) = check_urdf(source)
    assert (fault.severity, fault.line) == ("warning", line)
    assert message in fault.message
    load_mechanism(source)


def test_the_inertia_of_the_world_is_remarked_upon():
    link = inertial().replace('name="a"', 'name="world"').replace("</robot>", "")
    (fault,) = check_urdf(link + '<link name="b"/>' + fixed("j", "world", "b") + "</robot>")
    assert "has no effect" in fault.message


# --- files -------------------------------------------------------------------------------------------------------


def test_missing_file(tmp_path):
    file = tmp_path / "no.urdf"
    with pytest.raises(DescriptionError, match=r"no\.urdf: error: cannot be read: No such file") as caught:
        load_mechanism(file)
    assert len(caught.value.faults) == 1
    assert len(check_urdf(str(file))) == 1


def test_folder(tmp_path):
    with pytest.raises(DescriptionError, match="cannot be read: it is a folder"):
        load_mechanism(tmp_path)


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="there is no /dev/zero")
def test_device_without_end():
    with pytest.raises(DescriptionError, match="no regular file"):
        load_mechanism("/dev/zero")


def test_pipe_that_nobody_writes_to(tmp_path):
    os.mkfifo(tmp_path / "pipe.urdf")
    with pytest.raises(DescriptionError, match="no regular file"):
        load_mechanism(tmp_path / "pipe.urdf")


def test_impossible_path():
    assert "cannot be read" in check_urdf("a\0b.urdf")[0].message


def test_file_above_the_size_limit(tmp_path):
    file = tmp_path / "large.urdf"
    with open(file, "wb") as handle:
        handle.truncate(MAX_BYTES + 1)
    with pytest.raises(DescriptionError, match=f"may have at most {MAX_BYTES}"):
        load_mechanism(file)


def test_the_path_is_shown_as_it_was_given(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r.urdf").write_text("<robot>")
    assert str(check_urdf("./r.urdf")[0]).startswith("./r.urdf:1: error: ")


def test_load_refuses_in_the_same_way():
    with pytest.raises(DescriptionError, match="is empty"):
        load("")


# --- hostile files -----------------------------------------------------------------------------------------------

MIB = 2**20
BOMB = (
    '<!DOCTYPE x [<!ENTITY a "aaaa">'
    + "".join(f'<!ENTITY a{k} "{"&a;" * 10}">' for k in range(9))
    + "]><robot>&a8;</robot>"
)


def many_links(link: str, joint: str, count: int) -> str:
    """Return a robot of many links and joints, `{k}` and `{next}` in their text numbered."""
    numbers = [{"k": k, "next": (k + 1) % count} for k in range(count)]
    links, joints = (["".join(form.format(**n) for n in numbers)] for form in (link, joint))
    return f'<robot name="r">{links[0]}{joints[0]}</robot>'


HOSTILE = {
    "entity bomb": (lambda: BOMB, "DOCTYPE"),
    "external entity": (lambda: '<!DOCTYPE r SYSTEM "file:///etc/passwd"><robot/>', "DOCTYPE"),
    "deep": (lambda: b"<a>" * MIB, "nested more than 200 deep"),
    "wide": (lambda: b'<robot name="r">' + b"<a/>" * MIB + b"</robot>", "more than 400000 elements"),
    "long attribute": (lambda: b'<robot name="' + b"1 " * (20 * MIB) + b'"/>', "longer than 1048576 bytes"),
    "long comment": (lambda: b"<robot><!--" + b"-x" * (20 * MIB), "longer than 1048576 bytes"),
    "long number": (lambda: sphere("1" * (MIB - 100) + "x"), "is not a number"),
    "long text": (lambda: b'<robot name="r">' + b"x\n" * (30 * MIB) + b"</robot>", "no <link>"),
    "many attributes": (
        lambda: "<robot " + " ".join(f'a{k}=""' for k in range(60_000)) + "/>",
        "more than 256 attributes",
    ),
    "junk": (lambda: os.urandom(MIB) * 50, ""),
    "zeros": (lambda: bytes(50 * MIB), "is empty"),
    "larger than allowed": (lambda: b" " * (MAX_BYTES + 1), "may have at most"),
    "long names": (lambda: in_robot(fixed("j", "ab" * 200_000, "ba" * 200_000)), "does not exist"),
    "unknown links": (
        lambda: many_links('<link name="k_{k}"/>', fixed("j{k}", "l_{k}", "m_{k}"), 5_000),
        "there are more; only the first are shown",
    ),
    "circle of links": (
        lambda: many_links('<link name="l{k}"/>', fixed("j{k}", "l{k}", "l{next}"), 5_000),
        "form a loop",
    ),
    "circle of mimics": (
        lambda: mimicking(*((f"j{k}", "revolute", f"j{(k + 1) % 3_000}") for k in range(3_000))),
        "mimic each other",
    ),
}


LONG = [HOSTILE[name] for name in ("wide", "long text", "unknown links", "circle of links", "circle of mimics")]


@pytest.mark.parametrize(("make", "message"), represented(HOSTILE.values(), by=lambda e: e not in LONG), ids=HOSTILE)
def test_hostile_content_is_refused_in_work_that_its_length_bounds(make, message):
    content, faults = make(), []
    assert calls(lambda: faults.extend(check_urdf(content))) < 10 * len(content) + 100_000
    assert any(message in fault.message for fault in faults)
    assert all(len(fault.message) < 1100 for fault in faults)
    assert len(faults) <= 2002


@pytest.mark.parametrize("value", ["1e308", "-1e308", "1e-308", "5e-324", "-0"])
def test_extreme_numbers_are_read_or_refused(value):
    text = in_joint(f'<origin xyz="{value} 0 {value}" rpy="{value} {value} 0"/><axis xyz="{value} 1e-9 0"/>')
    text = text.replace('<link name="a"/>', inertial(**dict.fromkeys(("ixx", "ixy", "izz"), value))[16:-8])
    assert all(isinstance(fault.message, str) for fault in check_urdf(text))


def test_limits_of_a_position_that_count_for_nothing_are_named():
    """SDF's reader said so; a URDF's continuous joint lost its range without a word."""
    told = [str(fault) for fault in check(in_joint("", "continuous"))]
    assert any("is continuous: its lower and upper have no effect" in message for message in told), told
