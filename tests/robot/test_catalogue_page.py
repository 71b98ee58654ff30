"""The catalogue page says what the code says, and its formulas are those of the joints."""

import inspect
import sys
from pathlib import Path

import numpy as np
import pytest

from cardan import joints
from cardan._robot.joints import CATALOGUE, Composite, Ellipsoid, Mimic, Universal, VariableScrew, catalogue
from cardan.spatial import SE3, Motion, exp_se3, log_se3
from duals import duals, tangent

DOCS = Path(__file__).parents[2] / "docs"
IMAGES = DOCS / "images" / "joints"
sys.path.insert(0, str(DOCS))

import build_joints as build  # noqa: E402
from joint_pictures import Picture  # noqa: E402

# of those whose example is built from joints with a constant S, one more
CHANGING = (
    Composite([Universal(), Ellipsoid((0.5, 0.7, 1.1))], [SE3(), SE3(translation=(0.1, 0.2, 0.3))]),
    Mimic(VariableScrew(pitch=(0.2, -0.1)), "primary", multiplier=-0.5, offset=0.2),
)
each_type = pytest.mark.parametrize(("joint", "entry"), build.entries(), ids=lambda x: type(x).__name__)


def test_the_page_is_up_to_date():
    assert (DOCS / "joints.md").read_text(encoding="utf-8") == build.page(), "run: python docs/build_joints.py"


@each_type
def test_every_type_is_public_and_has_its_entry_and_its_picture(joint, entry):
    assert type(joint).__name__ in joints.__all__
    assert set(entry.elsewhere) <= set(build.PEERS)
    assert type(Picture.of(joint, entry.picture).joint) is type(joint)
    assert (IMAGES / f"{type(joint).__name__.lower()}.png").read_bytes().startswith(b"\x89PNG")


def test_nothing_is_left_of_a_type_that_is_gone():
    types = {type(joint) for joint in CATALOGUE}
    files = {Path(inspect.getfile(kind)).with_name(f"{kind.__name__.lower()}.toml") for kind in types}
    assert files == set(Path(catalogue.__file__).parent.glob("*.toml"))
    assert {file.stem for file in IMAGES.iterdir()} == {kind.__name__.lower() for kind in types} | {"catalogue"}
    assert sum(file.stat().st_size for file in IMAGES.iterdir()) < 1.5e6


@pytest.mark.parametrize("joint", [*CATALOGUE, *CHANGING], ids=lambda joint: type(joint).__name__)
def test_formulas(joint):
    rng = np.random.default_rng(3)
    for q in joint.random_configuration((4,), seed=2):
        v = rng.normal(size=joint.nv)
        said = evaluated(joint, q, v)
        X, S, c = numbers(joint, q, v)
        np.testing.assert_allclose(said["R"], X[:3, :3], atol=1e-12)
        np.testing.assert_allclose(said["p"], X[:3, 3], atol=1e-12)
        np.testing.assert_allclose(np.reshape(said["S"], (-1, 6)), S, atol=1e-12)
        np.testing.assert_allclose(said["c"], c, atol=1e-11)


@pytest.mark.parametrize("joint", [j for j in CATALOGUE if j.nv], ids=lambda joint: type(joint).__name__)
def test_singular_configurations(joint):
    def smallest(q):
        S = [np.array(s.scalars(), dtype=float) for s in joint.motion_subspace([float(e) for e in q])]
        return np.linalg.svd(S, compute_uv=False)[-1]

    singular = build.Entry.of(joint).singular
    if singular.startswith("never"):
        assert min(smallest(q) for q in joint.random_configuration((200,), seed=5)) > 0.05
    if singular.startswith("q1 = ±π/2"):
        for q1 in (-np.pi / 2, np.pi / 2):
            q = np.array([0.3, q1, -0.7][: joint.nq])
            assert smallest(q) < 1e-15 < 1e-3 < smallest(q + 0.01)


def test_no_formula_is_missing():
    for joint in (*CATALOGUE, *CHANGING):
        said = evaluated(joint, joint.random_configuration(seed=1), np.ones(joint.nv))
        assert {"R", "p", "S", "c"} <= said.keys(), type(joint).__name__


@each_type
def test_each_coordinate_has_its_meaning(joint, entry):
    q, v = entry.meanings(joint)
    assert joint.primaries or (len(q), len(v)) == (joint.nq, joint.nv)
    for names, meanings in zip(build.layout(joint), (q, v), strict=True):
        assert tuple(meanings) == names
        assert all(unit for unit, _ in meanings.values())
        assert not names or meanings[names[0]][1]


def numbers(joint, q, v):
    """X (4 x 4), the columns of S, c."""
    q, v = [float(e) for e in q], [float(e) for e in v]
    S = [np.array(s.scalars(), dtype=float) for s in joint.motion_subspace(q)]
    return homogeneous(joint.transform(q)), np.reshape(S, (-1, 6)), np.array(joint.bias(q, v).scalars(), dtype=float)


def homogeneous(X):
    return np.array(SE3.of(X).homogeneous(), dtype=float)


