"""Kinematics and dynamics of a model: one textbook page for each algorithm, and the functions users call.

Here belongs what is a function of (model, q, v, a, ...): the pages (`algorithms`), the way of a call from arrays to
a program (`call`), the public functions (`functions`), changes of coordinates and other libraries' (`coordinates`).

May import: `_algebra`, `_compiler`, `_robot`. Pages know nothing of programs.
Begin with `algorithms/rnea.py`, then `call/function.py`.
"""
