"""The machine code of a handler for XLA: it reads the call, checks it, and calls the program; see `xla`."""

from __future__ import annotations

from cardan.targets.llvm import xla_layout as at
from cardan.targets.llvm.writer import Code

MISFIT = "cardan: the arrays of this call are not those of the program it is for"
NO_MEMORY = "cardan: there is no memory for the workspace of a program"


def handler_text() -> str:
    """Return the module: the function `handler(frame)`, as XLA calls those that are registered with it."""
    head = "define ptr @handler(ptr %frame) nounwind {"
    texts = [f'@{name} = internal constant [{len(text) + 1} x i8] c"{text}\\00"' for name, text in _TEXTS.items()]
    return "\n".join([f"@context = internal constant i64 {at.MARK}", *texts, head, "start:", *_Handler().lines, "}"])


_TEXTS = {"misfit": MISFIT, "no_memory": NO_MEMORY}


class _Handler(Code):
    """Writes the handler. What does not fit goes to the label `misfit`, before anything has been written."""

    def __init__(self) -> None:
        super().__init__()
        self.line(f"%error = alloca [{at.ERROR_SIZE + 4} x i8], align 8")
        extension = self.field("%frame", at.FRAME_EXTENSION)
        self.unless(self.emit(f"icmp eq ptr {extension}, null"), "asked")
        self.context = self.emit(f"inttoptr i64 {self.emit('load volatile i64, ptr @context, align 8')} to ptr")
        self.outputs = self.arrays(at.FRAME_OUTPUTS, "outputs")
        self.count_rows()
        self.inputs = self.arrays(at.FRAME_INPUTS, "inputs")
        start = self.number(at.WORD["inputs"])
        tables = [
            self.table(self.inputs, start, "0", 1),
            self.table(self.outputs, self.number(at.WORD["outputs"]), start, 2),
        ]
        self.unless(self.whole("icmp sgt", self.rows, 0), "done")
        self.evaluate(*tables, *self.workspace())
        self.label("done")
        self.line("ret ptr null")
        self.asked(extension)
        self.failure("misfit", at.INVALID_ARGUMENT)
        self.failure("no_memory", at.RESOURCE_EXHAUSTED)

    # --- values ---

    def field(self, pointer: str, offset: int, kind: str = "ptr") -> str:
        """Write a field of a structure."""
        return self.load(kind, self.at(pointer, offset), 4 if kind == "i32" else 8)

    def number(self, k: int | str, kind: str = "i64") -> str:
        """Write the k-th word of the context."""
        return self.load(kind, self.at(self.context, k, "i64"), 8)

    def must(self, condition: str) -> None:
        """Go on only where a condition holds."""
        self.unless(condition, "misfit")

    def product(self, dims: str, count: str) -> str:
        """Write the product of so many dimensions."""
        times = lambda k, found: [self.whole("mul", found, self.load("i64", self.at(dims, k, "i64"), 8))]  # noqa: E731
        return self.loop_if_any("0", count, 1, times, ("i64", "1"))[0]

    # --- checks ---

    def arrays(self, offset: int, word: str) -> str:
        """Write where the pointers to arguments or results are; there must be as many as the program has."""
        self.must(self.whole("icmp eq", self.field("%frame", offset + at.COUNT, "i64"), self.number(at.WORD[word])))
        return self.field("%frame", offset + at.ITEMS)

    def count_rows(self) -> None:
        """The first result says how many states there are."""
        first = self.load("ptr", self.outputs, 8)
        batch = self.whole("sub nsw", self.field(first, at.BUFFER_RANK, "i64"), self.number(at.WORD["batch_end"]))
        self.must(self.whole("icmp sge", batch, 0))
        self.rows = self.product(self.field(first, at.BUFFER_DIMS), batch)

    def table(self, arrays: str, count: str, start: str, words: int) -> str:
        """Write a table of where arrays are, and with two words for each how far apart their rows are.

        Each must be of the program's dtype and size.
        """
        table = self.emit(f"alloca i64, i64 {self.whole('mul nuw nsw', count, words)}, align 8")
        dtype, sizes = self.number(at.WORD["dtype"]), self.at(self.context, at.SIZES, "i64")

        def one(k: str) -> None:
            array = self.load("ptr", self.at(arrays, k, "ptr"), 8)
            kind = self.emit(f"zext i32 {self.field(array, at.BUFFER_DTYPE, 'i32')} to i64")
            self.must(self.whole("icmp eq", kind, dtype))
            size = self.load("i64", self.at(sizes, self.whole("add nuw nsw", start, k), "i64"), 8)
            rank, dims = self.field(array, at.BUFFER_RANK, "i64"), self.field(array, at.BUFFER_DIMS)
            self.must(self.whole("icmp eq", self.product(dims, rank), self.whole("mul", size, self.rows)))
            place = self.whole("mul nuw nsw", k, words)
            self.store("ptr", self.field(array, at.BUFFER_DATA), self.at(table, place, "i64"), 8)
            if words == 2:
                self.store("i64", size, self.at(table, self.whole("add nuw nsw", place, 1), "i64"), 8)

        self.loop_if_any("0", count, 1, one)
        return table

    # --- the call ---

    def workspace(self) -> list[str]:
        """Write where to work, what to free, what to keep; one is kept, a thread that comes meanwhile makes its own."""
        size, spare = self.number(at.WORD["heap"]), self.at(self.context, at.WORD["spare"], "i64")
        three = ("ptr", "ptr", "ptr")

        def make() -> list[str]:
            raw = self.emit(
                f"call ptr {self.number(at.WORD['malloc'], 'ptr')}(i64 {self.whole('add nuw nsw', size, 64)})"
            )
            self.unless(self.emit(f"icmp ne ptr {raw}, null"), "no_memory")
            raised = self.whole("add", self.emit(f"ptrtoint ptr {raw} to i64"), 63)
            return [self.emit(f"inttoptr i64 {self.whole('and', raised, -64)} to ptr"), raw, "null"]

        def take() -> list[str]:
            kept = self.emit(f"atomicrmw xchg ptr {spare}, ptr null acquire")
            is_none = self.emit(f"icmp eq ptr {kept}, null")
            return self.branch(is_none, make, lambda: [kept, "null", kept], *three)

        return self.branch(self.whole("icmp eq", size, 0), lambda: ["null"] * 3, take, *three)

    def evaluate(self, inputs: str, outputs: str, heap: str, to_free: str, to_keep: str) -> None:
        """Write the call of the program, and put the workspace back."""
        code = self.number(at.WORD["evaluate"], "ptr")
        self.line(f"call void {code}(ptr {inputs}, ptr {outputs}, i64 {self.rows}, ptr {heap})")
        spare = self.at(self.context, at.WORD["spare"], "i64")
        keep = lambda: self.line(f"store atomic ptr {to_keep}, ptr {spare} release, align 8")  # noqa: E731
        self.branch(self.emit(f"icmp ne ptr {to_keep}, null"), keep)
        free = lambda: self.line(f"call void {self.number(at.WORD['free'], 'ptr')}(ptr {to_free})")  # noqa: E731
        self.branch(self.emit(f"icmp ne ptr {to_free}, null"), free)
        self.line("br label %done")

    # --- other ways out ---

    def asked(self, extension: str) -> None:
        """Say which version of the interface this is made for: that of the caller, if its structures are these."""
        self.label("asked")
        kind = self.field(extension, at.EXTENSION_KIND, "i32")
        self.unless(self.emit(f"icmp eq i32 {kind}, {at.METADATA}"), "misfit")
        metadata, api = self.field(extension, at.EXTENSION_METADATA), self.field("%frame", at.FRAME_API)
        for value, place in (
            (at.MAJOR, at.METADATA_MAJOR),
            (self.field(api, at.API_MINOR, "i32"), at.METADATA_MINOR),
            (0, at.METADATA_TRAITS),
        ):
            self.store("i32", str(value), self.at(metadata, place), 4)
        self.line("ret ptr null")

    def failure(self, name: str, code: int) -> None:
        """Return an error with a text of this name, behind the label of this name."""
        self.label(name)
        for kind, value, place in (
            ("i64", at.ERROR_SIZE, 0),
            ("ptr", "null", 8),
            ("ptr", f"@{name}", at.ERROR_MESSAGE),
            ("i32", code, at.ERROR_CODE),
        ):
            self.store(kind, str(value), self.at("%error", place), 4)
        create = self.field(self.field("%frame", at.FRAME_API), at.API_ERROR)
        self.line(f"ret ptr {self.emit(f'call ptr {create}(ptr %error)')}")
