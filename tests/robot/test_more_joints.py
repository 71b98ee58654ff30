"""Joints beyond the usual: what each of them says of itself, and the joints it is equal to."""

import math

import mpmath
import numpy as np
import pytest

import cardan
from cardan.errors import ParameterError
from cardan.joints import (
    D6,
    Cable,
    Composite,
    Constant,
    ConstantVelocity,
    CoordinateFunction,
    Cylindrical,
    Distance,
    FreeFlyer,
    Helical,
    Linear,
    NaturalSpline,
    OpenSimCustom,
    Polynomial,
    Prismatic,
    Revolute,
    Spline,
    Universal,
    VariableScrew,
    condylar_knee,
)
from cardan.spatial import SE3, Motion, Vector3, exp_se3
from cardan.spatial.rotations import matrix_from_zyx, rotation_about_axis
from mechanisms import central_difference, random_inertia, random_mechanism, random_pose, random_state, times
from representatives import in_turn, represented

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
AXIS = (0.48, 0.64, 0.6)
TILTED = SE3(matrix_from_zyx((0.3, -0.5, 0.8)), (0.1, -0.2, 0.3))
EXACT = 4e-15


def pose(X_pc):
    return np.array(X_pc.homogeneous(), dtype=float)


def numbers(motion):
    return np.array(motion.scalars(), dtype=float)


def assert_equivalent(a, b, to_b=tuple, n=8, atol=EXACT):
    """Check that joint a at (q, v) is joint b at the coordinates to_b(q), a linear map, and the velocities to_b(v)."""
    rng = np.random.default_rng(3)
    for q in a.random_configuration((n,), seed=2).tolist():
        v = rng.normal(size=a.nv).tolist()
        p, w = to_b(q), to_b(v)
        np.testing.assert_allclose(pose(a.transform(q)), pose(b.transform(p)), rtol=0, atol=atol)
        np.testing.assert_allclose(numbers(a.twist(q, v)), numbers(b.twist(p, w)), rtol=0, atol=2 * atol)
        np.testing.assert_allclose(numbers(a.bias(q, v)), numbers(b.bias(p, w)), rtol=0, atol=20 * atol)


def rank(joint, q):
    return np.linalg.matrix_rank(np.array(joint.subspace(q).rows(), dtype=float), tol=1e-9)


# --- cylindrical -----------------------------------------------------------------------------------------------------


def test_cylindrical_is_a_slider_and_a_hinge_in_either_order():
    assert_equivalent(Cylindrical(AXIS), Composite([Prismatic(AXIS), Revolute(AXIS)]))
    assert_equivalent(Cylindrical(AXIS), Composite([Revolute(AXIS), Prismatic(AXIS)]), lambda q: (q[1], q[0]))
    assert_equivalent(Helical(AXIS, 0.3), Cylindrical(AXIS), lambda q: (0.3 * q[0], q[0]))


# --- variable screw --------------------------------------------------------------------------------------------------


def test_a_screw_of_constant_pitch_is_helical():
    assert_equivalent(VariableScrew(AXIS, (0.3,)), Helical(AXIS, 0.3))
    assert_equivalent(VariableScrew(AXIS, (0.3, 0.0, 0.0)), Helical(AXIS, 0.3))
    assert_equivalent(VariableScrew(AXIS, (0.0,)), Revolute(AXIS))


def test_the_pitch_is_the_slope_of_the_translation():
    screw = VariableScrew(Z, (0.2, -0.1, 0.03))
    assert screw.translation(0.0) == 0.0
    assert screw.translation(2.0) == pytest.approx(0.2 * 2 - 0.1 * 4 / 2 + 0.03 * 8 / 3, abs=1e-16)
    for q in (-1.0, 0.0, 2.0):
        slope = central_difference(lambda h, q=q: screw.translation(q + h))
        assert screw.motion_subspace([q])[0].linear[2] == pytest.approx(slope, abs=1e-9)
    assert screw.bias([2.0], [3.0]).linear[2] == pytest.approx((-0.1 + 2 * 0.03 * 2.0) * 9.0, abs=1e-15)


def test_it_counts_its_turns():
    screw = VariableScrew(AXIS, (0.2, 0.01))
    for q in (-9.0, 2.0, 8.0, 40.0):
        (found,) = screw.configuration_from_transform(screw.transform((q,)))
        assert found == pytest.approx(q, abs=1e-13)
    (found,) = VariableScrew(AXIS, (0.0,)).configuration_from_transform(SE3(rotation_about_axis(AXIS, 7.0)))
    assert found == pytest.approx(7.0 - 2.0 * math.pi, abs=1e-14)


# --- spline ----------------------------------------------------------------------------------------------------------

SCREW = Motion((0.3, -0.1, 0.2), (0.4, 0.7, -0.3))
FRAMES = [SE3(), TILTED, TILTED @ TILTED, TILTED @ exp_se3(Motion((0.1, 0.4, 0.2), (-0.6, 0.2, 0.9))), exp_se3(SCREW)]


