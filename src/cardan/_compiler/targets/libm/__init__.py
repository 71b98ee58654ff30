"""The functions of analysis for targets that write their own: the same operations, so the same bits, everywhere."""
