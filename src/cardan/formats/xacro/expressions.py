"""The expressions of xacro, `${...}`, evaluated by walking their syntax tree: arithmetic, never Python.

Xacro hands them to Python's `eval` behind a check of names that functions within them pass by. Here only what is listed
exists: numbers, texts, lists and dictionaries; operators; comprehensions; the functions below; a few methods of texts
and dictionaries. Every step is paid for out of a budget, and no value may be larger than it allows.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

MAX_STEPS = 400_000
"""Of work in one file: nodes of expressions, entries of values, letters of texts / 16."""
MAX_VALUE = 20_000  # entries of a list with all that is in it; letters of a text are four times as many
MAX_TEXT = 4 * MAX_VALUE
MAX_BITS = 1024  # of a whole number
MAX_EXPRESSION = 4000  # letters
_FAILURES = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError, MemoryError)


class ExpressionError(Exception):
    """An expression that is wrong, or asks for what is not there."""


@dataclass(slots=True)
class Budget:
    """What may still be done for one file."""

    steps: int = MAX_STEPS

    def pay(self, steps: int = 1) -> None:
        """Take steps from the budget.

        Raises:
            ExpressionError: if there are none left.
        """
        self.steps -= steps
        if self.steps < 0:
            raise ExpressionError("the file asks for more work than any robot needs")


@dataclass(frozen=True, slots=True)
class Exposed:
    """A function that expressions may call."""

    call: Callable[..., Any]
    keywords: bool = False


@dataclass(slots=True)
class Evaluator:
    """Evaluates expressions over names.

    Args:
        budget: what it may cost.
        namespace: the type of objects whose entries are attributes, `math.pi`.
    """

    budget: Budget
    namespace: type = dict
    _local: dict[str, Any] = field(default_factory=dict)

    def __call__(self, text: str, names: Mapping[str, Any]) -> Any:
        """Return the value of an expression.

        Raises:
            ExpressionError: for one that is wrong or not allowed.
        """
        if len(text) > MAX_EXPRESSION:
            raise ExpressionError(f"an expression of {len(text)} letters; {MAX_EXPRESSION} are allowed")
        try:
            tree = ast.parse(text.strip(), mode="eval")
            return self._value(tree.body, names)
        except SyntaxError as error:
            raise ExpressionError(f"no expression: {error.msg}") from None
        except _FAILURES as error:
            raise ExpressionError(f"{type(error).__name__}: {str(error)[:200]}") from None

    def _value(self, node: ast.AST, names: Mapping[str, Any]) -> Any:
        self.budget.pay()
        rule = _RULES.get(type(node))
        if rule is None:
            raise ExpressionError(f"{type(node).__name__} is not allowed in expressions")
        return self.kept(rule(self, node, names))

    def kept(self, value: Any) -> Any:
        """Return a value, if it is of a kind and a size that is allowed."""
        if isinstance(value, (bool, float, type(None))):
            return value
        if isinstance(value, int):
            if value.bit_length() > MAX_BITS:
                raise ExpressionError(f"a whole number of more than {MAX_BITS} bits")
        elif isinstance(value, str):
            self.budget.pay(len(value) >> 4)
            if len(value) > MAX_TEXT:
                raise ExpressionError(f"a text of more than {MAX_TEXT} letters")
        elif isinstance(value, (list, tuple, dict)) and not isinstance(value, self.namespace):
            self.budget.pay(_size(value))
        elif not isinstance(value, (Exposed, self.namespace)):
            raise ExpressionError(f"a {type(value).__name__} is no value of an expression")
        return value

    def kept_text(self, value: Any) -> Any:
        """Return what a text with expressions became: a text of a size that is allowed, or a value that was kept."""
        return self.kept(value) if isinstance(value, str) else value

    # --- names and what they hold ---

    def _name(self, node: ast.Name, names: Mapping[str, Any]) -> Any:
        if node.id in self._local:
            return self._local[node.id]
        if node.id.startswith("__") or node.id not in names:
            raise ExpressionError(f"name {node.id[:60]!r} is not defined")
        return names[node.id]

    def _attribute(self, node: ast.Attribute, names: Mapping[str, Any]) -> Any:
        owner, name = self._value(node.value, names), node.attr
        if isinstance(owner, (self.namespace, dict)):
            if name in owner:
                return owner[name]
            if type(owner) is dict and name in _DICT_METHODS:
                return Exposed(lambda *given: _DICT_METHODS[name](owner, *given))
        elif isinstance(owner, str) and name in _TEXT_METHODS:
            return Exposed(lambda *given: self._method(owner, name, given))
        elif isinstance(owner, (list, tuple)) and name in ("index", "count"):
            return Exposed(getattr(owner, name))
        raise ExpressionError(f"{type(owner).__name__} has no {name[:60]!r}")

    def _method(self, text: str, name: str, given: tuple[Any, ...]) -> Any:
        if name == "replace":
            old, new = given[0], given[1]
            if len(text) + text.count(old) * len(new) > MAX_TEXT:
                raise ExpressionError(f"a text of more than {MAX_TEXT} letters")
        if name == "join" and sum(len(part) + len(text) for part in given[0]) > MAX_TEXT:
            raise ExpressionError(f"a text of more than {MAX_TEXT} letters")
        return getattr(text, name)(*given)

    def _subscript(self, node: ast.Subscript, names: Mapping[str, Any]) -> Any:
        owner = self._value(node.value, names)
        if isinstance(node.slice, ast.Slice):
            parts = (node.slice.lower, node.slice.upper, node.slice.step)
            return owner[slice(*(None if part is None else self._value(part, names) for part in parts))]
        if not isinstance(owner, (list, tuple, dict, str)):
            raise ExpressionError(f"a {type(owner).__name__} has no entries")
        return owner[self._value(node.slice, names)]

    def _call(self, node: ast.Call, names: Mapping[str, Any]) -> Any:
        function = self._value(node.func, names)
        if not isinstance(function, Exposed):
            raise ExpressionError("what is called is no function")
        given = [self._value(argument, names) for argument in node.args]
        by_name = {keyword.arg: self._value(keyword.value, names) for keyword in node.keywords if keyword.arg}
        if len(by_name) < len(node.keywords) or (by_name and not function.keywords):
            raise ExpressionError("arguments by name are not allowed here")
        return function.call(*given, **by_name)

    # --- operators ---

    def _binary(self, node: ast.BinOp, names: Mapping[str, Any]) -> Any:
        operation = _BINARY.get(type(node.op))
        if operation is None:
            raise ExpressionError(f"{type(node.op).__name__} is not allowed in expressions")
        a, b = self._value(node.left, names), self._value(node.right, names)
        if isinstance(node.op, ast.Mod) and isinstance(a, str):
            raise ExpressionError("% of a text is not allowed: join texts with +")
        if isinstance(node.op, ast.Mult):
            _check_product(a, b)
        return operation(a, b)

    def _unary(self, node: ast.UnaryOp, names: Mapping[str, Any]) -> Any:
        value = self._value(node.operand, names)
        return {ast.Not: operator.not_, ast.USub: operator.neg, ast.UAdd: operator.pos}[type(node.op)](value)

    def _boolean(self, node: ast.BoolOp, names: Mapping[str, Any]) -> Any:
        is_and, value = isinstance(node.op, ast.And), None
        for part in node.values:
            value = self._value(part, names)
            if bool(value) != is_and:
                return value
        return value

    def _comparison(self, node: ast.Compare, names: Mapping[str, Any]) -> bool:
        left = self._value(node.left, names)
        for compare, part in zip(node.ops, node.comparators, strict=True):
            right = self._value(part, names)
            self.budget.pay(_size(left) + _size(right))
            if not _COMPARISONS[type(compare)](left, right):
                return False
            left = right
        return True

    def _choice(self, node: ast.IfExp, names: Mapping[str, Any]) -> Any:
        return self._value(node.body if self._value(node.test, names) else node.orelse, names)

    # --- lists ---

    def _list(self, node: ast.List | ast.Tuple, names: Mapping[str, Any]) -> Any:
        entries = [self._value(entry, names) for entry in node.elts]
        return tuple(entries) if isinstance(node, ast.Tuple) else entries

    def _dict(self, node: ast.Dict, names: Mapping[str, Any]) -> Any:
        pairs = zip(node.keys, node.values, strict=True)
        return {self._value(_some(key), names): self._value(value, names) for key, value in pairs}

    def _comprehension(self, node: ast.ListComp | ast.GeneratorExp, names: Mapping[str, Any]) -> list[Any]:
        return [self._value(node.elt, names) for _ in self._loops(node.generators, names)]

    def _dict_comprehension(self, node: ast.DictComp, names: Mapping[str, Any]) -> dict[Any, Any]:
        loops = self._loops(node.generators, names)
        return {self._value(node.key, names): self._value(node.value, names) for _ in loops}

    def _loops(self, generators: list[ast.comprehension], names: Mapping[str, Any]) -> Iterator[None]:
        """Yield with the variables of the loops set, once for each round."""
        if not generators:
            yield
            return
        loop, inner = generators[0], generators[1:]
        kept = dict(self._local)
        for value in list(self._value(loop.iter, names)):
            self.budget.pay()
            self._bind(loop.target, value)
            if all(self._value(test, names) for test in loop.ifs):
                yield from self._loops(inner, names)
        self._local = kept

    def _bind(self, target: ast.AST, value: Any) -> None:
        if isinstance(target, ast.Name):
            self._local[target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            for part, entry in zip(target.elts, value, strict=True):
                self._bind(part, entry)
        else:
            raise ExpressionError("a loop needs a plain name")


def _some(key: ast.AST | None) -> ast.AST:
    if key is None:
        raise ExpressionError("** is not allowed in expressions")
    return key


def _size(value: Any) -> int:
    """Return how many entries a value has with all that is in it.

    Raises:
        ExpressionError: if there are more than allowed: also of one that holds the same list many times.
    """
    count, waiting = 0, [value]
    while waiting:
        inside = waiting.pop()
        count += 1 + (len(inside) >> 2 if isinstance(inside, str) else 0)
        if count > MAX_VALUE:
            raise ExpressionError(f"a value with more than {MAX_VALUE} entries")
        if isinstance(inside, dict):
            waiting += inside.keys()
            waiting += inside.values()
        elif isinstance(inside, (list, tuple)):
            waiting += inside
    return count


def _check_product(a: Any, b: Any) -> None:
    """Refuse a product that would be a huge list or text."""
    for many, times in ((a, b), (b, a)):
        if isinstance(many, (str, list, tuple)) and isinstance(times, int):
            limit = MAX_TEXT if isinstance(many, str) else MAX_VALUE
            if len(many) * times > limit:
                raise ExpressionError(f"{limit} entries at most")


def _power(a: Any, b: Any, modulo: None = None) -> Any:
    if isinstance(a, int) and isinstance(b, int) and a.bit_length() * max(b, 0) > MAX_BITS:
        raise ExpressionError(f"a whole number of more than {MAX_BITS} bits; write {a}.0 ** {b}")
    return a**b


def _round(value: Any, digits: int | None = None) -> Any:
    if digits is not None and abs(digits) > 300:
        raise ExpressionError("round() to that many digits")
    return round(value, digits)


def _range(*bounds: int) -> list[int]:
    if len(range(*bounds)) > MAX_VALUE:
        raise ExpressionError(f"{MAX_VALUE} entries at most")
    return list(range(*bounds))


def _small(function: Callable[..., Any], most: int) -> Callable[..., Any]:
    """Return a function of whole numbers for small ones: its results grow beyond all bounds."""

    def bounded(*given: int) -> Any:
        if any(abs(e) > most for e in given):
            raise ExpressionError(f"{function.__name__}() of more than {most}")
        return function(*given)

    return bounded


def _numbers_only(function: Callable[..., Any]) -> Callable[..., Any]:
    def checked(values: Any) -> Any:
        entries = list(values)
        if not all(isinstance(e, (int, float)) for e in entries):
            raise ExpressionError(f"{function.__name__}() of what are no numbers")
        return function(entries)

    return checked


def _product(values: Any) -> Any:
    entries = list(values)
    if sum(e.bit_length() for e in entries if isinstance(e, int)) > MAX_BITS:
        raise ExpressionError(f"a whole number of more than {MAX_BITS} bits")
    return _numbers_only(math.prod)(entries)


def _map(function: Any, *lists: Any) -> list[Any]:
    if not isinstance(function, Exposed):
        raise ExpressionError("map() of what is no function")
    return [function.call(*entries) for entries in zip(*lists, strict=False)]


_BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: _power,
}
_COMPARISONS: dict[type, Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}
_RULES: dict[type, Callable[..., Any]] = {
    ast.Constant: lambda evaluator, node, names: node.value,
    ast.Name: Evaluator._name,
    ast.Attribute: Evaluator._attribute,
    ast.Subscript: Evaluator._subscript,
    ast.Call: Evaluator._call,
    ast.BinOp: Evaluator._binary,
    ast.UnaryOp: Evaluator._unary,
    ast.BoolOp: Evaluator._boolean,
    ast.Compare: Evaluator._comparison,
    ast.IfExp: Evaluator._choice,
    ast.List: Evaluator._list,
    ast.Tuple: Evaluator._list,
    ast.Dict: Evaluator._dict,
    ast.ListComp: Evaluator._comprehension,
    ast.GeneratorExp: Evaluator._comprehension,
    ast.DictComp: Evaluator._dict_comprehension,
}
_TEXT_METHODS = re.findall(
    r"\w+",
    """
    split rsplit strip lstrip rstrip lower upper title capitalize startswith endswith replace join find count isdigit
    isalpha isalnum