def test_a_rail_that_is_straight_but_for_its_middle_has_no_constant_subspace():
    """Four random configurations said that it had, and loops that it closed lacked its bias."""
    straight = [SE3(translation=(0.0, 0.0, 0.05 * k)) for k in range(21)]
    assert Spline(straight).has_constant_motion_subspace is False  # not as it is written
    aside = [SE3(translation=(0.01 * (8 <= k <= 12), 0.0, 0.05 * k)) for k in range(21)]
    rail = Spline(aside)
    ends = [rail.subspace(q) for q in rail.random_configuration((4,), seed=1)]
    assert np.ptp(ends, axis=0).max() < 1e-12
    assert rail.has_constant_motion_subspace is False


@pytest.mark.parametrize("n", [1, 2, 3, pytest.param(5, marks=pytest.mark.full)])
def test_frames_along_a_screw_give_the_screw_everywhere(n):
    spline = Spline([TILTED @ exp_se3(SCREW * (k / n)) for k in range(n + 1)], span=(-1.0, 1.0))
    for q in np.linspace(-2.5, 2.5, 21).tolist():
        expected = TILTED @ exp_se3(SCREW * ((q + 1.0) / 2.0))
        np.testing.assert_allclose(pose(spline.transform([q])), pose(expected), atol=EXACT)
        np.testing.assert_allclose(numbers(spline.twist([q], [2.0])), numbers(SCREW), atol=EXACT)
        np.testing.assert_allclose(numbers(spline.bias([q], [1.3])), 0.0, atol=4 * EXACT)


def test_steps_along_a_line_are_a_slider():
    spline = Spline([SE3(translation=np.array(AXIS) * k) for k in range(4)], span=(0.0, 3.0))
    assert_equivalent(spline, Prismatic(AXIS))


def test_it_leads_from_the_first_frame_to_the_last():
    spline = Spline(FRAMES, span=(2.0, 6.0))
    for q, frame in ((2.0, FRAMES[0]), (6.0, FRAMES[-1])):
        np.testing.assert_allclose(pose(spline.transform([q])), pose(frame), atol=EXACT)
        np.testing.assert_allclose(numbers(spline.bias([q], [1.0])), 0.0, atol=4 * EXACT)
    between = [np.abs(pose(spline.transform([2.0 + k])) - pose(FRAMES[k])).max() for k in (1, 2, 3)]
    assert 0.0 < min(between) < max(between) < 0.5


def test_beyond_its_ends_it_goes_on_along_the_last_screw():
    spline = Spline(FRAMES, span=(0.0, 4.0))
    first, last = spline.screws[0], spline.screws[-1]
    for beyond in (0.1, 1.0, 5.0):
        for q, expected in (
            (-beyond, FRAMES[0] @ exp_se3(first * -beyond)),
            (4 + beyond, FRAMES[-1] @ exp_se3(last * beyond)),
        ):
            np.testing.assert_allclose(pose(spline.transform([q])), pose(expected), atol=EXACT)
        np.testing.assert_allclose(numbers(spline.twist([4.0 + beyond], [1.0])), numbers(last), atol=EXACT)
    assert np.isfinite(pose(spline.transform([1e6]))).all()


def test_it_is_twice_continuously_differentiable_at_its_knots():
    spline = Spline(FRAMES, span=(0.0, 4.0))
    for knot in range(-1, 7):
        before, after = ([float(knot) + side * 1e-9] for side in (-1, 1))
        for what in (lambda q: spline.twist(q, [1.0]), lambda q: spline.bias(q, [1.0])):
            np.testing.assert_allclose(numbers(what(before)), numbers(what(after)), atol=2e-8)


def test_its_derived_motion_is_the_product_of_exponentials():
    """S = sum of the screws, each seen through what follows it, times the rate of its weight: in 40 digits."""
    spline = Spline(FRAMES, span=(0.0, 4.0))
    for q in (-0.3, 0.4, 1.7, 2.5, 3.9):
        with mpmath.workdps(40):
            h = mpmath.mpf("1e-13")
            step = spline.transform([mpmath.mpf(q) - h]).inverse() @ spline.transform([mpmath.mpf(q) + h])
            angular = (step.rotation - step.rotation.T).axial() * (1 / (4 * h))
            expected = [float(e) for e in (*(step.translation * (1 / (2 * h))), *angular)]
        np.testing.assert_allclose(numbers(spline.twist([q], [1.0])), expected, atol=EXACT)


def test_a_spline_that_turns_back_is_singular_there():
    there = SE3(translation=X)
    spline = Spline([SE3(), there, SE3()], span=(-1.0, 1.0))
    assert (rank(spline, [0.0]), rank(spline, [0.5])) == (0, 1)


# --- functions of coordinates ----------------------------------------------------------------------------------------


def test_functions_have_their_values():
    q = [0.5, -2.0]
    assert Constant(3.0)(q) == 3.0
    assert Linear([2.0, 0.0], 1.0)(q) == 2.0
    assert Linear([2.0, 3.0], 1.0)(q) == -4.0
    assert Polynomial([1.0, 2.0, 4.0])(q) == 3.0
    assert Polynomial([1.0, 2.0, 4.0], coordinate=1)(q) == 13.0
    functions = (Constant(), Linear([0.0, 1.0]), Polynomial([1.0, 1.0], 1), Polynomial([2.0], 1))
    assert [f.coordinates for f in functions] == [(), (1,), (1,), ()]


