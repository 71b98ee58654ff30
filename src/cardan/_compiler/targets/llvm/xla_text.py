"""The machine code of a handler for XLA: it reads the call, checks it, and calls the program; see `xla`.

On devices, the program is a kernel, which is launched on XLA's stream.

Large batches are cut into parts. The caller and tasks in XLA's own threads take one after the other from a *job*; the
caller waits only for parts somebody is at work on, so it does not matter when tasks begin, or whether all of them do.
"""

from __future__ import annotations

from cardan._compiler.targets.llvm import xla_layout as at
from cardan._compiler.targets.llvm.writer import CodeWriter, Reader

_MISFIT = (at.INVALID_ARGUMENT, "cardan: the arrays of this call are not those of the program it is for")
_FAILURES = {
    "misfit": _MISFIT,
    "no_memory": (at.RESOURCE_EXHAUSTED, "cardan: there is no memory for the workspace of a program"),
}
_DEVICE_FAILURES = {
    "misfit": _MISFIT,
    "no_stream": (at.INTERNAL, "cardan: XLA gives no stream to launch a kernel on"),
    "too_many": (at.INVALID_ARGUMENT, "cardan: there are more states than one launch has: call it in parts"),
    "refused": (at.INTERNAL, "cardan: the device refused to launch a kernel"),
}
"""By the label to go on at: the code of the error that is returned, and its text."""


def handler_text(*, device: bool) -> str:
    """Return the module: the function `handler(frame)`, as XLA calls those that are registered with it.

    It launches a kernel on a `device`, and calls a program in machine code otherwise.
    """
    failures = _DEVICE_FAILURES if device else _FAILURES
    texts = [
        f'@{name} = internal constant [{len(text) + 1} x i8] c"{text}\\00"' for name, (_, text) in failures.items()
    ]
    functions: list[tuple[str, CodeWriter]] = [("define ptr @handler(ptr %frame)", _HandlerText(device=device))]
    if not device:
        part = "ptr %context, ptr %job, ptr %inputs, ptr %outputs, i64 %first, i64 %end"
        functions += [(f"define internal void @part({part})", _Part())]
        functions += [
            ("define internal void @work(ptr %job)", _Work()),
            ("define internal void @task(ptr %job)", _Task()),
        ]
    bodies = [line for head, code in functions for line in (f"{head} nounwind {{", "start:", *code.lines, "}")]
    return "\n".join([f"@context = internal constant i64 {at.MARK}", *texts, *bodies])


class _FrameReader(Reader):
    """Writes how jobs are read, and structures of XLA filled."""

    def __init__(self) -> None:
        super().__init__(at.WORD)

    def in_job(self, name: str) -> str:
        return self.at("%job", at.JOB_WORD[name], "i64")

    def of_job(self, name: str, kind: str = "i64") -> str:
        return self.load(kind, self.in_job(name), 8)

    def fill(self, pointer: str, values: dict[int, str]) -> None:
        for offset, value in values.items():
            kind, name = value.split()
            self.store(kind, name, self.at(pointer, offset), 4 if kind == "i32" else 8)


class _Part(_FrameReader):
    """Writes the function that computes rows start to stop, in a workspace; without memory, it says so in the job."""

    def __init__(self) -> None:
        super().__init__()
        size, spare = self.known("heap"), self.at(self.context, at.WORD["spare"], "i64")
        heap, to_free, to_keep = self.workspace(size, spare, "no_memory")
        inputs = self.table("%inputs", self.known("inputs"), 1)
        outputs = self.table("%outputs", self.known("outputs"), 2)
        rows = self.whole("sub nsw", "%end", "%first")
        given = f"ptr {inputs}, ptr {outputs}, i64 {rows}, ptr {heap}, i64 {self.known('passes')}"
        self.line(f"call void {self.known('evaluate', 'ptr')}({given})")
        self.put_back(spare, to_free, to_keep)
        self.line("ret void")
        self.label("no_memory")
        self.line(f"store atomic i64 1, ptr {self.in_job('failed')} release, align 8")
        self.line("ret void")

    def table(self, whole: str, count: str, words: int) -> str:
        """Write a table of where arrays go on at the first row, and with two words for each how far apart rows are."""
        found = self.emit(f"alloca i64, i64 {self.whole('mul nuw nsw', count, words)}, align 8")
        sizes = self.at(self.context, at.SIZES, "i64")
        before = "0" if words == 1 else self.known("inputs")
        row = self.whole("mul nuw nsw", "%first", self.known("itemsize"))

        def one(k: str) -> None:
            size = self.word(sizes, self.whole("add nuw nsw", before, k))
            place = self.whole("mul nuw nsw", k, words)
            start = self.at(self.word(whole, k, "ptr"), self.whole("mul nuw nsw", row, size))
            self.store("ptr", start, self.at(found, place, "i64"), 8)
            if words == 2:
                self.store("i64", size, self.at(found, self.whole("add nuw nsw", place, 1), "i64"), 8)

        self.loop_if_any("0", count, 1, one)
        return found


