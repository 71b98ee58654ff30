"""Kinematics and dynamics of a model: one textbook page for each algorithm, and the functions users call.

Here belongs what is a function of (model, q, v, a, ...): the pages (`algorithms`), the way of a call from arrays to
a program (`call`), tools on functions, such as derivatives (`functions`), and changes of coordinates, to other
libraries', too (`coordinates`). A page under `@public` is what users call.

May import: `_algebra`, `_compiler`, `_robot`. Pages know nothing of programs but `@public`.
Begin with `algorithms/rnea.py`, then `call/function.py`.
"""