def test_a_natural_spline_passes_through_its_points_smoothly():
    x, y = [-1.0, 0.1, 0.5, 2.0], [0.2, 0.1, 0.3, -0.1]
    f = NaturalSpline(x, y)
    np.testing.assert_allclose([f([e]) for e in x], y, atol=1e-16)
    for k, knot in enumerate(x):
        slopes = [(f([knot + side * 1e-6]) - f([knot])) / (side * 1e-6) for side in (-1, 1)]
        assert slopes[0] == pytest.approx(slopes[1], abs=1e-5)
        curvature = (f([knot + 1e-4]) - 2.0 * f([knot]) + f([knot - 1e-4])) / 1e-8
        assert abs(curvature) < 1e-3 if k in (0, 3) else abs(curvature) > 0.1
    assert f([-3.0]) - f([-2.0]) == pytest.approx(f([-2.0]) - f([-1.0]), abs=1e-15)  # straight outside
    assert f([5.0]) - f([4.0]) == pytest.approx(f([3.0]) - f([2.0]), abs=1e-15)
    np.testing.assert_array_equal(f([np.array([0.3, 4.0])]), [f([0.3]), f([4.0])])
    assert NaturalSpline([0.0, 2.0], [1.0, 5.0])([3.0]) == pytest.approx(7.0, abs=1e-15)


def test_a_natural_spline_is_scipys():
    interpolate = pytest.importorskip("scipy.interpolate")
    x, y = [-1.0, 0.1, 0.5, 2.0, 2.2], [0.2, 0.1, 0.3, -0.1, 0.7]
    expected, f = interpolate.CubicSpline(x, y, bc_type="natural"), NaturalSpline(x, y)
    at = np.linspace(-1.0, 2.2, 50)
    np.testing.assert_allclose(f([at]), expected(at), atol=4e-15)


# --- OpenSim's custom joint ------------------------------------------------------------------------------------------


def each(k, n):
    return Linear([float(k == i) for i in range(n)])


def test_a_custom_joint_of_its_coordinates_is_a_d6():
    axes = [Z, X, (0.0, 0.6, 0.8)]
    custom = OpenSimCustom(
        [*"abcdef"],
        rotations=[each(k, 6) for k in (3, 4, 5)],
        translations=[each(k, 6) for k in (0, 1, 2)],
        rotation_axes=axes,
        translation_axes=[X, (0.6, 0.8, 0.0), Z],
    )
    assert_equivalent(custom, D6(linear=[X, (0.6, 0.8, 0.0), Z], angular=axes), atol=2 * EXACT)


def test_a_custom_joint_of_linear_functions_is_a_chain_of_joints():
    slopes, offsets = (1.0, -0.5, 0.3, 0.2, 0.0, -0.7), (0.1, 0.2, -0.3, 0.4, 0.5, 0.6)
    f = [Linear([s], o) if s else Constant(o) for s, o in zip(slopes, offsets, strict=True)]
    custom = OpenSimCustom(["flexion"], rotations=f[:3], translations=f[3:])
    chain = D6(linear=[X, Y, Z], angular=[X, Y, Z])
    for q in np.linspace(-2.0, 2.0, 7):
        p, w = [s * q + o for s, o in zip((*slopes[3:], *slopes[:3]), (*offsets[3:], *offsets[:3]), strict=True)], [
            1.3 * s for s in (*slopes[3:], *slopes[:3])
        ]  # fmt: skip
        np.testing.assert_allclose(pose(custom.transform([q])), pose(chain.transform(p)), atol=EXACT)
        np.testing.assert_allclose(numbers(custom.twist([q], [1.3])), numbers(chain.twist(p, w)), atol=EXACT)
        np.testing.assert_allclose(numbers(custom.bias([q], [1.3])), numbers(chain.bias(p, w)), atol=4 * EXACT)


def test_a_custom_joint_of_one_function_is_a_screw():
    custom = OpenSimCustom(["angle"], rotations=[Linear([1.0]), Constant(), Constant()],
                           translations=[Polynomial([0.0, 0.2, -0.05, 0.01]), Constant(), Constant()])  # fmt: skip
    assert_equivalent(custom, VariableScrew(X, (0.2, -0.1, 0.03)))


def test_a_custom_joint_is_singular_where_its_axes_align():
    angles = OpenSimCustom([*"abc"], rotations=[each(k, 3) for k in range(3)])
    assert [rank(angles, (0.3, middle, 0.2)) for middle in (0.0, math.pi / 2)] == [3, 2]
    halting = OpenSimCustom(["a"], translations=[Polynomial([0.0, 0.0, 1.0]), Constant(), Constant()])
    assert [rank(halting, (q,)) for q in (0.0, 0.5)] == [0, 1]


