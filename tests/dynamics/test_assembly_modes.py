"""Assembly modes and ranges of clusters: against triangles, circles, and what integrate does."""

import math

import numpy as np
import pytest

import cardan
import linkages
from cardan.errors import AssemblyError, DTypeError, MechanismError, ParameterError, UnknownNameError
from cardan.joints import Revolute
from cardan.spatial import SE3

CRANK, COUPLER, ROCKER, BASE = 0.15, 0.4, 0.3, 0.4


def bars(independent, scale=1.0, crank=CRANK):
    """A four-bar in the plane of x and -z, whose hinges are 0 where a bar lies along that before it."""
    m = cardan.Mechanism("bars")
    for name, parent, x in (("crank", "world", 0.0), ("coupler", "crank", crank), ("rocker", "world", BASE)):
        m.add_body(name, linkages.inertia(1))
        m.add_joint(f"{name}_joint", Revolute((0.0, 1.0, 0.0)), parent, name, SE3(None, (scale * x, 0.0, 0.0)))
    ends = (SE3(None, (scale * x, 0.0, 0.0)) for x in (COUPLER, ROCKER))
    m.add_joint("closing", Revolute((0.0, 1.0, 0.0)), "coupler", "rocker", *ends)
    model = m.model()
    return cardan.clustered(
        model,
        independent=[independent],
        near=cardan.assemble(model, [0.9, 0.3, 1.4], tolerance=1e-12 * max(scale, 1.0)),
    )


def angle(opposite, one, other):
    """The angle between two sides of a triangle."""
    return math.acos((one**2 + other**2 - opposite**2) / (2.0 * one * other))


@pytest.mark.slow
def test_modes_of_a_four_bar_are_its_two_triangles():
    model = bars("crank_joint")
    q = model.neutral()
    modes = cardan.assembly_modes(model, q)
    assert {mode.name for mode in modes} == {"+", "-"}
    np.testing.assert_allclose(modes[0].q, q, atol=1e-12)
    assert modes[0].name == cardan.assembly_mode(model, q)
    end, pivot = CRANK * np.array([math.cos(q[0]), math.sin(q[0])]), np.array([BASE, 0.0])
    diagonal, lies = np.linalg.norm(end - pivot), math.atan2(*(end - pivot)[::-1])
    apart = angle(COUPLER, ROCKER, diagonal)
    turned = sorted((mode.q[2] - lies) % (2 * math.pi) for mode in modes)
    np.testing.assert_allclose(turned, [apart, 2 * math.pi - apart], atol=1e-10)


@pytest.mark.parametrize("name", ["+", "-"])
def test_a_mode_is_chosen_by_name_and_kept(name):
    tree = bars("crank_joint")
    q = next(mode.q for mode in cardan.assembly_modes(tree, tree.neutral()) if mode.name == name)
    for _ in range(60):
        q = cardan.integrate(tree, q, [0.2])
        assert cardan.assembly_mode(tree, q) == name
    many = cardan.integrate(tree, q, np.linspace(-3.0, 3.0, 6).reshape(2, 3, 1))
    assert (cardan.assembly_mode(tree, many) == np.full((2, 3), name)).all()


@pytest.mark.slow
@pytest.mark.parametrize(("make", "count"), [("watt", 4), ("peaucellier", 4), ("parallel_ankle", 16)])
def test_every_mode_has_a_name_of_its_own(make, count):
    model = getattr(linkages, make)().model()
    cluster = cardan.clustered(model)
    q = cluster.neutral()
    modes = cardan.assembly_modes(cluster, q)
    assert len(modes) == len({mode.name for mode in modes}) == count
    every = np.array([mode.q for mode in modes])
    assert cardan.assembly_mode(cluster, every).tolist() == [mode.name for mode in modes]
    out = cardan.converter(cluster, model)
    assert np.abs(cardan.loop_residual(model, out.configuration(every))).max() < 1e-9
    (first,) = [c for c in cluster.connections if c.joint.nv and not c.joint.primaries]
    same = cardan.difference(cluster, q, every)  # of independent coordinates
    np.testing.assert_allclose(same, 0.0, atol=1e-12)
    near = cardan.clustered(
        model, near=out.configuration(every[-1]), independent=first.joint.closed.leading.split(", ")
    )
    np.testing.assert_allclose(near.neutral(), every[-1], atol=1e-9)


