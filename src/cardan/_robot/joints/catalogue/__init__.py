"""The joints that ship, one a file; `shipped.py` lists them."""