def evaluated(joint, q, v):
    """What the page's formulas give."""
    names = vocabulary() | {"q": np.asarray(q), "v": v}
    names |= {key: plain(value) for key, value in joint.parameters().items()}
    if hasattr(joint, "across"):
        names["across"] = plain(joint.across)
    kind = type(joint).__name__
    if kind in ("Mimic", "Coupled", "Reversed"):
        names["inner"] = lambda q, v: numbers(joint.joint, q, v)
    if kind == "Composite":
        names["chain"] = chain(joint, q, v)
    if kind == "Spline":
        names |= dict(zip(("weight", "slope", "slope2"), weights(joint), strict=True))
    if kind in ("OpenSimCustom", "Coupled"):
        names |= slopes(q, v)
    if kind == "Distance":
        names |= {"minimum": 0.0, "maximum": np.inf}  # random configurations do not keep to the bounds
    exec(build.Entry.of(joint).formulas, names)
    if kind == "Composite":
        assert len(names["S"]) == joint.nv
    return names


def plain(value):
    if isinstance(value, SE3):
        return homogeneous(value)
    if isinstance(value, (tuple, list)):
        items = [plain(item) for item in value]
        return np.array(items) if items and all(isinstance(i, (int, float)) for i in items) else items
    return value


def chain(joint, q, v):
    parts, i, j = [], 0, 0
    for inner, P in zip(joint.joints, joint.placements, strict=True):
        mine, rates = q[i : i + inner.nq], v[j : j + inner.nv]
        parts.append((homogeneous(P), *numbers(inner, mine, rates), rates))
        i, j = i + inner.nq, j + inner.nv
    return parts


def weights(joint):
    """Sums of cubic B-splines: integrals of the uniform quadratic one, with the natural ends of the docstring.

    Returns the weight and its first two derivatives, functions of (k, q).
    """
    n, (first, last) = len(joint.frames) - 1, joint.span
    P = np.polynomial.Polynomial
    pieces = P([1, 3, 3, 1]) / 6, P([1, 3, 3, -2]) / 6, 1 - P([2, -1]) ** 3 / 6

    def ramp(x, order):  # integral of the cubic B-spline's increments: 0 before -1, 1 after 2
        if not -1.0 < x < 2.0:
            return float(x > 0 and not order)
        return (pieces[0] if x < 0 else pieces[1] if x < 1 else pieces[2]).deriv(order)(x)

    def weight(k, q, order=0):
        t = (q - first) * n / (last - first) - (k - 1)
        total = ramp(t, order)
        if k == 1:  # the first screw has gone on for a frame before the first one
            total += sum(ramp(t + j, order) - (not order) for j in (1, 2, 3))
        if k == n:
            total += sum(ramp(t - j, order) for j in (1, 2, 3))
        return total * (n / (last - first)) ** order

    return weight, lambda k, q: weight(k, q, 1), lambda k, q: weight(k, q, 2)


def slopes(q, v):
    """Derivatives of a function of the coordinates: by one of them, and by time, once and twice."""
    q, v = [float(e) for e in q], [float(e) for e in v]
    unit = np.eye(len(q)).tolist()
    return {
        "slope": lambda f, j: tangent(f(duals(q, unit[j]))),
        "f_dot": lambda f: tangent(f(duals(q, v))),
        "f_ddot": lambda f: tangent(tangent(f(duals(duals(q, v), v)))),
    }


def vocabulary():
    """What the formulas may use; the page's head explains it."""
    zero, eye = np.zeros(3), np.eye(3)

    def skew(u):
        return np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]], dtype=float)

    def rotation(u, t):
        return eye + np.sin(t) * skew(u) + (1 - np.cos(t)) * skew(u) @ skew(u)

    def pose(R, p):
        X = np.eye(4)
        X[:3, :3], X[:3, 3] = R, p
        return X

    def Ad(X):
        R, p = X[:3, :3], X[:3, 3]
        return np.block([[R, skew(p) @ R], [np.zeros((3, 3)), R]])

    def ad(a):
        return np.block([[skew(a[3:]), skew(a[:3])], [np.zeros((3, 3)), skew(a[3:])]])

    def product(matrices):
        total = eye
        for matrix in matrices:
            total = total @ matrix
        return total

    return {
        "I": eye,
        "zero": zero,
        **dict(zip(("e_x", "e_y", "e_z"), eye, strict=True)),
        "Rot": rotation,
        "skew": skew,
        "pose": pose,
        "Ad": Ad,
        "ad": ad,
        "product": product,
        "vec": lambda *entries: np.array(entries, dtype=float),
        "col": lambda a, b: np.concatenate([np.broadcast_to(np.asarray(part, dtype=float), 3) for part in (a, b)]),
        "unit_circle": lambda q, order: (q if order == "cos_sin" else q[::-1]) / np.linalg.norm(q),
        "each": lambda axes, angles: [(a, [*zip(axes, angles, strict=True)][k + 1 :]) for k, a in enumerate(axes)],
        "exp": lambda V: homogeneous(exp_se3(Motion.of(tuple(V)))),
        "log": lambda X: np.array(log_se3(SE3.of(X)).scalars(), dtype=float),
        **{name: getattr(np, name) for name in ("sin", "cos", "cross", "dot", "diag")},
        "norm": np.linalg.norm,
        "inv": np.linalg.inv,
    }
