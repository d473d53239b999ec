"""The doctor: small checks of one workspace, each with what to do about what it finds."""
