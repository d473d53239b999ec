"""Rescan: today's redactors over what was stored before them, in rows, spool and index."""
