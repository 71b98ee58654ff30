"""Derives the polynomials of the LLVM target's functions: `python tests/minimax.py` prints them.

Remez' exchange at 60 digits on a weighted error. On intervals of one sign the coefficients are rounded to double one
after the other, from the lowest, and the higher ones fitted anew, so that rounding costs nothing.
"""

import mpmath as mp

SIZES = {"EXP": 11, "LOG": 7, "ASIN": 13, "ATAN": 22}


def targets():
    """Return, by name: what is approximated, the weight that makes its error the whole function's, the interval."""
    small = mp.mpf(2) ** -20
    half_log2, silver = mp.log(2) / 2 + mp.mpf(2) ** -20, (3 - 2 * mp.sqrt(2)) ** 2

    def rest(f, scale=1):  # f(s) = scale (s + s z P(z)), z = s^2
        return lambda z: (f(mp.sqrt(z)) / (scale * mp.sqrt(z)) - 1) / z, lambda z: z

    return {
        "EXP": (lambda r: (mp.expm1(r) - r) / r**2, lambda r: r**2 * mp.exp(-r), -half_log2, half_log2),
        "LOG": (*rest(mp.atanh), small**2, silver * (1 + small)),
        "ATAN": (*rest(mp.atan), small, mp.mpf(1)),
        "ASIN": (*rest(mp.asin), small, mp.mpf(1) / 4),
    }


def horner(coefficients, x):
    total = mp.mpf(0)
    for c in reversed(coefficients):
        total = total * x + c
    return total


def remez(function, weight, low, high, count):
    """Return the `count` coefficients whose weighted error on [low, high] has the smallest maximum."""
    grid = [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * (k + mp.mpf(1) / 2) / 800) for k in range(800)]
    values, weights = [function(x) for x in grid], [weight(x) for x in grid]
    n = count + 1
    points = [round((k + 0.5) * 800 / n) for k in range(n)]
    for _ in range(12):
        system = mp.matrix(n, n)
        for row, p in enumerate(points):
            for k in range(count):
                system[row, k] = grid[p] ** k
            system[row, count] = (-1) ** row / weights[p]
        solution = mp.lu_solve(system, mp.matrix([values[p] for p in points]))
        coefficients = [solution[k] for k in range(count)]
        errors = [w * (v - horner(coefficients, x)) for x, v, w in zip(grid, values, weights, strict=True)]
        peaks = []  # the largest error of every stretch of one sign
        for k, e in enumerate(errors):
            if peaks and (e > 0) == (errors[peaks[-1]] > 0):
                if abs(e) > abs(errors[peaks[-1]]):
                    peaks[-1] = k
            else:
                peaks.append(k)
        while len(peaks) > n:
            peaks.pop(0 if abs(errors[peaks[0]]) < abs(errors[peaks[-1]]) else -1)
        if len(peaks) < n or peaks == points:
            break
        points = peaks
    return coefficients


def minimax(name):
    """Return the coefficients as doubles."""
    with mp.workdps(60):
        function, weight, low, high = targets()[name]
        if low < 0:
            return [float(c) for c in remez(function, weight, low, high, SIZES[name])]
        fixed: list[float] = []
        while len(fixed) < SIZES[name]:
            fixed.append(float(_next(function, weight, low, high, fixed, SIZES[name])))
        return fixed


def _next(function, weight, low, high, fixed, count):
    """Return the coefficient that follows the fixed ones."""
    k, known = len(fixed), [mp.mpf(c) for c in fixed]
    return remez(lambda x: (function(x) - horner(known, x)) / x**k, lambda x: weight(x) * x**k, low, high, count - k)[0]


def weighted_error(name, coefficients):
    """Return log2 of the largest error relative to the function."""
    with mp.workdps(60):
        function, weight, low, high = targets()[name]
        grid = [low + (high - low) * k / 1000 for k in range(1001)]
        exact = [mp.mpf(c) for c in coefficients]
        return float(mp.log(max(abs(weight(x) * (function(x) - horner(exact, x))) for x in grid if x), 2))


if __name__ == "__main__":
    for key in SIZES:
        found = minimax(key)
        print(f"{key} = (  # error 2^{weighted_error(key, found):.1f}")
        for number in found:
            print(f"    {number!r},")
        print(")")