def test_a_function_of_the_user_is_welcome():
    class Wave(CoordinateFunction):
        coordinates = (0,)

        def __call__(self, q):
            return 0.1 * cardan.scalar.sin(q[0])

    joint = OpenSimCustom(["phase"], translations=[Wave(), Constant(), Constant()])
    assert joint.motion_subspace([0.7])[0].linear[0] == pytest.approx(0.1 * math.cos(0.7), abs=1e-16)
    assert joint.bias([0.7], [2.0]).linear[0] == pytest.approx(-0.1 * math.sin(0.7) * 4.0, abs=1e-16)


def test_the_knee_has_the_published_coupling():
    """Walker, Rovick and Robertson (1988) at 30 degrees: adduction 1.696 and internal rotation 8.630 degrees."""
    knee, flexion = condylar_knee(), math.radians(30.0)
    np.testing.assert_array_equal(pose(knee.transform([0.0])), np.eye(4))
    _, adduction, rotation = (math.degrees(f([flexion])) for f in knee.rotations)
    assert adduction == pytest.approx(0.0791 * 30 - 5.733e-4 * 900 - 7.682e-6 * 27000 + 5.759e-8 * 810000, abs=1e-12)
    assert rotation == pytest.approx(0.3695 * 30 - 2.958e-3 * 900 + 7.666e-6 * 27000, abs=1e-12)
    assert (round(adduction, 3), round(rotation, 3)) == (1.696, 8.630)
    forward, up, right = knee.transform([flexion]).translation
    assert forward == pytest.approx(1e-3 * (0.1283 * 30 - 4.796e-4 * 900), abs=1e-15)
    assert up == pytest.approx(1e-3 * (0.0683 * 30 - 8.804e-4 * 900 + 3.75e-6 * 27000), abs=1e-15)
    assert right == 0.0
    heel = knee.transform([math.pi / 2]) @ Vector3(0.0, -0.4, 0.0)
    assert heel[0] < -0.35  # flexion brings the heel back


def test_the_left_knee_mirrors_the_right():
    mirror = np.diag([1.0, 1.0, -1.0, 1.0])
    for q in (0.0, 0.4, 2.0):
        left, right = (pose(condylar_knee(side).transform([q])) for side in ("left", "right"))
        np.testing.assert_allclose(left, mirror @ right @ mirror, atol=1e-16)
    assert condylar_knee("left") != condylar_knee()


# --- distance --------------------------------------------------------------------------------------------------------


