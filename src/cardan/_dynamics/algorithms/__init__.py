"""The algorithms, one textbook page each: a claim, the equations, the source, the cost, then code that reads like them.

A page is a function `(model, q, v, ...)` over scalars of any type. It returns scalars, spatial objects or rows; arrays,
batches and programs are no part of it. Under `@public` (`call/public.py`) it is a public function, compiled for users;
a line in `cardan/__init__.py` makes it one of the package's names. `tree` holds the recursions all pages begin with,
`linear` the factorisation, `limbs` how a tree gives way, for derivatives and the inverse mass matrix.
"""
