"""A loop over calls of one program, in machine code: each may read what those before it wrote.

Between two calls every address of an argument or result moves by a distance of its own, such as to the next knot of a
motion. To call a program from Python takes longer than many programs do.
"""

from cardan._compiler.targets.llvm.writer import CodeWriter


def turns_text() -> str:
    """Return the module: `turns(evaluate, table, rows, heap, passes, count, inputs, words, moves)`."""
    w = CodeWriter()
    places = w.at("%table", "%inputs", "i64")

    def move(k: str) -> None:
        word = w.at("%table", k, "i64")
        far = w.load("i64", w.at("%moves", k, "i64"), 8)
        w.store("i64", w.whole("add", w.load("i64", word, 8), far), word, 8)

    def turn(_: str) -> None:
        w.line(f"call void %evaluate(ptr %table, ptr {places}, i64 %rows, ptr %heap, i64 %passes)")
        w.loop(0, "%words", 1, move)

    w.loop(0, "%count", 1, turn)
    parameters = "ptr %evaluate, ptr %table, i64 %rows, ptr %heap, i64 %passes"
    steps = "i64 %count, i64 %inputs, i64 %words, ptr %moves"
    return "\n".join([f"define void @turns({parameters}, {steps}) nounwind {{", "start:", *w.lines, "  ret void", "}"])
