"""Certificates: every joint that ships gets one, and every planted fault is caught and named."""

import functools
import json
import math
from pathlib import Path

import numpy as np
import pytest

import cardan
from cardan._reach.verification.check import Samples, derivative
from cardan.errors import DTypeError, ParameterError
from cardan.joints import CATALOGUE
from cardan.verification import CHECKS
from linkages import WattSlider, WattWithin
from planted_faults import FAULTS, Polar, Sign
from representatives import represented

ALWAYS = {"Fixed", "Mimic", "Revolute", "Spherical"}  # and one of a user, below
FIRST_OF_EACH_CHECK = [next(fault for fault in FAULTS if fault[1] == name) for name in {f[1]: None for f in FAULTS}]
LONG = {"limits", "rate of the coordinates", "no memory", "off the manifold", "serialisation", "equivalent chain"}
LONG |= {"float32", "smooth", "value"}


def named(x):
    return type(x).__name__ if isinstance(x, cardan.Joint) else ""


@functools.cache
def certificate_of_sign():
    return cardan.verify_joint(Sign(), samples=4)


@pytest.fixture
def samples(request):
    """As many configurations as by default; without --full a third of them."""
    return 12 if request.config.getoption("--full") else 4


def fits_in_a_hundred_columns(certificate):
    return max(map(len, str(certificate).splitlines())) <= 100


@pytest.mark.full
@pytest.mark.parametrize("joint", represented(CATALOGUE, by=lambda joint: named(joint) in ALWAYS), ids=named)
def test_every_joint_that_ships_passes(joint, samples):
    certificate = cardan.verify_joint(joint, samples)
    assert certificate.passed, str(certificate)
    assert [f.name for f in certificate.findings] == [c.name for c in CHECKS]
    reasons = {f.name: f.note for f in certificate.findings if f.status == "skipped"}
    always = {"equivalent chain", "off the manifold", "limits", "rank"}
    assert reasons.keys() <= always
    assert certificate.cost.operations > 0 or joint.nv == 0
    assert fits_in_a_hundred_columns(certificate)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("joint", "name", "words"),
    represented(FAULTS, by=lambda fault: fault in FIRST_OF_EACH_CHECK and fault[1] not in LONG),
    ids=named,
)
def test_a_planted_fault_is_caught_and_named(joint, name, words, samples):
    certificate = certificate_of_sign() if isinstance(joint, Sign) else cardan.verify_joint(joint, samples)
    assert not certificate.passed
    first = certificate.failures[0]
    assert (first.name, words in first.message) == (name, True), first.message
    assert first.identity in first.message
    assert first.error > first.tolerance
    assert first.message in " ".join(str(certificate).split())
    assert fits_in_a_hundred_columns(certificate)


@pytest.mark.slow
def test_the_faultless_one_passes_and_equals_its_chain():
    certificate = cardan.verify_joint(Polar(), samples=5, seed=3)
    assert certificate.passed, str(certificate)
    assert {f.name: f.status for f in certificate.findings}["equivalent chain"] == "passed"
    assert certificate.verdict == "passed: 35 checks, 1 skipped"


@pytest.mark.slow
def test_where_and_by_how_much():
    finding = certificate_of_sign().failures[0]
    assert len(finding.q) == 2
    assert finding.error == pytest.approx(2.0 * max(1.0, 0.4 + finding.q[1]), rel=1e-6)
    assert "S[1, 0] is" in " ".join(finding.entries)
    assert "at q = (" in finding.message


@pytest.mark.slow
def test_singular_configurations_are_found_and_named(samples):
    zyx = cardan.verify_joint(cardan.joints.SphericalZYX(), samples)
    assert {s.text for s in zyx.singularities} == {
        "rank 2 at pitch = pi/2, any yaw, roll",
        "rank 2 at pitch = -pi/2, any yaw, roll",
    }
    for s in zyx.singularities:
        assert abs(s.q[1]) == pytest.approx(math.pi / 2, abs=1e-6)
    assert cardan.verify_joint(cardan.joints.Universal(), samples).singularities == ()


