"""Two robots compared: nothing is found in equal ones; what was planted is found, at its place, with its cause."""

import functools
import json
import pickle
import re
import warnings
from dataclasses import replace
from pathlib import Path

import pytest

import cardan
from cardan import SE3, Inertia, compare
from cardan._reach.cli.main import main
from cardan.errors import CardanError, DescriptionError, DTypeError, ParameterError
from cardan.joints import Reversed, Revolute, Spherical, UnboundedRevolute
from cardan.spatial.rotations import matrix_from_zyx
from compare_pairs import OTHER_COORDINATES, PAIRS, arm, changed
from representatives import represented

ARM7 = cardan.robots.urdf_path("arm7")


def test_a_robot_equals_itself(tmp_path):
    cardan.save(arm(), tmp_path / "arm.json")
    for other in (arm(), tmp_path / "arm.json", arm().copy()):
        found = compare(arm(), other)
        assert found
        assert found.equal
        assert found.differences == ()
    assert "no difference" in str(compare(ARM7, ARM7))


@functools.cache
def planted(name):
    return compare(arm(), PAIRS[name][0])


@pytest.mark.parametrize("name", PAIRS)
def test_what_was_planted_is_found(name):
    found, (_, where, what, cause) = planted(name), PAIRS[name]
    assert not found
    first = found.differences[0]
    assert first.where == where
    assert what in first.what
    assert re.search(re.escape(cause) if "|" not in cause else cause, first.cause), first.cause
    assert bool(first.cause) or not cause
    assert where in str(found)


MANY = ("mass moved on", "joint reversed", "another density", "another kind", "body renamed", "joint renamed")
SINGLE = [name for name in PAIRS if name not in MANY]


@pytest.mark.parametrize("name", SINGLE)
def test_one_difference_is_few(name):
    """What hangs below a difference is no further one."""
    found = planted(name).differences
    assert len({d.where for d in found}) == 1, found


ONE_WAY = ("mass moved on", "fixed bodies made one")
BOTH_WAYS = [name for name in PAIRS if name not in ONE_WAY]


@pytest.mark.parametrize("name", represented(BOTH_WAYS, by=BOTH_WAYS[::4].count))
def test_it_is_found_from_the_other_side(name):
    found = compare(PAIRS[name][0], arm())
    assert [d.kind for d in found.differences] == [d.kind for d in planted(name).differences]


def test_models_are_compared_with_mechanisms():
    floating = arm().remove("anchor").mechanism
    for base in ("fixed", "floating"):
        assert compare(floating, floating.model(base=base))
        assert compare(floating.model(base=base), floating)
        assert not compare(floating.model(base=base), PAIRS["mass in grams"][0].remove("anchor").mechanism)


def test_other_coordinates_are_a_note():
    for a, b in (OTHER_COORDINATES, OTHER_COORDINATES[::-1]):
        found = compare(a, b)
        assert found, found
        assert "moves alike and has other coordinates" in found.notes[0]


def test_a_frame_that_is_moved_with_all_on_it_is_told_so():
    """The robot is the same: what is on the upper arm is stated in another frame."""
    X = SE3(cardan.spatial.rotations.matrix_from_zyx((0.3, 0.2, 0.1)), (0.1, 0.2, 0.3))
    old = arm()
    J = old.bodies[1].inertia
    back = X.inverse()
    about = J.inertia_at_com.rotated(back.rotation)
    moved = Inertia(J.mass, back.rotation @ J.com + back.translation, about)
    joints = {"shoulder": {"child_pose": back}, "elbow": {"parent_pose": back @ old.joints[2].parent_pose}}
    shapes = [cardan.description.Shape("upper", "collision", s.geometry, back @ s.pose) for s in old.shapes]
    found = compare(old, changed({"upper": moved}, joints, shapes=shapes))
    (difference,) = found.differences
    assert (difference.kind, difference.where) == ("frame", "upper")
    assert "the robot is the same" in difference.cause