@pytest.mark.slow
def test_a_crank_goes_round_and_a_rocker_between_two_lines():
    turning = bars("crank_joint")
    whole = cardan.cluster_range(turning, turning.neutral(), [1.0])
    assert (whole.lower, whole.upper) == (-math.inf, math.inf)
    assert np.isnan(whole.q_lower).all()

    model = bars("rocker_joint")
    q = model.neutral()
    ends = [math.pi - angle(way, ROCKER, BASE) for way in (COUPLER + CRANK, COUPLER - CRANK)]
    x = q[2]
    for speed in (1.0, 2.0):
        found = cardan.cluster_range(model, q, [speed])
        np.testing.assert_allclose([x + speed * found.lower, x + speed * found.upper], sorted(ends), atol=1e-11)
        # crank and coupler are a line there
        for at in (found.q_lower, found.q_upper):
            assert abs(math.sin(at[1])) < 1e-6
    other = cardan.cluster_range(model, q, [-1.0])
    found = cardan.cluster_range(model, q, [1.0])
    np.testing.assert_allclose([other.lower, other.upper], [-found.upper, -found.lower], atol=1e-11)
    for end in (found.lower, found.upper):
        assert np.isfinite(cardan.integrate(model, q, [0.999 * end])).all()
        assert not np.isfinite(cardan.integrate(model, q, [1.001 * end])).any()


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1e9])
def test_of_any_size(scale):
    one, other = bars("rocker_joint"), bars("rocker_joint", scale)
    expected = cardan.cluster_range(one, one.neutral(), [1.0])
    found = cardan.cluster_range(other, one.neutral(), [1.0])
    np.testing.assert_allclose(found.lower, expected.lower, rtol=1e-9)
    assert {mode.name for mode in cardan.assembly_modes(other, one.neutral())} == {"+", "-"}


@pytest.mark.slow
def test_two_freedoms_along_lines():
    """A five-bar ends where its two distal bars are a line: the distance of their ends is known."""
    model = cardan.clustered(cardan.robots.five_bar().model(), independent=["left_joint", "right_joint"])
    q = model.random_configuration(seed=3)
    tree = cardan.robots.five_bar().model()
    out = cardan.converter(model, tree)
    rng = np.random.default_rng(0)
    for v in (*np.eye(2), *rng.normal(size=(3, 2))):
        found = cardan.cluster_range(model, q, v)
        for s, end in ((found.lower, found.q_lower), (found.upper, found.q_upper)):
            if not math.isfinite(s):
                continue
            np.testing.assert_allclose(cardan.difference(model, q, end), s * v, atol=1e-10)
            assert np.abs(cardan.loop_residual(tree, out.configuration(end))).max() < 1e-9
            columns = cardan.loop_jacobian(tree, out.configuration(end))[:, [1, 2]]
            values = np.linalg.svd(columns, compute_uv=False)
            assert values[1] < 1e-6 * values[0]
            assert np.isfinite(cardan.integrate(model, q, 0.99 * s * v)).all()


@pytest.mark.slow
def test_a_parallelogram_ends_where_it_lies_flat_and_bennett_goes_round():
    flat = cardan.clustered(linkages.parallelogram().model())
    found = cardan.cluster_range(flat, flat.neutral(), [1.0])
    np.testing.assert_allclose([found.lower, found.upper], [-math.pi / 2 - 0.5, math.pi / 2 - 0.5], atol=1e-7)
    bennett = cardan.clustered(linkages.bennett().model())
    assert cardan.cluster_range(bennett, bennett.neutral(), [1.0]).upper == math.inf


@pytest.mark.slow
def test_several_clusters_and_what_is_refused():
    digger = cardan.clustered(linkages.excavator().model())
    q = digger.neutral()
    with pytest.raises(MechanismError, match="there are 3 clusters; name a joint: boom_pin, stick_pin, bucket_pin"):
        cardan.assembly_modes(digger, q)
    of_one = {mode.name for mode in cardan.assembly_modes(digger, q, "boom_pin")}
    assert of_one == {"+", "-"}
    boom = digger.slices["boom_pin"][0]  # of its cluster
    for mode in cardan.assembly_modes(digger, q, "cylinder1" if "cylinder1" in digger.joint_names else "boom_pin"):
        np.testing.assert_array_equal(
            np.delete(mode.q, range(boom.start, boom.stop)), np.delete(q, range(boom.start, boom.stop))
        )
    least = cardan.cluster_range(digger, q, np.eye(digger.nv)[[1, 2, 3]])  # a batch
    together = cardan.cluster_range(digger, q, [0.0, 1.0, 1.0, 1.0])
    assert together.upper == least.upper.min()
    assert together.lower == least.lower.max()
    np.testing.assert_array_equal(cardan.cluster_range(digger, q, np.zeros(digger.nv)).upper, math.inf)

    arm = cardan.robots.arm7().model()
    for call in (
        lambda: cardan.assembly_modes(arm, arm.neutral()),
        lambda: cardan.cluster_range(arm, arm.neutral(), arm.neutral()),
    ):
        with pytest.raises(MechanismError, match="model 'arm7' has no clusters"):
            call()
    with pytest.raises(UnknownNameError):
        cardan.assembly_mode(digger, q, "nobody")
    model = bars("rocker_joint")
    with pytest.raises(AssemblyError, match="leaves 'closing' open by"):
        cardan.assembly_modes(model, [0.0, 0.0, 0.1])
    with pytest.raises(ParameterError, match=r"coordinates of rocker_joint: got .*no toggle"):
        cardan.cluster_range(model, cardan.cluster_range(model, model.neutral(), [1.0]).q_upper, [1.0])
    with pytest.raises(ParameterError, match="a closed configuration"):
        cardan.cluster_range(model, [0.0, 0.0, 0.1], [1.0])