@pytest.mark.slow
def test_plain_data_is_stable():
    certificate = certificate_of_sign()
    data = json.loads(json.dumps(certificate.plain(), allow_nan=False))
    assert list(data) == [
        *("certificate", "joint", "type", "nq", "nv", "samples", "seed", "passed", "verdict"),
        *("findings", "singularities", "cost", "limits"),
    ]
    assert (data["certificate"], data["type"], data["nq"], data["passed"]) == (1, "Sign", 2, False)
    keys = ["name", "identity", "status", "error", "tolerance", "q", "v", "entries", "cause", "note", "message"]
    assert all(list(f) == keys for f in data["findings"])
    assert list(data["cost"]) == ["operations", "derived_operations"]
    again = cardan.verify_joint(Sign(), samples=4).plain()
    assert again["findings"] == certificate.plain()["findings"]


def test_errors_at_the_door():
    with pytest.raises(DTypeError, match=r"a .*expected an instance of a cardan\.Joint. Pass an instance: Polar"):
        cardan.verify_joint(Polar)
    with pytest.raises(ParameterError, match="samples of verify_joint: got 1, expected two or more"):
        cardan.verify_joint(Polar(), samples=1)


def test_differences_reach_twelve_digits():
    value, estimate = derivative(lambda t: np.array([math.sin(1.0 + t), math.exp(t)]))
    np.testing.assert_allclose(value, [math.cos(1.0), 1.0], atol=1e-12)
    assert estimate < 1e-11
    _, doubtful = derivative(lambda t: np.array([abs(t + 0.001)]))
    assert doubtful > 1e-3


def test_the_documentation_shows_these_messages():
    page = (Path(__file__).parents[2] / "docs" / "verification.md").read_text()
    for joint, name, words in FAULTS:
        row = next(line for line in page.splitlines() if line.startswith(f"| `{named(joint)}` | {name} |"))
        assert words.replace("`", "") in row.replace("`", "") or words in "lower <= limit_coordinates(q) <= upper"


# --- joints that are defined somewhere only --------------------------------------------------------------------------


@pytest.mark.full
def test_a_linkage_passes_within_limits_or_its_domain():
    certificate = cardan.verify_joint(WattSlider(), 3, limits=cardan.Limits([-0.3], [0.3]))
    assert certificate.passed, str(certificate)
    assert "within (-0.3,) to (0.3,)" in str(certificate)
    assert certificate.plain()["limits"] == [[-0.3], [0.3]]
    everywhere = cardan.verify_joint(WattSlider(), 3)
    assert not everywhere.passed
    assert "If the joint ends there, say so by its `domain`" in " ".join(str(everywhere).split())
    for joint in (WattWithin(), cardan.joints.reverse(WattWithin())):
        certificate = cardan.verify_joint(joint, 3)
        assert certificate.passed, str(certificate)


@pytest.mark.full
def test_a_wrong_subspace_is_still_found_within_limits():
    class Wrong(WattWithin):
        def motion_subspace(self, q):
            return [s * 1.001 for s in super().motion_subspace(q)]

    assert "motion subspace" in {f.name for f in cardan.verify_joint(Wrong(), 3).failures}


def test_limits_outside_of_the_domain_are_refused():
    with pytest.raises(ParameterError, match=r"limits of WattWithin.*positions of its domain, \(-0\.3,\) to \(0\.3,\)"):
        cardan.verify_joint(WattWithin(), limits=cardan.Limits([0.4], [0.5]))
    with pytest.raises(ParameterError, match="1 numbers"):
        cardan.verify_joint(WattWithin(), limits=cardan.Limits([0.1, 0.1], [0.2, 0.2]))


