"""What robots do over time: worlds and solvers, contact, tasks, trajectories, identification.

Here belongs what moves or is asked to move: worlds, states and solvers (`simulation`), what touches (`collision`,
`contact`), steps in maximal coordinates (`maximal_steps`), inverse kinematics (`tasks`), motions in time
(`trajectories`), parameters from measurements (`identification`).

May import: `_algebra`, `_compiler`, `_robot`, `_dynamics`.
Begin with `simulation/world.py`, `simulation/solvers/featherstone.py` and `tasks/inverse_kinematics.py`.
"""