@pytest.mark.full
def test_what_urdf_moves_is_the_same_robot():
    for name in cardan.robots.__all__ if hasattr(cardan.robots, "__all__") else ():
        make = getattr(cardan.robots, name)
        try:
            robot = make()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                text = cardan.to_urdf(robot)
        except (CardanError, TypeError, AttributeError):
            continue
        assert {d.kind for d in compare(robot, text).differences} <= {"frame"}, name


def test_a_scale_makes_no_difference():
    for scale in (1e-6, 1e6):
        bodies = {
            b.name: Inertia(b.inertia.mass * scale, b.inertia.com, b.inertia.inertia_at_com * scale)
            for b in arm().bodies
        }
        a = changed(bodies)
        assert compare(a, a)
        bodies["upper"] = Inertia(bodies["upper"].mass * 1.001, bodies["upper"].com, bodies["upper"].inertia_at_com)
        assert [d.where for d in compare(a, changed(bodies)).differences] == ["upper"]
        assert compare(a, changed(bodies), tolerance=0.01)


def test_what_is_no_robot_is_refused(tmp_path):
    with pytest.raises(DTypeError, match="a mechanism, a model, or a robot description"):
        compare(arm(), 3)
    with pytest.raises(ParameterError, match="tolerance"):
        compare(arm(), arm(), tolerance=0.0)
    with pytest.raises(ParameterError, match="tolerance: got 'small', expected a finite number > 0"):
        compare(arm(), arm(), tolerance="small")
    with pytest.raises(DescriptionError):
        compare(arm(), tmp_path / "none.urdf")


def test_results_pickle_and_robots_stay_as_they_are():
    a, b = arm(), PAIRS["mass in grams"][0]
    found = compare(a, b)
    assert pickle.loads(pickle.dumps(found)) == found
    assert a == arm()


