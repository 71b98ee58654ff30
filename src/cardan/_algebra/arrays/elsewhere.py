"""What to write instead, where NumPy or another library would need numbers."""

from __future__ import annotations

from cardan._algebra.errors import TraceError, users_line

_DECIDES = "what it returns would decide what the program does; choose with np.where, np.minimum, np.maximum"
_NONE = "there is no replacement: give its result to the function as an argument"

_DECIDING = ("argmax", "argmin", "argsort", "sort", "partition", "argpartition", "unique", "nonzero", "argwhere")
INSTEAD = {
    **dict.fromkeys(_DECIDING, _DECIDES),
    **dict.fromkeys(("searchsorted", "digitize"), "use np.interp, or cardan.where"),
    **dict.fromkeys(("select", "piecewise", "choose"), "use np.where, one inside the other"),
    **dict.fromkeys(("isclose", "allclose"), "use np.abs(a - b) <= tolerance"),
    **dict.fromkeys(("linalg.lstsq", "linalg.pinv"), "use cardan.solve(A.T @ A, A.T @ b)"),
    **dict.fromkeys(("round", "around", "rint", "fix", "trunc"), "use np.floor(x + 0.5)"),
    "median": _DECIDES,
    "var": "use np.mean((x - np.mean(x)) ** 2)",
    "std": "use np.sqrt(np.mean((x - np.mean(x)) ** 2))",
    "ptp": "use np.max(x) - np.min(x)",
    "linspace": "use a + (b - a) * np.linspace(0.0, 1.0, n)",
    "linalg.cholesky": "use cardan.solve(A, b, positive_definite=True)",
    "nan_to_num": "use np.where(np.isnan(x), 0.0, x)",
    "array_equal": "use np.all(a == b) in np.where",
    "copysign": "use np.where(y < 0, -np.abs(x), np.abs(x))",
    "arcsinh": "use np.log(x + np.sqrt(x * x + 1))",
    "arccosh": "use np.log(x + np.sqrt(x * x - 1))",
    "arctanh": "use 0.5 * (np.log1p(x) - np.log1p(-x))",
    "cbrt": "use np.sign(x) * np.abs(x) ** (1 / 3)",
    "exp2": "use 2.0 ** x",
    "log2": "use np.log(x) / np.log(2.0)",
    "log10": "use np.log(x) / np.log(10.0)",
    "modf": "use np.floor(x)",
    "divmod": "use x // y and x % y",
    "unwrap": "use x - 2 * np.pi * np.floor(x / (2 * np.pi) + 0.5)",
    "gradient": "use np.diff",
}


def refused(name: str) -> TraceError:
    """Return the error for a function of NumPy that cannot act on symbols.

    Args:
        name: with or without its module, such as `"numpy.linalg.eigh"`.
    """
    short = name.removeprefix("numpy.")
    hint = INSTEAD.get(short, _NONE)
    return TraceError(f"np.{short} needs numbers, and a traced function has none yet{users_line()}; {hint}.")
