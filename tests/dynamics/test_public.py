"""A public function is its page: what runs, on scalars and on arrays, and what its documentation is made of."""

import inspect

import numpy as np
import pytest

import cardan
from cardan._dynamics.call.public import Public, documented

OWN = """Return what is asked.

    Args:
        q: configurations [rad, m], with the loops closed.

    Returns:
        What is asked [-].

    Source: a book.
    """


@pytest.mark.usefixtures("quick_target")
def test_a_page_runs_on_scalars_as_it_is_written():
    arm = cardan.robots.arm7().model()
    q = arm.random_configuration(seed=0)
    f = cardan.joint_wrenches.kernel(arm, q.tolist(), q.tolist(), q.tolist())
    assert all(isinstance(wrench, cardan.spatial.Force) for wrench in f)
    np.testing.assert_allclose([wrench.scalars() for wrench in f], cardan.joint_wrenches(arm, q, q, q), atol=1e-12)


def test_wrenches_on_bodies_are_rows_or_spatial_forces():
    arm = cardan.robots.arm7().model()
    q = arm.random_configuration(seed=0).tolist()
    rows = np.random.default_rng(0).normal(size=(arm.nbodies, 6)).tolist()
    forces = [cardan.spatial.Force.of(tuple(row)) for row in rows]
    for function in (cardan.inverse_dynamics, cardan.forward_dynamics, cardan.joint_wrenches):
        by_rows, by_forces = (np.array(function.kernel(arm, q, q, q, given), float) for given in (rows, forces))
        np.testing.assert_array_equal(by_rows, by_forces)


def test_what_all_functions_share_is_in_the_documentation_of_each():
    pages = {name: thing for name in cardan.__all__ if isinstance(thing := getattr(cardan, name), Public)}
    assert len(pages) > 50
    for name, function in pages.items():
        assert function.name == name
        assert "\nArgs:\n    model: " in function.__doc__
        assert "    ShapeError, DTypeError: for an array that does not fit." in function.__doc__
        lines = [line for line in function.__doc__.splitlines() if line in inspect.getdoc(function.kernel).splitlines()]
        assert len(lines) >= 8, name  # and its own


def test_what_a_function_says_itself_counts_and_stands_in_its_place():
    said = documented(OWN, ["model", "q", "v"], "A page.\n\nSource: another book.\nCost: O(n).")
    titles = [line for line in said.splitlines() if line.endswith(":") and not line.startswith(" ")]
    assert titles == ["Args:", "Returns:", "Raises:"]
    arguments = said.partition("Args:\n")[2].partition("\n\n")[0].splitlines()
    assert arguments == [
        "    model: the robot.",
        "    q: configurations [rad, m], with the loops closed.",
        "    v: velocities [rad/s, m/s], shape (..., nv).",
    ]
    assert said.endswith("Source: a book.")
    assert documented(OWN.replace("    Source: a book.\n", ""), ["q"], "A.\n\nSource: b.\nCost: O(n).").endswith(
        "Source: b."
    )


def test_a_named_tuple_says_once_what_is_returned():
    said = cardan.eval_fk.__doc__.partition("Returns:\n")[2].partition("Raises:")[0]
    assert said.startswith("    `MaximalState(poses, twists)`.\n")
    assert "\n        twists: [linear; angular] [m/s, rad/s], shape (..., nlinks, 6)" in said
    assert inspect.signature(cardan.eval_fk).return_annotation == "MaximalState[Reals]"
