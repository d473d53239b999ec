"""Importing: files and folders to memories."""
