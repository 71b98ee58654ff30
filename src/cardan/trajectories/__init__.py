"""Motions in time: splines on the manifold, profiles, timing along paths."""
