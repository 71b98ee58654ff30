"""Inertias that no body can have are refused where somebody writes them; files are read with a doubt."""

import numpy as np
import pytest

import cardan
from cardan.errors import ParameterError, ShapeError


@pytest.mark.parametrize("make", [cardan.Mechanism, cardan.WorldBuilder])
@pytest.mark.parametrize(
    ("inertia", "said"),
    [
        (-np.eye(3), r"not positive definite \(principal moments -1, -1, -1 kg"),
        ([[1, 2, 0], [2, 1, 0], [0, 0, 1]], "not positive definite"),
        (np.diag([1.0, 1.0, 5.0]), "1, 1, 5 kg m.2 break the triangle inequality"),
    ],
)
def test_an_inertia_that_no_body_has_is_refused(make, inertia, said):
    """They were taken without a word."""
    thing = make()
    with pytest.raises(ParameterError, match=rf"inertia of body 'a': got '.*{said}.*Inertia.from_origin"):
        thing.add_body("a", inertia=cardan.Inertia(1.0, (0.0, 0.0, 0.0), inertia))
    thing.add_body("a")  # nothing is left of it


@pytest.mark.parametrize("far", [0.0, 1.0, 1e3, 1e6])
def test_rounding_is_no_fault(far):
    """About an origin far away, moments of a rod are known to few digits."""
    rod = cardan.Inertia(2.0, (far, -far, 0.5 * far), np.diag([0.06, 0.06, 0.0]))
    assert rod.faults() == []
    cardan.Mechanism().add_body("rod", rod)
    cardan.Mechanism().add_body("point", cardan.Inertia(2.0, (far, 0.0, 0.0)))


def test_of_symbols_nothing_is_known():
    sympy = pytest.importorskip("sympy")
    assert cardan.Inertia(sympy.Symbol("m")).faults() == []


@pytest.mark.parametrize(
    ("wrong", "mend"),
    [
        (lambda: cardan.SE3(np.eye(4)), r"SE3\.of takes 4x4 matrices"),
        (lambda: cardan.SE3([1.0, 2.0, 3.0]), r"SE3\(translation=p\) a place"),
        (lambda: cardan.SE3((0.0, 0.0, 0.0, 1.0), (1.0, 2.0, 3.0)), r"SE3\.from_quaternion"),
        (lambda: cardan.Inertia(1.0, (0, 0, 0), [1.0, 2.0, 3.0]), r"np\.diag\(\(a, b, c\)\)"),
        (lambda: cardan.Inertia(1.0, (0, 0, 0), [1, 2, 3, 0, 0, 0]), r"\[\[xx, xy, xz\]"),
    ],
)
def test_a_shape_that_does_not_fit_names_the_mend(wrong, mend):
    with pytest.raises(ShapeError, match=mend):
        wrong()
