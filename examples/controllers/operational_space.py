"""The tool moves as a spring and a damper would move it; the freedom that is left comes to rest.

cardan generate arm.urdf --function operational_space.py:operational_space --frame tool -o torques.c

Source: Khatib, A unified approach for motion and force control (1987), equations 14 and 51.
"""

import cardan


@cardan.function(shapes={"p_d": (3,), "v_d": (3,), "a_d": (3,)})
def operational_space(model, q, v, p_d, v_d, a_d, frame="tool", kp=400.0, kd=40.0, rest=10.0):
    """Return torques [N m] that move a frame's origin as told; kp [1/s^2], kd and rest [1/s]."""
    J = cardan.jacobian(model, q, frame, expressed_in="world")[:3]
    drift = cardan.jacobian_derivative(model, q, v, frame, expressed_in="world")[:3] @ v
    p = cardan.frame_transform(model, q, frame)[:3, 3]
    M, slow = cardan.mass_matrix(model, q), -rest * v
    felt = cardan.inverse(J @ cardan.solve(M, J.T, positive_definite=True))  # kg, (3, 3)
    a = a_d + kp * (p_d - p) + kd * (v_d - J @ v) - drift
    return J.T @ (felt @ (a - J @ slow)) + M @ slow + cardan.bias_forces(model, q, v)
