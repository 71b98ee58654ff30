"""The joints that ship, by what they have in common; `shipped.py` lists them."""
