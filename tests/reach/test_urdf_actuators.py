"""Transmissions of URDF and commands of ROS 2 are actuators; what a URDF cannot say of what is beside is told."""

import math
import warnings

import pytest

import cardan
from cardan import Actuator, Drive, Group, Inertia, Mechanism, Spring
from cardan._reach.formats.load import check
from cardan.description import Shape, Sphere
from cardan.errors import DescriptionWarning, MechanismError
from cardan.formats import write_urdf
from cardan.joints import Prismatic, Revolute, Spherical
from robots_data import robots_folder

EFFORT, NONE = (1.0, (0.0, 0.0, 0.0)), (None, None)


def robot(*elements):
    """Two joints that move and one that does not; the elements begin in line 12."""
    lines = ['<robot name="r">', *(f'<link name="{name}"/>' for name in "abcd")]
    for name, kind, parent, child in (
        ("j", "continuous", "a", "b"),
        ("slide", "prismatic", "b", "c"),
        ("held", "fixed", "c", "d"),
    ):
        within = 'lower="0" upper="1" ' if kind == "prismatic" else ""
        limit = f'<limit {within}effort="1" velocity="1"/>'
        lines += [
            f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>',
            f"{limit}</joint>",
        ]
    return "\n".join([*lines, *elements, "</robot>"])


def transmission(joint="j", interface="EffortJointInterface", reduction="50", kind="SimpleTransmission", name="motor"):
    return (
        f'<transmission name="t"><type>transmission_interface/{kind}</type><joint name="{joint}">'
        f"<hardwareInterface>hardware_interface/{interface}</hardwareInterface></joint>"
        f'<actuator name="{name}"><mechanicalReduction>{reduction}</mechanicalReduction></actuator></transmission>'
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (transmission(), Actuator("motor", "j", 50.0, "effort", *EFFORT)),
        (transmission("slide", "PositionJointInterface", " -0.5 "), Actuator("motor", "slide", -0.5, "position")),
        (transmission(interface="VelocityJointInterface", reduction="1e2"), Actuator("motor", "j", 100.0, "velocity")),
        (
            '<transmission type="pr2_mechanism_model/SimpleTransmission" name="t"><actuator name="m"/><joint name="j"/>'
            "<mechanicalReduction>3</mechanicalReduction></transmission>",
            Actuator("m", "j", 3.0, "effort", *EFFORT),
        ),
        (
            '<transmission name="t"><joint name="j"/><actuator name="m"><hardwareInterface>EffortJointInterface'
            "</hardwareInterface></actuator></transmission>",
            Actuator("m", "j", 1.0, "effort", *EFFORT),
        ),
        (
            '<ros2_control name="s" type="system"><joint name="slide">'
            '<command_interface name="position"><param name="min">-1</param><param name="max">2.5</param>'
            "</command_interface></joint></ros2_control>",
            Actuator("slide", "slide", 1.0, "position", control_range=(-1.0, 2.5)),
        ),
        (
            '<ros2_control name="s"><joint name="j"><command_interface name="effort"/></joint></ros2_control>',
            Actuator("j", "j", 1.0, "effort", *EFFORT),
        ),
    ],
)
def test_actuators_are_read(text, expected):
    m = cardan.load_mechanism(robot(text))
    assert m.actuators == (expected,)
    assert m.model().actuators == (expected,)
    assert check(robot(text)) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('<transmission name="t"/>', "has 0 <joint> and 0 <actuator>, expected one each"),
        (transmission(kind="DifferentialTransmission"), "it is a DifferentialTransmission, not a SimpleTransmission"),
        (transmission(joint="jj"), "there is no joint 'jj'; did you mean 'j'?"),
        (transmission(joint="held"), "joint 'held' is fixed"),
        (transmission(interface="GripperInterface"), "its interface is 'hardware_interface/GripperInterface'"),
        (transmission(reduction="fifty"), "its mechanicalReduction is 'fifty', no number"),
        (transmission(reduction="1e999"), "no number"),
        (transmission(reduction="nan"), "no number"),
        (transmission(name=" "), "name of a actuator"),
        (f"{transmission()}\n{transmission('slide')}", "actuator 'motor' is already defined in line 12"),
        (
            '<ros2_control name="s"><joint name="j"><command_interface name="effort"/>'
            '<command_interface name="position"/><command_interface name="kp"/></joint></ros2_control>',
            "joint 'j': commands of 'position', 'kp' are not used",
        ),
        (
            '<ros2_control name="s"><joint name="j"><command_interface name="effort"><param name="min">2</param>'
            '<param name="max">1</param></command_interface></joint></ros2_control>',
            "control_range of actuator 'j'",
        ),
        ('<ros2_control name="s"><transmission name="t"/></ros2_control>', "commands of its joints are read alone"),
        ('<ros2_control name="s"><hardware/></ros2_control>', "it is the driver's"),
    ],
)
def test_a_faulty_one_is_a_remark_with_its_line(text, said):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        m = cardan.load_mechanism(robot(text))
    assert len(m.joints) == 3
    (fault,) = check(robot(text))
    assert fault.severity == "warning"
    assert fault.line in (12, 13)
    assert said in fault.message


