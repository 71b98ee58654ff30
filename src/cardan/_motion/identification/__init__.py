"""Parameters found from measurements: what can be seen, least squares, physically consistent inertias."""

from cardan._algebra.lazy import imported_later

with imported_later(globals()):
    from cardan._motion.identification.combinations import BaseParameters, base_parameters, parameters, regressor
    from cardan._motion.identification.consistent import ConsistentFit, identify_consistent
    from cardan._motion.identification.least_squares import Identification, identify

__all__ = [
    "BaseParameters", "ConsistentFit", "Identification", "base_parameters", "identify", "identify_consistent",
    "parameters", "regressor",
]  # fmt: skip
