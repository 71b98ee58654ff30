"""A C++17 header over functions written as C99: arguments of known sizes, results with names, joints as constants.

C++17 has no `std::span`; the header brings one of its own, of a fixed size, which arrays of C, `std::array` and
anything with `data()` and `size()` (vectors and row-major matrices of Eigen, say) become by themselves. Nothing is
allocated, nothing is thrown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cardan._algebra.errors import ParameterError
from cardan._compiler.program.program import Array
from cardan._compiler.targets.c import OF_CPP_HEADER, RESERVED, CFunction, banner

SPAN = """
/* A view of N numbers somewhere else; a size that does not fit is an error of the compiler, or an assertion. */
template <class T, std::size_t N> class span {
public:
    template <class P, class = std::enable_if_t<std::is_pointer_v<P> && std::is_convertible_v<P, T *>>>
    explicit constexpr span(const P &data) noexcept : data_(data) {}

    template <class U, std::size_t M, class = std::enable_if_t<M == N && std::is_convertible_v<U (*)[], T (*)[]>>>
    constexpr span(U (&values)[M]) noexcept : data_(values) {}

    template <class U, class = std::enable_if_t<std::is_convertible_v<U (*)[], T (*)[]>>>
    constexpr span(std::array<U, N> &values) noexcept : data_(values.data()) {}

    template <class U, class = std::enable_if_t<std::is_convertible_v<const U (*)[], T (*)[]>>>
    constexpr span(const std::array<U, N> &values) noexcept : data_(values.data()) {}

    template <class U, class = std::enable_if_t<std::is_convertible_v<U (*)[], T (*)[]>>>
    constexpr span(span<U, N> values) noexcept : data_(values.data()) {}

    template <class C, class U = std::remove_pointer_t<decltype(std::declval<C &>().data())>,
              class = std::enable_if_t<!is_sized<std::decay_t<C>>::value && std::is_convertible_v<U (*)[], T (*)[]>>>
    constexpr span(C &&values) noexcept : data_(values.data()) {
        assert(static_cast<std::size_t>(values.size()) == N);
    }

    constexpr T *data() const noexcept { return data_; }
    static constexpr std::size_t size() noexcept { return N; }
    constexpr T &operator[](std::size_t k) const noexcept { return data_[k]; }
    constexpr T *begin() const noexcept { return data_; }
    constexpr T *end() const noexcept { return data_ + N; }

private:
    T *data_;
};
"""
_SIZED = """
template <class T, std::size_t N> class span;

