"""What a robot is: joints, bodies, shapes, the mechanism they form and the model made of it.

Here belongs what describes: the protocol of a joint and its implementations (`joints`), bodies, drives and limits
(`records`), shapes and meshes (`geometry`), the undirected mechanism and its edits (`description`), the rooted tree
that algorithms run over (`model`), robots that ship (`shipped`).

May import: `_algebra`, `_compiler` (a joint's subspace and bias are derived by a program).
Begin with `joints/joint.py`, `description/mechanism.py` and `model/model.py`.
"""
