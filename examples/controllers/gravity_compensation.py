"""PD with gravity compensation: stable at any target, and it needs to know the weight alone.

cardan generate arm.urdf --function gravity_compensation.py:gravity_compensation -o torques.c

Source: Takegaki, Arimoto, A new feedback method for dynamic control of manipulators (1981).
"""

import cardan


@cardan.function(shapes={"q_d": ("nq",), "kp": ("nv",), "kd": ("nv",)})
def gravity_compensation(model, q, v, q_d, kp, kd):
    """Return torques [N m] that pull to q_d; kp [N m/rad], kd [N m s/rad], one for each joint."""
    return kp * cardan.difference(model, q, q_d) - kd * v + cardan.gravity_forces(model, q)
