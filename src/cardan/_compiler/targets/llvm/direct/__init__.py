"""Machine code of straight lines without a compiler: registers by foresight, text from a table for each processor."""
