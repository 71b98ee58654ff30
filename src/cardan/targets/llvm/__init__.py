"""The native target: a program as LLVM IR, compiled for this machine and called through a door for arrays."""
