"""Laws of contact."""

LAWS: dict = {}


def contacts(moment, pairs):
    """Return the contacts of pairs."""
    raise NotImplementedError
