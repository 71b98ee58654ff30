"""Pictures of robots and of what they do (extra `plot`)."""
