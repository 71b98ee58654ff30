"""Shapes: their volume, mass and inertia."""
