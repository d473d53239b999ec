"""Solved support tickets as memories of olav-core."""