def test_distance_is_a_free_flyer_with_a_bound():
    rod = Distance(0.1, 0.8)
    assert rod.is_floating
    assert_equivalent(rod, FreeFlyer())
    value, lower, upper = rod.constraint((0.3, 0.0, -0.4, 0.0, 0.0, 0.0, 1.0))
    assert (value, lower, upper) == (pytest.approx(0.5), 0.1, 0.8)
    assert Distance().constraint(rod.neutral()) == (0.0, 0.0, math.inf)
    far = (3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    assert rod.transform(far).translation == (3.0, 0.0, 0.0)  # a limit moves nothing
    batch = np.array([[0.3, 0.0, -0.4, 0, 0, 0, 1], [0, 2.0, 0, 0, 0, 0, 1]])
    np.testing.assert_allclose(rod.constraint(batch.T)[0], [0.5, 2.0])


def test_a_rope_that_gives_way_pulls_back_to_its_bound():
    """Its efforts are the slope of its energy where it is at rest; it never pushes, whatever the damper says."""
    rope = Distance(0.2, 0.5, stiffness=100.0, damping=3.0)
    space, rng = rope.manifold, np.random.default_rng(0)

    def energy(q):
        d = np.linalg.norm(q[:3])
        return 50.0 * (max(d - 0.5, 0.0) ** 2 + max(0.2 - d, 0.0) ** 2)

    for length in (0.1, 0.3, 0.9):
        axis, turn = (e / np.linalg.norm(e) for e in (rng.normal(size=3), rng.normal(size=4)))
        q = (*(length * axis), *turn)
        units = np.eye(6) * 1e-6
        slopes = [(energy(space.integrate(q, e)) - energy(space.integrate(q, -e))) / 2e-6 for e in units]
        np.testing.assert_allclose(rope.efforts(q, [0.0] * 6), np.negative(slopes), atol=1e-6)
    at = lambda x: (x, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)  # noqa: E731
    assert rope.efforts(at(0.6), (1.0, *[0.0] * 5))[0] == pytest.approx(-13.0)
    assert rope.efforts(at(0.6), (-9.0, *[0.0] * 5))[0] == 0.0
    assert rope.efforts(at(0.1), (-1.0, *[0.0] * 5))[0] == pytest.approx(13.0)
    assert rope.efforts(at(0.1), (9.0, *[0.0] * 5))[0] == 0.0
    assert not np.any(rope.efforts(at(0.0), (1.0, *[0.0] * 5)))  # there is no direction
    assert not Distance(0.2, 0.5).has_efforts
    assert Distance(0.2, 0.5).efforts(at(0.9), [0.0] * 6) == (0.0,) * 6
    for wrong in ({"stiffness": -1.0}, {"damping": math.nan}, {"stiffness": "soft"}):
        with pytest.raises(ParameterError, match="of a distance joint"):
            Distance(maximum=1.0, **wrong)


@pytest.mark.slow
@pytest.mark.parametrize(
    "solver", represented(["Featherstone", "XPBD", "SemiImplicit", "Variational"], by=["Featherstone", "XPBD"].count)
)
def test_a_mass_hangs_on_a_rope_that_gives_way(solver):  # on the native target: thousands of steps
    m = cardan.Mechanism("bungee")
    m.add_body("mass", cardan.Inertia(2.0, (0, 0, 0), np.eye(3) * 0.01))
    m.add_joint("rope", Distance(maximum=0.5, stiffness=400.0, damping=40.0), "world", "mass")
    world = m.world()
    q = (0.1, 0.0, -0.4, 0.0, 0.0, 0.0, 1.0)
    state = getattr(cardan.solvers, solver)(world, 5e-3).step(world.state(q=[q]), steps=1600)
    np.testing.assert_allclose(np.linalg.norm(state.q[0, :3]), 0.5 + 2.0 * 9.81 / 400.0, atol=2e-3)
    for k in (1e6, 1e9):  # stiff beyond what an explicit step bears, along no axis
        stiff = m.replace_joint("rope", Distance(maximum=0.5, stiffness=k)).mechanism.world()
        state = getattr(cardan.solvers, solver)(stiff, 0.01).step(stiff.state(q=[(0.3, 0.3, -0.3, *q[3:])]), steps=60)
        assert np.linalg.norm(state.q[0, :3]) < 0.6


# --- cable -----------------------------------------------------------------------------------------------------------


def test_a_cable_stretches_along_its_axis_and_bends_without_twist():
    cable = Cable(AXIS)
    assert all(abs(e.dot(cable.axis)) < 1e-16 for e in cable.across)
    first, second = cable.across
    np.testing.assert_allclose(first.cross(second), cable.axis, atol=1e-15)
    assert Cable(Z).across == (X, Y)
    for q in cable.random_configuration((20,), seed=1).tolist():
        R = cable.transform(q).rotation
        bend = first * q[1] + second * q[2]
        np.testing.assert_allclose(R @ bend, bend, atol=2e-15)  # it turns about its bend
        assert abs(R.axial().dot(cable.axis)) < 1e-15  # and not about its axis
    straight = cable.transform((0.2, 0.0, 0.0))
    np.testing.assert_array_equal(pose(straight), pose(SE3(translation=cable.axis * 0.2)))


def test_a_cable_that_bends_in_one_plane_is_a_slider_and_a_hinge():
    cable = Cable(Z)
    pair = Composite([Prismatic(Z), Revolute(X)])
    for s, angle in ((0.1, 0.0), (-0.3, 1e-9), (0.2, 2.5), (0.0, 4.0)):
        np.testing.assert_allclose(pose(cable.transform((s, angle, 0.0))), pose(pair.transform((s, angle))), atol=EXACT)
        got, expected = (numbers(j.bias(q, v)) for j, q, v in (
            (cable, (s, angle, 0.0), (0.7, 1.3, 0.0)), (pair, (s, angle), (0.7, 1.3))))  # fmt: skip
        np.testing.assert_allclose(got, expected, atol=4 * EXACT)


def test_the_springs_of_a_cable_are_the_slope_of_its_energy():
    cable = Cable(AXIS, stretch_stiffness=500.0, bend_stiffness=0.3, stretch_damping=2.0, bend_damping=0.01)

    def energy(q):
        """Newton's: isotropic in the displacement of the origins and in the rotation vector."""
        turn, place = cable.transform(q)
        bend = cardan.spatial.rotations.rotation_vector_from_matrix(turn)
        return 0.5 * 500.0 * place.norm_squared() + 0.5 * 0.3 * bend.norm_squared()

    q, v = np.array([0.1, 0.5, -0.8]), [0.3, -0.2, 0.4]
    slopes = [central_difference(lambda h, e=e: energy(q + h * e)) for e in np.eye(3)]
    np.testing.assert_allclose(cable.efforts(q, [0.0] * 3), np.negative(slopes), atol=1e-7)
    drag = np.subtract(cable.efforts(q, v), cable.efforts(q, [0.0] * 3))
    np.testing.assert_allclose(drag, [-2.0 * 0.3, 0.01 * 0.2, -0.01 * 0.4], atol=1e-14)
    assert np.dot(drag, v) < 0.0


def test_a_cable_is_singular_where_it_has_bent_by_a_whole_turn():
    assert [rank(Cable(), (0.0, b, 0.0)) for b in (0.0, math.pi, 2 * math.pi)] == [3, 3, 2]


def test_the_nearest_bend_of_a_twisted_pose_leaves_the_twist_out():
    cable, q = Cable(AXIS), (0.2, 0.6, -0.9)
    twisted = cable.transform(q) @ SE3(rotation_about_axis(AXIS, 0.4))
    q_found = cable.nearest_configuration(twisted)
    assert q_found[0] == pytest.approx(0.2)

    def agreement(bend):
        return (cable.transform((0.0, *bend)).rotation.T @ twisted.rotation).trace()

    for step in ((1e-3, 0.0), (-1e-3, 0.0), (0.0, 1e-3), (0.0, -1e-3)):
        assert agreement(q_found[1:]) > agreement(np.add(q_found[1:], step))
    np.testing.assert_allclose(cable.nearest_configuration(cable.transform(q)), q, atol=1e-15)


# --- constant velocity -----------------------------------------------------------------------------------------------

SHAFTS = [ConstantVelocity(), ConstantVelocity(length=0.2), ConstantVelocity((0.6, 0.0, 0.8), Y, length=0.3)]
shafts = pytest.mark.parametrize("joint", SHAFTS)


def shaft(joint):
    return joint.axis1.cross(joint.axis2)


@shafts
def test_a_double_cardan_joint_is_two_universal_joints(joint):
    two = Composite(
        [Universal(joint.axis1, joint.axis2), Universal(joint.axis2, joint.axis1)],
        [SE3(), SE3(translation=shaft(joint) * joint.length)],
    )
    assert_equivalent(joint, two, lambda q: (q[0], q[1], q[1], q[0]))


@shafts
def test_both_shafts_turn_alike(joint):
    """Input by t, then a bend, then output back by t: a bend again, in the housing's direction; so t for t."""
    for k, q in enumerate(joint.random_configuration((20,), seed=1).tolist()):
        t = 0.37 * k
        turn, back = (SE3(rotation_about_axis(shaft(joint), side * t)) for side in (1.0, -1.0))
        R = turn @ SE3(joint.transform(q).rotation) @ back
        again = SE3(R.rotation, turn.rotation @ joint.transform(q).translation)
        found = joint.configuration_from_transform(again)
        np.testing.assert_allclose(pose(joint.transform(found)), pose(again), atol=EXACT)
        assert abs(R.rotation.axial().dot(shaft(joint))) < 1e-15  # no twist in it


@shafts
def test_the_rate_of_the_output_shaft_is_that_of_the_input(joint):
    """With the shafts' directions held in the housing, w_out . out = w_in . in: Hunt's condition, at the rates."""
    a = shaft(joint)
    for q in joint.random_configuration((10,), seed=4).tolist():
        R = joint.transform(q).rotation
        out = R @ a
        S = [R @ column.angular for column in joint.motion_subspace(q)]
        # Out keeps its direction: rate_in a + S dq = rate_out out. Solve for dq and rate_out at rate_in = 1.
        A = np.column_stack([*map(list, S), [-e for e in out]])
        *_, rate_out = np.linalg.solve(A, [-e for e in a])
        assert rate_out == pytest.approx(1.0, abs=1e-13)
    universal = Universal(joint.axis1, joint.axis2)
    R = universal.transform((0.0, 0.8)).rotation
    A = np.column_stack([*(list(R @ c.angular) for c in universal.motion_subspace((0.0, 0.8))), [-e for e in R @ a]])
    assert abs(np.linalg.solve(A, [-e for e in a])[-1] - 1.0) > 0.2  # a single Cardan joint does not


@shafts
def test_the_middle_shaft_bisects_the_angle_of_the_others(joint):
    a = shaft(joint)
    middle = ConstantVelocity(joint.axis1, joint.axis2, length=1.0)
    for q in joint.random_configuration((10,), seed=5).tolist():
        R, m = middle.transform(q)
        assert m.norm_squared() == pytest.approx(1.0)
        assert m.dot(a) == pytest.approx(m.dot(R @ a), abs=1e-15)
        assert a.cross(R @ a).dot(m) == pytest.approx(0.0, abs=1e-15)


def test_a_double_cardan_joint_is_singular_bent_by_half_a_turn():
    assert [rank(ConstantVelocity(), (0.3, q1)) for q1 in (0.0, 1.5, math.pi / 2)] == [2, 2, 1]


def test_it_finds_bends_by_more_than_half_a_turn_by_its_middle_shaft():
    joint = ConstantVelocity(length=0.2)
    for q in ((2.5, 0.4), (-3.0, -1.0), (0.2, 0.3)):
        np.testing.assert_allclose(joint.configuration_from_transform(joint.transform(q)), q, atol=1e-14)


# --- all of them, in models ------------------------------------------------------------------------------------------

MORE = [
    Cylindrical(AXIS),
    VariableScrew(AXIS, (0.2, -0.1, 0.03)),
    Spline(FRAMES, span=(-1.0, 1.0)),
    OpenSimCustom(
        [*"ab"],
        rotations=[each(0, 2), NaturalSpline([-1, 0.1, 1], [0.1, 0.2, -0.3], 1), Polynomial([0, 0.5, 0.3])],
        translations=[Polynomial([0, 0.1, 0.4], 1), Linear([0.3, 0.2], 0.1), Constant(0.2)],
    ),
    condylar_knee(),
    Cable(AXIS),
    Distance(0.1, 0.8),
    ConstantVelocity(length=0.2),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    "joint",
    represented(MORE, by=lambda j: isinstance(j, Cable | VariableScrew)),
    ids=lambda j: type(j).__name__,
)
@pytest.mark.parametrize("base", [pytest.param("fixed", marks=pytest.mark.full), "floating"])
def test_every_algorithm_runs_with_it(joint, base, quick_target):
    """A hinge, the joint, a hinge: the laws on a batch, with --full at compiled speed."""
    model = random_mechanism(3, [Revolute(AXIS), joint, Revolute(Y)], chain=True, armature=False).model(base=base)
    q, v, a = random_state(model, 4, (5,))
    tau = cardan.inverse_dynamics(model, q, v, a)
    np.testing.assert_allclose(cardan.forward_dynamics(model, q, v, tau), a, atol=1e-8)
    M, bias = cardan.mass_matrix(model, q), cardan.bias_forces(model, q, v)
    np.testing.assert_allclose(times(M, a) + bias, tau, atol=1e-11 * np.abs(tau).max())
    gravity = cardan.gravity_forces(model, q)
    np.testing.assert_allclose(
        times(cardan.coriolis_matrix(model, q, v), v) + gravity, bias, atol=1e-11 * np.abs(tau).max()
    )
    np.testing.assert_allclose(cardan.kinetic_energy(model, q, v), 0.5 * np.sum(v * times(M, v), axis=-1), rtol=1e-12)
    np.testing.assert_allclose(times(cardan.mass_matrix_inverse(model, q), times(M, v)), v, atol=1e-8)
    np.testing.assert_allclose(
        cardan.torque_regressor(model, q, v, a) @ model.inertial_parameters(),
        tau, atol=1e-10 * np.abs(tau).max(),
    )  # fmt: skip
    frame = model.body_names[-1]

    def moved(h):
        return cardan.frame_transform(model, cardan.integrate(model, q, h * v), frame)[..., :3, 3]

    J = cardan.jacobian(model, q, frame, at="frame", expressed_in="world")
    np.testing.assert_allclose(times(J, v)[..., :3], central_difference(moved), atol=1e-7)
    momentum = cardan.centroidal_momentum(model, q, v)
    np.testing.assert_allclose(times(cardan.centroidal_momentum_matrix(model, q), v), momentum, atol=1e-11)
    for half in (cardan.inverse_dynamics(model, *(e.astype(np.float32) for e in (q, v, a))),):
        assert half.dtype == np.float32
        np.testing.assert_allclose(half, tau, atol=2e-4 * np.abs(tau).max())


@pytest.mark.full
@pytest.mark.parametrize("joint", MORE, ids=lambda j: type(j).__name__)
def test_its_energy_is_balanced(joint):
    """dE/dt = tau . v along the motion."""
    rng = np.random.default_rng(6)
    m = cardan.Mechanism("one")
    m.add_body("body", random_inertia(rng))
    m.add_joint("joint", joint, "world", "body", random_pose(rng), random_pose(rng))
    model = m.model(base="fixed")
    q, v, a = random_state(model, 7)
    tau = cardan.inverse_dynamics(model, q, v, a)

    def energy(h):
        at, rate = cardan.integrate(model, q, h * v + 0.5 * h * h * a), v + h * a
        return cardan.kinetic_energy(model, at, rate) + cardan.potential_energy(model, at)

    power = float(tau @ v)
    assert central_difference(energy, 1e-5) == pytest.approx(power, abs=1e-6 * (1.0 + abs(power)))


# --- bad parameters --------------------------------------------------------------------------------------------------

REFUSED = [
    (lambda: Cylindrical((0, 0, 0)), r"axis of a cylindrical joint: got \(0\.0, 0\.0, 0\.0\), expected three finite"),
    (lambda: VariableScrew((0, 0, 0)), "axis of a variable screw joint"),
    (
        lambda: VariableScrew(Z, ()),
        r"pitch of a variable screw joint: got \(\), expected a sequence of at least 1 finite",
    ),
    (lambda: VariableScrew(Z, 0.1), "pitch of a variable screw joint: got 0.1"),
    (lambda: VariableScrew(Z, (0.1, math.nan)), "pitch of a variable screw joint: got .*nan"),
    (lambda: VariableScrew(Z, ("a",)), "pitch of a variable screw joint"),
    (lambda: Spline([SE3()]), "frames of a spline joint: got .*, expected at least two poses"),
    (lambda: Spline([SE3(), SE3()]), "frames 0 and 1, apart by .*, expected neighbours that differ"),
    (lambda: Spline([SE3(), TILTED, SE3(rotation_about_axis(Z, math.pi)) @ TILTED]), "frames 1 and 2, .* half a turn"),
    (lambda: Spline(FRAMES, span=(1.0, 1.0)), "span of a spline joint: got .*, expected two numbers, increasing"),
    (lambda: Spline(FRAMES, span=(0.0, 1.0, 2.0)), "span of a spline joint"),
    (lambda: Spline(FRAMES, span=(0.0, math.inf)), "span of a spline joint: got .*inf"),
    (lambda: Spline(FRAMES, span=2.0), "span of a spline joint: got 2.0"),
    (lambda: Constant(math.nan), "value of a constant: got .*nan"),
    (lambda: Linear([]), "slopes of a linear function"),
    (lambda: Linear([1.0], math.inf), "offset of a linear function"),
    (lambda: Polynomial([]), "coefficients of a polynomial"),
    (lambda: Polynomial([1.0], coordinate=-1), "coordinate of a function: got -1, expected an index from 0 to 5"),
    (lambda: Polynomial([1.0], coordinate="flexion"), "coordinate of a function: got 'flexion'"),
    (
        lambda: NaturalSpline([0.0], [1.0]),
        "x of a natural spline: got .*, expected a sequence of at least 2 finite numbers",
    ),
    (lambda: NaturalSpline([0.0, 1.0], [1.0, 2.0, 3.0]), "points of a natural spline: .*, expected as many x as y"),
    (lambda: NaturalSpline([0.0, 0.0], [1.0, 2.0]), "points of a natural spline: .* x increasing"),
    (lambda: OpenSimCustom("q", [Linear([1.0])] * 3), "coordinates of a custom joint: got 'q', expected one to six"),
    (lambda: OpenSimCustom([]), "coordinates of a custom joint"),
    (lambda: OpenSimCustom(["a", "a"]), "coordinates of a custom joint"),
    (lambda: OpenSimCustom([*"abcdefg"]), "coordinates of a custom joint"),
    (lambda: OpenSimCustom(["a"], [Linear([1.0])]), "rotations of a custom joint: got .*, expected three functions"),
    (
        lambda: OpenSimCustom(["a"], [math.sin] * 3),
        "rotations of a custom joint: got .*, expected a CoordinateFunction",
    ),
    (lambda: OpenSimCustom(["a"]), r"read by the functions of a custom joint: got \[\], expected \[0\]"),
    (lambda: OpenSimCustom(["a", "b"], [Linear([1.0])] * 3), r"got \[0\], expected \[0, 1\]"),
    (lambda: OpenSimCustom(["a"], [Linear([1.0, 1.0])] * 3), r"got \[0, 1\], expected \[0\]"),
    (lambda: OpenSimCustom(["a"], [Linear([1.0])] * 3, rotation_axes=[X, Y]), "rotation_axes .* expected three axes"),
    (
        lambda: OpenSimCustom(["a"], [Linear([1.0])] * 3, translation_axes=[X, Y, (0, 0, 0)]),
        "translation_axes of a custom",
    ),
    (lambda: condylar_knee("middle"), "side of a knee: got 'middle', expected 'right' or 'left'"),
    (lambda: Distance(-0.1), r"minimum and maximum of a distance joint: got \(-0\.1, None\), expected 0 <= minimum"),
    (lambda: Distance(0.5, 0.2), "minimum and maximum of a distance joint"),
    (lambda: Distance(0.0, 0.0), "not both 0"),
    (lambda: Distance(0.0, math.nan), "minimum and maximum of a distance joint"),
    (lambda: Distance("a"), "minimum and maximum of a distance joint"),
    (lambda: Cable((0, 0, 0)), "axis of a cable joint"),
    (lambda: Cable(Z, bend_stiffness=-1.0), "bend_stiffness of a cable joint: got -1.0, expected a finite number >= 0"),
    (lambda: Cable(Z, stretch_damping=math.inf), "stretch_damping of a cable joint"),
    (lambda: ConstantVelocity(X, X), "axes of a constant-velocity joint: got .*, expected two orthogonal axes"),
    (lambda: ConstantVelocity((0, 0, 0), X), "axis1 of a constant-velocity joint"),
    (lambda: ConstantVelocity(length=-1.0), "length of a constant-velocity joint: got -1.0, expected a finite"),
]


@in_turn(("make", "message"), REFUSED)
def test_bad_parameters_are_refused_with_a_reason(make, message):
    with pytest.raises(ParameterError, match=message):
        make()


DIFFERENT = [
    (VariableScrew(Z, (0.1,)), VariableScrew(Z, (0.1, 0.2))),
    (Spline(FRAMES), Spline(FRAMES[:-1])),
    (Spline(FRAMES), Spline(FRAMES, span=(0.0, 2.0))),
    (Distance(0.0, 1.0), Distance(0.0, 2.0)),
    (Distance(), FreeFlyer()),
    (Cable(), Cable(bend_stiffness=1.0)),
    (ConstantVelocity(X, Y), ConstantVelocity(Y, X)),
    (OpenSimCustom(["a"], [Linear([1.0])] * 3), OpenSimCustom(["a"], [Linear([2.0])] * 3)),
]


@pytest.mark.parametrize(("a", "b"), DIFFERENT)
def test_equality_sees_parameters(a, b):
    assert a != b
    assert len({a, b}) == 2


def test_a_function_of_one_coordinate_takes_it_alone():
    spline, parabola = cardan.joints.NaturalSpline([0, 1, 2], [0, 1, 3]), cardan.joints.Polynomial([0, 1, 2])
    for function in (spline, parabola):
        for one in (0.5, np.float64(0.5), np.array(0.5), mpmath.mpf(0.5)):
            assert float(function(one)) == float(function([one])) == float(function([0.5]))
