"""Other libraries, one a file: how they write a robot. None of them is imported."""
