"""SRDF beside a robot: groups, named configurations, end effectors, contacts that are disabled."""

import math
import warnings

import numpy as np
import pytest

import cardan
from cardan.errors import DescriptionError, DescriptionWarning
from cardan.formats import check, load, load_mechanism

LIMIT = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'
BOX = '<collision><geometry><box size="1 1 1"/></geometry></collision>'


def urdf(joints: str = "revolute revolute continuous prismatic") -> str:
    """Return a chain base - l1 - l2 ... with joints j1, j2, ..., and a finger on l2."""
    links, parent = [f'<link name="base">{BOX}</link>'], "base"
    for k, kind in enumerate(joints.split(), 1):
        limit = LIMIT if kind in ("revolute", "prismatic") else ""
        ends = f'<parent link="{parent}"/><child link="l{k}"/>{limit}'
        links.append(f'<link name="l{k}">{BOX}</link><joint name="j{k}" type="{kind}">{ends}</joint>')
        parent = f"l{k}"
    ends = f'<parent link="l2"/><child link="finger"/>{LIMIT}'
    links.append(f'<link name="finger"/><joint name="grip" type="revolute">{ends}</joint>')
    return f'<robot name="r">{"".join(links)}</robot>'


def srdf(inside: str) -> str:
    return f'<robot name="r">\n{inside}</robot>'


def read(inside: str, **options) -> cardan.Mechanism:
    return load_mechanism(urdf(), srdf=srdf(inside), **options)


def faults(inside: str, severity: str = "error") -> list[str]:
    return [str(f) for f in check(urdf(), srdf=srdf(inside)) if f.severity == severity]


@pytest.mark.parametrize(
    ("inside", "bodies", "joints"),
    [
        ('<joint name="j2"/><joint name="j1"/>', ["l2", "l1"], ["j2", "j1"]),
        ('<link name="l2"/><link name="base"/>', ["l2", "base"], ["j2"]),
        ('<chain base_link="base" tip_link="l2"/>', ["base", "l1", "l2"], ["j1", "j2"]),
        ('<chain base_link="l3" tip_link="finger"/>', ["l3", "l2", "finger"], ["j3", "grip"]),
        ('<chain base_link="l2" tip_link="l2"/>', ["l2"], []),
        ('<group name="b"/>', ["finger"], ["grip"]),
        ('<group name="b"/><joint name="grip"/><link name="l1"/>', ["finger", "l1"], ["grip", "j1"]),
        ("", [], []),
    ],
)
def test_groups(inside, bodies, joints):
    robot = read(f'<group name="a">{inside}</group><group name="b"><joint name="grip"/></group>')
    assert list(robot.groups) == ["b", "a"] or list(robot.groups) == ["a", "b"]
    assert (list(robot.groups["a"].bodies), list(robot.groups["a"].joints)) == (bodies, joints)
    assert robot.model().groups["a"] == robot.groups["a"]


def test_an_end_effector_is_the_tip_of_the_group_that_holds_it():
    groups = """<group name="arm"><chain base_link="base" tip_link="l2"/></group>
    <group name="all"><group name="arm"/><joint name="j3"/></group><group name="hand"><joint name="grip"/></group>"""
    for end in ('parent_link="l2"', 'parent_link="l2" parent_group="arm"'):
        robot = read(f'{groups}<end_effector name="tool" {end} group="hand"/>')
        assert [(g.name, g.tip) for g in robot.groups.values()] == [("arm", "hand"), ("all", ""), ("hand", "")]
    (told,) = faults(f'{groups}<end_effector name="tool" parent_link="l4" group="hand"/>', "warning")
    assert "no group holds the end effector 'hand'" in told


STATES = """<group name="arm"><chain base_link="base" tip_link="l4"/></group>
<group name="hand"><joint name="grip"/></group>
<group_state name="home" group="arm"><joint name="j1" value="0.5"/><joint name="j3" value="2"/></group_state>
<group_state name="open" group="hand"><joint name="grip" value="1"/></group_state>
<group_state name="rest" group="arm"><joint name="j2" value="-1"/></group_state>
<group_state name="rest" group="hand"><joint name="grip" value="-1e-1"/></group_state>"""


def test_states_are_named_configurations():
    robot = read(STATES)
    assert {name: dict(values) for name, values in robot.named_configurations.items()} == {
        "home": {"j1": (0.5,), "j3": (2.0,)},
        "open": {"grip": (1.0,)},
        "arm/rest": {"j2": (-1.0,)},
        "hand/rest": {"grip": (-0.1,)},
    }
    model = load(urdf(), srdf=srdf(STATES))
    np.testing.assert_array_equal(model.named_configurations["home"], [0.5, 0, 2, 0, 0])
    floating = load(urdf(), srdf=srdf(STATES), base="floating")
    np.testing.assert_array_equal(floating.named_configurations["home"], [0, 0, 0, 0, 0, 0, 1, 0.5, 0, 2, 0, 0])


