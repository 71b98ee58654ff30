"""Robots seen in a browser, moved and dragged there (extra `view`)."""