@pytest.mark.parametrize("kind", ["effort", "position", "velocity"])
def test_transmissions_are_written_back(kind):
    m = cardan.load_mechanism(robot())
    m.add_actuator(Actuator('"a" & b', "slide", 1 / 3, kind, *(EFFORT if kind == "effort" else NONE)))
    for thing in (m, m.model()):
        written = write_urdf(thing)
        assert written.losses == ()
        assert cardan.load_mechanism(written.text).actuators == m.actuators


def beside():
    m = Mechanism("m", gravity=(0, 0, -1.62))
    m.add_body("a", Inertia(1.0))
    m.add_body("b", Inertia(1.0))
    m.add_joint("ball", Spherical(), "a", "b")
    m.add_body("c", Inertia(1.0))
    m.add_joint("j", Revolute(), "b", "c")
    m.add_actuator(Actuator("motor", "j", 2.0, control_range=(-1.0, 1.0)))
    m.add_actuator(Actuator("three", "ball", [(1.0, 2.0, 3.0)]))
    m.add_actuator(Actuator("muscle", "j", kind="general"))
    m.add_group(Group("g"))
    m.add_configuration("home", {})
    m.disable_contact("a", "c")
    m.add_shape(Shape("a", "collision", Sphere(0.1), surface=cardan.Material()))
    m.add_shape(Shape("b", "collision", Sphere(0.1)))
    m.add_shape(Shape("c", "collision", Sphere(0.1), margin=0.1))
    return m


def test_what_is_left_out_is_told():
    m = beside()
    written = write_urdf(m)
    assert written.losses == (
        "gravity (0.0, 0.0, -1.62)",
        "actuators 'three', 'muscle'",
        "groups 'g'",
        "configurations 'home'",
        "disabled contacts 'a/c'",
        "gains and ranges of actuators 'motor'",
        "surfaces, groups, masks, margins, surface velocities or densities of shapes on 'a', 'c'",
    )
    with pytest.warns(DescriptionWarning, match="m: URDF does not hold actuators 'three'"):
        text = cardan.to_urdf(m)
    back = cardan.load_mechanism(text)
    assert [a.name for a in back.actuators] == ["motor"]
    assert [s.body for s in back.shapes] == ["a", "b", "c"]


def test_what_pulls_is_refused():
    m = Mechanism("m")
    m.add_body("a", Inertia(1.0))
    m.add_body("b", Inertia(1.0))
    m.add_joint("j", Prismatic(), "a", "b", spring=Spring(5.0, 0.1))
    with pytest.raises(MechanismError, match=r"spring_stiffness of joint 'j'.*JSON holds it"):
        cardan.to_urdf(m)
    m = m.replace_joint("j", Prismatic(), spring=Spring(), drive=Drive(1.0)).mechanism
    with pytest.raises(MechanismError, match="drive_stiffness of joint 'j'"):
        cardan.to_urdf(m)


def test_real_robots_have_their_actuators():
    folder = robots_folder()
    if folder is None:
        pytest.skip("needs the package example-robot-data")
    talos = cardan.load_mechanism(folder / "talos_data/robots/talos_left_arm.urdf", package_dirs=[folder.parent])
    assert talos.actuators[0].kind == "position"
    assert all(math.isinf(a.effort_range[1]) for a in talos.actuators)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        xarm = cardan.load_mechanism(folder / "xarm_description/urdf/xarm7.urdf")
    assert [a.joints for a in xarm.actuators][:2] == [("joint1",), ("joint2",)]