def test_a_state_of_a_continuous_joint_may_be_a_point():
    robot = read(STATES, continuous="unit_complex")
    assert robot.named_configurations["home"]["j3"] == (math.cos(2.0), math.sin(2.0))


def test_what_hangs_on_a_virtual_joint_is_left_to_the_base():
    text = """<virtual_joint name="root_joint" type="floating" parent_frame="odom" child_link="base"/>
    <group name="all"><joint name="root_joint"/><joint name="j1"/></group>
    <group_state name="home" group="all"><joint name="root_joint" value="0 0 1 0 0 0 1"/><joint name="j1" value="1"/>
    </group_state>"""
    robot = read(text)
    assert robot.groups["all"].joints == ("j1",)
    assert dict(robot.named_configurations["home"]) == {"j1": (1.0,)}
    (told,) = faults(text, "warning")
    assert "load(base=...) chooses how a robot hangs on the world" in told


def test_contacts():
    robot = read('<disable_collisions link1="l1" link2="l3"/><disable_collisions link1="l3" link2="l1" reason="x"/>')
    assert robot.disabled_contacts == (("l1", "l3"),)
    robot = read("""<disable_default_collisions link="l1"/><enable_collisions link1="l4" link2="l1"/>
    <disable_collisions link1="l2" link2="l3"/>""")
    assert set(map(frozenset, robot.disabled_contacts)) == {
        frozenset(pair) for pair in (("l2", "l3"), ("l1", "base"), ("l1", "l2"), ("l1", "l3"))
    }


def test_what_the_robot_has_not_is_one_warning():
    text = """<group name="a"><joint name="j1"/><joint name="j9"/><link name="tail"/></group>
    <group_state name="s" group="a"><joint name="j9" value="1"/><joint name="j1" value="1"/></group_state>
    <disable_collisions link1="tail" link2="l1"/>"""
    with pytest.warns(DescriptionWarning) as caught:
        robot = read(text)
    (warning,) = [str(w.message) for w in caught]
    assert "<string>:2: warning: the robot has no 'joint j9', 'link tail': what is said of them is left out" in warning
    assert robot.groups["a"].joints == ("j1",)
    assert dict(robot.named_configurations["s"]) == {"j1": (1.0,)}
    assert robot.disabled_contacts == ()


FAULTS = {
    "not XML": ("<", "not well-formed XML"),
    "group without name": ("<group/>", "<group> needs a non-empty attribute 'name'"),
    "two groups": ('<group name="a"/>\n<group name="a"/>', "group 'a' is already defined in line 2"),
    "group in itself": ('<group name="a"><group name="a"/></group>', "group 'a' is in itself"),
    "groups in a circle": (
        '<group name="a"><group name="b"/></group><group name="b"><group name="a"/></group>',
        "group 'a' is in itself: a in b",
    ),
    "group of nobody": ('<group name="a"><group/></group>', "<group> needs a non-empty attribute 'name'"),
    "link without name": ('<group name="a"><link/></group>', "<link> needs a non-empty attribute 'name'"),
    "joint without name": ('<group name="a"><joint/></group>', "<joint> needs a non-empty attribute 'name'"),
    "chain without base": ('<group name="a"><chain tip_link="l1"/></group>', "attribute 'base_link'"),
    "chain without tip": ('<group name="a"><chain base_link="l1"/></group>', "attribute 'tip_link'"),
    "state without name": ('<group name="a"/><group_state group="a"/>', "<group_state> needs .* 'name'"),
    "other states without name": ('<group_state name="a"/>' + "<group_state/>", "<group_state> needs .* 'name'"),
    "numbers too many": (
        '<group_state name="s"><joint name="j1" value="' + "1 " * 17 + '"/></group_state>',
        "expected numbers",
    ),
    "value missing": (
        '<group name="a"/><group_state name="s" group="a"><joint name="j1"/></group_state>',
        "<joint> needs a non-empty attribute 'value'",
    ),
    "value that is none": (
        '<group name="a"/><group_state name="s" group="a"><joint name="j1" value="up"/></group_state>',
        "'up'>: expected numbers",
    ),
    "values too many": (
        '<group name="a"/><group_state name="s" group="a"><joint name="j1" value="1 2"/></group_state>',
        "value of joint 'j1': expected 1 numbers, got 2",
    ),
    "value beyond numbers": (
        '<group name="a"/><group_state name="s" group="a"><joint name="j1" value="1e999"/></group_state>',
        "configuration 's'|finite",
    ),
    "one link": ('<disable_collisions link1="l1"/>', "<disable_collisions> needs .* 'link2'"),
    "default of nothing": ("<disable_default_collisions/>", "<disable_default_collisions> needs .* 'link'"),
    "enabled with nothing": ("<enable_collisions/>", "<enable_collisions> needs .* 'link1'"),
    "too many states": ("<group_state/>" * 1001, "more than 1000 <group_state>"),
    "too many groups": ("".join(f'<group name="g{k}"/>' for k in range(1001)), "more than 1000 <group>"),
    "too many chains": ('<group name="g">' + "<chain/>" * 1001 + "</group>", "more than 1000 <chain>"),
    "groups too deep": (
        "".join(f'<group name="g{k}"><group name="g{k + 1}"/></group>' for k in range(900)),
        "groups are in one another more than 100 deep",
    ),
}


