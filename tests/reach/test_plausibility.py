"""What is possible and probably not meant is remarked upon by `check`, and robots that are right are passed over."""

import re
import time

import pytest

import cardan
from cardan import SE3, Inertia, Limits, Mechanism
from cardan.description import Box, Cylinder, Mesh, Shape, Sphere, inertia_of_shapes
from cardan.errors import DescriptionWarning
from cardan.formats import check
from cardan.joints import Fixed, Revolute

BOX = Box((0.1, 0.2, 0.3))
SOLID = BOX.inertia(1000.0)


def arm(inertia=SOLID, shape=BOX, limits=None, tip=SOLID, names=("base", "arm", "tip"), joint="hinge") -> Mechanism:
    """Return two boxes on a base, of which the first has another inertia, shape or limits."""
    m = Mechanism("robot")
    for name, given, geometry in zip(names, (SOLID, inertia, tip), (BOX, shape, BOX), strict=True):
        m.add_body(name, given)
        m.add_shape(Shape(name, "collision", geometry))
    m.add_joint("anchor", Fixed(), "world", names[0])
    m.add_joint(joint, Revolute((0, 0, 1)), names[0], names[1], limits=limits)
    m.add_joint("wrist", Revolute((0, 1, 0)), names[1], names[2], SE3(translation=(0, 0, 0.3)))
    return m


def about(mass: float = 6.0, com=(0, 0, 0), scale: float = 1.0) -> Inertia:
    """Return the inertia of the box with another mass, centre or inertia about it."""
    return Inertia(mass, com, SOLID.inertia_at_com * scale)


def remarks(mechanism: Mechanism) -> list[str]:
    faults = check(cardan.to_json(mechanism))
    assert all(fault.severity == "warning" for fault in faults)
    return [fault.message for fault in faults]


ODD = {
    "centre outside": (arm(about(com=(0, 0, 0.5))), "body 'arm': the centre of mass is 0.35 m outside of its shapes"),
    "inertia in g mm^2": (arm(about(scale=1e9)), "body 'arm': its inertia is that of mass .* are the units right"),
    "inertia too small": (arm(about(scale=1e-4)), "body 'arm': its inertia is that of mass within .* of the centre"),
    "mass in grams": (arm(about(6000.0, scale=1000.0)), "body 'arm': 6e[+]03 kg in 0.006 m.3 are 1e[+]06 kg/m.3"),
    "mass in tons": (arm(about(0.006, scale=1e-3), Box((0.1, 0.2, 0.9))), "kg/m.3"),
    "heavy among light": (
        arm(about(6.1e3, scale=1e3), Box((1.0, 2.0, 3.0)), tip=SOLID),
        "more than 1000 times the mass of its neighbours",
    ),
    "moments alone": (arm(about(0.0)), "moments of inertia and no"),
    "massless end": (arm(tip=None), "body 'tip': it moves and nothing from there on has mass"),
    "massless arm": (arm(None, tip=None), "body 'arm', 'tip': it moves and nothing"),
    "zero outside": (arm(limits=Limits((0.5,), (1.0,))), "joint 'hinge': 0 is outside of the limits"),
    "zero above": (arm(limits=Limits((-2.0,), (-1.0,))), "joint 'hinge': 0 is outside of the limits"),
    "degrees": (
        arm(limits=Limits((-180.0,), (180.0,))),
        "joint 'hinge': its limits are more than four turns; are they",
    ),
    "no effort": (arm(limits=Limits(effort=(0.0,))), "joint 'hinge': the limit of effort is 0"),
    "no velocity": (arm(limits=Limits(velocity=(0.0,))), "joint 'hinge': the limit of velocity is 0"),
}


def test_loading_warns_of_limits_in_degrees():
    with pytest.warns(DescriptionWarning, match="'hinge'.*are they in degrees"):
        cardan.load(cardan.to_json(ODD["degrees"][0]))


@pytest.mark.parametrize(("mechanism", "message"), ODD.values(), ids=ODD.keys())
def test_what_is_odd_is_remarked_upon(mechanism, message):
    told = remarks(mechanism)
    assert any(re.search(message, each) for each in told), told


@pytest.mark.parametrize(
    "mechanism",
    [
        arm(),
        arm(about(com=(0.04, 0.09, 0.1))),
        arm(about(scale=2.0)),
        arm(about(scale=0.3)),
        arm(inertia_of_shapes([Shape("x", "visual", Cylinder(0.01, 1.0))], 7800.0), Cylinder(0.01, 1.0)),
        arm(
            inertia_of_shapes([Shape("x", "visual", Sphere(0.001))], 7800.0), Sphere(0.001), tip=about(0.01, scale=0.01)
        ),
        arm(limits=Limits((0.0,), (1.0,), (2.0,), (3.0,))),
        arm(about(), Mesh("a.stl")),
        cardan.robots.arm7() if hasattr(cardan.robots, "arm7") else arm(),
    ],
)
def test_what_is_right_is_passed_over(mechanism):
    if any(isinstance(shape.geometry, Sphere) for shape in mechanism.shapes):
        told = [each for each in remarks(mechanism) if "neighbours" not in each and "kg/m^3" not in each]
    else:
        told = remarks(mechanism)
    assert told == []


def test_many_are_one_remark_at_the_first():
    joints = "".join(
        f'\n<link name="l{k + 1}"/><joint name="j{k}" type="revolute"><parent link="l{k}"/><child link="l{k + 1}"/>'
        '<limit lower="1" upper="2" effort="1" velocity="1"/></joint>'
        for k in range(6)
    )
    mass = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    faults = check(f'<robot name="r"><link name="l0">{mass}</link>{joints}</robot>')
    (limits,) = [f for f in faults if "0 is outside" in f.message]
    assert limits.line == 2
    assert limits.message.startswith("joint 'j0', 'j1', 'j2', ... (6 in all): 0 is outside")
    (mass,) = [f for f in faults if "nothing from there on has mass" in f.message]
    assert mass.line == 2


@pytest.mark.full
def test_a_long_chain_takes_no_time():
    m = Mechanism("chain")
    m.add_body("b0", SOLID)
    for k in range(3000):
        m.add_body(f"b{k + 1}")
        m.add_joint(f"j{k}", Revolute((0, 0, 1)), f"b{k}", f"b{k + 1}")
    text = cardan.to_json(m)
    start = time.process_time()
    assert any("... (3000 in all): it moves" in f.message for f in check(text))
    assert time.process_time() - start < 20.0


@pytest.mark.parametrize("size", [1e-320, 1e160, 1e308])
def test_sizes_at_the_end_of_all_numbers(size):
    for shape in (Sphere(size), Cylinder(size, size), Box((size, size, size))):
        remarks(arm(shape=shape))
