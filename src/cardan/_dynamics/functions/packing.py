"""Packed matrices: where their entries are."""

from __future__ import annotations

from typing import Any

import numpy as np

from cardan._algebra.errors import ParameterError
from cardan._dynamics.algorithms.crba import mass_matrix
from cardan._dynamics.algorithms.derivatives import InverseDynamicsDerivatives, inverse_dynamics_derivatives
from cardan._dynamics.algorithms.entries import (
    Entries,
    forward_dynamics_derivatives_entries,
    forward_dynamics_hessian_entries,
    inverse_dynamics_derivatives_entries,
    inverse_dynamics_hessian_entries,
    mass_matrix_entries,
    mass_matrix_inverse_entries,
)
from cardan._dynamics.algorithms.forward_derivatives import ForwardDynamicsDerivatives, forward_dynamics_derivatives
from cardan._dynamics.algorithms.forward_second_derivatives import ForwardDynamicsHessian, forward_dynamics_hessian
from cardan._dynamics.algorithms.mass_inverse import mass_matrix_inverse
from cardan._dynamics.algorithms.second_derivatives import InverseDynamicsHessian, inverse_dynamics_hessian
from cardan._dynamics.call.function import Function
from cardan._robot.model import Model

ENTRIES = {
    mass_matrix.made_from: (mass_matrix_entries, None),
    mass_matrix_inverse.made_from: (mass_matrix_inverse_entries, None),
    inverse_dynamics_derivatives.made_from: (inverse_dynamics_derivatives_entries, InverseDynamicsDerivatives),
    forward_dynamics_derivatives.made_from: (forward_dynamics_derivatives_entries, ForwardDynamicsDerivatives),
    inverse_dynamics_hessian.made_from: (inverse_dynamics_hessian_entries, InverseDynamicsHessian),
    forward_dynamics_hessian.made_from: (forward_dynamics_hessian_entries, ForwardDynamicsHessian),
}


def packed_indices(of: Function[Any, Any], model: Model) -> Any:
    """Return where the entries of packed results are: those that can be other than 0 by the branches of the tree.

    Of symmetric matrices these are in the lower triangle. They go row by row, as in compressed sparse rows.

    Args:
        of: `mass_matrix`, `mass_matrix_inverse`, `inverse_dynamics_derivatives`, `forward_dynamics_derivatives`,
            `inverse_dynamics_hessian` or `forward_dynamics_hessian`.
        model: the robot.

    Returns:
        `Entries(rows, columns)`, integers of shape (n,) each; of derivatives a named tuple of these, by their names.

    Raises:
        ParameterError: for another function.

    Examples:
        >>> rows, columns = cardan.packed_indices(cardan.mass_matrix, arm)
        >>> M = cardan.mass_matrix(arm, q)
        >>> bool((cardan.mass_matrix(arm, q, packed=True) == M[rows, columns]).all())
        True
        >>> cardan.packed_indices(cardan.inverse_dynamics_derivatives, arm).dq.rows.shape
        (49,)
    """
    # by what it is made from: `on` and pickles give other objects of the same function
    if not isinstance(of, Function) or of.made_from not in ENTRIES:
        expected = ", ".join(source.signature.name for source in ENTRIES)
        raise ParameterError("function with packed results", got=of, expected=expected)
    entries, named = ENTRIES[of.made_from]
    found = entries(model)
    return _arrays(found) if named is None else named(*map(_arrays, found))


def _arrays(entries: Entries) -> Entries:
    return Entries(*(np.array(places, dtype=np.intp) for places in entries))
