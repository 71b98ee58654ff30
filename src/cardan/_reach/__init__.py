"""Everything beyond the library: files, other libraries, other machines, pictures, the command line.

Here belongs what reads or writes (`formats`), what hands robots and functions to other programs (`interop`,
`generation`, `gym`), many machines (`distributed`), pictures (`pictures`, `viewer`), checks of joints and of robots
(`verification`, `comparison`), the commands (`cli`). Each may need an extra; nothing of the other wings needs it.

May import: all wings. No other wing imports this one: what it adds to them is registered (`cardan/_wiring.py`).
Begin with `formats/load.py` and `cli/main.py`.
"""