""",
)
_DICT_METHODS: dict[str, Callable[..., Any]] = {
    "keys": lambda owner: list(owner),
    "values": lambda owner: list(owner.values()),
    "items": lambda owner: list(owner.items()),
    "get": lambda owner, key, default=None: owner.get(key, default),
}
_PLAIN_MATH = re.findall(
    r"\w+",
    """
    acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh degrees dist erf erfc exp exp2 expm1 fabs floor
    fmod fsum gamma gcd hypot isclose isfinite isinf isnan lcm ldexp lgamma log log10 log1p log2 modf pow radians
    remainder sin sinh sqrt tan tanh trunc
""",
)
_GROWING = {"factorial": 170, "comb": 200, "perm": 150}


def math_names() -> dict[str, Any]:
    """Return what xacro calls `math`."""
    plain = {name: Exposed(getattr(math, name)) for name in _PLAIN_MATH}
    bounded = {name: Exposed(_small(getattr(math, name), most)) for name, most in _GROWING.items()}
    constants = {name: getattr(math, name) for name in ("pi", "e", "tau", "inf", "nan")}
    return {**plain, **bounded, **constants, "prod": Exposed(_product)}


def python_names() -> dict[str, Any]:
    """Return the functions of Python that expressions have."""
    plain = (list, dict, tuple, len, str, float, int, bool, min, max, abs, all, any, divmod)
    exposed: dict[str, Callable[..., Any]] = {function.__name__: function for function in plain} | {
        "map": _map,
        "round": _round,
        "range": _range,
        "sum": _numbers_only(sum),
        "sorted": lambda values, reverse=False: sorted(values, reverse=bool(reverse)),
        "enumerate": lambda values: list(enumerate(values)),
        "reversed": lambda values: list(reversed(values)),
        "zip": lambda *lists: list(zip(*lists, strict=False)),
    }
    with_keywords = ("dict", "sorted")
    return {name: Exposed(call, name in with_keywords) for name, call in exposed.items()} | {
        "True": True,
        "False": False,
    }
