"""Parameters found from measurements."""