/* What says its size in its type. */
template <class C> struct is_sized : std::false_type {};
template <class T, std::size_t N> struct is_sized<std::array<T, N>> : std::true_type {};
template <class T, std::size_t N> struct is_sized<span<T, N>> : std::true_type {};
"""
JOINT = """
/* A joint: its name, and where its coordinates are in q and v. */
struct joint {
    const char *name;
    std::size_t q_start, q_size, v_start, v_size;
};
"""


class CppJoint(NamedTuple):
    name: str
    q: range
    v: range


class CppFunction(NamedTuple):
    name: str
    c: CFunction


class Sizes(NamedTuple):
    nq: int
    nv: int
    joints: Sequence[CppJoint]


def cpp_header(functions: Sequence[CppFunction], name: str, sizes: Sizes, comment: str = "") -> str:
    """Return a C++17 header, `name.hpp`, beside `name.h`, with a namespace of that name, for one type of real numbers.

    Names that mean something in C++ raise ParameterError.
    """
    for own in (name, *(f.name for f in functions)):
        if own in RESERVED or own in OF_CPP_HEADER:
            expected = "no word of C or C++, and nothing the header itself defines"
            raise ParameterError("name for C++", got=own, expected=expected)
    guard, real = f"{name.upper()}_HPP", functions[0].c.real
    includes = "\n".join(f"#include <{h}>" for h in ("array", "cassert", "cstddef", "type_traits", "utility"))
    top = f'{banner(comment)}#ifndef {guard}\n#define {guard}\n\n{includes}\n\n#include "{name}.h"\n'
    rows = [f"    {{{_text(j.name)}, {j.q.start}, {len(j.q)}, {j.v.start}, {len(j.v)}}}," for j in sizes.joints]
    joints = "{{\n" + "\n".join(rows) + "\n}}" if rows else "{}"
    constants = f"inline constexpr std::size_t nq = {sizes.nq}, nv = {sizes.nv};\n"
    constants += f"inline constexpr std::array<joint, {len(rows)}> joints{joints};\n"
    texts = [top, f"namespace {name} {{\n\nusing real = {real};\n{_SIZED}{SPAN}{JOINT}", constants]
    return "\n".join([*texts, *map(_function, functions), f"}} // namespace {name}\n\n#endif\n"])


def _text(name: str) -> str:
    """Return a name as a literal of C++: its UTF-8, what is not plain ASCII by octal numbers."""
    plain = "".join(
        chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f"\\{byte:03o}"
        for byte in name.encode("utf-8", "backslashreplace")
    )
    return f'"{plain}"'


def _function(function: CppFunction) -> str:
    name, c = function
    kinds = [f"std::array<real, {a.size}>" if a.shape else "real" for a in c.program.outputs]
    results = [f"    {kind} {a.name};{_shape(a)}" for kind, a in zip(kinds, c.program.outputs, strict=True)]
    struct = "\n".join([f"struct {name}_results {{", *results, "};\n"])
    constants = [f"inline constexpr std::size_t {name}_stack = {c.name.upper()}_STACK; /* bytes, at most */\n"]
    constants += [f"inline constexpr std::size_t {name}_workspace = {c.workspace};\n"] * c.gives_workspace
    comment = f"/* {c.work}.\n * Stack, at most: {c.memory}. */\n"
    return "\n".join([struct, "".join(constants), comment + _into(function), _returning(function), _batch(function)])


def _shape(array: Array) -> str:
    return f" /* {' x '.join(map(str, array.shape))}, row by row */" if len(array.shape) > 1 else ""


def _inputs(function: CFunction) -> list[str]:
    return [f"span<const real, {a.size}> {a.name}" if a.shape else f"real {a.name}" for a in function.program.inputs]


def _workspace(function: CFunction) -> list[str]:
    return [f"span<real, {function.workspace}> w"] * function.gives_workspace


def _pointer(array: Array, within: str = "") -> str:
    return f"{within}{array.name}.data()" if array.shape else f"&{within}{array.name}"


def _into(function: CppFunction) -> str:
    """Return the function that writes into what is there; it may be where the inputs are."""
    name, c = function
    inputs, outputs = c.program.inputs, c.program.outputs
    results = [f"span<real, {a.size}> {a.name}" if a.shape else f"real &{a.name}" for a in outputs]
    arguments = ", ".join([*(_pointer(a) for a in (*inputs, *outputs)), *["w.data()"] * c.gives_workspace])
    parameters = ", ".join([*_inputs(c), *results, *_workspace(c)])
    return f"inline void {name}({parameters}) noexcept {{\n    ::{c.name}({arguments});\n}}\n"


def _returning(function: CppFunction) -> str:
    name, c = function
    arguments = [*map(_pointer, c.program.inputs), *(_pointer(a, "r_.") for a in c.program.outputs)]
    arguments += ["w.data()"] * c.gives_workspace
    head = f"[[nodiscard]] inline {name}_results {name}({', '.join([*_inputs(c), *_workspace(c)])}) noexcept {{"
    return f"{head}\n    struct {name}_results r_;\n    ::{c.name}({', '.join(arguments)});\n    return r_;\n}}\n"


def _batch(function: CppFunction) -> str:
    """Return the function over n states, one after the other in anything with data() and size()."""
    name, c = function
    inputs, outputs = c.program.inputs, c.program.outputs
    names = [a.name for a in (*inputs, *outputs)]
    types = [f"T{k}_" for k in range(len(names))]
    template = ", ".join(f"class {kind}" for kind in types)
    kinds = [f"const {kind} &" for kind in types[: len(inputs)]] + [f"{kind} &&" for kind in types[len(inputs) :]]
    parameters = ["std::size_t n", *(f"{kind}{own}" for kind, own in zip(kinds, names, strict=True)), *_workspace(c)]
    sizes = [(a.name, a.size) for a in (*inputs, *outputs)]
    checks = [f"    assert(static_cast<std::size_t>({own}.size()) == {size} * n);" for own, size in sizes]
    arguments = ", ".join(["n", *(f"{own}.data()" for own in names), *["w.data()"] * c.gives_workspace])
    head = f"template <{template}>\ninline void {name}_batch({', '.join(parameters)}) noexcept {{"
    return "\n".join([head, *checks, f"    ::{c.name}_batch({arguments});", "}\n"])