class _Work(_FrameReader):
    """Writes the function that takes parts of a job until there are none."""

    def __init__(self) -> None:
        super().__init__()
        self.line("br label %again")
        self.label("again")
        part = self.emit(f"atomicrmw add ptr {self.in_job('next')}, i64 1 monotonic")
        self.unless(self.whole("icmp slt", part, self.of_job("parts")), "end")
        start = self.whole("mul nuw nsw", part, self.of_job("size"))
        stop = self.least(self.whole("add nuw nsw", start, self.of_job("size")), self.of_job("rows"))
        context, inputs, outputs = (self.of_job(name, "ptr") for name in ("context", "inputs", "outputs"))
        arrays = f"ptr {inputs}, ptr {outputs}"
        self.line(f"call void @part(ptr {context}, ptr %job, {arrays}, i64 {start}, i64 {stop})")
        self.emit(f"atomicrmw add ptr {self.in_job('done')}, i64 1 release")
        self.line("br label %again")
        self.label("end")
        self.line("ret void")


class _Task(_FrameReader):
    """Writes the function XLA's threads are given: it works on a job, and frees it if nobody else knows of it.

    It may begin when the call is over: then of all that the job refers to only the context is still there.
    """

    def __init__(self) -> None:
        super().__init__()
        self.context = self.of_job("context", "ptr")
        self.line("call void @work(ptr %job)")
        left = self.emit(f"atomicrmw sub ptr {self.in_job('users')}, i64 1 acq_rel")
        self.branch(self.whole("icmp eq", left, 1), lambda: self.do("free", "ptr %job"))
        self.line("ret void")


