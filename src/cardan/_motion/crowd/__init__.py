"""Worlds of many bodies: code is made once for each kind of thing, and runs over rows of tables."""
