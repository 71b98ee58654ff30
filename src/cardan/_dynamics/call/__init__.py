"""The way of a call: from arguments to a program, and from the program's results to what the caller gets."""
