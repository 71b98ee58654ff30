"""Packed matrices: the entries that can be other than 0, and where they are."""

import numpy as np
import pytest

import cardan
from cardan.errors import ParameterError
from mechanisms import random_inertia, random_model, random_state
from representatives import represented

FUNCTIONS = (
    (cardan.mass_matrix, 1),
    (cardan.mass_matrix_inverse, 1),
    (cardan.inverse_dynamics_derivatives, 3),
    (cardan.forward_dynamics_derivatives, 3),
    (cardan.inverse_dynamics_hessian, 4),
    (cardan.forward_dynamics_hessian, 4),
)
LONGEST = (cardan.forward_dynamics_hessian, 4)
each_function = pytest.mark.parametrize(
    ("of", "count"), represented(FUNCTIONS, by=lambda case: case != LONGEST), ids=lambda x: getattr(x, "name", "")
)


def mimicking():
    """Two trees, a branch each, and a hinge that copies one of another branch: its entries are in both."""
    plain = [j for j in cardan.joints.CATALOGUE if type(j).__name__ in ("Revolute", "Spherical", "Mimic", "Universal")]
    return random_model(2, joints=plain * 2)


def two_trees():
    rng = np.random.default_rng(1)
    m = cardan.Mechanism("two")
    for name, parent in (("a", None), ("b", "a"), ("c", "a"), ("other", None), ("d", "other")):
        m.add_body(name, random_inertia(rng))
        if parent:
            m.add_joint(f"to {name}", cardan.joints.Revolute((0.0, 0.6, 0.8)), parent, name)
    return m.model(base="floating")


def parts(results):
    return results if isinstance(results, tuple) and not hasattr(results, "rows") else (results,)


@pytest.mark.slow
@each_function
@pytest.mark.parametrize("make", [mimicking, pytest.param(two_trees, marks=pytest.mark.full)])
def test_nothing_is_left_out(of, count, make, quick_target):
    model = make()
    args = (*random_state(model, 0, shape=(2,)), np.ones((2, model.nv)))[:count]
    full, packed = parts(of(model, *args)), parts(of(model, *args, packed=True))
    for matrix, values, places in zip(full, packed, parts(cardan.packed_indices(of, model)), strict=True):
        np.testing.assert_array_equal(values, matrix[..., places.rows, places.columns])
        rebuilt = np.zeros_like(matrix)
        rebuilt[..., places.rows, places.columns] = values
        if (places.columns <= places.rows).all():
            rebuilt[..., places.columns, places.rows] = values
        np.testing.assert_array_equal(rebuilt, matrix)


SIZES = ((63,), (64,), (111, 111, 63), (113, 113, 64), (63, 111, 63, 111), (64, 113, 63, 113))


@pytest.mark.parametrize(("of", "sizes"), [(of, sizes) for (of, _), sizes in zip(FUNCTIONS, SIZES, strict=True)])
def test_places_are_those_of_branches_and_trees(of, sizes):
    """Trees of 6 + 1 + 1 and 6 + 1 coordinates, the two hinges of the first in branches of their own."""
    found = parts(cardan.packed_indices(of, two_trees()))
    assert tuple(len(places.rows) for places in found) == sizes
    for rows, columns in found:
        assert [*zip(rows, columns, strict=True)] == sorted({*zip(rows, columns, strict=True)})


def test_it_is_an_option_like_any_other(quick_target):
    model = two_trees()
    q, v, _ = random_state(model, 1)
    rows, columns = cardan.packed_indices(cardan.mass_matrix.on("numpy"), model)

    @cardan.function
    def energy(model, q, v):
        M = cardan.mass_matrix(model, q, packed=True)
        return sum((0.5 if i == j else 1.0) * M[n] * v[i] * v[j] for n, (i, j) in enumerate(zip(rows, columns)))  # noqa: B905

    assert energy(model, q, v) == pytest.approx(cardan.kinetic_energy(model, q, v))
    np.testing.assert_array_equal(
        cardan.mass_matrix.bind(model, packed=True)(q), cardan.mass_matrix(model, q)[rows, columns]
    )
    slope = cardan.derivative(cardan.mass_matrix, "q")
    np.testing.assert_array_equal(slope(model, q, packed=True), slope(model, q)[rows, columns])


def test_another_function_is_refused():
    with pytest.raises(ParameterError, match=r"packed results: .*forward_dynamics_derivatives"):
        cardan.packed_indices(cardan.bias_forces, two_trees())
