"""The door's machine code: the checks that let a call through, the call, and what is returned; see `door`."""

from __future__ import annotations

from cardan.targets.llvm.door_layout import (
    BYTE_ORDER,
    CONTIGUOUS_ALIGNED,
    DATA,
    DESCR,
    DIMS,
    FIELDS,
    FLAGS,
    ITEMS,
    MAX_ARRAYS,
    MAX_DIMS,
    ND,
    NUMBER,
    RELEASE,
    SIZE,
    SPEC_WORDS,
    TYPE,
    TYPE_NUMBERS,
    WORD,
    WRITEABLE,
)
from cardan.targets.llvm.writer import Code


def door_text() -> str:
    """Return the module: the function `door(self, args, nargs, kwnames)`, as Python calls its built-in functions."""
    head = "define ptr @door(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) nounwind {"
    return "\n".join([head, "start:", *_Door().lines, "}"])


class _Door(Code):
    """Writes the door. What does not fit goes to the label `slow`, before anything has been changed."""

    def __init__(self) -> None:
        super().__init__()
        for name, kind in (("pointers", f"[{MAX_ARRAYS} x ptr]"), ("dims", f"[{MAX_DIMS} x i64]")):
            self.line(f"%{name} = alloca {kind}, align 8")
        self.line("%one = alloca ptr, align 8")
        self.context = self.field("%self", DATA)
        self.arrays, self.finish = self.number(self.context, WORD["count"]), self.word("finish")
        self.specs = self.at(self.context, len(FIELDS), "i64")
        self.given = self.given_output()
        self.no_output = self.same(self.given, "null")
        self.first_array()
        self.count_rows()
        self.loop(0, self.arrays, 1, self.argument)
        self.loop_if_any("0", self.number(self.context, WORD["parts"]), 1, self.unit_part)
        (self.out,) = self.branch(self.no_output, self.new_output, self.checked_output, "ptr")
        self.evaluate(*self.workspace())
        self.endings()

    # --- values ---

    def number(self, at: str, k: int | str, kind: str = "i64") -> str:
        """Write the k-th 64-bit word behind a pointer."""
        return self.load(kind, self.at(at, k, "i64"), 8)

    def word(self, name: str) -> str:
        """Write a pointer in the context."""
        return self.number(self.context, WORD[name], "ptr")

    def of_precision(self, name: str) -> str:
        """Write which word of the context is that of this precision."""
        return self.whole("add nuw nsw", self.which, WORD[f"{name}0"])

    def field(self, object: str, offset: int, kind: str = "ptr") -> str:
        """Write a field of a Python object."""
        return self.load(kind, self.at(object, offset), {"ptr": 8, "i32": 4, "i8": 1}[kind])

    def dimensions(self, array: str) -> str:
        """Write the number of an array's dimensions."""
        return self.emit(f"sext i32 {self.field(array, ND, 'i32')} to i64")

    def spec(self, k: str) -> str:
        """Write the pointer to what is known of argument k."""
        place = self.whole("mul nuw nsw", self.whole("add nuw nsw", k, 1), SPEC_WORDS)
        return self.at(self.specs, place, "i64")

    def same(self, a: str, b: str) -> str:
        """Write whether two pointers are equal."""
        return self.emit(f"icmp eq ptr {a}, {b}")

    def must(self, condition: str) -> None:
        """Go on only where a condition holds."""
        self.unless(condition, "slow")

    def call(self, name: str, *arguments: str) -> str:
        """Write a call of a function in the context."""
        return self.emit(f"call ptr {self.word(name)}({', '.join(arguments)})")

    def do(self, name: str, *arguments: str) -> None:
        """Write a call of a function in the context that returns nothing."""
        self.line(f"call void {self.word(name)}({', '.join(arguments)})")

    def precision(self, descr: str) -> str:
        """Write 0 for float64, 1 for float32, 2 for others."""

        def pickled() -> list[str]:  # NumPy has one dtype object for each, but pickled arrays have their own
            number, order = self.field(descr, NUMBER, "i32"), self.field(descr, BYTE_ORDER, "i8")
            kind = "2"
            for k, size in enumerate(TYPE_NUMBERS):
                like = self.emit(f"icmp eq i32 {number}, {TYPE_NUMBERS[size]}")
                kind = self.emit(f"select i1 {like}, i64 {k}, i64 {kind}")
            native = self.emit(f"icmp eq i8 {order}, {ord('=')}")
            return [self.emit(f"select i1 {native}, i64 {kind}, i64 2")]

        def not_first() -> list[str]:
            return self.branch(self.same(descr, self.word("descr1")), lambda: ["1"], pickled, "i64")

        return self.branch(self.same(descr, self.word("descr0")), lambda: ["0"], not_first, "i64")[0]

    # --- checks ---

    def given_output(self) -> str:
        """Write the argument `out`, null if there is none; no other keyword may come, and it only for one result."""
        self.must(self.whole("icmp eq", "%nargs", self.arrays))

        def keyword() -> list[str]:
            self.must(self.whole("icmp eq", self.number("%kwnames", SIZE // 8), 1))
            self.must(self.same(self.finish, "null"))
            self.must(self.same(self.field("%kwnames", ITEMS), self.word("out_name")))
            return [self.number("%args", "%nargs", "ptr")]

        return self.branch(self.same("%kwnames", "null"), lambda: ["null"], keyword, "ptr")[0]

    def first_array(self) -> None:
        """The first array says dtype and leading dimensions."""
        first = self.load("ptr", "%args", 8)
        self.must(self.same(self.field(first, TYPE), self.word("array_type")))
        self.which = self.precision(self.field(first, DESCR))
        self.must(self.whole("icmp ult", self.which, 2))
        self.double = self.whole("icmp eq", self.which, 0)
        self.code = self.number(self.context, self.of_precision("evaluate"), "ptr")
        self.must(self.emit(f"icmp ne ptr {self.code}, null"))
        core = self.number(self.at(self.specs, SPEC_WORDS, "i64"), 0)
        self.batch = self.whole("sub nsw", self.dimensions(first), core)
        self.must(self.whole("icmp sge", self.batch, 0))
        self.batch_dims = self.field(first, DIMS)

    def count_rows(self) -> None:
        """There must be a state, and not so much work that threads would share it."""
        times = lambda k, rows: [self.whole("mul nsw", rows, self.number(self.batch_dims, k))]  # noqa: E731
        (self.rows,) = self.loop_if_any("0", self.batch, 1, times, ("i64", "1"))
        self.work = self.whole("mul", self.rows, self.number(self.context, WORD["work"]))
        self.must(self.whole("icmp sgt", self.rows, 0))
        self.must(self.whole("icmp slt", self.work, self.number(self.context, WORD["limit"])))

    def equal(self, a: str, b: str, count: str) -> None:
        """So many numbers must be equal."""
        one = lambda k: self.must(self.whole("icmp eq", self.number(a, k), self.number(b, k)))  # noqa: E731
        self.loop_if_any("0", count, 1, one)

    def fits(self, array: str, spec: str, flags: int) -> None:
        """An object must be an array of this precision, contiguous, of shape (batch..., core...)."""
        self.must(self.same(self.field(array, TYPE), self.word("array_type")))
        self.must(self.whole("icmp eq", self.precision(self.field(array, DESCR)), self.which))
        set_flags = self.emit(f"and i32 {self.field(array, FLAGS, 'i32')}, {flags}")
        self.must(self.emit(f"icmp eq i32 {set_flags}, {flags}"))
        core, dims = self.number(spec, 0), self.field(array, DIMS)
        self.must(self.whole("icmp eq", self.dimensions(array), self.whole("add nsw", self.batch, core)))
        self.equal(dims, self.batch_dims, self.batch)
        self.equal(self.at(dims, self.batch, "i64"), self.at(spec, 2, "i64"), core)

    def argument(self, k: str) -> None:
        """An argument must fit; its data are noted."""
        array = self.number("%args", k, "ptr")
        self.fits(array, self.spec(k), CONTIGUOUS_ALIGNED)
        self.store("ptr", self.field(array, DATA), self.at("%pointers", k, "ptr"), 8)

    def unit_part(self, k: str) -> None:
        """Of the first state, entries that give a direction (a quaternion, say) must not all be 0: none is told."""
        parts = self.at(
            self.specs, self.whole("mul nuw nsw", self.whole("add nuw nsw", self.arrays, 1), SPEC_WORDS), "i64"
        )
        row = self.at(parts, self.whole("mul nuw nsw", k, 3), "i64")
        data = self.load("ptr", self.at("%pointers", self.number(row, 0), "ptr"), 8)
        halves = self.emit(f"select i1 {self.double}, i64 2, i64 1")  # words of 32 bits an entry
        start, stop = (self.whole("mul nuw nsw", self.number(row, n), halves) for n in (1, 2))

        def gather(word: str, bits: str) -> list[str]:
            return [self.emit(f"or i32 {bits}, {self.load('i32', self.at(data, word, 'i32'), 4)}")]

        (bits,) = self.loop_if_any(start, stop, 1, gather, ("i32", "0"))
        self.must(self.emit(f"icmp ne i32 {self.emit(f'shl i32 {bits}, 1')}, 0"))  # but for signs

    # --- the output ---

    def checked_output(self) -> list[str]:
        """Write a new reference to the output that was given; it must fit, and share no memory with an input."""
        self.fits(self.given, self.specs, CONTIGUOUS_ALIGNED | WRITEABLE)
        itemsize = self.emit(f"select i1 {self.double}, i64 8, i64 4")

        def extent(data: str, spec: str) -> tuple[str, str]:
            start = self.emit(f"ptrtoint ptr {data} to i64")
            row = self.whole("mul", self.number(spec, 1), itemsize)
            return start, self.whole("add", start, self.whole("mul", row, self.rows))

        start, end = extent(self.field(self.given, DATA), self.specs)

        def apart(k: str) -> None:
            its_start, its_end = extent(self.load("ptr", self.at("%pointers", k, "ptr"), 8), self.spec(k))
            before, after = self.whole("icmp uge", its_start, end), self.whole("icmp uge", start, its_end)
            self.must(self.emit(f"or i1 {before}, {after}"))

        self.loop(0, self.arrays, 1, apart)
        self.do("incref", f"ptr {self.given}")
        return [self.given]

    def new_output(self) -> list[str]:
        """Write a new array; null means that Python raises."""
        size = self.whole("add nuw nsw", self.batch, self.number(self.specs, 0))
        self.must(self.whole("icmp sle", size, MAX_DIMS))

        def dimension(k: str) -> None:
            core = self.whole("sub nsw", k, self.batch)
            is_core = self.whole("icmp sge", core, 0)
            source = self.emit(f"select i1 {is_core}, ptr {self.specs}, ptr {self.batch_dims}")
            index = self.emit(f"select i1 {is_core}, i64 {self.whole('add nsw', core, 2)}, i64 {k}")
            self.store("i64", self.number(source, index), self.at("%dims", k, "i64"), 8)

        self.loop_if_any("0", size, 1, dimension)
        size32 = self.emit(f"trunc i64 {size} to i32")
        number = self.emit(f"select i1 {self.double}, i32 {TYPE_NUMBERS[8]}, i32 {TYPE_NUMBERS[4]}")
        shape, rest = f"i32 {size32}, ptr %dims, i32 {number}", "ptr null, ptr null, i32 0, i32 0, ptr null"
        made = self.call("new_array", f"ptr {self.word('array_type')}", shape, rest)
        self.unless(self.emit(f"icmp ne ptr {made}, null"), "raise")
        return [made]

    # --- the call ---

    def workspace(self) -> list[str]:
        """Write where to work, what to free, what to keep; one is kept, a thread that comes meanwhile makes its own."""
        size = self.number(self.context, self.of_precision("heap"))
        self.spare = self.at(self.context, self.of_precision("spare"), "i64")
        three = ("ptr", "ptr", "ptr")

        def make() -> list[str]:
            raw = self.call("malloc", f"i64 {self.whole('add', size, 64)}")
            self.unless(self.emit(f"icmp ne ptr {raw}, null"), "give_up")
            raised = self.whole("add", self.emit(f"ptrtoint ptr {raw} to i64"), 63)
            return [self.emit(f"inttoptr i64 {self.whole('and', raised, -64)} to ptr"), raw, "null"]

        def take() -> list[str]:
            spare = self.emit(f"atomicrmw xchg ptr {self.spare}, ptr null acquire")
            return self.branch(self.same(spare, "null"), make, lambda: [spare, "null", spare], *three)

        return self.branch(self.whole("icmp eq", size, 0), lambda: ["null"] * 3, take, *three)

    def evaluate(self, heap: str, to_free: str, to_keep: str) -> None:
        """Write the call of the program, and put the workspace back."""
        data = self.field(self.out, DATA)

        def run() -> None:
            self.line(f"call void {self.code}(ptr %pointers, ptr {data}, i64 {self.rows}, ptr {heap})")

        def released() -> None:
            state = self.call("save_thread")
            run()
            self.do("restore_thread", f"ptr {state}")

        self.branch(self.whole("icmp sgt", self.work, RELEASE), released, run)
        keep = lambda: self.line(f"store atomic ptr {to_keep}, ptr {self.spare} release, align 8")  # noqa: E731
        self.branch(self.emit(f"icmp ne ptr {to_keep}, null"), keep)
        self.branch(self.emit(f"icmp ne ptr {to_free}, null"), lambda: self.do("free", f"ptr {to_free}"))

    # --- what is returned ---

    def endings(self) -> None:
        """Write the ways out: a scalar, an array, several results, and for what did not fit the callable for it."""
        self.unless(self.same(self.finish, "null"), "several")
        is_number = self.whole("icmp eq", self.dimensions(self.out), 0)
        self.unless(self.emit(f"and i1 {is_number}, {self.no_output}"), "as_array")
        self.line(f"ret ptr {self.call('as_scalar', f'ptr {self.out}')}")
        self.label("as_array")
        self.line(f"ret ptr {self.out}")
        self.label("several")
        self.store("ptr", self.out, "%one", 8)
        results = self.call("vectorcall", f"ptr {self.finish}, ptr %one, i64 1, ptr null")
        self.do("decref", f"ptr {self.out}")
        self.line(f"ret ptr {results}")
        self.label("give_up")
        self.do("decref", f"ptr {self.out}")
        self.line("br label %slow")
        self.label("slow")
        answer = self.call("vectorcall", f"ptr {self.word('slow')}, ptr %args, i64 %nargs, ptr %kwnames")
        self.line(f"ret ptr {answer}")
        self.label("raise")
        self.line("ret ptr null")
