"""Random expressions as nested tuples, and the same in disguise, to test what finds equals."""

from cardan import scalar

VARIABLES = ("a", "b", "c")
CONSTANTS = (0.1, 0.5, 2.0, 3.0, -0.7, 1.0 / 3.0, 1e-9, 6.5e4, 0.30000000000000004)
UNARY = ("sin", "cos", "tan", "exp", "root", "abs", "atan")
BINARY = ("+", "-", "*", "/", "*", "+", "-", "where")


def random_expression(rng, depth):
    """Return an expression of the variables."""
    if depth == 0 or rng.random() < 0.1:
        return str(rng.choice(VARIABLES)) if rng.random() < 0.9 else float(rng.choice(CONSTANTS))
    if rng.random() < 0.3:
        return (str(rng.choice(UNARY)), random_expression(rng, depth - 1))
    return (str(rng.choice(BINARY)), random_expression(rng, depth - 1), random_expression(rng, depth - 1))


def value(e, at, number=float):
    """Return the value of an expression, given those of the variables, scalars of any type, and what numbers are."""
    if isinstance(e, str):
        return at[e]
    if isinstance(e, float):
        return number(e)
    op, *args = e
    x = [value(arg, at, number) for arg in args]
    if op == "where":
        return scalar.where(at["a"] < x[0] + 0.123, x[1], x[1] * x[0])
    if op == "root":
        return scalar.sqrt(1.0 + x[0] * x[0])
    if op == "abs":
        return scalar.absolute(x[0])
    if op == "atan":
        return scalar.atan2(x[0], 1.0 + x[0] * x[0])
    if len(x) == 1:
        return -x[0] if op == "neg" else getattr(scalar, op)(x[0])
    a, b = x
    return a + b if op == "+" else a - b if op == "-" else a * b if op == "*" else a / (b * b + 1.25)


def disguised(rng, e):
    """Return an equal expression, written otherwise in many places."""
    if not isinstance(e, tuple):
        return _wrapped(rng, e)
    op, *args = e
    args = [disguised(rng, arg) for arg in args]
    same = (op, *args)
    if op == "*" and isinstance(args[1], tuple) and args[1][0] in ("+", "-") and rng.random() < 0.6:
        sign, b, c = args[1]
        same = (sign, ("*", args[0], b), ("*", c, args[0]))
    elif op in ("+", "*") and rng.random() < 0.5:
        same = (op, args[1], args[0])
    elif op == "-" and rng.random() < 0.5:
        same = ("neg", ("-", args[1], args[0]))
    elif op in ("sin", "tan", "atan") and rng.random() < 0.5:
        same = ("neg", (op, ("neg", args[0])))
    elif op in ("cos", "abs", "root") and rng.random() < 0.5:
        same = (op, ("neg", args[0]))
    elif op in ("sin", "cos") and isinstance(args[0], tuple) and args[0][0] == "+":
        _, b, c = args[0]
        parts = [("sin", b), ("cos", c), ("cos", b), ("sin", c)]
        parts = parts if op == "sin" else [("cos", b), ("cos", c), ("neg", ("sin", b)), ("sin", c)]
        same = ("+", ("*", *parts[:2]), ("*", *parts[2:]))
    return _wrapped(rng, same) if rng.random() < 0.3 else same


def _wrapped(rng, e):
    """Return e with something added that vanishes, or times something that is 1."""
    b = str(rng.choice(VARIABLES))
    kind = rng.integers(6)
    if kind == 0:
        return ("+", ("-", e, ("sin", b)), ("sin", b))
    if kind == 1:
        return ("*", e, ("+", ("*", ("sin", b), ("sin", b)), ("*", ("cos", b), ("cos", b))))
    if kind == 2:
        return ("*", e, ("-", ("*", ("root", b), ("root", b)), ("*", b, b)))
    if kind == 3:
        return ("neg", ("neg", e))
    return ("-", ("+", ("*", 3.0, e), b), ("+", ("+", b, e), e)) if kind == 4 else e
