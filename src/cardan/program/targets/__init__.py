"""Where programs run: one file a target."""
