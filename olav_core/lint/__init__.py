"""Lint: guides that contradict, shadow one another or never fire."""