def test_the_command(tmp_path, capsys):
    a, b = tmp_path / "a.json", tmp_path / "b.json"
    cardan.save(arm(), a)
    cardan.save(PAIRS["inertia about the origin"][0], b)
    assert main(["compare", str(a), str(a)]) == 0
    assert "no difference" in capsys.readouterr().out
    assert main(["compare", str(a), str(b)]) == 1
    assert "inertia about the centre of mass" in capsys.readouterr().out
    assert main(["compare", str(a), str(b), "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["equal"] is False
    assert told["differences"][0]["where"] == "upper"
    assert main(["compare", str(a), str(tmp_path / "none.json")]) == 1


PAGE = Path(__file__).parents[2] / "docs" / "compare.md"
SHOWN = ("inertia about the origin", "frame turned", "joint reversed", "limits in degrees", "mass moved on")


@pytest.mark.parametrize("name", SHOWN)
def test_the_page_shows_what_is_said(name):
    assert str(compare(arm(), PAIRS[name][0])) in PAGE.read_text(encoding="utf-8")


def _with_loop(joint=None, pose=None, ends=("base", "hand"), **properties):
    m = arm()
    m.add_joint("strut", joint or Revolute((0, 1, 0)), *ends, SE3(), pose or SE3(), **properties)
    return m


LOOPS = {
    "elsewhere": (_with_loop(pose=SE3(translation=(0, 0.2, 0))), "motion", "closes the loop elsewhere"),
    "another kind": (_with_loop(Spherical()), "motion", "another kind of joint"),
    "other bodies": (_with_loop(ends=("base", "camera")), "structure", "closes a loop between other bodies"),
    "damping": (_with_loop(damping=(2.0,)), "joint", "damping"),
}


@pytest.mark.slow
@pytest.mark.parametrize(("other", "kind", "what"), LOOPS.values(), ids=LOOPS.keys())
def test_joints_that_close_loops_are_compared(other, kind, what):
    assert compare(_with_loop(), _with_loop())
    for found in (compare(_with_loop(), other), compare(other, _with_loop())):
        assert [(d.kind, d.where) for d in found.differences] == [(kind, "strut")]
        assert what in found.differences[0].what


def test_a_loop_that_is_turned_round_is_the_same():
    m = arm()
    m.add_joint("strut", Reversed(Revolute((0, 1, 0))), "hand", "base")
    assert compare(_with_loop(), m)


def test_an_angle_that_grows_the_other_way_is_another_joint():
    """Whatever its coordinates are: one joint alone shows it in no mass matrix and, upright, in no bias."""
    one, other = cardan.Mechanism("one"), cardan.Mechanism("one")
    for m, joint in ((one, Revolute((0, 0, 1))), (other, UnboundedRevolute((0, 0, -1)))):
        m.add_body("wheel", Inertia(1.0, (0.1, 0.0, 0.0)))
        m.add_joint("axle", joint, "world", "wheel")
    for found in (compare(one, other), compare(other, one)):
        (difference,) = found.differences
        assert (difference.where, difference.kind) == ("axle", "motion")
        assert difference.what == "moves the other way"


def test_a_base_that_is_fixed_elsewhere_is_not_where_a_free_one_is_put():
    loose = arm().remove("anchor").mechanism
    assert compare(arm(), loose)
    turned = changed(joints={"anchor": {"parent_pose": SE3(matrix_from_zyx((0.0, 0.0, 0.3)))}})
    for found in (compare(turned, loose), compare(loose, turned)):
        assert [(d.kind, d.where) for d in found.differences] == [("motion", "anchor")]
        assert "turned by 17.19 degrees about (1 0 0)" in found.differences[0].cause


def test_bits_of_shapes_may_be_others_if_the_same_shapes_touch():
    def two(upper, lower):
        shape, kinds = arm().shapes[0], {"upper": upper, "lower": lower}
        return changed(shapes=[replace(shape, body=body, group=g, mask=m) for body, (g, m) in kinds.items()])

    assert compare(two((1, 2), (2, 1)), two((4, 8), (8, 4)))
    found = compare(two((1, 2), (2, 1)), two((1, 2), (2, 4)))
    assert [d.what for d in found.differences] == ["group, mask: may touch lower, collision 0 in a alone"]


def test_models_of_other_roots_are_compared():
    """Their joints do not stand in the order of the tree."""
    model = arm().remove("anchor").mechanism.model(root="hand", base="floating")
    assert compare(model, model)
    other = changed({"lower": Inertia(9.0)}).remove("anchor").mechanism
    assert {d.where for d in compare(model, other).differences} >= {"lower"}


def test_a_model_with_inputs_is_compared_with_its_own_values():
    model = arm().model()
    found = compare(model, model.with_inputs("mass"))
    assert found


# --- options of commands ---


def test_how_files_are_read_is_said_to_every_command(tmp_path, capsys):
    robot = '<robot name="r" xmlns:xacro="x"><link name="l$(arg n)"/></robot>'
    (tmp_path / "r.xacro").write_text(robot)
    (tmp_path / "r.srdf").write_text('<robot name="r"><group name="all"><link name="l2"/></group></robot>')
    pytest.importorskip("xacro")
    arguments = [str(tmp_path / "r.xacro"), "--xacro-arg", "n:=2", "--trusted", "--srdf", str(tmp_path / "r.srdf")]
    assert main(["check", *arguments]) == 0
    assert main(["convert", *arguments[:1], str(tmp_path / "r.json"), *arguments[1:]]) == 0
    assert tuple(cardan.load_mechanism(tmp_path / "r.json").groups) == ("all",)
    assert main(["compare", arguments[0], str(tmp_path / "r.json"), *arguments[1:4]]) == 1
    assert "all: is among the groups of b alone" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["check", arguments[0], "--xacro-arg", "n=2"])
    assert "expected NAME:=VALUE" in capsys.readouterr().err
