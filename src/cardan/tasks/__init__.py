"""What a robot is asked to reach, and the configurations and velocities that do: inverse kinematics."""
