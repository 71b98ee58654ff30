"""The fast path's machine code: the checks that let a call through, the call, and what is returned; see `fast_path`."""

from __future__ import annotations

from cardan._compiler.targets.llvm import fast_path_layout as at
from cardan._compiler.targets.llvm.writer import CodeWriter, Reader


def fast_path_text() -> str:
    """Return the module: `fast_path(self, args, nargs, kwnames)`, as Python calls its built-in functions."""
    head = "define ptr @fast_path(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) nounwind {"
    return "\n".join([head, "start:", *_FastPath().lines, "}"])


class _FastPath(Reader):
    """Writes the fast path. What does not fit goes to the label `slow`, before anything has been changed."""

    misfit = "slow"

    def __init__(self) -> None:
        super().__init__(at.WORD)
        kinds = {"pointers": f"[{at.MAX_ARRAYS} x ptr]", "dims": f"[{at.MAX_DIMS} x i64]", "made": "i64"}
        kinds |= {"numbers": f"[{at.MAX_ARRAYS} x double]"}
        kinds |= {"results": f"[{at.MAX_OUTPUTS} x ptr]", "table": f"[{2 * at.MAX_OUTPUTS} x i64]"}
        for name, kind in kinds.items():
            self.line(f"%{name} = alloca {kind}, align 8")
        self.store("i64", "0", "%made", 8)
        self.context = self.field("%self", at.DATA)
        self.arrays, self.result_count = (self.known(word) for word in ("count", "results"))
        self.gathered, self.finish = self.known("gathered", "ptr"), self.known("finish", "ptr")
        self.is_dict = self.whole("icmp ne", self.known("is_dict"), 0)
        self.lay_out()
        self.given = self.given_output()
        self.no_output = self.is_null(self.given)
        self.first_array()
        self.count_rows()
        self.find_code()
        self.loop(0, self.arrays, 1, self.argument)
        self.loop_if_any("0", self.known("parts"), 1, self.unit_part)
        self.branch(self.no_output, lambda: self.loop(0, self.result_count, 1, self.new_result), self.given_results)
        self.loop(0, self.output_count, 1, self.output)
        self.evaluate()
        self.endings()

    def lay_out(self) -> None:
        """Find the parts of the context: what is known of results, arguments, outputs, and parts of unit length."""
        self.output_count = self.known("outputs")
        self.results = self.at(self.context, len(at.FIELDS), "i64")
        self.arguments = self.row(self.results, self.result_count, at.SPEC_WORDS)
        self.places = self.row(self.arguments, self.arrays, at.SPEC_WORDS)
        self.parts = self.row(self.places, self.output_count, at.PLACE_WORDS)

    # --- values ---

    def of_kind(self, name: str) -> str:
        """Write which word of the context is that of this precision, and of a few or many states."""
        return self.whole("add nuw nsw", self.kind, at.WORD[f"{name}0"])

    def dimensions(self, array: str) -> str:
        return self.emit(f"sext i32 {self.field(array, at.ND, 'i32')} to i64")

    def row(self, table: str, k: int | str, words: int) -> str:
        return self.at(table, self.whole("mul nuw nsw", k, words), "i64")

    def spec(self, k: int | str) -> str:
        return self.row(self.arguments, k, at.SPEC_WORDS)

    def result(self, k: str) -> str:
        return self.word("%results", k, "ptr")

    def bytes_of(self, spec: str) -> str:
        row = self.whole("mul", self.word(spec, 1), self.itemsize)
        return self.whole("mul", row, self.rows)

    def same(self, a: str, b: str) -> str:
        return self.emit(f"icmp eq ptr {a}, {b}")

    def precision(self, descr: str) -> str:
        """Write 0 for float64, 1 for float32, 2 for others; by what the dtype says: pickled arrays have their own."""
        number, order = self.field(descr, at.NUMBER, "i32"), self.field(descr, at.BYTE_ORDER, "i8")
        kind = "2"
        for k, size in enumerate(at.TYPE_NUMBERS):
            like = self.emit(f"icmp eq i32 {number}, {at.TYPE_NUMBERS[size]}")
            kind = self.emit(f"select i1 {like}, i64 {k}, i64 {kind}")
        native = self.emit(f"icmp eq i8 {order}, {ord('=')}")
        return self.emit(f"select i1 {native}, i64 {kind}, i64 2")

    # --- checks ---

    def given_output(self) -> str:
        """Write the argument `out`, null if there is none; no other keyword may come."""
        self.must(self.whole("icmp eq", "%nargs", self.arrays))

        def keyword() -> list[str]:
            self.must(self.whole("icmp eq", self.word("%kwnames", at.SIZE // 8), 1))
            self.must(self.is_null(self.finish))
            self.must(self.emit(f"xor i1 {self.is_dict}, true"))
            self.must(self.same(self.field("%kwnames", at.ITEMS), self.known("out_name", "ptr")))
            given = self.word("%args", "%nargs", "ptr")
            return [self.emit(f"select i1 {self.same(given, self.known('nothing', 'ptr'))}, ptr null, ptr {given}")]

        return self.branch(self.is_null("%kwnames"), lambda: ["null"], keyword, "ptr")[0]

    def first_array(self) -> None:
        """The first argument with entries says dtype and leading dimensions."""
        self.lead = self.known("lead")
        first = self.word("%args", self.lead, "ptr")
        self.must(self.same(self.field(first, at.TYPE), self.known("array_type", "ptr")))
        self.which = self.precision(self.field(first, at.DESCR))
        self.must(self.whole("icmp ult", self.which, 2))
        self.double = self.whole("icmp eq", self.which, 0)
        self.itemsize = self.emit(f"select i1 {self.double}, i64 8, i64 4")
        self.batch = self.whole("sub nsw", self.dimensions(first), self.word(self.spec(self.lead), 0))
        self.must(self.whole("icmp ule", self.batch, at.MAX_DIMS - at.MAX_CORE))
        self.batch_dims = self.field(first, at.DIMS)

    def count_rows(self) -> None:
        """There must be a state, and not so many that threads would share them, or an interrupt wait."""
        self.rows = self.product(self.batch_dims, self.batch, "mul nsw")
        self.must(self.whole("icmp sgt", self.rows, 0))
        alone = self.whole("icmp eq", self.word(self.known("threads", "ptr"), 0), 1)
        most = self.emit(f"select i1 {alone}, i64 {self.known('alone')}, i64 {self.known('shared')}")
        self.must(self.whole("icmp sle", self.rows, most))

    def find_code(self) -> None:
        """There must be code for so many states of this precision, or for other numbers of them and some patience."""
        few = self.word(self.context, self.whole("add nuw nsw", self.which, at.WORD["few0"]))
        more = self.emit(f"select i1 {self.whole('icmp sle', self.rows, few)}, i64 2, i64 0")
        self.kind = self.whole("add nuw nsw", self.which, more)

        def other() -> list[str]:
            left = self.at(self.known("patience", "ptr"), self.kind, "i64")
            rest = self.whole("sub nsw", self.load("i64", left, 8), self.rows)
            self.must(self.whole("icmp sgt", rest, 0))
            self.store("i64", rest, left, 8)
            return [self.whole("xor", self.kind, 2)]

        missing = self.is_null(self.word(self.context, self.of_kind("evaluate"), "ptr"))
        (self.kind,) = self.branch(missing, other, lambda: [self.kind], "i64")
        self.code = self.word(self.context, self.of_kind("evaluate"), "ptr")
        self.must(self.emit(f"icmp ne ptr {self.code}, null"))

    def equal(self, a: str, b: str, count: str) -> None:
        one = lambda k: self.must(self.whole("icmp eq", self.word(a, k), self.word(b, k)))  # noqa: E731
        self.loop_if_any("0", count, 1, one)

    def fits(self, array: str, spec: str, flags: int) -> None:
        """An object must be an array of this precision, contiguous, of shape (batch..., core...)."""
        self.must(self.same(self.field(array, at.TYPE), self.known("array_type", "ptr")))
        self.must(self.whole("icmp eq", self.precision(self.field(array, at.DESCR)), self.which))
        set_flags = self.emit(f"and i32 {self.field(array, at.FLAGS, 'i32')}, {flags}")
        self.must(self.emit(f"icmp eq i32 {set_flags}, {flags}"))
        core, dims = self.word(spec, 0), self.field(array, at.DIMS)
        self.must(self.whole("icmp eq", self.dimensions(array), self.whole("add nsw", self.batch, core)))
        self.equal(dims, self.batch_dims, self.batch)
        self.equal(self.at(dims, self.batch, "i64"), self.at(spec, at.SPEC_WORDS - at.MAX_CORE, "i64"), core)

    def argument(self, k: str) -> None:
        """An argument must be an array that fits, or a number; where its data are is noted."""
        value, spec = self.word("%args", k, "ptr"), self.spec(k)

        def array() -> list[str]:
            self.fits(value, spec, at.CONTIGUOUS_ALIGNED)
            return [self.field(value, at.DATA)]

        is_array = self.same(self.field(value, at.TYPE), self.known("array_type", "ptr"))
        (data,) = self.branch(is_array, array, lambda: [self.number(k, value, spec)], "ptr")
        self.put("%pointers", k, data, "ptr")

    def number(self, k: str, value: str, spec: str) -> str:
        """Write where a number is kept as a float64: where such a one is expected, for one state."""
        self.must(self.whole("icmp eq", self.word(spec, 0), 0))
        self.must(self.whole("icmp eq", self.rows, 1))
        self.must(self.double)
        kind, known = self.field(value, at.TYPE), "false"
        for n in range(at.NUMBERS):
            known = self.emit(f"or i1 {known}, {self.same(kind, self.known(f'number{n}', 'ptr'))}")
        self.must(known)
        number = self.emit(f"call double {self.known('as_double', 'ptr')}(ptr {value})")

        def must_be_it() -> None:
            self.unless(self.is_null(self.call("raised")), "too_large")

        self.branch(self.emit(f"fcmp oeq double {number}, -1.0"), must_be_it)
        place = self.at("%numbers", k, "double")
        self.store("double", number, place, 8)
        return place

    def unit_part(self, k: str) -> None:
        """In no state may entries that give a direction (a quaternion, say) all be 0: none is told."""
        argument, start, stop = (self.word(self.row(self.parts, k, at.PART_WORDS), n) for n in range(at.PART_WORDS))
        data, entries = self.word("%pointers", argument, "ptr"), self.word(self.spec(argument), 1)
        halves = self.emit(f"select i1 {self.double}, i64 2, i64 1")  # words of 32 bits an entry
        size, start, stop = (self.whole("mul nuw nsw", n, halves) for n in (entries, start, stop))
        place = lambda n: self.at(data, self.whole("mul nuw nsw", n, size), "i32")  # noqa: E731
        self.loop(0, self.rows, 1, lambda n: self.direction(place(n), start, stop))

    def direction(self, state: str, start: str, stop: str) -> None:
        """Of these words of a state one must not be 0; the last one mostly is not, and then no other is read."""
        word = lambda n: self.load("i32", self.at(state, n, "i32"), 4)  # noqa: E731
        gather = lambda n, bits: [self.emit(f"or i32 {bits}, {word(n)}")]  # noqa: E731
        is_some = lambda bits: self.emit(f"icmp ne i32 {self.emit(f'shl i32 {bits}, 1')}, 0")  # noqa: E731, but for signs
        others = lambda: self.must(is_some(self.loop(start, stop, 1, gather, ("i32", "0"))[0]))  # noqa: E731
        self.branch(is_some(word(self.whole("sub nuw nsw", stop, 1))), lambda: None, others)

    # --- the results ---

    def given_results(self) -> None:
        """Note the arrays that were given for results: one, or a tuple of them."""

        def of_tuple() -> list[str]:
            kind = self.field(self.given, at.TYPE)
            either = [self.same(kind, known) for known in (self.gathered, self.known("tuple_type", "ptr"))]
            self.must(self.emit(f"or i1 {', '.join(either)}"))
            self.must(self.whole("icmp eq", self.word(self.given, at.SIZE // 8), self.result_count))
            return [self.at(self.given, at.ITEMS)]

        own = lambda: [self.at("%args", "%nargs", "ptr")]  # noqa: E731
        (items,) = self.branch(self.is_null(self.gathered), own, of_tuple, "ptr")
        self.loop(0, self.result_count, 1, lambda k: self.given_result(k, self.word(items, k, "ptr")))

    def given_result(self, k: str, array: str) -> None:
        """An array for a result must fit, and share no memory with an argument, or with one for a result before."""
        spec = self.row(self.results, k, at.SPEC_WORDS)
        self.fits(array, spec, at.CONTIGUOUS_ALIGNED | at.WRITEABLE)

        def extent(data: str, spec: str) -> tuple[str, str]:
            start = self.emit(f"ptrtoint ptr {data} to i64")
            return start, self.whole("add", start, self.bytes_of(spec))

        start, end = extent(self.field(array, at.DATA), spec)

        def apart(data: str, other: str) -> None:
            its_start, its_end = extent(data, other)
            before, after = self.whole("icmp uge", its_start, end), self.whole("icmp uge", start, its_end)
            self.must(self.emit(f"or i1 {before}, {after}"))

        self.loop(0, self.arrays, 1, lambda j: apart(self.word("%pointers", j, "ptr"), self.spec(j)))
        earlier = lambda j: apart(self.field(self.result(j), at.DATA), self.row(self.results, j, at.SPEC_WORDS))  # noqa: E731
        self.loop_if_any("0", k, 1, earlier)
        self.put("%results", k, array, "ptr")

    def new_result(self, k: str) -> None:
        """Make an array for a result; null means that Python raises."""
        spec = self.row(self.results, k, at.SPEC_WORDS)
        large = self.whole("icmp uge", self.bytes_of(spec), self.word(spec, 3))
        first = self.at("%args", self.lead, "ptr")
        lend = lambda: [self.call("vectorcall", f"ptr {self.word(spec, 2, 'ptr')}, ptr {first}, i64 1, ptr null")]  # noqa: E731
        (made,) = self.branch(large, lend, lambda: [self.new_array(spec)], "ptr")
        self.need(made, "raise")
        self.put("%results", k, made, "ptr")
        self.store("i64", self.whole("add nuw nsw", k, 1), "%made", 8)

    def new_array(self, spec: str) -> str:
        size = self.whole("add nuw nsw", self.batch, self.word(spec, 0))

        def dimension(k: str) -> None:
            core = self.whole("sub nsw", k, self.batch)
            is_core = self.whole("icmp sge", core, 0)
            source = self.emit(f"select i1 {is_core}, ptr {spec}, ptr {self.batch_dims}")
            index = self.whole("add nsw", core, at.SPEC_WORDS - at.MAX_CORE)
            index = self.emit(f"select i1 {is_core}, i64 {index}, i64 {k}")
            self.put("%dims", k, self.word(source, index))

        self.loop_if_any("0", size, 1, dimension)
        size32 = self.emit(f"trunc i64 {size} to i32")
        number = self.emit(f"select i1 {self.double}, i32 {at.TYPE_NUMBERS[8]}, i32 {at.TYPE_NUMBERS[4]}")
        shape, rest = f"i32 {size32}, ptr %dims, i32 {number}", "ptr null, ptr null, i32 0, i32 0, ptr null"
        return self.call("new_array", f"ptr {self.known('array_type', 'ptr')}", shape, rest)

    def output(self, k: str) -> None:
        place = self.row(self.places, k, at.PLACE_WORDS)
        data = self.field(self.result(self.word(place, 0)), at.DATA)
        first = self.at(data, self.whole("mul", self.word(place, 1), self.itemsize))
        entry = self.row("%table", k, 2)
        self.store("ptr", first, entry, 8)
        self.put(entry, 1, self.word(place, 2))

    # --- the call ---

    def evaluate(self) -> None:
        size = self.word(self.context, self.of_kind("heap"))
        spare = self.at(self.context, self.of_kind("spare"), "i64")
        heap, to_free, to_keep = self.workspace(size, spare, "give_up")

        def run() -> None:
            given = f"ptr %pointers, ptr %table, i64 {self.rows}, ptr {heap}, i64 {self.known('passes')}"
            self.line(f"call void {self.code}({given})")

        def released() -> None:
            state = self.call("save_thread")
            run()
            self.do("restore_thread", f"ptr {state}")

        self.branch(self.whole("icmp sgt", self.rows, self.known("release")), released, run)
        self.put_back(spare, to_free, to_keep)

    # --- what is returned ---

    def endings(self) -> None:
        """Write the ways out: what was given, one result, several, and for what did not fit the callable for it."""
        self.unless(self.no_output, "given")
        self.loop(0, self.result_count, 1, self.as_scalar)
        self.unless(self.is_null(self.finish), "finish")
        self.unless(self.emit(f"xor i1 {self.is_dict}, true"), "as_dict")
        self.need(self.gathered, "one")
        self.gather()
        self.label("one")
        self.line(f"ret ptr {self.result('0')}")
        self.label("as_dict")
        self.name()
        self.label("finish")
        finished = self.call("vectorcall", f"ptr {self.finish}, ptr %results, i64 {self.result_count}, ptr null")
        self.drop_results()
        self.line(f"ret ptr {finished}")
        self.label("given")
        self.do("incref", f"ptr {self.given}")
        self.line(f"ret ptr {self.given}")
        self.label("too_large")  # a whole number beyond all floats
        self.do("clear")
        self.line("br label %slow")
        self.label("give_up")
        self.drop_results()
        self.line("br label %slow")
        self.label("slow")
        answer = self.call("vectorcall", f"ptr {self.known('slow', 'ptr')}, ptr %args, i64 %nargs, ptr %kwnames")
        self.line(f"ret ptr {answer}")
        self.label("half_named")
        self.do("decref", "ptr %dictionary")
        self.line("br label %raise")
        self.label("raise")
        self.drop_results()
        self.line("ret ptr null")

    def as_scalar(self, k: str) -> None:
        size = self.whole("add nsw", self.batch, self.word(self.row(self.results, k, at.SPEC_WORDS), 0))

        def number() -> None:
            value = self.call("as_scalar", f"ptr {self.result(k)}")
            self.put("%results", k, value, "ptr")
            self.need(value, "raise")

        self.branch(self.whole("icmp eq", size, 0), number)

    def gather(self) -> None:
        made = self.call("new_object", f"ptr {self.gathered}, i64 {self.result_count}")
        self.need(made, "raise")
        if at.ITEMS > at.SIZE + 8:  # from Python 3.14 on a tuple keeps its hash: -1 as long as it is not known
            self.store("i64", "-1", self.at(made, at.SIZE + 8), 8)
        put = lambda k: self.put(self.at(made, at.ITEMS), k, self.result(k), "ptr")  # noqa: E731
        self.loop(0, self.result_count, 1, put)
        self.line(f"ret ptr {made}")

    def name(self) -> None:
        self.line(f"%dictionary = call ptr {self.known('new_dict', 'ptr')}()")
        self.need("%dictionary", "raise")

        def put(k: str) -> None:
            key = self.word(self.row(self.results, k, at.SPEC_WORDS), 4, "ptr")
            item = f"ptr %dictionary, ptr {key}, ptr {self.result(k)}"
            failed = self.emit(f"call i32 {self.known('set_item', 'ptr')}({item})")
            self.unless(self.emit(f"icmp eq i32 {failed}, 0"), "half_named")

        self.loop(0, self.result_count, 1, put)
        self.drop_results()
        self.line("ret ptr %dictionary")

    def drop_results(self) -> None:
        drop = lambda k: self.do("decref", f"ptr {self.result(k)}")  # noqa: E731
        self.loop_if_any("0", self.load("i64", "%made", 8), 1, drop)


def call_text(offset: int) -> str:
    """Return the module: the function `call(callable, args, nargs, kwnames)`, as Python calls such objects."""
    w = CodeWriter()
    fast_path = w.load("ptr", w.at("%callable", offset), 8)
    w.unless(w.emit(f"icmp ne ptr {fast_path}, null"), "gone")
    method, bound_to = (w.load("ptr", w.at(fast_path, place), 8) for place in (at.METHOD, at.SELF))
    code = w.load("ptr", w.at(method, 8), 8)  # behind its name
    count = w.whole("and", "%nargs", 2**63 - 1)  # the highest bit is a flag
    answer = w.emit(f"tail call ptr {code}(ptr {bound_to}, ptr %args, i64 {count}, ptr %kwnames)")
    w.line(f"ret ptr {answer}")
    w.label("gone")  # the collector took the fast path: Python raises SystemError
    w.line("ret ptr null")
    head = "define ptr @call(ptr %callable, ptr %args, i64 %nargs, ptr %kwnames) nounwind {"
    return "\n".join([head, "start:", *w.lines, "}"])