class _HandlerText(_FrameReader):
    """Writes the handler. What does not fit goes to the label `misfit`, before anything has been written."""

    def __init__(self, *, device: bool) -> None:
        super().__init__()
        self.line(f"%error = alloca [{at.ERROR_SIZE + 4} x i8], align 8")
        self.line(f"%asked = alloca [{at.SCHEDULE_SIZE} x i8], align 8")
        self.line("%threads = alloca i64, align 8")
        self.line(f"%alone = alloca [{len(at.JOB)} x i64], align 8")
        extension = self.field("%frame", at.FRAME_EXTENSION)
        kind = lambda: [self.field(extension, at.EXTENSION_KIND, "i32")]  # noqa: E731
        (said,) = self.branch(self.is_null(extension), lambda: ["0"], kind, "i32")
        self.unless(self.emit(f"icmp ne i32 {said}, {at.METADATA}"), "asked_for_version")
        self.context = self.emit(f"inttoptr i64 {self.emit('load volatile i64, ptr @context, align 8')} to ptr")
        outputs = self.arrays(at.FRAME_OUTPUTS, "outputs")
        self.count_rows(outputs)
        inputs = self.arrays(at.FRAME_INPUTS, "inputs")
        self.tables = (
            self.table(inputs, self.known("inputs"), "0"),
            self.table(outputs, self.known("outputs"), self.known("inputs")),
        )
        self.unless(self.whole("icmp sgt", self.rows, 0), "done")
        self.launch() if device else self.batch()
        self.line("br label %done")
        self.label("done")
        self.line("ret ptr null")
        self.version(extension, at.CAPTURED if device else 0)
        for name, (code, _) in (_DEVICE_FAILURES if device else _FAILURES).items():
            self.failure(name, code)

    # --- checks ---

    def arrays(self, offset: int, word: str) -> str:
        """Write where the pointers to arguments or results are; there must be as many as the program has."""
        self.must(self.whole("icmp eq", self.field("%frame", offset + at.COUNT, "i64"), self.known(word)))
        return self.field("%frame", offset + at.ITEMS)

    def count_rows(self, outputs: str) -> None:
        """The first result says how many states there are."""
        first = self.load("ptr", outputs, 8)
        batch = self.whole("sub nsw", self.field(first, at.BUFFER_RANK, "i64"), self.known("core_rank"))
        self.must(self.whole("icmp sge", batch, 0))
        self.rows = self.product(self.field(first, at.BUFFER_DIMS), batch)

    def table(self, arrays: str, count: str, before: str) -> str:
        """Write a table of where arrays are, each of which must be of the program's dtype and size."""
        found = self.emit(f"alloca ptr, i64 {count}, align 8")
        dtype, sizes = self.known("dtype"), self.at(self.context, at.SIZES, "i64")

        def one(k: str) -> None:
            array = self.word(arrays, k, "ptr")
            kind = self.emit(f"zext i32 {self.field(array, at.BUFFER_DTYPE, 'i32')} to i64")
            self.must(self.whole("icmp eq", kind, dtype))
            entries = self.product(self.field(array, at.BUFFER_DIMS), self.field(array, at.BUFFER_RANK, "i64"))
            size = self.word(sizes, self.whole("add nuw nsw", before, k))
            self.must(self.whole("icmp eq", entries, self.whole("mul", size, self.rows)))
            self.store("ptr", self.field(array, at.BUFFER_DATA), self.at(found, k, "i64"), 8)

        self.loop_if_any("0", count, 1, one)
        return found

    # --- the call ---

    def batch(self) -> None:
        work = self.whole("mul", self.rows, self.known("work"))
        self.branch(self.whole("icmp slt", work, at.WORTHWHILE), self.at_once, lambda: self.in_parts(work))

    def launch(self) -> None:
        """Write the launch of a kernel: its parameters are the states, of each array where it is, and its rows, passes.

        A program that is not repeated has no parameter for the last, and nobody looks at it.
        """
        blocks = self.divide_up(self.rows, self.known("threads"))
        self.unless(self.whole("icmp sle", blocks, at.MOST_BLOCKS), "too_many")
        inputs, outputs = self.tables
        count = self.whole("add nuw nsw", self.known("inputs"), self.known("outputs"))
        parameters = self.whole("add nuw nsw", self.whole("shl nuw nsw", count, 1), 2)
        values = self.emit(f"alloca i64, i64 {parameters}, align 8")
        self.store("i64", self.rows, values, 8)
        sizes = self.at(self.context, at.SIZES, "i64")
        self.describe(inputs, "0", self.known("inputs"), values, sizes)
        self.describe(outputs, self.known("inputs"), self.known("outputs"), values, sizes)
        last = self.whole("sub nuw nsw", parameters, 1)
        self.put(values, last, self.known("passes"))
        places = self.emit(f"alloca ptr, i64 {parameters}, align 8")
        put = lambda k: self.store("ptr", self.at(values, k, "i64"), self.at(places, k, "i64"), 8)  # noqa: E731
        self.loop("0", parameters, 1, put)
        context = self.field("%frame", at.FRAME_CONTEXT)
        words = {0: f"i64 {at.STREAM_SIZE}", 16: f"ptr {context}", 24: "ptr null"}
        self.unless(self.ask(at.API_STREAM, words), "no_stream")
        stream = self.load("ptr", self.at("%asked", 24), 8)
        wide, threads = (self.emit(f"trunc i64 {n} to i32") for n in (blocks, self.known("threads")))
        sizes = f"i32 {wide}, i32 1, i32 1, i32 {threads}, i32 1, i32 1, i32 0"
        rest = f"ptr {stream}, ptr {places}, ptr null"
        call = f"call i32 {self.known('launch', 'ptr')}(ptr {self.known('kernel', 'ptr')}, {sizes}, {rest})"
        self.unless(self.emit(f"icmp eq i32 {self.emit(call)}, 0"), "refused")

    def describe(self, table: str, before: str, count: str, values: str, sizes: str) -> None:
        """Write where each array of a table is, and its entries for a state, behind the number of states."""

        def one(k: str) -> None:
            number = self.whole("add nuw nsw", before, k)
            place = self.at(values, self.whole("add nuw nsw", self.whole("shl nuw nsw", number, 1), 1), "i64")
            self.store("ptr", self.word(table, k, "ptr"), place, 8)
            self.put(place, 1, self.word(sizes, number))

        self.loop_if_any("0", count, 1, one)

    def at_once(self) -> None:
        failed = self.at("%alone", at.JOB_WORD["failed"], "i64")
        self.store("i64", "0", failed, 8)
        inputs, outputs = self.tables
        arrays = f"ptr {inputs}, ptr {outputs}"
        self.line(f"call void @part(ptr {self.context}, ptr %alone, {arrays}, i64 0, i64 {self.rows})")
        self.unless(self.whole("icmp eq", self.word(failed, 0), 0), "no_memory")

    def in_parts(self, work: str) -> None:
        job = self.call("malloc", f"i64 {8 * len(at.JOB)}")
        self.need(job, "no_memory")
        grains = self.whole("udiv", work, at.GRAIN)
        helpers = self.whole("sub nsw", self.least(self.thread_count(), grains), 1)
        parts = self.least(grains, self.whole("mul nuw nsw", self.whole("add nsw", helpers, 1), at.PARTS))
        steps = self.divide_up(self.divide_up(self.rows, parts), self.known("width"))
        size = self.whole("mul nuw nsw", steps, self.known("width"))
        words = {
            "next": "0",
            "done": "0",
            "failed": "0",
            "users": self.whole("add nsw", helpers, 1),
            "parts": self.divide_up(self.rows, size),
            "size": size,
            "rows": self.rows,
        }
        for name, value in words.items():
            self.put(job, at.JOB_WORD[name], value)
        for name, pointer in zip(("context", "inputs", "outputs"), (self.context, *self.tables), strict=True):
            self.store("ptr", pointer, self.at(job, at.JOB_WORD[name], "i64"), 8)
        self.loop_if_any("0", helpers, 1, lambda _: self.schedule(job))
        self.line(f"call void @work(ptr {job})")
        self.wait(job, words["parts"])

    def divide_up(self, a: str, b: str) -> str:
        return self.whole("udiv", self.whole("add", a, self.whole("sub", b, 1)), b)

    def ask(self, function: int, values: dict[int, str]) -> str:
        """Write a call of a function of XLA with a structure; whether it succeeded. An error is given back."""
        api = self.field("%frame", at.FRAME_API)
        self.fill("%asked", {8: "ptr null", **values})
        error = self.emit(f"call ptr {self.field(api, function)}(ptr %asked)")

        def destroy() -> None:
            self.fill("%asked", {0: f"i64 {at.DESTROY_SIZE}", 16: f"ptr {error}"})
            self.line(f"call void {self.field(api, at.API_ERROR_DESTROY)}(ptr %asked)")

        is_good = self.is_null(error)
        self.branch(is_good, lambda: None, destroy)
        return is_good

    def thread_count(self) -> str:
        """Write how many threads XLA has; 1 if it does not say."""
        self.store("i64", "1", "%threads", 8)
        context = self.field("%frame", at.FRAME_CONTEXT)
        self.ask(at.API_THREADS, {0: f"i64 {at.THREADS_SIZE}", 16: f"ptr {context}", 24: "ptr %threads"})
        most = self.word("%threads", 0)
        return self.emit(f"select i1 {self.whole('icmp sgt', most, 1)}, i64 {most}, i64 1")

    def schedule(self, job: str) -> None:
        """Write that XLA shall run a task; where it does not, one less knows of the job."""
        context = self.field("%frame", at.FRAME_CONTEXT)
        words = {0: f"i64 {at.SCHEDULE_SIZE}", 16: f"ptr {context}", 24: "ptr @task", 32: f"ptr {job}"}
        is_good = self.ask(at.API_SCHEDULE, words)
        users = self.at(job, at.JOB_WORD["users"], "i64")
        self.branch(is_good, lambda: None, lambda: self.line(f"atomicrmw sub ptr {users}, i64 1 acq_rel"))

    def wait(self, job: str, parts: str) -> None:
        """Write the wait for the parts others are at work on, and what becomes of the job."""
        self.line("br label %waiting")
        self.label("waiting")
        done = self.emit(f"load atomic i64, ptr {self.at(job, at.JOB_WORD['done'], 'i64')} acquire, align 8")
        self.line(f"br i1 {self.whole('icmp eq', done, parts)}, label %finished, label %rest")
        self.label("rest")
        self.line(f"call i32 {self.known('rest', 'ptr')}()")
        self.line("br label %waiting")
        self.label("finished")
        failed = self.word(job, at.JOB_WORD["failed"])
        left = self.emit(f"atomicrmw sub ptr {self.at(job, at.JOB_WORD['users'], 'i64')}, i64 1 acq_rel")
        self.branch(self.whole("icmp eq", left, 1), lambda: self.do("free", f"ptr {job}"))
        self.unless(self.whole("icmp eq", failed, 0), "no_memory")

    # --- other ways out ---

    def version(self, extension: str, traits: int) -> None:
        """Say which version of the interface this is made for: that of the caller, if its structures are these."""
        self.label("asked_for_version")
        metadata, api = self.field(extension, at.EXTENSION_METADATA), self.field("%frame", at.FRAME_API)
        old = lambda: [str(at.MINOR_OF_OLD)]  # noqa: E731 -- they do not say
        (minor,) = self.branch(self.is_null(api), old, lambda: [self.field(api, at.API_MINOR, "i32")], "i32")
        said = {
            at.METADATA_MAJOR: f"i32 {at.MAJOR}",
            at.METADATA_MINOR: f"i32 {minor}",
            at.METADATA_TRAITS: f"i32 {traits}",
        }
        self.fill(metadata, said)
        self.line("ret ptr null")

    def failure(self, name: str, code: int) -> None:
        self.label(name)
        error = {
            0: f"i64 {at.ERROR_SIZE}",
            8: "ptr null",
            at.ERROR_MESSAGE: f"ptr @{name}",
            at.ERROR_CODE: f"i32 {code}",
        }
        self.fill("%error", error)
        create = self.field(self.field("%frame", at.FRAME_API), at.API_ERROR)
        self.line(f"ret ptr {self.emit(f'call ptr {create}(ptr %error)')}")