@pytest.mark.slow
def test_what_samples_and_searches_keeps_to_the_domain():
    joint = WattWithin()
    q = joint.random_configuration((30,), seed=0)
    assert np.abs(q).max() <= 0.3
    assert joint.random_configuration((50,), seed=0, limits=cardan.Limits([0.2], [9.0])).min() >= 0.2
    found = cardan.evaluate_joint(joint, "configuration_from_transform", cardan.evaluate_joint(joint, "transform", q))
    np.testing.assert_allclose(found, q, atol=1e-9)
    assert joint.configuration_from_transform(joint.transform([0.3]))[0] == pytest.approx(0.3)
    assert abs(joint.nearest_configuration(cardan.SE3(translation=(0.0, 0.0, 5.0)))[0]) <= 0.3 + 1e-12


def test_the_neutral_configuration_is_in_the_domain():
    class Above(WattSlider):
        domain = cardan.Limits([0.1], [0.3])

    assert Above().neutral() == (0.2,)
    m = cardan.Mechanism("watt")
    m.add_body("coupler", cardan.Inertia(1.0, (0.0, 0.0, 0.1), np.eye(3) * 0.01))
    m.add_joint("watt", Above(), "world", "coupler")
    np.testing.assert_array_equal(m.model().neutral(), [0.2])


def test_a_mechanism_takes_the_domain_for_limits():
    def of(limits):
        m = cardan.Mechanism("watt")
        m.add_body("coupler", cardan.Inertia(1.0, (0.0, 0.0, 0.1), np.eye(3) * 0.01))
        m.add_joint("watt", WattWithin(), "world", "coupler", limits=limits)
        return m.model()

    for limits, bounds in (
        (None, (-0.3, 0.3)),
        (cardan.Limits(upper=[0.1], effort=[5.0]), (-0.3, 0.1)),
        (cardan.Limits([-0.2], [0.2]), (-0.2, 0.2)),
    ):
        model = of(limits)
        assert (model.lower[0], model.upper[0]) == bounds
    assert of(cardan.Limits(effort=[5.0])).effort_upper[0] == 5.0
    with pytest.raises(
        ParameterError, match=r"limits of joint 'watt': upper: got \(0\.5,\), expected at most \(0\.3,\)"
    ):
        of(cardan.Limits([-0.2], [0.5]))


def test_domains_of_joints_made_of_joints():
    watt = WattWithin()
    assert cardan.joints.Reversed(watt).domain == watt.domain
    assert cardan.joints.Composite([watt, cardan.joints.Revolute()]).domain.upper == (0.3, np.inf)
    assert cardan.joints.Mimic(watt, "lead", -2.0, 0.1).domain == cardan.Limits([-0.09999999999999999], [0.2])
    assert cardan.joints.Revolute().domain == cardan.Limits()


@pytest.mark.slow
def test_eval_ik_of_a_linkage_finds_its_angle_from_the_pose_alone():
    m = cardan.Mechanism("watt")
    m.add_body("coupler", cardan.Inertia(1.0, (0.0, 0.0, 0.1), np.eye(3) * 0.01))
    m.add_joint("watt", WattWithin(), "world", "coupler", limits=cardan.Limits([-0.29], [0.29]))
    model = m.model()
    q = model.random_configuration((50,), seed=1)
    poses, twists = cardan.eval_fk(model, q, np.ones((50, 1)))
    found = cardan.eval_ik(model, poses, twists)
    np.testing.assert_allclose(found.q, q, atol=1e-9)
    np.testing.assert_allclose(found.v, 1.0, atol=1e-9)


def test_nothing_is_asked_beyond_the_limits():
    """A linkage has no pose there: a step of a radian from within was asked to lead somewhere."""
    samples = Samples(WattSlider(), limits=cardan.Limits([-0.3], [0.3]))
    assert samples.within((0.25,), (-0.1,)) == (-0.1,)
    for v in (1.0, -3.0, 40.0):
        (moved,) = samples.within((0.25,), (v,))
        assert moved / v in (0.5**k for k in range(1, 60))
        assert samples.holds((0.25 + moved,))
