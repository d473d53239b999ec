"""Packages: agents and bundles, installed into a workspace as a whole or not at all."""