@pytest.mark.parametrize(("inside", "message"), FAULTS.values(), ids=FAULTS.keys())
def test_faults(inside, message):
    with pytest.raises(DescriptionError, match=message):
        read(inside)
    assert all(told.startswith("<string>:") for told in faults(inside))


def test_the_name_of_the_file_is_told(tmp_path):
    robot, groups = tmp_path / "r.urdf", tmp_path / "r.srdf"
    robot.write_text(urdf())
    groups.write_text(srdf('<group name="a"/>\n<group name="a"/>'))
    (fault,) = check(robot, srdf=groups)
    assert (fault.file, fault.line) == (str(groups), 3)
    groups.write_text("<sdf/>")
    with pytest.raises(DescriptionError, match=r"r\.srdf:1: error: the root element is <sdf>, expected <robot>"):
        load(robot, srdf=groups)
    with pytest.raises(DescriptionError, match=r"none\.srdf: error: cannot be read"):
        load(robot, srdf=tmp_path / "none.srdf")
    with pytest.raises(DescriptionError, match=r"describes none: cardan\.load\(robot, srdf=this file\)"):
        load(groups)


def test_remarks():
    text = '<passive_joint name="j1"/><link_sphere_approximation/><gruop name="a"/><group name="b" colour="red"/>'
    told = "\n".join(faults(text, "warning"))
    for part in ("<passive_joint> in <robot> is skipped: an actuator", "did you mean <group>", "no attribute 'colour'"):
        assert part in told


def test_what_is_loosely_written_is_read():
    state = '<group_state name="{}"><joint name="j1" value="1"/></group_state>'
    with pytest.warns(DescriptionWarning, match="the robot has no 'group amr': .*; did you mean 'arm'"):
        robot = read('<group name="arm"><group name="amr"/></group>' + state.format("up"))
    assert dict(robot.named_configurations["up"]) == {"j1": (1.0,)}
    (told,) = faults(state.format("up"), "warning")
    assert "state 'up' is of the group '', which is not there" in told


def test_it_goes_through_json(tmp_path):
    robot = read(STATES + '<disable_collisions link1="l1" link2="l3"/>')
    cardan.save(robot, tmp_path / "r.json")
    assert load_mechanism(tmp_path / "r.json") == robot
    assert load_mechanism(tmp_path / "r.json", srdf=srdf('<group name="z"/>')).groups["z"].joints == ()
    cardan.save(robot.model(), tmp_path / "m.json")
    with pytest.raises(DescriptionError, match="holds a model, to which no SRDF can be added"):
        load(tmp_path / "m.json", srdf=srdf(""))


def test_nothing_is_warned_of_where_all_is_there():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read(STATES)


MIMIC = """<robot name="hand"><link name="palm"/><link name="one"/><link name="two"/>
<joint name="left" type="continuous"><parent link="palm"/><child link="one"/></joint>
<joint name="right" type="continuous"><parent link="palm"/><child link="two"/><mimic joint="left"/></joint></robot>"""


def test_a_state_may_name_a_joint_that_follows_another():
    """As those of the hands of many robots do."""
    state = '<joint name="left" value="0.5"/><joint name="right" value="0.5"/>'
    group = '<group name="g"><joint name="left"/></group>'
    srdf = f'<robot name="hand">{group}<group_state name="open" group="g">{state}</group_state></robot>'
    assert cardan.load(MIMIC, srdf=srdf).named_configurations["open"] == [0.5]


@pytest.mark.parametrize(
    ("value", "expected"), [("0 0 0 2", (0, 0, 0, 1)), ("0.6 0 0 0.81", None), ("0 0 0 0", "error")]
)
def test_quaternions_of_states_have_length_1(value, expected):
    robot = cardan.Mechanism("r")
    robot.add_body("b", cardan.Inertia(1.0))
    robot.add_joint("ball", cardan.joints.Spherical(), "world", "b")
    state = f'<group_state name="s" group="g"><joint name="ball" value="{value}"/></group_state>'
    srdf = f'<robot name="r"><group name="g"><joint name="ball"/></group>{state}</robot>'
    if expected == "error":
        with pytest.raises(cardan.DescriptionError, match="no coordinates; at rest it has 0 0 0 1"):
            cardan.load_mechanism(cardan.to_json(robot), srdf=srdf)
        return
    q = cardan.load_mechanism(cardan.to_json(robot), srdf=srdf).named_configurations["s"]["ball"]
    assert sum(e * e for e in q) == pytest.approx(1.0, abs=1e-15)
    assert expected is None or tuple(q) == expected
