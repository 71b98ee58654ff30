"""Functions of analysis, written with the operations of processors; see `arithmetic`."""
