"""The way of a call: from arguments to a program, and from the program's results to what the caller gets.

Begin with `function.py`: a call takes the fast path that an earlier one left (`sites.py`), or `_call`, `compiled` and
`_made`, which gives machine code. What comes in: `signature.py` (arrays, numbers, options by name), `arguments.py`
(shapes, dtypes, broadcasting, errors), `conversion.py` (lists and the like on the fast path). The stages: `traced.py`
(a function traced for one model), `store.py` (the same on disk), `compiled.py` (a program on a target; bound
functions). What comes out: `results.py`. `repeated.py` and `plain.py` make functions from the programs of others.
"""
