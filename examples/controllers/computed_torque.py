"""Computed torque: through inverse dynamics every joint behaves like a spring and a damper.

cardan generate arm.urdf --function computed_torque.py:computed_torque -o torques.c

Source: Siciliano, Sciavicco, Villani, Oriolo, Robotics (2009), section 8.5.2.
"""

import numpy as np

import cardan


@cardan.function(shapes={"q_d": ("nq",), "v_d": ("nv",), "a_d": ("nv",)})
def computed_torque(model, q, v, q_d, v_d, a_d, kp=100.0, kd=20.0):
    """Return torques [N m] that follow a motion, within limits; kp [1/s^2], kd [1/s]."""
    a = a_d + kp * cardan.difference(model, q, q_d) + kd * (v_d - v)
    tau = cardan.inverse_dynamics(model, q, v, a)
    effort = np.array(model.effort_upper)
    return np.clip(tau, -effort, effort)
