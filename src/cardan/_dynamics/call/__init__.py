"""The way of a call: from arguments to a program, and from the program's results to what the caller gets.

Begin with `function.py`: a call takes the fast path that an earlier one left (`sites.py`), or `_call`, `compiled` and
`_made`, which gives machine code. What comes in: `signature.py` (arrays, numbers, options by name), `arguments.py`
(shapes, dtypes, broadcasting, errors; lists and the like on the fast path). The stages: `traced.py` (a function traced
for one model, or run several times), `store.py` (the same on disk), `compiled.py` (a program on a target; bound
functions). What comes out: `results.py`. `plain.py` makes functions from the programs of others.
"""