@pytest.mark.parametrize(
    "ask",
    [
        cardan.assembly_modes,
        cardan.assembly_mode,
        cardan.assemble_derivatives,
        cardan.mobility,
        cardan.loop_rank,
    ],
)
def test_a_mechanism_in_place_of_a_model_is_refused(ask):
    with pytest.raises(DTypeError, match=r"model' is a Mechanism, expected a cardan\.Model"):
        ask(cardan.robots.four_bar(), [0.0, 0.0, 0.0])


def test_text_in_place_of_a_configuration_is_refused():
    with pytest.raises(DTypeError, match="mobility"):
        cardan.mobility(cardan.robots.four_bar().model(), "arm")


@pytest.mark.parametrize("ask", [cardan.mobility, cardan.loop_rank])
def test_clusters_have_no_loops_left_to_count(ask):
    cluster = cardan.clustered(cardan.robots.four_bar().model())
    with pytest.raises(MechanismError, match=f"^{ask.__name__}: .* its loops are clusters, .* leave nv freedoms"):
        ask(cluster, cluster.neutral())


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_what_is_not_finite_is_refused_by_name(wrong):
    """LAPACK said that an SVD did not converge, and a mode was named."""
    loops, v = cardan.robots.four_bar().model(), [1.0, 0.0, 0.0]
    model = cardan.clustered(loops, ["crank_joint"])
    q, rows = [wrong, 0.0, 0.0], [[0.0] * 3, [wrong, 0.0, 0.0]]
    for ask in (
        lambda: cardan.assemble(loops, q),
        lambda: cardan.assemble_derivatives(loops, q),
        lambda: cardan.loop_rank(loops, q),
        lambda: cardan.mobility(loops, q),
        lambda: cardan.project_velocity(loops, q, v),
        lambda: cardan.project_velocity(loops, [0.0] * 3, q),
        lambda: cardan.assembly_modes(model, q),
        lambda: cardan.assembly_mode(model, q),
        lambda: cardan.cluster_range(model, q, [1.0]),
        lambda: cardan.cluster_range(model, [0.0] * 3, [wrong]),
    ):
        with pytest.raises(
            cardan.errors.NotFiniteError, match=r"\w+: (q|q0|v)\[0\] is (nan|inf), expected a finite number"
        ):
            ask()
    with pytest.raises(cardan.errors.NotFiniteError, match=r"q0\[1, 0\] is"):
        cardan.assemble(loops, rows)


def test_a_range_ends_where_a_dependent_joint_reaches_its_limit():
    """Limits played no part, and `model.lower` has those of independent joints alone."""
    m = cardan.robots.four_bar()
    m = m.replace_joint("rocker_joint", m.model().joint("rocker_joint"), limits=cardan.Limits([-0.05], [0.5])).mechanism
    model = cardan.clustered(m.model(), independent=["crank_joint"])
    whole = cardan.cluster_range(model, model.neutral(), [1.0])
    assert (whole.lower, whole.upper) == (-np.inf, np.inf)
    within = cardan.cluster_range(model, model.neutral(), [1.0], limits=True)
    at = model.q_slice("rocker_joint").start
    np.testing.assert_allclose([within.q_lower[at], within.q_upper[at]], [-0.05, 0.5], atol=2e-9)
    np.testing.assert_allclose(model.neutral()[0] + within.upper, within.q_upper[0], atol=1e-12)
    with pytest.raises(cardan.errors.ParameterError, match="cluster_range: limits: got 'no', expected True or False"):
        cardan.cluster_range(model, model.neutral(), [1.0], limits="no")


def test_random_configurations_and_ranges_of_clusters_drawn_beyond_their_limits():
    """Half of the first were beyond, and a range ended as far beyond the other limit as it began beyond one."""
    m = cardan.robots.four_bar()
    m = m.replace_joint("rocker_joint", m.model().joint("rocker_joint"), limits=cardan.Limits([0.2], [0.6])).mechanism
    model = cardan.clustered(m.model(), independent=["crank_joint"])
    at = model.random_configuration((200,), seed=0)[:, model.q_slice("rocker_joint").start]
    assert ((at >= 0.2) & (at <= 0.6)).all()
    assert at.min() < 0.25 < 0.55 < at.max()
    with pytest.raises(cardan.errors.ParameterError, match=r"crank_joint.*within the limits of all joints"):
        cardan.cluster_range(model, model.neutral(), [1.0], limits=True)
